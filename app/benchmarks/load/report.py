"""The table of docs/reliability.md on load, from the result file of `capsviz benchmark load`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HEAD = "| under load | measured | asked | |"
SHOWN = 5
"""So many of the actions that were lost, and of the boxes, are told."""


def table(result: Mapping[str, Any]) -> str:
    """A row for each bar, and a sentence below them on the run."""
    memory, long, answers = result["memory"], result["long"], result["answers"]
    one, most, after = (memory[name] / 1e6 for name in ("one", "all", "after"))
    actions = sum(each["count"] for each in result["by"].values()) + len(result["lost"])
    ways = ", ".join(f"{each['count']} by {how}" for how, each in result["by"].items())
    rows = [
        _row("exception boxes", f"{len(result['boxes'])}", "none", not result["boxes"]),
        _row("tracebacks in the server's log", f"{result['tracebacks']}", "none", not result["tracebacks"]),
        _row("actions lost", f"{len(result['lost'])} of {actions:,}", "none", not result["lost"]),
        f"| answers, p50 | {answers['p50']:.2f} s | | |",
        _row("… p95", f"{answers['p95']:.2f} s", f"≤ {answers['asked']:g} s", answers["p95"] <= answers["asked"]),
        *(
            f"| … by {how}, p50 and p95 | {each['p50']:.2f} and {each['p95']:.2f} s | | |"
            for how, each in result["by"].items()
            if each["count"]
        ),
        f"| memory of the server, one visitor | {one:,.0f} MB | | |",
        f"| … all {result['visitors']} | {most:,.0f} MB | | |",
        _row(
            "… two minutes after they left",
            f"{after:,.0f} MB",
            f"≤ {one * memory['asked']:,.0f} MB",
            after <= one * memory["asked"],
        ),
        _row(
            f"one visitor for {long['hours']:g} h: boxes, actions lost",
            f"{len(long['boxes'])}, {len(long['lost'])} of {long['actions']:,}",
            "none",
            not long["boxes"] and not long["lost"],
        ),
        _row(
            "… memory, last quarter of the stay against the second (in the first caches fill)",
            f"{long['growth']:.3f}",
            f"≤ {long['asked']:g}",
            long["growth"] <= long["asked"],
        ),
    ]
    below = (
        f"{result['visitors']} visitors, {ways}, {result['pause']:g} s apart on average, on {result['cores']} cores "
        f"({result['machine']}) with a load of {result['load_before']:g} before, seed {result['seed']}."
    )
    return "\n".join([HEAD, "|---|--:|--:|---|", *rows]) + f"\n\n{below}"


def failures(result: Mapping[str, Any]) -> str:
    """The first of what was lost and of the boxes, a line each; empty where there was nothing."""
    found = [*result["boxes"], *result["lost"], *result["long"]["boxes"], *result["long"]["lost"]]
    return "\n".join(found[:SHOWN])


def _row(what: str, measured: str, asked: str, met: bool) -> str:
    return f"| {what} | {measured} | {asked} | {'met' if met else 'missed'} |"
