"""A mixture of Gaussians fitted to points by expectation-maximisation, half step by half step.

Source: *Encapsulating Capsule Networks*, eq. 12-19.
"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, get_args

import torch
from jaxtyping import Float
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from torch import Tensor
from torch.distributions import MultivariateNormal

from capsviz.errors import CapsvizError

Covariance = Literal["full", "diag"]
FLOOR = 1e-4
"""What is added to every variance, the square of the points' precision of 0.01: no Gaussian is narrower than that."""
NOTHING = 10 * torch.finfo(torch.float64).eps
"""Added, as scikit-learn does, to the points that a Gaussian owns: one that owns none is divided by something."""
_RADIUS, _DEVIATION = 0.5, 0.4
"""Of the circle on which Gaussians start, and of each of them."""


class MixtureError(CapsvizError):
    """A mixture that cannot be fitted."""


@dataclass(frozen=True)
class Gaussians:
    """Shapes: weights π "gaussian", means μ "gaussian dim", covariances Σ "gaussian dim dim"."""

    weights: Float[Tensor, " gaussian"]
    means: Float[Tensor, "gaussian dim"]
    covariances: Float[Tensor, "gaussian dim dim"]


@dataclass(frozen=True)
class HalfStep:
    """What is known after a half step; the first one is the start, without responsibilities.

    Shapes: responsibilities r "point gaussian". log_likelihood: Σ_i log Σ_k π_k N(x_i; μ_k, Σ_k). bound: what EM raises
    in either half step, Σ_ik r_ik log(π_k N(x_i; μ_k, Σ_k) / r_ik): an E-step lifts it to the log-likelihood.
    """

    gaussians: Gaussians
    responsibilities: Float[Tensor, "point gaussian"] | None
    log_likelihood: float
    bound: float | None


def begin(gaussians: int, turn: int = 0) -> Gaussians:
    """Where EM starts: equal round Gaussians, evenly on a circle about the origin, whatever the points are.

    turn: how often the circle is turned by the golden angle, from a start with a mean to the right of the origin.
    """
    angles = torch.arange(gaussians, dtype=torch.float64) * (2 * math.pi / gaussians)
    angles += turn * math.pi * (3 - math.sqrt(5))
    means = _RADIUS * torch.stack([angles.cos(), angles.sin()], dim=-1)
    covariances = (_DEVIATION**2 * torch.eye(2, dtype=torch.float64)).expand(gaussians, 2, 2)
    return Gaussians(torch.full((gaussians,), 1 / gaussians, dtype=torch.float64), means, covariances)


def joint(points: Float[Tensor, "point dim"], of: Gaussians) -> Float[Tensor, "point gaussian"]:
    """log π_k N(x_i; μ_k, Σ_k)."""
    return of.weights.log() + MultivariateNormal(of.means, of.covariances).log_prob(points.unsqueeze(1))


def expectation(points: Float[Tensor, "point dim"], of: Gaussians) -> Float[Tensor, "point gaussian"]:
    """The E-step: how much of each point each Gaussian owns (eq. 14 and 18)."""
    return joint(points, of).softmax(-1)


def maximisation(
    points: Float[Tensor, "point dim"],
    owned: Float[Tensor, "point gaussian"],
    covariance: Covariance = "full",
    *,
    floor: float = FLOOR,
) -> Gaussians:
    """The M-step: every Gaussian is fitted to the points as far as it owns them (eq. 17 and 19).

    covariance: "full", or "diag", whose axes stay those of the plane. floor: added to every variance. Raises
    MixtureError for another one.
    """
    if covariance not in get_args(Covariance):
        raise MixtureError(f"There is no covariance {covariance!r}; choose one of {', '.join(get_args(Covariance))}.")
    amount, points = owned.sum(0) + NOTHING, points.to(owned.dtype)
    means = owned.T @ points / amount.unsqueeze(-1)
    offsets = points - means.unsqueeze(1)
    covariances = (owned.T.unsqueeze(-1) * offsets).mT @ offsets / amount[:, None, None]
    if covariance == "diag":
        covariances = covariances.diagonal(dim1=-2, dim2=-1).diag_embed()
    return Gaussians(amount / amount.sum(), means, covariances + floor * torch.eye(points.shape[1], dtype=points.dtype))


def half_steps(
    points: Float[Tensor, "point dim"],
    start: Gaussians,
    covariance: Covariance = "full",
    *,
    floor: float = FLOOR,
) -> Iterator[HalfStep]:
    """The start, then an E-step, an M-step, an E-step, … without end.

    Without a floor the log-likelihood never falls (Dempster, Laird & Rubin 1977); a floor may cost an M-step at most
    `floor_cost`.
    """
    now, owned = start, None
    yield _half_step(points, now, owned)
    while True:
        owned = expectation(points, now)
        yield _half_step(points, now, owned)
        now = maximisation(points, owned, covariance, floor=floor)
        yield _half_step(points, now, owned)


def _half_step(points: Tensor, of: Gaussians, owned: Tensor | None) -> HalfStep:
    joined = joint(points, of)
    bound = None if owned is None else float((owned * joined).sum() - torch.special.xlogy(owned, owned).sum())
    return HalfStep(of, owned, float(joined.logsumexp(-1).sum()), bound)


def floor_cost(step: HalfStep) -> float:
    """By how much an M-step stays below the one without a floor, in its bound: Σ_k n_k/2 Σ_h log(1+t) − t/(1+t).

    t is the floor in units of the k-th Gaussian's h-th principal variance without it; infinite where that is 0, but of
    a Gaussian that owns nothing, which costs nothing.
    """
    if step.responsibilities is None:
        return 0.0
    variances = torch.linalg.eigvalsh(step.gaussians.covariances)
    share = FLOOR / (variances - FLOOR).clamp_min(0)
    cost = torch.where(share.isinf(), share, share.log1p() - share / (1 + share))
    owned, costs = step.responsibilities.sum(0), cost.sum(-1)
    return float(torch.where(owned > 0, owned * costs, 0.0).sum() / 2)


def off_scikit_learn(
    points: Float[Tensor, "point dim"], start: Gaussians, rounds: int, covariance: Covariance = "full"
) -> list[float]:
    """How far scikit-learn's `GaussianMixture` from the same start is from ours, after 1, 2, … rounds of E and M.

    Each is the largest absolute difference in any weight, mean, covariance, and in the log-likelihood per point; of
    scikit-learn a fit of its own with so many iterations. Raises MixtureError where it cannot fit the points.
    """
    own = islice(half_steps(points, start, covariance), 2, 2 * rounds + 1, 2)
    return [
        _difference(points, step, _fitted(points, start, done, covariance)) for done, step in enumerate(own, start=1)
    ]


_quiet = threading.Lock()
"""Which warnings are said is a matter of the whole process."""


def _fitted(points: Tensor, start: Gaussians, rounds: int, covariance: Covariance) -> GaussianMixture:
    precisions = torch.linalg.inv(start.covariances)
    if covariance == "diag":
        precisions = precisions.diagonal(dim1=-2, dim2=-1)
    model = GaussianMixture(
        len(start.weights),
        covariance_type=covariance,
        tol=0,
        reg_covar=FLOOR,
        max_iter=rounds,
        weights_init=start.weights.numpy(),
        means_init=start.means.numpy(),
        precisions_init=precisions.numpy(),
    )
    with _quiet, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it was told to stop
        try:
            return model.fit(points.numpy())
        except ValueError as error:
            raise MixtureError(f"scikit-learn cannot fit these points ({error}); add points or move some.") from error


def _difference(points: Tensor, step: HalfStep, theirs: GaussianMixture) -> float:
    covariances = torch.from_numpy(theirs.covariances_)
    pairs = [
        (step.gaussians.weights, torch.from_numpy(theirs.weights_)),
        (step.gaussians.means, torch.from_numpy(theirs.means_)),
        (step.gaussians.covariances, covariances if covariances.ndim == 3 else covariances.diag_embed()),
    ]
    likelihood = abs(step.log_likelihood / len(points) - float(theirs.score(points.numpy())))
    return max(likelihood, *(float((ours - other).abs().max()) for ours, other in pairs))
