"""The papers' experiments as pictures: drawn from result files and curves alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import plotly.graph_objects as go
from plotly.graph_objects import Figure

from capsviz.data import title_of
from capsviz.experiments import ascent as ascents
from capsviz.experiments import chance
from capsviz.experiments import iterations as counts
from capsviz.experiments import multi as doubles
from capsviz.experiments import robustness as viewpoints
from capsviz.experiments import sparsity as zeros
from capsviz.experiments.convergence import COMPARED, TrainingCurve
from capsviz.experiments.cost import Cost
from capsviz.experiments.moving import called, parts
from capsviz.experiments.seed_means import SeedMean
from capsviz.figures.errors import FigureError
from capsviz.figures.panels import (
    DASHES,
    PATTERNS,
    SYMBOLS,
    averaged,
    colour_of,
    finished,
    line_through,
    logarithmic,
    side_by_side,
)
from capsviz.figures.theme import TEXT, caption, ink
from capsviz.network import METHODS
from capsviz.routing.discriminative import L2
from capsviz.routing.dynamic import DYNAMIC


def convergence(curves: Sequence[TrainingCurve], data: str, *, dark: bool = False) -> Figure:
    """Validation error after each epoch and margin loss in between, by step; raises FigureError without curves.

    Upwards logarithmic, but for a panel in which something is zero.
    """
    mine = [curve for curve in curves if curve.data == data]
    if not mine:
        raise FigureError(f"There are no curves of {data}; train DR, L2 and L1 on it first.")
    figure = side_by_side(["validation error, %", "margin loss of training batches"], dark)
    for curve in mine:
        for column, points in enumerate((curve.validation, curve.loss), start=1):
            line = {
                "color": colour_of(curve.routing, dark),
                "width": 3,
                "dash": DASHES[COMPARED.index(curve.routing) % 3],
            }
            figure.add_trace(
                line_through(points, METHODS[curve.routing].short, line, showlegend=column == 1, markers=column == 1),
                1,
                column,
            )
    logarithmic(figure)
    figure.update_xaxes(title_text="training step", rangemode="tozero")
    last = ", ".join(f"{METHODS[curve.routing].short} {curve.validation[-1][1]:.2f} %" for curve in mine)
    return finished(figure, f"Curves of {title_of(data)} by step; validation error at the end: {last}.", dark)


def training_curve(
    points: Sequence[tuple[int, float]], quantity: str, routing: str, *, total: int | None = None, dark: bool = False
) -> Figure:
    """One quantity of a training by step, as far as it is: upwards logarithmic, unless something is zero.

    points: step and value; there may be one alone. total: the steps that there will be. Raises FigureError without any.
    """
    if not points:
        raise FigureError("There is nothing to draw of this training yet; wait until its first epoch is over.")
    figure, line = side_by_side([quantity], dark), {"color": colour_of(routing, dark), "width": 3}
    figure.add_trace(line_through(points, METHODS[routing].short, line, showlegend=False, markers=True), 1, 1)
    logarithmic(figure, (1,), (1, 3))
    if len({value for _, value in points}) == 1 and points[0][1]:
        figure.update_yaxes(range=[math.log10(points[0][1] * factor) for factor in (0.4, 2.5)])
    figure.update_xaxes(range=[0, (total or points[-1][0]) * 1.04])
    said = (
        f"{quantity} by step: {points[0][1]:.4g} at step {points[0][0]}, {points[-1][1]:.4g} at step {points[-1][0]}."
    )
    return finished(figure, said, dark)


def cost(costs: Sequence[Cost], *, dark: bool = False) -> Figure:
    """Time of training steps, and of routings alone, of each method beside DR's on the same device; seconds per 100."""
    figure = side_by_side(["100 training steps, % of DR's time", "100 routings forward, % of DR's time"], dark)
    for pattern, each in zip(cycle(PATTERNS), costs, strict=False):
        for column, seconds in enumerate((each.step, each.routing), start=1):
            figure.add_trace(
                go.Bar(
                    x=[METHODS[name].short for name in seconds],
                    y=[100 * value / seconds[DYNAMIC.name] for value in seconds.values()],
                    customdata=list(seconds.values()),
                    text=[f"{100 * value / seconds[DYNAMIC.name]:.0f}" for value in seconds.values()],
                    textposition="outside",
                    textfont={"size": TEXT, "color": ink(dark).text},
                    cliponaxis=False,
                    constraintext="none",
                    name=f"{each.preset}, {each.device} (DR {each.step[DYNAMIC.name]:.3g} s)",
                    marker={"color": [colour_of(name, dark) for name in seconds], "pattern": {"shape": pattern}},
                    showlegend=column == 1 and len(costs) > 1,
                    hovertemplate=f"{each.preset}, {each.device}<br>%{{x}}: %{{y:.0f}} %, %{{customdata:.3f}} s per 100"
                    "<extra></extra>",
                ),
                1,
                column,
            )
    said = "; ".join(
        ", ".join(f"{METHODS[name].short} {value:.3g} s" for name, value in each.step.items())
        + f" for {each.preset} on {each.device}"
        for each in costs
    )
    return finished(figure, f"Time of 100 training steps: {said or 'nothing was measured'}.", dark)


def robustness(result: dict[str, Any], *, dark: bool = False) -> Figure:
    """Error against shift and against rotation, with binomial standard errors; what trainings had seen is shaded.

    Of several data sets or numbers of images the part with most rows (`capsviz.experiments.moving`).
    """
    figure = side_by_side(["shift, pixels", "rotation, degrees"], dark)
    result = next(iter(parts(result, *viewpoints.COUNTS)), result)
    models = Counter(row["routing"] for row in {row["model"]: row for row in result["rows"]}.values())
    for column, kind in enumerate(("shift", "rotation"), start=1):
        for place, (model, rows) in enumerate(viewpoints.series(result, kind).items()):
            routing = rows[0]["routing"]
            colour = colour_of(routing, dark)
            figure.add_trace(
                go.Scatter(
                    x=[row["amount"] for row in rows],
                    y=[row["error"] for row in rows],
                    error_y={"array": [chance.standard_error(row) for row in rows], "color": colour},
                    customdata=[[row["model"], 100 * row["ink"]] for row in rows],
                    name=METHODS[routing].short if models[routing] == 1 else model,
                    mode="lines+markers",
                    line={"color": colour, "width": 3, "dash": DASHES[place % len(DASHES)]},
                    marker={"size": 9, "color": colour},
                    legendgroup=model,
                    showlegend=column == 1,
                    hovertemplate="%{customdata[0]} at %{x}: %{y:.1f} %<br>"
                    "ink left: %{customdata[1]:.0f} %<extra></extra>",
                ),
                1,
                column,
            )
    for column, kind in enumerate(("shift", "rotation"), start=1):
        for seen in sorted({row[f"seen_{kind}"] for row in result["rows"]} - {0, None}):
            figure.add_vrect(x0=0, x1=seen, fillcolor=ink(dark).muted, opacity=0.15, line_width=0, row=1, col=column)
            written = caption("seen in<br>training", seen, 1, dark=dark, xanchor="right", yanchor="top")
            figure.add_annotation(written, xref=f"x{column}", yref="paper")
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title_text="error, %", col=1)
    rows = [row for row in result["rows"] if (row["kind"], row["amount"]) == ("rotation", 40)]
    said = ", ".join(f"{row['model']} {row['error']:.1f} %" for row in rows)
    on = called(result, *viewpoints.COUNTS) if result["rows"] else "no images"
    text = f"Error of shifted and turned test images ({on}); what some model saw in training is shaded. "
    text += f"At 40 degrees: {said}."
    return finished(figure, text, dark)


def iterations(result: dict[str, Any], shipped: dict[str, Any] | None, *, dark: bool = False) -> Figure:
    """Loss and error by the T that was trained with, range over seeds; and of shipped models asked with another T."""
    figure = side_by_side(["trained with T: loss", "trained with T: error, %", "shipped, asked with T: error, %"], dark)
    rows = (shipped or {"rows": []})["rows"]
    for place, name in enumerate(dict.fromkeys(row["model"] for row in rows)):
        points = [(row["iterations"], row["error"]) for row in rows if row["model"] == name]
        line = {"color": colour_of(DYNAMIC.name, dark), "width": 2, "dash": DASHES[place % len(DASHES)]}
        marker = {"symbol": SYMBOLS[place % len(SYMBOLS)], "size": 11}
        figure.add_trace(line_through(points, name, line, markers=True).update(marker=marker, legendrank=1001), 1, 3)
    logarithmic(figure)  # of these alone: some err forty times as often as others
    for column, measure in ((1, "loss"), (2, "error")):
        for place, part in enumerate(("test", "train")):
            colour = (ink(dark).accent, ink(dark).muted)[place]
            found = counts.means_of(result, part, measure)
            figure.add_trace(averaged(found, part, colour, DASHES[place], showlegend=column == 1), 1, column)
    figure.update_xaxes(title_text="iterations T", dtick=1)
    figure.update_yaxes(rangemode="tozero")
    test = counts.means_of(result, "test", "error")
    said = ", ".join(f"T = {key} {average.mean:.2f} %" for key, average in test.items())
    return finished(figure, f"Error by routing iterations; trained on the digits: {said or 'nothing yet'}.", dark)


def sparsity(result: dict[str, Any], *, dark: bool = False) -> Figure:
    """Share of zero coefficients, exact and near, and test error, against λ, by subgradient and by soft threshold.

    The points of networks that err much more than without λ are open: their zeros are those of a ruin.
    """
    figure = side_by_side(["exact zeros, %", "near zeros, |b| < 0.001 max |b|, %", "test error, %"], dark)
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
            points = averaged(scaled, name, colour, DASHES[proximal], showlegend=column == 1)
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
    return finished(figure, text, dark)


def ascent(result: dict[str, Any], *, dark: bool = False) -> Figure:
    """Test error against γ and against the start of b; and the margin loss of MNIST with γ constant and falling."""
    figure = side_by_side(["test error, %, by γ", "test error, %, by start of b", "MNIST, margin loss by step"], dark)
    for column, found in ((1, ascents.by_step(result, "error")), (2, ascents.by_start(result, "error"))):
        named = {f"{key:g}": average for key, average in found.items()}
        figure.add_trace(averaged(named, "digits", colour_of(L2.name, dark), "solid", showlegend=False), 1, column)
    drift = ascents.drift()
    for place, (name, points) in enumerate(drift.items()):
        line = {"color": (ink(dark).accent, colour_of(L2.name, dark))[place], "width": 2.5, "dash": DASHES[place]}
        figure.add_trace(line_through(points, name, line), 1, 3)
    figure.update_xaxes(type="category", col=1)
    figure.update_xaxes(type="category", col=2)
    logarithmic(figure)
    said = ", ".join(f"{key:g} gives {average.mean:.2f} %" for key, average in ascents.by_step(result, "error").items())
    return finished(figure, f"Test error on the digits by γ: {said or 'nothing measured'}.", dark)


def multi_mnist(rows: Sequence[dict[str, Any]], *, dark: bool = False) -> Figure:
    """Error of every MultiMNIST model, both digits asked for, beside the paper's."""
    figure = side_by_side(["error, %: wrong unless both digits are named"], dark)
    figure.add_trace(
        go.Bar(
            x=[row["model"].replace(", ", "<br>") for row in rows],
            y=[row["error"] for row in rows],
            text=[f"{row['error']:.2f}" for row in rows],
            textposition="outside",
            cliponaxis=False,
            width=0.4,
            marker={"color": [colour_of(row["routing"], dark) for row in rows]},
            name="capsviz",
            showlegend=False,
            hovertemplate="%{x}: %{y:.2f} %<extra></extra>",
        )
    )
    papers = {DYNAMIC.short: doubles.PAPER[DYNAMIC.short], "its own routing": doubles.OWN}
    for (method, error), dash in zip(papers.items(), DASHES, strict=False):
        title = f"paper, {method}: {error:.2f} %"
        line = {"dash": dash, "width": 2, "color": ink(dark).text}
        figure.add_hline(y=error, line=line, name=title, showlegend=True)
    said = ", ".join(f"{row['model']} {row['error']:.2f} %" for row in rows)
    return finished(figure, f"MultiMNIST error: {said}.", dark)
