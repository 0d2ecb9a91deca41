"""Stopping a run politely: Ctrl-C, SIGTERM and a time limit, each asked for between two steps."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# What a shell expects of a process that a signal ended.
EXIT_CODES = {"": 0, "time limit": 0, "Ctrl-C": 130, "SIGTERM": 143}


class Stop:
    """Why a run should stop, or "" while it should go on."""

    def __init__(self, time_limit: float | None = None) -> None:
        self.signalled = ""
        self.deadline = None if time_limit is None else time.monotonic() + time_limit

    def reason(self) -> str:
        """ "Ctrl-C", "SIGTERM", "time limit" or ""."""
        if self.signalled:
            return self.signalled
        return "time limit" if self.deadline is not None and time.monotonic() >= self.deadline else ""


@contextmanager
def listening(time_limit: float | None = None) -> Iterator[Stop]:
    """Catch the first Ctrl-C or SIGTERM; a second one acts as it would have without us.

    Signals reach the main thread only, so a training in another thread listens to the time limit alone.
    """
    stop = Stop(time_limit)
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.signalled = "Ctrl-C" if number == signal.SIGINT else "SIGTERM"
        for each, handler in before.items():
            signal.signal(each, handler)

    for number in before:
        signal.signal(number, on_signal)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
