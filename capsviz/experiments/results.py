"""Where results lie, `benchmarks/results/`, and how they are read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch

from capsviz import places
from capsviz.device import CPU, processor, title
from capsviz.errors import CapsvizError
from capsviz.experiments.result_files import KINDS, Machine
from capsviz.files import UNFINISHED, locked, write_json
from capsviz.network import METHODS
from capsviz.reading import read_json, refused, understood
from capsviz.routing.own import DEFINE

REMEDY = "restore it with git, or delete it and run the experiment again"
ELSEWHERE = "set CAPSVIZ_RESULTS to another folder"

Version = tuple[str, tuple[tuple[str, int, int], ...]]
"""A folder, and the name, time and size of files in it."""


class ResultError(CapsvizError):
    """A result that is not there, or cannot be read."""


_own = ContextVar("own", default=False)


def folder() -> Path:
    """`benchmarks/results/`, which come with capsviz, or what the environment variable CAPSVIZ_RESULTS names.

    Within `apart`, as all functions are that measure images or models of one's own, `results` in the current folder
    unless that is set.
    """
    return places.chosen("CAPSVIZ_RESULTS", "results" if _own.get() else shipped())


def shipped() -> Path:
    """`benchmarks/results/`, which come with capsviz."""
    return places.root() / "benchmarks" / "results"


@contextmanager
def apart(own: bool = True) -> Iterator[None]:
    """Read and write results apart from those that come with capsviz, where they are one's own."""
    token = _own.set(own or _own.get())
    try:
        yield
    finally:
        _own.reset(token)


def version(name: str | None = None) -> Version:
    """What is another as soon as a result file is: the folder, and the name, time and size of each file there.

    name: look at that experiment's file alone.
    """
    asked = f"{name}.json" if name else "**/*.*"
    finished = (path for path in sorted(folder().glob(asked)) if path.suffix != UNFINISHED)
    states = ((path, path.stat()) for path in finished)
    return str(folder()), tuple((path.name, state.st_mtime_ns, state.st_size) for path, state in states)


def read(name: str) -> dict[str, Any] | None:
    """The result file of an experiment, None where it was not run here.

    Raises ResultError for one that is damaged, or is not what `result_files` says, or tells of a routing of one's own
    that nothing here defines.
    """
    return read_file(folder() / f"{name}.json", name)


def read_file(path: Path, name: str) -> dict[str, Any] | None:
    """As `read`, of a result by that name in any file."""
    if not path.is_file():
        return None
    found: dict[str, Any] = read_json(path, REMEDY, ResultError)
    _check_routings(found, path)
    understood(KINDS.get(name, dict[str, Any]), found, path, REMEDY, ResultError)
    return found


def _check_routings(found: Any, path: Path) -> None:
    """Raise ResultError where a row, of whatever form, names a routing that nothing here defines."""
    rows = found.get("rows") if isinstance(found, dict) else None
    for row in rows if isinstance(rows, list) else ():
        routing = row.get("routing") if isinstance(row, dict) else None
        if isinstance(routing, str) and routing not in METHODS:
            fault = f"tells of the routing {routing!r}, which nothing here defines"
            refused(path, "", fault, f"{DEFINE}, {REMEDY}", ResultError)


def begun(name: str) -> dict[str, Any]:
    """As `read`, and a result without rows where the experiment was not run here."""
    return read(name) or {"experiment": name, "rows": []}


def held() -> AbstractContextManager[None]:
    """Hold the folder against others who write results, who are waited for; raises WriteError."""
    return locked(folder(), "writes results", wait=True, other=ELSEWHERE)


def write(name: str, result: Mapping[str, Any]) -> Path:
    """Write a result file whole or not at all, and say where it is; raises WriteError."""
    with held():
        write_json(path := folder() / f"{name}.json", dict(result))
    return path


@contextmanager
def changing(name: str) -> Iterator[dict[str, Any]]:
    """A result as it is now, to be changed in place; it is written where the block changes it and raises nothing.

    Another process that writes results is waited for, so that none loses the rows of another. Raises ResultError as
    `read` does, WriteError.
    """
    with held():
        result = begun(name)
        before = deepcopy(result)
        yield result
        if result != before:
            write_json(folder() / f"{name}.json", result)


def put(result: dict[str, Any], rows: Sequence[dict[str, Any]], *fields: str, place: torch.device = CPU) -> None:
    """Add rows that were measured here to a result, in place of those whose fields are the same.

    place: where their networks ran. What the result says of the machine is of these; a row from elsewhere says its own.
    """
    new = {tuple(row[field] for field in fields) for row in rows}
    here, before = machine(place), _machine_of(result)
    kept = [{"on": before, **row} for row in result["rows"] if tuple(row[field] for field in fields) not in new]
    kept = [{name: value for name, value in row.items() if (name, value) != ("on", here)} for row in kept]
    result.pop("device", None)
    result |= here | {"rows": [*kept, *rows]}


def machines(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """On what the rows of a result were measured, each once, as `machine` says it."""
    own = _machine_of(result)
    found = [own] if not result["rows"] else [row.get("on", own) for row in result["rows"]]
    return [each for place, each in enumerate(found) if each not in found[:place]]


def _machine_of(result: Mapping[str, Any]) -> dict[str, Any]:
    return {name: result[name] for name in Machine.__annotations__ if name in result}


def drop(name: str, stays: Callable[[dict[str, Any]], bool]) -> None:
    """Take the rows that do not stay out of a result."""
    if not all(map(stays, begun(name)["rows"])):
        with changing(name) as result:
            result["rows"] = [row for row in result["rows"] if stays(row)]


def machine(place: torch.device = CPU) -> dict[str, Any]:
    """What a measurement was made on; place: the device, which is named unless it is the CPU."""
    return {
        "machine": processor(),
        **({} if place.type == "cpu" else {"device": title(place)}),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
    }
