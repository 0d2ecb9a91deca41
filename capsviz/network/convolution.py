"""A convolution whose weight gradient is computed as a convolution, too: on a CPU that is what oneDNN does faster."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional
from torch.nn.grad import conv2d_input


class Conv2d(nn.Conv2d):
    """`torch.nn.Conv2d` without padding, dilation and groups, with the same result and the same gradients.

    Each weight's gradient sums, over images and positions, input times gradient of the output. That is a convolution in
    which images take the place of channels and the stride that of the dilation. In bfloat16 oneDNN is faster at it than
    at its own kernel for that gradient; "encoder both ways" of `capsviz benchmark` measures it.
    """

    def forward(self, images: Float[Tensor, "batch channel height width"]) -> Float[Tensor, "batch out high wide"]:
        """As `torch.nn.Conv2d`, also under autocast; the gradients cannot be differentiated again."""
        if images.device.type != "cpu" or not torch.is_grad_enabled():
            return super().forward(images)
        assert self.bias is not None and self.padding == (0, 0) and self.dilation == (1, 1) and self.groups == 1
        precision = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else images.dtype
        inputs = (each.to(precision) for each in (images, self.weight, self.bias))
        return _Convolution.apply(*inputs, self.stride)


class _Convolution(torch.autograd.Function):
    @staticmethod
    def forward(images: Tensor, weight: Tensor, bias: Tensor, stride: tuple[int, int]) -> Tensor:
        return functional.conv2d(images, weight, bias, stride)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor, tuple[int, int]], output: Tensor) -> None:
        images, weight, _, ctx.stride = inputs
        ctx.save_for_backward(images, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor, None]:
        images, weight = ctx.saved_tensors
        below = None
        if ctx.needs_input_grad[0]:
            below = conv2d_input(images.shape, weight, gradient, stride=ctx.stride)
        # What lies beyond the last window's edge was never seen.
        seen = images
        for axis in (2, 3):
            reach = weight.shape[axis] + ctx.stride[axis - 2] * (gradient.shape[axis] - 1)
            seen = seen.narrow(axis, 0, reach)
        seen, heard = _exchanged(seen), _exchanged(gradient)
        own = functional.conv2d(seen, heard, dilation=ctx.stride).transpose(0, 1)
        return below, own, gradient.sum((0, 2, 3)), None


def _exchanged(images: Tensor) -> Tensor:
    """Channels as images and images as channels: three short walks through memory instead of one long one."""
    pixels = images.permute(2, 3, 0, 1).contiguous().transpose(2, 3).contiguous()
    return pixels.permute(2, 3, 0, 1).contiguous(memory_format=torch.channels_last)
