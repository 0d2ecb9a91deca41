"""The maps of discriminative routing: b as it was learned, beside what dynamic routing spends, and while it climbs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from capsviz.analysis.ascent import Ascent
from capsviz.boards.capsule_maps import CapsuleMaps, Curve, Map, NumberedLine
from capsviz.figures.errors import FigureError
from capsviz.figures.geometry import Geometry, view_of
from capsviz.figures.picture import numbers
from capsviz.figures.reading import check, geometry, steps, votes
from capsviz.figures.theme import class_colours
from capsviz.routing import ASCENDING
from capsviz.routing.discriminative import sparsity
from capsviz.routing.dynamic import DYNAMIC
from capsviz.tracing.trace import Trace

BLUE, ORANGE, GREEN, PURPLE = class_colours(4)

_SOFTMAX, _, _SQUASH, _UPDATE = (line.math for line in DYNAMIC.program.lines)
_SUM = "s<sub>j</sub> = Σ<sub>i</sub> b<sub>ij</sub> û<sub>ij</sub>"


def coefficient_maps(trace: Trace, *, upper: int, image: int = 0) -> CapsuleMaps:
    """b of one class over the primary capsules: a still, on which a capsule can be chosen.

    Beside it, where the capsule looks on the image and what it says for every class. Raises FigureError where the trace
    is not of L2 or L1 or has no such class or image.
    """
    check(trace, "coefficients", image=image, upper=upper)
    b, name = numbers(trace.layer["coefficients"][0]), trace.classes[upper]
    chosen, length = b[:, upper], numbers(trace.activations[image])[upper]
    given: dict[str, ndarray | int] = {"b = ": 0}
    if trace.layer.votes is not None:
        sizes = np.linalg.norm(votes(trace, image, upper), axis=1)
        given |= {",  ‖û‖ = ": sizes[None], ",  b‖û‖ = ": (chosen * sizes)[None]}
    below = int((chosen < 0).sum())
    shown = Map(f"b of class {name}", "below zero: the vote counts reversed", "b", chosen[None], True)
    return CapsuleMaps(
        geometry(trace),
        (shown,),
        ("",),
        (0.0,),
        f"Coefficients b of class {name}: {below:,} of {len(b):,} negative, "
        f"from {chosen.min():.3f} to {chosen.max():.3f}.",
        classes=trace.classes,
        upper=upper,
        per_class=b,
        lines=(
            NumberedLine(_SUM, given),
            NumberedLine(_SQUASH, {"‖v‖ = ": np.array([length])}),
        ),
        image=numbers(trace.images[image]),
        view=view_of(trace.config),
    )


def agreement_maps(
    discriminative_trace: Trace,
    dynamic_trace: Trace,
    *,
    signs: Float[Tensor, "upper"],
    upper: int,
    image: int = 0,
) -> CapsuleMaps:
    """Signed agreement δ û·s, which L2 and L1 average into b, beside the û·v that dynamic routing adds to its logits.

    The first stands still, the second plays through the iterations. signs: δ of this image's label, "upper". Raises
    FigureError where a trace is of another routing or the two grids differ.
    """
    check(discriminative_trace, "coefficients", image=image, upper=upper)
    check(dynamic_trace, "agreement", image=image, upper=upper)
    if tuple(discriminative_trace.grid) != tuple(dynamic_trace.grid):
        raise FigureError("The two models have different grids of primary capsules; choose two models of one preset.")
    name, delta = dynamic_trace.classes[upper], float(signs[upper])
    kept = delta * steps(discriminative_trace, "agreement", image)[0, :, upper]
    spent = steps(dynamic_trace, "agreement", image)[:, :, upper]
    logits = np.cumsum(spent, axis=0) - spent
    b = numbers(discriminative_trace.layer["coefficients"][0])[:, upper]
    total = dynamic_trace.layer.iterations
    title = discriminative_trace.config.algorithm.title
    frames = [f"iteration {number} of {total}" for number in range(1, total + 1)]
    return CapsuleMaps(
        geometry(dynamic_trace),
        (
            Map(
                f"{title}: δ û·s, δ = {delta:+.0f}".replace("-1", "−1"),
                "kept: averaged over a batch into b",
                "δ û·s",
                kept[None],
                True,
            ),
            Map("Dynamic routing: û·v", "spent: added to the logits of this one image", "û·v", spent, True),
        ),
        tuple(frames),
        tuple(float(number) for number in range(1, total + 1)),
        f"Class {name}. Signed agreement δ û·s of {title}, δ = {delta:+.0f}: {int((kept > 0).sum()):,} of "
        f"{len(kept):,} capsules positive, from {kept.min():.3f} to {kept.max():.3f}. Agreement "
        f"û·v of dynamic routing at iteration {total}: {int((spent[-1] > 0).sum()):,} positive, "
        f"from {spent[-1].min():.3f} to {spent[-1].max():.3f}.",
        upper=upper,
        classes=dynamic_trace.classes,
        lines=(
            NumberedLine(
                "g<sub>ij</sub> = δ<sub>j</sub> û<sub>ij</sub>·s<sub>j</sub>",
                {"g = ": 0, ",  kept in b = ": np.broadcast_to(b, spent.shape)},
                looped=False,
            ),
            NumberedLine(
                _SOFTMAX,
                {"b = ": logits, "  →  c = ": steps(dynamic_trace, "couplings", image)[:, :, upper]},
            ),
            NumberedLine(
                "v<sub>j</sub> = squash(Σ<sub>i</sub> c<sub>ij</sub> û<sub>ij</sub>)",
                {"‖v‖ = ": steps(dynamic_trace, "activations", image)[:, upper]},
            ),
            NumberedLine(
                _UPDATE,
                {"û·v = ": spent, "  →  b = ": logits + spent},
            ),
        ),
        image=numbers(discriminative_trace.images[image]),
        view=view_of(discriminative_trace.config),
    )


def history_maps(
    coefficients: Float[Tensor, "snapshot lower upper"],
    at: Sequence[int],
    grid: Geometry,
    *,
    upper: int,
    classes: Sequence[str],
    penalty: str,
    proximal: bool = False,
) -> CapsuleMaps:
    """b of one class over a training: the map, its histogram, and the share of negatives and zeros step by step.

    coefficients: the snapshots; at: after how many training steps each was taken; penalty and proximal: the ascent of
    that training. Raises FigureError where the numbers
    do not fit each other.
    """
    if len(coefficients) != len(at):
        raise FigureError(f"The history has {len(coefficients)} snapshots and {len(at)} steps; read it again.")
    b = numbers(coefficients[:, :, upper])
    shares = [sparsity(snapshot) for snapshot in coefficients.float()]
    negative = [float((snapshot < 0).float().mean()) for snapshot in coefficients]
    total = at[-1]
    return CapsuleMaps(
        grid,
        (Map(f"b of class {classes[upper]}", "while the network was trained", "b", b, True),),
        tuple(f"step {step:,} of {total:,}" for step in at),
        tuple(float(step) for step in at),
        f"b of class {classes[upper]} over {total:,} training steps in {len(at)} snapshots: "
        f"{int((b[0] < 0).sum())} of {b.shape[1]} coefficients negative at first, {int((b[-1] < 0).sum())} at the end.",
        curves=(
            Curve(
                "Negative",
                {
                    f"class {classes[upper]}": (ORANGE, (b < 0).mean(axis=1).tolist()),
                    "all classes": (BLUE, negative),
                },
                percent=True,
            ),
            Curve(
                "Zero or nearly, all classes",
                {
                    "near": (BLUE, [share.near for share in shares]),
                    "exact": (ORANGE, [share.exact for share in shares]),
                },
                percent=True,
            ),
            Curve(f"Size of b, class {classes[upper]}", {"mean |b|": (GREEN, np.abs(b).mean(axis=1).tolist())}),
        ),
        histogram=True,
        classes=tuple(classes),
        upper=upper,
        lines=(
            NumberedLine("W ← W − η ∂L/∂W,  b fixed", {}),
            NumberedLine(ASCENDING[penalty].updates[proximal] + ",  W fixed", {"b = ": 1, "  →  ": 0}),
        ),
    )


def ascent_maps(record: Ascent, grid: Geometry, *, upper: int, classes: Sequence[str]) -> CapsuleMaps:
    """A recorded ascent: b of one class step by step, objective, class lengths, error and zeros over the steps."""
    b, name = numbers(record.coefficients[:, :, upper]), classes[upper]
    value, gradient = numbers(record.objective), _before(numbers(record.gradient[:, :, upper]))
    return CapsuleMaps(
        grid,
        (Map(f"b of class {name}", "the weights stand still, b climbs", "b", b, True),),
        tuple(f"step {step} of {record.steps}" for step in range(record.steps + 1)),
        tuple(float(step) for step in range(record.steps + 1)),
        f"{record.steps} step{'s' * (record.steps != 1)} of ascent: the mean length of the labels' class capsules goes "
        f"from {float(record.true_length[0]):.2f} to {float(record.true_length[-1]):.2f}, that of the others from "
        f"{float(record.other_length[0]):.2f} to {float(record.other_length[-1]):.2f}, the error on the batch from "
        f"{float(record.error[0]):.1%} to {float(record.error[-1]):.1%}.",
        curves=(
            Curve(
                "Objective O",
                {f"class {name}": (ORANGE, value[:, upper].tolist()), "mean": (BLUE, value.mean(axis=1).tolist())},
            ),
            Curve(
                "Class lengths ‖v‖",
                {
                    "label": (GREEN, record.true_length.tolist()),
                    "others": (PURPLE, record.other_length.tolist()),
                },
            ),
            Curve("Error on the batch", {"wrong": (ORANGE, record.error.tolist())}, percent=True),
            Curve(
                "Share of b",
                {
                    "negative": (BLUE, record.negative.tolist()),
                    "near zero": (PURPLE, record.near.tolist()),
                    "zero": (ORANGE, record.exact.tolist()),
                },
                percent=True,
            ),
        ),
        histogram=True,
        classes=tuple(classes),
        upper=upper,
        lines=(
            NumberedLine(_SUM, {"b = ": 1}),
            NumberedLine(
                "g<sub>ij</sub> = ⟨δ<sub>jk</sub> û<sub>ijk</sub>·s<sub>jk</sub>⟩<sub>k</sub>", {"g = ": gradient}
            ),
            NumberedLine(ASCENDING[record.penalty].updates[record.proximal], {"b = ": 1, "  →  ": 0}),
            NumberedLine(
                f"O<sub>j</sub> = ⟨δ<sub>jk</sub>‖s<sub>jk</sub>‖²⟩<sub>k</sub> − λ{ASCENDING[record.penalty].size}",
                {"O = ": value[:, upper]},
            ),
        ),
    )


def _before(values: Float[ndarray, "frame lower"]) -> Float[ndarray, "frame lower"]:
    """What each frame's round was given by the frame before; before the first there was none."""
    return np.concatenate([np.full_like(values[:1], np.nan), values[:-1]])
