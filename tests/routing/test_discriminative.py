"""Discriminative routing, L2 and L1 (Yang, Li & Yu 2021, eq. 5-15): the forward pass, the objective and its ascent.

How the prescribed update relates to the gradient of the objective O_j = Σ_k δ_jk ‖s_jk‖² − λ ‖b_j‖₂² or − λ ‖b_j‖₁
of eq. 10 and 14, with g_ij = Σ_k δ_jk û_ijk · s_jk:

    true gradient        L2: ∂O_j/∂b_ij = 2 g_ij − 2 λ b_ij        L1: 2 g_ij −   λ sign(b_ij)
    the paper            L2: eq. 13      2 g_ij −   λ b_ij         L1: 2 g_ij − 2 λ sign(b_ij)     (eq. 15)

The data term is the gradient exactly, factor 2 included. The regularisation is not: eq. 13 takes half of what eq. 12
gives, eq. 15 twice. So the paper's step is the exact ascent of the objective with λ/2 in the place of λ for L2, and
with 2λ for L1; λ is only a number to choose, and the library does as the paper does.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from capsviz.network import preset
from capsviz.routing.discriminative import (
    L1,
    L2,
    ascent_gradient,
    discriminative_routing,
    initial_coefficients,
    signs,
    sparsity,
)
from capsviz.routing.votes import DenseVotes, LinearVotes

from . import reference
from .capsules import capsules, direction_like, draw, permutation

penalties = st.sampled_from([L2, L1])
seeds = st.integers(0, 10_000)


def coefficients_for(sample, seed: int):
    """Coefficients b of both signs, away from zero where |b| has no gradient."""
    lower, upper = sample.votes.shape[1:3]
    b = torch.randn(lower, upper, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return b + 0.1 * b.sign()


def signs_for(sample, seed: int):
    """δ: +1 for the label of each sample, −1 for every other class."""
    batch, _, upper, _ = sample.votes.shape
    labels = torch.randint(upper, (batch,), generator=torch.Generator().manual_seed(seed))
    signs = torch.full((batch, upper), -1.0, dtype=torch.float64)
    return signs.scatter(1, labels[:, None], 1.0)


def route(votes, coefficients, **options):
    """The one step of discriminative routing."""
    (step,) = discriminative_routing(votes, coefficients, **options)
    return step


@pytest.mark.parametrize("kind", ["dense", "linear"])
@given(sample=capsules(), seed=seeds)
def test_forward_agrees_with_the_plain_loops(kind, sample, seed):
    b = coefficients_for(sample, seed)
    votes = DenseVotes(sample.votes) if kind == "dense" else LinearVotes(sample.poses, sample.weight)
    step = route(votes, b, agreement=True)
    assert step.iteration == 1
    assert (step.coefficients == b).all()
    for k, sample_votes in enumerate(sample.votes.numpy()):
        for name, value in reference.discriminative_routing(sample_votes, b.numpy()).items():
            actual = getattr(step, name)[k].numpy()
            np.testing.assert_allclose(actual, value, rtol=1e-10, atol=1e-10, err_msg=name)


def test_agreement_is_computed_on_request_only():
    sample = draw(batch=1, lower=2, upper=2, dim=2)
    assert route(DenseVotes(sample.votes), coefficients_for(sample, 0)).agreement is None


@given(capsules(), seeds)
def test_coefficients_are_free_to_be_negative(sample, seed):
    """There is no softmax: the sums are linear in b, and turn round with it."""
    b = coefficients_for(sample, seed)
    votes = LinearVotes(sample.poses, sample.weight)
    torch.testing.assert_close(route(votes, -2 * b).sums, -2 * route(votes, b).sums)


@given(capsules(), seeds)
def test_gradients_of_linear_votes_equal_those_of_stored_votes(sample, seed):
    poses, weight = sample.poses.requires_grad_(), sample.weight.requires_grad_()
    b = coefficients_for(sample, seed)
    linear = route(LinearVotes(poses, weight), b).poses
    dense = route(DenseVotes(torch.einsum("bid,idjh->bijh", poses, weight)), b).poses
    direction = direction_like(dense)
    for a, c in zip(
        torch.autograd.grad((linear * direction).sum(), (poses, weight)),
        torch.autograd.grad((dense * direction).sum(), (poses, weight)),
        strict=True,
    ):
        torch.testing.assert_close(a, c)


@given(capsules(), seeds)
def test_ascent_gradient_agrees_with_the_plain_loops(sample, seed):
    b, delta = coefficients_for(sample, seed), signs_for(sample, seed)
    sums = route(DenseVotes(sample.votes), b).sums
    expected = reference.ascent_gradient(sample.votes.numpy(), b.numpy(), delta.numpy())
    g = ascent_gradient(sample.poses, sample.weight, sums, delta)
    np.testing.assert_allclose(g.numpy(), expected, rtol=1e-9, atol=1e-9)


@given(capsules(), seeds)
def test_ascent_gradient_is_the_signed_agreement_summed_over_the_batch(sample, seed):
    """The heart of the comparison: û · s is the agreement, here signed by the label."""
    b, delta = coefficients_for(sample, seed), 0.5 * signs_for(sample, seed)
    step = route(LinearVotes(sample.poses, sample.weight), b, agreement=True)
    g = ascent_gradient(sample.poses, sample.weight, step.sums, delta)
    torch.testing.assert_close(g, (delta[:, None] * step.agreement).sum(dim=0))


@given(capsules(), seeds)
def test_data_term_is_the_autograd_gradient_exactly(sample, seed):
    """∂/∂b_ij Σ_k δ_jk ‖s_jk‖² = 2 g_ij, with λ = 0 in the library's own objective and in one written out here."""
    b, delta = coefficients_for(sample, seed).requires_grad_(), signs_for(sample, seed)
    sums = route(DenseVotes(sample.votes), b).sums
    g = ascent_gradient(sample.poses, sample.weight, sums.detach(), delta)
    (of_library,) = torch.autograd.grad(L2.objective(sums, delta, b, 0.0).sum(), b, retain_graph=True)
    written_out = sum(delta[k, j] * sums[k, j] @ sums[k, j] for k in range(len(sums)) for j in range(b.shape[1]))
    (of_formula,) = torch.autograd.grad(written_out, b)
    torch.testing.assert_close(2 * g, of_library)
    torch.testing.assert_close(2 * g, of_formula)


@given(capsules(), seeds, penalties, st.floats(0, 2))
def test_objective_is_the_formula(sample, seed, penalty, regularisation):
    b, delta = coefficients_for(sample, seed), signs_for(sample, seed)
    sums = route(DenseVotes(sample.votes), b).sums
    actual = penalty.objective(sums, delta, b, regularisation)
    assert actual.shape == (b.shape[1],)
    for j in range(b.shape[1]):
        expected = sum(float(delta[k, j]) * float(sums[k, j] @ sums[k, j]) for k in range(len(sums)))
        size = (b[:, j] ** 2).sum() if penalty is L2 else b[:, j].abs().sum()
        expected -= regularisation * float(size)
        assert float(actual[j]) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(capsules(), seeds, penalties, st.floats(0, 2), st.floats(1e-3, 1))
def test_the_step_is_what_the_paper_prescribes(sample, seed, penalty, regularisation, step):
    b, delta = coefficients_for(sample, seed), signs_for(sample, seed)
    g = ascent_gradient(sample.poses, sample.weight, route(DenseVotes(sample.votes), b).sums, delta)
    actual = penalty.ascend(b, g, step=step, regularisation=regularisation)
    expected = reference.ascend(b.numpy(), g.numpy(), step, regularisation, penalty.name)
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-10, atol=1e-10)


@given(capsules(), seeds, penalties, st.floats(0, 2), st.floats(1e-3, 1))
def test_the_step_is_the_exact_ascent_of_the_objective_at_another_lambda(sample, seed, penalty, regularisation, step):
    """b + γ ∂O/∂b, where O has λ/2 for λ (L2) or 2λ (L1): see the top of this file."""
    b, delta = coefficients_for(sample, seed).requires_grad_(), signs_for(sample, seed)
    sums = route(DenseVotes(sample.votes), b).sums
    g = ascent_gradient(sample.poses, sample.weight, sums.detach(), delta)
    effective = regularisation / 2 if penalty is L2 else 2 * regularisation
    (gradient,) = torch.autograd.grad(penalty.objective(sums, delta, b, effective).sum(), b)
    actual = penalty.ascend(b.detach(), g, step=step, regularisation=regularisation)
    torch.testing.assert_close(actual, b.detach() + step * gradient)


@given(capsules(), seeds)
def test_a_small_step_raises_the_objective(sample, seed):
    b, delta = coefficients_for(sample, seed), signs_for(sample, seed)
    votes = DenseVotes(sample.votes)

    def value(b):
        return float(L2.objective(route(votes, b).sums, delta, b, 0.0).sum())

    g = ascent_gradient(sample.poses, sample.weight, route(votes, b).sums, delta)
    curvature = 1 + float(sample.votes.square().sum())
    improved = L2.ascend(b, g, step=0.1 / curvature, regularisation=0.0)
    assert value(improved) >= value(b) - 1e-9 * (1 + abs(value(b)))


@given(capsules(), seeds)
def test_the_algorithms_ask_for_a_mean_over_the_batch_in_float32(sample, seed):
    batch = len(sample.votes)
    coefficients, targets = coefficients_for(sample, seed), signs_for(sample, seed) > 0
    sums = route(DenseVotes(sample.votes), coefficients).sums
    owner = SimpleNamespace(transform=sample.weight.transpose(0, 1))
    g = reference.ascent_gradient(sample.votes.numpy(), coefficients.numpy(), signs(targets).numpy()) / batch
    for algorithm in (L2, L1):
        found = algorithm.gradient(owner, sample.poses, sums, targets)
        assert found.dtype == torch.float32
        scale = max(1.0, np.abs(g).max())
        np.testing.assert_allclose(found.numpy() / scale, g / scale, rtol=1e-4, atol=1e-5)


def test_a_proximal_step_of_l2_is_refused():
    b = torch.ones(2, 2)
    with pytest.raises(ValueError, match=r"^the proximal step belongs to the l1 penalty; leave it out for l2$"):
        L2.ascend(b, b, step=0.1, regularisation=0.1, proximal=True)


def test_sign_of_zero_is_zero():
    """A coefficient that is exactly zero is not pushed by the L1 penalty (Yang, Li & Yu 2021, below eq. 14)."""
    b = torch.tensor([[0.0, 0.5, -0.5]])
    moved = L1.ascend(b, torch.zeros_like(b), step=0.1, regularisation=0.2)
    torch.testing.assert_close(moved, torch.tensor([[0.0, 0.46, -0.46]]))


@given(capsules(), seeds, st.floats(0, 2), st.floats(1e-3, 1))
def test_the_proximal_step_is_soft_thresholding(sample, seed, regularisation, step):
    b, delta = coefficients_for(sample, seed), signs_for(sample, seed)
    g = ascent_gradient(sample.poses, sample.weight, route(DenseVotes(sample.votes), b).sums, delta)
    actual = L1.ascend(b, g, step=step, regularisation=regularisation, proximal=True)
    expected = reference.ascend_proximal(b.numpy(), g.numpy(), step, regularisation)
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-9, atol=1e-10)


def test_only_the_proximal_step_lands_on_exact_zeros():
    """Without data, the L1 penalty alone shrinks b: soft-thresholding stops at zero, the subgradient steps over it."""
    b = 0.1 + 0.01 * torch.randn(64, 10, dtype=torch.float64)
    subgradient, proximal = b, b
    for _ in range(100):
        nothing = torch.zeros_like(b)
        subgradient = L1.ascend(subgradient, nothing, step=0.01, regularisation=0.1)
        proximal = L1.ascend(proximal, nothing, step=0.01, regularisation=0.1, proximal=True)
    assert (proximal == 0).all()
    assert sparsity(proximal).exact == 1.0
    assert sparsity(subgradient).exact == 0.0
    assert subgradient.abs().max() <= 2 * 0.01 * 0.1 + 1e-12, "the subgradient oscillates around zero"


def test_sparsity_counts_exact_and_near_zeros():
    """Near: below a thousandth of the largest coefficient."""
    measured = sparsity(torch.tensor([[2.0, -1.0, 0.0, 0.0, 1.5], [1.9e-3, -1.9e-3, 2.1e-3, -0.5, 1.0]]))
    assert measured.exact == pytest.approx(2 / 10)
    assert measured.near == pytest.approx(4 / 10)
    assert sparsity(torch.tensor([1024.0, 1.024, 0.0])).near == pytest.approx(1 / 3), "a thousandth is not below it"


def test_coefficients_begin_around_their_start_with_noise_of_the_generator():
    drawn = initial_coefficients(3, 2, 0.3, torch.Generator().manual_seed(4))
    noise = torch.randn(3, 2, generator=torch.Generator().manual_seed(4))
    torch.testing.assert_close(drawn, 0.3 + 0.01 * noise)


@pytest.mark.parametrize("record", [False, True])
def test_the_method_routes_by_its_coefficients_and_records_the_agreement_where_asked(record):
    sample = draw(batch=2, lower=3, upper=4, dim=5, seed=0)
    b = coefficients_for(sample, 0)
    owner: Any = SimpleNamespace(coefficients=b)
    activations = sample.votes.new_ones(2, 3)
    settings = preset("tiny", "digits", L2.name)
    [step] = L2.route(owner, DenseVotes(sample.votes), activations, settings, iterations=3, record=record)
    torch.testing.assert_close(step.sums, torch.einsum("bijh,ij->bjh", sample.votes, b))
    assert (step.agreement is not None) == record


def test_all_zero_coefficients_are_all_zeros_exactly_and_nearly():
    measured = sparsity(torch.zeros(3, 2))
    assert (measured.exact, measured.near) == (1.0, 1.0)


def test_signs_are_plus_one_for_labels_and_minus_one_elsewhere():
    """Two labels in one image, as in MultiMNIST, are both +1 (Yang, Li & Yu 2021, eq. 5b)."""
    targets = torch.tensor([[True, False, False], [False, True, True]])
    assert signs(targets).tolist() == [[1, -1, -1], [-1, 1, 1]]


@given(capsules(), seeds, seeds)
def test_permuting_lower_capsules_changes_nothing(sample, seed, order_seed):
    b, delta = coefficients_for(sample, seed), signs_for(sample, seed)
    order = permutation(sample.votes.shape[1], order_seed)
    step = route(LinearVotes(sample.poses, sample.weight), b)
    permuted = route(LinearVotes(sample.poses[:, order], sample.weight[order]), b[order])
    torch.testing.assert_close(permuted.poses, step.poses)
    g = ascent_gradient(sample.poses, sample.weight, step.sums, delta)
    permuted_g = ascent_gradient(sample.poses[:, order], sample.weight[order], permuted.sums, delta)
    torch.testing.assert_close(permuted_g, g[order])


@given(capsules(), seeds, seeds)
def test_permuting_upper_capsules_permutes_poses_and_gradient(sample, seed, order_seed):
    b, delta = coefficients_for(sample, seed), signs_for(sample, seed)
    order = permutation(sample.votes.shape[2], order_seed)
    step = route(DenseVotes(sample.votes), b)
    permuted = route(DenseVotes(sample.votes[:, :, order]), b[:, order])
    torch.testing.assert_close(permuted.poses, step.poses[:, order])
    g = ascent_gradient(sample.poses, sample.weight, step.sums, delta)
    permuted_g = ascent_gradient(sample.poses, sample.weight[:, :, order], permuted.sums, delta[:, order])
    torch.testing.assert_close(permuted_g, g[:, order])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_low_precision_is_finite_and_close(dtype):
    sample = draw(batch=8, lower=128, upper=10, dim=16, d=8, scale=0.1, seed=7)
    b, delta = coefficients_for(sample, 1), signs_for(sample, 2)
    exact = route(LinearVotes(sample.poses, sample.weight), b)
    step = route(LinearVotes(sample.poses.to(dtype), sample.weight.to(dtype)), b.to(dtype))
    torch.testing.assert_close(step.poses.double(), exact.poses, rtol=0, atol=0.05)
    g = ascent_gradient(sample.poses, sample.weight, exact.sums, delta)
    low = ascent_gradient(sample.poses.to(dtype), sample.weight.to(dtype), step.sums, signs(delta > 0))
    assert low.isfinite().all()
    assert torch.nn.functional.cosine_similarity(low.double().flatten(), g.flatten(), dim=0) > 0.999


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_zero_coefficients_leave_finite_gradients(dtype):
    """All b zero gives s = 0 for every class: squash and its length must still have a gradient."""
    poses = torch.randn(2, 6, 4, dtype=dtype, requires_grad=True)
    weight = torch.randn(6, 4, 3, 5, dtype=dtype, requires_grad=True)
    step = route(LinearVotes(poses, weight), torch.zeros(6, 3, dtype=dtype))
    assert (step.poses == 0).all() and (step.activations < 1e-6).all()
    for gradient in torch.autograd.grad(step.activations.sum() + step.poses.sum(), (poses, weight)):
        assert gradient.isfinite().all()
