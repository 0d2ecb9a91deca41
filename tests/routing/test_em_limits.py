"""EM routing (*Encapsulating Capsule Networks*, eq. 20-29) where naive versions break, and its gradients."""

from __future__ import annotations

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from capsviz.routing import mixture
from capsviz.routing.em import em_routing
from capsviz.routing.votes import DenseVotes, MatrixVotes

from .capsules import capsules, draw, last
from .em_samples import (
    FLOOR,
    along_a_direction,
    assert_close_in_low_precision,
    betas_of,
    finite_steps,
    hard_cases,
    presence_of,
    route,
    seeds,
)

ONE = torch.randn(2, 1, 5, 16, generator=torch.Generator().manual_seed(1))
CASES = hard_cases((2, 24, 5, 16), (2, 24)) | {"one lower capsule": (ONE, torch.ones(2, 1))}


@pytest.mark.parametrize("through", ["last", "all"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("case", CASES)
def test_ten_iterations_stay_finite_and_so_do_their_gradients(case, dtype, through):
    for step in finite_steps(*CASES[case], dtype, through):
        shares = step.posteriors.double().sum(dim=2)
        torch.testing.assert_close(shares, torch.ones_like(shares), rtol=0, atol=0.02)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_low_precision_is_close(dtype):
    sample = draw(batch=2, lower=64, upper=10, dim=16, d=8, scale=0.3, seed=3)
    assert_close_in_low_precision(sample.votes, presence_of(sample), dtype)


def test_without_evidence_an_upper_capsule_is_as_active_as_its_beta_says():
    sample = draw(batch=2, lower=6, upper=3, dim=4)
    beta_a = torch.tensor([-2.0, 0.0, 2.0], dtype=torch.float64)
    absent = torch.zeros(2, 6, dtype=torch.float64)
    for step in em_routing(DenseVotes(sample.votes), absent, torch.ones_like(beta_a), beta_a, variance_floor=FLOOR):
        assert (step.means == 0).all() and (step.variances == FLOOR).all() and (step.cost == 0).all()
        expected = torch.sigmoid(step.inverse_temperature * beta_a).expand(2, 3)
        torch.testing.assert_close(step.activations, expected)


def test_the_floor_on_the_variance_is_where_it_is_set():
    sample = draw(batch=1, lower=4, upper=2, dim=3)._replace(votes=torch.ones(1, 4, 2, 3, dtype=torch.float64))
    for floor in (1e-6, 1e-2):
        for step in route(sample, variance_floor=floor):
            torch.testing.assert_close(step.variances, torch.full_like(step.variances, floor))


# Gradients


@given(capsules(min_lower=2), seeds, st.integers(1, 4))
def test_gradient_through_the_last_iteration_takes_responsibilities_for_constants(sample, seed, iterations):
    values, presence = sample.votes.requires_grad_(), presence_of(sample, seed).requires_grad_()
    beta_u, beta_a = (beta.requires_grad_() for beta in betas_of(sample, seed))
    step = last(em_routing(DenseVotes(values), presence, beta_u, beta_a, iterations, through="last"))
    outcome = along_a_direction(step.means, step.activations)
    actual = torch.autograd.grad(outcome, (values, presence, beta_u, beta_a))

    lower, upper = values.shape[1:3]
    owned = step.responsibilities.detach() * presence[..., None]
    received = owned.sum(dim=1)[..., None]
    assume(received.min() > 10 * mixture.EMPTY)
    means = (owned[..., None] * values).sum(dim=1) / received
    variances = (owned[..., None] * (values - means[:, None]) ** 2).sum(dim=1) / received
    cost = (beta_u[:, None] + variances.clamp_min(1e-4).log() / 2) * received * upper / lower
    activations = torch.sigmoid(step.inverse_temperature * (beta_a - cost.sum(dim=-1)))
    outcome = along_a_direction(means, activations)
    for a, expected in zip(actual, torch.autograd.grad(outcome, (values, presence, beta_u, beta_a)), strict=True):
        torch.testing.assert_close(a, expected, rtol=1e-6, atol=1e-8)


def test_gradient_through_all_iterations_is_the_derivative_of_the_loop():
    sample = draw(batch=1, lower=4, upper=2, dim=2, seed=5)
    inputs = [tensor.requires_grad_() for tensor in (sample.votes, presence_of(sample), *betas_of(sample))]

    def outcome(values, presence, beta_u, beta_a):
        step = last(em_routing(DenseVotes(values), presence, beta_u, beta_a, 3, through="all"))
        return step.means, step.activations

    assert torch.autograd.gradcheck(outcome, inputs)


@pytest.mark.parametrize("through", ["last", "all"])
def test_a_loop_that_is_watched_or_left_early_leaves_gradients_switched_on(through):
    sample = draw(batch=1, lower=3, upper=2, dim=2)
    presence, betas = presence_of(sample).requires_grad_(), betas_of(sample)
    steps = em_routing(DenseVotes(sample.votes.requires_grad_()), presence, *betas, 3, through=through)
    for step in steps:
        assert torch.is_grad_enabled(), f"gradients are off after iteration {step.iteration}"
        break
    assert torch.is_grad_enabled()


def test_matrix_votes_route_like_the_votes_they_stand_for():
    """4×4 poses times 4×4 weights with coordinate addition, values and gradients."""
    poses = torch.randn(2, 6, 4, 4, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(6, 3, 4, 4, dtype=torch.float64, requires_grad=True)
    coordinates = torch.rand(6, 4, 4, dtype=torch.float64)
    presence, beta = torch.rand(2, 6, dtype=torch.float64), torch.zeros(3, dtype=torch.float64)
    matrix = MatrixVotes(poses, weight, coordinates)
    expected = (poses[:, :, None] @ weight[None] + coordinates[:, None]).flatten(3)
    applied, stored = (last(em_routing(votes, presence, beta, beta)) for votes in (matrix, DenseVotes(expected)))
    torch.testing.assert_close(applied.means, stored.means)
    torch.testing.assert_close(applied.activations, stored.activations)
    for a, b in zip(
        torch.autograd.grad(along_a_direction(applied.means, applied.activations), (poses, weight)),
        torch.autograd.grad(along_a_direction(stored.means, stored.activations), (poses, weight)),
        strict=True,
    ):
        torch.testing.assert_close(a, b)
