"""What a capsule network is made of, as data: `CapsNetConfig`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, TypeVar, get_args

from msgspec import Meta

from capsviz.errors import CapsvizError, line, listed
from capsviz.reading import Count, Name, Side, check, understood, unknown
from capsviz.routing import ALGORITHMS, Algorithm, InverseTemperature, Through
from capsviz.routing.discriminative import COEFFICIENT_START
from capsviz.routing.own import DEFINE

MATRIX = 16
"""Numbers of a 4 × 4 pose."""
MOST_ITERATIONS = 1000
"""Of a routing: a trace keeps every one of them."""
MOST_VOTES = 2**26
"""Numbers of the votes of one image in one layer: those of the papers' largest network are 2**20."""
C = TypeVar("C", bound="NetworkConfig")


class ConfigError(CapsvizError):
    """A network that cannot be built."""


def algorithm_of(routing: str, error: type[CapsvizError] = ConfigError) -> Algorithm:
    """The algorithm of a name; raises `error` where none is called so."""
    if routing not in list(ALGORITHMS):  # what is given may be a list, which no mapping can be asked for
        raise error(f"No routing is called {routing!r}; choose one of {', '.join(ALGORITHMS)}, or {DEFINE}.")
    return ALGORITHMS[routing]


def check_schedule(given: object) -> None:
    """Raise ConfigError for what is no schedule of λ."""
    if not isinstance(given, InverseTemperature):
        own = ", ".join(f"{field.name}={field.default}" for field in fields(InverseTemperature))
        raise ConfigError(
            line(f"{given!r} is no inverse temperature; give capsviz.routing.InverseTemperature({own}), or part of it.")
        )


class NetworkConfig:
    """What a network is made of, of whatever kind: its images "channels, height, width", its classes, its method."""

    image: tuple[int, int, int]
    classes: int
    routing: str

    @property
    def weights(self) -> int:
        """Numbers of its kernels and matrices: a file of its weights holds so many at least."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The config as what JSON can hold."""
        return asdict(self)  # type: ignore[call-overload]  # every kind is a dataclass

    @classmethod
    def from_dict(cls: type[C], data: Mapping[str, Any]) -> C:
        """The config of this kind that `to_dict` wrote; raises ConfigError, naming the field, where it is none."""
        config: C = understood(cls, data, "The config", "correct it, or update capsviz", ConfigError)
        if field := unknown(data, config):
            raise ConfigError(
                line(f"The config has a field that this version does not know ({field}); update capsviz.")
            )
        return config


Image = tuple[Annotated[int, Meta(ge=1, le=16)], Side, Side]


@dataclass(frozen=True)
class CapsuleLayer:
    """A convolutional layer of matrix capsules: its types, and how its kernel × kernel windows move over the grid."""

    types: Count
    kernel: Side = 3
    stride: Side = 1


@dataclass(frozen=True)
class Stage:
    """One stage of the residual encoder: its channels, and its residual blocks of two 3 × 3 convolutions each."""

    channels: Count
    blocks: Annotated[int, Meta(ge=0, le=100)]


@dataclass(frozen=True)
class Window:
    """What one convolution sees along one axis, in pixels of its input."""

    kernel: Annotated[int, Meta(ge=1, le=10_000)]
    stride: Annotated[int, Meta(ge=0, le=10_000)] = 1
    padding: Annotated[int, Meta(ge=0, le=10_000)] = 0

    def places(self, side: int) -> int:
        """Positions over an input of so many pixels."""
        return (side + 2 * self.padding - self.kernel) // self.stride + 1


LARGEST_GRID, LARGEST_PADDED = 10, 7
"""The residual encoder halves an image until a side has at most 10 positions; the convolution that makes capsules of
them keeps up to 7 and takes the border off more, so that 6 to 8 are left.
"""


@dataclass(frozen=True)
class CapsNetConfig(NetworkConfig):
    """The network of Yang, Li & Yu 2021, Table I, with its sizes named; or that of Hinton, Sabour & Frosst 2018.

    image: channels, height, width. stages: of the residual encoder (residual.py); without any, the encoder is the two
    convolutions of Table I. normalised: whether the residual encoder's convolutions are followed by batch
    normalisation, or carry what training made of it in their weights. kernel, conv_stride: of the first convolution, in
    pixels; primary_kernel (as the first one's where it is None), primary_stride: of the second, which makes the primary
    capsules. capsule_layers:
    convolutional layers of matrix capsules between primary and class capsules (EM only; 2018, section 4); the class
    capsules then share their weights over the positions. primary_dim d and class_dim D: numbers per capsule (EM reads
    its 16 as a 4 × 4 matrix, in every layer). decoder: hidden widths, empty for a network without reconstruction.
    leaky: LeakyReLU in place of ReLU. iterations T: of the routing; discriminative routing has none and ignores it.
    through: the iterations through which gradients flow. coefficient_start: around which the coefficients b of L2 and
    L1 are drawn. reshaped: the primary capsules are cut from the second convolution's output as it lies in memory
    (channels, rows, columns), d numbers each, as many public networks do (layouts.py): most hold neighbouring pixels of
    one channel. They then lie on no grid: all are at one place that sees the whole image. Raises ConfigError.
    """

    image: Image = (1, 28, 28)
    classes: Count = 10
    conv_channels: Count = 256
    kernel: Side = 9
    conv_stride: Side = 1
    primary_kernel: Side | None = None
    primary_stride: Side = 2
    primary_types: Count = 32
    primary_dim: Count = 8
    class_dim: Count = 16
    routing: Name = next(iter(ALGORITHMS))
    iterations: Annotated[int, Meta(ge=1, le=MOST_ITERATIONS)] = 3
    decoder: Annotated[tuple[Count, ...], Meta(max_length=16)] = (512, 1024)
    leaky: bool = False
    capsule_layers: Annotated[tuple[CapsuleLayer, ...], Meta(max_length=16)] = ()
    through: Through = "last"
    inverse_temperature: InverseTemperature = InverseTemperature()
    coefficient_start: Annotated[float, Meta(ge=-1e6, le=1e6)] = COEFFICIENT_START
    stages: Annotated[tuple[Stage, ...], Meta(max_length=16)] = ()
    normalised: bool = True
    reshaped: bool = False

    def __post_init__(self) -> None:
        algorithm_of(self.routing)
        if self.through not in get_args(Through):
            raise ConfigError(f"through is {self.through!r}; choose one of {', '.join(get_args(Through))}.")
        check_schedule(self.inverse_temperature)
        check(self, ConfigError)
        for part in (*self.capsule_layers, *self.stages, self.inverse_temperature):
            check(part, ConfigError)
        if self.algorithm.matrix and (self.primary_dim, self.class_dim) != (MATRIX, MATRIX):
            title = self.algorithm.title
            raise ConfigError(f"{title} works on 4 × 4 poses; set primary_dim and class_dim to {MATRIX}.")
        if self.capsule_layers and not self.algorithm.matrix:
            raise ConfigError(f"Convolutional layers of capsules route {by_matrices()}.")
        if self.stages and self.capsule_layers:
            raise ConfigError("Convolutional layers of capsules stand on two convolutions; leave out the stages.")
        if self.reshaped and (self.stages or self.algorithm.matrix):
            raise ConfigError("Reshaped primary capsules are vectors that stand on two convolutions.")
        if min(stage.blocks for stage in (*self.stages[1:], Stage(1, 1))) < 1:
            raise ConfigError("Every stage but the first needs a block, whose first convolution shrinks the image.")
        if min(self.grid[:2]) < 1:
            kernels = [
                f"{rows.kernel}×{columns.kernel}" for rows, columns in zip(*map(self.windows, (0, 1)), strict=True)
            ]
            raise ConfigError(
                f"The convolutions, {listed(kernels)}, leave nothing of a "
                f"{self.image[1]}×{self.image[2]} image; use larger images (`--size`, of a folder's) or "
                "another network (`--preset residual`)."
            )
        if min(min(grid[:2]) for grid in self.grids) < 1:
            raise ConfigError(
                f"{len(self.capsule_layers)} layers of capsules leave nothing of a {self.grid[0]}×{self.grid[1]} grid; "
                "use larger images or fewer layers."
            )
        for number, most in enumerate(self.votes):
            if most > MOST_VOTES:
                raise ConfigError(f"Layer {number} of capsules casts {most:,} numbers an image; use fewer types.")

    def strides(self, axis: int) -> tuple[int, ...]:
        """By how much each stage of the residual encoder shrinks an image along its rows (axis 0) or columns (1).

        As many halvings as leave at most `LARGEST_GRID` positions; the later stages first, the first stage the rest.
        """
        side, halvings = self.image[1 + axis], 0
        while -(-side // 2**halvings) > LARGEST_GRID:
            halvings += 1
        later = len(self.stages) - 1
        return (2 ** max(0, halvings - later), *(1 + (stage < halvings) for stage in range(later)))

    def windows(self, axis: int) -> tuple[Window, ...]:
        """What each convolution of the encoder sees along the rows (axis 0) or columns (1), the first one first."""
        if not self.stages:
            return (
                Window(self.kernel, self.conv_stride),
                Window(self.primary_kernel or self.kernel, self.primary_stride),
            )
        first, *later = self.strides(axis)
        # 3 × 3, or larger where a longer stride would leave out the last pixels.
        kernel = max(3, 2 * first - 1)
        found = [Window(kernel, first, kernel // 2)]
        for stage, stride in zip(self.stages, (1, *later), strict=True):
            for block in range(stage.blocks):
                found += [Window(3, 1 if block else stride, 1), Window(3, 1, 1)]
        side = self.image[1 + axis]
        for window in found:
            side = window.places(side)
        return (*found, Window(3, 1, 0 if side > LARGEST_PADDED else 1))

    @property
    def algorithm(self) -> Algorithm:
        """What routes: the object of the name `routing`."""
        return ALGORITHMS[self.routing]

    @cached_property
    def grid(self) -> tuple[int, int, int]:
        """Rows, columns and types of the primary capsules; capsule i is (row · columns + column) · types + type."""
        sides = list(self.image[1:])
        for axis in (0, 1):
            for window in self.windows(axis):
                sides[axis] = window.places(sides[axis])
        if self.reshaped and min(sides) > 0:
            return 1, 1, sides[0] * sides[1] * self.primary_types
        return sides[0], sides[1], self.primary_types

    @cached_property
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

    @property
    def pairs(self) -> tuple[int, ...]:
        """Pairs of a capsule below and one above it in each routed layer."""
        counts = [rows * columns * types for rows, columns, types in self.grids]
        below = [layer.kernel**2 * grid[2] for layer, grid in zip(self.capsule_layers, self.grids, strict=False)]
        convolutional = [seen * upper for seen, upper in zip(below, counts[1:], strict=True)]
        return (*convolutional, counts[-1] * self.classes)

    @property
    def votes(self) -> tuple[int, ...]:
        """Numbers of the votes of one image in each routed layer."""
        return tuple(count * max(self.primary_dim, self.class_dim) for count in self.pairs)

    @property
    def channels(self) -> tuple[int, ...]:
        """Of the image, and of what each convolution of the encoder makes of it."""
        widths = [self.conv_channels]
        if self.stages:
            widths = [self.stages[0].channels, *(s.channels for s in self.stages for _ in range(2 * s.blocks))]
        return (self.image[0], *widths, self.primary_types * self.primary_dim)

    @property
    def weights(self) -> int:
        """Numbers of its kernels and matrices: a file of its weights holds so many at least."""
        kernels = [rows.kernel * columns.kernel for rows, columns in zip(*map(self.windows, (0, 1)), strict=True)]
        encoder = sum(a * b * kernel for (a, b), kernel in zip(pairwise(self.channels), kernels, strict=True))
        types = [grid[2] for grid in self.grids]
        layers = sum(
            layer.kernel**2 * below * layer.types for layer, below in zip(self.capsule_layers, types, strict=False)
        )
        seen = types[-1] if self.capsule_layers else self.lower
        pose = MATRIX if self.algorithm.matrix else self.primary_dim * self.class_dim
        drawn = [self.classes * self.class_dim, *self.decoder, math.prod(self.image)] if self.decoder else []
        return encoder + (layers + seen * self.classes) * pose + sum(a * b for a, b in pairwise(drawn))

    def view(self, axis: int, layer: int = 0) -> Window:
        """All that the capsules at one position see along the rows (axis 0) or columns (1), as one window.

        Its padding is how far the first position's view reaches beyond the border. layer: as in `receptive_field`.
        """
        if self.reshaped:
            return Window(self.image[1 + axis], 0)
        size, step, beyond = 1, 1, 0
        above = [Window(each.kernel, each.stride) for each in self.capsule_layers[:layer]]
        for window in (*self.windows(axis), *above):
            size, beyond = size + (window.kernel - 1) * step, beyond + window.padding * step
            step *= window.stride
        return Window(size, step, beyond)

    def receptive_field(self, row: int, column: int, layer: int = 0) -> tuple[int, int, int, int]:
        """Top, left, bottom and right (exclusive) of the input pixels that the capsules at one position see.

        layer: 0 the primary capsules, 1 the first convolutional layer of capsules, … What lies beyond the image's
        border is no pixel and left out.
        """
        starts, ends = [], []
        for axis, place in enumerate((row, column)):
            view = self.view(axis, layer)
            start = place * view.stride - view.padding
            starts.append(max(0, start))
            ends.append(min(self.image[1 + axis], start + view.kernel))
        return starts[0], starts[1], ends[0], ends[1]


def by_matrices() -> str:
    """ "by EM; use routing em": the algorithms that route matrix capsules, and how to choose one."""
    able = [algorithm for algorithm in ALGORITHMS.values() if algorithm.matrix]
    shorts, names = (" or ".join(words) for words in ((a.short for a in able), (a.name for a in able)))
    return f"by {shorts}; use routing {names}"
