"""What is to be done when the server ends."""

from __future__ import annotations

from collections.abc import Callable

_asked: list[Callable[[], None]] = []


def at_end(ending: Callable[[], None]) -> None:
    """Have something done when the server ends."""
    _asked.append(ending)


def run() -> None:
    """Do all that was asked for, in that order."""
    for ending in _asked:
        ending()
