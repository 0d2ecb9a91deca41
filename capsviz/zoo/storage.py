"""Weights as the zoo keeps them: in float16, or in eight bits.

In eight bits each run of `RUN` numbers of a weight, read in order, shares a float32 scale: the largest of them is ±127,
and the others are rounded to whole numbers on that scale.
"""

from __future__ import annotations

import torch
from torch import Tensor

from capsviz.network import Network

BITS = (16, 8)
RUN = 128
FEW = 4_096
"""Numbers below which a weight stays in float16: biases, β and the like save nothing."""
WEIGHTS, SCALES, CAPSULES = "model.", "scales.", "capsules."
"""Before the names of weights, of their scales, and of what is kept of real images beside them."""


def large(network: Network) -> set[str]:
    """The names of the weights of `FEW` numbers or more."""
    return {name for name, weight in network.named_parameters() if weight.numel() >= FEW}


def packed(network: Network, bits: int = 16) -> dict[str, Tensor]:
    """What a file holds of a network's weights; raises ValueError for other than 16 or 8 bits.

    Buffers, such as the coefficients b, whose zeros mean something, are in float16 either way.
    """
    if bits not in BITS:
        raise ValueError(f"weights are kept in 16 or 8 bits; got bits={bits}")
    learned = large(network) if bits == 8 else set()
    found: dict[str, Tensor] = {}
    for name, value in network.state_dict().items():
        if name in learned:
            found[WEIGHTS + name], found[SCALES + name] = _to_codes(value)
        else:
            found[WEIGHTS + name] = value.half().contiguous()
    return found


def unpacked(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights that `packed` put into a file, by name, in float32; what else is in the file is left out."""
    found = {}
    for key, value in tensors.items():
        if key.startswith(WEIGHTS):
            name = key.removeprefix(WEIGHTS)
            scales = tensors.get(SCALES + name)
            found[name] = value.float() if scales is None else _from_codes(value, scales)
    return found


def _to_codes(value: Tensor) -> tuple[Tensor, Tensor]:
    """A weight as int8 numbers of its shape, and the scale of each run of them."""
    numbers = value.float().flatten()
    runs = torch.nn.functional.pad(numbers, (0, -len(numbers) % RUN)).unflatten(0, (-1, RUN))
    scales = (runs.abs().amax(1) / 127).clamp_min(torch.finfo(torch.float32).tiny)
    codes = (runs / scales.unsqueeze(1)).round().to(torch.int8)
    return codes.flatten()[: len(numbers)].reshape(value.shape), scales


def _from_codes(codes: Tensor, scales: Tensor) -> Tensor:
    return (codes.flatten().float() * scales.repeat_interleave(RUN)[: codes.numel()]).reshape(codes.shape)
