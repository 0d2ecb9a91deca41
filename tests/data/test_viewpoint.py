"""Shifts, rotations and scalings against their definitions."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2 import functional as torchvision_functional

from capsviz.data.viewpoint import affine, shift


def _images(dtype=torch.uint8, batch=3, channels=2, height=7, width=9):
    generator = torch.Generator().manual_seed(1)
    return torch.randint(0, 256, (batch, channels, height, width), generator=generator).to(dtype)


@given(st.integers(-12, 12), st.integers(-12, 12), st.sampled_from([torch.uint8, torch.float32, torch.bfloat16]))
def test_a_shift_moves_pixels_and_fills_with_zeros(dx, dy, dtype):
    images = _images(dtype)
    moved = shift(images, dx, dy)
    assert moved.dtype == dtype
    assert moved.shape == images.shape
    for row in range(7):
        for column in range(9):
            inside = 0 <= row - dy < 7 and 0 <= column - dx < 9
            expected = images[:, :, row - dy, column - dx] if inside else torch.zeros_like(images[:, :, 0, 0])
            assert torch.equal(moved[:, :, row, column], expected)


def test_every_image_can_have_its_own_shift():
    images = _images()
    moved = shift(images, torch.tensor([0, 1, -2]), torch.tensor([1, 0, 3]))
    for index, (dx, dy) in enumerate([(0, 1), (1, 0), (-2, 3)]):
        assert torch.equal(moved[index : index + 1], shift(images[index : index + 1], dx, dy))


def test_a_shift_by_part_of_a_pixel_is_refused():
    with pytest.raises(TypeError, match="whole pixels"):
        shift(_images(), torch.tensor([0.5, 0.0, 0.0]), 0)


def test_a_shift_passes_gradients():
    images = torch.rand(2, 1, 4, 4, requires_grad=True)
    shift(images, 1, 0).sum().backward()
    assert images.grad is not None
    assert torch.equal(images.grad[:, :, :, :3], torch.ones(2, 1, 4, 3))
    assert int(images.grad[..., 3].sum()) == 0


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_a_quarter_turn_is_exact_and_anticlockwise(dtype):
    images = _images(dtype, height=8, width=8)
    torch.testing.assert_close(affine(images, degrees=90.0), torch.rot90(images, 1, (2, 3)), atol=1e-3, rtol=0)


def test_a_rotation_of_an_oblong_image_keeps_its_proportions():
    images = torch.zeros(1, 1, 21, 41)
    images[0, 0, 10, 28] = 1  # eight pixels right of the centre …
    turned = affine(images, degrees=90.0)
    assert float(turned[0, 0, 2, 20]) == pytest.approx(1, abs=1e-4)  # … is eight pixels above it


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_in_half_precision_only_the_result_is_rounded(dtype):
    images = (torch.rand(1, 1, 224, 224) > 0.5).to(dtype)
    turned = affine(images, degrees=20.0)
    assert turned.dtype == dtype
    assert torch.equal(turned, affine(images.float(), degrees=20.0).to(dtype))


def test_no_images_are_none_turned_either():
    assert affine(_images()[:0], degrees=10.0).shape == (0, 2, 7, 9)


@pytest.mark.parametrize(
    "change", [lambda images: affine(images, degrees=0.0), lambda images: affine(images, factor=1.0)]
)
def test_no_change_changes_nothing(change):
    assert torch.equal(change(_images()), _images())


def test_each_image_can_have_its_own_angle():
    images = _images(torch.float32, height=8, width=8)
    turned = affine(images, degrees=torch.tensor([0.0, 30.0, 90.0]))
    torch.testing.assert_close(turned[1:2], affine(images[1:2], degrees=30.0))


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_scaling_multiplies_the_area(factor):
    images = torch.zeros(1, 1, 32, 32)
    images[:, :, 12:20, 12:20] = 1
    assert float(affine(images, factor=factor).sum()) == pytest.approx(64 * factor**2, rel=0.15)


@pytest.mark.parametrize("factor", [0.0, -1.0])
def test_a_scale_that_is_none_is_refused(factor):
    with pytest.raises(ValueError, match="above 0"):
        affine(_images(), factor=factor)


@pytest.mark.parametrize(
    ("degrees", "factor", "shear"), [(20.0, 1.0, 0.0), (0.0, 0.8, 0.0), (0.0, 1.0, 15.0), (-35.0, 1.3, -20.0)]
)
@pytest.mark.parametrize(("height", "width"), [(16, 16), (15, 22)])
def test_turning_scaling_and_shearing_are_those_of_torchvision(degrees, factor, shear, height, width):
    images = torch.rand(2, 1, height, width, generator=torch.Generator().manual_seed(4))
    bilinear = InterpolationMode.BILINEAR
    expected = torchvision_functional.affine(images, -degrees, [0, 0], factor, [shear, 0.0], interpolation=bilinear)
    found = affine(images, degrees=degrees, factor=factor, shear=shear)
    torch.testing.assert_close(found, expected, atol=2e-5, rtol=0)
