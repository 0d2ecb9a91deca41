"""What one number of a class capsule means: move it, and decode again (Sabour, Frosst & Hinton 2017, Figure 4)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from capsviz.errors import CapsvizError
from capsviz.network.capsnet import CapsNet

OFFSETS: tuple[float, ...] = tuple(round(step * 0.05 - 0.25, 2) for step in range(11))
"""Offsets of the paper's figure: −0.25 to 0.25 in steps of 0.05."""


class PerturbError(CapsvizError):
    """The capsule cannot be moved or drawn as asked."""


def perturb(pose: Float[Tensor, "*batch dim"], dimension: int, offset: float) -> Float[Tensor, "*batch dim"]:
    """The pose with `offset` added to one dimension.

    Raises PerturbError where the pose has no such dimension.
    """
    if not 0 <= dimension < pose.shape[-1]:
        raise PerturbError(f"The capsule has no dimension {dimension}; choose one from 0 to {pose.shape[-1] - 1}.")
    moved = pose.clone()
    moved[..., dimension] += offset
    return moved


def shift(pose: Float[Tensor, " dim"], offsets: Sequence[float]) -> Float[Tensor, " dim"]:
    """The pose with an offset added to each of its dimensions.

    Raises PerturbError unless there is one offset per dimension.
    """
    if len(offsets) != pose.shape[-1]:
        raise PerturbError(f"The capsule has {pose.shape[-1]} dimensions; give as many offsets, not {len(offsets)}.")
    return pose + torch.tensor(offsets, dtype=pose.dtype, device=pose.device)


@torch.inference_mode()
def draw(model: CapsNet, poses: Float[Tensor, "batch dim"], label: int) -> Float[Tensor, "batch channel height width"]:
    """Images that the model's decoder draws when class `label` has these poses and every other capsule is zero.

    Raises PerturbError where the model was trained without a decoder or has no such class.
    """
    if not model.config.decoder:
        raise PerturbError("This model was trained without a decoder; choose one whose name does not end in -fc.")
    if not 0 <= label < model.config.classes:
        raise PerturbError(f"The model has no class {label}; choose one from 0 to {model.config.classes - 1}.")
    capsules = poses.new_zeros(poses.shape[0], model.config.classes, poses.shape[1])
    capsules[:, label] = poses
    return model.decode(capsules, torch.full((poses.shape[0],), label, dtype=torch.long, device=poses.device))


def sheet(
    model: CapsNet, pose: Float[Tensor, " dim"], label: int, offsets: Sequence[float] = OFFSETS
) -> Float[Tensor, "dim offset channel height width"]:
    """One row of images per dimension of the capsule, one column per offset: Figure 4 of Sabour et al.

    Raises PerturbError as `draw` does.
    """
    moved = torch.stack([perturb(pose, dimension, offset) for dimension in range(len(pose)) for offset in offsets])
    images = draw(model, moved, label)
    return images.reshape(len(pose), len(offsets), *images.shape[1:])
