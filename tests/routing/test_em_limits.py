"""EM routing (*Encapsulating Capsule Networks*, eq. 20-29) where naive versions break, and its gradients."""

from __future__ import annotations

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from capsviz.routing import mixture
from capsviz.routing.em import em_routing
from capsviz.routing.votes import DenseVotes, MatrixVotes

from .capsules import capsules, draw
from .em_samples import FLOOR, along_a_direction, betas_of, last, presence_of, route, seeds


def hard_cases():
    """Votes "2 lower 5 16" and activations at which a naive version divides by zero, overflows or underflows."""
    random = torch.randn(2, 24, 5, 16)
    clusters = random.sign() * 2
    return {
        "coincident votes": (torch.full((2, 24, 5, 16), 0.7), torch.full((2, 24), 0.5)),
        "coincident votes at zero": (torch.zeros(2, 24, 5, 16), torch.full((2, 24), 0.5)),
        "two points": (clusters, torch.ones(2, 24)),
        "no activation": (random, torch.zeros(2, 24)),
        "no activation, far votes": (30 * random, torch.zeros(2, 24)),
        "no activation, coincident votes": (torch.ones(2, 24, 5, 16), torch.zeros(2, 24)),
        "a trace of activation": (random, torch.full((2, 24), 1e-30)),
        "one image without activation": (random, torch.tensor([[0.0], [1.0]]).expand(2, 24)),
        "one lower capsule": (random[:, :1], torch.ones(2, 1)),
        "far votes": (300 * random, torch.ones(2, 24)),
        "outlier": (torch.full((2, 24, 5, 16), 0.7).index_fill(1, torch.tensor([23]), 50.0), torch.ones(2, 24)),
    }


@pytest.mark.parametrize("through", ["last", "all"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("case", list(hard_cases()))
def test_ten_iterations_stay_finite_and_so_do_their_gradients(case, dtype, through):
    values, presence = (tensor.to(dtype).clone().requires_grad_() for tensor in hard_cases()[case])
    betas = torch.zeros(2, 5, dtype=dtype, requires_grad=True)
    votes = DenseVotes(values)
    steps = list(em_routing(votes, presence, betas[0], betas[1], 10, through=through, final_posteriors=True))
    for step in steps:
        for name in ("responsibilities", "means", "variances", "cost", "activations", "posteriors"):
            assert getattr(step, name).isfinite().all(), f"{name} in iteration {step.iteration}"
            assert getattr(step, name).dtype == dtype
        assert (step.variances > 0).all()
        shares = step.posteriors.double().sum(dim=2)
        torch.testing.assert_close(shares, torch.ones_like(shares), rtol=0, atol=0.02)
    step = steps[-1]
    outcome = along_a_direction(step.means, step.activations)
    for name, gradient in zip(
        ("votes", "activations", "betas"), torch.autograd.grad(outcome, (values, presence, betas)), strict=True
    ):
        assert gradient.isfinite().all(), f"gradient of the {name}"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_low_precision_is_close(dtype):
    sample = draw(batch=2, lower=64, upper=10, dim=16, d=8, scale=0.3, seed=3)
    values, presence = sample.votes.to(dtype), presence_of(sample).to(dtype)
    zeros = torch.zeros(10)
    low = em_routing(DenseVotes(values), presence, zeros.to(dtype), zeros.to(dtype))
    exact = em_routing(DenseVotes(values.double()), presence.double(), zeros.double(), zeros.double())
    for step, expected in zip(low, exact, strict=True):
        torch.testing.assert_close(step.activations.double(), expected.activations, rtol=0, atol=0.01)
        torch.testing.assert_close(step.means.double(), expected.means, rtol=0.01, atol=0.02)
        torch.testing.assert_close(step.responsibilities.double(), expected.responsibilities, rtol=0, atol=0.02)


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
