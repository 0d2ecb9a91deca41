"""Models that a visitor dropped into the sidebar: theirs alone, and gone with their session.

What is computed with one is kept in the session as well (`caching.py`), never where another visitor finds it.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from capsviz import zoo
from capsviz.analysis import exchange
from capsviz.analysis.exchange import SUFFIX, ModelFile
from capsviz.analysis.predictions import Predictions
from capsviz.data import DATASETS
from capsviz.data.dataset import FOLDER_PREFIX
from capsviz.errors import line
from capsviz.files import shortened
from capsviz.network import CapsNet
from capsviz.zoo import Entry, ZooError

LARGEST = 64
"""MB of a file."""
MOST = 2
"""Models that a visitor keeps; the oldest that is not shown makes room."""
_PLACE = "dropped-models"
checking = threading.BoundedSemaphore(1)
"""Files that are checked at a time, of all visitors."""


@dataclass(frozen=True)
class OwnModel:
    """A model that was dropped: what its file holds, its entry's name that of the file, and its network."""

    digest: str
    file: ModelFile
    network: CapsNet

    @property
    def entry(self) -> Entry:
        """What the app knows of it."""
        return self.file.entry


def models() -> dict[str, OwnModel]:
    """The visitor's models by name, which ends in ".capsviz" as no model of the zoo does; none outside a session."""
    return kept(_PLACE)


def kept(place: str) -> dict[str, Any]:
    """What the visitor brought and is kept at a place of their session, by name; nothing outside a session."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return {}
    return st.session_state.get(place, {})


def concerning(arguments: tuple[Any, ...]) -> tuple[str, ...]:
    """Digests of the visitor's models that arguments name; names and digests of all where there are no arguments."""
    own = models()
    if not own or not arguments:
        return tuple(text for name, each in own.items() for text in (name, each.digest))
    return tuple(own[name].digest for name in sorted(set(_words(arguments)) & own.keys()))


def _words(values: tuple[Any, ...]) -> list[str]:
    found = []
    for value in values:
        found += [value] if isinstance(value, str) else _words(value) if isinstance(value, tuple) else []
    return found


def stem_of(file: str, otherwise: str) -> str:
    """The name of a visitor's file in one line, without path and ending; `otherwise` where nothing is left."""
    stem = line(file).replace("/", " ").replace("\\", " ").rpartition(".")[0].strip(". ")
    return shortened(stem, 80) or otherwise


def receive(file: str, content: bytes, shown: Sequence[str]) -> str:
    """Keep a model for this session, once it is checked; its name. Raises ZooError, in one sentence.

    shown: the models that the visitor looks at, which make room after others, the first of them last.
    """
    if not file.lower().endswith(SUFFIX):
        raise ZooError(
            f"{shortened(line(file), 80)} is neither a model ({SUFFIX}) nor a trace (.safetensors); drop one that "
            "`capsviz zoo export` or `capsviz trace` wrote."
        )
    name = stem_of(file, "model") + SUFFIX
    with checking:
        found = exchange.read(content, name)
        if not found.entry.has_capsules:
            raise ZooError(f"{name} is a network without capsules; drop one that was trained with a routing.")
        exchange.check_small(found)
        network = exchange.check_runs(found)
    assert isinstance(network, CapsNet)
    entry = replace(found.entry, name=name, data=_data_of(found.entry))
    record = found.record and _renamed(found.record, entry)
    others = {key: each for key, each in models().items() if key != name}
    while len(others) >= MOST:
        del others[min(others, key=lambda key: len(shown) - shown.index(key) if key in shown else 0)]
    own = OwnModel(_digest(content), replace(found, entry=entry, record=record), network)
    st.session_state[_PLACE] = others | {name: own}
    return name


def holds(name: str, content: bytes) -> bool:
    """Whether the visitor's model of this name is still the one of this file."""
    own = models().get(name)
    return own is not None and own.digest == _digest(content)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _renamed(record: Predictions, entry: Entry) -> Predictions:
    drawer = (entry.name, entry.sha256) if record.reconstructs else ("", "")
    return replace(record, name=entry.name, data=entry.data, drawn_by=drawer[0], drawn_by_weights=drawer[1])


def _data_of(entry: Entry) -> str:
    """The data set that the app has for a model: one of its own, or the folder of a model in the zoo.

    A file cannot make the app look into a folder: any other one counts as not being here.
    """
    if entry.data in DATASETS and DATASETS[entry.data].classes == entry.classes:
        return entry.data
    for other in zoo.models().values():
        if exchange.portable(other) == entry.data and other.classes == entry.classes:
            return other.data
    title = entry.data.removeprefix(FOLDER_PREFIX).rpartition("@")[0] or entry.data
    return f"{' '.join(title.replace(':', ' ').split())} (not here)"


def forget(name: str) -> None:
    """Let a model go."""
    st.session_state[_PLACE] = {key: each for key, each in models().items() if key != name}
