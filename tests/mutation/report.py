"""What became of the changes: the result file of `make mutation`, and the table of docs/reliability.md."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
MISSED, UNREACHED = "missed", "missed: no test reaches it"


def text(code: str) -> str:
    """A piece of source on one line."""
    return " ".join(code.split())


def reason(survivor: Mapping[str, Any], known: Sequence[Mapping[str, str]]) -> str:
    """Why nothing can notice a change, as equivalent.toml says; empty where it says nothing of it."""
    fields = ("module", "source", "original", "changed")
    return next((each["why"] for each in known if all(each[name] == survivor[name] for name in fields)), "")


def result(done: list[dict[str, Any]], every: int, tests: int) -> dict[str, Any]:
    """What the result file holds. done: of every change module, line and its source, original, changed and outcome."""
    known = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["change"]
    survivors = [each for each in done if each["outcome"] != "killed"]
    for each in survivors:
        unreached = each.pop("outcome") == "unreached"
        each["why"] = reason(each, known) or (UNREACHED if unreached else MISSED)
    rows = [
        {
            "module": module,
            "mutants": sum(each["module"] == module for each in done),
            "missed": sum(each["module"] == module and each["why"].startswith(MISSED) for each in survivors),
            "equivalent": sum(each["module"] == module and not each["why"].startswith(MISSED) for each in survivors),
        }
        for module in sorted({each["module"] for each in done})
    ]
    return {"every": every, "tests": tests, "rows": rows, "survivors": survivors}


def share(rows: Sequence[Mapping[str, int]]) -> float:
    """Of all changes, those that a test noticed."""
    count = sum(row["mutants"] for row in rows)
    return 1 - sum(row["missed"] + row["equivalent"] for row in rows) / count if count else 1.0


def table(result: Mapping[str, Any]) -> str:
    """A row for each module, a sentence below them on the run, and the changes that nothing noticed."""
    rows = result["rows"]
    told = [
        f"| `{row['module']}` | {row['mutants']:,} | {row['mutants'] - row['missed'] - row['equivalent']:,} | "
        f"{share([row]):.0%} | {row['equivalent']} | {row['missed']} |"
        for row in rows
    ]
    head = ["| module | changes | noticed | share | change nothing | missed |", "|---|--:|--:|--:|--:|--:|"]
    count, which = sum(row["mutants"] for row in rows), result["every"]
    of = "" if which == 1 else f", one of every {which}"
    below = f"{count:,} changes{of}, {result['tests']} tests: {share(rows):.1%} were noticed, on {result['machine']}."
    return "\n".join([*head, *told]) + f"\n\n{below}"


def survivors(result: Mapping[str, Any]) -> str:
    """The changes that nothing noticed, as a table."""
    rows = [
        f"| `{each['module']}:{each['line']}` | `{_cell(each['original'])}` | `{_cell(each['changed'])}` "
        f"| {each['why']} |"
        for each in result["survivors"]
    ]
    return "\n".join(["| where | was | became | why nothing noticed |", "|---|---|---|---|", *rows])


def _cell(code: str) -> str:
    short = code if len(code) <= 60 else f"{code[:57]}…"
    return short.replace("|", "\\|").replace("`", "ˋ")
