"""The routing algorithms once more, as plain loops in float64, written from the formulas and not from the library.

Slow on purpose: every sum over lower capsules i, upper capsules j, dimensions h and samples k is a loop that can be
read next to the seeds. Arrays are numpy float64, one sample at a time unless a docstring says otherwise.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import ndarray


def dot(a: ndarray, b: ndarray) -> float:
    """a · b."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def squash(s: ndarray) -> ndarray:
    """‖s‖²/(1+‖s‖²) · s/‖s‖ of one vector (*Encapsulating Capsule Networks*, eq. 10), and 0 at 0."""
    length = math.sqrt(dot(s, s))
    if length == 0:
        return np.zeros_like(s)
    return np.array([length**2 / (1 + length**2) * x / length for x in s])


def weighted_sum(votes: ndarray, weights: ndarray, j: int) -> ndarray:
    """Σ_i weights_ij û_ij for one upper capsule; votes "lower upper dim", weights "lower upper"."""
    lower, _, dim = votes.shape
    s = np.zeros(dim)
    for i in range(lower):
        for h in range(dim):
            s[h] += weights[i, j] * votes[i, j, h]
    return s


def softmax(logits: ndarray) -> ndarray:
    """exp(b_j) / Σ_k exp(b_k) over one row."""
    exponentials = [math.exp(b - max(logits)) for b in logits]
    return np.array([e / sum(exponentials) for e in exponentials])


def dynamic_routing(votes: ndarray, iterations: int, connected: ndarray | None = None) -> list[dict[str, ndarray]]:
    """*Encapsulating Capsule Networks*, eq. 7-11, by line; votes "lower upper dim"; a dictionary per iteration.

    connected "lower upper": who votes for whom, everyone for everyone unless given; other votes are zeros.
    """
    lower, upper, dim = votes.shape
    connected = np.ones((lower, upper), dtype=bool) if connected is None else connected
    logits = np.zeros((lower, upper))
    steps = []
    for _ in range(iterations):
        couplings = np.zeros((lower, upper))
        for i in range(lower):
            rivals = np.flatnonzero(connected[i]).tolist()
            if rivals:
                couplings[i, rivals] = softmax(logits[i, rivals])
        sums, poses = np.zeros((upper, dim)), np.zeros((upper, dim))
        for j in range(upper):
            sums[j] = weighted_sum(votes, couplings, j)
            poses[j] = squash(sums[j])
        agreement = np.zeros((lower, upper))
        for i in range(lower):
            for j in range(upper):
                agreement[i, j] = dot(votes[i, j], poses[j])
        activations = np.array([math.sqrt(dot(v, v)) for v in poses])
        steps.append(
            {
                "logits": logits.copy(),
                "couplings": couplings,
                "sums": sums,
                "poses": poses,
                "activations": activations,
                "agreement": agreement,
            }
        )
        logits = logits + agreement
    return steps


def em_routing(
    votes: ndarray,
    activations: ndarray,
    beta_u: ndarray,
    beta_a: ndarray,
    inverse_temperatures: list[float],
    variance_floor: float,
    empty: float,
    starts: list[ndarray],
    connected: ndarray | None = None,
) -> list[dict[str, ndarray]]:
    """*Encapsulating Capsule Networks*, eq. 20-29; votes "lower upper dim", activations "lower", one λ per iteration.

    connected "lower upper": who votes for whom, everyone for everyone unless given. A lower capsule then shares itself
    out over the upper capsules that it votes for, wherever they are, and a parent is given its even split of these.

    The seed leaves to the library how the data that a parent receives is normalised; it is taken here as the library
    states it: Σ_i R_ij a_i as a share of an even split of the lower capsules over the upper ones, which is N / J where
    everyone votes for everyone.
    A Gaussian that receives less than `empty` divides by `empty`, where eq. 22 divides by nearly nothing.
    starts: R "lower upper" that each iteration after the first begins with. Left to itself, the map from one iteration
    to the next doubles rounding errors many times over where a Gaussian is as narrow as the floor.
    """
    lower, upper, dim = votes.shape
    connected = np.ones((lower, upper), dtype=bool) if connected is None else connected
    responsibilities = np.zeros((lower, upper))
    for i in range(lower):
        for j in range(upper):
            if connected[i, j]:
                responsibilities[i, j] = 1 / connected[i].sum()
    even_split = responsibilities.sum(axis=0)
    steps: list[dict[str, ndarray]] = []
    for inverse_temperature, start in zip(inverse_temperatures, starts, strict=True):
        responsibilities = start if steps else responsibilities
        means, variances, cost = np.zeros((upper, dim)), np.zeros((upper, dim)), np.zeros((upper, dim))
        upper_activations = np.zeros(upper)
        for j in range(upper):
            received = 0.0
            voting = np.flatnonzero(connected[:, j]).tolist()
            for i in voting:
                received += responsibilities[i, j] * activations[i]
            divisor = max(received, empty)
            for h in range(dim):
                for i in voting:
                    means[j, h] += responsibilities[i, j] * activations[i] * votes[i, j, h] / divisor
                for i in voting:
                    deviation = votes[i, j, h] - means[j, h]
                    variances[j, h] += responsibilities[i, j] * activations[i] * deviation**2 / divisor
                variances[j, h] = max(variances[j, h], variance_floor)
                cost[j, h] = (beta_u[j] + math.log(math.sqrt(variances[j, h]))) * received / even_split[j]
            total_cost = 0.0
            for h in range(dim):
                total_cost += cost[j, h]
            upper_activations[j] = 1 / (1 + math.exp(-inverse_temperature * (beta_a[j] - total_cost)))
        posteriors = np.zeros((lower, upper))
        for i in range(lower):
            rivals = np.flatnonzero(connected[i]).tolist()
            log_joint = np.zeros(len(rivals))
            for k, j in enumerate(rivals):
                log_joint[k] = math.log(upper_activations[j])
                for h in range(dim):
                    log_joint[k] -= 0.5 * math.log(2 * math.pi * variances[j, h])
                    log_joint[k] -= (votes[i, j, h] - means[j, h]) ** 2 / (2 * variances[j, h])
            if len(rivals):
                posteriors[i, rivals] = softmax(log_joint)
        steps.append(
            {
                "responsibilities": responsibilities,
                "means": means,
                "variances": variances,
                "cost": cost,
                "activations": upper_activations,
                "posteriors": posteriors,
            }
        )
        responsibilities = posteriors
    return steps


def discriminative_routing(votes: ndarray, coefficients: ndarray) -> dict[str, ndarray]:
    """Yang, Li & Yu 2021, eq. 6: s_j = Σ_i b_ij û_ij without softmax, v_j = squash(s_j); agreement is û_ij · s_j."""
    lower, upper, dim = votes.shape
    sums, poses = np.zeros((upper, dim)), np.zeros((upper, dim))
    for j in range(upper):
        sums[j] = weighted_sum(votes, coefficients, j)
        poses[j] = squash(sums[j])
    agreement = np.zeros((lower, upper))
    for i in range(lower):
        for j in range(upper):
            agreement[i, j] = dot(votes[i, j], sums[j])
    return {
        "sums": sums,
        "poses": poses,
        "activations": np.array([math.sqrt(dot(v, v)) for v in poses]),
        "agreement": agreement,
    }


def ascent_gradient(votes: ndarray, coefficients: ndarray, signs: ndarray) -> ndarray:
    """g_ij = Σ_k δ_jk û_ijk · s_jk; votes "batch lower upper dim", signs δ "batch upper"."""
    batch, lower, upper, _ = votes.shape
    g = np.zeros((lower, upper))
    for k in range(batch):
        for j in range(upper):
            s = weighted_sum(votes[k], coefficients, j)
            for i in range(lower):
                g[i, j] += signs[k, j] * dot(votes[k, i, j], s)
    return g


def ascend(coefficients: ndarray, g: ndarray, step: float, regularisation: float, penalty: str) -> ndarray:
    """One ascent step on b as Yang, Li & Yu 2021 prescribe it (eq. 13 for "l2", eq. 15 for "l1")."""
    lower, upper = coefficients.shape
    updated = np.zeros((lower, upper))
    for i in range(lower):
        for j in range(upper):
            b = coefficients[i, j]
            if penalty == "l2":
                updated[i, j] = b + 2 * step * (g[i, j] - regularisation / 2 * b)
            else:
                sign = 0.0 if b == 0 else math.copysign(1.0, b)
                updated[i, j] = b + 2 * step * (g[i, j] - regularisation * sign)
    return updated


def ascend_proximal(coefficients: ndarray, g: ndarray, step: float, regularisation: float) -> ndarray:
    """The L1 step with its penalty taken implicitly: a gradient step 2γg, then each entry moves up to 2γλ to zero."""
    lower, upper = coefficients.shape
    updated = np.zeros((lower, upper))
    for i in range(lower):
        for j in range(upper):
            moved = coefficients[i, j] + 2 * step * g[i, j]
            threshold = 2 * step * regularisation
            if moved > threshold:
                updated[i, j] = moved - threshold
            elif moved < -threshold:
                updated[i, j] = moved + threshold
    return updated
