"""The memory that this process holds for numbers that come and go, where the GNU C library hands it out."""

from __future__ import annotations

import ctypes
import sys

_ARENA_MAX, _MMAP_THRESHOLD = -8, -3
"""Of mallopt(3)."""
ARENAS, LARGE = 2, 2**20
"""Heaps, of which else every few threads get one of their own; bytes from which on something lies in none of them."""


def _library() -> ctypes.CDLL | None:
    found = ctypes.CDLL(None) if sys.platform == "linux" else None
    return found if hasattr(found, "malloc_trim") else None


def keep_small() -> None:
    """Have what is freed go back to the system, instead of staying between what is still held: before any threads."""
    if library := _library():
        library.mallopt(_ARENA_MAX, ARENAS)
        library.mallopt(_MMAP_THRESHOLD, LARGE)


def trim() -> None:
    """Give back what is free."""
    if library := _library():
        library.malloc_trim(0)
