"""EM routing as an animation, iteration by iteration: Gaussians that claim votes (seed 002 eq. 20-29)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, Float
from numpy import ndarray
from plotly.graph_objects import Figure

from capsviz.figures import panels
from capsviz.figures.describe import iterations, remember
from capsviz.figures.geometry import Geometry
from capsviz.figures.picture import numbers, on
from capsviz.figures.plane import Plane, ellipse, fit_plane
from capsviz.figures.player import add_player
from capsviz.figures.reading import check, geometry, steps, votes
from capsviz.figures.theme import TEXT, TICK, caption, class_colour, ink, style
from capsviz.trace import Trace


def em_player(trace: Trace, *, image: int = 0, upper: int, dark: bool = False) -> Figure:
    """EM routing of one image as one animation of four linked panels, one frame per iteration.

    Above, the responsibilities R of all primary capsules for all classes. Below, the votes for class `upper` in a plane
    common to all iterations (PCA of the votes and of that class's μ), area and colour = R, with the class's Gaussian
    as its outlines at 1 σ and 2 σ, projected exactly; beside them activation and cost of every class. R is what the
    iteration's M-step used, so that picture and Gaussian belong together.
    Raises FigureError where the trace is of another routing or holds no votes.
    """
    check(trace, "gaussians", image=image, upper=upper)
    run = _read(trace, image, upper)
    figure = Figure(_player_traces(run, dark), _player_layout(run, dark))
    add_player(figure, [_player_frame(run, step, dark) for step in range(len(run.shares))], dark=dark, low=54)
    return remember(style(figure, dark=dark, height=700), _describe_player(run))


def describe_player(trace: Trace, *, image: int = 0, upper: int) -> str:
    """What `em_player` shows, in words; the same sentence as its alt text, without drawing it.

    Raises FigureError as the player does.
    """
    check(trace, "gaussians", image=image, upper=upper)
    return _describe_player(_read(trace, image, upper))


@dataclass(frozen=True)
class _Run:
    """One image's routing as the player draws it; `upper` is the class that its plane and its Gaussian are of."""

    grid: Geometry
    classes: tuple[str, ...]
    kind: str
    upper: int
    name: str
    """What the upper capsule is called, "class 3"; the others are of its kind, a class."""
    shares: Float[ndarray, "T lower upper"]
    activations: Float[ndarray, "T upper"]
    cost: Float[ndarray, "T upper"]
    spread: Float[ndarray, " T"]
    """σ of the class, averaged over the components of its pose."""
    temperatures: Float[ndarray, " T"]
    plane: Plane
    places: Float[ndarray, "lower 2"]
    centres: Float[ndarray, "T 2"]
    outlines: list[list[ndarray]]
    """Of every iteration, the outline at 1 σ and that at 2 σ."""


def _read(trace: Trace, image: int, upper: int) -> _Run:
    means, variances = steps(trace, "means", image)[:, upper], steps(trace, "variances", image)[:, upper]
    cast = votes(trace, image, upper)
    plane = fit_plane(cast, means)
    centres = plane.project(means)
    gaussians = list(zip(centres, map(plane.covariance, variances), strict=True))
    return _Run(
        geometry(trace),
        trace.classes,
        trace.kind,
        upper,
        trace.called(upper),
        steps(trace, "responsibilities", image),
        steps(trace, "activations", image),
        steps(trace, "cost", image).sum(axis=-1),
        np.sqrt(variances).mean(axis=-1),
        numbers(trace.layer["inverse_temperature"]),
        plane,
        plane.project(cast),
        centres,
        [[ellipse(centre, covariance, sigmas) for sigmas in (1, 2)] for centre, covariance in gaussians],
    )


def _player_traces(run: _Run, dark: bool) -> list:
    share = run.shares[..., run.upper]
    return [
        panels.shares_heatmap(run.shares, run.grid, run.classes, axes=1, symbol="R", dark=dark),
        panels.vote_cloud(
            run.places,
            share,
            share,
            run.grid,
            axes=2,
            size_symbol="R",
            colour_symbol="R",
            signed=False,
            dark=dark,
            bar_x=0.545,
            # Responsibilities come close to 1, where couplings seldom pass a fifth.
            largest=14,
        ),
        _gaussian(run, 2),
        _gaussian(run, 1),
        go.Scatter(
            **panels.xy(run.centres[:1]),
            mode="markers",
            hovertemplate=f"μ of {run.name}<extra></extra>",
            marker={
                "symbol": "cross",
                "size": 10,
                "color": class_colour(run.upper),
                "line": {"color": ink(dark).text, "width": 1},
            },
            showlegend=False,
            **on(2),
        ),
        panels.class_bars(run.activations[0], run.classes, axes=3, symbol="a", upper=run.upper, dark=dark),
        panels.class_bars(run.cost[0], run.classes, axes=4, symbol="cost", upper=run.upper, dark=dark),
    ]


def _player_frame(run: _Run, step: int, dark: bool) -> dict[str, Any]:
    share = run.shares[step, :, run.upper]
    once, twice = run.outlines[step]
    return {
        "name": str(step + 1),
        "traces": [0, 1, 2, 3, 4, 5, 6],
        "data": [
            {"type": "heatmap", "z": panels.shares_z(run.shares[step], run.grid)},
            panels.vote_cloud_update(share, share),
            {"type": "scatter", **panels.xy(twice)},
            {"type": "scatter", **panels.xy(once)},
            {"type": "scatter", **panels.xy(run.centres[step][None])},
            panels.class_bars_update(run.activations[step]),
            panels.class_bars_update(run.cost[step]),
        ],
        "layout": {"annotations": _player_notes(run, step, dark)},
    }


def _player_notes(run: _Run, step: int, dark: bool) -> list[dict]:
    votes_title = f"Votes for {run.name}: size and colour = R, σ {run.spread[step]:.3f}"
    notes = [
        caption(_headline(run, step), 0, 1.015, dark=dark, size=TEXT + 1),
        caption(votes_title, 0, 0.6, dark=dark),
        caption("Activation a", 0.66, 0.6, dark=dark),
        caption("Cost Σₕ", 0.865, 0.6, dark=dark),
    ]
    if far := int(_far(run).sum()):
        notes.append(caption(f"{far} far votes outside", 0.005, 0.005, dark=dark, size=TICK))
    return notes


def _player_layout(run: _Run, dark: bool) -> dict[str, Any]:
    highest = float(run.activations.max())
    bar_x, bar_y = panels.bar_axes(run.classes, run.upper, (0, 1.3 * highest), "a", dark=dark)
    cost_x, cost_y = panels.bar_axes(run.classes, run.upper, _cost_span(run.cost), "cost", dark=dark)
    span = panels.span_of(run.places[~_far(run)], *[line for step in run.outlines for line in step])
    return {
        **panels.shares_axes(run.grid, run.upper, run.classes, dark=dark),
        **panels.plane_axes(run.plane, span, (0, 0.53), (0, 0.58)),
        "xaxis3": {**bar_x, "domain": [0.66, 0.81], "anchor": "y3"},
        "yaxis3": {**bar_y, "domain": [0, 0.58], "anchor": "x3"},
        "xaxis4": {**cost_x, "nticks": 4, "tickangle": 0, "domain": [0.865, 1], "anchor": "y4"},
        "yaxis4": {**cost_y, "domain": [0, 0.58], "anchor": "x4", "showticklabels": False},
        "shapes": [panels.row_marker(run.upper, 1, dark=dark)],
        "annotations": _player_notes(run, 0, dark),
        "margin": {"l": 64, "r": 64, "t": 36, "b": 150},
        "showlegend": False,
    }


def _far(run: _Run) -> Bool[ndarray, " lower"]:
    """Votes far from the middle that the class does not claim: they stay outside the picture until it is moved."""
    away = np.linalg.norm(run.places - np.median(run.places, axis=0), axis=1)
    claimed = (run.shares[..., run.upper] > 1.5 / len(run.classes)).any(axis=0)
    return (away > np.quantile(away, 0.9)) & ~claimed


def _headline(run: _Run, step: int) -> str:
    shares, upper, temperature = run.shares[step], len(run.classes), f"λ = {run.temperatures[step]:.3g}"
    if step == 0:
        return f"M-step 1: every responsibility R is 1/{upper} = {1 / upper:.3f}; {temperature}"
    decided = 100 * float((shares.max(axis=1) > 0.5).mean())
    return f"R of M-step {step + 1}: {decided:.0f} % of the capsules give one {run.kind} more than half; {temperature}"


def _gaussian(run: _Run, sigmas: int) -> go.Scatter:
    return go.Scatter(
        **panels.xy(run.outlines[0][sigmas - 1]),
        mode="lines",
        line={
            "color": class_colour(run.upper),
            "width": 4 if sigmas == 1 else 2.5,
            "dash": "solid" if sigmas == 1 else "dash",
        },
        name=f"{sigmas} σ",
        hovertemplate=f"{sigmas} σ<extra></extra>",
        showlegend=False,
        **on(2),
    )


def _cost_span(cost: Float[ndarray, "T upper"]) -> tuple[float, float]:
    low, high = min(0.0, float(cost.min())), max(0.0, float(cost.max()))
    room = 0.8 * (high - low) or 1.0
    # Room for the numbers at the tips of the bars, on the side where there are bars.
    return (low - room if low < 0 else 0.0), (high + room if high > 0 else 0.0)


def _describe_player(run: _Run) -> str:
    first, last = run.activations[0, run.upper], run.activations[-1, run.upper]
    return (
        f"Animation of EM routing in {iterations(len(run.shares))}: the Gaussian of {run.name} goes from a mean "
        f"σ of {run.spread[0]:.3f} to {run.spread[-1]:.3f}, its activation goes from {first:.2f} to {last:.2f}; the "
        f"largest responsibility in the last M-step is {run.shares[-1].max():.2f}; most active is "
        f"{run.classes[int(run.activations[-1].argmax())]}."
    )
