"""Expectation-maximisation for a mixture of Gaussians with diagonal covariances.

Source: *Encapsulating Capsule Networks*, eq. 12-19.

EM routing is this, with one set of observations per upper capsule: capsule j explains the votes cast for j.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor

from . import vote_sums

EMPTY = 1e-6
"""Data, in lower capsules, below which a Gaussian counts as empty: dividing by less makes gradients overflow."""


def weighted_moments(
    values: Float[Tensor, "batch upper lower dim"],
    weights: Float[Tensor, "batch upper lower"],
    *,
    variance_floor: float,
) -> tuple[Float[Tensor, "batch upper dim"], Float[Tensor, "batch upper dim"], Float[Tensor, "batch upper"]]:
    """The M-step's mean, variance and amount of data of each Gaussian.

    Source: *Encapsulating Capsule Networks*, eq. 16 and 22.

    values: what each Gaussian observes, "batch upper lower dim"; weights: how much of it, "batch upper lower".
    Returns means and variances "batch upper dim" (variances never below variance_floor) and the summed weights
    "batch upper". A Gaussian that receives less than `EMPTY` has its mean drawn towards 0 by that
    share; one that receives nothing has mean 0 and the floor.
    """
    amount = weights.sum(-1)
    share = weights / amount.clamp_min(EMPTY).unsqueeze(-1)
    means, variances = vote_sums.moments(values, share)
    return means, variances.clamp_min(variance_floor), amount


def log_density(
    values: Float[Tensor, "batch upper lower dim"],
    means: Float[Tensor, "batch upper dim"],
    variances: Float[Tensor, "batch upper dim"],
) -> Float[Tensor, "batch upper lower"]:
    """log N(value; μ, σ²) of every observation under its Gaussian.

    Source: *Encapsulating Capsule Networks*, eq. 23 and 28, in logarithms.

    Shapes: values "batch upper lower dim", means and variances "batch upper dim", returns "batch upper lower".
    """
    distance = vote_sums.distances(values, means, variances.reciprocal())
    log_volume = variances.log().sum(-1) + variances.shape[-1] * math.log(2 * math.pi)
    return -0.5 * (distance + log_volume.unsqueeze(-1))


def _over_all(logits: Float[Tensor, "batch upper lower"]) -> Float[Tensor, "batch upper lower"]:
    return logits.softmax(dim=1)


def responsibilities(
    log_densities: Float[Tensor, "batch upper lower"],
    log_priors: Float[Tensor, "batch upper"],
    softmax: Callable[[Tensor], Tensor] = _over_all,
) -> Float[Tensor, "batch upper lower"]:
    """The E-step: how much of each observation each Gaussian owns, normalised over the Gaussians by log-sum-exp
    (*Encapsulating Capsule Networks*, eq. 14, 18 and 29).

    Shapes: log_densities "batch upper lower", log_priors "batch upper", returns "batch upper lower". softmax: over
    the Gaussians that compete for an observation, where those are not all that stand in its column.
    """
    return softmax(log_densities + log_priors.unsqueeze(-1))
