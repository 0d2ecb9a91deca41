"""Routing in bounded memory: some lower capsules at a time, whose votes and shares are made anew where they are needed.

Nothing of the size batch × lower × upper is kept: what a lower capsule gives follows from its votes and from where the
upper capsules stood before, and the backward pass computes it again, part by part. The sums are those of the ordinary
path in another order, so that results agree to rounding. An algorithm takes this way where what it would store of a
batch is more than `LIMIT`, which no shipped model's training comes near.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from torch import Tensor
from torch.utils.checkpoint import checkpoint

from .votes import LinearVotes, MatrixVotes, Votes

LIMIT = 2**29
"""Bytes of votes, or of all that is as large as the capsule pairs, above which a batch is routed in parts."""
PART = 2**26
"""Bytes of the same that a part has."""
Whole = LinearVotes | MatrixVotes
T = TypeVar("T", bound="Sequence[Tensor]")


def too_large(votes: Votes, numbers: int) -> bool:
    """Whether votes are better routed in parts: the algorithm keeps `numbers` of each capsule pair."""
    batch, lower, upper, _ = votes.shape
    return isinstance(votes, Whole) and _bytes(votes, batch * lower * upper * numbers) > LIMIT


def split(votes: Whole, numbers: int, *more: Tensor) -> list[tuple[Any, ...]]:
    """The votes of some lower capsules at a time, as many as `PART` holds, and their share of "batch lower" tensors."""
    batch, lower, upper, _ = votes.shape
    size = max(1, lower * PART // max(1, _bytes(votes, batch * lower * upper * numbers)))
    # One `split` of each tensor: its gradient is then put together once, and not once for each part.
    return list(zip(votes.split(size), *(each.split(size, dim=1) for each in more), strict=True))


def added(function: Callable[..., Sequence[Tensor]], parts: list[tuple[Any, ...]], *more: Tensor) -> list[Tensor]:
    """What a function makes of every part, added up; its backward pass runs it again."""
    total: list[Tensor] = []
    for part in parts:
        made = checkpoint(function, *part, *more, use_reentrant=False, preserve_rng_state=False)
        total = [*made] if not total else [old + new for old, new in zip(total, made, strict=True)]
    return total


def _bytes(votes: Whole, count: int) -> int:
    return count * votes.poses.element_size()
