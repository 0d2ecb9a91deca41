"""The table of docs/reliability.md, from the result file of `make fuzz`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def table(result: Mapping[str, Any]) -> str:
    """A row for each kind of input, and a sentence below them on the run."""
    rows = [
        f"| {row['name']} | {row['inputs']:,} | {row['refused']:,} | {row['seconds']:.2f} | {row['megabytes']:,} | "
        f"{row['findings']} |"
        for row in result["rows"]
    ]
    total = sum(row["inputs"] for row in result["rows"])
    limits = result["limits"]
    head = ["| read | inputs | refused in a sentence | longest, s of CPU | most memory, MB | findings |"]
    below = (
        f"{total:,} inputs, seed {result['seed']}, on {result['machine']}. A finding is a traceback, a message of more "
        f"than one line, more than {limits['seconds']:g} s or more than {limits['bytes'] / 1e9:g} GB."
    )
    return "\n".join([*head, "|---|--:|--:|--:|--:|--:|", *rows]) + f"\n\n{below}"
