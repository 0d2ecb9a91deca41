"""Two small exhibits on the class capsules of an image: what squash makes of them, and what the margin loss asks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from numpy import ndarray

from capsviz.boards.message import Message
from capsviz.boards.theme import theme
from capsviz.errors import listed
from capsviz.figures.errors import FigureError
from capsviz.figures.reading import check, steps
from capsviz.routing import ALGORITHMS
from capsviz.routing.losses import ABSENT_MARGIN, ABSENT_WEIGHT, PRESENT_MARGIN, margin_losses
from capsviz.tracing.trace import Trace

LONGEST = 3.0
"""Of the vector s that the visitor moves."""
MARGINS = (PRESENT_MARGIN, ABSENT_MARGIN, ABSENT_WEIGHT)
"""m⁺, m⁻ and what an absent class counts, as every model here was trained."""


def squash_message(
    trace: Trace, *, length: float, angle: int, image: int = 0, title: str = "", dark: bool = False
) -> Message:
    """A vector s beside v = squash(s), and the class capsules of an image before and after squash.

    length: of s, up to `LONGEST`; angle: of s in degrees; title: what the image is called. Arrays: sums ‖s‖ and lengths
    ‖v‖ "upper", of the last iteration. Raises FigureError where the trace's routing squashes nothing, or lacks the
    image.
    """
    more = {"vector": [length, angle], "longest": LONGEST, "title": title}
    return Message({**more, **_fields(trace, dark)}, _sizes(trace, image))


def margin_message(
    trace: Trace,
    labels: Iterable[int],
    *,
    margins: Sequence[float] = MARGINS,
    moved: Sequence[tuple[int, float]] = (),
    dark: bool = False,
) -> Message:
    """The margin loss of every class of an image: its two branches, and the class capsules on them.

    labels: the classes that are there; margins: m⁺, m⁻ and what an absent class counts; moved: classes, each with the
    length that the visitor gave it. Arrays as in `squash_message`. Raises FigureError as that does.
    """
    more = {"margins": list(margins), "usual": list(MARGINS), "moved": [list(each) for each in moved]}
    there = set(labels)
    targets = [upper in there for upper in range(len(trace.classes))]
    return Message({**more, "targets": targets, **_fields(trace, dark)}, _sizes(trace))


def margin_table(message: Message) -> dict[str, ndarray]:
    """What a board of the margin loss shows, by class but the margins: lengths of the network, and as moved, losses."""
    lengths, fields = message.arrays["lengths"], message.fields
    moved = lengths.copy()
    for upper, length in fields["moved"]:
        moved[upper] = length
    present, absent, weight = fields["margins"]
    targets = torch.tensor([fields["targets"]])
    losses = margin_losses(torch.from_numpy(moved)[None], targets, present=present, absent=absent, weight=weight)
    found = {"margins": np.array(fields["margins"]), "there": np.array(fields["targets"])}
    return found | {"lengths": lengths, "lengths as moved": moved, "losses": losses[0].numpy()}


def _fields(trace: Trace, dark: bool) -> dict[str, Any]:
    return {"classes": list(trace.classes), "theme": theme(dark, len(trace.classes))}


def _sizes(trace: Trace, image: int = 0) -> dict[str, ndarray]:
    check(trace, image=image)
    squashed = trace.config.algorithm.squashed
    if not squashed:
        able = listed([each.short for each in ALGORITHMS.values() if each.squashed])
        raise FigureError(f"{trace.config.algorithm.title} squashes nothing; trace a model of {able}.")
    sums = np.linalg.norm(steps(trace, squashed, image)[-1], axis=-1)
    return {"sums": sums, "lengths": steps(trace, "activations", image)[-1]}
