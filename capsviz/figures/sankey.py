"""Who speaks for whom, type by type: a Sankey diagram from primary capsule types to classes."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray
from plotly.graph_objects import Figure

from capsviz.figures.describe import remember
from capsviz.figures.network import BARS
from capsviz.figures.picture import numbers
from capsviz.figures.reading import check, check_kind, geometry, share_of, steps, votes
from capsviz.figures.text import literals, short
from capsviz.figures.theme import TICK, caption, class_colours, ink, style, translucent
from capsviz.tracing.trace import Trace

SHOWN, LETTERS = 12, 24
"""Types, and of many classes those, that are drawn one by one, the others flow together; letters of a class's name."""


def type_flow(trace: Trace, *, image: int = 0, iteration: int | None = None, dark: bool = False) -> Figure:
    """What the capsules of each type give to each class, as a Sankey diagram: Σ c_ij ‖û_ij‖ (EM: Σ R_ij a_i).

    The weight of a capsule's word for a class is its coupling times the length of its vote; under EM, whose votes have
    no length that counts, its responsibility times its activation, with the R that the iteration's M-step used: those
    of the last M-step made the class capsules. Σ over the positions of a type. The 12 types that give the most are
    drawn one by one, and of more classes than `BARS` the 12 that get the most. iteration: counted from 1, the last by
    default.
    Raises FigureError where the routing has no such shares, or the trace holds no votes or has no such iteration.
    """
    check_kind(trace)
    trace = trace.at(-1)
    iteration = trace.layer.iterations if iteration is None else iteration
    check(trace, "flow", image=image, iteration=iteration)
    flows = _flows(trace, image, iteration)
    order = np.argsort(-flows.sum(axis=1), kind="stable")
    named, rest = sorted(order[:SHOWN].tolist()), order[SHOWN:]
    sources = [f"type {kind}" for kind in named] + [_others(len(rest), "type")] * bool(len(rest))
    rows = np.concatenate([flows[named], flows[rest].sum(axis=0, keepdims=True)[: len(sources) - len(named)]])
    targets = [trace.called(upper) for upper in range(len(trace.classes))]
    rows, ends, colours = _ends(rows, targets, trace.kind)
    figure = Figure(_sankey(rows, sources, [*literals(ends)], colours, dark))
    algorithm, share = trace.config.algorithm, share_of(trace)
    weight = f"Σ {share.symbol} {'a' if algorithm.matrix else '‖û‖'}, {share.symbol} of {share.of}"
    figure.update_layout(
        annotations=[caption(f"{weight} {iteration}", 0.5, 1.01, dark=dark, xanchor="center")],
        margin={"l": 12, "r": 12, "t": 36, "b": 12},
        font={"size": TICK + 1},
    )
    total, best = flows.sum(axis=0), int(flows.sum(axis=0).argmax())
    first = int(flows[:, best].argmax())
    text = (
        f"Sankey diagram from {len(flows)} types of lower capsules to {len(targets)} upper ones, {weight} "
        f"{iteration}: {targets[best]} receives {100 * total[best] / max(total.sum(), 1e-12):.0f} % of "
        f"everything, the largest part of it from type {first} "
        f"({100 * flows[first, best] / max(total[best], 1e-12):.0f} %)."
    )
    return remember(style(figure, dark=dark, height=444), text)


def _flows(trace: Trace, image: int, iteration: int) -> Float[ndarray, "types upper"]:
    """What each type gives to each class."""
    grid = geometry(trace)
    if trace.config.algorithm.matrix:
        sizes = numbers(trace.primary_activations[image])[:, None]
    else:
        sizes = np.stack(
            [np.linalg.norm(votes(trace, image, upper), axis=1) for upper in range(len(trace.classes))], axis=1
        )
    given = steps(trace, share_of(trace).field, image)[iteration - 1] * sizes
    return given.reshape(grid.places, grid.types, -1).sum(axis=0)


def _others(count: int, kind: str) -> str:
    """What further types or classes are called together: "1 other type", "12 other classes"."""
    return f"{count} other {kind}{('e' * (kind == 'class') + 's') * (count > 1)}"


def _ends(
    rows: Float[ndarray, "source upper"], targets: list[str], kind: str
) -> tuple[Float[ndarray, "source end"], list[str], list[str]]:
    """Where the flows lead, what that is called, and its colour: to each class, or of many to those that get most."""
    colours = class_colours(len(targets))
    if len(targets) <= BARS:
        return rows, targets, colours
    order = np.argsort(-rows.sum(axis=0), kind="stable")
    named, rest = sorted(order[:SHOWN].tolist()), order[SHOWN:]
    parts = np.concatenate([rows[:, named], rows[:, rest].sum(axis=1, keepdims=True)], axis=1)
    return (
        parts,
        [*(short(targets[each], LETTERS) for each in named), _others(len(rest), kind)],
        [colours[each] for each in (*named, rest[0])],
    )


def _sankey(
    rows: Float[ndarray, "source end"], sources: list[str], targets: list[str], colours: list[str], dark: bool
) -> go.Sankey:
    pen = ink(dark)
    source, target = np.indices(rows.shape).reshape(2, -1)
    return go.Sankey(
        arrangement="fixed",
        node={
            "label": [*sources, *targets],
            "color": [pen.muted] * len(sources) + colours,
            "pad": 18,  # the names of small neighbours stand apart
            "thickness": 16,
            "line": {"width": 0},
            "hovertemplate": "%{label}: %{value:.3f}<extra></extra>",
        },
        link={
            "source": source.tolist(),
            "target": (target + len(sources)).tolist(),
            "value": rows.reshape(-1).tolist(),
            "color": [translucent(colours[j], 0.25) for j in target],
            "hovertemplate": "%{source.label} → %{target.label}: %{value:.3f}<extra></extra>",
        },
        textfont={"color": pen.text, "shadow": "none"},
    )
