"""A board with all that it shows, for a host that asks no app: a page of its own (`page`), a notebook (`notebook`)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
from numpy import ndarray

from capsviz.analysis.perturbation import PerturbError
from capsviz.boards.capsule_maps import CapsuleMaps
from capsviz.boards.decoder import Left, decoder_message, header
from capsviz.boards.discriminative import coefficient_maps
from capsviz.boards.message import Message
from capsviz.boards.routing import describing, of_all_classes, routing_message
from capsviz.figures.errors import FigureError
from capsviz.figures.reading import check
from capsviz.letters import as_file
from capsviz.reading import whole
from capsviz.tracing.recorder import shorter
from capsviz.tracing.trace import Trace

_NO_CLASS = "{!r} is no class; give its number."
UNTOLD: dict[str, Any] = {
    "capsule": None,
    "frame": None,
    "rounds": None,
    "most": None,
    "trained": None,
    "group": "",
    "touched": None,
    "able": False,
    "looked": {"turned": None, "zoom": 0, "bare": False, "absolute": False, "listed": "share"},
    "introducing": False,
}
"""What a board is told where nobody keeps what the visitor does: nothing is chosen, and nothing can be routed again."""


@dataclass(frozen=True)
class Board:
    """A kind of board and what it is given: for each class that can be chosen the message that shows it.

    kind: its name in `frontend/boards.ts`; count: how many classes, 1 where there is nothing to choose; upper: the one
    that is shown first. first: packed messages that come once, before all others. shared: fields and arrays of a
    message that are the same for every class. table: the numbers of its table by name, the arrays of its message unless
    given.
    """

    kind: str
    title: str
    message: Callable[[int], Message]
    count: int = 1
    upper: int = 0
    first: tuple[bytes, ...] = ()
    shared: frozenset[str] = frozenset()
    table: Callable[[], Mapping[str, ndarray]] | None = None

    @property
    def file(self) -> str:
        """What its pictures are called as files."""
        return "-".join(filter(None, ("capsviz", as_file(self.title))))

    def standing(self, **left: Any) -> Board:
        """The board as a visitor left it: what of `UNTOLD` was told after all."""

        def message(upper: int) -> Message:
            told = self.message(upper)
            return Message({**told.fields, **left}, told.arrays)

        return replace(self, message=message)

    def packed(self, upper: int, *, without: Container[str] = ()) -> bytes:
        """What shows a class, as the browser takes it; without: fields and arrays that it has already."""
        message = self.message(upper)
        return Message({**UNTOLD, **message.fields}, message.arrays).only(lambda name: name not in without).packed()

    def packed_shared(self) -> bytes:
        """What is the same for every class, as the browser takes it."""
        message = self.message(self.upper) if self.shared else Message({}, {})
        return message.only(self.shared.__contains__).packed()


def trace_board(
    trace: Trace,
    *,
    image: SupportsIndex = 0,
    upper: SupportsIndex | None = None,
    base: Trace | None = None,
    longest: Trace | None = None,
    more: Mapping[str, ndarray] | None = None,
    dark: bool = False,
) -> Board:
    """The routing of an image as a board: played where it iterates, as its coefficients where it does not.

    image: from 0, or from the end. upper: the class that is shown first, the most active one unless given. base,
    more: as in `routing_message`.
    longest: the same routing with more iterations, of which those of the trace are the first; a board of it begins with
    so many, and base has as many as it. Of several routed layers the last is shown; `Trace.at` gives others.
    Raises FigureError where the trace holds no votes, or lacks the image or the class.
    """
    image = whole(image, f"{image!r} is no image; give its number.", FigureError)
    if -len(trace.images) <= image < 0:
        image += len(trace.images)
    check(trace, image=image)
    chosen = whole(trace.predicted[image] if upper is None else upper, _NO_CLASS.format(upper), FigureError)
    title, last = f"The routing of {trace.name or 'a network'}", trace.at(-1)
    if "board" not in trace.config.algorithm.pictures:
        return maps_board(coefficient_maps(last, upper=chosen, image=image), title, dark=dark)

    played = longest or last
    rounds = last.layer.iterations if longest else None
    common, describe = of_all_classes(played, image=image, base=base, dark=dark), describing(last, image=image)

    def message(upper: int) -> Message:
        shown = routing_message(played, image=image, upper=upper, base=base, more=more, dark=dark, common=common)
        return Message({**shown.fields, "alt": describe(upper), "rounds": rounds}, shown.arrays)

    def table() -> Mapping[str, ndarray]:
        rounds = last.layer.iterations
        whole = base is None or base.at(-1).layer.iterations == rounds
        begun = base if base is None or whole else shorter(None, base, rounds)
        return routing_message(last, image=image, upper=chosen, base=begun, more=more).arrays

    message(chosen)  # what is wrong is said at once, not when somebody looks
    shared = frozenset((*common.fields, *common.arrays))
    return Board("routing-board", title, message, len(last.classes), chosen, shared=shared, table=table)


def maps_board(maps: CapsuleMaps, title: str, *, dark: bool = False) -> Board:
    """Maps over the primary capsules as a board."""
    return Board("capsule-maps", title, lambda _: maps.message(dark=dark))


def decoder_board(
    trace: Trace,
    weights: bytes,
    *,
    upper: SupportsIndex | None = None,
    offsets: Iterable[SupportsFloat] | None = None,
    hand: str = "sliders",
    wide: bool = False,
    dark: bool = False,
) -> Board:
    """The class capsules of the first image of a trace, to be moved by hand, and what the decoder draws of them.

    weights: of `pack_weights`; upper: the class capsule to move, the most active one unless given; offsets: by how much
    each of its numbers is moved already, in the decoder's unit; hand, wide: as in `decoder_message`. A walk ends at the
    surest exemplar of the class that is likely next. Its numbers are the class capsules, in that unit, and the offsets.
    Raises PerturbError as `decoder_message` does.
    """
    likely = trace.activations[0].argsort(descending=True).tolist()
    left = Left(
        likely[0] if upper is None else whole(upper, _NO_CLASS.format(upper), PerturbError),
        tuple((0.0,) * header(weights)["dim"] if offsets is None else map(float, offsets)),
        (likely[min(trace.objects, len(likely) - 1)], 0),
    )
    message = decoder_message(
        {trace.name: weights},
        {trace.name: trace.poses[0]},
        left,
        wide=wide,
        hand=hand,
        classes=trace.classes,
        present={trace.name: trace.named[0].tolist()} if trace.objects > 1 else None,
        dark=dark,
    )
    capsules = trace.poses[0].float().numpy() / header(weights)["unit"]
    numbers = {"capsules": capsules, "offsets": np.array(left.offsets)}
    title = f"A class capsule of {trace.name or 'a network'}, moved"
    return Board("live-decoder", title, lambda _: message, first=(weights,), table=lambda: numbers)
