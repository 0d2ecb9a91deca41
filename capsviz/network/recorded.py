"""What is known of a network that another program ran: enough to draw its capsules, not to build it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .config import CapsNetConfig, ConfigError, Window


@dataclass(frozen=True)
class RecordedConfig(CapsNetConfig):
    """The sizes of a network of one routed layer whose weights are elsewhere.

    lattice: rows, columns and types of its lower capsules, numbered (row · columns + column) · types + type. seen: what
    the capsules at one position see along the rows and along the columns; None where that is not known, and every
    capsule counts as seeing the whole image. primary_dim may be 0: the poses of the lower capsules are then not known.
    A CapsNet of it cannot be built. Raises ConfigError.
    """

    lattice: tuple[int, int, int] = (1, 1, 1)
    seen: tuple[Window, Window] | None = None

    def __post_init__(self) -> None:
        if min(*self.lattice, *self.image, self.classes, self.class_dim, self.iterations) < 1 or self.primary_dim < 0:
            raise ConfigError("The sizes of a recorded network must each be at least 1.")

    def windows(self, axis: int) -> tuple[Window, ...]:
        """What the capsules at one position see, as one window."""
        return (self.seen[axis] if self.seen else Window(self.image[1 + axis], 0),)

    @property
    def grid(self) -> tuple[int, int, int]:
        """Rows, columns and types of the lower capsules."""
        return self.lattice

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> CapsNetConfig:
        """The config that `to_dict` wrote; raises ConfigError where a field is unknown."""
        seen = data.get("seen") and tuple(Window(**window) for window in data["seen"])
        return super().from_dict({**data, "lattice": tuple(data["lattice"]), "seen": seen})


def traced_config(data: Mapping[str, Any]) -> CapsNetConfig:
    """The config in the header of a trace: of one of our networks, or of one that another program ran."""
    return (RecordedConfig if "lattice" in data else CapsNetConfig).from_dict(dict(data))
