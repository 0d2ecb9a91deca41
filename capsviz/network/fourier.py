"""A convolution as products of Fourier coefficients: for large kernels little more than a third of the multiplications.

Each phase of the stride becomes a channel, so that the stride becomes one; the transforms are so short that products
with their matrices are fast, and leave what they give laid out for the batched products of matrices that follow;
`torch.fft` knows no bfloat16. Mathieu, Henaff & LeCun 2014, "Fast training of convolutional networks through FFTs".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

Size = tuple[int, int]
"""Height and width."""


@dataclass(frozen=True)
class Plan:
    """The sizes of a convolution without padding: of images and kernels in pixels, and its stride."""

    images: Size
    kernel: Size
    stride: Size

    @cached_property
    def outputs(self) -> Size:
        """Size of what comes out."""
        high, wide = ((n - k) // s + 1 for n, k, s in zip(self.images, self.kernel, self.stride, strict=True))
        return high, wide

    @cached_property
    def taps(self) -> Size:
        """Size of a kernel's part in one phase."""
        high, wide = (-(-k // s) for k, s in zip(self.kernel, self.stride, strict=True))
        return high, wide

    @cached_property
    def period(self) -> Size:
        """Length of the transforms: what wraps around does not reach the outputs."""
        high, wide = (n + t - 1 for n, t in zip(self.outputs, self.taps, strict=True))
        return high, wide

    @cached_property
    def frequencies(self) -> list[Size]:
        """Of each two that are conjugates of each other, as all are for real images, the first."""
        high, wide = self.period
        return [(u, v) for u, v in product(range(high), range(wide)) if (u, v) <= (-u % high, -v % wide)]

    def gain(self, batch: int, channels: int, out: int) -> float:
        """How many times fewer multiplications this takes than the convolution as it is written."""
        direct = batch * math.prod(self.outputs) * math.prod(self.kernel) * channels * out
        folded, rows = math.prod(self.stride) * channels, 2 * len(self.frequencies)
        images, kernels, outputs = (math.prod(size) for size in (self.period, self.taps, self.outputs))
        there_and_back = rows * (images * batch * folded + kernels * folded * out + outputs * batch * out)
        return direct / (there_and_back + rows * 2 * batch * folded * out)


def transforms(plan: Plan, like: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Matrices that transform images and kernels, "2*frequency place", and back to outputs, "place 2*frequency".

    Real parts come first. Kernels are conjugated: a network's convolution is a correlation. like: of which precision
    they are. They are kept, but for a tensor that only stands for one, which must meet none with numbers and none of
    which may be met later.
    """
    return (_transforms if type(like) is Tensor else _transforms.__wrapped__)(plan, like.dtype)


@lru_cache(maxsize=32)
def _transforms(plan: Plan, precision: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    with torch.inference_mode(False):
        high, wide = plan.period
        u, v = torch.tensor(plan.frequencies, dtype=torch.float64).T
        angle = u[:, None, None] * torch.arange(high)[:, None] / high + v[:, None, None] * torch.arange(wide) / wide
        real, imaginary = (2 * math.pi * angle).cos(), -(2 * math.pi * angle).sin()
        alone = torch.tensor([(2 * u % high, 2 * v % wide) == (0, 0) for u, v in plan.frequencies])
        weight = torch.where(alone, 1.0, 2.0).double()[:, None, None] / (high * wide)

        def rows(parts: tuple[Tensor, Tensor], size: Size) -> Tensor:
            return torch.cat(parts)[:, : size[0], : size[1]].flatten(1).to(precision)

        back = rows((weight * real, weight * imaginary), plan.outputs)
        return rows((real, imaginary), plan.period), rows((real, -imaginary), plan.taps), back.T.contiguous()


class FourierConvolution(torch.autograd.Function):
    """`torch.nn.functional.conv2d` of images, weight and bias of one precision and a stride, and its gradients."""

    @staticmethod
    def forward(
        ctx: Any,
        images: Float[Tensor, "batch channel height width"],
        weight: Float[Tensor, "out channel high wide"],
        bias: Float[Tensor, " out"],
        stride: Size,
    ) -> Float[Tensor, "batch out down right"]:
        """Also under `torch.inference_mode`; outputs have channels last."""
        (height, width), (high, wide) = images.shape[2:], weight.shape[2:]
        plan = Plan((height, width), (high, wide), stride)
        of_images, of_kernels, back = transforms(plan, images)
        seen = _along(of_images, _folded(images, plan.period, stride)).unflatten(0, (2, -1))
        kernels = _along(of_kernels, _folded(weight, plan.taps, stride)).unflatten(0, (2, -1))
        places = _along(back, _multiplied(seen, kernels.transpose(2, 3)).flatten(0, 1)) + bias
        ctx.plan, ctx.shapes = plan, (images.shape, weight.shape)
        ctx.save_for_backward(seen, kernels)
        return places.unflatten(0, plan.outputs).permute(2, 3, 0, 1).contiguous(memory_format=torch.channels_last)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor, None]:
        """The same products the other way round."""
        plan, (seen, kernels) = ctx.plan, ctx.saved_tensors
        of_images, of_kernels, back = transforms(plan, gradient)
        places = gradient.permute(2, 3, 0, 1).flatten(0, 1).contiguous()
        incoming = _along(back.T, places).unflatten(0, (2, -1))
        images = weight = None
        if ctx.needs_input_grad[0]:
            below = _multiplied(incoming, kernels, conjugated=True).flatten(0, 1)
            images = _unfolded(_along(of_images.T, below), ctx.shapes[0], plan.period, plan.stride)
        if ctx.needs_input_grad[1]:
            own = _multiplied(incoming.transpose(2, 3), seen, conjugated=True).flatten(0, 1)
            weight = _unfolded(_along(of_kernels.T, own), ctx.shapes[1], plan.taps, plan.stride)
        return images, weight, places.sum((0, 1)), None


def _folded(images: Tensor, size: Size, stride: Size) -> Tensor:
    """Phases as channels: "n channel height width" to "place n phase*channel", of this size in each phase."""
    (high, wide), (down, right) = size, stride
    images = functional.pad(images, (0, wide * right - images.shape[3], 0, high * down - images.shape[2]))
    parts = images.permute(0, 2, 3, 1).unflatten(2, (wide, right)).unflatten(1, (high, down))
    return parts.permute(1, 3, 0, 2, 4, 5).reshape(high * wide, len(images), -1)


def _unfolded(places: Tensor, shape: torch.Size, size: Size, stride: Size) -> Tensor:
    """What `_folded` got, of this shape, with channels last."""
    parts = places.view(*size, shape[0], *stride, shape[1]).permute(2, 0, 3, 1, 4, 5)
    images = parts.flatten(3, 4).flatten(1, 2).permute(0, 3, 1, 2)
    return functional.pad(images, (0, shape[3] - images.shape[3], 0, shape[2] - images.shape[2]))


def _along(matrix: Tensor, places: Tensor) -> Tensor:
    """A transform along the first axis: "row place" times "place n channel"."""
    return (matrix @ places.flatten(1)).unflatten(1, places.shape[1:])


def _multiplied(a: Tensor, b: Tensor, *, conjugated: bool = False) -> Tensor:
    """Complex matrices, "2 frequency n k" times "2 frequency k m", the second conjugated where that is said."""
    sign = -1 if conjugated else 1
    made = a.new_empty(*a.shape[:3], b.shape[3])
    torch.bmm(a[0], b[0], out=made[0]).baddbmm_(a[1], b[1], alpha=-sign)
    torch.bmm(a[1], b[0], out=made[1]).baddbmm_(a[0], b[1], alpha=sign)
    return made
