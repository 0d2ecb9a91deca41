"""What is known of a network that another program ran: enough to draw its capsules, not to build it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from msgspec import Meta

from capsviz.reading import check

from .config import CapsNetConfig, ConfigError, Window, algorithm_of, check_schedule

Places = Annotated[int, Meta(ge=1, le=1_000_000)]
"""Rows, columns or types of lower capsules; all of them may be of one place."""


@dataclass(frozen=True)
class RecordedConfig(CapsNetConfig):
    """The sizes of a network of one routed layer whose weights are elsewhere.

    lattice: rows, columns and types of its lower capsules, numbered (row · columns + column) · types + type. seen: what
    the capsules at one position see along the rows and along the columns; None where that is not known, and every
    capsule counts as seeing the whole image. primary_dim may be 0: the poses of the lower capsules are then not known.
    A CapsNet of it cannot be built. Raises ConfigError.
    """

    primary_types: Places = 32
    primary_dim: Annotated[int, Meta(ge=0, le=10_000)] = 8
    lattice: tuple[Places, Places, Places] = (1, 1, 1)
    seen: tuple[Window, Window] | None = None

    def __post_init__(self) -> None:
        algorithm_of(self.routing)
        check_schedule(self.inverse_temperature)
        check(self, ConfigError)
        if self.capsule_layers or self.primary_types != self.lattice[2]:
            raise ConfigError("Of another program's network one layer of its lattice's types is recorded; correct it.")
        for places, side, window in zip(self.lattice[:2], self.image[1:], self.seen or (), strict=False):
            if window.stride < 1 or (places - 1) * window.stride + window.kernel > side + 2 * window.padding:
                raise ConfigError(
                    f"{places} positions that see {window.kernel} pixels, {window.stride} apart, do not fit into "
                    f"{side}; give side and step of the field."
                )

    def windows(self, axis: int) -> tuple[Window, ...]:
        """What the capsules at one position see, as one window."""
        return (self.seen[axis] if self.seen else Window(self.image[1 + axis], 0),)

    @cached_property
    def grid(self) -> tuple[int, int, int]:
        """Rows, columns and types of the lower capsules."""
        return self.lattice
