"""How a figure such as MSE or SSIM is distributed over a whole test set, method by method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray
from plotly.graph_objects import Figure
from torch import Tensor

from capsviz.figures.describe import remember
from capsviz.figures.errors import FigureError
from capsviz.figures.panels import DASHES
from capsviz.figures.picture import numbers, rounded
from capsviz.figures.text import literal, literals, short
from capsviz.figures.theme import TICK, Ink, ink, style

STEPS = 400
"""Points of a cumulative curve: quantiles, evenly spaced."""
DIGITS = 6
"""Behind the point: an MSE of Fashion-MNIST begins at the third."""
ROOM = 44
"""Letters of the legend that fit on a telephone."""

Values = Mapping[str, Float[Tensor, " count"] | Float[ndarray, " count"]]


def distribution_violins(
    values: Values,
    quantity: str,
    *,
    colours: Mapping[str, str],
    marked: Mapping[str, float] | None = None,
    mark: str = "this image",
    dark: bool = False,
) -> Figure:
    """One violin per method, in the order given from top to bottom, with box and median; a diamond marks one image.

    values: by method, one number per image of the test set; quantity: what they are; marked: the image's own number by
    method, and `mark` what the legend calls it. Raises FigureError where there is nothing to show.
    """
    sets, pen = _checked(values), ink(dark)
    figure = Figure()
    for name, numbers_ in sets.items():
        colour = colours.get(name, pen.muted)
        figure.add_trace(
            go.Violin(
                x=np.round(numbers_, DIGITS).astype(np.float32),
                y0=literal(name),
                name=literal(name),
                orientation="h",
                points=False,
                spanmode="hard",
                width=0.85,
                line={"color": colour, "width": 2},
                fillcolor=colour,
                opacity=0.75,
                box={"visible": True, "width": 0.16, "fillcolor": pen.ground, "line": {"color": pen.text, "width": 2}},
                hoverinfo="x",
                showlegend=False,
            )
        )
    _mark(
        figure, {name: (marked[name], literal(name)) for name in sets if marked and name in marked}, quantity, mark, pen
    )
    figure.update_yaxes(type="category", categoryarray=literals(sets)[::-1], categoryorder="array", automargin=True)
    return _finished(figure, sets, marked, quantity, dark, height=90 + 92 * len(sets))


def distribution_steps(
    values: Values,
    quantity: str,
    *,
    colours: Mapping[str, str],
    marked: Mapping[str, float] | None = None,
    mark: str = "this image",
    dark: bool = False,
) -> Figure:
    """The share of the test set that lies at or below each value, one curve per method; arguments as for violins."""
    sets, pen = _checked(values), ink(dark)
    figure, drawn = Figure(), Counter[str]()
    for name, numbers_ in sets.items():
        called, colour = literal(name), colours.get(name, pen.muted)
        dash = DASHES[drawn[colour] % len(DASHES)]  # two models of one method have its colour
        drawn[colour] += 1
        few = len(numbers_) <= STEPS  # each has its step; of more, steps are finer than the line
        shares = np.arange(len(numbers_) + 1) / len(numbers_) if few else np.linspace(0, 1, STEPS + 1)
        ordered = np.sort(numbers_)
        figure.add_trace(
            go.Scatter(
                x=rounded(np.r_[ordered[:1], ordered] if few else np.quantile(numbers_, shares), DIGITS),
                y=rounded(100 * shares, 2),
                name=called,
                mode="lines",
                line={"color": colour, "width": 3, "dash": dash, "shape": "hv" if few else "linear"},
                hovertemplate=f"{called}<br>%{{y:.1f}} % of the images have {quantity} ≤ %{{x:.6f}}<extra></extra>",
            )
        )
    points = {
        name: (marked[name], 100 * float((numbers_ <= marked[name]).mean()))
        for name, numbers_ in sets.items()
        if marked and name in marked
    }
    _mark(figure, points, quantity, mark, pen)
    figure.update_yaxes(title={"text": "share of the test images", "standoff": 6}, range=[0, 101], ticksuffix=" %")
    return _finished(figure, sets, marked, quantity, dark, height=460)


def _checked(values: Values) -> dict[str, ndarray]:
    sets = {name: numbers(column) for name, column in values.items()}
    if not sets or any(not len(column) for column in sets.values()):
        raise FigureError("There is no number to show; give at least one method and one image.")
    return sets


def _mark(figure: Figure, points: Mapping[str, tuple[Any, ...]], quantity: str, mark: str, pen: Ink) -> None:
    """A diamond for the chosen image on each method's line."""
    if not points:
        return
    x, y = zip(*points.values(), strict=True)
    figure.add_trace(
        go.Scatter(
            x=rounded(np.array(x), DIGITS),
            y=list(y),
            name=literal(short(mark, ROOM)),
            mode="markers",
            marker={"symbol": "diamond", "size": 17, "color": pen.accent, "line": {"color": pen.ground, "width": 2}},
            text=literals(points),
            hovertemplate=f"{literal(mark)}<br>%{{text}}: {quantity} = %{{x:.6f}}<extra></extra>",
            showlegend=True,
        )
    )


def _finished(
    figure: Figure,
    sets: Mapping[str, ndarray],
    marked: Mapping[str, float] | None,
    quantity: str,
    dark: bool,
    *,
    height: int,
) -> Figure:
    seen = np.concatenate([*sets.values(), [value for name, value in (marked or {}).items() if name in sets]])
    low, high = float(seen.min()), float(seen.max())
    reach = high - low or 1.0
    figure.update_xaxes(
        title={"text": quantity, "standoff": 6},
        range=[low - 0.02 * reach, high + 0.02 * reach],
        tickfont={"size": TICK},
        zeroline=False,
    )
    figure.update_layout(
        margin={"l": 70, "r": 16, "t": 34, "b": 52},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    )
    medians = ", ".join(f"{name} {np.median(column):.4f}" for name, column in sets.items())
    count = len(next(iter(sets.values())))
    text = f"Distribution of {quantity} over {count:,} test images; median: {medians}."
    return remember(style(figure, dark=dark, height=height), text)
