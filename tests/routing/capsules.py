"""Random capsules for the property tests: small, of every shape, reproducible from a seed that hypothesis draws."""

from __future__ import annotations

from typing import NamedTuple

import torch
from hypothesis import strategies as st
from torch import Tensor


class Capsules(NamedTuple):
    """Lower capsules and what they predict: û_ij = u_i W_ij."""

    poses: Tensor  # batch lower d
    weight: Tensor  # lower d upper dim
    votes: Tensor  # batch lower upper dim


def draw(batch: int, lower: int, upper: int, dim: int, *, d: int = 3, scale: float = 1.0, seed: int = 0) -> Capsules:
    """Normal poses and weights in float64, and the votes between them by an explicit loop over capsule pairs."""
    generator = torch.Generator().manual_seed(seed)
    poses = torch.randn(batch, lower, d, generator=generator, dtype=torch.float64)
    weight = scale * torch.randn(lower, d, upper, dim, generator=generator, dtype=torch.float64)
    votes = torch.empty(batch, lower, upper, dim, dtype=torch.float64)
    for i in range(lower):
        for j in range(upper):
            votes[:, i, j] = poses[:, i] @ weight[i, :, j]
    return Capsules(poses, weight, votes)


@st.composite
def capsules(draw_from, *, min_upper: int = 1, min_lower: int = 1, max_scale: float = 3.0) -> Capsules:
    """Capsules of any small shape, their votes from nearly nothing to several times the unit length."""
    return draw(
        batch=draw_from(st.integers(1, 3), label="batch"),
        lower=draw_from(st.integers(min_lower, 7), label="lower"),
        upper=draw_from(st.integers(min_upper, 5), label="upper"),
        dim=draw_from(st.integers(1, 5), label="dim"),
        d=draw_from(st.integers(1, 4), label="d"),
        scale=draw_from(st.floats(0.01, max_scale), label="scale"),
        seed=draw_from(st.integers(0, 2**31), label="seed"),
    )


def permutation(count: int, seed: int) -> Tensor:
    """A permutation of `count` capsules."""
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed))


def last(steps):
    """The last step of a routing loop."""
    *_, step = steps
    return step


def direction_like(values: Tensor) -> Tensor:
    """A fixed direction of mixed signs, along which a gradient is read off."""
    return torch.arange(1, values.numel() + 1, dtype=values.dtype).cos().reshape(values.shape)
