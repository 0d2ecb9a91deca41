"""Losses on what a network says of the classes: margin and spread loss, cross-entropy."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

PRESENT_MARGIN = 0.9
ABSENT_MARGIN = 0.1
ABSENT_WEIGHT = 0.5


def margin_losses(
    lengths: Float[Tensor, "batch upper"],
    targets: Bool[Tensor, "batch upper"],
    *,
    present: float = PRESENT_MARGIN,
    absent: float = ABSENT_MARGIN,
    weight: float = ABSENT_WEIGHT,
) -> Float[Tensor, "batch upper"]:
    """The margin loss of each class: that of a present one shorter than m⁺, or of an absent one longer than m⁻.

    present: m⁺; absent: m⁻; weight: what an absent class counts. Source: Sabour, Frosst & Hinton 2017, eq. 4.
    """
    missing = (present - lengths).clamp(min=0).square()
    excess = (lengths - absent).clamp(min=0).square()
    return torch.where(targets, missing, weight * excess)


def margin_loss(lengths: Float[Tensor, "batch upper"], targets: Bool[Tensor, "batch upper"]) -> Float[Tensor, ""]:
    """Punish a present class whose capsule is shorter than 0.9 and an absent one longer than 0.1.

    The sum of `margin_losses` over classes, mean over the batch. Any number of classes may be present.
    """
    return margin_losses(lengths, targets).sum(dim=1).mean()


def spread_loss(
    activations: Float[Tensor, "batch upper"], targets: Bool[Tensor, "batch upper"], margin: float
) -> Float[Tensor, ""]:
    """Punish every absent class whose activation comes within `margin` of a present one.

    Sum over pairs (present class t, absent class i) of max(0, margin - (a_t - a_i))², mean over the batch.
    Source: Hinton, Sabour & Frosst 2018, eq. 3.
    """
    gaps = activations.unsqueeze(2) - activations.unsqueeze(1)  # batch, present, absent
    pairs = targets.unsqueeze(2) & ~targets.unsqueeze(1)
    violations = (margin - gaps).clamp(min=0).square()
    return (violations * pairs).sum(dim=(1, 2)).mean()


def cross_entropy(logits: Float[Tensor, "batch upper"], targets: Bool[Tensor, "batch upper"]) -> Float[Tensor, ""]:
    """Punish probability, by softmax over the classes, that does not lie on the present classes in equal parts.

    Mean over the batch. Where several classes are present each should get its equal share of the probability.
    """
    shares = targets / targets.sum(dim=1, keepdim=True)
    return -(shares * logits.log_softmax(dim=1)).sum(dim=1).mean()
