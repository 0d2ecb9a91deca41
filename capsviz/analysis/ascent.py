"""The ascent of b, alone: a trained L2 or L1 network, its weights and primary capsules fixed, b free to climb.

model = capsviz.load("digits-l2")
train = capsviz.data.load("digits", "train")
fixed = fix(model, capsviz.data.to_float(train.images[:128]), train.labels[:128])
record = climb(fixed, model.coefficients, step=0.005, regularisation=1e-3, penalty="l2", steps=60)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from jaxtyping import Float, Int, Num
from torch import Tensor

from capsviz import device
from capsviz.analysis.metrics import label_signs
from capsviz.errors import CapsvizError
from capsviz.network import CapsNet
from capsviz.routing import ASCENDING, LinearVotes, discriminative_routing
from capsviz.routing.discriminative import ascent_gradient, initial_coefficients, sparsity
from capsviz.tensors import written
from capsviz.tracing.pixels import inputs

AT_ONCE = 32
"""Images that a CPU encodes at a time: an encoder's own room is a multiple of what it leaves."""

Start = Literal["trained", "fresh"]


class AscentError(CapsvizError):
    """An ascent that cannot be run."""


@dataclass(frozen=True)
class FixedVotes:
    """What stays as it is while b climbs, on the model's device: a batch's primary capsules, weights, labels' signs.

    Shapes: poses u "batch lower d"; weight W "lower d upper dim"; signs δ "batch upper", +1 at the label.
    """

    poses: Float[Tensor, "batch lower d"]
    weight: Float[Tensor, "lower d upper dim"]
    signs: Float[Tensor, "batch upper"]

    @property
    def device(self) -> torch.device:
        """Where b climbs."""
        return self.poses.device

    def to(self, place: torch.device) -> FixedVotes:
        """The same on another device."""
        return FixedVotes(self.poses.to(place), self.weight.to(place), self.signs.to(place))


@dataclass(frozen=True)
class AscentStep:
    """Where b stands after `step` ascent steps, and what it does to the batch from there.

    Shapes: coefficients b "lower upper"; gradient g "lower upper", averaged over the batch, by which the next step
    climbs; objective O_j "upper", its data term averaged likewise. exact, near, negative: shares 0..1 of all
    coefficients that are zero, within a thousandth of the largest, and below zero. true_length, other_length: mean ‖v‖
    of the labels' class capsules and of all others. error: share of the images whose longest capsule is not the
    label's.
    """

    step: int
    coefficients: Float[Tensor, "lower upper"]
    gradient: Float[Tensor, "lower upper"]
    objective: Float[Tensor, "upper"]
    exact: float
    near: float
    negative: float
    true_length: float
    other_length: float
    error: float


@dataclass(frozen=True)
class Ascent:
    """A recorded ascent: the fields of `AscentStep` stacked, the start first, so that 60 steps are 61 records.

    penalty and proximal: how b was held back.
    """

    penalty: str
    proximal: bool
    coefficients: Float[Tensor, "record lower upper"]
    gradient: Float[Tensor, "record lower upper"]
    objective: Float[Tensor, "record upper"]
    exact: Float[Tensor, "record"]
    near: Float[Tensor, "record"]
    negative: Float[Tensor, "record"]
    true_length: Float[Tensor, "record"]
    other_length: Float[Tensor, "record"]
    error: Float[Tensor, "record"]

    @property
    def steps(self) -> int:
        """How many steps b took."""
        return len(self.coefficients) - 1


@device.or_cpu
def fix(model: CapsNet, images: Num[Tensor, "batch channel height width"], labels: Int[Tensor, "batch"]) -> FixedVotes:
    """Fix the primary capsules of labelled images, images in 0..1 or bytes, and the weights of an L2 or L1 network.

    Raises AscentError for a network without coefficients, for images of another size, for labels that do not fit,
    PixelsError and ModeError as `capsviz.trace`.
    """
    _of_coefficients(model)
    labels = torch.as_tensor(labels)
    if tuple(images.shape[1:]) != tuple(model.config.image):
        given, wanted = map(written, (images.shape[1:], model.config.image))
        raise AscentError(f"The images are {given} and the model takes {wanted}; bring them into that form.")
    if labels.ndim != 1 or labels.is_floating_point():
        raise AscentError("Labels are one whole number for each image; give the class of each.")
    if len(images) != len(labels) or not len(images):
        raise AscentError(f"{len(images)} images came with {len(labels)} labels; give one label for each, and some.")
    if not 0 <= int(labels.min()) <= int(labels.max()) < model.config.classes:
        raise AscentError(f"A label is outside 0 to {model.config.classes - 1}; give labels of the model's classes.")
    with torch.no_grad():
        pixels = inputs(images, model)
        parts = device.parts(model, len(pixels), AT_ONCE, lambda part: model.encode(pixels[part]).poses)
        poses = torch.cat(list(parts))
        return FixedVotes(poses, model.weight.detach(), label_signs(labels, model.config.classes).to(poses.device))


def starting_point(model: CapsNet, start: Start, seed: int = 0) -> Float[Tensor, "lower upper"]:
    """b to begin with: as the model was trained, or fresh, 0.1 + N(0, 0.01²) drawn by the seed, as a training begins.

    Raises AscentError for a network without coefficients and for another start.
    """
    _of_coefficients(model)
    if start not in get_args(Start):
        raise AscentError(f"b starts “trained” or “fresh”; got “{start}”.")
    if start == "trained":
        return device.results(model.get_buffer("coefficients")).clone()
    generator = torch.Generator().manual_seed(seed)
    return initial_coefficients(model.config.lower, model.config.classes, generator=generator)


def ascent(
    fixed: FixedVotes,
    start: Float[Tensor, "lower upper"],
    *,
    step: float,
    regularisation: float,
    penalty: str,
    proximal: bool = False,
    steps: int = 60,
) -> Iterator[AscentStep]:
    """Climb with b, the weights fixed, and yield the start and every step (Yang et al. 2021, Algorithm 1 with n_b = 0).

    step γ, regularisation λ, penalty (an algorithm's name) and proximal: as `routing.Ascending.ascend`; g is
    averaged over the batch, as in training, so that γ and λ mean there what they mean here. Raises AscentError for a
    choice that no ascent can be run with, and where b leaves what float32 can hold: for a fixed batch the objective has
    no upper bound.
    """
    _check(fixed, start, step, regularisation, penalty, proximal, steps)
    algorithm = ASCENDING[penalty]
    votes, count = LinearVotes(fixed.poses, fixed.weight), len(fixed.poses)
    coefficients = start.to(fixed.weight)
    for number in range(steps + 1):
        with torch.inference_mode():  # not while the caller has a step in hand
            routed = next(discriminative_routing(votes, coefficients))
            if not bool(routed.sums.square().sum().isfinite()):
                raise AscentError(f"b has outgrown the numbers of float32 in step {number}; choose a smaller γ.")
            # λ counts once for every image of the batch, so that the mean is taken of the data term alone.
            value = algorithm.objective(routed.sums, fixed.signs, coefficients, regularisation * count) / count
            gradient = ascent_gradient(fixed.poses, fixed.weight, routed.sums, fixed.signs) / count
            taken = _measured(number, coefficients, gradient, value, routed.activations, fixed.signs)
            coefficients = algorithm.ascend(
                coefficients, gradient, step=step, regularisation=regularisation, proximal=proximal
            )
        yield taken


@device.or_cpu
def climb(
    fixed: FixedVotes, start: Float[Tensor, "lower upper"], *, penalty: str, proximal: bool = False, **more: Any
) -> Ascent:
    """Run `ascent` to its end and record it; same choices, same errors."""
    records = list(ascent(fixed, start, penalty=penalty, proximal=proximal, **more))
    fields = [name for name in AscentStep.__dataclass_fields__ if name != "step"]
    stacked = {name: torch.stack([torch.as_tensor(getattr(one, name)) for one in records]) for name in fields}
    return Ascent(penalty=penalty, proximal=proximal, **stacked)


def _measured(
    number: int, coefficients: Tensor, gradient: Tensor, value: Tensor, activations: Tensor, signs: Tensor
) -> AscentStep:
    share, present = sparsity(coefficients), signs > 0
    wrong = ~present.gather(1, activations.argmax(1, keepdim=True)).squeeze(1)
    return AscentStep(
        step=number,
        coefficients=device.results(coefficients),
        gradient=device.results(gradient),
        objective=device.results(value),
        exact=share.exact,
        near=share.near,
        negative=float((coefficients < 0).float().mean()),
        true_length=float(activations[present].mean()),
        other_length=float(activations[~present].mean()),
        error=float(wrong.float().mean()),
    )


def _of_coefficients(model: CapsNet) -> None:
    if not isinstance(model, CapsNet) or not model.config.algorithm.ascends:
        able = " or ".join(algorithm.title for algorithm in ASCENDING.values())
        of = f"A model of {model.config.algorithm.title}" if isinstance(model, CapsNet) else "What was given"
        raise AscentError(f"{of} has no coefficients b; choose one of {able}.")


def _check(
    fixed: FixedVotes, start: Tensor, step: float, regularisation: float, penalty: str, proximal: bool, steps: int
) -> None:
    _, lower, upper, _ = LinearVotes(fixed.poses, fixed.weight).shape
    if tuple(start.shape) != (lower, upper):
        shape = written(start.shape)
        raise AscentError(f"b is {shape} and the layer {lower} × {upper}; start from b of the same model.")
    if not (math.isfinite(step) and step > 0):
        raise AscentError(f"γ is {step:g}; give a number above 0.")
    if not (math.isfinite(regularisation) and regularisation >= 0):
        raise AscentError(f"λ is {regularisation:g}; give 0 or a number above it.")
    if penalty not in ASCENDING:
        raise AscentError(f"The penalty is {' or '.join(ASCENDING)}; got “{penalty}”.")
    if proximal and not ASCENDING[penalty].proximal:
        able = " or ".join(algorithm.title for algorithm in ASCENDING.values() if algorithm.proximal)
        raise AscentError(f"The proximal step belongs to the {able} penalty; choose {able} for it.")
    if steps < 1:
        raise AscentError(f"An ascent of {steps} steps goes nowhere; give at least 1.")
