"""Samples for the tests of EM routing: activations, betas, and routings of the votes that capsules.py draws."""

from __future__ import annotations

import torch
from hypothesis import strategies as st
from torch import Tensor

from capsviz.routing.em import em_routing
from capsviz.routing.votes import DenseVotes

from .capsules import Capsules, direction_like

FLOOR = 1e-4
seeds = st.integers(0, 10_000)
iteration_counts = st.integers(1, 10)


def last(steps):
    """The last step of a routing loop."""
    *_, step = steps
    return step


def presence_of(sample: Capsules, seed: int = 0):
    """Activations a_i of the lower capsules, between 0.05 and 1."""
    generator = torch.Generator().manual_seed(seed)
    return 0.05 + 0.95 * torch.rand(sample.votes.shape[:2], generator=generator, dtype=torch.float64)


def betas_of(sample: Capsules, seed: int = 0) -> tuple[Tensor, Tensor]:
    """β_u and β_a, one each per upper capsule, of both signs."""
    generator = torch.Generator().manual_seed(seed + 1)
    beta_u, beta_a = torch.randn(2, sample.votes.shape[2], generator=generator, dtype=torch.float64)
    return beta_u, beta_a


def along_a_direction(*outcomes: Tensor) -> Tensor:
    """One number that depends on every entry, to take gradients of."""
    return torch.stack([(outcome * direction_like(outcome)).sum() for outcome in outcomes]).sum()


def route(sample: Capsules, iterations: int = 3, *, seed: int = 0, **options):
    """EM routing of a sample with activations and betas from a seed."""
    presence, betas = presence_of(sample, seed), betas_of(sample, seed)
    return em_routing(DenseVotes(sample.votes), presence, *betas, iterations, **options)
