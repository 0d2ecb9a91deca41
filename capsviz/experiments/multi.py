"""Two digits over one another: the error of the MultiMNIST models in `pretrained/`, beside the papers'.

capsviz experiment multi-mnist

An image counts as wrong unless both digits are named. The test set is virtual, 1000 overlays for each test digit: one
for each is looked at, 10 000 images.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from capsviz import device, zoo
from capsviz.data import load
from capsviz.experiments import chance, results, seeds
from capsviz.experiments.moving import own_of
from capsviz.experiments.seeds import steps_of
from capsviz.experiments.table2 import UNSHIPPED
from capsviz.network import METHODS
from capsviz.routing.discriminative import L1, L2
from capsviz.routing.dynamic import DYNAMIC
from capsviz.training.evaluate import evaluate

NAME = "multi-mnist"
OWN = 7.54
PAPER = {DYNAMIC.short: 7.47, L2.short: OWN, L1.short: OWN}
"""Test error in percent in Yang, Li & Yu 2021; of its own routing they give one, of L2 or of L1."""
_SAID = f"{OWN:.2f} % for its own routing (L2 or L1) and {PAPER[DYNAMIC.short]:.2f} % for {DYNAMIC.short}"


def shipped() -> list[str]:
    """The models of MultiMNIST."""
    return [name for name, entry in zoo.models().items() if entry.data == NAME]


def run(*, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Evaluate every MultiMNIST model of pretrained/ that has no row with its present weights yet.

    Rows of models that left the zoo go.
    """
    with results.apart(own_of(shipped())):
        shipping = zoo.models()
        results.drop(NAME, lambda row: row["model"] in shipping)
        done = {row["sha256"] for row in results.begun(NAME)["rows"]}
        for entry in shipping.values():
            if entry.data != NAME or entry.sha256 in done:
                continue
            network = zoo.load_network(entry.name)
            measured = evaluate(network, load(NAME, "test"))
            row: dict[str, Any] = {
                "model": entry.name,
                "routing": entry.routing,
                "preset": entry.preset,
                "sha256": entry.sha256,
            }
            row |= {"error": measured.error, "count": measured.count, "steps": steps_of(entry)}
            with results.changing(NAME) as result:
                results.put(result, [row], "model", place=device.of(network))
            say(f"{entry.name}: {measured.error:.2f} % of {measured.count}")
        return results.begun(NAME)


def rows(result: dict[str, Any] | None) -> list[dict[str, Any]]:
    """A row for each model that was evaluated, then for each that was trained here and does not ship, by algorithm."""
    found, order = list(result["rows"]) if result else [], list(METHODS)
    for spread in seeds.unshipped():
        if spread.data == NAME:
            row = {"model": f"{spread.name}, {UNSHIPPED}", "routing": spread.routing, "preset": spread.preset}
            found.append(row | {"error": spread.mean, "count": spread.test_count, "steps": spread.steps})
    return sorted(found, key=lambda row: (row["model"].endswith(UNSHIPPED), order.index(row["routing"])))


def markdown(measured: list[dict[str, Any]]) -> str:
    """Error by model, the paper's beside it."""
    lines = ["| model | error, % | images | steps | preset | paper, % |", "| --- | ---: | ---: | ---: | --- | ---: |"]
    for row in measured:
        paper = PAPER.get(METHODS[row["routing"]].short)
        lines.append(
            f"| {row['model']} | {row['error']:.2f} | {row['count']} | {row['steps'] or '–'} | {row['preset']} "
            f"| {'–' if paper is None else f'{paper:.2f}'} |"
        )
    return "\n".join(lines)


def sentences(measured: list[dict[str, Any]]) -> list[str]:
    """How far from the paper, or what that has."""
    if not measured:
        return [f"The paper has {_SAID}."]
    best, *_ = alike = chance.least(measured)
    after = f" after {best['steps']:,} steps" * bool(best["steps"])
    who, errors, within = chance.told(alike, [METHODS[row["routing"]].short for row in alike])
    return [
        f"{who}, {errors} of {best['count']:,} images{after}{within}; the paper has {_SAID}. The images are made here, "
        "and boxes overlap somewhat less than the paper says.",
        f"{chance.MEANT.capitalize()}.",
    ]
