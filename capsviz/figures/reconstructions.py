"""Many inputs, many methods: reconstructions in a grid, or where each of them is off."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray
from plotly.graph_objects import Figure
from torch import Tensor

from capsviz.figures.choosing import targets
from capsviz.figures.describe import remember
from capsviz.figures.errors import FigureError
from capsviz.figures.picture import TICKS, image_axes, mosaic, numbers, on, pixels, png, reduced
from capsviz.figures.text import unmarked
from capsviz.figures.theme import TICK, caption, diverging_colours, ink, style

GAP = 3
"""Between pictures side by side, in pixels of the pictures."""
CELL, WORDS, FIGURE, LETTER = 76, 21, 54, 8.5
"""Width of a picture, what is left below it for its figure, the widths of that and of a bold letter, in pixels."""

Images = Float[Tensor, "count *image"] | Float[ndarray, "count *image"]


def method_grid(
    rows: Mapping[str, Images],
    *,
    heads: Sequence[str],
    chosen: Sequence[int],
    texts: Mapping[str, Sequence[str]],
    words: Mapping[str, Sequence[str]] | None = None,
    signed: Sequence[str] = (),
    on_stage: int | None = None,
    height: int | None = None,
    cell: int = CELL,
    dark: bool = False,
) -> Figure:
    """One row per method and one column per image.

    rows: by what stands before the row, images in [0, 1], or differences in [-1, 1] where the row is named in `signed`
    (blue: less, orange: more). heads: above each column; chosen: the number of each image, what a click stands for.
    texts: what the pointer says, words: what stands below each picture; on_stage: which of the numbers is framed.
    height: the most that it takes, in pixels; pictures are as wide as `cell` where that leaves them room.
    Raises FigureError where rows differ in number.
    """
    count = len(heads)
    shots = {name: reduced(numbers(images)) for name, images in rows.items()}
    if not count or not shots or any(len(images) != count for images in shots.values()):
        raise FigureError("Every row needs one image per column, at least one.")
    longest = max(len(line) for name in shots for line in name.split("<br>"))
    margin = {"l": 20 + 7.5 * longest, "r": 8, "t": 30 + 18 * max(head.count("<br>") for head in heads), "b": 4}
    tall, width = pixels(next(iter(shots.values()))[0]).shape[:2]
    scale = cell / width  # of a pixel of the pictures on screen
    if height is not None:
        scale = min(scale, ((height - margin["t"] - 8) / len(shots) - WORDS) / tall)
    letters = max(len(unmarked(re.sub("<[^>]*>", "", line))) for head in heads for line in head.split("<br>"))
    gap = max(GAP, round(max(FIGURE, min(LETTER * letters, cell)) / scale) - width)
    down, across = tall + round(WORDS / scale), width + gap
    whole = (len(shots) * down, count * across - gap)
    middles = [column * across + (width - 1) / 2 for column in range(count)]
    figure, notes = Figure(), []
    for number, (name, images) in enumerate(shots.items()):
        top = number * down
        strip = mosaic(_coloured(images, dark) if name in signed else images[None], gap=gap)[0]
        figure.add_trace(go.Image(source=png(strip), y0=top, hoverinfo="skip", **on(1)))
        middle = [top + (tall - 1) / 2] * count
        figure.add_trace(targets(middles, middle, chosen, texts[name], size=80, place=on(1)))
        notes += [
            _below(word, x, top + tall - 0.5, dark)
            for word, x in zip((words or {}).get(name, ()), middles, strict=False)
        ]
    heading = {"tickvals": middles, "ticktext": list(heads), "side": "top"}
    axes = image_axes(1, (0, 1), (0, 1), towards="top", size=whole)
    axes["xaxis"] |= {**TICKS, **heading, "constraintoward": "left"}
    axes["yaxis"] |= {
        **TICKS,
        "tickvals": [row * down + tall / 2 for row in range(len(shots))],
        "ticktext": list(shots),
    }
    frames = [_frame(column * across, width, whole, dark) for column, index in enumerate(chosen) if index == on_stage]
    figure.update_layout(**axes, annotations=notes, shapes=frames, margin=margin, hoverdistance=80)
    text = f"{count} images in columns ({', '.join(str(index) for index in chosen)}), in rows: {', '.join(shots)}."
    needed = round(whole[0] * scale + margin["t"] + 8)
    return remember(style(figure, dark=dark, height=min(needed, height or needed)), text)


def _coloured(differences: Float[ndarray, "count *image"], dark: bool) -> Float[ndarray, "1 count height width 3"]:
    """Signed differences as colours in [0, 1], averaged over the channels first."""
    flat = np.stack([grey.mean(axis=-1) if (grey := pixels(one)).ndim == 3 else grey for one in differences])
    return diverging_colours(flat, dark)[None]


def _below(word: str, x: float, y: float, dark: bool) -> dict[str, Any]:
    place = {"xref": "x", "yref": "y", "xanchor": "center", "yanchor": "top", "borderpad": 0}
    return {**caption(word, x, y, dark=dark, size=TICK), **place, "font": {"size": TICK, "color": ink(dark).muted}}


def _frame(left: int, width: int, whole: tuple[int, int], dark: bool) -> dict[str, Any]:
    edges = {"x0": left - 2, "x1": left + width + 1, "y0": -2, "y1": whole[0] - 1}
    return {"type": "rect", "xref": "x", "yref": "y", **edges, "line": {"color": ink(dark).accent, "width": 3}}
