"""The Gaussians of EM routing, one chart for each pose component (*Encapsulating Capsule Networks*, eq. 20-29)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray
from plotly.graph_objects import Figure

from capsviz.figures.describe import remember
from capsviz.figures.picture import numbers, on, rounded
from capsviz.figures.reading import check, steps, votes
from capsviz.figures.text import literal
from capsviz.figures.theme import TEXT, TICK, caption, class_colour, ink, style
from capsviz.tracing.trace import Trace


def em_curves(
    trace: Trace, *, image: int = 0, upper: int, iteration: int | None = None, dark: bool = False, bins: int = 40
) -> Figure:
    """The Gaussian of one class, component by component, over the votes that it was fitted to.

    One small chart per pose component h: histogram of the votes û_ij^h weighted by R_ij a_i (what the M-step weighs
    them by), the plain histogram behind it, and the density N(μ^h, (σ^h)²). iteration: counted from 1, the last by
    default. Raises FigureError where the trace is not of EM routing, holds no votes or has no such iteration.
    """
    iteration = trace.layer.iterations if iteration is None else iteration
    check(trace, "gaussians", image=image, upper=upper, iteration=iteration)
    cast, presence = votes(trace, image, upper), numbers(trace.primary_activations[image])
    weights = steps(trace, "responsibilities", image)[iteration - 1, :, upper] * presence
    mean = steps(trace, "means", image)[iteration - 1, upper]
    deviation = np.sqrt(steps(trace, "variances", image)[iteration - 1, upper])
    colour, name = class_colour(upper), trace.called(upper)
    figure, layout, notes = Figure(), dict[str, Any](), []
    for h in range(cast.shape[1]):
        x, y = _small_chart(h, cast.shape[1])
        edges = _edges(cast[:, h], mean[h], deviation[h], bins)
        layout |= _curve_axes(h, x, y, edges)
        figure.add_traces(
            [
                _histogram(cast[:, h], np.ones(len(cast)), edges, "all votes", "rgba(127,140,160,0.45)", h),
                _histogram(cast[:, h], weights, edges, "votes weighted by R a", colour, h),
                _density(edges, mean[h], deviation[h], h, ink(dark).text),
            ]
        )
        notes.append(caption(f"h = {h}   σ = {deviation[h]:.2f}", x[0], y[1] - 0.005, dark=dark, size=TICK))
    headline = f"{literal(name.capitalize())}, iteration {iteration}: one Gaussian per pose component"
    figure.update_layout(
        **layout,
        annotations=[*notes, caption(headline, 0, 1.075, dark=dark, size=TEXT + 1)],
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1.1, "yanchor": "bottom"},
        margin={"l": 28, "r": 16, "t": 70, "b": 30},
        bargap=0,
        barmode="overlay",
    )
    text = (
        f"Histograms of the votes for {name} at iteration {iteration}, one per pose component, under their "
        f"Gaussians: σ runs from {deviation.min():.3f} (component {int(deviation.argmin())}) to "
        f"{deviation.max():.3f} (component {int(deviation.argmax())})."
    )
    return remember(style(figure, dark=dark, height=680), text)


def _small_chart(h: int, count: int) -> tuple[list[float], list[float]]:
    """Where the chart of component h stands among `count` of them, in shares of the plotting area."""
    columns = math.ceil(math.sqrt(count))
    rows = math.ceil(count / columns)
    row, column = divmod(h, columns)
    return [column / columns, (column + 0.86) / columns], [1 - (row + 0.7) / rows, 1 - row / rows]


def _edges(values: ndarray, mean: float, deviation: float, bins: int) -> Float[ndarray, " edge"]:
    """Bins that hold the Gaussian to 3.5 σ and the votes but the farthest 3 % on either side."""
    low = min(float(np.quantile(values, 0.03)), mean - 3.5 * deviation)
    high = max(float(np.quantile(values, 0.97)), mean + 3.5 * deviation)
    return np.linspace(low, high, bins + 1)


def _curve_axes(h: int, x: list[float], y: list[float], edges: ndarray) -> dict[str, dict[str, Any]]:
    suffix = "" if h == 0 else str(h + 1)
    quiet = {"showgrid": False, "zeroline": False}
    return {
        f"xaxis{suffix}": {
            **quiet,
            "domain": x,
            "anchor": f"y{suffix}",
            "nticks": 5,
            "range": [float(edges[0]), float(edges[-1])],
            "tickfont": {"size": 12},
        },
        f"yaxis{suffix}": {**quiet, "domain": y, "anchor": f"x{suffix}", "visible": False, "rangemode": "tozero"},
    }


def _density(edges: ndarray, mean: float, deviation: float, h: int, colour: str) -> go.Scatter:
    x = np.linspace(edges[0], edges[-1], 121)
    density = np.exp(-0.5 * ((x - mean) / deviation) ** 2) / (deviation * math.sqrt(2 * math.pi))
    return go.Scatter(
        x=rounded(x, 6),
        y=rounded(density),
        mode="lines",
        line={"color": colour, "width": 2.5},
        name="Gaussian",
        legendgroup="Gaussian",
        showlegend=h == 0,
        hovertemplate=f"h = {h}, μ = {mean:.3f}, σ = {deviation:.3f}<extra></extra>",
        **on(h + 1),
    )


def _histogram(values: ndarray, weights: ndarray, edges: ndarray, name: str, colour: str, h: int) -> go.Bar:
    counts, _ = np.histogram(values, bins=edges, weights=weights)
    width = edges[1] - edges[0]
    # By the whole weight, not by what falls between the edges: the bars then estimate the density that the line is.
    density = counts / (max(float(weights.sum()), 1e-12) * width)
    return go.Bar(
        x=rounded((edges[:-1] + edges[1:]) / 2, 7),
        y=rounded(density),
        width=float(width),
        marker={"color": colour, "line": {"width": 0}},
        opacity=0.8,
        name=name,
        legendgroup=name,
        showlegend=h == 0,
        hovertemplate=f"{name}<br>û = %{{x:.3f}}, density %{{y:.2f}}<extra></extra>",
        **on(h + 1),
    )
