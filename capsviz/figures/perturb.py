"""Class capsules moved along their dimensions and drawn (Sabour et al. 2017, Figure 4), and what these mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from plotly.colors import sample_colorscale
from plotly.graph_objects import Figure, Heatmap, Scatter
from torch import Tensor

from capsviz.analysis.dimensions import QUALITIES, Meanings
from capsviz.figures.describe import remember
from capsviz.figures.errors import FigureError
from capsviz.figures.picture import (
    TICKS,
    image_axes,
    middle,
    mosaic,
    mosaic_traces,
    numbers,
    on,
    packed,
    picture,
    pixels,
)
from capsviz.figures.text import literal
from capsviz.figures.theme import TEXT, TICK, Number, caption, colourbar, contrast, diverging, ink, style


def dimension_sheet(
    images: Float[Tensor, "dimension offset *image"], offsets: Sequence[Number], *, dark: bool = False
) -> Figure:
    """The sheet of Figure 4: one row per dimension of the capsule, one column per offset, the column of zero framed.

    images: in [0, 1], "dimension offset height width" with a channel axis of 1 or 3 first or last if there is one.
    offsets: what was added in each column. Raises FigureError unless there is one column per offset.
    """
    shots = numbers(images)
    if shots.ndim < 4 or shots.shape[1] != len(offsets):
        raise FigureError(f"The sheet needs one column of images per offset; {len(offsets)} offsets were given.")
    canvas, pitch = mosaic(shots)
    down, across = pitch
    dimensions = range(len(shots))
    framed = int(np.argmin(np.abs(offsets)))
    # From either end: for all of the eleven that are usual there is no room.
    told = {each for k, each in enumerate(offsets) if min(k, len(offsets) - 1 - k) % 2 == 0}
    texts = [[f"dimension {h}, offset {_signed(offset)}" for offset in offsets] for h in dimensions]
    layout: dict[str, Any] = {
        **image_axes(1, (0, 1), (0, 1), size=canvas.shape[:2]),
        "margin": {"l": 64, "r": 12, "t": 64, "b": 12},
    }
    layout["xaxis"] |= {
        **TICKS,
        "side": "top",
        "title": {"text": "added to one dimension", "standoff": 6},
        "tickvals": [middle(across, column) for column in range(len(offsets))],
        "ticktext": ["<b>0</b>" if not each else _signed(each) if each in told else "" for each in offsets],
    }
    layout["yaxis"] |= {
        **TICKS,
        "title": {"text": "dimension", "standoff": 6},
        "tickvals": [middle(down, h) for h in dimensions],
        "ticktext": [str(h) for h in dimensions],
    }
    if offsets[framed] == 0:
        frame = {"x0": framed * across - 1.5, "x1": framed * across + across - 1.5, "y0": -1.5}
        line = {"color": ink(dark).accent, "width": 3}
        layout["shapes"] = [{"type": "rect", **frame, "y1": len(shots) * down - 1.5, "line": line}]
    strongest, change = _strongest(shots)
    text = (
        f"Sheet of {len(shots)} × {len(offsets)} reconstructions: each row moves one dimension of the class capsule by "
        f"{_signed(offsets[0])} to {_signed(offsets[-1])}; pixels change most, by {change:.3f} on average from end to "
        f"end, along dimension {strongest}."
    )
    figure = Figure(mosaic_traces(canvas, pitch, texts, place=on(1)), layout)
    return remember(style(figure, dark=dark, height=108 + 37 * len(shots) * down // across), text)


def meaning_table(found: Meanings, *, dark: bool = False) -> Figure:
    """What each dimension of a class capsule means: its correlation with each quality, and a word where it is clear.

    One row per dimension, one column per quality; at the pointer also the change per standard deviation, in its unit.
    """
    correlation: list[list[float]] = found.correlation.tolist()
    names = list(QUALITIES.values())
    labels, scale = found.labels, diverging(dark)
    dimensions, columns = range(len(correlation)), range(len(names))
    hover = [
        [
            f"dimension {d}, {names[q].name}<br>correlation {_signed(correlation[d][q])}<br>"
            f"{float(found.effect[d, q]):+.2g} {names[q].unit} per standard deviation".replace("-", "−")
            for q in columns
        ]
        for d in dimensions
    ]
    chosen = [[labels[d] in (names[q].label, names[q].opposite) for q in columns] for d in dimensions]
    cells = [(d, q) for d in dimensions for q in columns]
    still = {"showgrid": False, "zeroline": False, "fixedrange": True}
    figure = Figure(
        [
            Heatmap(
                z=packed(numbers(found.correlation), 4),
                zmin=-1,
                zmax=1,
                colorscale=scale,
                xgap=2,
                ygap=2,
                text=np.array(hover, dtype=object),
                hovertemplate="%{text}<extra></extra>",
                colorbar=colourbar("r", dark=dark, tickvals=[-1, 0, 1], len=0.5, x=1.0),
            ),
            Scatter(
                x=[q for _, q in cells],
                y=[d for d, _ in cells],
                mode="text",
                text=[_bold(_signed(correlation[d][q]), chosen[d][q]) for d, q in cells],
                textfont={"size": TICK, "color": _readable([correlation[d][q] for d, q in cells], dark)},
                hoverinfo="skip",
            ),
        ],
        {
            "margin": {"l": 150, "r": 12, "t": 44, "b": 8},
            "xaxis": {
                **still,
                "side": "top",
                "tickvals": list(columns),
                "ticktext": [quality.label for quality in names],
            },
            "yaxis": {
                **still,
                "autorange": "reversed",
                "tickvals": list(dimensions),
                "ticktext": [f"{labels[d]}  <b>{d}</b>" if labels[d] else f"<b>{d}</b>" for d in dimensions],
            },
        },
    )
    clear = [f"{d} {label}" for d, label in enumerate(labels) if label]
    text = (
        f"Table of the correlation of {len(correlation)} dimensions with {len(names)} measures of the picture; clear "
        f"are {', '.join(clear) or 'none'}."
    )
    style(figure, dark=dark, height=52 + 30 * len(correlation))
    large = {"tickfont": {"size": TEXT, "color": ink(dark).text}}
    return remember(figure.update_layout(xaxis=large, yaxis=large), text)


def reconstruction_figure(image: Tensor | ndarray, *, title: str = "", dark: bool = False, height: int = 360) -> Figure:
    """One image, large, without axes; the intensity of each pixel at the pointer.

    image: in [0, 1], height × width with a channel axis of 1 or 3 first or last if there is one; title above it.
    """
    array = pixels(image)
    figure = Figure(
        picture(array, "reconstruction"),
        {**image_axes(1, (0, 1), (0, 1)), "margin": {"l": 4, "r": 4, "t": 40 if title else 4, "b": 4}},
    )
    if title:
        figure.update_layout(annotations=[caption(literal(title), 0.5, 1.01, dark=dark, size=TEXT, xanchor="center")])
    text = (
        f"{title + ': ' if title else ''}image of {array.shape[0]} × {array.shape[1]} pixels, mean intensity "
        f"{array.mean():.3f}, brightest {array.max():.2f}."
    )
    return remember(style(figure, dark=dark, height=height), text)


def _bold(text: str, bold: bool) -> str:
    return f"<b>{text}</b>" if bold else text


def _readable(values: Sequence[Number], dark: bool) -> list[str]:
    """Black or white, whichever is read better on the diverging scale at each value from −1 to 1."""
    grounds = sample_colorscale(diverging(dark), [(value + 1) / 2 for value in values], colortype="tuple")
    written = ["#" + "".join(f"{round(255 * channel):02x}" for channel in channels) for channels in grounds]
    return [max("#000000", "#ffffff", key=lambda colour: contrast(colour, ground)) for ground in written]


def _signed(offset: Number) -> str:
    return "0" if round(offset, 2) == 0 else f"{offset:+.2f}".replace("-", "−")


def _strongest(shots: ndarray) -> tuple[int, float]:
    """The dimension along which the picture changes most from the first offset to the last, and by how much."""
    change = np.abs(shots[:, -1] - shots[:, 0]).reshape(len(shots), -1).mean(axis=1)
    return int(change.argmax()), float(change.max())
