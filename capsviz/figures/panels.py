"""The panels that the players of both iterative routings share: who gives how much to whom, the plane, the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray

from capsviz.figures.geometry import Geometry
from capsviz.figures.picture import on, rounded
from capsviz.figures.plane import Plane
from capsviz.figures.theme import (
    TICK,
    Number,
    Span,
    class_colours,
    colourbar,
    diverging,
    diverging_part,
    end_ticks,
    ink,
    sequential,
    typical_reach,
)

POINT_PX = 26
"""Diameter in pixels of a vote whose coupling is 1; areas are in proportion."""


def shares_heatmap(
    shares: Float[ndarray, "T lower upper"],
    grid: Geometry,
    classes: Sequence[str],
    *,
    axes: int,
    symbol: str,
    dark: bool,
) -> go.Heatmap:
    """Couplings or responsibilities of every lower capsule (across, grouped by type) for every class (down).

    Drawn is the first iteration, with colours for all: the even share 1/J has the colour of the page, more than that is
    orange, less blue. In a trained network couplings move by a few hundredths, which a scale from 0 to 1 would hide.
    symbol: "c" or "R".
    """
    even, reach = 1 / len(classes), share_reach(shares)
    low = max(0.0, even - reach)
    return go.Heatmap(
        z=shares_z(shares[0], grid),
        x=[grid.labels[capsule] for capsule in grid.by_type],
        y=list(classes),
        zmin=low,
        zmax=even + reach,
        colorscale=diverging_part(max(0.0, 0.5 - even / (2 * reach)), 1, dark),
        colorbar=colourbar(symbol, dark=dark, **end_ticks(even, reach, shares), x=1.0, y=0.86, len=0.36),
        hovertemplate=f"%{{x}}<br>to %{{y}}: {symbol} = %{{z:.3f}}<extra></extra>",
        **on(axes),
    )


def share_reach(shares: Float[ndarray, "T lower upper"]) -> float:
    """How far shares get from the even share 1/J in the last iteration, single ones apart; at least a hundredth."""
    return max(0.01, typical_reach(shares[-1] - 1 / shares.shape[-1], share=0.995, flat=0.01))


def shares_z(shares: Float[ndarray, "lower upper"], grid: Geometry) -> list[list[float]]:
    """What `shares_heatmap` draws: one row per class, capsules grouped by type."""
    return rounded(shares[grid.by_type].T)


def shares_axes(grid: Geometry, upper: int, classes: Sequence[str], *, dark: bool) -> dict[str, dict]:
    """Layout entries of the first pair of axes, as that of `shares_heatmap`, in the upper quarter of a player.

    Types are named where they begin, the chosen class is in bold.
    """
    named = range(0, grid.types, max(1, grid.types // 8))
    return {
        "xaxis": {
            "type": "category",
            "tickmode": "array",
            "tickvals": [grid.labels[kind] for kind in named],
            "ticktext": [f"type {kind}" for kind in named],
            "tickangle": 0,
            "ticks": "outside",
            "showgrid": False,
            "tickfont": {"size": TICK},
            "domain": [0, 1],
            "anchor": "y",
        },
        "yaxis": {**_class_axis(classes, upper, dark), "domain": [0.72, 1], "anchor": "x"},
    }


def class_bars(
    values: Float[ndarray, " upper"], classes: Sequence[str], *, axes: int, symbol: str, upper: int, dark: bool
) -> go.Bar:
    """One bar per class, in its colour, its value written beside it, the chosen class outlined."""
    pen = ink(dark)
    return go.Bar(
        x=rounded(values),
        y=list(classes),
        orientation="h",
        text=_texts(values),
        textposition="outside",
        textfont={"size": TICK, "color": pen.text},
        cliponaxis=False,
        marker={
            "color": class_colours(len(classes)),
            "line": {"color": pen.text, "width": [2.5 if index == upper else 0 for index in range(len(classes))]},
        },
        hovertemplate=f"%{{y}}: {symbol} = %{{x:.3f}}<extra></extra>",
        showlegend=False,
        **on(axes),
    )


def class_bars_update(values: Float[ndarray, " upper"]) -> dict[str, Any]:
    """What changes in `class_bars` from one iteration to the next."""
    return {"type": "bar", "x": rounded(values), "text": _texts(values)}


def bar_axes(classes: Sequence[str], upper: int, span: Span, title: str, *, dark: bool) -> tuple[dict, dict]:
    """Horizontal and vertical axis of `class_bars`, in the same order as the rows of `shares_heatmap`."""
    horizontal = {"range": list(span), "title": {"text": title, "standoff": 6}, "nticks": 6, "tickfont": {"size": TICK}}
    return horizontal, {**_class_axis(classes, upper, dark), "ticks": ""}


def vote_cloud(
    places: Float[ndarray, "lower 2"],
    sizes: Float[ndarray, "T lower"],
    colours: Float[ndarray, "T lower"],
    grid: Geometry,
    *,
    axes: int,
    size_symbol: str,
    colour_symbol: str,
    signed: bool,
    dark: bool,
    bar_x: Number,
    largest: Number = POINT_PX,
) -> go.Scatter:
    """The votes for one class in the plane; area and colour of a point are two numbers of its capsule.

    Drawn is the first iteration, with colours for all. signed: whether the colours run from below or from zero; bar_x:
    where the colour bar stands; largest: diameter in pixels of a point of size 1.
    """
    reach = typical_reach(colours[-1]) if signed else float(colours.max()) or 1.0
    ticks = end_ticks(0, reach, colours) if signed else {}
    symbols = f"{size_symbol} = %{{marker.size:.3f}}"
    if colour_symbol != size_symbol:
        symbols += f"<br>{colour_symbol} = %{{marker.color:.3f}}"
    return go.Scatter(
        x=rounded(places[:, 0]),
        y=rounded(places[:, 1]),
        mode="markers",
        customdata=list(range(grid.lower)),
        text=grid.labels,
        marker={
            "size": rounded(sizes[0]),
            "sizemode": "area",
            "sizeref": 1 / largest**2,
            "sizemin": 1.5,
            "color": rounded(colours[0]),
            "cmin": -reach if signed else 0,
            "cmax": reach,
            "colorscale": diverging(dark) if signed else sequential(dark),
            "colorbar": colourbar(colour_symbol, dark=dark, x=bar_x, y=0.28, len=0.6, **ticks),
            "line": {"width": 0.6, "color": ink(dark).muted},
            "opacity": 0.85,
        },
        hovertemplate=f"%{{text}}<br>{symbols}<extra></extra>",
        showlegend=False,
        **on(axes),
    )


def vote_cloud_update(sizes: Float[ndarray, " lower"], colours: Float[ndarray, " lower"]) -> dict[str, Any]:
    """What changes in `vote_cloud` from one iteration to the next."""
    return {"type": "scatter", "marker": {"size": rounded(sizes), "color": rounded(colours)}}


def span_of(*points: Float[ndarray, "_ 2"]) -> list[list[float]]:
    """Ranges of the two plane axes that hold all points, with a margin of a twelfth."""
    everything = np.concatenate(points)
    low, high = everything.min(axis=0), everything.max(axis=0)
    margin = np.maximum((high - low) / 12, 1e-3)
    return [[float(a), float(b)] for a, b in zip(low - margin, high + margin, strict=True)]


def plane_axes(plane: Plane, span: list[list[float]], x: Span, y: Span) -> dict[str, dict]:
    """Layout entries of the second pair of axes, as that of the plane: equal units, explained variance in titles."""
    common = {"tickfont": {"size": TICK}, "nticks": 6, "zeroline": False}
    return {
        "xaxis2": {
            **common,
            "title": {"text": plane.axis_title(0), "standoff": 6},
            "domain": list(x),
            "range": span[0],
            "anchor": "y2",
        },
        "yaxis2": {
            **common,
            "title": {"text": plane.axis_title(1), "standoff": 4},
            "domain": list(y),
            "range": span[1],
            "anchor": "x2",
            "scaleanchor": "x2",
        },
    }


def xy(points: Float[ndarray, "_ 2"]) -> dict[str, list]:
    """Points of the plane as the x and y of a trace."""
    return {"x": rounded(points[:, 0]), "y": rounded(points[:, 1])}


def row_marker(upper: int, axes: int, *, dark: bool) -> dict[str, Any]:
    """Outline around the chosen class's row of `shares_heatmap`."""
    suffix = "" if axes == 1 else str(axes)
    return {
        "type": "rect",
        "xref": f"x{suffix} domain",
        "yref": f"y{suffix}",
        "x0": 0,
        "x1": 1,
        "y0": upper - 0.5,
        "y1": upper + 0.5,
        "line": {"color": ink(dark).accent, "width": 2},
    }


def _class_axis(classes: Sequence[str], upper: int, dark: bool) -> dict[str, Any]:
    accent = ink(dark).accent
    names = [
        f'<b><span style="color:{accent}">{name}</span></b>' if index == upper else name
        for index, name in enumerate(classes)
    ]
    return {
        "type": "category",
        "autorange": "reversed",
        "tickmode": "array",
        "tickvals": list(classes),
        "ticktext": names,
        "showgrid": False,
        "tickfont": {"size": TICK},
        "automargin": True,
    }


def _texts(values: ndarray) -> list[str]:
    digits = 2 if np.abs(values).max() < 10 else 1
    return [f"{value:.{digits}f}".replace("-", "−") for value in values]
