"""The convolution by Fourier coefficients against PyTorch's own, in results and in every gradient."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from capsviz.network import CapsNet, preset
from capsviz.network.convolution import WORTH, Conv2d
from capsviz.network.fourier import FourierConvolution, Plan
from tests.known import known

SIZES = [(20, 9, 2), (24, 9, 2), (21, 9, 2), (7, 3, 3), (8, 3, 3), (9, 4, 3), (6, 1, 1), (9, 5, 1), (10, 3, 4)]
"""Side of the images and of the kernel, and the stride: some leave pixels unseen, some kernels end within a stride."""


def gradients(output: torch.Tensor, weight: torch.Tensor, *of: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return (output.detach(), *torch.autograd.grad((output * weight.to(output.dtype)).sum(), of))


@pytest.mark.parametrize(("side", "kernel", "stride"), SIZES)
def test_results_and_gradients_are_those_of_pytorch(side: int, kernel: int, stride: int):
    theirs = nn.Conv2d(3, 5, kernel, stride).double()
    images = torch.randn(4, 3, side, side, dtype=torch.float64, requires_grad=True)
    of = (images, theirs.weight, known(theirs.bias))
    weight = torch.randn_like(theirs(images))
    ours = FourierConvolution.apply(*of, (stride, stride))
    for mine, yours in zip(gradients(ours, weight, *of), gradients(theirs(images), weight, *of), strict=True):
        torch.testing.assert_close(mine, yours, rtol=1e-9, atol=1e-11)


def test_height_and_width_kernel_and_stride_may_differ():
    images, weight, bias = torch.randn(2, 3, 11, 20), torch.randn(4, 3, 3, 7), torch.randn(4)
    ours = FourierConvolution.apply(images.double(), weight.double(), bias.double(), (1, 3))
    theirs = nn.functional.conv2d(images.double(), weight.double(), bias.double(), (1, 3))
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-11)


def test_it_takes_little_more_than_a_third_of_the_multiplications_of_the_papers_network():
    """Counted by hand: 100 coefficients of 10 × 10 pixels, of which 52 are left, each times four products."""
    plan = Plan((20, 20), (9, 9), (2, 2))
    assert (plan.outputs, plan.taps, plan.period, len(plan.frequencies)) == ((6, 6), (5, 5), (10, 10), 52)
    direct = 128 * 36 * 81 * 256 * 256
    products, transforms = 4 * 52 * 128 * 1024 * 256, 104 * (100 * 128 * 1024 + 25 * 1024 * 256 + 36 * 128 * 256)
    assert plan.gain(128, 256, 256) == pytest.approx(direct / (products + transforms))
    assert plan.gain(128, 256, 256) > 2.6 and plan.gain(1, 256, 256) < 1


@pytest.mark.long
def test_under_autocast_it_is_as_precise_as_bfloat16():
    ours, theirs = (kind(64, 48, 9, 2).to(memory_format=torch.channels_last) for kind in (Conv2d, nn.Conv2d))
    ours.load_state_dict(theirs.state_dict())
    images = torch.rand(64, 64, 20, 20).to(memory_format=torch.channels_last).requires_grad_()
    weight = torch.randn_like(theirs(images))
    exact = gradients(theirs(images), weight, images, *theirs.parameters())
    with torch.autocast("cpu", torch.bfloat16):
        found, usual = ours(images), theirs(images)
        assert "FourierConvolution" in type(found.grad_fn).__name__
        with torch.inference_mode():
            assert torch.equal(ours(images), found)
    found = gradients(found, weight, images, *ours.parameters())
    usual = gradients(usual, weight, images, *theirs.parameters())
    assert found[0].dtype == torch.bfloat16 and found[2].dtype == torch.float32
    assert found[0].is_contiguous(memory_format=torch.channels_last)
    for mine, bfloat16, yours in zip(found, usual, exact, strict=True):
        # Of a CPU's own bfloat16 convolution, which has another error where the CPU has no instructions for it.
        assert (mine.float() - yours).norm() < 2 * (bfloat16.float() - yours).norm()
        assert (mine.float() - yours).norm() < 0.01 * yours.norm()


def test_where_nothing_is_learned_the_images_get_their_gradient_and_without_gradients_nothing_is_kept():
    layer = Conv2d(64, 48, 9, 2).requires_grad_(False)
    images = torch.rand(64, 64, 20, 20, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        layer(images).sum().backward()
        assert images.grad is not None and layer.weight.grad is None
        with torch.no_grad():
            assert layer(images).grad_fn is None


def test_while_float32_weights_are_trained_it_is_exact_to_their_rounding_and_otherwise_the_ordinary_one():
    layer = CapsNet(preset("compact", "mnist", "dr")).encoder.primary
    assert isinstance(layer, Conv2d)
    assert layer._gain(torch.rand(128, 64, 20, 20)) > WORTH[torch.float32] > layer._gain(torch.rand(16, 64, 20, 20))
    images = torch.rand(128, 64, 20, 20, requires_grad=True)
    found, usual = layer(images), nn.Conv2d.forward(layer, images)
    assert "FourierConvolution" in type(found.grad_fn).__name__
    weight = torch.randn_like(usual)
    of = (images, *layer.parameters())
    for mine, yours in zip(gradients(found, weight, *of), gradients(usual, weight, *of), strict=True):
        assert mine.dtype == torch.float32
        assert (mine - yours).norm() < 2e-6 * yours.norm()
    with torch.no_grad():
        assert torch.equal(layer(images), usual)
    assert torch.equal(layer(images[:16]), nn.Conv2d.forward(layer, images[:16]))
    layer.eval()
    assert torch.equal(layer(images), usual)
    assert type(layer(images).grad_fn).__name__ == "ConvolutionBackward0"


def test_single_images_in_bfloat16_and_numbers_of_any_other_precision_are_convolved_by_pytorch():
    layer = Conv2d(64, 256, 9, 2)
    images = torch.rand(128, 64, 20, 20)
    assert layer._gain(images[:1]) < WORTH[torch.bfloat16]
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(layer(images[:1]), nn.Conv2d.forward(layer, images[:1]))
    images = torch.rand(32, 64, 20, 20)
    layer = layer.double()
    assert layer._gain(images) > WORTH[torch.bfloat16]
    assert type(layer(images.double()).grad_fn).__name__ == "ConvolutionBackward0"
