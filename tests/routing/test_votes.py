"""Votes that are applied and votes that are stored give the same answers.

Source: *Encapsulating Capsule Networks*, eq. 7, 9, 11.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from capsviz.routing import Windows, WindowVotes
from capsviz.routing import votes as votes_module
from capsviz.routing.votes import DenseVotes, LinearVotes, MatrixVotes

from . import reference
from .capsules import capsules


def both(sample):
    """The same votes, stored and applied."""
    return DenseVotes(sample.votes), LinearVotes(sample.poses, sample.weight)


@given(capsules())
def test_votes_are_lower_poses_times_weights(sample):
    for votes in both(sample):
        assert tuple(votes.shape) == tuple(sample.votes.shape)
        torch.testing.assert_close(votes.materialise(), sample.votes)


@given(capsules(), st.booleans(), st.integers(0, 1000))
def test_weighted_sum_runs_over_the_lower_capsules(sample, shared, seed):
    """Weights may be one matrix for the whole batch (L2, L1) or one per image (DR)."""
    batch, lower, upper, dim = sample.votes.shape
    shape = (lower, upper) if shared else (batch, lower, upper)
    weights = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    expected = torch.empty(batch, upper, dim, dtype=torch.float64)
    for k in range(batch):
        for j in range(upper):
            one = (weights if shared else weights[k]).numpy()
            expected[k, j] = torch.from_numpy(reference.weighted_sum(sample.votes[k].numpy(), one, j))
    for votes in both(sample):
        torch.testing.assert_close(votes.weighted_sum(weights), expected)


@given(capsules(), st.integers(0, 1000))
def test_agreement_is_the_scalar_product_with_the_upper_pose(sample, seed):
    batch, lower, upper, dim = sample.votes.shape
    generator = torch.Generator().manual_seed(seed)
    poses = torch.randn(batch, upper, dim, generator=generator, dtype=torch.float64)
    expected = torch.empty(batch, lower, upper, dtype=torch.float64)
    for k in range(batch):
        for i in range(lower):
            for j in range(upper):
                expected[k, i, j] = reference.dot(sample.votes[k, i, j].numpy(), poses[k, j].numpy())
    for votes in both(sample):
        torch.testing.assert_close(votes.agreement(poses), expected)


@given(capsules())
def test_no_gradient_passes_detached_votes(sample):
    dense = DenseVotes(sample.votes.requires_grad_())
    linear = LinearVotes(sample.poses.requires_grad_(), sample.weight.requires_grad_())
    for votes in (dense, linear):
        assert votes.materialise().requires_grad
        assert not votes.detach().materialise().requires_grad
        torch.testing.assert_close(votes.detach().materialise(), votes.materialise().detach())


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(0, 1000))
def test_matrix_votes_of_few_and_of_many_images_are_the_same_with_the_same_gradients(batch, lower, upper, seed):
    """A pose need not be square: three rows and two numbers in each, which W takes to five."""
    generator = torch.Generator().manual_seed(seed)
    shapes = (batch, lower, 3, 2), (lower, upper, 2, 5), (lower, 3, 5)
    poses, weight, coordinates = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    heard = torch.randn(batch, lower, upper, 15, generator=generator, dtype=torch.float64)
    found = []
    for many in (batch, batch + 1):
        leaves = [each.clone().requires_grad_() for each in (poses, weight)]
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(votes_module, "MANY", many)
            given_votes = MatrixVotes(leaves[0], leaves[1], coordinates).materialise()
        (given_votes * heard).sum().backward()
        found.append((given_votes.detach(), *(leaf.grad for leaf in leaves)))
    for many_images, few_images in zip(*found, strict=True):
        torch.testing.assert_close(many_images, few_images)


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(0, 1000))
def test_matrix_votes_are_pose_matrices_times_weight_matrices_plus_coordinates(batch, lower, upper, seed):
    """V_ij = M_i W_ij read row by row, and the coordinates of capsule i added to each of its votes."""
    generator = torch.Generator().manual_seed(seed)
    poses = torch.randn(batch, lower, 4, 4, generator=generator, dtype=torch.float64)
    weight = torch.randn(lower, upper, 4, 4, generator=generator, dtype=torch.float64)
    coordinates = torch.randn(lower, 4, 4, generator=generator, dtype=torch.float64)
    votes = MatrixVotes(poses, weight, coordinates)
    assert tuple(votes.shape) == (batch, lower, upper, 16)
    for i in range(lower):
        for j in range(upper):
            expected = (poses[:, i] @ weight[i, j] + coordinates[i]).reshape(batch, 16)
            torch.testing.assert_close(votes.materialise()[:, i, j], expected)
    weights = torch.rand(batch, lower, upper, generator=generator, dtype=torch.float64)
    stored = DenseVotes(votes.materialise())
    torch.testing.assert_close(votes.weighted_sum(weights), stored.weighted_sum(weights))
    upper_poses = torch.randn(batch, upper, 16, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(votes.agreement(upper_poses), stored.agreement(upper_poses))


@given(capsules())
def test_pairs_hold_a_number_for_every_capsule_pair(sample):
    for votes in both(sample):
        pairs = votes.pairs(0.25)
        assert pairs.shape == sample.votes.shape[:3]
        assert (pairs == 0.25).all() and pairs.dtype == sample.votes.dtype


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_votes_keep_their_precision(dtype):
    poses, weight = torch.randn(2, 5, 3, dtype=dtype), torch.randn(5, 3, 4, 6, dtype=dtype)
    linear = LinearVotes(poses, weight)
    for votes in (linear, DenseVotes(linear.materialise())):
        assert votes.materialise().dtype == dtype
        assert votes.weighted_sum(torch.rand(2, 5, 4, dtype=dtype)).dtype == dtype
        assert votes.weighted_sum(torch.rand(5, 4, dtype=dtype)).dtype == dtype
        assert votes.agreement(torch.rand(2, 4, 6, dtype=dtype)).dtype == dtype


def on(device: str) -> list[Any]:
    """Votes of every kind on a device."""
    whole = DenseVotes(torch.zeros(2, 12, 3, 4, device=device))
    linear = LinearVotes(torch.zeros(2, 12, 5, device=device), torch.zeros(12, 5, 3, 4, device=device))
    poses = torch.zeros(2, 12, 3, 2, device=device)
    matrix = MatrixVotes(poses, torch.zeros(12, 3, 2, 5, device=device), torch.zeros(12, 3, 5, device=device))
    over = Windows.over((3, 4, 1), kernel=2, stride=1, upper_types=3)
    windows = Windows(over.children.to(device), over.parents.to(device), over.lower_types, over.upper_types)
    return [whole, linear, matrix, WindowVotes(poses, torch.zeros(4, 3, 2, 5, device=device), windows)]


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_pairs_lie_where_the_votes_lie(device):
    for votes in on(device):
        pairs = votes.pairs(0.5)
        assert pairs.device.type == device and pairs.shape == votes.shape[:3]


def test_votes_have_the_shape_that_they_say_also_where_poses_are_not_square():
    assert [tuple(votes.materialise().shape) for votes in on("cpu")] == [votes.shape for votes in on("cpu")]
    assert [votes.shape[3] for votes in on("cpu")] == [4, 4, 15, 15]


@pytest.mark.parametrize("learned", ["poses", "weight", "coordinates"])
def test_neither_poses_nor_weights_nor_coordinates_of_detached_votes_get_a_gradient(learned):
    for votes in (each for each in on("cpu")[1:] if hasattr(each, learned)):
        learning = replace(votes, **{learned: getattr(votes, learned).requires_grad_()})
        assert learning.materialise().requires_grad and not learning.detach().materialise().requires_grad


def test_from_many_images_on_the_weights_are_laid_out_for_all_rows_at_once(monkeypatch):
    at_once, taken = MatrixVotes._all_rows_at_once, []

    def watched(votes):
        taken.append(votes.poses.shape[0])
        return at_once(votes)

    monkeypatch.setattr(MatrixVotes, "_all_rows_at_once", watched)
    monkeypatch.setattr(votes_module, "MANY", 3)
    for images in (2, 3, 4):
        MatrixVotes(torch.rand(images, 5, 4, 4), torch.rand(5, 2, 4, 4), torch.rand(5, 4, 4)).materialise()
    assert taken == [3, 4]


@pytest.mark.parametrize("images", [2, 16])
def test_coordinates_in_single_precision_leave_votes_in_their_own(images):
    poses, weight = torch.rand(images, 5, 4, 4).bfloat16(), torch.rand(5, 2, 4, 4).bfloat16()
    assert MatrixVotes(poses, weight, torch.rand(5, 4, 4)).materialise().dtype == torch.bfloat16


@pytest.mark.parametrize("images", [2, 16])
def test_the_memory_of_matrix_votes_runs_over_upper_capsules_before_lower_ones(images):
    votes = MatrixVotes(torch.rand(images, 5, 4, 4), torch.rand(5, 3, 4, 4), torch.rand(5, 4, 4))
    assert votes.materialise().transpose(1, 2).is_contiguous()
