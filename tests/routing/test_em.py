"""EM routing: what a step is, the schedule of λ, symmetries, and what the routing is for.

Source: *Encapsulating Capsule Networks*, eq. 20-29.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given

from capsviz.routing import mixture
from capsviz.routing.em import InverseTemperature, em_routing, em_routing_in_parts
from capsviz.routing.votes import DenseVotes, LinearVotes, MatrixVotes
from tests.known import known

from . import reference
from .capsules import capsules, draw, last, permutation
from .em_samples import FLOOR, betas_of, iteration_counts, presence_of, route, seeds

# What a step is


@pytest.mark.parametrize("kind", ["dense", "linear"])
@given(sample=capsules(), seed=seeds, iterations=iteration_counts)
def test_every_step_agrees_with_the_plain_loops(kind, sample, seed, iterations):
    votes = DenseVotes(sample.votes) if kind == "dense" else LinearVotes(sample.poses, sample.weight)
    presence, (beta_u, beta_a) = presence_of(sample, seed), betas_of(sample, seed)
    steps = list(em_routing(votes, presence, beta_u, beta_a, iterations, final_posteriors=True, variance_floor=FLOOR))
    temperatures = [step.inverse_temperature for step in steps]
    for before, after in pairwise(steps):
        assert torch.equal(known(before.posteriors), known(after.responsibilities))
    for k, sample_votes in enumerate(sample.votes.numpy()):
        starts = [known(step.responsibilities)[k].numpy() for step in steps]
        betas = beta_u.numpy(), beta_a.numpy()
        loops = reference.em_routing(
            sample_votes, presence[k].numpy(), *betas, temperatures, FLOOR, mixture.EMPTY, starts
        )
        for step, expected in zip(steps, loops, strict=True):
            for name, value in expected.items():
                actual = getattr(step, name)[k].numpy()
                np.testing.assert_allclose(actual, value, rtol=1e-7, atol=1e-9, err_msg=name)


@given(capsules(), seeds, iteration_counts)
def test_responsibilities_of_a_lower_capsule_sum_to_one(sample, seed, iterations):
    for step in route(sample, iterations, seed=seed, final_posteriors=True):
        for shares in (step.responsibilities, step.posteriors):
            assert (shares >= 0).all()
            torch.testing.assert_close(shares.sum(dim=2), torch.ones_like(shares[..., 0]))


@given(capsules(), seeds)
def test_first_responsibilities_are_uniform_over_the_upper_capsules(sample, seed):
    shares = next(route(sample, seed=seed)).responsibilities
    torch.testing.assert_close(shares, torch.full_like(shares, 1 / sample.votes.shape[2]))


@given(capsules(), seeds, iteration_counts)
def test_what_one_iteration_concludes_the_next_one_starts_from(sample, seed, iterations):
    steps = list(route(sample, iterations, seed=seed))
    assert [step.iteration for step in steps] == list(range(1, iterations + 1))
    assert steps[-1].posteriors is None, "nobody asked for the posteriors after the last iteration"
    for step, following in pairwise(steps):
        assert (step.posteriors == following.responsibilities).all()


@given(capsules(), seeds)
def test_activations_are_the_logistic_of_the_cost(sample, seed):
    _, beta_a = betas_of(sample, seed)
    for step in route(sample, seed=seed):
        expected = torch.sigmoid(step.inverse_temperature * (beta_a - step.cost.sum(dim=-1)))
        torch.testing.assert_close(step.activations, expected)


@given(capsules(), seeds)
def test_the_pose_of_an_upper_capsule_is_its_mean(sample, seed):
    step = last(route(sample, seed=seed))
    assert (step.poses == step.means).all()


@pytest.mark.parametrize("iterations", [0, -1])
def test_fewer_than_one_iteration_is_refused(iterations):
    with pytest.raises(ValueError, match="at least one iteration"):
        next(route(draw(batch=1, lower=2, upper=2, dim=2), iterations))
    votes = MatrixVotes(torch.rand(1, 2, 4, 4), torch.rand(2, 3, 4, 4), torch.zeros(2, 4, 4))
    with pytest.raises(ValueError, match="at least one iteration"):
        next(em_routing_in_parts(votes, torch.ones(1, 2), torch.zeros(3), torch.zeros(3), iterations))


@pytest.mark.usefixtures("unchecked_types")
def test_gradients_flow_through_the_last_iteration_or_all_and_through_no_other_word():
    votes = MatrixVotes(torch.rand(1, 2, 4, 4), torch.rand(2, 3, 4, 4), torch.zeros(2, 4, 4))
    for em in (em_routing, em_routing_in_parts):
        with pytest.raises(ValueError, match="the last iteration or all of them; got through='lst'"):
            next(em(votes, torch.ones(1, 2), torch.zeros(3), torch.zeros(3), 2, through="lst"))  # type: ignore[arg-type]


# The schedule of λ


def test_lambda_rises_with_the_iteration_and_with_training():
    schedule = InverseTemperature()
    for progress in (0.0, 0.3, 1.0):
        values = [schedule.at(iteration, progress) for iteration in range(1, 11)]
        assert all(earlier < later for earlier, later in pairwise(values))
        assert values[0] > 0 and values[-1] <= schedule.final
    for iteration in (1, 3, 10):
        assert schedule.at(iteration, 0.0) < schedule.at(iteration, 0.5) < schedule.at(iteration, 1.0)
        assert schedule.at(iteration, 1.0) == schedule.at(iteration, 7.0), "progress ends at 1"
        expected = schedule.final * (1 - schedule.decay**iteration)
        assert schedule.at(iteration) == pytest.approx(expected), "a model that is not being trained uses the full λ"


def test_the_loop_uses_the_schedule_that_it_is_given():
    sample, schedule = draw(batch=1, lower=4, upper=2, dim=2), InverseTemperature(final=2.0, decay=0.3, start=0.5)
    for step in route(sample, 5, inverse_temperature=schedule, progress=0.25):
        assert step.inverse_temperature == pytest.approx(schedule.at(step.iteration, 0.25))


# Symmetry


@given(capsules(), seeds, iteration_counts)
def test_permuting_lower_capsules_changes_nothing(sample, seed, iterations):
    order = permutation(sample.votes.shape[1], seed)
    presence, (beta_u, beta_a) = presence_of(sample, seed), betas_of(sample, seed)
    steps = em_routing(DenseVotes(sample.votes), presence, beta_u, beta_a, iterations)
    permuted_steps = em_routing(DenseVotes(sample.votes[:, order]), presence[:, order], beta_u, beta_a, iterations)
    for step, permuted in zip(steps, permuted_steps, strict=True):
        for name in ("means", "variances", "cost", "activations"):
            torch.testing.assert_close(getattr(permuted, name), getattr(step, name), rtol=1e-7, atol=1e-9)
        shares = known(step.responsibilities)[:, order]
        torch.testing.assert_close(permuted.responsibilities, shares, rtol=1e-7, atol=1e-9)


@given(capsules(), seeds)
def test_permuting_upper_capsules_permutes_their_gaussians(sample, seed):
    order = permutation(sample.votes.shape[2], seed)
    presence, (beta_u, beta_a) = presence_of(sample, seed), betas_of(sample, seed)
    step = last(em_routing(DenseVotes(sample.votes), presence, beta_u, beta_a))
    permuted = last(em_routing(DenseVotes(sample.votes[:, :, order]), presence, beta_u[order], beta_a[order]))
    for name in ("means", "variances", "activations"):
        torch.testing.assert_close(getattr(permuted, name), getattr(step, name)[:, order], rtol=1e-7, atol=1e-9)


@given(capsules(), seeds)
def test_an_absent_lower_capsule_has_no_say_in_the_gaussians(sample, seed):
    presence, (beta_u, beta_a) = presence_of(sample, seed), betas_of(sample, seed)
    presence[:, 0] = 0
    presence[:, -1] = 1
    disturbed = sample.votes.clone()
    disturbed[:, 0] += 5
    here, there = (last(em_routing(DenseVotes(votes), presence, beta_u, beta_a)) for votes in (sample.votes, disturbed))
    if sample.votes.shape[1] > 1:
        torch.testing.assert_close(here.means, there.means)
        torch.testing.assert_close(here.variances, there.variances)


# What routing is for


def agreeing_on_capsule_0(scatter: float = 3.0):
    """Thirty lower capsules whose votes for upper capsule 0 agree but for the last, and scatter for capsule 1."""
    votes = scatter * torch.randn(1, 30, 2, 4, dtype=torch.float64)
    votes[0, :, 0] = 1 + 0.1 * torch.randn(30, 4, dtype=torch.float64)
    votes[0, 29, 0] = -4
    return DenseVotes(votes), torch.ones(1, 30, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)


def test_votes_that_agree_activate_their_capsule_and_draw_the_others():
    votes, presence, beta = agreeing_on_capsule_0()
    steps = list(em_routing(votes, presence, beta, beta, 5, inverse_temperature=InverseTemperature(final=1.0)))
    assert (steps[-1].activations[0, 0] > steps[-1].activations[0, 1]).item()
    shares = known(steps[-1].responsibilities)[0, :, 0]
    assert (shares[:29] > 0.9).all()
    assert shares[29] < 0.1, "the outlier belongs to the wide Gaussian"
    torch.testing.assert_close(steps[-1].means[0, 0], torch.ones(4, dtype=torch.float64), rtol=0, atol=0.1)
    assert (steps[-1].variances[0, 0] < steps[0].variances[0, 0]).all()


@pytest.mark.parametrize("lower", [32, 256, 2048])
def test_the_logistic_does_not_saturate_as_lower_capsules_grow_in_number(lower):
    """Sixty-four copies of every capsule are the same evidence: the activation does not move, let alone saturate."""
    sample = draw(batch=2, lower=32, upper=10, dim=16, d=8, scale=0.3, seed=4)
    copies = lower // 32
    votes, presence = sample.votes.repeat(1, copies, 1, 1), presence_of(sample).repeat(1, copies)
    zeros = torch.zeros(10, dtype=torch.float64)
    mild = InverseTemperature(final=0.1)
    few = em_routing(DenseVotes(sample.votes), presence_of(sample), zeros, zeros, inverse_temperature=mild)
    many = em_routing(DenseVotes(votes), presence, zeros, zeros, inverse_temperature=mild)
    for expected, step in zip(few, many, strict=True):
        torch.testing.assert_close(step.activations, expected.activations)
        assert ((step.activations > 0.01) & (step.activations < 0.99)).all()


@pytest.mark.parametrize("upper", [2, 10, 100])
def test_the_logistic_does_not_saturate_with_the_number_of_upper_capsules(upper):
    sample = draw(batch=1, lower=64, upper=upper, dim=16, d=8, scale=0.3, seed=4)
    zeros = torch.zeros(upper, dtype=torch.float64)
    first = next(em_routing(DenseVotes(sample.votes), presence_of(sample), zeros, zeros))
    assert ((first.activations > 0.01) & (first.activations < 0.99)).all()


def test_no_variance_is_below_the_floor_and_the_last_posteriors_are_made_where_they_are_asked_for():
    votes = DenseVotes(torch.ones(1, 6, 2, 4))
    given = votes, torch.ones(1, 6), torch.zeros(2), torch.zeros(2)
    *_, usual = em_routing(*given)
    *_, told = em_routing(*given, final_posteriors=True)
    torch.testing.assert_close(usual.variances, torch.full((1, 2, 4), 1e-4))
    assert usual.posteriors is None and told.posteriors is not None
