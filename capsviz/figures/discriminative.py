"""Discriminative routing, L2 and L1: coefficients, and what they have in common with agreement (Yang, Li & Yu 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray
from plotly.graph_objects import Figure
from torch import Tensor

from capsviz.figures.describe import remember
from capsviz.figures.errors import FigureError
from capsviz.figures.geometry import Geometry
from capsviz.figures.network import BARS
from capsviz.figures.picture import image_axes, numbers, on, rounded, without_nan
from capsviz.figures.text import literals
from capsviz.figures.theme import (
    TICK,
    Number,
    caption,
    colourbar_below,
    diverging,
    end_ticks,
    ink,
    style,
    typical_reach,
)
from capsviz.routing.discriminative import sparsity

COUNTED = 12
"""Of more classes than `BARS`, those whose signs are counted."""


def coefficient_map(
    coefficients: Float[Tensor, "lower upper"], grid: tuple[int, int, int], *, upper: int, dark: bool = False
) -> Figure:
    """The coefficients b of one class over the primary capsules: a tile of rows × columns per type, clear at zero.

    grid: rows, columns, types. Raises FigureError where it does not fit the coefficients or there is no such class.
    """
    if not 0 <= upper < coefficients.shape[1]:
        raise FigureError(f"There is no class {upper}; choose one from 0 to {coefficients.shape[1] - 1}.")
    b, cells = numbers(coefficients[:, upper]), Geometry(*grid)
    below, above = int((b < 0).sum()), int((b > 0).sum())
    headline = (
        f"<b>{below:,}</b> of {len(b):,} coefficients are negative ({100 * below / len(b):.1f} %), "
        f"<b>{above:,}</b> positive, {len(b) - below - above:,} zero"
    )
    reach = typical_reach(b)
    what = f"b   (each tile: one type at its {cells.rows} × {cells.columns} positions)"
    figure = Figure(
        go.Heatmap(
            z=without_nan(cells.tiles(b), 5),
            text=cells.tile_labels(),
            zmin=-reach,
            zmax=reach,
            colorscale=diverging(dark),
            colorbar=colourbar_below(what, dark=dark, ypad=26, **end_ticks(reach, b)),
            hoverongaps=False,
            hovertemplate="%{text}<br>b = %{z:.4f}<extra></extra>",
            **on(1),
        ),
        {**image_axes(1, (0, 1), (0, 1), towards="bottom"), "margin": {"l": 8, "r": 8, "t": 72, "b": 96}},
    )
    title = caption(headline, 0.5, 1, dark=dark, xanchor="center", yshift=26)
    figure.update_layout(annotations=[*_tile_numbers(cells, dark), title])
    text = (
        f"Coefficients b of class {upper} over {cells.rows} × {cells.columns} positions and {cells.types} types: "
        f"{below:,} of {len(b):,} negative, {above:,} positive, from {b.min():.3f} to {b.max():.3f}."
    )
    return remember(style(figure, dark=dark, height=520), text)


def coefficient_histogram(
    coefficients: Float[Tensor, "lower *upper"], *, dark: bool = False, classes: Sequence[str] | None = None
) -> Figure:
    """How the coefficients b are spread: negative ones blue, positive ones orange; counts and near zeros in words.

    coefficients: of all classes "lower upper", then with signs counted per class beside it, or of one class "lower".
    classes: their names, numbers by default; of more than `BARS` those `COUNTED` that have most negative ones. Near
    zero: |b| < 0.001 max |b|, exact zeros among them. Raises FigureError where there is none.
    """
    b = numbers(coefficients)
    if not b.size:
        raise FigureError("There is no coefficient to count; give those of at least one capsule and class.")
    share = sparsity(coefficients)
    below, above = int((b < 0).sum()), int((b > 0).sum())
    per_class = b.ndim == 2 and b.shape[1] > 1
    negative, positive = sign_colours(dark)
    headline = (
        f'<span style="color:{negative}">■</span> <b>{below:,}</b> negative ({100 * below / b.size:.1f} %)   '
        f'<span style="color:{positive}">■</span> <b>{above:,}</b> positive ({100 * above / b.size:.1f} %)   '
        f"near zero {100 * share.near:.2f} %, exactly zero {100 * share.exact:.2f} %"
    )
    figure = _histogram(b, 0.6 if per_class else 1.0, dark)
    if per_class:
        named = literals(classes or map(str, range(b.shape[1])))
        shown = np.arange(len(named))
        if len(named) > BARS:
            shown = np.sort(np.argsort(-(b < 0).sum(0), kind="stable")[:COUNTED])
        _add_sign_counts(figure, b[:, shown], [named[j] for j in shown], len(named), dark)
    figure.update_layout(annotations=[caption(headline, 0, 1.04, dark=dark)])
    text = (
        f"Histogram of {b.size:,} coefficients b: {below:,} negative, {above:,} positive, "
        f"{b.size - below - above:,} zero, {100 * share.near:.2f} % within a thousandth "
        f"of the largest, which is {np.abs(b).max():.3f}."
    )
    return remember(style(figure, dark=dark, height=400), text)


def _histogram(b: Float[ndarray, "..."], right: Number, dark: bool) -> Figure:
    negative, positive = sign_colours(dark)
    # An even number of bins around zero: no bar holds both signs. What is exactly zero has a bar of its own there.
    reach = float(np.abs(b).max()) or 1.0
    counts, edges = np.histogram(b[b != 0], bins=80, range=(-reach, reach))
    middle, width = (edges[:-1] + edges[1:]) / 2, float(edges[1] - edges[0])
    held = np.flatnonzero(counts)
    zeros = int((b == 0).sum())
    colours = [negative if value < 0 else positive for value in middle]
    bars = [
        _bars(middle, counts.tolist(), width, colours, "b about %{x:.3f}"),
        *([_bars(np.zeros(1), [zeros], 0.3 * width, [ink(dark).muted], "b exactly 0")] if zeros else []),
    ]
    ends = (edges[held[0]], edges[held[-1] + 1]) if len(held) else (0.0, 0.0)
    span = [float(min(0, ends[0])) - width, float(max(0, ends[1])) + width]
    layout = {
        "xaxis": {"title": {"text": "b"}, "domain": [0, right], "range": span},
        "yaxis": {"title": {"text": "coefficients"}, "tickformat": ","},
        "bargap": 0,
        "barmode": "stack",
        "margin": {"l": 72, "r": 16, "t": 64, "b": 56},
    }
    figure = Figure(bars, layout)
    line = {"color": ink(dark).text, "width": 1.5}
    return figure.add_shape(type="line", x0=0, x1=0, y0=0, y1=1, xref="x", yref="y domain", line=line)


def _bars(middle: Float[ndarray, "bar"], counts: list[int], width: float, colours: list[str], what: str) -> go.Bar:
    return go.Bar(
        x=rounded(middle, 8),
        y=counts,
        width=width,
        marker={"color": colours, "line": {"width": 0}},
        hovertemplate=f"{what}<br>%{{y}} coefficients<extra></extra>",
        showlegend=False,
        **on(1),
    )


def _add_sign_counts(
    figure: Figure, b: Float[ndarray, "lower upper"], names: Sequence[str], of: int, dark: bool
) -> None:
    """To the right of the histogram, how many coefficients of each class, out of so many, are negative and positive."""
    for sign, colour, holds in zip(("negative", "positive"), sign_colours(dark), (b < 0, b > 0), strict=True):
        figure.add_trace(
            go.Bar(
                y=list(names),
                x=holds.sum(axis=0).tolist(),
                orientation="h",
                marker={"color": colour, "line": {"width": 0}},
                name=sign,
                hovertemplate=f"class %{{y}}<br>%{{x}} {sign}<extra></extra>",
                showlegend=False,
                width=0.8,
                **on(2),
            )
        )
    figure.add_trace(
        go.Scatter(
            y=list(names),
            x=[len(b)] * len(names),
            mode="text",
            text=[f" {count:,} negative" for count in (b < 0).sum(axis=0)],
            textposition="middle right",
            textfont={"size": TICK, "color": ink(dark).text},
            cliponaxis=False,
            hoverinfo="skip",
            showlegend=False,
            **on(2),
        )
    )
    figure.update_layout(
        xaxis2={
            "domain": [0.7, 0.9],
            "anchor": "y2",
            "range": [0, len(b)],
            "title": {
                "text": "coefficients of each class" if len(names) == of else f"those of {len(names)} of {of:,} classes"
            },
        },
        yaxis2={
            "anchor": "x2",
            "type": "category",
            "autorange": "reversed",
            "showgrid": False,
            "tickmode": "array",
            "tickvals": list(names),
            "tickfont": {"size": TICK},
            "automargin": True,
        },
    )


def _tile_numbers(grid: Geometry, dark: bool) -> list[dict[str, Any]]:
    """The first and the last tile named by their type, which says in which order the others stand."""
    named = []
    for kind in {0, grid.types - 1}:
        row, column = grid.tile_corner(kind)
        below = kind > 0
        named.append(
            {
                "text": f"type {kind}",
                "xref": "x",
                "yref": "y",
                "x": column + (grid.columns - 1) / 2,
                "y": row + grid.rows - 0.5 if below else row - 0.5,
                "yanchor": "top" if below else "bottom",
                "showarrow": False,
                "font": {"size": TICK, "color": ink(dark).muted},
            }
        )
    return named


def sign_colours(dark: bool) -> tuple[str, str]:
    """Colours of negative and positive numbers, from the diverging scale where they still stand out from the page."""
    scale = diverging(dark)
    return scale[1][1], scale[5][1]
