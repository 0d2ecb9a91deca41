"""What the pictures of the experiments share: panels side by side, curves, and means with the range of their seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.graph_objects import Figure
from plotly.subplots import make_subplots

from capsviz.experiments.seed_means import SeedMean
from capsviz.figures.describe import remember
from capsviz.figures.theme import TEXT, ink, style
from capsviz.network import METHODS

HEIGHT = 440
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
PATTERNS = ("", "/", ".", "x", "-", "|")
SYMBOLS = ("circle", "square", "diamond-open", "triangle-up", "x", "star", "pentagon")
DECADES = (0.001, 0.01, 0.1, 1, 10, 100)
DIGITS = (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8), (1, 1.2, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9)
"""Of ticks within a decade; the next ones where a panel spans few of those before."""


def side_by_side(titles: Sequence[str], dark: bool) -> Figure:
    """Panels side by side, each with its quantity above it."""
    figure = make_subplots(1, len(titles), subplot_titles=list(titles), horizontal_spacing=0.075)
    figure.update_annotations(font={"size": TEXT + 1, "color": ink(dark).text})
    return figure


def logarithmic(figure: Figure, *fewer: tuple[int, ...]) -> None:
    """Logarithmic upwards: ticks at 1, 2, 5, or at more where a panel spans few; plotly's own leave out the zeros.

    fewer: digits to be tried before, for a panel that is low.

    A panel with a zero in it, which no logarithmic axis can show, stays linear and begins at zero.
    """
    for panel in {curve.yaxis for curve in figure.data}:
        values = [value for curve in figure.data if curve.yaxis == panel for value in curve.y]
        low, high = min(values, default=0), max(values, default=0)
        if not low:
            figure.update_yaxes(rangemode="tozero", selector={"anchor": panel.replace("y", "x")})
            continue
        for digits in (*fewer, *DIGITS):
            ticks = [digit * decade for decade in DECADES for digit in digits]
            if low == high or sum(low <= tick <= high for tick in ticks) > 2:
                break
        written = {"tickmode": "array", "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}
        figure.update_yaxes(type="log", **written, selector={"anchor": panel.replace("y", "x")})


def finished(figure: Figure, text: str, dark: bool) -> Figure:
    """The theme, room for the legend where there is one, and the sentence for those who do not see it."""
    named = any(part.showlegend is not False for part in (*figure.data, *figure.layout.shapes))
    figure.update_layout(
        legend={"orientation": "h", "x": 0, "y": 1.13, "yanchor": "bottom"},
        margin={"l": 64, "r": 16, "t": 92 if named else 48, "b": 56},
    )
    figure.update_xaxes(automargin=True)
    styled = style(figure, dark=dark, height=HEIGHT)
    return remember(styled.update_layout(legend_font_size=TEXT), text)


def colour_of(name: str, dark: bool) -> str:
    """The colour of a routing, by its name or by Table II's; the CNN has none and is drawn in ink."""
    own = (method.colour for method in METHODS.values() if name in (method.name, method.short, method.plain))
    return next(own, "") or ink(dark).text


def line_through(
    points: Sequence[tuple[Any, float]],
    name: str,
    line: dict[str, Any],
    *,
    showlegend: bool = True,
    markers: bool = False,
) -> go.Scatter:
    """A curve through points; line: plotly's, with colour, width and dash."""
    return go.Scatter(
        x=[x for x, _ in points],
        y=[y for _, y in points],
        name=name,
        legendgroup=name,
        showlegend=showlegend,
        mode="lines+markers" if markers else "lines",
        line=line,
        hovertemplate=f"{name}, %{{x}}: %{{y:.4g}}<extra></extra>",
    )


def averaged(found: Mapping[Any, SeedMean], name: str, colour: str, dash: str, *, showlegend: bool) -> go.Scatter:
    """Means with the range of the seeds as bars."""
    return go.Scatter(
        x=list(found),
        y=[average.mean for average in found.values()],
        error_y=seed_range(list(found.values())) | {"color": colour},
        customdata=[average.count for average in found.values()],
        name=name,
        legendgroup=name,
        showlegend=showlegend,
        mode="lines+markers",
        line={"color": colour, "width": 3, "dash": dash},
        marker={"size": 10, "color": colour},
        hovertemplate=f"{name}, %{{x}}: %{{y:.4g}}<br>seeds: %{{customdata}}<extra></extra>",
    )


def seed_range(seed_means: Sequence[SeedMean]) -> dict[str, Any]:
    """From the lowest to the highest; where all are single values there is no range, and no cap that crosses them."""
    return {
        "type": "data",
        "visible": any(average.count > 1 for average in seed_means),
        "symmetric": False,
        "array": [average.high - average.mean for average in seed_means],
        "arrayminus": [average.mean - average.low for average in seed_means],
        "thickness": 2,
        "width": 6,
    }
