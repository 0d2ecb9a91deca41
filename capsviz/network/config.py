"""What a capsule network is made of, as data: `CapsNetConfig` and the presets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from capsviz.errors import CapsvizError
from capsviz.routing import InverseTemperature, Through

RoutingName = Literal["dr", "em", "l2", "l1"]
ROUTING_TITLES: dict[str, str] = {"dr": "Dynamic routing", "em": "EM routing", "l2": "L2", "l1": "L1"}


class ConfigError(CapsvizError):
    """A network that cannot be built."""


@dataclass(frozen=True)
class CapsuleLayer:
    """A convolutional layer of matrix capsules: its types, and how its kernel × kernel windows move over the grid."""

    types: int
    kernel: int = 3
    stride: int = 1


@dataclass(frozen=True)
class CapsNetConfig:
    """The network of seed 003, Table I, with its sizes named; or that of Hinton, Sabour & Frosst 2018.

    image: channels, height, width. kernel, conv_stride: of the first convolution, in pixels; primary_kernel (as the
    first one's where it is None), primary_stride: of the second, which makes the primary capsules. capsule_layers:
    convolutional layers of matrix capsules between primary and class capsules (EM only; 2018, section 4); the class
    capsules then share their weights over the positions. primary_dim d and class_dim D: numbers per capsule (EM reads
    its 16 as a 4 × 4 matrix, in every layer). decoder: hidden widths, empty for a network without reconstruction.
    leaky: LeakyReLU in place of ReLU. iterations T: of the routing; discriminative routing has none and ignores it.
    through: the iterations through which gradients flow. coefficient_start: around which the coefficients b of L2 and
    L1 are drawn. Raises ConfigError.
    """

    image: tuple[int, int, int] = (1, 28, 28)
    classes: int = 10
    conv_channels: int = 256
    kernel: int = 9
    conv_stride: int = 1
    primary_kernel: int | None = None
    primary_stride: int = 2
    primary_types: int = 32
    primary_dim: int = 8
    class_dim: int = 16
    routing: RoutingName = "dr"
    iterations: int = 3
    decoder: tuple[int, ...] = (512, 1024)
    leaky: bool = False
    capsule_layers: tuple[CapsuleLayer, ...] = ()
    through: Through = "last"
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
        if self.capsule_layers and self.routing != "em":
            raise ConfigError("Convolutional layers of capsules route by EM; use routing em.")
        if min(min(layer.types, layer.kernel, layer.stride) for layer in (*self.capsule_layers, CapsuleLayer(1))) < 1:
            raise ConfigError("Types, kernel and stride of a layer of capsules must each be at least 1.")
        first, second = self.kernel, self.primary_kernel or self.kernel
        if min(self.grid[:2]) < 1:
            raise ConfigError(
                f"Two convolutions, {first}×{first} and {second}×{second}, leave nothing of a "
                f"{self.image[1]}×{self.image[2]} image; use larger images or a smaller kernel."
            )
        if min(min(grid[:2]) for grid in self.grids) < 1:
            raise ConfigError(
                f"{len(self.capsule_layers)} layers of capsules leave nothing of a {self.grid[0]}×{self.grid[1]} grid; "
                "use larger images or fewer layers."
            )

    @property
    def grid(self) -> tuple[int, int, int]:
        """Rows, columns and types of the primary capsules; capsule i is (row · columns + column) · types + type."""
        rows, columns = (
            ((side - self.kernel) // self.conv_stride + 1 - (self.primary_kernel or self.kernel)) // self.primary_stride
            + 1
            for side in self.image[1:]
        )
        return rows, columns, self.primary_types

    @property
    def grids(self) -> tuple[tuple[int, int, int], ...]:
        """Rows, columns and types of the primary capsules and of each convolutional layer above them."""
        found = [self.grid]
        for layer in self.capsule_layers:
            rows, columns = ((side - layer.kernel) // layer.stride + 1 for side in found[-1][:2])
            found.append((rows, columns, layer.types))
        return tuple(found)

    @property
    def depth(self) -> int:
        """Routed layers: the convolutional ones and the class capsules."""
        return len(self.capsule_layers) + 1

    @property
    def lower(self) -> int:
        """N, the number of primary capsules."""
        rows, columns, types = self.grid
        return rows * columns * types

    def receptive_field(self, row: int, column: int, layer: int = 0) -> tuple[int, int, int, int]:
        """Top, left, bottom and right (exclusive) of the input pixels that the capsules at one position see.

        layer: 0 the primary capsules, 1 the first convolutional layer of capsules, …
        """
        size, step = self.kernel, self.conv_stride
        above = [CapsuleLayer(1, self.primary_kernel or self.kernel, self.primary_stride), *self.capsule_layers]
        for window in above[: layer + 1]:
            size, step = size + (window.kernel - 1) * step, step * window.stride
        return row * step, column * step, row * step + size, column * step + size

    def to_dict(self) -> dict[str, Any]:
        """The config as what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> CapsNetConfig:
        """The config that `to_dict` wrote; raises ConfigError where a field is unknown."""
        data = stored_fields(cls, data, "image", "decoder")
        if "capsule_layers" in data:
            data["capsule_layers"] = tuple(CapsuleLayer(**layer) for layer in data["capsule_layers"])
        if isinstance(data.get("inverse_temperature"), dict):
            data["inverse_temperature"] = InverseTemperature(**data["inverse_temperature"])
        return cls(**data)


def stored_fields(kind: type, data: dict[str, Any], *tuples: str) -> dict[str, Any]:
    """The fields of a config of this kind as JSON held them, tuples again; raises ConfigError where one is unknown."""
    if unknown := sorted(set(data) - {field.name for field in fields(kind)}):
        raise ConfigError(f"The config has fields this version does not know ({', '.join(unknown)}); update capsviz.")
    return {name: tuple(value) if name in tuples else value for name, value in data.items()}


IMAGES: dict[str, tuple[int, int, int]] = {"cifar10": (3, 32, 32), "multi-mnist": (1, 36, 36)}
"""Channels, height and width where they are not MNIST's."""


def _matrix(channels: int, *types: int) -> dict[str, Any]:
    """A channels of a 5 × 5 convolution with stride 2, B primary types, C and D types in the two layers above them."""
    primary, first, second = types
    return {
        "conv_channels": channels,
        "kernel": 5,
        "conv_stride": 2,
        "primary_kernel": 1,
        "primary_stride": 1,
        "primary_types": primary,
        "capsule_layers": (CapsuleLayer(first, 3, 2), CapsuleLayer(second, 3, 1)),
        # A handful of lower capsules is left to each parent, and early on who gets them is chance: gradients through
        # the last iteration alone left 83 % error after 150 steps of 32 MNIST images (matrix-tiny), through all of them
        # 73 % after 100.
        "iterations": 2,
        "through": "all",
        # λ = 0.1 in the second iteration, throughout training: at λ near 1 the logistics of a stack saturate.
        "inverse_temperature": InverseTemperature(final=0.13, start=1.0),
    }


PRESETS: dict[str, dict[str, Any]] = {
    # Seed 003, Table I.
    "paper": {"conv_channels": 256, "primary_types": 32, "decoder": (512, 1024)},
    # The same capsules behind a quarter of the convolution: what a laptop trains and the app ships.
    "compact": {"conv_channels": 64, "primary_types": 32, "decoder": (512, 1024)},
    # For the embedded digits, tests and live training.
    "tiny": {"conv_channels": 32, "primary_types": 8, "decoder": (256, 512)},
}

MATRIX_PRESETS: dict[str, dict[str, Any]] = {
    # Hinton, Sabour & Frosst 2018, section 4: A = 64, B = 8, C = D = 16, with the decoder of the others.
    "matrix-paper": {**_matrix(64, 8, 16, 16), "decoder": (512, 1024)},
    # A = 32, B = C = D = 8.
    "matrix-compact": {**_matrix(32, 8, 8, 8), "decoder": (512, 1024)},
    "matrix-tiny": {**_matrix(16, 4, 4, 4), "decoder": (256, 512)},
}
"""EM in convolutional layers of capsules; no other routing."""


def preset(name: str, data: str, routing: str, *, decoder: bool = True, **overrides: Any) -> CapsNetConfig:
    """The config of a named preset for a data set and a routing algorithm.

    name: "paper", "compact" or "tiny", with "matrix-" before it for the stack of convolutional EM layers; data: a data
    set's name; routing: "dr", "em", "l2" or "l1". CIFAR-10 doubles the primary types, uses LeakyReLU and, as in the
    paper, no decoder. overrides: any field of CapsNetConfig. Raises ConfigError for an unknown preset or routing.
    Source: seed 003, Table I; Hinton, Sabour & Frosst 2018, section 4.
    """
    presets = PRESETS | MATRIX_PRESETS
    if name not in presets:
        raise ConfigError(f"No preset is called {name!r}; choose one of {', '.join(presets)}.")
    if name in MATRIX_PRESETS and routing != "em":
        raise ConfigError(f"The preset {name} routes by EM; use routing em, or the preset {name[len('matrix-') :]}.")
    values = {**presets[name], "routing": routing, "image": IMAGES.get(data, (1, 28, 28))}
    if routing == "em":
        values |= {"primary_dim": 16, "class_dim": 16}
    if data == "cifar10":
        values |= {"primary_types": 2 * values["primary_types"], "leaky": True, "decoder": ()}
    if not decoder:
        values["decoder"] = ()
    return replace(CapsNetConfig(), **(values | overrides))
