"""Class capsules moved and drawn again: one number at a time (Sabour, Frosst & Hinton 2017, Figure 4), or on a walk."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from capsviz import device
from capsviz.errors import CapsvizError
from capsviz.network.capsnet import CapsNet
from capsviz.tensors import written

OFFSETS: tuple[float, ...] = tuple(round(step * 0.05 - 0.25, 2) for step in range(11))
"""Offsets of the paper's figure: −0.25 to 0.25 in steps of 0.05."""


PARALLEL = 1e-6
"""Sine of an angle at which two capsules no longer span a great circle."""
NO_DECODER = "This model was trained without a decoder; choose one whose name does not end in -fc."


class PerturbError(CapsvizError):
    """The capsule cannot be moved or drawn as asked."""


def unit(capsules: Float[Tensor, "*batch dim"]) -> float:
    """What an offset of 1 adds to a number of capsules like these: 1, or for long capsules about their length.

    Capsules that are squashed stay shorter than 1. The poses of matrix capsules are as long as training left them,
    hundreds perhaps: for them it is the power of two next to their mean length, so that an offset of 0.25 is as much a
    change there as it is in the paper, and dividing by it loses nothing.
    """
    length = float(torch.linalg.vector_norm(capsules, dim=-1).mean())
    return 2.0 ** round(math.log2(max(1.0, length)))


def perturb(pose: Float[Tensor, "*batch dim"], dimension: int, offset: float) -> Float[Tensor, "*batch dim"]:
    """The pose with `offset` added to one dimension.

    Raises PerturbError where the pose has no such dimension.
    """
    if not 0 <= dimension < pose.shape[-1]:
        raise PerturbError(f"The capsule has no dimension {dimension}; choose one from 0 to {pose.shape[-1] - 1}.")
    moved = pose.clone()
    moved[..., dimension] += offset
    return moved


@device.or_cpu
@torch.no_grad()
def draw(model: CapsNet, poses: Float[Tensor, "batch dim"], label: int) -> Float[Tensor, "batch channel height width"]:
    """Images that the model's decoder draws when class `label` has these poses and every other capsule is zero.

    Raises PerturbError where the model was trained without a decoder, has no such class or other capsules.
    """
    if not isinstance(model, CapsNet) or not model.config.decoder:
        raise PerturbError(NO_DECODER)
    if not 0 <= label < model.config.classes:
        raise PerturbError(f"The model has no class {label}; choose one from 0 to {model.config.classes - 1}.")
    if poses.ndim != 2 or poses.shape[1] != model.config.class_dim:
        raise PerturbError(f"Poses of {written(poses.shape)} are none of capsules of {model.config.class_dim} numbers.")
    capsules = masked(poses.to(next(model.parameters())), label, model.config.classes)
    return device.results(model.decode(capsules, torch.full((len(poses),), label, device=capsules.device)))


def masked(poses: Float[Tensor, "batch dim"], label: int, classes: int) -> Float[Tensor, "batch upper dim"]:
    """What the decoder sees of a class capsule: these poses at class `label`, zero at every other class."""
    capsules = poses.new_zeros(poses.shape[0], classes, poses.shape[1])
    capsules[:, label] = poses
    return capsules


def lerp(start: Float[Tensor, "*shape"], end: Float[Tensor, "*shape"], share: float) -> Float[Tensor, "*shape"]:
    """The point of the straight line from `start` (share 0) to `end` (share 1): (1 − t) start + t end.

    Between two capsules of about the same length it cuts the corner: halfway the length falls to cos(Ω/2) of theirs,
    Ω being the angle between them, and a short capsule stands for something less probable.
    """
    return (1 - share) * start + share * end


def slerp(start: Float[Tensor, "*shape"], end: Float[Tensor, "*shape"], share: float) -> Float[Tensor, "*shape"]:
    """The point of the great circle from `start` to `end`, all axes taken as one vector: direction and length apart.

    The direction turns evenly, sin((1 − t)Ω)/sin Ω of the one and sin(tΩ)/sin Ω of the other (Shoemake, Animating
    Rotation with Quaternion Curves, 1985); the length goes evenly from that of `start` to that of `end`. Where no great
    circle is given by the two (one is zero, they are parallel or opposite) it is `lerp`.
    """
    lengths = [float(torch.linalg.vector_norm(vector)) for vector in (start, end)]
    if min(lengths) == 0:
        return lerp(start, end, share)
    first, last = start / lengths[0], end / lengths[1]
    cosine = max(-1.0, min(1.0, float((first * last).sum())))
    angle = math.acos(cosine)
    if math.sin(angle) < PARALLEL:
        return lerp(start, end, share)
    direction = (math.sin((1 - share) * angle) * first + math.sin(share * angle) * last) / math.sin(angle)
    return direction * ((1 - share) * lengths[0] + share * lengths[1])


def sheet(
    model: CapsNet, pose: Float[Tensor, " dim"], label: int, offsets: Sequence[float] = OFFSETS
) -> Float[Tensor, "dim offset channel height width"]:
    """One row of images per dimension of the capsule, one column per offset: Figure 4 of Sabour et al.

    offsets: as they are added; the paper's, which are meant for squashed capsules, times `unit` for longer ones.
    Raises PerturbError as `draw` does, and without an offset.
    """
    if not len(offsets):
        raise PerturbError("There is no offset to move a dimension by; give some.")
    moved = torch.stack([perturb(pose, dimension, offset) for dimension in range(len(pose)) for offset in offsets])
    images = draw(model, moved, label)
    return images.reshape(len(pose), len(offsets), *images.shape[1:])
