"""The one writer and the one reader of files: whole or not at all, and every mistake one sentence on one line."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout
from safetensors.torch import save as save_tensors
from torch import Tensor

from capsviz.errors import CapsvizError, line
from capsviz.reading import parsed
from capsviz.tensors import BLANK, CHECKSUM, LENGTH, tensor_bytes

Content = bytes | str | Sequence[bytes | memoryview]
"""Of a file, in parts that follow one another where it is large."""
HEADER = "capsviz"
LOCK = ".capsviz-lock"
"""What lies in a folder that was locked; the system knows who holds it, so that a killed process holds nothing."""
UNFINISHED = ".tmp"
OTHER = "give another path"
"""What helps where one may not write, unless somebody knows better."""
LET_GO = 2.0
"""Seconds after which who reads a file has let go of it."""
_OURS = re.compile(rf"\.[a-z0-9_]{{8}}{re.escape(UNFINISHED)}$")


class CheckpointError(CapsvizError):
    """A checkpoint cannot be used."""


class WriteError(CapsvizError):
    """A file cannot be written."""


class Busy(CapsvizError):
    """Another process writes in a folder."""


def write(path: str | Path, content: Content) -> None:
    """Write a file that is either the old one or the new one, never half, and on the disk when this returns.

    Raises WriteError, and leaves what was there as it was: on a full or read-only disk, where the folder is missing, or
    where a folder is in the file's place.
    """
    write_together({Path(path): content})


def write_together(contents: Mapping[Path, Content]) -> None:
    """Write several files, the last of which says what the others are: all of them, or none.

    Only when every byte is on the disk are the files moved into place, in the order given. Raises WriteError, as
    `write` does.
    """
    unfinished: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            with sentences(path):
                unfinished[path] = _written_beside(path, content)
        for path in contents:
            with sentences(path):
                _once_let_go(partial(os.replace, unfinished[path], path))
        for folder in {path.parent for path in contents}:
            _sync_folder(folder)
    finally:
        for left in unfinished.values():
            left.unlink(missing_ok=True)


def remove(path: Path) -> None:
    """Remove a file, if it is there; raises WriteError where that cannot be."""
    with sentences(path):
        _once_let_go(partial(path.unlink, missing_ok=True))


def _once_let_go(change: Callable[[], None]) -> None:
    """Change a file: Windows refuses that while another process reads it, for `LET_GO` seconds at the most."""
    end = time.monotonic() + LET_GO
    while True:
        try:
            return change()
        except PermissionError:
            if sys.platform != "win32" or time.monotonic() >= end:
                raise
        time.sleep(0.05)


def shortened(name: str, most: int) -> str:
    """The beginning of a name that takes at most so many bytes, which is what file systems count."""
    return os.fsencode(name)[:most].decode(errors="ignore")


def _written_beside(path: Path, content: Content) -> Path:
    """The content in a file of the same folder, its bytes on the disk; nothing is left where that fails."""
    if path.exists() and not path.is_file():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    number, name = tempfile.mkstemp(UNFINISHED, f"{shortened(path.name, 100)}.", path.parent)
    try:
        with open(number, "wb") as file:
            for part in [content] if isinstance(content, str | bytes) else content:
                file.write(part.encode() if isinstance(part, str) else part)
            file.flush()
            os.fsync(number)
        os.chmod(name, 0o644)  # what mkstemp makes is private
    except BaseException:
        os.unlink(name)
        raise
    return Path(name)


def _sync_folder(folder: Path) -> None:
    """Bring a rename to the disk, where the system can."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def make_folder(path: Path, other: str = OTHER) -> None:
    """Make a folder and those above it; raises WriteError, with `other` as the remedy, where that cannot be."""
    with sentences(path, other):
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def locked(folder: Path, doing: str, *, wait: bool, other: str = OTHER) -> Iterator[None]:
    """Hold a folder against every other process and thread that locks it; what killed writers left in it is removed.

    doing: what the others do, "trains", for the sentence of Busy, which is raised at once unless one is to wait.
    Folders that were made for it and stayed empty go again. other: how another folder is chosen.
    Raises WriteError where the folder cannot be made or written to.
    """
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    make_folder(folder, other)
    lock = FileLock(folder / LOCK, blocking=wait, is_singleton=False)
    with sentences(folder, other):
        try:
            lock.acquire()
        except Timeout as error:
            raise Busy(
                f"Another process {doing} in {folder}; wait until it is done, or choose another folder."
            ) from error
    try:
        for left in folder.glob(f"*{UNFINISHED}"):
            if _OURS.search(left.name):
                left.unlink(missing_ok=True)
        yield
    finally:
        # Before it is let go, so that nobody takes a lock that is gone; Windows removes it as it is let go.
        if made and sys.platform != "win32" and os.listdir(folder) == [LOCK]:
            (folder / LOCK).unlink()
        lock.release()
        with suppress(OSError):
            for each in made:
                each.rmdir()  # nothing was written


@contextmanager
def sentences(path: Path, other: str = OTHER) -> Iterator[None]:
    """Raise WriteError for what the system refuses meanwhile, of a file or folder that is written."""
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, f"{other}, or see who may write there")
        raise WriteError(line(f"{path} could not be written ({error.strerror or error}); {remedy}.")) from error


_REMEDIES = {
    errno.ENOSPC: "make room and try again",
    errno.EDQUOT: "make room and try again",
    errno.EFBIG: "make room and try again",
    errno.ENOENT: "make its folder first, or give another path",
    errno.ENOTDIR: "a part of the path is no folder; give another path",
    errno.EISDIR: "something else than a file is there; give another path",
}


def write_json(path: Path, values: Mapping[str, Any], indent: int = 2) -> None:
    """Write a JSON file, as `write` does."""
    write(path, json_text(values, indent))


def json_text(values: Mapping[str, Any], indent: int = 2) -> str:
    """How JSON files are written; raises WriteError for a number that is not finite, which no reader would take."""
    try:
        return json.dumps(values, indent=indent, allow_nan=False) + "\n"
    except ValueError as error:
        raise WriteError("A number to be written is not finite, so nothing was; see what it comes from.") from error


def write_tensors(path: Path, tensors: Mapping[str, Tensor], header: Mapping[str, Any]) -> None:
    """Write tensors and a JSON header to one file, as `write` does.

    The JSON lives in the safetensors header, so that weights and position cannot come from different steps.
    """
    write(path, safetensors_parts(tensors, {HEADER: json.dumps(header)}))


def safetensors_bytes(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> bytes:
    """What `safetensors_parts` gives, as one."""
    return b"".join(safetensors_parts(tensors, metadata))


def safetensors_parts(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> list[bytes | memoryview]:
    """A safetensors file whose metadata holds a checksum of all of it: the same bytes for the same content.

    In parts, that one after the other are the file: the numbers stay where the tensors have them.

    The checksum is that of the file with the checksum's own digits at zero.
    """
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # safetensors writes metadata in an order that differs from process to process. It is asked for the order of the
    # tensors by empty ones, since it would copy their numbers.
    empty = save_tensors({name: own.new_empty(0) for name, own in plain.items()})
    order = json.loads(empty[LENGTH : LENGTH + int.from_bytes(empty[:LENGTH], "little")])
    said: dict[str, Any] = {"__metadata__": {CHECKSUM: BLANK, **metadata}}
    parts, at = [], 0
    for name, each in order.items():
        own = plain[name]
        said[name] = {"dtype": each["dtype"], "shape": list(own.shape), "data_offsets": [at, at + own.nbytes]}
        at += own.nbytes
        if own.nbytes:
            parts.append(own.reshape(-1).view(torch.uint8).numpy().data)
    header = json.dumps(said, separators=(",", ":")).encode()
    header += b" " * (-len(header) % LENGTH)
    head = len(header).to_bytes(LENGTH, "little") + header
    found = zlib.crc32(head)
    for part in parts:
        found = zlib.crc32(part, found)
    return [head.replace(BLANK.encode(), f"crc32:{found:08x}".encode(), 1), *parts]


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors (on the CPU) and JSON header of a file that `write_tensors` wrote.

    Raises CheckpointError when the file is missing, damaged or not one of capsviz's.
    """
    return _read(path, with_tensors=True)


def read_header(path: Path) -> dict[str, Any]:
    """The JSON header alone of a file that `write_tensors` wrote; raises CheckpointError as `read_tensors` does."""
    return _read(path, with_tensors=False)[1]


def _read(path: Path, *, with_tensors: bool) -> tuple[dict[str, Tensor], dict[str, Any]]:
    remedy = "give a run's folder or file, or train the model again"
    if not path.is_file():
        raise CheckpointError(line(f"There is no file {path}; check the path or train the model first."))
    # Of one reading: a training may put the next checkpoint in its place meanwhile.
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointError(line(f"{path} cannot be read ({error.strerror or error}); {remedy}.")) from error
    file = tensor_bytes(content, remedy, CheckpointError, name=str(path))
    if HEADER not in file.metadata:
        file.refuse("", "was not written by capsviz training")
    header = parsed(file.metadata[HEADER], path, remedy, CheckpointError)
    if not isinstance(header, dict):
        file.refuse("", "was not written by capsviz training")
    if with_tensors:
        return file.whole(), header
    file.check_sum()
    return {}, header
