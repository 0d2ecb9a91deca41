"""Files of tensors: what the header of one says is checked before a number is read, and a checksum covers all of it."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase, BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, NoReturn

import numpy as np
import torch
from msgspec import Meta
from safetensors import SafetensorError, safe_open
from safetensors.torch import load
from torch import Tensor

from capsviz.errors import CapsvizError
from capsviz.reading import parsed, refused, understood

CHECKSUM, BLANK = "checksum", "crc32:00000000"
"""Where a file of tensors states the checksum of all its bytes, and what stands there while it is reckoned."""
LENGTH = 8
"""Bytes that say how long the header of a safetensors file is."""
LARGEST_HEADER = 8_000_000
"""Bytes of what stands before the numbers of a file of tensors."""


class TensorFile:
    """A safetensors file, open: what its header says, checked before any number is read."""

    def __init__(
        self, path: Path, file: Any, sentence: Callable[[str, str], NoReturn], content: bytes | None = None
    ) -> None:
        self.path, self._file, self._sentence, self._content = path, file, sentence, content
        self.metadata: dict[str, str] = file.metadata() or {}
        self.names = dict.fromkeys(file.keys())

    @property
    def numbers(self) -> int:
        """How many it holds, by its header."""
        return sum(math.prod(self.shape(name)) for name in self.names)

    def refuse(self, field: str, what: str) -> NoReturn:
        """Raise the one sentence on this file."""
        self._sentence(field, what)

    def shape(self, name: str) -> tuple[int, ...]:
        """Of a tensor, by the header alone."""
        return tuple(self._file.get_slice(name).get_shape())

    def dtype(self, name: str) -> str:
        """Of a tensor, as safetensors names it: "F32"."""
        return self._file.get_slice(name).get_dtype()

    def expect(self, name: str, shape: tuple[int, ...], dtypes: tuple[str, ...] = ("F32",)) -> None:
        """Refuse the file where it lacks a tensor, or has it in another shape or type of number."""
        if name not in self.names:
            self.refuse(name, "is missing")
        if (found := self.shape(name)) != shape:
            self.refuse(name, f"has the shape {written(found)} and not {written(shape)}")
        if (kind := self.dtype(name)) not in dtypes:
            self.refuse(name, f"holds {kind} and not {' or '.join(dtypes)}")

    def check_sum(self) -> None:
        """Refuse the file where its checksum, if it states one, is not that of its bytes."""
        stated = self.metadata.get(CHECKSUM)
        if stated is None:
            return
        with self.path.open("rb") if self._content is None else BytesIO(self._content) as file:
            self._compare(file, stated)

    def _compare(self, file: BufferedIOBase, stated: str) -> None:
        length = file.read(LENGTH)
        header = file.read(int.from_bytes(length, "little"))
        found = zlib.crc32(header.replace(stated.encode(), BLANK.encode(), 1), zlib.crc32(length))
        while part := file.read(1 << 20):
            found = zlib.crc32(part, found)
        if stated != f"crc32:{found:08x}":
            self.refuse("", "is damaged: its bytes are not those of its checksum")

    def whole(self) -> dict[str, Tensor]:
        """All tensors, of the very bytes that the checksum, if one is stated, is that of."""
        content = self.path.read_bytes() if self._content is None else self._content
        if stated := self.metadata.get(CHECKSUM):
            self._compare(BytesIO(content), stated)
        try:
            return load(content)
        except (TypeError, ValueError, AttributeError, KeyError) as inner:  # a type of number that torch has not
            self.refuse("", f"cannot be read ({inner})")
        except SafetensorError as inner:
            self.refuse("", f"is damaged ({inner})")

    def check_finite(self, tensors: Mapping[str, Tensor]) -> None:
        """Refuse the file where a number of these tensors of it is not finite."""
        for name, tensor in tensors.items():
            if not all_finite(tensor):
                self.refuse(name, "holds numbers that are not finite")

    def get(self, name: str, places: tuple[slice, ...] | None = None) -> Tensor:
        """A tensor, or a copy of what is at these places of its first axes."""
        try:
            if places is None:
                return self._file.get_tensor(name)
            return self._file.get_slice(name)[places].clone()
        except (TypeError, ValueError, AttributeError, KeyError) as inner:  # a type of number that torch has not
            self.refuse(name, f"cannot be read ({inner})")

    def finite(self, name: str, places: tuple[slice, ...] | None = None) -> Tensor:
        """As `get`; refuses the file where a number is not finite."""
        found = self.get(name, places)
        self.check_finite({name: found})
        return found


def all_finite(tensor: Tensor) -> bool:
    """Whether every number is finite."""
    # A sum reads the numbers once and is finite where all of them are, unless it overflows: only then look at each.
    if not tensor.is_floating_point():
        return True
    if tensor.dtype is torch.float32 and tensor.device.type == "cpu":
        # On one thread: what is read here is small, and threads that wait for one another on a busy machine are slow.
        with np.errstate(over="ignore", invalid="ignore"):
            whole = bool(np.isfinite(np.add.reduce(tensor.detach().numpy(), axis=None)))
    else:
        whole = bool(tensor.sum().isfinite())
    return whole or bool(tensor.isfinite().all())


def written(shape: tuple[int, ...]) -> str:
    """ "3 × 28 × 28"."""
    return " × ".join(map(str, shape)) or "of a single number"


@contextmanager
def tensor_file(path: Path, remedy: str, error: type[CapsvizError], *, name: str = "") -> Iterator[TensorFile]:
    """A file of tensors, open; raises `error`, in one sentence, where it is missing, damaged or none.

    name: what the sentence calls it, its path unless given.
    """
    called = name or str(path)
    try:
        if not path.is_file():
            refused(called, "", "is not there", remedy, error)
        with path.open("rb") as file:
            if int.from_bytes(file.read(LENGTH), "little") > LARGEST_HEADER:
                refused(called, "", "is no safetensors file, or damaged", remedy, error)
        with safe_open(str(path), framework="pt") as opened:
            yield TensorFile(path, opened, lambda field, what: refused(called, field, what, remedy, error))
    except SafetensorError as inner:
        refused(called, "", f"is no safetensors file, or was cut short ({inner})", remedy, error)
    except OSError as inner:
        refused(called, "", f"cannot be read ({inner.strerror or inner})", remedy, error)


@dataclass(frozen=True)
class _Described:
    """What the header of a safetensors file says of one tensor."""

    dtype: Annotated[str, Meta(max_length=20)]
    shape: Annotated[tuple[Annotated[int, Meta(ge=0, le=2**53)], ...], Meta(max_length=16)]
    data_offsets: tuple[int, int]

    def get_shape(self) -> tuple[int, ...]:
        """As of a slice of an open file."""
        return self.shape

    def get_dtype(self) -> str:
        """As of a slice of an open file."""
        return self.dtype


def tensor_bytes(content: bytes, remedy: str, error: type[CapsvizError], *, name: str) -> TensorFile:
    """A file of tensors that somebody sent, of which nothing but the header is read until `TensorFile.whole`.

    name: what the sentence calls it. Raises `error`, in one sentence, where it is none.
    """

    def sentence(field: str, what: str) -> NoReturn:
        refused(name, field, what, remedy, error)

    length = int.from_bytes(content[:LENGTH], "little")
    if len(content) < LENGTH or length > min(LARGEST_HEADER, len(content) - LENGTH):
        sentence("", "is no safetensors file, or was cut short")
    header = parsed(content[LENGTH : LENGTH + length], name, remedy, error)
    if not isinstance(header, dict):
        sentence("", "is no safetensors file, or damaged")
    said = understood(dict[str, str], header.pop("__metadata__", {}), name, remedy, error)
    tensors: dict[str, _Described] = understood(dict[str, _Described], header, name, remedy, error)
    if LENGTH + length + max((each.data_offsets[1] for each in tensors.values()), default=0) != len(content):
        sentence("", "was cut short, or is longer than it says")
    # As an open file tells it.
    opened = SimpleNamespace(metadata=lambda: said, keys=lambda: list(tensors), get_slice=tensors.__getitem__)
    return TensorFile(Path(name), opened, sentence, content)
