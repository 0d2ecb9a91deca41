"""Recordings, whose images are routed already: what `capsviz trace --data` left, trace files, and the visitor's own.

Where the network of a recording is not here, what was recorded can be shown, and nothing else.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from app.shared import own_traces, resources
from app.shared.caching import of_zoo
from capsviz import places
from capsviz.data import to_bytes
from capsviz.tracing.intervention import UNTOUCHED
from capsviz.tracing.layout import TraceError
from capsviz.tracing.recorder import contains_shorter, shorter, with_votes
from capsviz.tracing.trace import Trace
from capsviz.tracing.trace_set import INDEX, TraceSet
from capsviz.tracing.trace_set_writer import fingerprint
from capsviz.zoo import Entry

PLACE = "CAPSVIZ_TRACES"
"""Names the folder of the recordings; `traces`, where the app was started, unless set."""
FILE = ".safetensors"
COMMAND = "capsviz trace --model mnist-dr-paper --data mnist -o traces/mnist-dr-paper"
"""Makes one of a data set."""
_NUMBERED: dict[str, object] = {"layer": None, "position": None, "capsule": None}
"""Choices of what every network numbers in its own way, beside those that go with an image; and none of them."""


def folder() -> Path:
    """Where recordings lie: trace files, and data sets each in a folder of its own."""
    return places.chosen(PLACE, "traces")


def names() -> tuple[str, ...]:
    """The finished recordings that can be opened: the visitor's own, then those of the folder in alphabetical order."""
    return tuple(name for name, damage in _all().items() if not damage)


def damaged() -> dict[str, str]:
    """What cannot be opened among the recordings, by name, and a sentence on what is wrong with it."""
    return {name: damage for name, damage in _all().items() if damage}


def _all() -> dict[str, str]:
    files = (file.name for file in folder().glob(f"*{FILE}"))
    here = sorted([*(index.parent.name for index in folder().glob(f"*/{INDEX}")), *files])
    return {name: _damage(*_version(name)) for name in [*own_traces.traces(), *here]}


def path_of(name: str) -> Path:
    """Where a recording lies for whoever has it: in the folder of recordings, or under the name of the file that was
    dropped.
    """
    own = own_traces.traces().get(name)
    return folder() / name if own is None else Path(own.file.name)


def choices_with(name: str) -> dict[str, object]:
    """The choices that another recording brings: the model and the iterations that were recorded, where they are here.

    Its images may say of no class what they show, and EM was recorded with the model's own λ. Raises TraceError.
    """
    made = opened(name).recorded
    entry = resources.entries().get(made["model"])
    changes: dict[str, object] = {"source": "recorded", "recording": name, "only": None}
    changes |= {"touched": UNTOUCHED, "temperature": None}
    if network_of(name) is not None:
        changes |= {"iterations": None} | _NUMBERED
    elif entry is not None:
        rounds = made["iterations"]
        changes |= {"model": entry.name, "iterations": None if rounds and rounds > resources.MAX_ITERATIONS else rounds}
    return changes


def chosen(name: str) -> str:
    """The recording to take images from: the chosen one, else the first; "" where there is none."""
    return name or next(iter(names()), "")


def absent(source: str, name: str) -> Entry | None:
    """What is known of the network of the recording on stage, where that is not here. Raises TraceError."""
    found = chosen(name) if source == "recorded" else ""
    return network_of(found) if found else None


def left(source: str, name: str) -> dict[str, object]:
    """The choices that go where the source, or the model, is to be another: of what another network numbers otherwise,
    where that of the recording on stage is not here. Raises TraceError.
    """
    return dict(_NUMBERED) if absent(source, name) else {}


def opened(name: str) -> TraceSet:
    """A recording, open: its images are read from the mapped files when they are asked for. Raises TraceError."""
    return _opened(*_version(name))


def labels(name: str) -> Tensor:
    """The classes of a recording's images, "count", or "count 2" where two digits overlap. Raises TraceError."""
    return _labels(*_version(name))


def indices_of(name: str, label: int) -> tuple[int, ...]:
    """Where in a recording the images of one class stand, or of two classes, one of them this. Raises TraceError."""
    found = labels(name)
    return tuple(torch.nonzero((found if found.ndim > 1 else found.unsqueeze(1)).eq(label).any(1)).flatten().tolist())


def image(name: str, index: int) -> tuple[Tensor, tuple[str, ...]]:
    """Image `index` as it went into the network, in bytes, "channel height width"; and the names of all classes.

    Raises TraceError.
    """
    return _image(*_version(name), index)


def holds(name: str, entry: Entry, iterations: int | None) -> bool:
    """Whether a recording is of this model with these weights, and of this T (None: any). Raises TraceError."""
    made, own = opened(name).recorded, network_of(name)
    if own is not None:
        return entry == own and (iterations is None or iterations == rounds(own, iterations))
    if made["model"] != entry.name or made["weights"] != _fingerprint(entry.name):
        return False
    return iterations in (None, made["iterations"] or entry.config.iterations)


def network_of(name: str) -> Entry | None:
    """What is known of the network of a recording, where that is not here; None where a model of that name is.

    A trace file does not say with which weights it was made, so that its network always counts as absent.
    Raises TraceError.
    """
    made = opened(name).recorded
    if made["weights"] and made["model"] in resources.entries():
        return None
    return _network_of(name, *_version(name))


def rounds(entry: Entry, wanted: int) -> int:
    """T of a recording whose network is not here: the wanted one where its routing contains that, else its own."""
    own = entry.config.iterations
    return min(wanted, own) if contains_shorter(entry.config) else own


def trace(name: str, index: int, iterations: int | None = None) -> Trace:
    """The recorded trace of image `index`, with votes where they were recorded or the model is here.

    iterations: only the first so many, of a network that is not here. Raises TraceError.
    """
    whole = _trace(*_version(name), index, network_of(name) is None)
    if network_of(name) is None or iterations in (None, whole.layer.iterations):
        return whole
    return shorter(None, whole, iterations)


def _version(name: str) -> tuple[str, float]:
    # Recorded anew, it is opened anew: the time is part of what the caches know it by.
    own = own_traces.traces().get(name)
    place = folder() / name if own is None else own.file
    dated = place if place.is_file() else place / INDEX
    return str(place), dated.stat().st_mtime if dated.is_file() else 0.0


@of_zoo(most=4)
def _opened(place: str, written: float) -> TraceSet:
    return TraceSet.open(place)


@of_zoo(most=500)
def _damage(place: str, written: float) -> str:
    try:
        TraceSet.open(place)
    except TraceError as error:
        return str(error).replace(f"{folder()}{os.sep}", "")
    return ""


@of_zoo(most=4)
def _labels(place: str, written: float) -> Tensor:
    return _opened(place, written).labels


@of_zoo(most=500)
def _image(place: str, written: float, index: int) -> tuple[Tensor, tuple[str, ...]]:
    found = _opened(place, written)[index]
    return to_bytes(found.images[0]), found.classes


@of_zoo(most=32)
def _fingerprint(name: str) -> str:
    return fingerprint(resources.model(name))


@of_zoo(most=32)
def _network_of(name: str, place: str, written: float) -> Entry:
    # What no model and no data set is called: the recording may have the name of either.
    called, first = f"recording {name}", _opened(place, written)[0]
    config = replace(first.config, decoder=())
    if config.algorithm.iterates:
        config = replace(config, iterations=first.layer.iterations)
    return Entry(
        name=called,
        data=called,
        classes=first.classes,
        routing=first.config.routing,
        preset="",
        network=config,
        test_error=math.nan,
        test_count=0,
        command="",
        sha256="",
        file="",
        bytes=0,
        parameters=0,
        curves="",
    )


@of_zoo(spinner="Reading the trace …", most=32)
def _trace(place: str, written: float, index: int, model: bool) -> Trace:
    recorded = _opened(place, written)
    return with_votes(resources.model(recorded.recorded["model"]), recorded[index]) if model else recorded[index]
