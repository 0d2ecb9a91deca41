"""squash shortens a vector to below one and turns it nowhere, also at and near zero.

Source: *Encapsulating Capsule Networks*, eq. 10.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from capsviz.routing.squash import squash

from . import reference

DTYPES = [torch.float32, torch.bfloat16, torch.float64]
vectors = st.lists(st.floats(-50, 50, allow_nan=False), min_size=1, max_size=6)


@given(vectors)
def test_squash_is_its_formula(entries):
    s = np.array(entries)
    np.testing.assert_allclose(squash(torch.from_numpy(s)).numpy(), reference.squash(s), rtol=1e-10, atol=1e-12)


@given(vectors)
def test_a_squashed_vector_is_shorter_than_one(entries):
    assert squash(torch.tensor(entries, dtype=torch.float64)).norm() < 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_squashed_vector_is_never_longer_than_one_beyond_rounding(dtype):
    directions = torch.nn.functional.normalize(torch.randn(64, 16, dtype=torch.float64), dim=-1)
    lengths = torch.logspace(-6, 6, 64, dtype=torch.float64)[:, None]
    squashed = squash((lengths * directions).to(dtype))
    assert (squashed.double().norm(dim=-1) <= 1 + torch.finfo(dtype).eps).all()


# Of factors nearer to 1 rounding may turn the order about.
factors = st.floats(0.05, 20).filter(lambda factor: abs(factor - 1) > 1e-9)


@given(st.lists(st.floats(0.01, 50), min_size=1, max_size=6), factors)
def test_squash_keeps_the_direction_and_the_order_of_lengths(entries, factor):
    s = torch.tensor(entries, dtype=torch.float64)
    cosine = torch.nn.functional.cosine_similarity(squash(s), s, dim=0)
    torch.testing.assert_close(cosine, torch.ones_like(cosine))
    longer = squash(factor * s).norm() - squash(s).norm()
    assert longer * (factor - 1) > 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0.0, 1e-30, 1e-12, 1e-6])
def test_value_and_gradient_are_finite_and_vanish_at_and_near_zero(dtype, size):
    s = torch.full((2, 16), size, dtype=dtype, requires_grad=True)
    v = squash(s)
    (gradient,) = torch.autograd.grad(v.sum(), s)
    assert v.isfinite().all() and gradient.isfinite().all()
    # v ≈ ‖s‖ s near zero, so the value goes with the square of the length and the gradient with the length
    assert v.abs().max() <= 1e-6
    assert gradient.abs().max() <= 1e-3


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_gradient_of_a_length_is_finite_at_zero(dtype):
    """The margin loss sees ‖v‖, and a capsule that gets no vote has s = 0 exactly."""
    s = torch.zeros(2, 16, dtype=dtype, requires_grad=True)
    (gradient,) = torch.autograd.grad(squash(s).square().sum(), s)
    assert gradient.isfinite().all()


@pytest.mark.parametrize("size", [1e2, 1e6, 1e12])
def test_a_long_vector_becomes_a_unit_vector(size):
    v = squash(torch.full((4,), size, dtype=torch.float32))
    torch.testing.assert_close(v, torch.full((4,), 0.5), rtol=1e-3, atol=0)


def test_gradcheck():
    s = torch.randn(3, 4, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(squash, (s,))
    assert torch.autograd.gradcheck(squash, ((0.01 * s.detach()).requires_grad_(),))
