"""Samples for the tests of EM routing: activations, betas, and routings of the votes that capsules.py draws."""

from __future__ import annotations

import torch
from hypothesis import strategies as st
from torch import Tensor

from capsviz.routing import Through, Windows
from capsviz.routing.em import EMStep, em_routing
from capsviz.routing.votes import DenseVotes

from .capsules import Capsules, direction_like

FLOOR = 1e-4
seeds = st.integers(0, 10_000)
iteration_counts = st.integers(1, 10)


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


def hard_cases(size: tuple[int, ...], lower: tuple[int, int]) -> dict[str, tuple[Tensor, Tensor]]:
    """Votes of a size, and activations, at which a naive version divides by zero, overflows or underflows."""
    random = torch.randn(size, generator=torch.Generator().manual_seed(0))
    one = torch.tensor([size[1] - 1])
    return {
        "coincident votes": (torch.full(size, 0.7), torch.full(lower, 0.5)),
        "coincident votes at zero": (torch.zeros(size), torch.full(lower, 0.5)),
        "two points": (2 * random.sign(), torch.ones(lower)),
        "no activation": (random, torch.zeros(lower)),
        "no activation, far votes": (30 * random, torch.zeros(lower)),
        "no activation, coincident votes": (torch.ones(size), torch.zeros(lower)),
        "a trace of activation": (random, torch.full(lower, 1e-30)),
        "one image without activation": (random, torch.tensor([[0.0], [1.0]]).expand(lower)),
        "far votes": (300 * random, torch.ones(lower)),
        "outlier": (torch.full(size, 0.7).index_fill(1, one, 50.0), torch.ones(lower)),
    }


def finite_steps(
    values: Tensor, presence: Tensor, dtype: torch.dtype, through: Through, windows: Windows | None = None
) -> list[EMStep]:
    """Ten iterations, all of whose numbers and gradients are finite."""
    values, presence = (tensor.to(dtype).clone().requires_grad_() for tensor in (values, presence))
    betas = torch.zeros(2, values.shape[2], dtype=dtype, requires_grad=True)
    votes = DenseVotes(values, windows)
    steps = list(em_routing(votes, presence, betas[0], betas[1], 10, through=through, final_posteriors=True))
    for step in steps:
        for name in ("responsibilities", "means", "variances", "cost", "activations", "posteriors"):
            assert getattr(step, name).isfinite().all(), f"{name} in iteration {step.iteration}"
            assert getattr(step, name).dtype == dtype
        assert (step.variances > 0).all()
    outcome = along_a_direction(steps[-1].means, steps[-1].activations)
    gradients = torch.autograd.grad(outcome, (values, presence, betas))
    for name, gradient in zip(("votes", "activations", "betas"), gradients, strict=True):
        assert gradient.isfinite().all(), f"gradient of the {name}"
    return steps


def assert_close_in_low_precision(
    values: Tensor, presence: Tensor, dtype: torch.dtype, windows: Windows | None = None
) -> None:
    """Routing in a type of number is that of the same votes in float64, nearly."""
    values, presence = values.to(dtype), presence.to(dtype)
    low, exact = (
        em_routing(
            DenseVotes(values.to(kind), windows),
            presence.to(kind),
            *torch.zeros(2, values.shape[2], dtype=kind),
        )
        for kind in (dtype, torch.float64)
    )
    for step, expected in zip(low, exact, strict=True):
        torch.testing.assert_close(step.activations.double(), expected.activations, rtol=0, atol=0.01)
        torch.testing.assert_close(step.means.double(), expected.means, rtol=0.01, atol=0.02)
        torch.testing.assert_close(step.responsibilities.double(), expected.responsibilities, rtol=0, atol=0.02)
