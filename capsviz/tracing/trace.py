"""The trace of a forward pass: the object that every figure, export and file is made from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from capsviz.files import make_folder, safetensors_parts, write
from capsviz.network import CapsNetConfig, CapsuleLayer, strongest
from capsviz.routing import ALGORITHMS, Algorithm, Step, Windows
from capsviz.tensors import tensor_file, written
from capsviz.tracing.adopting import from_steps
from capsviz.tracing.layout import FORMAT, TraceError, TraceHeader, check_layout, check_numbers, geometry, read_header


class NotRecorded(TraceError, KeyError):
    """A number that a trace does not hold."""

    __str__ = Exception.__str__  # a KeyError would put the sentence into quotes


_OTHERS = {".npz", ".npy", ".html", ".json", ".csv", ".pt", ".pth", ".pkl", ".svg", ".png", ".toml"}


def _shapes(tensors: Mapping[str, Tensor]) -> str:
    return ", ".join(f"{name} {written(tuple(value.shape))}" for name, value in tensors.items())


@dataclass(frozen=True, eq=False, repr=False)
class LayerTrace(Mapping[str, Tensor]):
    """Every iteration of one routed layer, by the names that the step of its algorithm gives its numbers.

    steps: each field of the algorithm's step (`DynamicStep`, `EMStep`, …) to "T …", the iterations stacked in front.
    votes: "batch lower upper dim", or None where the trace was recorded without them.
    lower_grid and upper_grid: rows, columns and types of the capsules below and above, numbered
    (row · columns + column) · types + type; classes are types at one position. window: how the windows of a
    convolutional layer move, None where everyone votes for everyone; with one, "lower" counts the capsules in the
    window of an upper capsule, in the order of `observed`.
    """

    routing: str
    steps: Mapping[str, Tensor]
    votes: Float[Tensor, "batch lower upper dim"] | None
    lower_grid: tuple[int, int, int]
    upper_grid: tuple[int, int, int]
    window: CapsuleLayer | None = None

    def observed(self, upper: int) -> Int[Tensor, " lower"]:
        """Numbers of the lower capsules that vote for an upper one, in the order in which the trace lists them."""
        rows, columns, types = self.lower_grid
        if self.window is None:
            return torch.arange(rows * columns * types)
        windows = Windows.over(self.lower_grid, self.window.kernel, self.window.stride, self.window.types)
        return windows.lower_capsules[upper // self.window.types]

    @property
    def algorithm(self) -> Algorithm:
        """What routed."""
        return ALGORITHMS[self.routing]

    @property
    def poses(self) -> Float[Tensor, "T batch upper dim"]:
        """Of the upper capsules, whatever the algorithm calls them."""
        return self.steps[self.algorithm.pose]

    @property
    def iterations(self) -> int:
        """T."""
        return len(self.steps["activations"])

    def __getitem__(self, name: str) -> Tensor:
        if name not in self.steps:
            if name not in {field.name for field in fields(self.algorithm.step)}:
                raise NotRecorded(f"{self.algorithm.title} has no {name}; it has {', '.join(self.steps)}.")
            raise NotRecorded(f"The trace does not hold the {name}; record them as well.")
        return self.steps[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    # Each is itself alone: of tensors no single answer says whether they are equal.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        cast = {} if self.votes is None else {"votes": self.votes}
        return f"<{self.algorithm.title}, T = {self.iterations}: {_shapes({**self.steps, **cast})}>"


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """What a network did with a batch of images, on the CPU in float32.

    Shapes: images "batch channel height width" in 0..1; primary_poses u "batch lower d"; primary_activations
    "batch lower"; poses "batch upper dim" and activations "batch upper" of the class capsules; predicted "batch";
    reconstruction "batch channel height width", drawn from the most active capsules (`named`), None without a decoder;
    drawings "batch object channel height width", what each of them draws by itself, None where an image shows one.
    layers: one per routed layer, in order. name: of the model; classes: what the upper capsules stand for. gains:
    what an intervention multiplied the strength of each primary capsule by, None where there was none; poses and
    activations of the primary capsules are those after it. kind: "type" where `at` took out a convolutional layer,
    whose upper capsules stand for no class; such a trace is for drawing, and is not saved. objects: how many an image
    shows, one unless the network was trained on several.
    """

    config: CapsNetConfig
    name: str
    classes: tuple[str, ...]
    images: Float[Tensor, "batch channel height width"]
    primary_poses: Float[Tensor, "batch lower d"]
    primary_activations: Float[Tensor, "batch lower"]
    layers: tuple[LayerTrace, ...]
    poses: Float[Tensor, "batch upper dim"]
    activations: Float[Tensor, "batch upper"]
    reconstruction: Float[Tensor, "batch channel height width"] | None
    gains: Float[Tensor, " lower"] | None = None
    kind: Literal["class", "type"] = "class"
    objects: int = 1
    drawings: Float[Tensor, "batch object channel height width"] | None = None

    def __repr__(self) -> str:
        """What there is, and of which shape: the model, the numbers of the trace and of each routed layer."""
        whole = {each.name: getattr(self, each.name) for each in fields(self)}
        numbers = {name: value for name, value in whole.items() if isinstance(value, Tensor)}
        layers = (f"  layers[{place}]: {each!r}" for place, each in enumerate(self.layers))
        first = f"<Trace of {self.name or 'a network'}, {len(self.classes)} classes: {_shapes(numbers)}"
        return "\n".join([first, *layers]) + ">"

    def called(self, upper: int) -> str:
        """ "class 3", or "type 3" where the upper capsules are those of a convolutional layer."""
        name = self.classes[upper]
        return name if self.kind == "type" else f"{self.kind} {name}"

    @property
    def layer(self) -> LayerTrace:
        """The last routed layer, whose upper capsules are the classes."""
        return self.layers[-1]

    def lower_activations(self, layer: int = -1) -> Float[Tensor, "batch lower"]:
        """The activations of the capsules below a routed layer; layers are counted from 0, or from the end."""
        below = range(len(self.layers))[layer] - 1
        return self.primary_activations if below < 0 else self.layers[below]["activations"][-1]

    def lower_poses(self, layer: int = -1) -> Float[Tensor, "batch lower d"]:
        """The poses of the capsules below a routed layer; layers are counted from 0, or from the end."""
        below = range(len(self.layers))[layer] - 1
        return self.primary_poses if below < 0 else self.layers[below].poses[-1]

    def at(self, layer: int, position: int = 0) -> Trace:
        """One routed layer by itself, as the trace of a network whose primary capsules are those below it.

        position: row · columns + column, in the layer's upper grid, of the upper capsules to look at; those of a
        convolutional layer are named by their type and see the capsules in their window. layer: from 0, or from the
        end. Whatever draws a network of one routed layer draws this, the network's strip aside; the reconstruction is
        left out, above the first layer also the gains, and `config` and `images` stay those of the network. Raises
        IndexError for a layer or position that is not there.
        """
        number = range(len(self.layers))[layer]
        whole = self.layers[number]
        rows, columns, types = whole.upper_grid
        place = range(rows * columns)[position]
        if len(self.layers) == 1:
            return self
        here = slice(place * types, (place + 1) * types)
        seen = whole.observed(here.start)
        steps = {
            name: value[..., here] if name in whole.algorithm.pairs else value[:, :, here] if value.ndim > 1 else value
            for name, value in whole.steps.items()
        }
        side = whole.window.kernel if whole.window else None
        grid = (side, side, whole.lower_grid[2]) if side else whole.lower_grid
        votes = None if whole.votes is None else whole.votes[:, :, here]
        return replace(
            self,
            classes=tuple(f"type {kind}" for kind in range(types)) if whole.window else self.classes,
            primary_poses=self.lower_poses(number)[:, seen],
            primary_activations=self.lower_activations(number)[:, seen],
            layers=(LayerTrace(whole.routing, steps, votes, grid, (1, 1, types)),),
            poses=steps[whole.algorithm.pose][-1],
            activations=steps["activations"][-1],
            reconstruction=None,
            drawings=None,
            gains=None if number or self.gains is None else self.gains[seen],
            kind="type" if whole.window else "class",
            objects=1 if whole.window else self.objects,
        )

    @property
    def predicted(self) -> Int[Tensor, "batch"]:
        """The class of the most active capsule of each image."""
        return self.activations.argmax(1)

    @property
    def named(self) -> Int[Tensor, "batch object"]:
        """As many classes as an image shows objects: those of its most active capsules, the most active first."""
        return strongest(self.activations, self.objects)

    @property
    def grid(self) -> tuple[int, int, int]:
        """Rows, columns and types of the primary capsules; capsule i is (row · columns + column) · types + type."""
        return self.config.grid

    def tensors(self) -> dict[str, Tensor]:
        """Everything recorded, by the names that files use: those of the fields, and "layer0.couplings" and so on."""
        tensors = {name: value for name in _TENSORS if (value := getattr(self, name)) is not None}
        for number, layer in enumerate(self.layers):
            tensors |= {f"layer{number}.{name}": value for name, value in layer.steps.items()}
            if layer.votes is not None:
                tensors[f"layer{number}.votes"] = layer.votes
        return tensors

    def header(self) -> dict[str, Any]:
        """What a file says of the tensors in it, as what JSON can hold."""
        return {
            "config": self.config.to_dict(),
            "name": self.name,
            "classes": self.classes,
            "layers": [layer.routing for layer in self.layers],
            "objects": self.objects,
        }

    @classmethod
    def from_steps(cls, routing: str, shares: Tensor, poses: Tensor, **more: Any) -> Trace:
        """The trace of a routing that another program recorded: see `capsviz.tracing.adopting.from_steps`."""
        return from_steps(routing, shares, poses, **more)

    def save(self, path: str | Path) -> None:
        """Write the trace as one safetensors file whose header is JSON; opens again with `Trace.open`.

        A folder that is not there is made. The same trace gives the same bytes. Raises WriteError, and leaves a file
        that is there as it was; TraceError for the ending of another format.
        """
        if (ending := Path(path).suffix.lower()) in _OTHERS:
            raise TraceError(f"A trace is no {ending} file; call it NAME.safetensors.")
        parts = self._parts()
        make_folder(Path(path).parent)
        write(path, parts)

    def to_bytes(self) -> bytes:
        """What `save` writes; raises TraceError for a header with which it would not open again."""
        return b"".join(self._parts())

    def _parts(self) -> list[bytes | memoryview]:
        """What `to_bytes` gives, in parts."""
        said = {"format": FORMAT, "trace": json.dumps(self.header())}
        read_header(said, Path("The trace"))
        return safetensors_parts(self.tensors(), said)

    @classmethod
    def open(cls, path: str | Path) -> Trace:
        """The trace in a file; raises TraceError, in one sentence, for a missing, damaged or foreign one."""
        path = Path(path)
        if path.is_dir():
            raise TraceError(f"{path} is a folder; open a whole data set's traces with `capsviz.TraceSet.open`.")
        if not path.is_file():
            raise TraceError(f"There is no trace file {path}; record one with `capsviz trace IMAGE -o FILE`.")
        with tensor_file(path, "copy or record it again", TraceError, name=path.name) as file:
            header = read_header(file.metadata, path)
            check_layout(file, header)
            tensors = file.whole()
            file.check_finite(tensors)
        check_numbers(header.capsules, tensors, path)
        return assemble(header, tensors)


def assemble(header: TraceHeader, tensors: Mapping[str, Tensor]) -> Trace:
    """The trace of a header and the tensors that belong to it, in float32 whatever they were kept in."""
    tensors = {name: tensor.float() if tensor.dtype == torch.float16 else tensor for name, tensor in tensors.items()}
    config = header.capsules
    return Trace(
        config,
        header.name,
        header.classes,
        tensors["images"],
        tensors["primary_poses"],
        tensors["primary_activations"],
        tuple(_layer(config, number, routing, tensors) for number, routing in enumerate(header.layers)),
        tensors["poses"],
        tensors["activations"],
        tensors.get("reconstruction"),
        tensors.get("gains"),
        objects=header.objects,
        drawings=tensors.get("drawings"),
    )


_TENSORS = (
    *("images", "primary_poses", "primary_activations", "poses", "activations"),
    *("reconstruction", "drawings", "gains"),
)


def _layer(config: CapsNetConfig, number: int, routing: str, tensors: Mapping[str, Tensor]) -> LayerTrace:
    prefix = f"layer{number}."
    steps = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    votes = steps.pop("votes", None)
    return LayerTrace(routing, steps, votes, *geometry(config, number))


def stacked(steps: list[Step]) -> dict[str, Tensor]:
    """The numbers of all steps by their field's name, stacked in front."""
    names = [field.name for field in fields(steps[0]) if field.name != "iteration"]
    return {
        name: torch.stack([torch.as_tensor(getattr(step, name), dtype=torch.float32).cpu() for step in steps])
        for name in names
    }
