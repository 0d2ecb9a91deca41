"""Points in the plane as votes under EM routing, as the browser routes them."""

from __future__ import annotations

import torch
from torch import Tensor

from capsviz.analysis.mixtures import FLOOR
from capsviz.routing import DenseVotes, EMStep, InverseTemperature, em_routing


def as_votes(
    points: Tensor,
    activations: Tensor,
    responsibilities: Tensor | None,
    gaussians: int,
    rounds: int,
    *,
    beta_u: float,
    beta_a: float,
    inverse_temperature: InverseTemperature,
) -> tuple[EMStep, ...]:
    """The points as votes of lower capsules, the same for every parent, under EM routing.

    activations: a_i, "point". responsibilities: R of the first M-step, "point gaussian"; None: 1 / J. In a network
    every parent gets its own vote, through its own matrix; votes that all parents share are told apart by R alone.
    """
    votes = points[None, :, None].expand(1, len(points), gaussians, points.shape[1])
    return tuple(
        em_routing(
            DenseVotes(votes),
            activations[None],
            torch.full((gaussians,), beta_u, dtype=points.dtype),
            torch.full((gaussians,), beta_a, dtype=points.dtype),
            rounds,
            inverse_temperature=inverse_temperature,
            responsibilities=None if responsibilities is None else responsibilities[None],
            variance_floor=FLOOR,
            final_posteriors=True,
        )
    )
