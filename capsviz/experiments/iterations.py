"""How many routing iterations (Sabour et al. 2017): trained with T = 1 … 5, shipped models asked with T = 1 … 10.

capsviz experiment iterations --seeds 3
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from capsviz import device, zoo
from capsviz.data import DATASETS, ImageSet, MultiDigits, available, describe, load
from capsviz.experiments import results
from capsviz.experiments.moving import own_of
from capsviz.experiments.seed_means import SeedMean, seed_count, seed_means
from capsviz.experiments.sweep import digits
from capsviz.network import CapsNet
from capsviz.routing.dynamic import DYNAMIC
from capsviz.routing.losses import margin_loss
from capsviz.training.config import TrainingConfig
from capsviz.training.evaluate import BATCH, batches
from capsviz.training.feed import multi_hot

NAME, SHIPPED = "iterations", "iterations-shipped"
TRAINED = (1, 2, 3, 4, 5)
ASKED = 10


def configs(seeds: int) -> list[TrainingConfig]:
    """DR on the digits with T fixed, seed by seed, so that a sweep that is cut short compares like with like."""
    return [digits(DYNAMIC.name, iterations=iterations, seed=seed) for seed in range(seeds) for iterations in TRAINED]


def shipped() -> list[str]:
    """The models of dynamic routing that read one object an image, as far as their data sets are here."""
    return [
        entry.name
        for entry in zoo.models().values()
        if entry.routing == DYNAMIC.name
        and entry.data in DATASETS
        and DATASETS[entry.data].objects == 1
        and available(entry.data)
    ]


def ask_shipped(
    models: Sequence[str], *, count: int | None = None, say: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Error and margin loss of DR models, trained with T = 3, when they route 1 … 10 times over the same test images.

    count: only the first so many test images. Models whose rows stand, with the weights they have now, are skipped.
    """
    with results.apart(own_of(models)):
        shipping = zoo.models().keys() | zoo.unrouted()
        results.drop(SHIPPED, lambda row: row["model"] in shipping)
        done = {(row["model"], row["sha256"], row["count"]) for row in results.begun(SHIPPED)["rows"]}
        tests: dict[str, ImageSet | MultiDigits] = {}
        for entry in map(zoo.entry, models):
            name, there = entry.name, describe(entry.data).count("test")
            wanted = min(count or there, there)
            if (name, entry.sha256, wanted) in done:
                continue
            if entry.data not in tests:
                tests = {entry.data: load(entry.data, "test")}  # of one data set at a time
            test = tests[entry.data]
            assert isinstance(test, ImageSet)
            rows, network = [], zoo.load(name)
            measured = by_iterations(network, test, wanted)
            for iterations, (error, loss) in enumerate(measured, start=1):
                row = {"model": name, "sha256": entry.sha256, "count": wanted, "trained_with": entry.config.iterations}
                rows.append({**row, "iterations": iterations, "error": error, "loss": loss})
                say(f"{name}, T = {iterations}: {error:.2f} %, loss {loss:.4f}")
            with results.changing(SHIPPED) as result:
                results.put(result, rows, "model", place=device.of(network))
        return results.begun(SHIPPED)


@device.or_cpu
@torch.inference_mode()
def by_iterations(model: CapsNet, test: ImageSet, count: int) -> list[tuple[float, float]]:
    """Error in percent and mean margin loss after 1 … 10 iterations of DR, all from one walk."""

    def asked(images: Tensor, labels: Tensor) -> list[tuple[int, float]]:
        targets = multi_hot(labels.unsqueeze(1), model.config.classes)
        return [
            (
                int((step.activations.argmax(1) != labels).sum()),
                float(margin_loss(step.activations, targets)) * len(labels),
            )
            for step in model.route(model.encode(images), ASKED)
        ]

    parts = list(batches(model, test, BATCH, asked, most=count))
    totals = [[sum(values) for values in zip(*each, strict=True)] for each in zip(*parts, strict=True)]
    return [(100 * wrong / count, loss / count) for wrong, loss in totals]


def means_of(result: dict[str, Any], part: str, measure: str) -> dict[int, SeedMean]:
    """The average over seeds by T; part "train" or "test", measure "error" (percent) or "loss"."""
    return seed_means(result["rows"], lambda row: row["training"]["iterations"], lambda row: row[part][measure])


def gaps_of(result: dict[str, Any]) -> dict[int, SeedMean]:
    """How much larger the loss on test images is than that on training images, averaged over seeds, by T."""
    return seed_means(
        result["rows"],
        lambda row: row["training"]["iterations"],
        lambda row: row["test"]["loss"] - row["train"]["loss"],
    )


def markdown(result: dict[str, Any]) -> str:
    """Losses and errors by T, mean and range over the seeds."""
    columns = [means_of(result, part, measure) for part in ("train", "test") for measure in ("loss", "error")]
    lines = [
        "| T | train loss | train error, % | test loss | test error, % | seeds |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for iterations in columns[0]:
        cells = [column[iterations].written(4 if place % 2 == 0 else 2) for place, column in enumerate(columns)]
        lines.append(f"| {iterations} | {' | '.join(cells)} | {columns[0][iterations].count} |")
    return "\n".join(lines)


def sentences(result: dict[str, Any], shipped: dict[str, Any] | None) -> list[str]:
    """Which T trained best, how far the losses lie apart, and what asking again with another T does."""
    said = []
    loss, test = means_of(result, "train", "loss"), means_of(result, "test", "loss")
    if loss:
        low, best = min(loss, key=lambda T: loss[T].mean), min(test, key=lambda T: test[T].mean)
        error = means_of(result, "test", "error")
        said.append(
            f"Trained on the digits ({seed_count(loss)}), training loss is lowest with T = {low} ({loss[low].mean:.4f})"
            f" and test loss with T = {best} ({test[best].mean:.4f}); test errors lie between "
            f"{min(each.mean for each in error.values()):.2f} and {max(each.mean for each in error.values()):.2f} %, "
            "where one image is 0.28 %."
        )
        by_rounds = ", ".join(f"{gap.written(4)} with T = {T}" for T, gap in gaps_of(result).items())
        said.append(
            f"Test loss less training loss is {by_rounds}, the mean of the seeds and their range; Sabour, Frosst & "
            "Hinton 2017 recommend 3 and say that more tend to overfit."
        )
    for name in dict.fromkeys(row["model"] for row in (shipped or {"rows": []})["rows"]):
        rows = {row["iterations"]: row for row in (shipped or {})["rows"] if row["model"] == name}
        if not rows.keys() >= {1, ASKED}:
            continue
        own = rows[1]["trained_with"]
        asked, count = f"asked with T = 1 on {rows[1]['error']:.2f} %", f"of {rows[1]['count']} test images"
        known = f"on {rows[own]['error']:.2f} % {count}, {asked}" if own in rows else f"{asked} {count}"
        said.append(f"{name}, trained with T = {own}, errs {known}, with T = {ASKED} on {rows[ASKED]['error']:.2f} %.")
    return said
