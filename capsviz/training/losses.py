"""What a network is trained on: margin, spread and reconstruction losses; cross-entropy for the baseline."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

PRESENT_MARGIN = 0.9
ABSENT_MARGIN = 0.1
ABSENT_WEIGHT = 0.5
FINAL_SPREAD_MARGIN = 0.9
RECONSTRUCTION_WEIGHT = 0.0005


def margin_loss(lengths: Float[Tensor, "batch upper"], targets: Bool[Tensor, "batch upper"]) -> Float[Tensor, ""]:
    """Punish a present class whose capsule is shorter than 0.9 and an absent one longer than 0.1.

    Sum over classes, mean over the batch; absent classes count half. Any number of classes may be present.
    Source: seed 001, margin loss (Sabour, Frosst & Hinton 2017, eq. 4).
    """
    missing = (PRESENT_MARGIN - lengths).clamp(min=0).square()
    excess = (lengths - ABSENT_MARGIN).clamp(min=0).square()
    return torch.where(targets, missing, ABSENT_WEIGHT * excess).sum(dim=1).mean()


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


def classification_loss(
    routing: str,
    scores: Float[Tensor, "batch upper"],
    targets: Bool[Tensor, "batch upper"],
    spread_margin: float = FINAL_SPREAD_MARGIN,
) -> Float[Tensor, ""]:
    """The loss that a kind of network is trained on, reconstruction aside.

    Spread loss with the given margin for EM, cross-entropy for the CNN, margin loss for all others. scores: what the
    network's output calls so.
    """
    if routing == "em":
        return spread_loss(scores, targets, spread_margin)
    if routing == "cnn":
        return cross_entropy(scores, targets)
    return margin_loss(scores, targets)


def reconstruction_loss(
    reconstruction: Float[Tensor, "batch channel height width"], images: Float[Tensor, "batch channel height width"]
) -> Float[Tensor, ""]:
    """Squared error of the reconstruction: summed over the pixels of an image, averaged over the batch.

    Not yet weighted; the training adds RECONSTRUCTION_WEIGHT times this. Source: seed 001.
    """
    return (reconstruction - images).square().sum(dim=(1, 2, 3)).mean()
