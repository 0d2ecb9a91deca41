"""Dynamic routing in single charts: lengths and indecision over the iterations, couplings over the image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from jaxtyping import Float
from numpy import ndarray
from plotly.graph_objects import Figure

from capsviz.analysis import metrics
from capsviz.figures.describe import iterations, remember
from capsviz.figures.errors import FigureError
from capsviz.figures.network import BARS
from capsviz.figures.picture import image_axes, picture, rounded
from capsviz.figures.reading import check, geometry, share_of, steps
from capsviz.figures.text import literal
from capsviz.figures.theme import TICK, caption, class_colour, colourbar_below, ink, style
from capsviz.tracing.trace import Trace

NUMBERED = 20
"""Iterations at most that each have their number on the axis."""
LABELLED = 6
"""Numbers side by side that do not run into one another."""
LINES = 12
"""Classes of many that have a line."""
HEAT: list[list[Any]] = [[0, "rgba(70,160,255,0.85)"], [0.5, "rgba(127,127,127,0)"], [1, "rgba(255,150,40,0.85)"]]
"""Over an image: less than the even share blue, more orange, the even share clear."""


def lengths_over_iterations(trace: Trace, image: int = 0, dark: bool = False) -> Figure:
    """‖v‖, or what else tells how sure a class is, against the iteration, from 0 to 1.

    Of more classes than `BARS` it shows the `LINES` that are surest in the end.
    Raises FigureError where the routing has no couplings.
    """
    check(trace, "couplings", image=image)
    lengths, strength = steps(trace, "activations", image), trace.config.algorithm.strength
    count = list(range(1, len(lengths) + 1))
    figure = Figure()
    every = range(len(trace.classes))
    shown = sorted(np.argsort(-lengths[-1], kind="stable")[:LINES].tolist()) if len(every) > BARS else every
    for index in shown:
        name = literal(trace.classes[index])
        figure.add_scatter(
            x=count,
            y=rounded(lengths[:, index]),
            name=name,
            mode="lines+markers",
            line={"color": class_colour(index), "width": 3},
            marker={"size": 9},
            hovertemplate=f"class {name}<br>iteration %{{x}}<br>{strength.symbol} = %{{y:.3f}}<extra></extra>",
        )
    figure.update_layout(
        xaxis=_axis(count),
        yaxis={"title": {"text": strength.symbol}, "range": [0, 1.02]},
        legend={"title": {"text": "class" if len(shown) == len(every) else f"{len(shown)} of {len(every)} classes"}},
        margin={"l": 64, "r": 16, "t": 24, "b": 56},
    )
    best = int(lengths[-1].argmax())
    text = (
        f"{strength.title} of the {len(trace.classes)} class capsules over {iterations(len(lengths))}: "
        f"{trace.classes[best]} goes from {lengths[0, best]:.2f} to {lengths[-1, best]:.2f}, the largest at the end."
    )
    return remember(style(figure, dark=dark, height=360), text)


def _axis(count: Sequence[int]) -> dict[str, Any]:
    """Of iterations: each of a few has its number."""
    ticks = {"tickvals": list(count)} if len(count) <= NUMBERED else {"nticks": 10, "tickformat": "d"}
    return {"title": {"text": "iteration"}, **ticks}


def coupling_entropy_figure(trace: Trace, image: int = 0, dark: bool = False) -> Figure:
    """How undecided the primary capsules are, iteration by iteration: entropy of their couplings as a share of ln J.

    The line is the mean over all capsules, the band holds the middle 80 % of them. 1 is the maximum confusion with
    which routing starts, 0 a capsule that has decided; the axis shows both, and the means are written.
    Raises FigureError where the routing has no couplings.
    """
    check(trace, "couplings", image=image)
    symbol = share_of(trace).symbol
    entropy = metrics.coupling_entropy(torch.from_numpy(steps(trace, "couplings", image))).numpy()
    mean, (low, high) = entropy.mean(axis=1), np.quantile(entropy, [0.1, 0.9], axis=1)
    count = list(range(1, len(mean) + 1))
    pen, few = ink(dark), len(mean) <= LABELLED
    figure = Figure(
        [
            go.Scatter(
                x=count, y=rounded(high, 6), mode="lines", line={"width": 0}, hoverinfo="skip", showlegend=False
            ),
            go.Scatter(
                x=count,
                y=rounded(low, 6),
                mode="lines",
                line={"width": 0},
                fill="tonexty",
                name="middle 80 % of capsules",
                fillcolor="rgba(127,140,160,0.35)",
                hoverinfo="skip",
            ),
            go.Scatter(
                x=count,
                y=rounded(mean, 6),
                mode="lines+markers+text",
                name="mean",
                line={"color": pen.accent, "width": 3},
                marker={"size": 9},
                # Of many iterations the first and the last say it: more numbers would run into one another.
                text=[f"{value:.4f}" if few or n in (1, len(mean)) else "" for n, value in enumerate(mean, start=1)],
                textposition="bottom center",
                textfont={"size": TICK, "color": pen.text},
                cliponaxis=False,
                customdata=rounded(np.stack([low, high], axis=1), 6),
                hovertemplate=(
                    "iteration %{x}<br>mean entropy = %{y:.5f} of ln J<br>"
                    "middle 80 %: %{customdata[0]:.5f} to %{customdata[1]:.5f}<extra></extra>"
                ),
            ),
        ]
    )
    figure.add_hline(
        y=1,
        line={"color": pen.muted, "dash": "dash", "width": 1.5},
        annotation={
            "text": f"maximum confusion, {symbol} = 1/{len(trace.classes)}",
            "font": {"size": TICK, "color": pen.muted},
        },
    )
    figure.update_layout(
        xaxis=_axis(count),
        yaxis={"title": {"text": f"entropy of {symbol} / ln J", "standoff": 8}, "range": [0, 1.12], "dtick": 0.2},
        legend={"orientation": "h", "x": 0, "y": 0.04, "yanchor": "bottom"},
        margin={"l": 84, "r": 16, "t": 24, "b": 56},
    )
    text = (
        f"Mean entropy of the couplings as a share of its maximum: {mean[0]:.4f} at the first of "
        f"{iterations(len(mean))}, {mean[-1]:.4f} at the last."
    )
    return remember(style(figure, dark=dark, height=360), text)


def coupling_geometry(trace: Trace, image: int, upper: int, iteration: int, dark: bool = False) -> Figure:
    """The mean coupling of each position of the primary grid to one class, as heat over the input image.

    Each cell lies at the middle of what its capsules see (fields of 17 × 17 pixels, 2 apart, with 9 × 9 kernels), so
    the heat covers the centre of the image only; the field of the strongest cell is outlined, and the pointer tells the
    others. Clear is the even share 1/J. Iteration counted from 1.
    Raises FigureError where the routing has no couplings or the trace no such iteration.
    """
    check(trace, "couplings", image=image, upper=upper, iteration=iteration)
    grid, name = geometry(trace), trace.classes[upper]
    if not trace.config.view(0).stride:
        raise FigureError("The trace does not say what its capsules see; record side and step of their field as well.")
    couplings = steps(trace, "couplings", image)[..., upper].reshape(-1, grid.rows, grid.columns, grid.types)
    masses, even = couplings.mean(axis=-1), 1 / len(trace.classes)
    mass = masses[iteration - 1]
    # Same colours in every iteration, so that one can be compared with the next.
    reach = max(1e-3, float(np.abs(masses - even).max()))
    figure = Figure(
        [picture(trace.images[image], "input"), _heat(trace, mass, even, reach, literal(name), dark)],
        {**image_axes(1, (0, 1), (0, 1)), "margin": {"l": 8, "r": 8, "t": 40, "b": 76}},
    )
    title = caption(f"Coupling to {literal(name)}, iteration {iteration}", 0.5, 1.02, dark=dark, xanchor="center")
    figure.update_layout(annotations=[title])
    row, column = map(int, np.unravel_index(int(mass.argmax()), mass.shape))
    if np.ptp(mass) > 1e-6:
        top, left, bottom, right = trace.config.receptive_field(row, column)
        dashes = {"color": "#ff9628", "width": 2, "dash": "dash"}
        figure.add_shape(type="rect", x0=left - 0.5, x1=right - 0.5, y0=top - 0.5, y1=bottom - 0.5, line=dashes)
    text = (
        f"Mean coupling of the {grid.rows} × {grid.columns} positions to class {name} at iteration {iteration}, over "
        f"the input: strongest {mass.max():.4f} at row {row} column {column}, weakest {mass.min():.4f}, the even share "
        f"is {even:.4f}."
    )
    return remember(style(figure, dark=dark, height=440), text)


def _heat(
    trace: Trace, mass: Float[ndarray, "row column"], even: float, reach: float, name: str, dark: bool
) -> go.Heatmap:
    grid, down, across = geometry(trace), trace.config.view(0), trace.config.view(1)
    symbol = share_of(trace).symbol
    places = [[(row, column) for column in range(grid.columns)] for row in range(grid.rows)]

    def words(row: int, column: int) -> str:
        top, left, bottom, right = trace.config.receptive_field(row, column)
        return (
            f"row {row} column {column} of the grid<br>sees rows {top} to {bottom - 1}, columns {left} to {right - 1}"
        )

    return go.Heatmap(
        z=rounded(mass, 5),
        x0=(across.kernel - 1) / 2 - across.padding,
        dx=across.stride,
        y0=(down.kernel - 1) / 2 - down.padding,
        dy=down.stride,
        zmin=even - reach,
        zmax=even + reach,
        colorscale=HEAT,
        text=[[words(row, column) for row, column in line] for line in places],
        xgap=1,
        ygap=1,
        colorbar=colourbar_below(f"mean {symbol}", dark=dark, nticks=5, tickformat=".3f"),
        hovertemplate=f"%{{text}}<br>mean {symbol} to {name} over {grid.types} types = %{{z:.3f}}<extra></extra>",
    )
