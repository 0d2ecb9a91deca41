"""Give the readers damaged and lying inputs, and write what became of them: `make fuzz`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import hypothesis
import torch

from capsviz.experiments import results
from tests.fuzz import commands, files, words
from tests.fuzz.bounds import BYTES, SECONDS, Tally

SHARES: dict[str, tuple[Callable[[Path], tuple[Any, Callable[[Any], Any]]], float]] = {
    "images": (files.images, 0.2),
    "traces": (files.traces, 0.1),
    "sets": (files.sets, 0.08),
    "manifests": (files.manifests, 0.08),
    "weights": (files.weights, 0.05),
    "steps": (files.steps, 0.02),
    "models": (files.models, 0.05),
    "checkpoints": (files.checkpoints, 0.08),
    "results": (files.results, 0.05),
    "tours": (words.tour_files, 0.1),
    "links": (words.links, 0.1),
    "command lines": (commands.command_lines, 0.05),
    "board messages": (words.messages, 0.14),
}
"""What is read, and its share of all inputs."""


def run(name: str, count: int, seed: int) -> Tally:
    """So many inputs of one kind."""
    prepare, _ = SHARES[name]
    tally = Tally(name)
    torch.manual_seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        source, act = prepare(Path(folder))
        if isinstance(source, hypothesis.strategies.SearchStrategy):

            @hypothesis.seed(seed)
            @hypothesis.settings(
                max_examples=count,
                database=None,
                deadline=None,
                phases=[hypothesis.Phase.generate],
                suppress_health_check=list(hypothesis.HealthCheck),
            )
            @hypothesis.given(source)
            def each(given: object) -> None:
                tally.take(f"--only {name!r} --seed {seed}: {given!r}"[:300], act, given)

            each()
        else:
            for number in range(count):
                given = source(Random(f"{seed} {name} {number}"))
                tally.take(f"--only {name!r} --seed {seed}, input {number}", act, given)
    return tally


def result(tallies: list[Tally], seed: int) -> dict[str, Any]:
    """What the result file holds."""
    rows = [
        {
            "name": each.name,
            "inputs": each.inputs,
            "refused": each.refused,
            "seconds": round(each.seconds, 3),
            "megabytes": round(each.memory / 1e6),
            "findings": sum(each.findings.values()),
        }
        for each in tallies
    ]
    return {"seed": seed, "limits": {"seconds": SECONDS, "bytes": BYTES}, "rows": rows, **results.machine()}


def main() -> None:
    """Exit code 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=12_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=SHARES)
    options = parser.parse_args()
    tallies = []
    for name, (_, share) in SHARES.items():
        if options.only in (None, name):
            tally = run(name, options.inputs if options.only else round(options.inputs * share), options.seed)
            tallies.append(tally)
            print(
                f"{name}: {tally.inputs:,} inputs, {tally.refused:,} refused, at most {tally.seconds:.2f} s and "
                f"{tally.memory / 1e6:.0f} MB, {sum(tally.findings.values())} findings",
                flush=True,
            )
            for what, times in tally.findings.most_common():
                print(f"  {times} × {what}; {tally.examples[what]}", flush=True)
    if not options.only:
        print(results.write("fuzz", result(tallies, options.seed)))
    sys.exit(any(each.findings for each in tallies))


if __name__ == "__main__":
    main()
