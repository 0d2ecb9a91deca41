"""The sums over votes that are taken a few images at a time, against the same sums written down plainly."""

from __future__ import annotations

import pytest
import torch

from capsviz.routing import vote_sums

BATCH, UPPER, LOWER, DIM = 5, 3, 7, 4


def numbers(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, dtype=torch.float64, requires_grad=True)


def plain_moments(values: torch.Tensor, shares: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    means = torch.einsum("bji,bjih->bjh", shares, values)
    return means, torch.einsum("bji,bjih->bjh", shares, (values - means.unsqueeze(2)) ** 2)


def plain_distances(values: torch.Tensor, means: torch.Tensor, precisions: torch.Tensor) -> torch.Tensor:
    return torch.einsum("bjih,bjh->bji", (values - means.unsqueeze(2)) ** 2, precisions)


@pytest.fixture(params=[1, 2, 5])
def images_at_a_time(request, monkeypatch: pytest.MonkeyPatch) -> int:
    """The sums are cut into blocks of so many images; five images in twos leave one over."""
    monkeypatch.setattr(vote_sums, "CACHE", request.param * UPPER * LOWER * DIM * 8)
    return request.param


@pytest.fixture
def values() -> torch.Tensor:
    return numbers(BATCH, UPPER, LOWER, DIM)


def test_so_many_images_are_worked_on_at_a_time(values: torch.Tensor, images_at_a_time: int):
    lengths = [len(values[block]) for block in vote_sums._blocks(values)]
    assert lengths == {1: [1, 1, 1, 1, 1], 2: [2, 2, 1], 5: [5]}[images_at_a_time]


@pytest.mark.parametrize("full", [True, False])
def test_moments_and_their_gradients_also_where_shares_do_not_add_up_to_one(values, images_at_a_time, full: bool):
    shares = numbers(BATCH, UPPER, LOWER)
    if full:
        shares = shares.detach().softmax(-1).requires_grad_()
    for mine, theirs in zip(vote_sums.moments(values, shares), plain_moments(values, shares), strict=True):
        torch.testing.assert_close(mine, theirs)
    assert torch.autograd.gradcheck(vote_sums.moments, (values, shares))


def test_distances_and_their_gradients(values, images_at_a_time):
    gaussians = numbers(BATCH, UPPER, DIM), numbers(BATCH, UPPER, DIM)
    torch.testing.assert_close(vote_sums.distances(values, *gaussians), plain_distances(values, *gaussians))
    assert torch.autograd.gradcheck(vote_sums.distances, (values, *gaussians))


def test_votes_in_any_layout_give_the_same(values, images_at_a_time):
    shares = numbers(BATCH, UPPER, LOWER)
    turned = values.detach().transpose(1, 2).contiguous().transpose(1, 2).requires_grad_()
    for each in (values, turned):
        means, variances = vote_sums.moments(each, shares)
        (means.sum() + variances.sum()).backward()
    torch.testing.assert_close(turned.grad, values.grad)


def test_votes_that_are_constants_get_no_gradient(values):
    shares = numbers(BATCH, UPPER, LOWER)
    means, _ = vote_sums.moments(values.detach(), shares)
    means.sum().backward()
    assert shares.grad is not None
    precisions = numbers(BATCH, UPPER, DIM)
    vote_sums.distances(values.detach(), means.detach(), precisions).sum().backward()
    assert precisions.grad is not None and values.grad is None


def test_no_images_give_no_sums():
    none = torch.zeros(0, UPPER, LOWER, DIM)
    means, variances = vote_sums.moments(none, torch.zeros(0, UPPER, LOWER))
    assert means.shape == variances.shape == (0, UPPER, DIM)
    assert vote_sums.distances(none, means, variances).shape == (0, UPPER, LOWER)


def test_an_image_larger_than_the_cache_is_worked_on_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(vote_sums, "CACHE", 1)
    assert [len(numbers(2, UPPER, LOWER, DIM)[block]) for block in vote_sums._blocks(numbers(1, 2, 2, 2))] == [1]


def test_what_is_worked_on_at_a_time_fits_the_caches_of_a_core():
    assert 2**20 <= vote_sums.CACHE <= 2**22


def test_votes_get_their_gradient_where_the_gaussians_are_constants(values, images_at_a_time):
    gaussians = numbers(BATCH, UPPER, DIM).detach(), numbers(BATCH, UPPER, DIM).detach()
    grads = []
    for distances in (vote_sums.distances, plain_distances):
        grads += torch.autograd.grad(distances(values, *gaussians).square().sum(), values)
    torch.testing.assert_close(*grads)
