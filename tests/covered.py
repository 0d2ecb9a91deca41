"""Which share of lines and branches the tests without a browser run: what `make coverage` left, as a result file."""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from capsviz.experiments import results

NAME = "coverage"
ASKED = 95.0
"""Per cent of lines and branches together."""
COUNTED = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def rows(files: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The counts of coverage's own report, by file, summed over each folder."""
    sums: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTED, 0))
    for file, found in files.items():
        for counted in COUNTED:
            sums[Path(file).parent.as_posix()][counted] += found["summary"][counted]
    return [{"folder": folder, **counts} for folder, counts in sorted(sums.items())]


def share(counts: Mapping[str, int]) -> float:
    """Per cent of the lines and branches that were run."""
    return (
        100
        * (counts["covered_lines"] + counts["covered_branches"])
        / (counts["num_statements"] + counts["num_branches"])
    )


def table(result: Mapping[str, Any]) -> str:
    """A row for each folder and one for all of them, which is held against what is asked."""
    total = {counted: sum(row[counted] for row in result["rows"]) for counted in COUNTED}
    lines = [
        f"| {name} | {row['num_statements']:,} | {row['num_branches']:,} | {share(row):.2f} % |"
        for name, row in [*((f"`{row['folder']}/`", row) for row in result["rows"]), ("all", total)]
    ]
    verdict = "met" if share(total) >= ASKED else "missed"
    below = f"{share(total):.2f} % of lines and branches, {ASKED:g} % asked for: {verdict}; on {result['machine']}."
    return "\n".join(["| run by the tests | lines | branches | share |", "|---|--:|--:|--:|", *lines, "", below])


def main() -> None:
    """Read what pytest left in .coverage."""
    from coverage import Coverage  # comes with pytest-cov; docs.tables reads the result without it

    measured = Coverage()
    measured.load()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "all.json"
        measured.json_report(outfile=str(file))
        found = {"rows": rows(json.loads(file.read_text())["files"]), **results.machine()}
    print(results.write(NAME, found), table(found), sep="\n\n")


if __name__ == "__main__":
    main()
