"""The two sums over votes that EM routing is made of, a few images at a time, so that a CPU's cache holds what lies in
between: the squared distances to the means, as large as the votes themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

CACHE = 2**21
"""Bytes of votes that are worked on at a time: about what a core's second and third cache have for it."""


def _blocks(values: Tensor) -> Iterator[slice]:
    batch = max(1, len(values))
    size = batch if values.device.type != "cpu" else max(1, CACHE * batch // max(1, values.nbytes))
    return (slice(start, start + size) for start in range(0, batch, size))


def _summed(weights: Tensor, values: Tensor) -> Tensor:
    """Σ_i weights_ji values_jih of some images: "batch upper lower", "batch upper lower dim" to "batch upper dim"."""
    return (weights.unsqueeze(-2) @ values).squeeze(-2)


def _product(values: Tensor, vectors: Tensor) -> Tensor:
    """Σ_h values_jih vectors_jh of some images: "batch upper lower dim", "batch upper dim" to "batch upper lower".

    A row times a matrix: on a CPU that takes a quarter of what the same matrix times a column does.
    """
    return (vectors.unsqueeze(-2) @ values.transpose(-1, -2)).squeeze(-2)


def _offsets(values: Tensor, means: Tensor) -> Tensor:
    return values - means.unsqueeze(-2)


class _Moments(torch.autograd.Function):
    @staticmethod
    def forward(values: Tensor, shares: Tensor) -> tuple[Tensor, Tensor]:
        means, variances = [], []
        for block in _blocks(values):
            means.append(_summed(shares[block], values[block]))
            variances.append(_summed(shares[block], _offsets(values[block], means[-1]).square_()))
        return torch.cat(means), torch.cat(variances)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: tuple[Tensor, Tensor]) -> None:
        ctx.save_for_backward(*inputs, output[0])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_means: Tensor, to_variances: Tensor) -> tuple[Tensor | None, Tensor]:
        values, shares, means = ctx.saved_tensors
        # The variance depends on the mean where the shares do not add up to one, which leaves an offset over.
        to_means = to_means - 2 * to_variances * means * (1 - shares.sum(-1, keepdim=True))
        own = torch.empty_like(values, memory_format=torch.contiguous_format) if ctx.needs_input_grad[0] else None
        to_shares = torch.empty_like(shares, memory_format=torch.contiguous_format)
        for block in _blocks(values):
            offsets = _offsets(values[block], means[block])
            if own is not None:
                slope, curve = to_means[block].unsqueeze(-2), to_variances[block].unsqueeze(-2)
                torch.mul(torch.addcmul(slope, offsets, curve, value=2), shares[block].unsqueeze(-1), out=own[block])
            to_shares[block] = _product(values[block], to_means[block])
            to_shares[block] += _product(offsets.square_(), to_variances[block])
        return own, to_shares


class _Distances(torch.autograd.Function):
    @staticmethod
    def forward(values: Tensor, means: Tensor, precisions: Tensor) -> Tensor:
        return torch.cat(
            [_product(_offsets(values[block], means[block]).square_(), precisions[block]) for block in _blocks(values)]
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        values, means, precisions = ctx.saved_tensors
        own = torch.empty_like(values, memory_format=torch.contiguous_format) if ctx.needs_input_grad[0] else None
        to_means, to_precisions = torch.empty_like(means), torch.empty_like(precisions)
        for block in _blocks(values):
            offsets = _offsets(values[block], means[block])
            incoming, scale = gradient[block], 2 * precisions[block]
            to_means[block] = -scale * _summed(incoming, offsets)
            if own is not None:
                torch.mul(offsets * incoming.unsqueeze(-1), scale.unsqueeze(-2), out=own[block])
            to_precisions[block] = _summed(incoming, offsets.square_())
        return own, to_means, to_precisions


def moments(
    values: Float[Tensor, "batch upper lower dim"], shares: Float[Tensor, "batch upper lower"]
) -> tuple[Float[Tensor, "batch upper dim"], Float[Tensor, "batch upper dim"]]:
    """Weighted means and the weighted squares of the distances to them, each "batch upper dim".

    values: "batch upper lower dim"; shares: of each value, "batch upper lower", for a variance adding up to one. The
    gradients are exact and cannot be differentiated again.
    """
    return _Moments.apply(values, shares)


def distances(
    values: Float[Tensor, "batch upper lower dim"],
    means: Float[Tensor, "batch upper dim"],
    precisions: Float[Tensor, "batch upper dim"],
) -> Float[Tensor, "batch upper lower"]:
    """Squared distances to the means, Σ_h precisions_h (values_h − means_h)², "batch upper lower".

    values: "batch upper lower dim"; means and precisions (1 / σ²): "batch upper dim". The gradients are exact and
    cannot be differentiated again.
    """
    return _Distances.apply(values, means, precisions)
