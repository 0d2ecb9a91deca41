"""The papers' experiments as pictures: drawn from result files and curves alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.graph_objects import Figure
from plotly.subplots import make_subplots

from capsviz.data import title_of
from capsviz.experiments import ascent as ascents
from capsviz.experiments import iterations as counts
from capsviz.experiments import multi as doubles
from capsviz.experiments import robustness as viewpoints
from capsviz.experiments import sparsity as zeros
from capsviz.experiments.convergence import COMPARED, TrainingCurve
from capsviz.experiments.cost import Cost
from capsviz.experiments.seed_means import SeedMean
from capsviz.experiments.table2 import CALLED, OURS, UNSHIPPED, TableRow
from capsviz.figures.describe import remember
from capsviz.figures.errors import FigureError
from capsviz.figures.theme import TEXT, ink, style
from capsviz.network import MATRIX_PRESETS, METHODS
from capsviz.routing.discriminative import L2
from capsviz.routing.dynamic import DYNAMIC

HEIGHT = 440
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
DECADES = (0.001, 0.01, 0.1, 1, 10, 100)
DIGITS = (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8), (1, 1.2, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9)
"""Of ticks within a decade; the next ones where a panel spans few of those before."""


def table_ii(lines: Sequence[TableRow], *, dark: bool = False) -> Figure:
    """Test error of every method on every data set: the paper's as an open diamond, ours as a disc with its range.

    What our own encoder reached stands as a triangle, matrix capsules, which share the column of EM, as squares; what
    does not ship is open.
    """
    data = list(dict.fromkeys(line.data for line in lines))
    methods = [method for method in CALLED if any(line.method == method for line in lines)]
    figure = _panels([title_of(name) for name in data], dark)
    for column, name in enumerate(data, start=1):
        mine = [line for line in lines if line.data == name]
        # One figure of the paper's, however many trainings of ours stand beside it.
        papers = {line.method: line.paper for line in mine if line.paper is not None}
        figure.add_trace(
            go.Scatter(
                x=list(papers),
                y=list(papers.values()),
                name="paper",
                mode="markers",
                marker={"symbol": "diamond-open", "size": 15, "color": ink(dark).text, "line": {"width": 2.5}},
                legendgroup="paper",
                showlegend=column == 1,
                hovertemplate="paper, %{x}: %{y:.2f} %<extra></extra>",
            ),
            1,
            column,
        )
        for (title, symbol, _), group in _by_look(mine).items():
            known = any(trace.name == title for trace in figure.data)
            figure.add_trace(_ours(group, title, symbol, dark).update(showlegend=not known), 1, column)
    figure.update_xaxes(
        type="category",
        categoryorder="array",
        categoryarray=methods,
        tickvals=methods,
        ticktext=[method.replace("/", "<br>") for method in methods],
        tickangle=0,
    )
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title_text="test error, %", col=1)
    said = [f"{line.method} on {title_of(line.data)} {line.ours.mean:.2f} %" for line in lines if line.ours]
    return _finish(
        figure, "Test errors beside Yang, Li & Yu 2021, Table II; ours: " + (", ".join(said) or "none") + ".", dark
    )


def _by_look(lines: Sequence[TableRow]) -> dict[tuple[str, str, bool], list[TableRow]]:
    """Our own errors by what the legend calls them, the symbol they stand as, and whether they have a range.

    Plotly draws the caps of a range that is none across the symbol.
    """
    looks: dict[tuple[str, str, bool], list[TableRow]] = {}
    for line in lines:
        if line.ours is None:
            continue
        title, symbol = "capsviz", "circle"
        if line.preset in MATRIX_PRESETS:
            title, symbol = "capsviz, matrix capsules", "square"
        if line.block == OURS:
            title, symbol = f"capsviz, {OURS.lower()}", "triangle-up"
        if not line.shipped:
            title, symbol = f"{title}, {UNSHIPPED}", f"{symbol}-open"
        looks.setdefault((title, symbol, line.ours.count > 1), []).append(line)
    return looks


def _ours(lines: Sequence[TableRow], title: str, symbol: str, dark: bool) -> go.Scatter:
    """One look of our own errors in one panel, each with the range of its seeds; every line has `ours`."""
    seed_means = [line.ours for line in lines if line.ours]
    return go.Scatter(
        x=[line.method for line in lines],
        y=[average.mean for average in seed_means],
        error_y=_range(seed_means) | {"color": ink(dark).text},
        text=[f"{line.preset}, {line.steps} steps, seeds: {line.ours.count}" for line in lines if line.ours],
        name=title,
        mode="markers",
        marker={
            "symbol": symbol,
            "size": 14,
            "line": {"width": 2.5} if "open" in symbol else None,
            "color": [_colour(line.method, dark) for line in lines],
        },
        legendgroup=title,
        hovertemplate="capsviz, %{x}: %{y:.2f} %<br>%{text}<extra></extra>",
    )


def convergence(curves: Sequence[TrainingCurve], data: str, *, dark: bool = False) -> Figure:
    """Validation error after each epoch and margin loss every 50 steps, by step; raises FigureError without curves.

    Upwards logarithmic, but for a panel in which something is zero.
    """
    mine = [curve for curve in curves if curve.data == data]
    if not mine:
        raise FigureError(f"There are no curves of {data}; train DR, L2 and L1 on it first.")
    figure = _panels(["validation error, %", "margin loss of training batches"], dark)
    for curve in mine:
        for column, points in enumerate((curve.validation, curve.loss), start=1):
            line = {
                "color": _colour(curve.routing, dark),
                "width": 3,
                "dash": DASHES[COMPARED.index(curve.routing) % 3],
            }
            figure.add_trace(
                _line(points, METHODS[curve.routing].short, line, showlegend=column == 1, markers=column == 1),
                1,
                column,
            )
    _logarithmic(figure)
    figure.update_xaxes(title_text="training step", rangemode="tozero")
    last = ", ".join(f"{METHODS[curve.routing].short} {curve.validation[-1][1]:.2f} %" for curve in mine)
    return _finish(figure, f"Curves of {title_of(data)} by step; validation error at the end: {last}.", dark)


def training_curve(
    points: Sequence[tuple[int, float]], quantity: str, routing: str, *, total: int | None = None, dark: bool = False
) -> Figure:
    """One quantity of a training by step, as far as it is: upwards logarithmic, unless something is zero.

    points: step and value; there may be one alone. total: the steps that there will be. Raises FigureError without any.
    """
    if not points:
        raise FigureError("There is nothing to draw of this training yet; wait until its first epoch is over.")
    figure, line = _panels([quantity], dark), {"color": _colour(routing, dark), "width": 3}
    figure.add_trace(_line(points, METHODS[routing].short, line, showlegend=False, markers=True), 1, 1)
    _logarithmic(figure, (1,), (1, 3))
    if len({value for _, value in points}) == 1 and points[0][1]:
        figure.update_yaxes(range=[math.log10(points[0][1] * factor) for factor in (0.4, 2.5)])
    figure.update_xaxes(range=[0, (total or points[-1][0]) * 1.04])
    said = (
        f"{quantity} by step: {points[0][1]:.4g} at step {points[0][0]}, {points[-1][1]:.4g} at step {points[-1][0]}."
    )
    return _finish(figure, said, dark)


def cost(costs: Sequence[Cost], *, dark: bool = False) -> Figure:
    """Seconds per 100 training steps, and per 100 routings alone, of each method and device."""
    figure = _panels(["100 training steps, seconds", "100 routings forward, seconds"], dark)
    for number, each in enumerate(costs):
        for column, seconds in enumerate((each.step, each.routing), start=1):
            figure.add_trace(
                go.Bar(
                    x=[METHODS[name].short for name in seconds],
                    y=list(seconds.values()),
                    text=[f"{value:.2f}" for value in seconds.values()],
                    textposition="outside",
                    textfont={"size": TEXT, "color": ink(dark).text},
                    cliponaxis=False,
                    name=each.device,
                    marker={"color": [_colour(name, dark) for name in seconds], "pattern": {"shape": "/" * number}},
                    showlegend=column == 1 and len(costs) > 1,
                    hovertemplate=f"{each.device}<br>%{{x}}: %{{y:.3f}} s<extra></extra>",
                ),
                1,
                column,
            )
    said = "; ".join(
        ", ".join(f"{METHODS[name].short} {value:.1f} s" for name, value in each.step.items()) + f" on {each.device}"
        for each in costs
    )
    return _finish(figure, f"Time of 100 training steps: {said or 'nothing was measured'}.", dark)


def robustness(result: dict[str, Any], *, dark: bool = False) -> Figure:
    """Error against shift and against rotation, with binomial standard errors; what trainings had seen is shaded."""
    figure = _panels(["shift, pixels", "rotation, degrees"], dark)
    for column, kind in enumerate(("shift", "rotation"), start=1):
        for place, (routing, rows) in enumerate(viewpoints.series(result, kind).items()):
            colour = _colour(routing, dark)
            figure.add_trace(
                go.Scatter(
                    x=[row["amount"] for row in rows],
                    y=[row["error"] for row in rows],
                    error_y={"array": [viewpoints.standard_error(row) for row in rows], "color": colour},
                    customdata=[[row["model"], 100 * row["ink"]] for row in rows],
                    name=METHODS[routing].short,
                    mode="lines+markers",
                    line={"color": colour, "width": 3, "dash": DASHES[place % len(DASHES)]},
                    marker={"size": 9, "color": colour},
                    legendgroup=routing,
                    showlegend=column == 1,
                    hovertemplate="%{customdata[0]} at %{x}: %{y:.1f} %<br>"
                    "ink left: %{customdata[1]:.0f} %<extra></extra>",
                ),
                1,
                column,
            )
    for column, kind in enumerate(("shift", "rotation"), start=1):
        for seen in sorted({row[f"seen_{kind}"] for row in result["rows"]} - {0}):
            figure.add_vrect(x0=0, x1=seen, fillcolor=ink(dark).muted, opacity=0.15, line_width=0, row=1, col=column)
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title_text="error, %", col=1)
    rows = [row for row in result["rows"] if (row["kind"], row["amount"]) == ("rotation", 40)]
    said = ", ".join(f"{row['model']} {row['error']:.1f} %" for row in rows)
    text = f"Error of shifted and turned test images; what some model saw in training is shaded. At 40 degrees: {said}."
    return _finish(figure, text, dark)


def iterations(result: dict[str, Any], shipped: dict[str, Any] | None, *, dark: bool = False) -> Figure:
    """Loss and error by the T that was trained with, range over seeds; and of shipped models asked with another T."""
    figure = _panels(["trained with T: loss", "trained with T: error, %", "shipped, asked with T: error, %"], dark)
    for column, measure in ((1, "loss"), (2, "error")):
        for place, part in enumerate(("test", "train")):
            colour = (ink(dark).accent, ink(dark).muted)[place]
            found = counts.means_of(result, part, measure)
            figure.add_trace(_averaged(found, part, colour, DASHES[place], showlegend=column == 1), 1, column)
    rows = (shipped or {"rows": []})["rows"]
    for place, name in enumerate(dict.fromkeys(row["model"] for row in rows)):
        points = [(row["iterations"], row["error"]) for row in rows if row["model"] == name]
        line = {"color": _colour(DYNAMIC.name, dark), "width": 3, "dash": DASHES[place % len(DASHES)]}
        figure.add_trace(_line(points, name, line, markers=True), 1, 3)
    figure.update_xaxes(title_text="iterations T", dtick=1)
    figure.update_yaxes(rangemode="tozero")
    test = counts.means_of(result, "test", "error")
    said = ", ".join(f"T = {key} {average.mean:.2f} %" for key, average in test.items())
    return _finish(figure, f"Error by routing iterations; trained on the digits: {said or 'nothing yet'}.", dark)


def sparsity(result: dict[str, Any], *, dark: bool = False) -> Figure:
    """Share of zero coefficients, exact and near, and test error, against λ, by subgradient and by soft threshold.

    The points of networks that err much more than without λ are open: their zeros are those of a ruin.
    """
    figure = _panels(["exact zeros, %", "near zeros, |b| < 0.001 max |b|, %", "test error, %"], dark)
    said = []
    for proximal, name, colour in ((False, "subgradient", ink(dark).text), (True, "soft threshold", ink(dark).accent)):
        works = zeros.working(result, proximal)
        for column, measure in enumerate(("exact_zero_share", "near_zero_share", "error"), start=1):
            found = zeros.shares(result, measure, proximal)
            factor = 1 if measure == "error" else 100
            scaled = {
                f"{key:g}": SeedMean(each.mean * factor, each.low * factor, each.high * factor, each.count)
                for key, each in found.items()
            }
            points = _averaged(scaled, name, colour, DASHES[proximal], showlegend=column == 1)
            points.update(marker={"symbol": ["circle" if key in works else "circle-open" for key in found]})
            figure.add_trace(points, 1, column)
            if measure == "exact_zero_share" and scaled:
                said.append(f"{name} up to {max(scaled[f'{key:g}'].mean for key in works):.1f} %")
    figure.add_trace(
        go.Scatter(
            x=[None],
            y=[None],
            name=f"error more than {zeros.HARMLESS:g} point above that without λ",
            mode="markers",
            marker={"symbol": "circle-open", "size": 10, "color": ink(dark).text},
        )
    )
    figure.update_xaxes(title_text="λ", type="category")
    figure.update_yaxes(rangemode="tozero")
    text = f"Zeros of b against λ; exactly zero in networks that still work: {', '.join(said) or 'nothing measured'}."
    return _finish(figure, text, dark)


def ascent(result: dict[str, Any], *, dark: bool = False) -> Figure:
    """Test error against γ and against the start of b; and the margin loss of MNIST with γ constant and falling."""
    figure = _panels(["test error, %, by γ", "test error, %, by start of b", "MNIST, margin loss by step"], dark)
    for column, found in ((1, ascents.by_step(result, "error")), (2, ascents.by_start(result, "error"))):
        named = {f"{key:g}": average for key, average in found.items()}
        figure.add_trace(_averaged(named, "digits", _colour(L2.name, dark), "solid", showlegend=False), 1, column)
    drift = ascents.drift()
    for place, (name, points) in enumerate(drift.items()):
        line = {"color": (ink(dark).accent, _colour(L2.name, dark))[place], "width": 2.5, "dash": DASHES[place]}
        figure.add_trace(_line(points, name, line), 1, 3)
    figure.update_xaxes(type="category", col=1)
    figure.update_xaxes(type="category", col=2)
    _logarithmic(figure)
    said = ", ".join(f"{key:g} gives {average.mean:.2f} %" for key, average in ascents.by_step(result, "error").items())
    return _finish(figure, f"Test error on the digits by γ: {said or 'nothing measured'}.", dark)


def multi_mnist(rows: Sequence[dict[str, Any]], *, dark: bool = False) -> Figure:
    """Error of every MultiMNIST model, both digits asked for, beside the paper's."""
    figure = _panels(["error, %: wrong unless both digits are named"], dark)
    figure.add_trace(
        go.Bar(
            x=[row["model"].replace(", ", "<br>") for row in rows],
            y=[row["error"] for row in rows],
            text=[f"{row['error']:.2f}" for row in rows],
            textposition="outside",
            cliponaxis=False,
            width=0.4,
            marker={"color": [_colour(row["routing"], dark) for row in rows]},
            name="capsviz",
            showlegend=False,
            hovertemplate="%{x}: %{y:.2f} %<extra></extra>",
        )
    )
    for (method, error), dash in zip(doubles.PAPER.items(), DASHES, strict=False):
        title = f"paper, {'DR' if method == 'DR' else 'its own routing'}: {error:.2f} %"
        line = {"dash": dash, "width": 2, "color": ink(dark).text}
        figure.add_hline(y=error, line=line, name=title, showlegend=True)
    said = ", ".join(f"{row['model']} {row['error']:.2f} %" for row in rows)
    return _finish(figure, f"MultiMNIST error: {said}.", dark)


def _panels(titles: Sequence[str], dark: bool) -> Figure:
    """Panels side by side, each with its quantity above it."""
    figure = make_subplots(1, len(titles), subplot_titles=list(titles), horizontal_spacing=0.075)
    figure.update_annotations(font={"size": TEXT + 1, "color": ink(dark).text})
    return figure


def _logarithmic(figure: Figure, *fewer: tuple[int, ...]) -> None:
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


def _finish(figure: Figure, text: str, dark: bool) -> Figure:
    """The theme, room for the legend where there is one, and the sentence for those who do not see it."""
    named = any(part.showlegend is not False for part in (*figure.data, *figure.layout.shapes))
    figure.update_layout(
        legend={"orientation": "h", "x": 0, "y": 1.13, "yanchor": "bottom"},
        margin={"l": 64, "r": 16, "t": 92 if named else 48, "b": 56},
    )
    figure.update_xaxes(automargin=True)
    styled = style(figure, dark=dark, height=HEIGHT)
    return remember(styled.update_layout(legend_font_size=TEXT), text)


def _colour(name: str, dark: bool) -> str:
    """The colour of a routing, by its name or by Table II's; the CNN has none and is drawn in ink."""
    own = (method.colour for method in METHODS.values() if name in (method.name, method.short, method.plain))
    return next(own, "") or ink(dark).text


def _line(
    points: Sequence[tuple[Any, float]],
    name: str,
    line: dict[str, Any],
    *,
    showlegend: bool = True,
    markers: bool = False,
) -> go.Scatter:
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


def _averaged(found: Mapping[Any, SeedMean], name: str, colour: str, dash: str, *, showlegend: bool) -> go.Scatter:
    """Means with the range of the seeds as bars."""
    return go.Scatter(
        x=list(found),
        y=[average.mean for average in found.values()],
        error_y=_range(list(found.values())) | {"color": colour},
        customdata=[average.count for average in found.values()],
        name=name,
        legendgroup=name,
        showlegend=showlegend,
        mode="lines+markers",
        line={"color": colour, "width": 3, "dash": dash},
        marker={"size": 10, "color": colour},
        hovertemplate=f"{name}, %{{x}}: %{{y:.4g}}<br>seeds: %{{customdata}}<extra></extra>",
    )


def _range(seed_means: Sequence[SeedMean]) -> dict[str, Any]:
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
