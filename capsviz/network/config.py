"""What a capsule network is made of, as data: `CapsNetConfig` and the presets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from capsviz.errors import CapsvizError
from capsviz.routing import InverseTemperature

RoutingName = Literal["dr", "em", "l2", "l1"]
ROUTING_TITLES: dict[str, str] = {"dr": "Dynamic routing", "em": "EM routing", "l2": "L2", "l1": "L1"}


class ConfigError(CapsvizError):
    """A network that cannot be built."""


@dataclass(frozen=True)
class CapsNetConfig:
    """The network of seed 003, Table I, with its sizes named.

    image: channels, height, width. kernel: of both convolutions, in pixels; primary_stride: of the second one.
    primary_dim d and class_dim D: numbers per capsule (EM reads its 16 as a 4 × 4 matrix, in both layers).
    decoder: hidden widths, empty for a network without reconstruction. leaky: LeakyReLU in place of ReLU.
    iterations T: of the routing; discriminative routing has none and ignores it. coefficient_start: around which the
    coefficients b of L2 and L1 are drawn. Raises ConfigError.
    """

    image: tuple[int, int, int] = (1, 28, 28)
    classes: int = 10
    conv_channels: int = 256
    kernel: int = 9
    primary_stride: int = 2
    primary_types: int = 32
    primary_dim: int = 8
    class_dim: int = 16
    routing: RoutingName = "dr"
    iterations: int = 3
    decoder: tuple[int, ...] = (512, 1024)
    leaky: bool = False
    inverse_temperature: InverseTemperature = InverseTemperature()
    coefficient_start: float = 0.1

    def __post_init__(self) -> None:
        if self.routing not in get_args(RoutingName):
            raise ConfigError(f"No routing is called {self.routing!r}; choose one of {', '.join(ROUTING_TITLES)}.")
        sizes = {f.name: getattr(self, f.name) for f in fields(self) if isinstance(getattr(self, f.name), int)}
        for name, size in sizes.items():
            if not isinstance(size, bool) and size < 1:
                raise ConfigError(f"{name} must be at least 1; got {size}.")
        if self.routing == "em" and (self.primary_dim, self.class_dim) != (16, 16):
            raise ConfigError("EM routing works on 4 × 4 poses; set primary_dim and class_dim to 16.")
        if min(self.grid[:2]) < 1:
            raise ConfigError(
                f"Two {self.kernel}×{self.kernel} convolutions leave nothing of a {self.image[1]}×{self.image[2]} "
                "image; use larger images or a smaller kernel."
            )

    @property
    def grid(self) -> tuple[int, int, int]:
        """Rows, columns and types of the primary capsules; capsule i is (row · columns + column) · types + type."""
        rows, columns = ((side - 2 * self.kernel + 1) // self.primary_stride + 1 for side in self.image[1:])
        return rows, columns, self.primary_types

    @property
    def lower(self) -> int:
        """N, the number of primary capsules."""
        rows, columns, types = self.grid
        return rows * columns * types

    def to_dict(self) -> dict[str, Any]:
        """The config as what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> CapsNetConfig:
        """The config that `to_dict` wrote; raises ConfigError where a field is unknown."""
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(data) - known):
            raise ConfigError(
                f"The config has fields this version does not know ({', '.join(unknown)}); update capsviz."
            )
        data = dict(data)
        for name in ("image", "decoder"):
            if name in data:
                data[name] = tuple(data[name])
        if isinstance(data.get("inverse_temperature"), dict):
            data["inverse_temperature"] = InverseTemperature(**data["inverse_temperature"])
        return cls(**data)


IMAGES: dict[str, tuple[int, int, int]] = {"cifar10": (3, 32, 32), "multi-mnist": (1, 36, 36)}
"""Channels, height and width where they are not MNIST's."""

PRESETS: dict[str, dict[str, Any]] = {
    # Seed 003, Table I.
    "paper": {"conv_channels": 256, "primary_types": 32, "decoder": (512, 1024)},
    # The same capsules behind a quarter of the convolution: what a laptop trains and the app ships.
    "compact": {"conv_channels": 64, "primary_types": 32, "decoder": (512, 1024)},
    # For the embedded digits, tests and live training.
    "tiny": {"conv_channels": 32, "primary_types": 8, "decoder": (256, 512)},
}


def preset(name: str, data: str, routing: str, *, decoder: bool = True, **overrides: Any) -> CapsNetConfig:
    """The config of a named preset for a data set and a routing algorithm.

    name: "paper", "compact" or "tiny"; data: a data set's name; routing: "dr", "em", "l2" or "l1". CIFAR-10 doubles
    the primary types, uses LeakyReLU and, as in the paper, no decoder. overrides: any field of CapsNetConfig.
    Raises ConfigError for an unknown preset or routing. Source: seed 003, Table I.
    """
    if name not in PRESETS:
        raise ConfigError(f"No preset is called {name!r}; choose one of {', '.join(PRESETS)}.")
    values = {**PRESETS[name], "routing": routing, "image": IMAGES.get(data, (1, 28, 28))}
    if routing == "em":
        values |= {"primary_dim": 16, "class_dim": 16}
    if data == "cifar10":
        values |= {"primary_types": 2 * values["primary_types"], "leaky": True, "decoder": ()}
    if not decoder:
        values["decoder"] = ()
    return replace(CapsNetConfig(), **(values | overrides))
