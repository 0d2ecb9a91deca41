"""Numbers of a routing by agreement that follow from those that another program recorded of it."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

ROUNDING = 1e-3
"""How far couplings may be from those that logits make, and still count as theirs."""


def sums(
    couplings: Float[Tensor, "T batch lower upper"], votes: Float[Tensor, "batch lower upper dim"]
) -> Float[Tensor, "T batch upper dim"]:
    """s of every iteration, Σ_i c_ij û_ij."""
    return torch.einsum("tbij,bijh->tbjh", couplings, votes)


def agreement(
    votes: Float[Tensor, "batch lower upper dim"], poses: Float[Tensor, "T batch upper dim"]
) -> Float[Tensor, "T batch lower upper"]:
    """û_ij · p_j of every iteration."""
    return torch.einsum("bijh,tbjh->tbij", votes, poses)


def logits(
    couplings: Float[Tensor, "*lower upper"], supposed: Float[Tensor, "*lower upper"]
) -> Float[Tensor, "*lower upper"]:
    """Of which a softmax over the upper capsules makes the couplings: those supposed, where it does.

    Else ln c, which is right up to a number for each lower capsule: its mean over the upper ones, each counted by its
    coupling, is taken as that of the supposed, so that couplings of few digits change no more than those digits.
    """
    if bool(((supposed.softmax(-1) - couplings).abs() < ROUNDING).all()):
        return supposed
    found = couplings.clamp_min(torch.finfo(couplings.dtype).tiny).log()
    return found + (couplings * (supposed - found)).sum(-1, keepdim=True)
