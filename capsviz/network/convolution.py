"""The convolution to the primary capsules, which takes most of a step: on a CPU often by its Fourier transform."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .fourier import FourierConvolution, Plan

WORTH = {torch.bfloat16: 1.5, torch.float32: 2.0}
"""By how many times the multiplications have to become fewer: products of small matrices are slower than large ones.

With float32 at 1.5 to 1.7 (32 channels, or batches of 16) it took 0.8 to 1.3 times as long, at 2.2 to 3.1 between 1.3
and 2.9 times less (two cores with AVX2).
"""


class Conv2d(nn.Conv2d):
    """`torch.nn.Conv2d` without padding, dilation and groups; on a CPU faster where kernels and batches are large.

    In bfloat16, and while float32 weights are trained, it is computed there as `FourierConvolution`, if that takes
    clearly fewer multiplications, and is about as precise as these numbers are. In float32 outside of training it is
    PyTorch's, so that no answer of a trained network depends on it. "encoder both ways" of `capsviz benchmark` measures
    it.
    """

    def forward(self, images: Float[Tensor, "batch channel height width"]) -> Float[Tensor, "batch out high wide"]:
        """As `torch.nn.Conv2d`, also under autocast; where it is faster, gradients cannot be differentiated again."""
        precision = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else images.dtype
        if images.device.type != "cpu" or not self._worth(images, precision):
            return super().forward(images)
        assert self.bias is not None
        inputs = (each.to(precision) for each in (images, self.weight, self.bias))
        return FourierConvolution.apply(*inputs, self.stride)

    def _worth(self, images: Tensor, precision: torch.dtype) -> bool:
        trained = self.training and torch.is_grad_enabled()
        return (
            precision in WORTH and (trained or precision == torch.bfloat16) and self._gain(images) >= WORTH[precision]
        )

    def _gain(self, images: Tensor) -> float:
        assert self.padding == (0, 0) and self.dilation == (1, 1) and self.groups == 1
        (height, width), (high, wide), (down, right) = images.shape[2:], self.kernel_size, self.stride
        plan = Plan((height, width), (high, wide), (down, right))
        return plan.gain(len(images), self.in_channels, self.out_channels)
