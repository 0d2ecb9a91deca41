"""What became of the changes: the result file of `make mutation`, and the tables of docs/reliability.md."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

REASONS = Path(__file__).with_name("reasons.toml")
KILLED, UNREACHED = "killed", "unreached"
EQUIVALENT, LEFT, MISSED = "equivalent", "left", "missed"
"""What a change that nothing noticed may be: it changes nothing, it is left for a reason, or it has none."""


def text(code: str) -> str:
    """A piece of source on one line."""
    return " ".join(code.split())


def key(change: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """By which the reasons know a change: its module, its line of source, what stood there, and what became of it."""
    return change["module"], change["source"], change["original"], change["changed"]


def reasons() -> Iterator[tuple[tuple[str, str, str, str], str, str]]:
    """Of every change in reasons.toml its key, its kind and why."""
    for kind, found in tomllib.loads(REASONS.read_text(encoding="utf-8")).items():
        for each in found:
            for source, *change in each["changes"]:
                original, changed = change
                yield (each["module"], source, original, changed), kind, each["why"]


def explained(survivors: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The changes that nothing noticed, each with its `kind` and `why`; a reason counts for one, or says so twice."""
    known: dict[tuple[str, str, str, str], list[tuple[str, str]]] = {}
    for which, kind, why in reasons():
        known.setdefault(which, []).append((kind, why))
    found = []
    for each in survivors:
        unknown = MISSED, f"{MISSED}: no test reaches it" if each["outcome"] == UNREACHED else MISSED
        kind, why = known[key(each)].pop(0) if known.get(key(each)) else unknown
        found.append(dict(each) | {"kind": kind, "why": why})
    return found


def result(done: list[dict[str, Any]], every: int, tests: int) -> dict[str, Any]:
    """What the result file holds. done: of every change module, line and its source, original, changed and outcome."""
    counts = Counter(each["module"] for each in done)
    rows = [{"module": module, "mutants": count} for module, count in sorted(counts.items())]
    survivors = sorted((each for each in done if each["outcome"] != KILLED), key=_place)
    return {"every": every, "tests": tests, "rows": rows, "survivors": survivors}


def share(result: Mapping[str, Any]) -> float:
    """Of all changes, those that a test noticed."""
    count = sum(row["mutants"] for row in result["rows"])
    return 1 - len(result["survivors"]) / count if count else 1.0


def table(result: Mapping[str, Any]) -> str:
    """A row for each module, and a sentence below them on the run."""
    rows = result["rows"]
    left = Counter((each["module"], each["kind"]) for each in explained(result["survivors"]))
    told = []
    for row in rows:
        module, count = row["module"], row["mutants"]
        kinds = [left[module, kind] for kind in (EQUIVALENT, LEFT, MISSED)]
        seen = count - sum(kinds)
        told.append(f"| `{module}` | {count:,} | {seen:,} | {seen / count:.0%} | {' | '.join(map(str, kinds))} |")
    head = [
        "| module | changes | noticed | share | change nothing | left for a reason | missed |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    count, which = sum(row["mutants"] for row in rows), result["every"]
    of = "" if which == 1 else f", one of every {which}"
    again = (
        f" Up to {found['changes']} of them, missed then or in functions that have changed since, were tried again, on "
        f"{found['machine']}."
        if (found := result.get("again"))
        else ""
    )
    below = f"{count:,} changes{of}, {result['tests']} tests: {share(result):.1%} were noticed, on {result['machine']}."
    return "\n".join([*head, *told]) + f"\n\n{below}{again}"


def survivors(result: Mapping[str, Any]) -> str:
    """The changes that nothing noticed, those of a module that have the same reason in one row."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for each in sorted(explained(result["survivors"]), key=_place):
        groups.setdefault((each["module"], each["why"]), []).append(each)
    rows = []
    for (module, why), found in groups.items():
        lines = ", ".join(str(line) for line in dict.fromkeys(each["line"] for each in found))
        changes = "<br>".join(
            dict.fromkeys(f"`{_cell(each['original'])}` → `{_cell(each['changed'])}`" for each in found)
        )
        rows.append(f"| `{module}` {lines} | {changes} | {why} |")
    return "\n".join(["| lines | was → became | why nothing noticed |", "|---|---|---|", *rows])


def _place(change: Mapping[str, Any]) -> tuple[str, int]:
    return change["module"], change["line"]


def _cell(code: str) -> str:
    short = code if len(code) <= 60 else f"{code[:57]}…"
    return short.replace("|", "\\|").replace("`", "ˋ")
