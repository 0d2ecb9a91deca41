"""A modern encoder: 3 × 3 convolutions with batch normalisation and residual blocks (He, Zhang, Ren & Sun 2016)."""

from __future__ import annotations

import copy
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, distributed, nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

from .capsules import PrimaryCapsules, primary_capsules
from .config import CapsNetConfig, Window


class _Sum(torch.autograd.Function):
    """The sum over all processes, to each of which its gradient goes."""

    @staticmethod
    def forward(_context: Any, numbers: Tensor) -> Tensor:
        whole = numbers.clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(whole)
        return whole

    @staticmethod
    def backward(_context: Any, *gradients: Tensor) -> Tensor:
        return over_processes(gradients[0])


def over_processes(numbers: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The sum of what every process gives; its gradient is the sum of theirs."""
    summed: Tensor = _Sum.apply(numbers)
    return summed


class BatchNorm2d(nn.BatchNorm2d):
    """`torch.nn.BatchNorm2d` whose batch is that of all processes together, on every device.

    `torch.nn.SyncBatchNorm` does the same on GPUs alone. Each process has to bring as many images as the others.
    """

    def forward(
        self, images: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch channel height width"]:
        """As `torch.nn.BatchNorm2d`; statistics in float32, the result in the dtype of the images."""
        if not self.training or not distributed.is_initialized() or distributed.get_world_size() == 1:
            return super().forward(images)
        assert self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None
        assert self.momentum is not None
        with torch.autocast(images.device.type, enabled=False):
            numbers, processes = images.float(), distributed.get_world_size()
            mean = over_processes(numbers.mean((0, 2, 3))) / processes
            centred = numbers - mean[:, None, None]
            variance = over_processes(centred.square().mean((0, 2, 3))) / processes
            count = processes * numbers.numel() // numbers.shape[1]
            with torch.no_grad():
                self.running_mean.lerp_(mean, self.momentum)
                self.running_var.lerp_(variance * (count / (count - 1)), self.momentum)
                self.num_batches_tracked += 1
            scale = self.weight * (variance + self.eps).rsqrt()
            return (centred * scale[:, None, None] + self.bias[:, None, None]).to(images.dtype)


class Convolution(nn.Module):
    """A convolution and, in a normalised network, the batch normalisation of what it gives."""

    def __init__(self, inputs: int, outputs: int, windows: tuple[Window, Window], *, normalised: bool) -> None:
        super().__init__()
        kernel, stride, padding = (
            tuple(getattr(window, field) for window in windows) for field in ("kernel", "stride", "padding")
        )
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=padding, bias=not normalised)
        self.norm = BatchNorm2d(outputs) if normalised else None

    def forward(self, images: Float[Tensor, "batch channel height width"]) -> Float[Tensor, "batch out high wide"]:
        """The channels of the images, not rectified."""
        if self.conv.kernel_size == (1, 1):
            # The same numbers as by the convolution's own stride, whose backward pass writes beyond its memory on a CPU
            # without AVX-512 (torch 2.15) where channels are no multiple of 8.
            rows, columns = self.conv.stride
            features = functional.conv2d(images[..., ::rows, ::columns], self.conv.weight, self.conv.bias)
        else:
            features = self.conv(images)
        return features if self.norm is None else self.norm(features)

    def folded(self) -> dict[str, Tensor]:
        """Weight and bias of the one convolution that does the same as this one and its normalisation at inference."""
        if self.norm is None:
            assert self.conv.bias is not None
            return {"weight": self.conv.weight, "bias": self.conv.bias}
        fused = fuse_conv_bn_eval(copy.deepcopy(self.conv).eval(), copy.deepcopy(self.norm).eval())
        assert fused.bias is not None
        return {"weight": fused.weight, "bias": fused.bias}


class Block(nn.Module):
    """Two convolutions beside a path that leaves the channels as they are, or maps them where their number changes."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        first: tuple[Window, Window],
        second: tuple[Window, Window],
        *,
        normalised: bool,
    ) -> None:
        super().__init__()
        self.first = Convolution(inputs, outputs, first, normalised=normalised)
        self.second = Convolution(outputs, outputs, second, normalised=normalised)
        strides = (Window(1, first[0].stride), Window(1, first[1].stride))
        same = inputs == outputs and all(window.stride == 1 for window in strides)
        self.skip = None if same else Convolution(inputs, outputs, strides, normalised=normalised)

    def forward(self, images: Float[Tensor, "batch channel height width"]) -> Float[Tensor, "batch out high wide"]:
        """The rectified sum of both paths."""
        beside = images if self.skip is None else self.skip(images)
        return torch.relu(beside + self.second(torch.relu(self.first(images))))


class ResidualEncoder(nn.Module):
    """Image to primary capsules: a convolution, stages of residual blocks, and a convolution that makes capsules."""

    def __init__(self, config: CapsNetConfig) -> None:
        super().__init__()
        self.types, self.matrix = config.primary_types, config.algorithm.matrix
        windows = iter(zip(config.windows(0), config.windows(1), strict=True))
        width = config.stages[0].channels
        self.stem = Convolution(config.image[0], width, next(windows), normalised=config.normalised)
        self.blocks = nn.Sequential()
        for stage in config.stages:
            for _ in range(stage.blocks):
                pair = next(windows), next(windows)
                self.blocks.append(Block(width, stage.channels, *pair, normalised=config.normalised))
                width = stage.channels
        numbers = config.primary_dim + self.matrix
        self.primary = Convolution(width, config.primary_types * numbers, next(windows), normalised=False)
        self.to(memory_format=torch.channels_last)

    def features(self, images: Float[Tensor, "batch channel height width"]) -> Float[Tensor, "batch number row column"]:
        """The channels of which the primary capsules are made."""
        return self.primary(self.blocks(torch.relu(self.stem(images))))

    def forward(self, images: Float[Tensor, "batch channel height width"]) -> PrimaryCapsules:
        """The primary capsules of images in 0..1."""
        dtype = self.primary.conv.weight.dtype
        return primary_capsules(self.features(images), self.types, matrix=self.matrix, dtype=dtype)
