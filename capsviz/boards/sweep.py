"""An image seen by one amount of a change after the other, and what networks make of it: what the board takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from jaxtyping import UInt8
from numpy import ndarray
from torch import Tensor

from capsviz.analysis.viewpoint import Sweep, lost, most_moved, rivals
from capsviz.boards.board import Board
from capsviz.boards.message import Message
from capsviz.boards.theme import theme
from capsviz.data import to_float
from capsviz.data.viewpoint import Change
from capsviz.figures.theme import ink

_PICTURES = ("images", "drawn")


@dataclass(frozen=True)
class Swept:
    """One network's part: what it is called, by its method and by itself, the method's colour ("": none), its sweep."""

    title: str
    name: str
    colour: str
    sweep: Sweep


@dataclass(frozen=True)
class Swing:
    """An image over a change of viewpoint: its amounts, the images, the networks, and whose drawings are shown.

    labels: what the image shows, the class that is followed first. drawing: the network whose capsule is read and
    drawn; pooled: the one without capsules whose pooled features stand beside it, None where there is none. objects:
    how many an image shows; of several the followed one is drawn.
    """

    change: Change
    amounts: tuple[float, ...]
    images: UInt8[Tensor, "amount channel height width"]
    classes: tuple[str, ...]
    labels: tuple[int, ...]
    networks: tuple[Swept, ...]
    drawing: Swept
    pooled: Swept | None
    objects: int = 1


def sweep_message(swing: Swing, *, frame: int | None, dark: bool = False) -> Message:
    """The board of a sweep; frame: the amount at which it stands, counted from 0, None: the last."""
    label, classes = swing.labels[0], swing.classes
    arrays = {"images": to_float(swing.images).half().numpy()}
    methods = []
    for place, each in enumerate(swing.networks):
        active = each.sweep.activations
        other, gone = rivals(active, swing.labels), lost(active, label, len(swing.labels))
        arrays |= {
            f"own{place}": active[:, label].numpy(),
            f"other{place}": active.gather(1, other[:, None])[:, 0].numpy(),
        }
        methods.append(
            {
                "title": each.title,
                "colour": each.colour or ink(dark).text,
                "others": [classes[at] for at in other.tolist()],
                "lost": gone.tolist(),
                "said": lost_in_words(swing.change, swing.amounts, gone.tolist()),
            }
        )
    panels = []
    dimensions = swing.drawing.sweep.numbers.shape[1]
    for place, each in enumerate(filter(None, (swing.drawing, swing.pooled))):
        values = each.sweep.numbers
        chosen = most_moved(values, dimensions)
        arrays[f"numbers{place}"] = values[:, chosen].T.contiguous().numpy()
        whole = values.shape[1] == dimensions
        title = f"class capsule {classes[label]}" if whole else "max pooling"
        count = values.shape[1]
        rows = f"its {count} numbers" if whole else f"the {dimensions} of its {count:,} numbers that move most"
        reach = float(values[:, chosen].abs().max()) or 1.0
        panels.append({"title": f"{each.name}, {title}: {rows}", "rows": chosen.tolist(), "reach": reach})
    drawn = swing.drawing.sweep.drawn
    if drawn is not None:
        arrays["drawn"] = drawn.clamp(0, 1).half().numpy()
    surest = swing.drawing.sweep.activations.argmax(1).tolist()
    named = [label] * len(surest) if swing.objects > 1 else surest
    fields = {
        "change": swing.change.title,
        "amounts": list(swing.amounts),
        "names": [swing.change.written(amount) for amount in swing.amounts],
        "neutral": min(range(len(swing.amounts)), key=lambda at: abs(swing.amounts[at] - swing.change.neutral)),
        "frame": frame,
        "shape": list(swing.images.shape[1:]),
        "label": classes[label],
        "drawer": "" if drawn is None else swing.drawing.name,
        "named": [classes[at] for at in named],
        "methods": methods,
        "panels": panels,
        "theme": theme(dark),
    }
    return Message(fields, arrays)


def sweep_board(swing: Swing, title: str, *, frame: int | None, dark: bool = False) -> Board:
    """The board by itself, for a page of its own."""
    return Board(
        "sweep", title, lambda _: sweep_message(swing, frame=frame, dark=dark), table=lambda: sweep_table(swing)
    )


def sweep_table(swing: Swing) -> dict[str, ndarray]:
    """What the board shows, by amount: each network's activations, by class, and the numbers that move most."""
    found = {"amounts": np.array(swing.amounts)}
    for each in swing.networks:
        found[f"{each.name}: activations"] = each.sweep.activations.numpy()
    dimensions = swing.drawing.sweep.numbers.shape[1]
    for each in filter(None, (swing.drawing, swing.pooled)):
        found |= {
            f"{each.name}: number {row}": each.sweep.numbers[:, row].numpy()
            for row in most_moved(each.sweep.numbers, dimensions).tolist()
        }
    return found | {name: array for name, array in sweep_message(swing, frame=None).arrays.items() if name in _PICTURES}


def lost_in_words(change: Change, amounts: Sequence[float], gone: Sequence[bool]) -> str:
    """Between which amounts a class is lost: "lost: −60° to −32°, 60°"."""
    runs = [(away, [at for at, _ in run]) for away, run in groupby(enumerate(gone), key=lambda each: each[1])]
    spans = [(change.written(amounts[run[0]]), change.written(amounts[run[-1]])) for away, run in runs if away]
    if not spans:
        return "never lost"
    if all(gone):
        return "lost at every amount"
    return "lost: " + ", ".join(a if a == b else f"{a} to {b}" for a, b in spans)
