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

    Else `logs`, so that couplings of few digits change no more than those digits; a coupling that is 0 because it is
    less than such numbers hold has the logit that is supposed.
    """
    shares = supposed.softmax(-1)
    if bool(((shares - couplings).abs() < ROUNDING).all()):
        return supposed
    return torch.where((couplings > 0) | (shares >= ROUNDING), logs(couplings, supposed), supposed)


def logs(
    shares: Float[Tensor, "*lower upper"], supposed: Float[Tensor, "*lower upper"]
) -> Float[Tensor, "*lower upper"]:
    """ln c, which as a logit is right up to a number for each lower capsule.

    That number is such that the sum over the upper capsules, each counted by its share, is that of the supposed.
    """
    found = shares.clamp_min(torch.finfo(shares.dtype).tiny).log()
    return found + (shares * (supposed - found)).sum(-1, keepdim=True)
