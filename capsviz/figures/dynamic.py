"""Dynamic routing, iteration by iteration (seed 002 eq. 7-11; seed 000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from jaxtyping import Float
from numpy import ndarray
from plotly.graph_objects import Figure

from capsviz import measures
from capsviz.figures import panels
from capsviz.figures.describe import iterations, remember
from capsviz.figures.geometry import Geometry, receptive_field
from capsviz.figures.picture import image_axes, on, picture, rounded
from capsviz.figures.plane import Plane, fit_plane
from capsviz.figures.player import add_player
from capsviz.figures.reading import check, geometry, steps, votes
from capsviz.figures.theme import TEXT, TICK, caption, class_colour, colourbar_below, ink, style
from capsviz.trace import Trace

HEAT: list[list] = [[0, "rgba(70,160,255,0.85)"], [0.5, "rgba(127,127,127,0)"], [1, "rgba(255,150,40,0.85)"]]
"""Over an image: less than the even share blue, more orange, the even share clear."""


def routing_player(trace: Trace, *, image: int = 0, upper: int, dark: bool = False) -> Figure:
    """Dynamic routing of one image as one animation of three linked panels, one frame per iteration.

    Above, the couplings c of all primary capsules (grouped by type) to all classes. Below, the votes û for class
    `upper` in a plane common to all iterations (PCA of the votes and of that class's v of every iteration), area =
    coupling, colour = agreement û·v, and v drawn from the origin; beside it ‖v‖ of every class.
    Raises FigureError where the trace is of another routing or holds no votes.
    """
    check(trace, ("dr",), image=image, upper=upper)
    run = _read(trace, image, upper)
    figure = Figure(_player_traces(run, dark), _player_layout(run, dark))
    add_player(figure, [_player_frame(run, step, dark) for step in range(len(run.couplings))], dark=dark, low=54)
    return remember(style(figure, dark=dark, height=700), _describe_player(run))


def describe_player(trace: Trace, *, image: int = 0, upper: int) -> str:
    """What `routing_player` shows, in words; the same sentence as its alt text, without drawing it.

    Raises FigureError as the player does.
    """
    check(trace, ("dr",), image=image, upper=upper)
    return _describe_player(_read(trace, image, upper))


@dataclass(frozen=True)
class _Run:
    """One image's routing as the player draws it; `upper` is the class that its plane is of."""

    grid: Geometry
    classes: tuple[str, ...]
    upper: int
    couplings: Float[ndarray, "T lower upper"]
    agreement: Float[ndarray, "T lower"]
    lengths: Float[ndarray, "T upper"]
    plane: Plane
    places: Float[ndarray, "lower 2"]
    heads: Float[ndarray, "T 2"]
    origin: Float[ndarray, " 2"]

    @property
    def name(self) -> str:
        return self.classes[self.upper]


def _read(trace: Trace, image: int, upper: int) -> _Run:
    cast, poses = votes(trace, image, upper), steps(trace, "poses", image)[:, upper]
    plane = fit_plane(cast, poses)
    return _Run(
        geometry(trace),
        trace.classes,
        upper,
        steps(trace, "couplings", image),
        steps(trace, "agreement", image)[..., upper],
        steps(trace, "activations", image),
        plane,
        plane.project(cast),
        plane.project(poses),
        plane.project(np.zeros(poses.shape[1])),
    )


def _player_traces(run: _Run, dark: bool) -> list:
    muted = ink(dark).muted
    return [
        panels.shares_heatmap(run.couplings, run.grid, run.classes, axes=1, symbol="c", dark=dark),
        panels.vote_cloud(
            run.places,
            run.couplings[..., run.upper],
            run.agreement,
            run.grid,
            axes=2,
            size_symbol="c",
            colour_symbol="û·v",
            signed=True,
            dark=dark,
            bar_x=0.585,
        ),
        go.Scatter(
            **panels.xy(run.heads[:0]),
            mode="lines+markers",
            hoverinfo="skip",
            showlegend=False,
            line={"color": muted, "dash": "dot", "width": 2},
            marker={"size": 6, "color": muted},
            **on(2),
        ),
        _arrow(run, dark),
        panels.class_bars(run.lengths[0], run.classes, axes=3, symbol="‖v‖", upper=run.upper, dark=dark),
    ]


def _player_frame(run: _Run, step: int, dark: bool) -> dict[str, Any]:
    return {
        "name": str(step + 1),
        "traces": [0, 1, 2, 3, 4],
        "data": [
            {"type": "heatmap", "z": panels.shares_z(run.couplings[step], run.grid)},
            panels.vote_cloud_update(run.couplings[step, :, run.upper], run.agreement[step]),
            {"type": "scatter", **panels.xy(run.heads[:step])},
            {
                "type": "scatter",
                **panels.xy(np.stack([run.origin, run.heads[step]])),
                "textposition": _beyond(run, step),
            },
            panels.class_bars_update(run.lengths[step]),
        ],
        "layout": {"annotations": _player_notes(run, step, dark)},
    }


def _player_notes(run: _Run, step: int, dark: bool) -> list[dict]:
    return [
        caption(_headline(run, step), 0, 1.015, dark=dark, size=TEXT + 1),
        caption(f"Votes û for class {run.name}: area = c, colour = û·v", 0, 0.6, dark=dark),
        caption("Length ‖v‖ of each class capsule", 0.73, 0.6, dark=dark),
    ]


def _player_layout(run: _Run, dark: bool) -> dict[str, Any]:
    bar_x, bar_y = panels.bar_axes(run.classes, run.upper, (0, 1), "‖v‖", dark=dark)
    span = panels.span_of(run.places, run.heads, run.origin[None])
    return {
        **panels.shares_axes(run.grid, run.upper, run.classes, dark=dark),
        **panels.plane_axes(run.plane, span, (0, 0.57), (0, 0.58)),
        "xaxis3": {**bar_x, "domain": [0.73, 0.97], "anchor": "y3"},
        "yaxis3": {**bar_y, "domain": [0, 0.58], "anchor": "x3"},
        "shapes": [panels.row_marker(run.upper, 1, dark=dark)],
        "annotations": _player_notes(run, 0, dark),
        "margin": {"l": 64, "r": 64, "t": 36, "b": 150},
        "showlegend": False,
    }


def _headline(run: _Run, step: int) -> str:
    couplings, upper = run.couplings[step], len(run.classes)
    if step == 0:
        return f"Iteration 1: <b>maximum confusion</b>, every coupling is 1/{upper} = {1 / upper:.3f}"
    capsule, winner = divmod(int(couplings.argmax()), upper)
    row, column, kind = run.grid.place(capsule)
    return (
        f"Iteration {step + 1}: c from {couplings.min():.3f} to {couplings.max():.3f}, the largest from capsule "
        f"{capsule} (row {row} column {column} type {kind}) to class {run.classes[winner]}"
    )


def _arrow(run: _Run, dark: bool) -> go.Scatter:
    outline, colour = ink(dark).text, class_colour(run.upper)
    return go.Scatter(
        **panels.xy(np.stack([run.origin, run.heads[0]])),
        mode="lines+markers+text",
        line={"color": colour, "width": 5},
        marker={
            "symbol": ["circle", "arrow"],
            "size": [9, 24],
            "angleref": "previous",
            "color": colour,
            "line": {"color": outline, "width": 1.5},
            "opacity": 1,
        },
        text=["", "<b>v</b>"],
        textposition=_beyond(run, 0),
        textfont={"size": TEXT + 6, "color": outline},
        hovertemplate=f"v of class {run.name}<extra></extra>",
        cliponaxis=False,
        **on(2),
    )


def _beyond(run: _Run, step: int) -> str:
    """The side of the arrow's head that the arrow points to: there the label covers neither arrow nor cloud."""
    x, y = run.heads[step] - run.origin
    if abs(y) > abs(x):
        return "top center" if y > 0 else "bottom center"
    return "middle right" if x > 0 else "middle left"


def _describe_player(run: _Run) -> str:
    entropy = 100 * measures.coupling_entropy(torch.from_numpy(run.couplings)).mean(dim=1)
    count, first, last = len(run.classes), run.lengths[0, run.upper], run.lengths[-1, run.upper]
    return (
        f"Animation of dynamic routing in {iterations(len(run.couplings))}, {run.grid.lower} primary capsules to "
        f"{count} classes: couplings start at 1/{count}, the largest at the end is {run.couplings[-1].max():.2f}, "
        f"their mean entropy goes from {entropy[0]:.2f} to {entropy[-1]:.2f} % of its maximum; the length of class "
        f"{run.name} goes from {first:.2f} to {last:.2f}; predicted is {run.classes[int(run.lengths[-1].argmax())]}."
    )


def lengths_over_iterations(trace: Trace, image: int = 0, dark: bool = False) -> Figure:
    """‖v‖ of every class against the iteration, from 0 to 1.

    Raises FigureError where the trace is not of dynamic routing.
    """
    check(trace, ("dr",), image=image)
    lengths = steps(trace, "activations", image)
    count = list(range(1, len(lengths) + 1))
    figure = Figure()
    for index, name in enumerate(trace.classes):
        figure.add_scatter(
            x=count,
            y=rounded(lengths[:, index]),
            name=name,
            mode="lines+markers",
            line={"color": class_colour(index), "width": 3},
            marker={"size": 9},
            hovertemplate=f"class {name}<br>iteration %{{x}}<br>‖v‖ = %{{y:.3f}}<extra></extra>",
        )
    figure.update_layout(
        xaxis={"title": {"text": "iteration"}, "tickvals": count},
        yaxis={"title": {"text": "‖v‖"}, "range": [0, 1.02]},
        legend={"title": {"text": "class"}},
        margin={"l": 64, "r": 16, "t": 24, "b": 56},
    )
    best = int(lengths[-1].argmax())
    text = (
        f"Lengths of the {len(trace.classes)} class capsules over {iterations(len(lengths))}: {trace.classes[best]} "
        f"goes from {lengths[0, best]:.2f} to {lengths[-1, best]:.2f}, the longest of all at the end."
    )
    return remember(style(figure, dark=dark, height=360), text)


def coupling_entropy(trace: Trace, image: int = 0, dark: bool = False) -> Figure:
    """How undecided the primary capsules are, iteration by iteration: entropy of their couplings as a share of ln J.

    The line is the mean over all capsules, the band holds the middle 80 % of them. 1 is the maximum confusion with
    which routing starts. Raises FigureError where the trace is not of dynamic routing.
    """
    check(trace, ("dr",), image=image)
    entropy = measures.coupling_entropy(torch.from_numpy(steps(trace, "couplings", image))).numpy()
    mean, (low, high) = entropy.mean(axis=1), np.quantile(entropy, [0.1, 0.9], axis=1)
    count = list(range(1, len(mean) + 1))
    pen = ink(dark)
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
                mode="lines+markers",
                name="mean",
                line={"color": pen.accent, "width": 3},
                marker={"size": 9},
                customdata=rounded(np.stack([low, high], axis=1), 6),
                hovertemplate=(
                    "iteration %{x}<br>mean entropy = %{y:.5f} of ln J<br>"
                    "middle 80 %: %{customdata[0]:.5f} to %{customdata[1]:.5f}<extra></extra>"
                ),
            ),
        ]
    )
    # The couplings of a trained network stay close to even: the axis shows the part where something happens.
    floor = 1 - 1.15 * max(1 - float(min(low.min(), mean.min())), 1e-4)
    figure.add_hline(
        y=1,
        line={"color": pen.muted, "dash": "dash", "width": 1.5},
        annotation={
            "text": f"maximum confusion, c = 1/{len(trace.classes)}",
            "font": {"size": TICK, "color": pen.muted},
        },
    )
    figure.update_layout(
        xaxis={"title": {"text": "iteration"}, "tickvals": count},
        yaxis={
            "title": {"text": "entropy of c / ln J", "standoff": 8},
            "automargin": True,
            "range": [floor, 1 + (1 - floor) / 8],
            "nticks": 6,
        },
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
    Raises FigureError where the trace is not of dynamic routing or has no such iteration.
    """
    check(trace, ("dr",), image=image, upper=upper, iteration=iteration)
    grid, name = geometry(trace), trace.classes[upper]
    couplings = steps(trace, "couplings", image)[..., upper].reshape(-1, grid.rows, grid.columns, grid.types)
    masses, even = couplings.mean(axis=-1), 1 / len(trace.classes)
    mass = masses[iteration - 1]
    # Same colours in every iteration, so that one can be compared with the next.
    reach = max(1e-3, float(np.abs(masses - even).max()))
    figure = Figure(
        [picture(trace.images[image], "input"), _heat(trace, mass, even, reach, name, dark)],
        {**image_axes(1, (0, 1), (0, 1)), "margin": {"l": 8, "r": 8, "t": 40, "b": 76}},
    )
    title = caption(f"Coupling to {name}, iteration {iteration}", 0.5, 1.02, dark=dark, xanchor="center")
    figure.update_layout(annotations=[title])
    row, column = map(int, np.unravel_index(int(mass.argmax()), mass.shape))
    if np.ptp(mass) > 1e-6:
        top, left, bottom, right = receptive_field(trace.config, row, column)
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
    grid, first, stride = geometry(trace), trace.config.kernel - 1, trace.config.primary_stride
    places = [[(row, column) for column in range(grid.columns)] for row in range(grid.rows)]

    def words(row: int, column: int) -> str:
        top, left, bottom, right = receptive_field(trace.config, row, column)
        return (
            f"row {row} column {column} of the grid<br>sees rows {top} to {bottom - 1}, columns {left} to {right - 1}"
        )

    return go.Heatmap(
        z=rounded(mass, 5),
        x0=first,
        dx=stride,
        y0=first,
        dy=stride,
        zmin=even - reach,
        zmax=even + reach,
        colorscale=HEAT,
        text=[[words(row, column) for row, column in line] for line in places],
        xgap=1,
        ygap=1,
        colorbar=colourbar_below("mean c", (0, 1), dark=dark, nticks=5, tickformat=".3f"),
        hovertemplate=f"%{{text}}<br>mean c to {name} over {grid.types} types = %{{z:.3f}}<extra></extra>",
    )
