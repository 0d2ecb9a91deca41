"""Who is there; and what is kept for visitors, given back some time after the last of them has left."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable

import streamlit as st

from app.server import heap, packs, startup

REST = 60.0
"""Seconds after which nobody comes back who has only reloaded the page, or opens it in another window."""


class Presence:
    """Counts who is there. Some time after the last one has left, and if nobody has come since, `alone` is called."""

    def __init__(self, alone: Callable[[], None], rest: float) -> None:
        self.alone, self.rest, self.count = alone, rest, 0
        self._lock = threading.Lock()
        self._waiting: threading.Timer | None = None

    def come(self) -> None:
        """One more is there."""
        with self._lock:
            self.count += 1
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

    def go(self) -> None:
        """One of them has left."""
        with self._lock:
            self.count -= 1
            if not self.count:
                self._waiting = threading.Timer(self.rest, self.alone)
                self._waiting.daemon = True
                self._waiting.start()


def empty() -> None:
    """Forget what was loaded and computed for visitors, give its memory back, and be ready for the next one."""
    st.cache_resource.clear()
    st.cache_data.clear()
    packs.clear()
    gc.collect()
    heap.trim()
    startup.warm()


VISITORS = Presence(empty, REST)


@st.cache_resource(show_spinner=False, scope="session", on_release=lambda _: VISITORS.go())
def here() -> bool:
    """Count the visitor whose script runs, until their window is closed; to be called in every run."""
    VISITORS.come()
    return True
