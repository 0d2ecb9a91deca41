"""One input, several models: what each of them draws, and how far off it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy import ndarray
from plotly.basedatatypes import BaseTraceType
from plotly.graph_objects import Figure
from torch import Tensor

from capsviz.figures.describe import remember
from capsviz.figures.errors import FigureError
from capsviz.figures.picture import image_axes, on, packed, picture, pixels
from capsviz.figures.text import literal
from capsviz.figures.theme import (
    ROUTING_COLOURS,
    TEXT,
    TICK,
    Number,
    Span,
    caption,
    colourbar,
    colourbar_below,
    diverging,
    style,
)
from capsviz.routing import ALGORITHMS
from capsviz.tensors import written

_ERROR = "reconstruction − input"
_TOP, _FLOOR = 0.93, 0.02
"""Shares of the grid's height at which the pictures begin and the differences end."""
_LINE = 0.052
"""A line of a caption, as a share of the grid's height where that is 370 pixels."""


def reconstruction_grid(
    input: Tensor | ndarray,
    reconstructions: Mapping[str, Tensor | ndarray],
    *,
    dark: bool = False,
    captions: Mapping[str, str] | None = None,
    coloured: Mapping[str, ndarray] | None = None,
) -> Figure:
    """The input and, beside it, the reconstruction of every method, with the signed differences below.

    input and reconstructions: images in [0, 1], shape as `picture.pixels`; keys are names of ALGORITHMS or any
    other title. captions: a line under a reconstruction (say MSE, SSIM, class and length), by the same
    keys and "input". coloured: pictures to show in place of reconstructions, which the differences stay those of
    (several objects, each in its colour). Differences are reconstruction − input, averaged over colours, all on one
    scale from −1 to 1.
    Raises FigureError where a reconstruction has another size than the input.
    """
    original = pixels(input)
    drawn = {key: _matching(original, key, image) for key, image in reconstructions.items()}
    shown = {"input": original, **drawn, **(coloured or {})}
    captions = captions or {}
    y, below = _rows(captions)
    data, layout = list[BaseTraceType](), dict[str, Any]()
    for column, (key, image) in enumerate(shown.items()):
        x, name = _column(column, len(shown)), _title(key)
        data.append(picture(image, name, place=on(column + 1)))
        layout |= image_axes(column + 1, x, y)
        if column:
            bar = colourbar("Δ", dark=dark, len=below[1] - below[0] + 0.05, y=sum(below) / 2) if column == 1 else None
            data.append(_difference(original, drawn[key], name, len(shown) + column, dark, bar))
            layout |= image_axes(len(shown) + column, x, below)
    layout["annotations"] = _grid_words(list(shown), captions, y, below, dark)
    layout["shapes"] = [
        _underline(_column(i, len(shown)), y[1] + 0.008, key) for i, key in enumerate(shown) if key != "input"
    ]
    layout["margin"] = {"l": 4, "r": 84, "t": 8, "b": 8}
    errors = ", ".join(f"{_named(key)} {_squared(image - original):.4f}" for key, image in drawn.items())
    text = f"The input beside {len(drawn)} reconstructions; mean squared error: {errors}."
    return remember(style(Figure(data, layout), dark=dark, height=560), text)


def error_map(
    input: Tensor | ndarray, reconstruction: Tensor | ndarray, *, quantity: str = _ERROR, dark: bool = False
) -> Figure:
    """Where a reconstruction adds (orange) and misses (blue): reconstruction − input, averaged over colours.

    quantity: what the difference is called, where the two are other images.
    Raises FigureError where the two differ in size.
    """
    original = pixels(input)
    off = _matching(original, "the method", reconstruction) - original
    figure = Figure(
        _difference(original, original + off, "", 1, dark, colourbar_below("Δ", dark=dark), quantity),
        {**image_axes(1, (0, 1), (0, 1)), "margin": {"l": 4, "r": 4, "t": 4, "b": 64}},
    )
    text = (
        f"Signed difference, {quantity}, of {off.shape[0]} × {off.shape[1]} pixels: from {off.min():.2f} to "
        f"{off.max():.2f}, mean squared {_squared(off):.4f}."
    )
    return remember(style(figure, dark=dark, height=320), text)


def _rows(captions: Mapping[str, str]) -> tuple[Span, Span]:
    """Where the pictures and the differences stand, as shares of the height: between them the longest caption."""
    lines = max((text.count("<br>") + 1 for text in captions.values()), default=0)
    row = (_TOP - _FLOOR - 0.03 - _LINE * lines) / 2
    return (_TOP - row, _TOP), (_FLOOR, _FLOOR + row)


def _title(key: str) -> str:
    return "Input" if key == "input" else literal(_named(key))


def _named(key: str) -> str:
    return ALGORITHMS[key].title if key in ALGORITHMS else key


def _column(column: int, count: int) -> Span:
    return column / count + 0.008, (column + 1) / count - 0.008


def _squared(difference: ndarray) -> float:
    return float(np.square(difference).mean())


def _grid_words(keys: list[str], captions: Mapping[str, str], y: Span, below: Span, dark: bool) -> list[dict[str, Any]]:
    """Titles above the pictures of `reconstruction_grid`, captions under them, and what the second row is."""
    middles = [sum(_column(column, len(keys))) / 2 for column in range(len(keys))]
    small: dict[str, Any] = {"size": TICK, "dark": dark, "xanchor": "center", "align": "center"}
    words = [
        caption(f"<b>{_title(key)}</b>", middle, y[1] + 0.012, dark=dark, size=TEXT + 1, xanchor="center")
        for key, middle in zip(keys, middles, strict=True)
    ]
    words += [
        caption(captions[key], middle, y[0] - 0.012, yanchor="top", **small)
        for key, middle in zip(keys, middles, strict=True)
        if key in captions
    ]
    key = f"{_ERROR}<br>blue: missing<br>orange: added"
    return [*words, caption(key, middles[0], sum(below) / 2, yanchor="middle", **small)]


def _matching(original: ndarray, key: str, image: Tensor | ndarray) -> ndarray:
    drawn = pixels(image)
    if drawn.shape != original.shape:
        given, wanted = map(written, (drawn.shape, original.shape))
        raise FigureError(
            f"The reconstruction of {key} has {given} pixels, the input {wanted}; compare like with like."
        )
    return drawn


def _difference(
    original: ndarray,
    drawn: ndarray,
    name: str,
    axes: int,
    dark: bool,
    bar: dict[str, Any] | None,
    quantity: str = _ERROR,
) -> go.Heatmap:
    off = drawn - original
    opening = f"{name}<br>" if name else ""
    return go.Heatmap(
        z=packed(off.mean(axis=-1) if off.ndim == 3 else off),
        zmin=-1,
        zmax=1,
        colorscale=diverging(dark),
        showscale=bar is not None,
        colorbar=bar,
        hovertemplate=f"{opening}row %{{y}} column %{{x}}<br>{literal(quantity)} = %{{z:.2f}}<extra></extra>",
        **on(axes),
    )


def _underline(x: Span, y: Number, key: str) -> dict[str, Any]:
    """A line in the method's colour under its title; clear where the method has none."""
    return {
        "type": "line",
        "xref": "paper",
        "yref": "paper",
        "x0": x[0] + 0.02,
        "x1": x[1] - 0.02,
        "y0": y,
        "y1": y,
        "line": {"color": ROUTING_COLOURS.get(key, "rgba(0,0,0,0)"), "width": 4},
    }
