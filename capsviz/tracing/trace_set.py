"""The traces of a whole data set, recorded in shards, opened as one and never loaded whole."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
from jaxtyping import Int64
from msgspec import Meta
from torch import Tensor

from capsviz.errors import line
from capsviz.network import MOST_ITERATIONS
from capsviz.reading import Inside, Name, Number, Text, read_json, understood, whole
from capsviz.tensors import TensorFile, tensor_file
from capsviz.tracing.layout import LABELS, TraceError, TraceHeader, check_layout, check_numbers, read_header, step_axes
from capsviz.tracing.trace import Trace, assemble

FORMAT = "capsviz-trace-set-1"
INDEX = "index.json"
SHARDS = "shard-*.safetensors"
AT_ONCE = 16
"""Images that are read together where one after the other is asked for."""
REPEAT = "repeat the command that recorded it"


@dataclass(frozen=True)
class Shard:
    """One file of a set: an ordinary trace of images first … first + count − 1, with their labels beside it."""

    file: Inside
    first: Number
    count: Annotated[int, Meta(ge=1, le=1_000_000)]
    bytes: Number


@dataclass(frozen=True)
class Recording:
    """What is recorded: the model by name and weights, the images, and how much is kept of each.

    images: checksum of the user's own, which may change; empty of others, and where an older capsviz recorded.
    """

    model: Name
    weights: Name
    data: Text
    split: Name
    count: Annotated[int, Meta(ge=1, le=2**53)]
    shard_size: Annotated[int, Meta(ge=1, le=1_000_000)]
    iterations: Annotated[int, Meta(ge=1, le=MOST_ITERATIONS)] | None
    votes: bool
    float16: bool
    images: Name = ""


@dataclass(frozen=True)
class Index:
    """What `index.json` says: the recording, and the files that it is in, image by image. Raises TraceError."""

    format: Name
    recorded: Recording
    shards: Annotated[tuple[Shard, ...], Meta(min_length=1, max_length=1_000_000)]

    def __post_init__(self) -> None:
        after = 0
        for number, shard in enumerate(self.shards):
            if shard.first != after:
                raise TraceError(f"shards[{number}].first is {shard.first} and not {after}; {REPEAT}.")
            after += shard.count
        if after != self.recorded.count:
            raise TraceError(f"the shards hold {after} images and not {self.recorded.count}; {REPEAT}.")


class TraceSet:
    """Traces of a data set: `len`, `[i]` (a Trace of one image), `[a:b]`, a list or a mask (of these), read if asked.

    Only what is asked for is read from the memory-mapped files, and no number of it is kept; a shard's header and
    checksum are looked at when it is first read. recorded: the fields of `Recording`, as JSON.
    """

    def __init__(self, folder: Path, recorded: dict[str, Any], shards: tuple[Shard, ...]) -> None:
        self.folder, self.recorded, self.shards = folder, recorded, shards
        self._starts = [shard.first for shard in shards]
        self._seen: dict[str, tuple[tuple[int, int], TraceHeader]] = {}

    def __repr__(self) -> str:
        return f"<TraceSet of {len(self)} images in {self.folder}>"

    @classmethod
    def open(cls, folder: str | Path | Sequence[str | Path]) -> TraceSet:
        """The set in a folder, or the traces in one file, or in several in this order, as a set; raises TraceError, in
        one sentence, where it is missing, unfinished or damaged, and for files that are not parts of one recording.
        """
        if not isinstance(folder, str | Path):
            return cls._of_files([Path(each) for each in folder])
        folder = Path(folder)
        if folder.is_file():
            return cls._of_files([folder])
        index = folder / INDEX
        if not index.is_file():
            begun = len(list(folder.glob(SHARDS))) if folder.is_dir() else 0
            if begun:
                raise TraceError(
                    f"The recording in {folder} was cut off after {begun} shard{'s' * (begun > 1)}; "
                    "repeat its command to go on."
                )
            if folder.is_dir() and any(folder.iterdir()):
                raise TraceError(
                    f"{folder} holds no set of traces; open a trace in it by itself with `capsviz.Trace.open`, or "
                    "record a set into a folder of its own."
                )
            raise TraceError(f"{folder} holds no traces; record them with `capsviz trace --data NAME -o {folder}`.")
        said = read_json(index, REPEAT, TraceError)
        found = said.get("format") if isinstance(said, dict) else None
        if isinstance(found, str) and found != FORMAT:
            raise TraceError(line(f"{index} is a {found} and this capsviz reads {FORMAT}; record it again."))
        content: Index = understood(Index, said, index, REPEAT, TraceError)
        for shard in content.shards:
            path = folder / shard.file
            if not path.is_file() or path.stat().st_size != shard.bytes:
                raise TraceError(line(f"{path} is missing or was cut short; delete it and repeat the recording."))
        return cls(folder, asdict(content.recorded), content.shards)

    @classmethod
    def _of_files(cls, paths: list[Path]) -> TraceSet:
        """Trace files as a set, a shard each; nobody says with which weights they were recorded, nor of what data."""
        if not paths:
            raise TraceError("There is no file of traces to open; give at least one.")
        shards: list[Shard] = []
        count, alike = 0, None
        for path in paths:
            if os.path.isdir(path):  # unlike the path's own question, answers of every name
                raise TraceError(line(f"{path} is a folder; give the files of traces in it, or the folder by itself."))
            with tensor_file(path, "copy or record it again", TraceError, name=path.name) as file:
                header = read_header(file.metadata, path)
                shards.append(Shard(str(path.absolute()), count, check_layout(file, header), path.stat().st_size))
                count += shards[-1].count
                found = (header, _alike(file, header.capsules.algorithm.step))
                last = f"layer{header.capsules.depth - 1}"
                votes = f"{last}.votes" in file.names
                # As many as were recorded, whatever the network takes by itself.
                iterates = header.capsules.algorithm.iterates
                iterations = file.shape(f"{last}.activations")[0] if iterates else None
            alike = alike or found
            if found != alike:
                raise TraceError(
                    line(f"{path} and {paths[0]} are of different networks or routings; give parts of one recording.")
                )
        recorded = {"model": header.name, "weights": "", "data": "", "split": "", "count": count}
        recorded |= {"iterations": iterations, "votes": votes, "float16": False, "images": ""}
        return cls(paths[0].parent, recorded, tuple(shards))

    def __len__(self) -> int:
        return self.shards[-1].first + self.shards[-1].count if self.shards else 0

    def __getitem__(self, index: Any) -> Trace:
        """A Trace of one image, of those of a slice, or of those of a list of numbers or a mask, in that order.

        Raises IndexError beyond the set or where no image is chosen, TraceError for what chooses no images.
        """
        if isinstance(index, slice):
            ranges = [range(len(self))[index]]
            if not ranges[0] or ranges[0].step < 0:
                raise IndexError("a slice of a trace set goes forwards and holds at least one image")
        else:
            ranges = [range(each, each + 1) for each in self._chosen(index)]
        parts = [(shard, *self._read(shard, places)) for wanted in ranges for shard, places in self._places(wanted)]
        for shard, header, tensors in parts:
            check_numbers(header.capsules, tensors, self.folder / shard.file)
        if any(header != parts[0][1] for _, header, _ in parts):
            raise TraceError(f"The shards in {self.folder} are of different networks; {REPEAT}.")
        header = parts[0][1]
        return assemble(header, _join([tensors for _, _, tensors in parts], header.capsules.algorithm.step))

    def _chosen(self, index: Any) -> list[int]:
        """The images that a number, several of them or a mask choose."""
        given = index.tolist() if hasattr(index, "tolist") else index
        several = list(given) if isinstance(given, list | tuple | range) else [given]
        if len(several) == len(self) and all(isinstance(each, bool) for each in several):
            several = [place for place, chosen in enumerate(several) if chosen]
        said = f"{index!r} chooses no images of {len(self)}; give their numbers, or a mask of as many truth values."
        numbers = [whole(each, said, TraceError) for each in several]
        if not numbers:
            raise IndexError("no image of the trace set is chosen; choose at least one")
        for each in numbers:
            if not -len(self) <= each < len(self):
                raise IndexError(f"the set has {len(self)} images; there is no image {each}")
        return [each % len(self) for each in numbers]

    def __iter__(self) -> Iterator[Trace]:
        # Some at a time: to open a shard takes longer than to read an image of it.
        for shard in self.shards:
            for first in range(0, shard.count, AT_ONCE):
                header, tensors = self._read(shard, slice(first, min(first + AT_ONCE, shard.count)))
                check_numbers(header.capsules, tensors, self.folder / shard.file)
                step = header.capsules.algorithm.step
                for place in range(len(tensors["images"])):
                    cut = {name: _cut(name, slice(place, place + 1), step) for name in tensors}
                    yield assemble(header, {name: each[cut[name]].clone() for name, each in tensors.items()})

    def tensor(self, name: str) -> Tensor:
        """One recorded quantity of all images, by its name in `Trace.tensors`, read shard by shard.

        "activations", "poses" and the like come as "count …", steps as "T count …", for example "layer0.couplings".
        Raises TraceError where it was not recorded.
        """
        found = torch.empty(0)
        for shard in self.shards:
            header, tensors = self._read(shard, slice(None), only=name)
            part, axis = tensors[name], image_axis(name, header.capsules.algorithm.step)
            if axis is None or len(self.shards) == 1:
                return part.float()
            if not shard.first:
                found = torch.empty(*part.shape[:axis], len(self), *part.shape[axis + 1 :], dtype=torch.float32)
            found.narrow(axis, shard.first, shard.count).copy_(part)
        return found

    @property
    def labels(self) -> Int64[Tensor, "count *present"]:
        """The class of each image, or its two classes, as the data set says; "count 0" where nobody said."""
        if not self.recorded["data"]:
            return torch.zeros(len(self), 0, dtype=torch.int64)
        return torch.cat([self._read(shard, slice(None), only=LABELS)[1][LABELS] for shard in self.shards])

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

    def _read(self, shard: Shard, places: slice, only: str | None = None) -> tuple[TraceHeader, dict[str, Tensor]]:
        """Header and tensors of some images of a shard, copied out of the mapped file, so that it can be let go."""
        path = self.folder / shard.file
        with tensor_file(path, "delete it and repeat the recording", TraceError) as file:
            header = self._checked(shard, file)
            if only is not None and only not in file.names:
                raise TraceError(line(f"{only!r} was not recorded; the set holds {', '.join(sorted(file.names))}."))
            wanted = file.names if only is None else (only,)
            step = header.capsules.algorithm.step
            return header, {name: file.finite(name, _cut(name, places, step)) for name in wanted}

    def _checked(self, shard: Shard, file: TensorFile) -> TraceHeader:
        """The header of a shard, whose layout and checksum are looked at once for each version of the file."""
        found = file.path.stat()
        version = (found.st_mtime_ns, found.st_size)
        known = self._seen.get(shard.file)
        if known is not None and known[0] == version:
            return known[1]
        header = read_header(file.metadata, file.path)
        if check_layout(file, header) != shard.count:
            file.refuse("images", f"are not the {shard.count} of {INDEX}")
        file.check_sum()
        self._seen[shard.file] = version, header
        return header


def image_axis(name: str, step: Any) -> int | None:
    """Along which axis of a recorded tensor the images lie; None where it is the same for all of them.

    step: of the algorithm that routed.
    """
    layer, _, field = name.rpartition(".")
    axes = step_axes(step).get(field) if layer else None
    if axes is None:
        return None if name == "gains" else 0
    return 1 + axes.index("batch") if "batch" in axes else None


def _alike(file: TensorFile, step: Any) -> dict[str, Any]:
    """What parts of one recording have in common: the numbers that all images share, and what one image has of each."""
    found: dict[str, Any] = {}
    for name in file.names:
        axis, shape = image_axis(name, step), file.shape(name)
        found[name] = file.finite(name).tolist() if axis is None else (*shape[:axis], *shape[axis + 1 :])
    return found


def _cut(name: str, places: slice, step: Any) -> tuple[slice, ...]:
    axis = image_axis(name, step)
    return (slice(None),) if axis is None else (*[slice(None)] * axis, places)


def _join(parts: list[dict[str, Tensor]], step: Any) -> dict[str, Tensor]:
    if len(parts) == 1:
        return parts[0]
    found = {}
    for name in list(parts[0]):
        each = [part.pop(name) for part in parts]  # each is let go as soon as it is joined
        axis = image_axis(name, step)
        found[name] = each[0] if axis is None else torch.cat(each, axis)
    return found
