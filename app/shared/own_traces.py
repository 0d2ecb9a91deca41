"""Trace files that a visitor dropped into the sidebar: theirs alone, in a folder that goes with their session.

What is computed with one is kept in the session as well (`caching.py`), never where another visitor finds it.
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from app.shared.own_models import checking, kept, stem_of
from capsviz.analysis import exchange
from capsviz.files import write
from capsviz.tracing.layout import TraceError
from capsviz.tracing.trace import Trace

SUFFIX = ".safetensors"
MOST = 2
"""Traces that a visitor keeps; the oldest makes room."""
_PLACE = "dropped-traces"


@dataclass(frozen=True)
class OwnTrace:
    """A trace that was dropped: its file, in a folder that is removed with it, or with the session."""

    file: Path
    folder: tempfile.TemporaryDirectory[str]


def traces() -> dict[str, OwnTrace]:
    """The visitor's traces by name, which says a part of the checksum; none outside a session."""
    return kept(_PLACE)


def concerning(arguments: tuple[Any, ...]) -> tuple[str, ...]:
    """The files of the visitor's traces that are among arguments."""
    return tuple(str(each.file) for each in traces().values() if str(each.file) in arguments)


def receive(file: str, content: bytes) -> str:
    """Keep a trace for this session, once it is checked; its name. Raises TraceError or WriteError, in one sentence."""
    stem = stem_of(file, "trace")
    name = f"{stem} ({hashlib.sha256(content).hexdigest()[:8]})"
    if name in traces():
        return name
    folder = tempfile.TemporaryDirectory(prefix="capsviz-")
    dropped = OwnTrace(Path(folder.name) / (stem + SUFFIX), folder)
    remedy = "open it in an app of your own, beside a folder traces/"
    with checking:
        write(dropped.file, content)
        exchange.check_sizes(
            dropped.file.name, exchange.routed_sizes(Trace.open(dropped.file).config), remedy, TraceError
        )
    while len(traces()) >= MOST:
        forget(next(iter(traces())))
    st.session_state[_PLACE] = traces() | {name: dropped}
    return name


def forget(name: str) -> None:
    """Let a trace go, and its file."""
    gone = traces()[name]
    st.session_state[_PLACE] = {key: each for key, each in traces().items() if key != name}
    gone.folder.cleanup()
