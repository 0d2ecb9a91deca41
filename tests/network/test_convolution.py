"""The convolution with a backward pass of its own against PyTorch's, in results and in every gradient."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from capsviz.network.convolution import Conv2d


def gradients(layer: nn.Conv2d, images: torch.Tensor, weight: torch.Tensor) -> list[torch.Tensor]:
    """What the layer gives, and the gradients of images, weight and bias."""
    images = images.clone().requires_grad_()
    output = layer(images)
    (output * weight.to(output.dtype)).sum().backward()
    return [output.detach(), images.grad, layer.weight.grad, layer.bias.grad]


@pytest.mark.parametrize(
    ("side", "kernel", "stride"), [(20, 9, 2), (24, 9, 2), (7, 3, 3), (8, 3, 3), (6, 1, 1), (9, 5, 1)]
)
def test_results_and_gradients_are_those_of_pytorch(side: int, kernel: int, stride: int):
    ours, theirs = (kind(3, 5, kernel, stride).double() for kind in (Conv2d, nn.Conv2d))
    ours.load_state_dict(theirs.state_dict())
    images = torch.randn(4, 3, side, side, dtype=torch.float64)
    weight = torch.randn_like(theirs(images))
    for mine, yours in zip(gradients(ours, images, weight), gradients(theirs, images, weight), strict=True):
        torch.testing.assert_close(mine, yours)


def test_under_autocast_the_parameters_keep_their_precision_and_the_gradients_are_close():
    ours, theirs = (kind(8, 16, 9, 2).to(memory_format=torch.channels_last) for kind in (Conv2d, nn.Conv2d))
    ours.load_state_dict(theirs.state_dict())
    images = torch.rand(16, 8, 20, 20).to(memory_format=torch.channels_last)
    weight = torch.randn_like(theirs(images))
    exact = gradients(theirs, images, weight)
    with torch.autocast("cpu", torch.bfloat16):
        found = gradients(ours, images, weight)
    assert found[0].dtype == torch.bfloat16 and found[2].dtype == torch.float32
    for mine, yours in zip(found, exact, strict=True):
        assert (mine.float() - yours).norm() < 0.01 * yours.norm()


def test_where_nothing_is_learned_the_images_get_their_gradient_and_without_gradients_nothing_is_kept():
    layer = Conv2d(3, 5, 3, 2).requires_grad_(False)
    images = torch.rand(2, 3, 9, 9, requires_grad=True)
    layer(images).sum().backward()
    assert images.grad is not None and layer.weight.grad is None
    with torch.no_grad():
        assert layer(images).grad_fn is None
