"""The same images in blocks: inputs, reconstructions, drawings by another decoder (Yang, Li & Yu 2021, Figure 2)."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from plotly.graph_objects import Figure
from torch import Tensor

from capsviz.figures.choosing import targets
from capsviz.figures.describe import remember
from capsviz.figures.errors import FigureError
from capsviz.figures.picture import image_axes, middle, mosaic, mosaic_traces, numbers, on
from capsviz.figures.text import literals
from capsviz.figures.theme import Number, Span, caption, ink, style

LETTERS = 104
"""Of all titles side by side, to a line: on the narrowest page that is not a telephone's they do not touch."""


def image_blocks(
    blocks: Mapping[str, Float[Tensor, "count *image"]],
    texts: Sequence[str],
    *,
    wrong: Sequence[bool] = (),
    chosen: Sequence[int] | None = None,
    dark: bool = False,
    height: int = 380,
) -> Figure:
    """The same images as several models draw them, block by block, those that read as another class framed in the last.

    blocks: a title and images in [0, 1] for each, such as "(a) input", "(b) dynamic routing, reconstructed" and
    "(c) L2/FC capsules, decoded by dynamic routing's decoder"; texts: what the pointer says of each image; wrong: which
    images of the last block are framed; chosen: what a click on one stands for, its place unless given.
    Raises FigureError where the blocks differ in number or hold nothing.
    """
    drawn = {title: numbers(block) for title, block in blocks.items()}
    count = len(texts)
    if not count or not drawn or any(len(block) != count for block in drawn.values()):
        raise FigureError("Every block needs the same images in the same order, at least one, and a text for each.")
    columns = math.ceil(math.sqrt(count))
    rows = math.ceil(count / columns)
    figure, layout, notes = Figure(), dict[str, Any](), []
    for number, (title, block) in enumerate(drawn.items(), start=1):
        x = _column(number - 1, len(drawn))
        canvas, pitch = mosaic(_rectangle(block, rows, columns))
        canvas[_beyond(count, rows, columns, pitch, canvas.shape)] = 0
        axes = image_axes(number, x, (0, 1), towards="top", size=(canvas.shape[0], canvas.shape[1]))
        for name, axis in axes.items():  # a block begins where its title does, however wide the page is
            layout[name] = axis | ({"constraintoward": "left"} if name.startswith("x") else {})
        figure.add_trace(mosaic_traces(canvas, pitch, [[""]], place=on(number))[0])
        figure.add_trace(_targets(count, columns, pitch, texts, chosen, number))
        # A title may be longer than its block is wide: it breaks, and grows upwards.
        notes.append(caption("<br>".join(literals(textwrap.wrap(title, LETTERS // len(drawn)))), x[0], 1.01, dark=dark))
    top = 30 + 22 * max(note["text"].count("<br>") for note in notes)
    framed = [index for index, is_wrong in enumerate(wrong) if is_wrong]
    shapes = [_frame(index, columns, pitch, len(drawn), dark) for index in framed]
    margin = {"l": 4, "r": 4, "t": top, "b": 4}
    figure.update_layout(**layout, annotations=notes, shapes=shapes, margin=margin, hoverdistance=60)
    text = f"{count} images in {len(drawn)} blocks: {'; '.join(drawn)}."
    if len(wrong):
        one = len(framed) == 1
        reads = "drawing of the last block reads" if one else "drawings of the last block read"
        text += f" {len(framed)} {reads} as another class than the image and {'is' if one else 'are'} framed."
    return remember(style(figure, dark=dark, height=height), text)


def _targets(
    count: int, columns: int, pitch: tuple[int, int], texts: Sequence[str], chosen: Sequence[int] | None, number: int
) -> Any:
    down, across = pitch
    places = [divmod(index, columns) for index in range(count)]
    x = [middle(across, column) for _, column in places]
    y = [middle(down, row) for row, _ in places]
    return targets(x, y, chosen or range(count), literals(texts), size=300 / columns, place=on(number))


def _column(column: int, count: int) -> Span:
    return column / count + 0.006, (column + 1) / count - 0.006


def _rectangle(block: ndarray, rows: int, columns: int) -> ndarray:
    empty = np.zeros((rows * columns - len(block), *block.shape[1:]))
    return np.concatenate([block, empty]).reshape(rows, columns, *block.shape[1:])


def _beyond(count: int, rows: int, columns: int, pitch: tuple[int, int], shape: tuple[int, ...]) -> ndarray:
    """Pixels of the last row that hold no image."""
    mask = np.zeros(shape[:2], dtype=bool)
    if rows * columns > count:
        mask[(rows - 1) * pitch[0] :, (count - (rows - 1) * columns) * pitch[1] :] = True
    return mask


def _frame(index: int, columns: int, pitch: tuple[int, int], axes: int, dark: bool) -> dict[str, Any]:
    row, column = divmod(index, columns)
    suffix = "" if axes == 1 else str(axes)
    edges: dict[str, Number] = {
        "x0": column * pitch[1] - 1.5,
        "x1": (column + 1) * pitch[1] - 1.5,
        "y0": row * pitch[0] - 1.5,
        "y1": (row + 1) * pitch[0] - 1.5,
    }
    line = {"color": ink(dark).accent, "width": 2 if columns > 6 else 3}
    return {"type": "rect", "xref": f"x{suffix}", "yref": f"y{suffix}", **edges, "line": line}
