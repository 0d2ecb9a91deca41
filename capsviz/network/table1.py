"""The papers' encoder: two large convolutions, the second of which makes the primary capsules."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .capsules import PrimaryCapsules, primary_capsules, start_wide
from .config import CapsNetConfig
from .convolution import Conv2d


class ConvolutionalEncoder(nn.Module):
    """Image to primary capsules: a convolution, another whose channels are capsules (Yang et al. 2021, Table I)."""

    def __init__(self, config: CapsNetConfig) -> None:
        super().__init__()
        self.types, self.matrix = config.primary_types, config.algorithm.matrix
        self.reshaped = config.primary_dim if config.reshaped else 0
        channels = config.primary_types * (config.primary_dim + self.matrix)
        self.conv = nn.Conv2d(config.image[0], config.conv_channels, config.kernel, stride=config.conv_stride)
        self.rectifier = nn.LeakyReLU() if config.leaky else nn.ReLU()
        kernel = config.primary_kernel or config.kernel
        self.primary = Conv2d(config.conv_channels, channels, kernel, stride=config.primary_stride)
        if config.capsule_layers:
            start_wide(self.conv, self.primary, config.primary_types)
        self.to(memory_format=torch.channels_last)

    def features(self, images: Float[Tensor, "batch channel height width"]) -> Float[Tensor, "batch number row column"]:
        """The channels of which the primary capsules are made."""
        return self.primary(self.rectifier(self.conv(images)))

    def forward(self, images: Float[Tensor, "batch channel height width"]) -> PrimaryCapsules:
        """The primary capsules of images in 0..1."""
        features, dtype = self.features(images), self.primary.weight.dtype
        if self.reshaped:
            # Of each number the capsules, in the order of memory: as if all were types at one position.
            numbers = features.flatten(1).unflatten(1, (-1, self.reshaped)).transpose(1, 2)
            return primary_capsules(numbers.flatten(1)[..., None, None], numbers.shape[2], matrix=False, dtype=dtype)
        return primary_capsules(features, self.types, matrix=self.matrix, dtype=dtype)
