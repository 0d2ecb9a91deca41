"""Dynamic routing (*Encapsulating Capsule Networks*, eq. 7-11): what couplings and poses are, whatever the votes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from capsviz.routing.dynamic import dynamic_routing, dynamic_routing_in_parts
from capsviz.routing.squash import squash
from capsviz.routing.votes import DenseVotes, LinearVotes
from tests.known import known

from . import reference
from .capsules import capsules, direction_like, draw, last, permutation

iteration_counts = st.integers(1, 10)


@given(capsules(), iteration_counts)
def test_couplings_of_a_lower_capsule_sum_to_one(sample, iterations):
    for step in dynamic_routing(DenseVotes(sample.votes), iterations):
        couplings = known(step.couplings)
        over_upper = couplings.sum(dim=2)
        torch.testing.assert_close(over_upper, torch.ones_like(over_upper))
        assert (couplings >= 0).all()


def test_an_upper_capsule_receives_more_than_one_in_total():
    """The softmax runs over the upper capsules.

    Were it over the lower ones, as in a well-known implementation, every upper capsule would receive exactly 1.
    """
    sample = draw(batch=2, lower=12, upper=3, dim=4, seed=1)
    for step in dynamic_routing(DenseVotes(sample.votes), 3):
        received = step.couplings.sum(dim=1)
        torch.testing.assert_close(received.sum(dim=1), torch.full((2,), 12.0, dtype=torch.float64))
        assert (received > 1.5).all()


@given(capsules())
def test_first_couplings_are_uniform_over_the_upper_capsules(sample):
    first = next(dynamic_routing(DenseVotes(sample.votes), 3))
    upper = sample.votes.shape[2]
    assert (first.logits == 0).all()
    torch.testing.assert_close(first.couplings, torch.full_like(sample.votes[..., 0], 1 / upper))


@given(capsules(), iteration_counts)
def test_logits_grow_by_the_agreement_of_votes_and_poses(sample, iterations):
    steps = list(dynamic_routing(DenseVotes(sample.votes), iterations))
    for step, following in pairwise(steps):
        agreement = (sample.votes * step.poses[:, None]).sum(dim=-1)
        torch.testing.assert_close(step.agreement, agreement)
        torch.testing.assert_close(following.logits, step.logits + agreement)


@given(capsules(), iteration_counts)
def test_the_loop_runs_as_often_as_it_is_told(sample, iterations):
    steps = list(dynamic_routing(DenseVotes(sample.votes), iterations))
    assert [step.iteration for step in steps] == list(range(1, iterations + 1))


def test_last_agreement_is_computed_on_request_only():
    votes = DenseVotes(draw(batch=2, lower=4, upper=3, dim=2).votes)
    assert last(dynamic_routing(votes, 2)).agreement is None
    step = last(dynamic_routing(votes, 2, final_agreement=True))
    torch.testing.assert_close(step.agreement, (votes.materialise() * step.poses[:, None]).sum(dim=-1))


@given(capsules(), st.integers(0, 1000), iteration_counts)
def test_permuting_lower_capsules_changes_nothing(sample, seed, iterations):
    order = permutation(sample.votes.shape[1], seed)
    steps = dynamic_routing(DenseVotes(sample.votes), iterations)
    permuted_steps = dynamic_routing(DenseVotes(sample.votes[:, order]), iterations)
    for step, permuted in zip(steps, permuted_steps, strict=True):
        torch.testing.assert_close(permuted.poses, step.poses, rtol=1e-9, atol=1e-10)
        torch.testing.assert_close(permuted.couplings, known(step.couplings)[:, order], rtol=1e-9, atol=1e-10)


@given(capsules(), st.integers(0, 1000))
def test_permuting_upper_capsules_permutes_their_poses(sample, seed):
    order = permutation(sample.votes.shape[2], seed)
    step = last(dynamic_routing(DenseVotes(sample.votes), 3))
    permuted = last(dynamic_routing(DenseVotes(sample.votes[:, :, order]), 3))
    torch.testing.assert_close(permuted.poses, step.poses[:, order], rtol=1e-9, atol=1e-10)


@given(capsules())
def test_samples_of_a_batch_do_not_see_each_other(sample):
    together = last(dynamic_routing(DenseVotes(sample.votes), 3)).poses
    alone = [last(dynamic_routing(DenseVotes(one[None]), 3)).poses for one in sample.votes]
    torch.testing.assert_close(together, torch.cat(alone))


@pytest.mark.parametrize("kind", ["dense", "linear"])
@given(sample=capsules(), iterations=iteration_counts)
def test_every_step_agrees_with_the_plain_loops(kind, sample, iterations):
    votes = DenseVotes(sample.votes) if kind == "dense" else LinearVotes(sample.poses, sample.weight)
    steps = list(dynamic_routing(votes, iterations, final_agreement=True))
    for k, sample_votes in enumerate(sample.votes.numpy()):
        for step, expected in zip(steps, reference.dynamic_routing(sample_votes, iterations), strict=True):
            for name, value in expected.items():
                actual = getattr(step, name)[k].numpy()
                np.testing.assert_allclose(actual, value, rtol=1e-10, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("through", ["last", "all"])
@given(sample=capsules(), iterations=st.integers(1, 4))
def test_linear_votes_route_like_the_votes_they_stand_for(through, sample, iterations):
    poses, weight = sample.poses.requires_grad_(), sample.weight.requires_grad_()
    linear = last(dynamic_routing(LinearVotes(poses, weight), iterations, through=through)).poses
    dense_votes = DenseVotes(torch.einsum("bid,idjh->bijh", poses, weight))
    dense = last(dynamic_routing(dense_votes, iterations, through=through)).poses
    torch.testing.assert_close(linear, dense)
    direction = direction_like(dense)
    for a, b in zip(
        torch.autograd.grad((linear * direction).sum(), (poses, weight)),
        torch.autograd.grad((dense * direction).sum(), (poses, weight)),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


@given(capsules(min_upper=2), iteration_counts)
def test_gradient_through_the_last_iteration_takes_couplings_for_constants(sample, iterations):
    votes = sample.votes.requires_grad_()
    step = last(dynamic_routing(DenseVotes(votes), iterations, through="last"))
    direction = direction_like(step.poses)
    (actual,) = torch.autograd.grad((step.poses * direction).sum(), votes)

    final = [reference.dynamic_routing(one, iterations)[-1]["couplings"] for one in votes.detach().numpy()]
    couplings = torch.from_numpy(np.stack(final))
    poses = squash((couplings[..., None] * votes).sum(dim=1))
    (expected,) = torch.autograd.grad((poses * direction).sum(), votes)
    torch.testing.assert_close(actual, expected)


def test_gradient_through_all_iterations_is_the_derivative_of_the_loop():
    votes = draw(batch=1, lower=3, upper=2, dim=2, seed=5).votes.requires_grad_()

    def poses(votes):
        return last(dynamic_routing(DenseVotes(votes), 3, through="all")).poses

    assert torch.autograd.gradcheck(poses, (votes,))
    through_last = last(dynamic_routing(DenseVotes(votes), 3, through="last")).poses
    through_all, direct = (torch.autograd.grad(p.sum(), votes)[0] for p in (poses(votes), through_last))
    assert not torch.allclose(through_all, direct), "the switch `through` should make a difference here"


@pytest.mark.parametrize("through", ["last", "all"])
def test_a_loop_that_is_watched_or_left_early_leaves_gradients_switched_on(through):
    """A generator that yields inside torch.no_grad would switch gradients off for whoever reads its steps."""
    votes = DenseVotes(draw(batch=1, lower=3, upper=2, dim=2).votes.requires_grad_())
    for step in dynamic_routing(votes, 3, through=through):
        assert torch.is_grad_enabled(), f"gradients are off after iteration {step.iteration}"
        break
    assert torch.is_grad_enabled()


def test_lower_capsules_couple_to_the_capsule_that_they_agree_on():
    """For capsule 0 all but the last vote agree, for capsule 1 they point everywhere."""
    angles = torch.linspace(0, 2 * torch.pi, 9, dtype=torch.float64)[:8]
    votes = torch.zeros(1, 8, 2, 2, dtype=torch.float64)
    votes[0, :, 0, 0] = 1
    votes[0, 7, 0, 0] = -1
    votes[0, :, 1] = torch.stack([angles.cos(), angles.sin()], dim=-1)
    shares = [known(step.couplings)[0, :, 0] for step in dynamic_routing(DenseVotes(votes), 5)]
    for earlier, later in pairwise(shares):
        assert (later[:7] > earlier[:7]).all(), "agreement should raise a coupling at every iteration"
        assert later[7] < earlier[7], "the one that contradicts should turn away"


@given(capsules(min_upper=2))
def test_more_agreement_makes_a_larger_coupling(sample):
    first, second = dynamic_routing(DenseVotes(sample.votes), 2)
    by_agreement = first.agreement.sort(dim=-1).indices
    assert (second.couplings.gather(-1, by_agreement).diff(dim=-1) >= 0).all()


@given(capsules())
def test_activation_is_the_length_of_a_pose(sample):
    for step in dynamic_routing(DenseVotes(sample.votes), 3):
        torch.testing.assert_close(step.activations, step.poses.norm(dim=-1), rtol=1e-6, atol=1e-6)
        assert (step.activations < 1).all()


@pytest.mark.parametrize("kind", ["dense", "linear"])
def test_bfloat16_is_finite_and_close(kind):
    sample = draw(batch=4, lower=64, upper=10, dim=16, d=8, scale=0.1, seed=3)
    votes: DenseVotes | LinearVotes
    exact: DenseVotes | LinearVotes
    if kind == "dense":
        votes, exact = DenseVotes(sample.votes.bfloat16()), DenseVotes(sample.votes.bfloat16().double())
    else:
        poses, weight = sample.poses.bfloat16(), sample.weight.bfloat16()
        votes, exact = LinearVotes(poses, weight), LinearVotes(poses.double(), weight.double())
    for step, expected in zip(dynamic_routing(votes, 10), dynamic_routing(exact, 10), strict=True):
        assert step.poses.isfinite().all() and step.couplings.isfinite().all()
        torch.testing.assert_close(step.couplings.double(), expected.couplings, rtol=0, atol=0.02)
        torch.testing.assert_close(step.poses.double(), expected.poses, rtol=0, atol=0.03)


def test_very_strong_votes_do_not_overflow_the_softmax():
    votes = 1e4 * torch.randn(2, 16, 5, 8)
    for step in dynamic_routing(DenseVotes(votes), 10):
        assert step.couplings.isfinite().all() and step.poses.isfinite().all()


@pytest.mark.parametrize("iterations", [0, -1])
def test_fewer_than_one_iteration_is_refused(iterations):
    with pytest.raises(ValueError, match="at least one iteration"):
        next(dynamic_routing(DenseVotes(draw(batch=1, lower=2, upper=2, dim=2).votes), iterations))
    sample = draw(batch=1, lower=2, upper=2, dim=2)
    with pytest.raises(ValueError, match="at least one iteration"):
        next(dynamic_routing_in_parts(LinearVotes(sample.poses, sample.weight), iterations))


@pytest.mark.usefixtures("unchecked_types")
def test_gradients_flow_through_the_last_iteration_or_all_and_through_no_other_word():
    sample = draw(batch=1, lower=2, upper=2, dim=2)
    for route in (dynamic_routing, dynamic_routing_in_parts):
        with pytest.raises(ValueError, match="the last iteration or all of them; got through='lst'"):
            next(route(LinearVotes(sample.poses, sample.weight), 2, through="lst"))  # type: ignore[arg-type]


def test_gradient_through_all_iterations_is_the_same_for_votes_that_are_not_stored():
    sample = draw(batch=2, lower=7, upper=3, dim=4, seed=5)
    heard = torch.linspace(-1, 1, 24, dtype=torch.float64).view(2, 3, 4)
    found = []
    for stored in (False, True):
        leaves = [each.clone().requires_grad_() for each in (sample.poses, sample.weight)]
        votes = LinearVotes(*leaves)
        step = last(dynamic_routing(DenseVotes(votes.materialise()) if stored else votes, 3, through="all"))
        (step.poses * heard).sum().backward()
        found.append([leaf.grad for leaf in leaves])
    for applied, written in zip(*found, strict=True):
        torch.testing.assert_close(applied, written)


def test_no_images_are_routed_to_no_capsules():
    votes = LinearVotes(torch.zeros(0, 5, 3), torch.randn(5, 3, 4, 6))
    assert last(dynamic_routing(votes, 3)).poses.shape == (0, 4, 6)
