"""Figure 3 of Yang, Li & Yu 2021: do L1 and L2 converge faster than DR? Read off the curves in `pretrained/`.

The paper draws test error; the curves hold the error on validation images, held out of the training set, after each
epoch, and the margin loss on the training batches, over 50 steps at least.

capsviz experiment convergence
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capsviz import zoo
from capsviz.data import DATASETS, known, title_of
from capsviz.experiments import seeds
from capsviz.experiments.table2 import method_of
from capsviz.network import METHODS
from capsviz.routing.discriminative import L1, L2
from capsviz.routing.dynamic import DYNAMIC
from capsviz.training.journal import METRICS_EVERY, read_lines

COMPARED = (DYNAMIC.name, L2.name, L1.name)
ERROR_LEVELS = (60.0, 50.0, 40.0, 30.0, 20.0, 10.0, 5.0, 4.0, 3.0, 2.5, 2.0, 1.5, 1.0, 0.75, 0.5)
LOSS_LEVELS = (0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005)


@dataclass(frozen=True)
class TrainingCurve:
    """One training. validation: (step, error in percent) after each epoch; loss: (step, mean margin loss since)."""

    model: str
    data: str
    routing: str
    validation: tuple[tuple[int, float], ...]
    loss: tuple[tuple[int, float], ...]
    command: str
    preset: str = ""


@dataclass(frozen=True)
class Crossing:
    """When each method first was at or below a level: routing to step, of one data set and one measure."""

    data: str
    measure: str
    level: float
    steps: dict[str, int]


def curves() -> list[TrainingCurve]:
    """The curves of DR, L2 and L1, each trained with a decoder where its data set has one, shipped or not."""
    trained = [
        (entry.name, entry.data, entry.routing, entry.preset, entry.command, zoo.folder() / entry.curves)
        for entry in zoo.models().values()
        if not method_of(entry).endswith("/FC") or not _reconstructed(entry.data)
    ]
    trained += [
        (kept.name, kept.data, kept.routing, kept.preset, kept.command, seeds.curves_of(kept.name))
        for kept in seeds.unshipped()
        if kept.decoder or not _reconstructed(kept.data)
    ]
    found = [
        TrainingCurve(name, data, routing, *_read(path), command, preset)
        for name, data, routing, preset, command, path in trained
        if routing in COMPARED and path.is_file()
    ]
    alike = [curve for data in {curve.data for curve in found} for curve in _drawn_alike(_alike(found, data))]
    return sorted(alike, key=lambda curve: (curve.data, COMPARED.index(curve.routing)))


def _reconstructed(data: str) -> bool:
    """Whether models of a data set are compared with their decoders."""
    found = known(data)
    return found is None or found.reconstructed


def _alike(found: Sequence[TrainingCurve], data: str) -> list[TrainingCurve]:
    """The curves of a data set that differ in the routing alone: the largest such group with DR, only those compare."""
    groups: dict[str, list[TrainingCurve]] = {}
    for curve in found:
        if curve.data == data:
            groups.setdefault(settings(curve.command), []).append(curve)
    return max(groups.values(), key=lambda group: (bool(data_sets(group)), len(group)))


def settings(command: str) -> str:
    """A training's command without what it says of the routing and the decoder."""
    return re.sub(r" --routing \S+| --no-decoder", "", command)


def _read(path: Path) -> tuple[tuple[tuple[int, float], ...], tuple[tuple[int, float], ...]]:
    validation, loss = curve_points(read_lines(path))
    return validation, pooled(loss, [step for step, _ in validation])


def pooled(loss: Sequence[tuple[int, float]], epochs: Sequence[int]) -> tuple[tuple[int, float], ...]:
    """Means of a loss over `METRICS_EVERY` steps at least: where an epoch ends it may be that of a few images.

    loss: means up to the steps at which a training says them, or some of them; epochs: the steps where these end.
    """
    found, total, steps = [], 0.0, 0
    for step, mean in loss:
        ended = bisect_left(epochs, step)
        count = step - max(METRICS_EVERY * ((step - 1) // METRICS_EVERY), epochs[ended - 1] if ended else 0)
        total, steps = total + mean * count, steps + count
        if steps >= METRICS_EVERY:
            found.append((step, total / steps))
            total, steps = 0.0, 0
    return tuple(found)


def curve_points(
    lines: Sequence[Mapping[str, Any]],
) -> tuple[tuple[tuple[int, float], ...], tuple[tuple[int, float], ...]]:
    """Of the lines of a training's metrics the validation error after each epoch, and the loss in between, by step."""
    validation = tuple((line["step"], line["validation_error"]) for line in lines if line["kind"] == "epoch")
    return validation, tuple((line["step"], line["margin"]) for line in lines if line["kind"] == "train")


def data_sets(curves: Sequence[TrainingCurve]) -> list[str]:
    """The data sets on which DR and one of the others were trained, the paper's first."""
    here = {curve.data for curve in curves if curve.routing == DYNAMIC.name} & {
        curve.data for curve in curves if curve.routing != DYNAMIC.name
    }
    order = list(DATASETS)
    return sorted(here, key=lambda name: (order.index(name) if name in order else len(order), name))


def crossings(curves: Sequence[TrainingCurve]) -> list[Crossing]:
    """When each method reached the first and the last level of the ladder that all of them came to.

    By data set and measure; a level that all had passed at their first reading tells nothing and is left out.
    """
    found = []
    for data in data_sets(curves):
        mine = _one_each(curves, data)
        for measure, ladder in (("validation error", ERROR_LEVELS), ("margin loss", LOSS_LEVELS)):
            points = {
                name: curve.validation if measure == "validation error" else curve.loss for name, curve in mine.items()
            }
            reached = {}
            for level in ladder:
                steps = {name: first_below(each, level) for name, each in points.items()}
                if None not in steps.values() and any(steps[name] != each[0][0] for name, each in points.items()):
                    reached[level] = {name: step for name, step in steps.items() if step is not None}
            ends = dict.fromkeys((max(reached), min(reached))) if reached else ()
            found += [Crossing(data, measure, level, reached[level]) for level in ends]
    return found


def _one_each(curves: Sequence[TrainingCurve], data: str) -> dict[str, TrainingCurve]:
    """Of each method the first curve of `_drawn_alike` on a data set."""
    found: dict[str, TrainingCurve] = {}
    for curve in _drawn_alike([curve for curve in curves if curve.data == data]):
        found.setdefault(curve.routing, curve)
    return found


def _drawn_alike(curves: Sequence[TrainingCurve]) -> list[TrainingCurve]:
    """Of each method those with a decoder, unless DR has none, and where there are no such the others."""
    bare = any(curve.routing == DYNAMIC.name and "--no-decoder" in curve.command for curve in curves)
    as_dynamic = [curve for curve in curves if ("--no-decoder" in curve.command) == bare]
    found = {curve.routing for curve in as_dynamic}
    return as_dynamic + [curve for curve in curves if curve.routing not in found]


def first_below(points: Sequence[tuple[int, float]], level: float) -> int | None:
    """The step at which a curve is first at or below a level."""
    return next((step for step, value in points if value <= level), None)


def markdown(found: Sequence[Crossing]) -> str:
    """Steps to each level as a table."""
    heads = " | ".join(METHODS[name].short for name in COMPARED)
    lines = [f"| data | first at or below | {heads} |", "| --- | --- |" + " ---: |" * len(COMPARED)]
    for crossing in found:
        level = f"{crossing.level:g} %" if crossing.measure == "validation error" else f"{crossing.level:g}"
        cells = " | ".join(
            f"step {crossing.steps[name]:,}" if name in crossing.steps else "not trained here" for name in COMPARED
        )
        lines.append(f"| {title_of(crossing.data)} | {crossing.measure} {level} | {cells} |")
    return "\n".join(lines)


def early(curves: Sequence[TrainingCurve]) -> dict[str, dict[str, float]]:
    """By how many points L2 and L1 err more than DR on validation images, on average over the first half of the epochs.

    By data set and routing; without those of which no two epochs end at the same step.
    """
    found: dict[str, dict[str, float]] = {}
    for data in data_sets(curves):
        mine = {name: dict(curve.validation) for name, curve in _one_each(curves, data).items()}
        loop = mine.pop(DYNAMIC.name)
        for name, errors in mine.items():
            steps = sorted(loop.keys() & errors.keys())
            half = steps[: len(steps) // 2]
            if half:
                found.setdefault(data, {})[name] = sum(errors[step] - loop[step] for step in half) / len(half)
    return found


def early_sentence(found: Mapping[str, Mapping[str, float]]) -> str:
    """ "… CIFAR-10: L2 0.79, L1 0.86 below; …"."""
    said = [
        f"{title_of(data)} "
        + ", ".join(
            f"{METHODS[name].short} {abs(points):.2f} {'below' if points < 0 else 'above'}"
            for name, points in sorted(by_method.items(), key=lambda each: COMPARED.index(each[0]))
        )
        for data, by_method in found.items()
    ]
    return (
        "Validation errors of L2 and L1 beside DR's, in points, on average over the first half of the epochs: "
        f"{'; '.join(said)}. One training each."
    )


def sentences(found: Sequence[Crossing]) -> list[str]:
    """Whether L1 and L2 converge faster, as counted, over all data sets and for each."""
    if not found:
        return ["No data set has curves of DR and of L2 or L1 that came to a level in common."]
    before, same, after = compared(found)
    said = [
        f"In {before} of {before + same + after} comparisons L2 or L1 reached the level before DR, in {same} at the "
        f"same reading, in {after} after it; the paper draws them alike on MNIST and both falling "
        "faster on Fashion-MNIST, CIFAR-10 and MultiMNIST."
    ]
    for data in dict.fromkeys(crossing.data for crossing in found):
        before, same, after = compared([crossing for crossing in found if crossing.data == data])
        said.append(f"{title_of(data)}: before DR {before}, at the same reading {same}, after it {after}.")
    return said


def compared(found: Sequence[Crossing]) -> tuple[int, int, int]:
    """How often L2 or L1 reached a level before DR, at the same reading, and after it."""
    late = [
        steps - each.steps[DYNAMIC.name] for each in found for name, steps in each.steps.items() if name != DYNAMIC.name
    ]
    return sum(step < 0 for step in late), late.count(0), sum(step > 0 for step in late)
