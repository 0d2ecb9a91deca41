"""What a trace's file holds: its header as a model, and the tensors that follow from the config in it.

Everything is held against the file's own header before a number is read; the algorithm says what its steps hold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, NoReturn

import torch
from msgspec import Meta
from torch import Tensor

from capsviz.errors import CapsvizError, line
from capsviz.network import MOST_ITERATIONS, CapsNetConfig, CapsuleLayer, NetworkConfig, config_in_file
from capsviz.network.recorded import RecordedConfig
from capsviz.reading import Name, Names, parsed, refused, understood
from capsviz.routing import Algorithm, Windows
from capsviz.routing.connections import Connections, Everyone
from capsviz.tensors import TensorFile

FORMAT = "capsviz-trace-1"
KINDS = ("F32", "F16")
"""Numbers are kept in; float16 is half of the file, and what is computed of it in float32."""
LABELS = "labels"
"""Beside the traces of a set: the class of each image, or its classes."""
UNEVEN = 2e-3
"""How far from 1 the shares of a capsule may add up: float16 rounds each by half a thousandth."""
COARSE = 5e-3
"""By how much a length, an activation or a pixel in few digits may miss 0..1."""
REMEDY = "record it again"


class TraceError(CapsvizError):
    """A trace that cannot be recorded, or a file of one that cannot be opened."""


@dataclass(frozen=True)
class TraceHeader:
    """What a file says of the tensors in it; layers: the routing of each. Raises TraceError."""

    config: NetworkConfig
    name: Name
    classes: Names
    layers: Annotated[tuple[Name, ...], Meta(max_length=100)]
    objects: Annotated[int, Meta(ge=1, le=10_000)] = 1

    def __post_init__(self) -> None:
        if not isinstance(self.config, CapsNetConfig):
            raise TraceError(f"the network has no capsules; {REMEDY}.")
        if len(self.classes) != self.config.classes:
            raise TraceError(f"classes are {len(self.classes)} names of {self.config.classes}; {REMEDY}.")
        if self.layers != (self.config.routing,) * self.config.depth:
            raise TraceError(f"layers are not the {self.config.depth} of the config; {REMEDY}.")
        if self.objects > self.config.classes:
            raise TraceError(f"objects are more than there are classes; {REMEDY}.")

    @property
    def capsules(self) -> CapsNetConfig:
        """The config."""
        assert isinstance(self.config, CapsNetConfig)
        return self.config


def read_header(metadata: Mapping[str, str], path: Path) -> TraceHeader:
    """The header in a file's metadata; raises TraceError where that is of something else."""
    found = metadata.get("format", "")
    if not found.startswith("capsviz-trace-"):
        raise TraceError(f"{path.name} holds tensors, but no capsviz trace; open it with what wrote it.")
    if found != FORMAT:
        raise TraceError(line(f"{path.name} is a {found} and this capsviz reads {FORMAT}; record it again."))
    text = metadata.get("trace", "")
    return (_header if len(text) <= _REMEMBERED else _header.__wrapped__)(text, path.name)


@lru_cache(maxsize=64)
def _header(text: str, name: str) -> TraceHeader:
    said = parsed(text, name, REMEDY, TraceError)
    return understood(TraceHeader, said, name, REMEDY, TraceError, hook=_config)


def _config(kind: type, values: Any) -> Any:
    """The config of one of our networks, or of one that another program ran."""
    if kind is NetworkConfig and isinstance(values, dict) and "lattice" in values:
        return RecordedConfig.from_dict(values)
    return config_in_file(kind, values)


_REMEMBERED = 100_000
"""Characters of a header, up to which it is remembered: what is wrong with the rest of the file is not known yet."""
Geometry = tuple[tuple[int, int, int], tuple[int, int, int], CapsuleLayer | None]


def geometry(config: CapsNetConfig, number: int) -> Geometry:
    """The grids below and above a routed layer, and its windows where it is convolutional."""
    grids = *config.grids, (1, 1, config.classes)
    window = config.capsule_layers[number] if number < config.depth - 1 else None
    return grids[number], grids[number + 1], window


def connections(config: CapsNetConfig, number: int) -> Connections:
    """Who votes for whom in a routed layer."""
    below, _, window = geometry(config, number)
    if window is None:
        return Everyone(below[0] * below[1] * below[2], config.classes)
    return Windows.over(below, window.kernel, window.stride, window.types)


@cache
def step_axes(step: Any) -> dict[str, tuple[str, ...]]:
    """The axes of each number of a step, by its annotation: {"couplings": ("batch", "lower", "upper"), …}."""
    axes = {}
    for field in fields(step):
        named = re.search(r"[\"'](.*?)[\"']", str(step.__annotations__[field.name]))
        if field.name != "iteration":
            axes[field.name] = tuple(named[1].split()) if named else ()
    return axes


def step_shapes(algorithm: Algorithm, sizes: Mapping[str, int], iterations: int) -> dict[str, tuple[int, ...]]:
    """The shape of each number of a step by its name, so many iterations stacked in front; sizes: of the axes."""
    return {name: (iterations, *(sizes[axis] for axis in axes)) for name, axes in step_axes(algorithm.step).items()}


def shapes(header: TraceHeader, batch: int, rounds: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor that a trace of so many images may have, by its name in the file.

    rounds: the iterations of each layer.
    """
    config = header.capsules
    found: dict[str, tuple[int, ...]] = {
        "images": (batch, *config.image),
        "primary_poses": (batch, config.lower, config.primary_dim),
        "primary_activations": (batch, config.lower),
        "poses": (batch, config.classes, config.class_dim),
        "activations": (batch, config.classes),
        "reconstruction": (batch, *config.image),
        "drawings": (batch, header.objects, *config.image),
        "gains": (config.lower,),
    }
    for number, count in enumerate(rounds):
        below, above, window = geometry(config, number)
        lower = (window.kernel**2 if window else below[0] * below[1]) * below[2]
        upper = above[0] * above[1] * above[2]
        sizes = {"batch": batch, "lower": lower, "upper": upper, "dim": config.class_dim}
        steps = step_shapes(config.algorithm, sizes, count)
        found |= {f"layer{number}.{name}": shape for name, shape in steps.items()}
        found[f"layer{number}.votes"] = (batch, lower, upper, config.class_dim)
    return found


def wanted(config: CapsNetConfig) -> set[str]:
    """The tensors without which there is no trace: what another program recorded need not hold all that ours do."""
    algorithm = config.algorithm
    needed = {algorithm.shares, algorithm.pose, "activations"}
    if not isinstance(config, RecordedConfig):
        notes = algorithm.step.__annotations__
        needed |= {name for name in step_axes(algorithm.step) if "None" not in str(notes[name])}
    steps = {f"layer{number}.{name}" for number in range(config.depth) for name in needed}
    return steps | {"images", "primary_poses", "primary_activations", "poses", "activations"}


def check_layout(file: TensorFile, header: TraceHeader) -> int:
    """Refuse a file whose tensors are not those of its config; how many images there are. No number is read."""
    config = header.capsules
    if missing := sorted(wanted(config) - set(file.names)):
        file.refuse(missing[0], "is missing")
    first = file.shape("images")
    if not first or not first[0]:
        file.refuse("images", "are none")
    rounds = []
    for number in range(config.depth):
        name = f"layer{number}.activations"
        found = file.shape(name)
        if not found or not 1 <= found[0] <= MOST_ITERATIONS:
            file.refuse(name, f"has no iterations, or more than {MOST_ITERATIONS}")
        rounds.append(found[0])
    expected = shapes(header, first[0], tuple(rounds))
    for name in file.names:
        if name == LABELS:
            if (found := file.shape(name))[:1] != first[:1] or len(found) > 2 or file.dtype(name) != "I64":
                file.refuse(name, "are not one for each image")
        elif name not in expected:
            file.refuse(name, "is no part of a trace")
        else:
            file.expect(name, expected[name], KINDS)
    return first[0]


def check_numbers(config: CapsNetConfig, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Raise TraceError for numbers that no routing gives.

    These are pixels, activations and shares that are not in 0..1, variances below 0, and shares of a lower capsule
    that do not add up to 1 over the upper ones, in any iteration. A boosted primary capsule may be longer than 1.
    """
    share = config.algorithm.shares if config.algorithm.share else None
    for name, numbers in tensors.items():
        field = name.rpartition(".")[2]
        if field in ("images", "primary_activations", "activations", "variances", share):
            low, high = (float(each) for each in numbers.aminmax())
            if low < (0 if field in ("variances", share) else -COARSE):
                _refuse(path, name, "has numbers below 0")
            if high > 1 + COARSE and field not in ("primary_activations", "variances"):
                _refuse(path, name, "has numbers above 1")
    for number in range(config.depth if share else 0):
        who, name = connections(config, number), f"layer{number}.{share}"
        for step in tensors[name]:
            if not bool(((who.given(step.to(torch.float32)) - 1).abs() <= UNEVEN).all()):
                _refuse(path, name, "does not add up to 1 over the upper capsules")


def _refuse(path: Path, field: str, what: str) -> NoReturn:
    refused(path.name, field, what, REMEDY, TraceError)
