"""Interventions: lower capsules muted, boosted or isolated, and routed again.

What a lower capsule says is turned down or up before it votes; encoder, weights and routing stay as they are.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, fields, replace

import torch
from jaxtyping import Float
from torch import Tensor

from capsviz.errors import CapsvizError, line, listed
from capsviz.network import PrimaryCapsules
from capsviz.reading import whole

BOOST = 2.0
"""What a boosted capsule's strength is multiplied by."""


class InterventionError(CapsvizError):
    """An intervention that does not fit the network."""


@dataclass(frozen=True)
class Intervention:
    """Which lower capsules are muted, boosted, or left alone while all others are muted (isolated).

    Each a sorted tuple of capsule numbers; empty: nobody. A capsule that is muted stays muted whatever else is said of
    it.
    """

    muted: tuple[int, ...] = ()
    boosted: tuple[int, ...] = ()
    isolated: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return any(not isinstance(kept, tuple | list) or kept for kept in self._parts())

    def with_(self, kind: str, capsules: Iterable[int]) -> Intervention:
        """The same intervention with more capsules "muted", "boosted" or "isolated"; else raises InterventionError."""
        if kind not in _KINDS:
            raise InterventionError(line(f"Capsules are never {kind!r}; choose {listed(_KINDS, 'or')}."))
        return replace(self, **{kind: tuple(sorted({*getattr(self, kind), *capsules}))})

    def without(self, capsules: Container[int]) -> Intervention:
        """The same intervention, these capsules left out of it."""
        return Intervention(*(tuple(i for i in kept if i not in capsules) for kept in self._parts()))

    def gains(self, lower: int) -> Float[Tensor, " lower"]:
        """What the strength of each of `lower` capsules is multiplied by: 0, 1 or `BOOST`.

        Raises InterventionError where a capsule is named that the network has not, or something that is no number.
        """
        said = f"{self} names no capsules; give tuples of whole numbers, of a mask those where it is true."
        try:
            muted, boosted, isolated = (
                [whole(each, said, InterventionError) for each in part] for part in self._parts()
            )
        except TypeError as error:
            raise InterventionError(line(said)) from error
        named = [*muted, *boosted, *isolated]
        if named and not 0 <= min(named) <= max(named) < lower:
            wrong = max(named) if max(named) >= lower else min(named)
            raise InterventionError(f"There is no primary capsule {wrong}; name capsules from 0 to {lower - 1}.")
        gains = torch.ones(lower, dtype=torch.float32)
        if isolated:
            gains.zero_()
            gains[isolated] = 1.0
        gains[boosted] *= BOOST
        gains[muted] = 0.0
        return gains

    def _parts(self) -> tuple[tuple[int, ...], ...]:
        return self.muted, self.boosted, self.isolated


_KINDS = [field.name for field in fields(Intervention)]
UNTOUCHED = Intervention()


def intervene(primary: PrimaryCapsules, gains: Float[Tensor, " lower"], *, matrix: bool) -> PrimaryCapsules:
    """The primary capsules with their strengths multiplied by gains.

    Where a capsule's length is its strength (all routings but EM) its pose u is multiplied, and with it all its votes:
    a boosted one may be longer than 1, which no squash gives. matrix: under EM a capsule's pose says nothing about its
    strength; its activation a is multiplied, to at most 1, and its votes stay.
    """
    gains = gains.to(primary.poses.device)
    if matrix:
        return PrimaryCapsules(primary.poses, (primary.activations * gains).clamp(max=1.0))
    return PrimaryCapsules(primary.poses * gains.unsqueeze(-1), primary.activations * gains)
