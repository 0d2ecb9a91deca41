"""The convolution to the primary capsules, which takes most of a step: in bfloat16 by its Fourier transform."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .fourier import FourierConvolution, Plan

WORTH = 1.5
"""By how many times the multiplications have to become fewer: products of small matrices are slower than large ones."""


class Conv2d(nn.Conv2d):
    """`torch.nn.Conv2d` without padding, dilation and groups; on a CPU in bfloat16 faster where kernels are large.

    There it is computed as `FourierConvolution`, if that takes two thirds of the multiplications or less, and is about
    as precise as bfloat16 is. "encoder both ways" of `capsviz benchmark` measures it.
    """

    def forward(self, images: Float[Tensor, "batch channel height width"]) -> Float[Tensor, "batch out high wide"]:
        """As `torch.nn.Conv2d`, also under autocast; where it is faster, gradients cannot be differentiated again."""
        precision = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else images.dtype
        if images.device.type != "cpu" or precision != torch.bfloat16 or self._gain(images) < WORTH:
            return super().forward(images)
        assert self.bias is not None
        inputs = (each.to(precision) for each in (images, self.weight, self.bias))
        return FourierConvolution.apply(*inputs, self.stride)

    def _gain(self, images: Tensor) -> float:
        assert self.padding == (0, 0) and self.dilation == (1, 1) and self.groups == 1
        (height, width), (high, wide), (down, right) = images.shape[2:], self.kernel_size, self.stride
        plan = Plan((height, width), (high, wide), (down, right))
        return plan.gain(len(images), self.in_channels, self.out_channels)
