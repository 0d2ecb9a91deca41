"""A viewpoint: each of its changes is torchvision's, all of them at once too, and none of them changes nothing."""

from __future__ import annotations

import pytest
import torch
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2 import functional as torchvision_functional

from capsviz.data.exemplars import exemplars
from capsviz.data.viewpoint import CHANGES, Viewpoint, brighten, shift, transformed


def _digits() -> torch.Tensor:
    return exemplars("mnist").images[:4]


def _torchvision(images: torch.Tensor, viewpoint: Viewpoint) -> torch.Tensor:
    moved = torchvision_functional.affine(
        images,
        -viewpoint.rotation,
        [viewpoint.right, viewpoint.down],
        viewpoint.scale,
        [viewpoint.shear, 0.0],
        interpolation=InterpolationMode.BILINEAR,
        fill=0,
    )
    return torchvision_functional.adjust_brightness(moved, viewpoint.brightness)


VIEWPOINTS = [Viewpoint(**{change.name: amount}) for change in CHANGES.values() for amount in (change.low, change.high)]
VIEWPOINTS += [Viewpoint(-35.0, 3.0, -2.0, 1.3, 20.0, 0.7), Viewpoint(right=0.5, down=-1.25, scale=0.8)]


@pytest.mark.parametrize("viewpoint", VIEWPOINTS, ids=repr)
def test_every_change_is_that_of_torchvision(viewpoint: Viewpoint):
    images = _digits()
    floating = images.double() / 255
    torch.testing.assert_close(viewpoint(floating), _torchvision(floating, viewpoint), atol=1e-4, rtol=0)
    apart = (viewpoint(images).int() - _torchvision(images, viewpoint).int()).abs()
    assert viewpoint(images).dtype == torch.uint8
    assert int(apart.max()) <= 1, "rounded to bytes"
    assert float((apart > 0).double().mean()) < 0.01
    assert not torch.equal(viewpoint(images), images)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_no_change_is_the_image_bit_for_bit(dtype: torch.dtype):
    images = _digits().to(dtype)
    nothing = {change.name: change.neutral for change in CHANGES.values()}
    assert not Viewpoint(**nothing)
    assert torch.equal(Viewpoint(**nothing)(images), images)
    assert torch.equal(transformed(_digits(), nothing), _digits())


def test_a_shift_by_whole_pixels_is_that_of_whole_pixels():
    moved = Viewpoint(right=3.0, down=-2.0)(_digits())
    assert torch.equal(moved, shift(_digits(), 3, -2))
    stacked = Viewpoint(right=3.0, down=-2.0)(torch.stack([_digits(), _digits()]))
    assert torch.equal(stacked, torch.stack([moved, moved]))


def test_each_image_has_its_own_amounts():
    amounts = {"rotation": torch.tensor([0.0, 10.0, -60.0, 33.0]), "brightness": torch.tensor([1.0, 0.3, 1.7, 1.2])}
    found = transformed(_digits(), amounts)
    for place, image in enumerate(_digits()):
        alone = Viewpoint(**{name: float(values[place]) for name, values in amounts.items()})
        assert torch.equal(found[place], alone(image))


def test_a_viewpoint_says_what_it_changes():
    viewpoint = Viewpoint(rotation=-30.0, right=2.0, scale=1.2)
    assert str(viewpoint) == "rotation −30°, shift right 2 px, scale × 1.2"
    assert eval(repr(viewpoint), {"Viewpoint": Viewpoint}) == viewpoint
    assert repr(Viewpoint()) == "Viewpoint()"


def test_darker_than_black_is_refused():
    with pytest.raises(ValueError, match="at least 0"):
        brighten(_digits(), -0.1)
