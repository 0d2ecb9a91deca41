"""Attention routing (Tsai, Srivastava, Goh & Salakhutdinov 2020): what couplings and poses are, whatever the votes."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy import ndarray
from torch import Tensor

from capsviz import zoo
from capsviz.network import CapsNet, preset
from capsviz.routing.attention import ATTENTION, attention_routing
from capsviz.routing.votes import DenseVotes, LinearVotes
from tests.known import known

from . import reference
from .capsules import capsules, direction_like, draw, last, permutation

iteration_counts = st.integers(1, 6)
EPSILON = 1e-5
"""Of the layer normalisation, below the variance."""


class Shared(NamedTuple):
    """What all upper capsules share: gain and offset of the normalisation, the readout."""

    gain: Tensor
    offset: Tensor
    readout: Tensor


def shared(dim: int, seed: int = 0) -> Shared:
    return Shared(*torch.randn(3, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64))


def plain(dim: int) -> Shared:
    """A normalisation that neither stretches nor moves."""
    ones = torch.ones(dim, dtype=torch.float64)
    return Shared(ones, 0 * ones, ones)


def attention_by_loops(votes: ndarray, own: Shared, iterations: int) -> list[dict[str, ndarray]]:
    """Procedure 1 line by line, and the shared linear classifier; votes "lower upper dim" of one image, float64."""
    lower, upper, dim = votes.shape
    gain, offset, readout = (each.numpy() for each in own)
    poses = np.zeros((upper, dim))
    steps = []
    for _ in range(iterations):
        logits, couplings = np.zeros((lower, upper)), np.zeros((lower, upper))
        for i in range(lower):
            for j in range(upper):
                logits[i, j] = reference.dot(poses[j], votes[i, j])
            couplings[i] = reference.softmax(logits[i])
        sums, poses = np.zeros((upper, dim)), np.zeros((upper, dim))
        for j in range(upper):
            sums[j] = reference.weighted_sum(votes, couplings, j)
            mean = sum(sums[j]) / dim
            variance = sum((s - mean) ** 2 for s in sums[j]) / dim
            for h in range(dim):
                poses[j, h] = gain[h] * (sums[j, h] - mean) / math.sqrt(variance + EPSILON) + offset[h]
        agreement = np.zeros((lower, upper))
        for i in range(lower):
            for j in range(upper):
                agreement[i, j] = reference.dot(votes[i, j], poses[j])
        scores = np.array([reference.dot(readout, pose) for pose in poses])
        steps.append(
            {
                "logits": logits,
                "couplings": couplings,
                "sums": sums,
                "poses": poses,
                "scores": scores,
                "activations": reference.softmax(scores),
                "agreement": agreement,
            }
        )
    return steps


@pytest.mark.parametrize("kind", ["dense", "linear"])
@given(sample=capsules(), iterations=iteration_counts)
def test_every_step_agrees_with_the_plain_loops(kind, sample, iterations):
    votes = DenseVotes(sample.votes) if kind == "dense" else LinearVotes(sample.poses, sample.weight)
    own = shared(sample.votes.shape[-1])
    steps = list(attention_routing(votes, *own, iterations, final_agreement=True))
    for k, of_image in enumerate(sample.votes.numpy()):
        for step, expected in zip(steps, attention_by_loops(of_image, own, iterations), strict=True):
            for name, value in expected.items():
                # Where the numbers of a sum hardly differ, dividing by their deviation makes rounding 300 times larger.
                np.testing.assert_allclose(getattr(step, name)[k], value, rtol=1e-7, atol=1e-7, err_msg=name)


@given(capsules(), iteration_counts)
def test_couplings_of_a_lower_capsule_sum_to_one(sample, iterations):
    for step in attention_routing(DenseVotes(sample.votes), *shared(sample.votes.shape[-1]), iterations):
        over_upper = step.couplings.sum(dim=2)
        torch.testing.assert_close(over_upper, torch.ones_like(over_upper))
        assert (step.couplings >= 0).all()


def test_upper_capsules_compete_for_each_lower_one_and_not_the_other_way_round():
    """Inverted: attention as in a transformer would give each upper capsule a total of 1."""
    sample = draw(batch=2, lower=12, upper=3, dim=4, seed=1)
    for step in attention_routing(DenseVotes(sample.votes), *shared(4), 3):
        received = step.couplings.sum(dim=1)
        torch.testing.assert_close(received.sum(dim=1), torch.full((2,), 12.0, dtype=torch.float64))
        assert ((received - 1).abs() > 0.05).all()


@given(capsules())
def test_first_couplings_are_even(sample):
    first = next(attention_routing(DenseVotes(sample.votes), *shared(sample.votes.shape[-1]), 3))
    assert (first.logits == 0).all()
    torch.testing.assert_close(first.couplings, torch.full_like(first.couplings, 1 / sample.votes.shape[2]))


@given(capsules(), iteration_counts)
def test_agreement_is_taken_anew_in_every_iteration(sample, iterations):
    steps = list(attention_routing(DenseVotes(sample.votes), *shared(sample.votes.shape[-1]), iterations))
    assert [step.iteration for step in steps] == list(range(1, iterations + 1))
    for step, following in pairwise(steps):
        agreement = (sample.votes * step.poses[:, None]).sum(dim=-1)
        torch.testing.assert_close(step.agreement, agreement)
        torch.testing.assert_close(following.logits, agreement)


@given(capsules(), iteration_counts)
def test_a_pose_is_a_normalised_sum(sample, iterations):
    for step in attention_routing(DenseVotes(sample.votes), *plain(sample.votes.shape[-1]), iterations):
        variance = step.sums.var(dim=-1, unbiased=False)
        torch.testing.assert_close(step.poses.mean(dim=-1), torch.zeros_like(variance), rtol=0, atol=1e-9)
        torch.testing.assert_close(step.poses.var(dim=-1, unbiased=False), variance / (variance + EPSILON))


@given(st.floats(2, 50))
def test_how_long_the_votes_are_says_nothing_of_the_first_poses(factor):
    votes = draw(batch=2, lower=9, upper=4, dim=6).votes
    own = shared(6)
    short, long = (next(attention_routing(DenseVotes(each), *own, 2)) for each in (votes, factor * votes))
    torch.testing.assert_close(long.poses, short.poses, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(long.sums, factor * short.sums)


@given(capsules(), iteration_counts)
def test_activations_are_the_softmax_of_scores_that_one_readout_gives_all_classes(sample, iterations):
    own = shared(sample.votes.shape[-1])
    for step in attention_routing(DenseVotes(sample.votes), *own, iterations):
        torch.testing.assert_close(step.scores, step.poses @ own.readout)
        torch.testing.assert_close(step.activations, step.scores.softmax(dim=1))


@given(capsules(), st.integers(0, 1000), iteration_counts)
def test_permuting_lower_capsules_changes_nothing(sample, seed, iterations):
    order, own = permutation(sample.votes.shape[1], seed), shared(sample.votes.shape[-1])
    step = last(attention_routing(DenseVotes(sample.votes), *own, iterations))
    permuted = last(attention_routing(DenseVotes(sample.votes[:, order]), *own, iterations))
    torch.testing.assert_close(permuted.poses, step.poses, rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(permuted.couplings, step.couplings[:, order], rtol=1e-7, atol=1e-7)


@given(capsules(), st.integers(0, 1000))
def test_permuting_upper_capsules_permutes_their_poses(sample, seed):
    order, own = permutation(sample.votes.shape[2], seed), shared(sample.votes.shape[-1])
    step = last(attention_routing(DenseVotes(sample.votes), *own, 3))
    permuted = last(attention_routing(DenseVotes(sample.votes[:, :, order]), *own, 3))
    torch.testing.assert_close(permuted.poses, step.poses[:, order], rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(permuted.activations, step.activations[:, order], rtol=1e-7, atol=1e-7)


@given(capsules())
def test_samples_of_a_batch_do_not_see_each_other(sample):
    own = shared(sample.votes.shape[-1])
    together = last(attention_routing(DenseVotes(sample.votes), *own, 3)).poses
    alone = [last(attention_routing(DenseVotes(one[None]), *own, 3)).poses for one in sample.votes]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("through", ["last", "all"])
def test_gradients_are_those_of_finite_differences(through):
    """Through the last iteration alone: with the logits that it starts from held fixed."""
    sample, own = draw(batch=2, lower=5, upper=3, dim=4, seed=3), shared(4)

    def poses(votes: Tensor) -> Tensor:
        return last(attention_routing(DenseVotes(votes), *own, 3, through=through)).poses

    leaf = sample.votes.clone().requires_grad_()
    (gradient,) = torch.autograd.grad((poses(leaf) * direction_like(poses(leaf))).sum(), leaf)
    before = last(attention_routing(DenseVotes(sample.votes), *own, 3)).logits
    step, moved = 1e-6, torch.randn(sample.votes.shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)

    def value(votes: Tensor) -> float:
        if through == "all":
            found = poses(votes)
        else:
            sums = (before.softmax(dim=2)[..., None] * votes).sum(dim=1)
            found = torch.nn.functional.layer_norm(sums, (4,), own.gain, own.offset)
        return float((found * direction_like(found)).sum())

    slope = (value(sample.votes + step * moved) - value(sample.votes - step * moved)) / (2 * step)
    assert float((gradient * moved).sum()) == pytest.approx(slope, rel=1e-5)


def test_last_agreement_is_computed_on_request_only():
    votes, own = DenseVotes(draw(batch=2, lower=4, upper=3, dim=2).votes), shared(2)
    assert last(attention_routing(votes, *own, 2)).agreement is None
    assert last(attention_routing(votes, *own, 2, final_agreement=True)).agreement is not None


def test_routing_takes_an_iteration():
    with pytest.raises(ValueError, match="at least one iteration; got iterations=0"):
        next(attention_routing(DenseVotes(draw(1, 2, 2, 2).votes), *shared(2), 0))


@pytest.mark.usefixtures("unchecked_types")
def test_gradients_flow_through_the_last_iteration_or_all_and_through_no_other_word():
    with pytest.raises(ValueError, match="the last iteration or all of them; got through='lst'"):
        next(attention_routing(DenseVotes(draw(1, 2, 2, 2).votes), *shared(2), 2, through="lst"))  # type: ignore


def test_a_network_is_trained_on_the_cross_entropy_of_its_scores():
    torch.manual_seed(0)
    network = CapsNet(preset("tiny", "digits", ATTENTION.name))
    output, targets = network(torch.rand(3, 1, 28, 28)), torch.eye(10)[[4, 0, 9]].bool()
    expected = -torch.stack([output.activations[k, label].log() for k, label in enumerate((4, 0, 9))]).mean()
    torch.testing.assert_close(ATTENTION.loss(output.scores, targets), expected)
    expected.backward()
    for name in ("gain", "readout", "transform"):
        assert known(network.get_parameter(name).grad).any()


def test_the_shipped_network_goes_by_the_paper():
    """Three iterations, through all of which gradients flowed."""
    entry = zoo.entry(f"digits-{ATTENTION.name}")
    assert (entry.config.iterations, entry.config.through) == (3, "all")
    assert entry.bits == 8 and entry.bytes < 2.3e6 and entry.test_error < 1
