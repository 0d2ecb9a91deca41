"""Dynamic routing as an animation, iteration by iteration (seed 002 eq. 7-11; seed 000)."""

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
from capsviz.figures.geometry import Geometry
from capsviz.figures.picture import on
from capsviz.figures.plane import Plane, fit_plane
from capsviz.figures.player import add_player
from capsviz.figures.reading import check, geometry, share_of, steps, votes
from capsviz.figures.theme import TEXT, caption, class_colour, ink, style
from capsviz.routing.program import Share, Strength
from capsviz.trace import Trace


def routing_player(trace: Trace, *, image: int = 0, upper: int, dark: bool = False) -> Figure:
    """Dynamic routing of one image as one animation of three linked panels, one frame per iteration.

    Above, the couplings c of all primary capsules (grouped by type) to all classes. Below, the votes û for class
    `upper` in a plane common to all iterations (PCA of the votes and of that class's v of every iteration), area =
    coupling, colour = agreement û·v, and v drawn from the origin; beside it ‖v‖ of every class.
    Raises FigureError where the trace is of another routing or holds no votes.
    """
    check(trace, "couplings", image=image, upper=upper)
    run = _read(trace, image, upper)
    figure = Figure(_player_traces(run, dark), _player_layout(run, dark))
    add_player(figure, [_player_frame(run, step, dark) for step in range(len(run.couplings))], dark=dark, low=54)
    return remember(style(figure, dark=dark, height=700), _describe_player(run))


def describe_player(trace: Trace, *, image: int = 0, upper: int) -> str:
    """What `routing_player` shows, in words; the same sentence as its alt text, without drawing it.

    Raises FigureError as the player does.
    """
    check(trace, "couplings", image=image, upper=upper)
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
    title: str
    share: Share
    strength: Strength

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
        trace.config.algorithm.title.lower(),
        share_of(trace),
        trace.config.algorithm.strength,
    )


def _player_traces(run: _Run, dark: bool) -> list:
    muted = ink(dark).muted
    return [
        panels.shares_heatmap(run.couplings, run.grid, run.classes, axes=1, symbol=run.share.symbol, dark=dark),
        panels.vote_cloud(
            run.places,
            run.couplings[..., run.upper],
            run.agreement,
            run.grid,
            axes=2,
            size_symbol=run.share.symbol,
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
        panels.class_bars(run.lengths[0], run.classes, axes=3, symbol=run.strength.symbol, upper=run.upper, dark=dark),
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
        caption(f"Votes û for class {run.name}: area = {run.share.symbol}, colour = û·v", 0, 0.6, dark=dark),
        caption(f"{run.strength.title} of each class", 0.73, 0.6, dark=dark),
    ]


def _player_layout(run: _Run, dark: bool) -> dict[str, Any]:
    bar_x, bar_y = panels.bar_axes(run.classes, run.upper, (0, 1), run.strength.symbol, dark=dark)
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
        f"Iteration {step + 1}: {run.share.symbol} from {couplings.min():.3f} to {couplings.max():.3f}, the largest "
        f"from capsule {capsule} (row {row} column {column} type {kind}) to class {run.classes[winner]}"
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
        f"Animation of {run.title} in {iterations(len(run.couplings))}, {run.grid.lower} primary capsules to "
        f"{count} classes: couplings start at 1/{count}, the largest at the end is {run.couplings[-1].max():.2f}, "
        f"their mean entropy goes from {entropy[0]:.2f} to {entropy[-1]:.2f} % of its maximum; the "
        f"{run.strength.word} of class {run.name} goes from {first:.2f} to {last:.2f}; "
        f"predicted is {run.classes[int(run.lengths[-1].argmax())]}."
    )
