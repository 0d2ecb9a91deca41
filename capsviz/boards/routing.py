"""An iterative routing as its board plays it: all iterations, line by line of the algorithm, one image, one class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from capsviz.analysis import metrics
from capsviz.boards.message import Message
from capsviz.boards.theme import theme
from capsviz.figures.describe import iterations
from capsviz.figures.errors import FigureError
from capsviz.figures.geometry import view_of
from capsviz.figures.picture import numbers
from capsviz.figures.plane import Plane, fit_plane
from capsviz.figures.reading import check, geometry, share_of, steps, votes
from capsviz.figures.theme import typical_reach, typical_reaches
from capsviz.network import CapsNet
from capsviz.routing.program import Program, Share
from capsviz.tracing.layout import step_axes
from capsviz.tracing.recorder import contains_shorter
from capsviz.tracing.trace import Trace

SEEN = 3
"""Axes of the space that the votes are looked at in: two on the page, a third to turn it by."""


def routing_message(
    trace: Trace,
    *,
    image: int = 0,
    upper: int,
    base: Trace | None = None,
    more: Mapping[str, ndarray] | None = None,
    dark: bool = False,
    common: Message | None = None,
) -> Message:
    """An iterative routing of one image to one class, with another run to hold it against.

    base: the untouched run where `trace` has an intervention; votes of both then lie in one space. more: what a trace
    does not hold (`Algorithm.drawn_weights`; EM: β_a as beta_a "upper", for the chart of the logistic). common:
    `of_all_classes` of the same, where several classes are asked for.

    Fields: lines, since, tips, symbol, share_names, bars and cloud say how the algorithm reads (`routing.program`).
    Arrays: image "channel height width"; presence a_i "lower"; gains "lower"; what each gives when it gives to all
    alike, even "lower"; for the chosen class votes "lower dim", their lengths vote_lengths "lower", poses (v or μ)
    "T dim", and both as seen along three axes: places "lower 3", heads "T 3", origin "3", and each tip "T 3"; lengths
    (‖v‖, or a under EM) "T upper"; shares "T lower upper"; of each number of each line, "line0.1", "T" or "T lower".
    Where votes have an agreement with what they made, agreement "T lower upper"; where upper capsules are Gaussians,
    covariances "T 3 3" and variances "T dim" of the chosen class, cost Σ_h cost_j^h "T upper", and temperature λ "T".
    base_shares and base_lengths: the same of the run that this one is held against.
    Where the network has one routed layer (`shorter`), the first iterations are a routing of so many, and a board can
    show any T up to that of the trace: `reaches` and `agreement_reaches` are the ends of its scales by T.
    Raises FigureError where the trace is of another routing, holds no votes, or lacks the image or the class.
    """
    common = common or of_all_classes(trace, image=image, base=base, dark=dark)
    trace, base = trace.at(-1), base and base.at(-1)
    for run in filter(None, (trace, base)):
        check(run, "board", image=image, upper=upper)
    cast = votes(trace, image, upper)
    plane = fit_plane(votes(base or trace, image, upper), _poses(base or trace, image)[:, upper], seen=SEEN)
    own = {"upper": upper, "explained": [float(share) for share in plane.explained]}
    arrays = {**common.arrays, **_arrays(trace, image, upper, plane, cast), **(more or {})}
    return Message({**common.fields, **own}, arrays)


def of_all_classes(trace: Trace, *, image: int = 0, base: Trace | None = None, dark: bool = False) -> Message:
    """What `routing_message` says whichever class is chosen, the largest of it of all pairs of capsules.

    Raises FigureError as it does.
    """
    trace, base = trace.at(-1), base and base.at(-1)
    check(trace, "board", image=image)
    gains, shares, held = trace.gains, _shares(trace, image), trace.layer
    even = _even(trace, shares[0])
    arrays = {
        "image": numbers(trace.images[image]),
        "presence": numbers(trace.primary_activations[image]),
        "gains": np.ones(shares.shape[1]) if gains is None else numbers(gains),
        "lengths": steps(trace, "activations", image),
        "shares": shares,
        "even": even,
    }
    if "agreement" in held:
        arrays["agreement"] = steps(trace, "agreement", image)
    if "variances" in held:
        arrays |= {"cost": steps(trace, "cost", image).sum(axis=-1)}
        arrays |= {"temperature": numbers(held["inverse_temperature"])}
    if base is not None:
        if base.config.routing != trace.config.routing:
            titles = f"the trace is of {trace.config.algorithm.title} and the base of {base.config.algorithm.title}"
            raise FigureError(f"A board holds two runs of one routing and {titles}; give a board to each.")
        check(base, "board", image=image)
        arrays |= {"base_shares": _shares(base, image), "base_lengths": steps(base, "activations", image)}
    # One scale for all iterations and all classes; both runs share it, so that they can be compared by eye.
    compared = shares if base is None else _shares(base, image)
    reaches = {"reaches": [share_reach(each, even) for each in compared]}
    if "agreement" in arrays:
        agreed = arrays["agreement"] if base is None else steps(base, "agreement", image)
        far = typical_reaches(agreed.swapaxes(1, 2)).max(axis=1)
        reaches["agreement_reaches"] = [float(most) or 1.0 for most in far]
    return Message(_fields(trace, dark, arrays) | reaches, arrays)


def drawn_weights(model: CapsNet, upper: int, layer: int = -1, position: int = 0) -> dict[str, ndarray]:
    """What a board draws and a trace does not hold, of the `upper` capsules at a position of a routed layer.

    position: row · columns + column in the layer's upper grid; layer: from 0, or from the end. For `routing_message`.
    """
    here, number = slice(position * upper, (position + 1) * upper), range(model.config.depth)[layer]
    found = model.config.algorithm.drawn_weights(model.owner(number), here)
    return {name: value.detach().cpu().numpy() for name, value in found.items()}


def describe_routing(trace: Trace, *, image: int = 0, upper: int) -> str:
    """What a board shows of an iterative routing, in one sentence with its numbers, for those who do not see it.

    Raises FigureError as `routing_message` does.
    """
    return describing(trace, image=image)(upper)


def describing(trace: Trace, *, image: int = 0) -> Callable[[int], str]:
    """`describe_routing` of whichever class, of all of which what is the same is counted once; raises as it does."""
    check(trace, "board", image=image)
    shares, strengths, algorithm = _shares(trace, image), steps(trace, "activations", image), trace.config.algorithm
    symbol, heading, spreading = share_of(trace).symbol, _heading(trace, shares), ""
    largest, strongest = shares.max(axis=(1, 2)), trace.called(int(strengths[-1].argmax()))
    if trace.kind == "class":  # in a convolutional layer, capsules at other positions have their shares as well
        entropy = 100 * metrics.coupling_entropy(torch.from_numpy(shares)).mean(dim=1)
        spreading = f", their mean entropy from {entropy[0]:.2f} to {entropy[-1]:.2f} % of its maximum"

    def described(upper: int) -> str:
        check(trace, "board", image=image, upper=upper)
        name, gaussian = trace.called(upper), ""
        if "variances" in trace.layer:
            spread = np.sqrt(steps(trace, "variances", image)[:, upper]).mean(axis=-1)
            gaussian = f"the Gaussian of {name} goes from a mean σ of {spread[0]:.3f} to {spread[-1]:.3f}; "
        return (
            f"{heading} in {iterations(len(largest))}: "
            f"the largest {symbol} goes from {largest[0]:.2f} to {largest[-1]:.2f}{spreading}; {gaussian}the "
            f"{algorithm.strength.word} of {name} goes from {strengths[0, upper]:.2f} to {strengths[-1, upper]:.2f}; "
            f"strongest is {strongest}."
        )

    return described


def _heading(trace: Trace, shares: Float[ndarray, "T lower upper"]) -> str:
    return f"{trace.config.algorithm.title} of {shares.shape[1]} capsules to {shares.shape[2]}"


def share_reach(shares: Float[ndarray, "lower upper"], even: Float[ndarray, " lower"]) -> float:
    """How far shares get from the even ones, single ones apart; at least a hundredth."""
    return max(0.01, typical_reach(shares - even[:, None], share=0.995, flat=0.01))


def _even(trace: Trace, first: Float[ndarray, "lower upper"]) -> Float[ndarray, " lower"]:
    """1/J; in a convolutional layer less, as a capsule shares with upper ones at other positions as well.

    There it is the mean of what a capsule gives first, as no iteration has parted one position from another yet.
    """
    return first.mean(axis=-1) if trace.kind == "type" else np.full(len(first), 1 / first.shape[-1], first.dtype)


def _poses(trace: Trace, image: int) -> ndarray:
    """Where the upper capsules stand in every iteration, "T upper dim"."""
    return numbers(trace.layer.poses[:, image])


def _fields(trace: Trace, dark: bool, arrays: dict[str, ndarray]) -> dict[str, Any]:
    algorithm, grid = trace.config.algorithm, geometry(trace)
    share, strength, program = share_of(trace), algorithm.strength, _program(trace)
    colour = "û·v" if "agreement" in arrays else f"{share.symbol} a"
    first = arrays["shares"][0]
    begins_even = bool(np.abs(first - 1 / first.shape[-1]).max() < 1e-6)  # a routing of others may not
    return {
        "called": _heading(trace, arrays["shares"]),
        "lines": [
            {
                "math": line.math,
                "says": line.says,
                "says_first": line.first.format(upper=len(trace.classes)) if line.first and begins_even else None,
                "says_last": line.last.format(upper=len(trace.classes)) or None,
                "numbers": [
                    {"text": number.text, "decimals": number.decimals, "following": number.following}
                    for number in line.numbers
                ],
            }
            for line in program.lines
        ],
        "since": dict(program.since),
        "tips": [
            {"name": tip.name, "array": f"tip{number}", "since": tip.since} for number, tip in enumerate(program.tips)
        ],
        "symbol": share.symbol,
        "share_names": [_called(share, step) for step in range(1, trace.layer.iterations + 1)],
        "bars": {
            "titles": [f"{strength.title} of each {trace.kind}", strength.title],
            "whole": strength.whole,
        },
        "cloud": {
            "note": f"area = {share.symbol}, colour = {colour}",
            "point": program.area,
            "far": program.far,
            "fenced": program.fenced,
        },
        "classes": list(trace.classes),
        "kind": trace.kind,
        "iterations": trace.layer.iterations,
        "shorter": contains_shorter(trace.config),
        "grid": [grid.rows, grid.columns, grid.types],
        "image_shape": list(trace.config.image),
        # Drawn where the capsules below are the primary ones, and a trace of others' steps says what they see.
        "field": None if trace.config.capsule_layers or not trace.config.view(0).stride else view_of(trace.config),
        "theme": theme(dark, len(trace.classes)),
    }


def _program(trace: Trace) -> Program:
    program = trace.config.algorithm.program
    assert program is not None, "what has a board has lines"
    return program


def _called(share: Share, step: int) -> str:
    """The shares of an iteration by name; where they are of a part of it, with its number."""
    return share.name if share.of == Share.of else f"{share.name} of {share.of} {step}"


def _arrays(trace: Trace, image: int, upper: int, plane: Plane, cast: ndarray) -> dict[str, ndarray]:
    poses = _poses(trace, image)[:, upper]
    arrays = {
        "votes": cast,
        "vote_lengths": np.linalg.norm(cast, axis=1),
        "places": plane.project(cast),
        "origin": plane.project(np.zeros(cast.shape[1])),
        "poses": poses,
        "heads": plane.project(poses),
    }
    if "variances" in trace.layer:
        variances = steps(trace, "variances", image)[:, upper]
        arrays |= {"variances": variances, "covariances": plane.covariance(variances)}
    program, reading = _program(trace), _reading(trace, image, upper)
    for number, tip in enumerate(program.tips):
        arrays[f"tip{number}"] = plane.project(steps(trace, tip.field, image)[:, upper])
    for place, line in enumerate(program.lines):
        arrays |= {f"line{place}.{k}": numbers(number.of(reading)) for k, number in enumerate(line.numbers)}
    return arrays


def _reading(trace: Trace, image: int, upper: int) -> dict[str, Tensor]:
    """What the lines of an algorithm read: its steps for one image and one upper capsule (`routing.program`)."""
    held, pairs = trace.layer, trace.config.algorithm.pairs
    assert held.votes is not None
    found = {
        "presence": trace.primary_activations[image],
        "vote_lengths": held.votes[image, :, upper].norm(dim=-1),
    }
    axes = step_axes(trace.config.algorithm.step)
    for name, whole in held.items():
        value = whole[:, image] if "batch" in axes[name] else whole
        found[name] = value if value.ndim == 1 else value[..., upper] if name in pairs else value[:, upper]
    return found


def _shares(trace: Trace, image: int) -> ndarray:
    """What each lower capsule gives to each upper one, "T lower upper"; under EM the R that each M-step used."""
    return steps(trace, share_of(trace).field, image)
