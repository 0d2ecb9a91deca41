"""The traces of a whole data set, recorded in shards, opened as one and never loaded whole."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int64
from safetensors import safe_open
from torch import Tensor

from capsviz.tracing.trace import Trace, TraceError, assemble, damage_as_sentences, read_header

FORMAT = "capsviz-trace-set-1"
INDEX = "index.json"
SHARDS = "shard-*.safetensors"
SHARED = ("gains", "coefficients", "inverse_temperature")
"""What is the same for every image, and so has no axis of images."""


@dataclass(frozen=True)
class Shard:
    """One file of a set: an ordinary trace of images first … first + count − 1, with their labels beside it."""

    file: str
    first: int
    count: int
    bytes: int


class TraceSet:
    """Traces of a data set: `len`, `[i]` (a Trace of one image) and `[a:b]` (a Trace of these), read when asked for.

    Only what is asked for is read from the memory-mapped files, and nothing is kept. recorded: what was recorded, as
    JSON: model, weights, data, split, count, iterations, votes, float16.
    """

    def __init__(self, folder: Path, recorded: dict[str, Any], shards: tuple[Shard, ...]) -> None:
        self.folder, self.recorded, self.shards = folder, recorded, shards
        self._starts = [shard.first for shard in shards]

    @classmethod
    def open(cls, folder: str | Path) -> TraceSet:
        """The set in a folder, or the traces in one file as a set; raises TraceError, in one sentence, where it is
        missing, unfinished or damaged.
        """
        folder = Path(folder)
        if folder.is_file():
            return cls._of_file(folder)
        index = folder / INDEX
        if not index.is_file():
            begun = len(list(folder.glob(SHARDS))) if folder.is_dir() else 0
            if begun:
                raise TraceError(
                    f"The recording in {folder} was cut off after {begun} shard{'s' * (begun > 1)}; "
                    "repeat its command to go on."
                )
            raise TraceError(f"{folder} holds no traces; record them with `capsviz trace --data NAME -o {folder}`.")
        try:
            content = json.loads(index.read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise TraceError(f"{index} is a {content['format']} and this capsviz reads {FORMAT}; record it again.")
            recorded, shards = content["recorded"], tuple(Shard(**shard) for shard in content["shards"])
        except (ValueError, KeyError, TypeError) as error:
            raise TraceError(f"{index} is damaged ({error}); repeat the command that recorded it.") from error
        for shard in shards:
            path = folder / shard.file
            if not path.is_file() or path.stat().st_size != shard.bytes:
                raise TraceError(f"{path} is missing or was cut short; delete {index} and repeat the recording.")
        return cls(folder, recorded, shards)

    @classmethod
    def _of_file(cls, path: Path) -> TraceSet:
        """One trace file as a set of one shard; nobody says with which weights it was recorded, nor of what data."""
        with damage_as_sentences(path), safe_open(str(path), framework="pt") as file:
            header = read_header(file.metadata(), path)
            count, *_ = file.get_slice("activations").get_shape()
            votes = f"layer{len(header['layers']) - 1}.votes" in file.keys()  # noqa: SIM118 - not a mapping
            iterations = int(header["config"]["iterations"])
        recorded = {"model": header["name"], "weights": "", "data": "", "split": "", "count": count}
        recorded |= {"iterations": iterations, "votes": votes, "float16": False}
        return cls(path.parent, recorded, (Shard(path.name, 0, count, path.stat().st_size),))

    def __len__(self) -> int:
        return self.shards[-1].first + self.shards[-1].count if self.shards else 0

    def __getitem__(self, index: int | slice) -> Trace:
        """A Trace of one image, or of those of a slice; raises IndexError beyond the set or for an empty slice."""
        if isinstance(index, slice):
            wanted = range(len(self))[index]
            if not wanted or wanted.step < 0:
                raise IndexError("a slice of a trace set goes forwards and holds at least one image")
        else:
            wanted = range(len(self))[index : index + 1 or None]
            if not wanted:
                raise IndexError(f"the set has {len(self)} images; there is no image {index}")
        parts = [self._read(shard, places) for shard, places in self._places(wanted)]
        return assemble(parts[0][0], _join([tensors for _, tensors in parts]))

    def __iter__(self) -> Iterator[Trace]:
        return (self[index] for index in range(len(self)))

    def tensor(self, name: str) -> Tensor:
        """One recorded quantity of all images, by its name in `Trace.tensors`, read shard by shard.

        "activations", "poses" and the like come as "count …", steps as "T count …", for example "layer0.couplings".
        Raises TraceError where it was not recorded.
        """
        return _join([self._read(shard, slice(None), only=name)[1] for shard in self.shards])[name].float()

    @property
    def labels(self) -> Int64[Tensor, "count *present"]:
        """The class of each image, or its two classes, as the data set says; "count 0" where nobody said."""
        if not self.recorded["data"]:
            return torch.zeros(len(self), 0, dtype=torch.int64)
        return torch.cat([self._read(shard, slice(None), only="labels")[1]["labels"] for shard in self.shards])

    @property
    def predicted(self) -> Int64[Tensor, "count"]:
        """The class of the most active capsule of each image."""
        return self.tensor("activations").argmax(1)

    def _places(self, wanted: range) -> Iterator[tuple[Shard, slice]]:
        """The shards in which the wanted images lie, and where in each."""
        position = 0
        while position < len(wanted):
            shard = self.shards[bisect_right(self._starts, wanted[position]) - 1]
            after = shard.first + shard.count
            inside = len(range(wanted[position], min(after, wanted.stop), wanted.step))
            first, last = (wanted[position + offset] - shard.first for offset in (0, inside - 1))
            yield shard, slice(first, last + 1, wanted.step)
            position += inside

    def _read(self, shard: Shard, places: slice, only: str | None = None) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Header and tensors of some images of a shard, copied out of the mapped file, so that it can be let go."""
        path = self.folder / shard.file
        if not path.is_file():
            raise TraceError(f"{path} is missing; delete {self.folder / INDEX} and repeat the recording.")
        with damage_as_sentences(path), safe_open(str(path), framework="pt") as file:
            header, names = read_header(file.metadata(), path), list(file.keys())
            if only is not None and only not in names:
                raise TraceError(f"{only!r} was not recorded; the set holds {', '.join(sorted(names))}.")
            wanted = names if only is None else [only]
            return header, {name: _cut(file.get_slice(name), name, places).clone() for name in wanted}


def image_axis(name: str) -> int | None:
    """Along which axis of a recorded tensor the images lie; None where it is the same for all of them."""
    kind = name.rpartition(".")[2]
    if kind in SHARED:
        return None
    return 1 if "." in name and kind != "votes" else 0


def _cut(tensor: Any, name: str, places: slice) -> Tensor:
    axis = image_axis(name)
    return tensor[:] if axis is None else tensor[places] if axis == 0 else tensor[:, places]


def _join(parts: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    if len(parts) == 1:
        return parts[0]
    return {
        name: tensor if (axis := image_axis(name)) is None else torch.cat([part[name] for part in parts], axis)
        for name, tensor in parts[0].items()
    }
