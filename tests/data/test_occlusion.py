"""Blanked squares against their definition."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from capsviz.data.occlusion import blank
from tests.known import known


@given(st.integers(0, 6), st.integers(0, 8), st.integers(1, 6))
def test_a_square_about_the_centre_is_zero_and_nothing_else_changes(row, column, side):
    images = torch.randint(1, 256, (2, 3, 7, 9), dtype=torch.uint8)
    blanked = blank(images, torch.tensor([[row, column], [3, 4]]), side)
    assert blanked.dtype == images.dtype
    for image, (middle, centre) in enumerate([(row, column), (3, 4)]):
        hidden = {
            (above, left)
            for above in range(middle - side // 2, middle - side // 2 + side)
            for left in range(centre - side // 2, centre - side // 2 + side)
        }
        for place in ((above, left) for above in range(7) for left in range(9)):
            expected = torch.zeros(3, dtype=torch.uint8) if place in hidden else images[image, :, *place]
            assert torch.equal(blanked[image, :, *place], expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_gradients_pass_where_nothing_is_blanked(dtype):
    images = torch.rand(1, 1, 5, 5, dtype=dtype, requires_grad=True)
    blank(images, torch.tensor([[2, 2]]), 3).sum().backward()
    gradient = known(images.grad)
    assert gradient[0, 0].count_nonzero() == 25 - 9 and gradient.max() == 1
