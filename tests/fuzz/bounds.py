"""What one input may take, measured: a sentence or a value, so many seconds and so many bytes."""

from __future__ import annotations

import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from capsviz.errors import CapsvizError

SECONDS = 5.0
"""Of CPU time, which what else the machine does hardly changes."""
BYTES = 1_000_000_000
"""Of memory, above what the process held before the input."""
ASLEEP = 60.0
"""Seconds of the clock after which what waits is stopped."""


class TooSlow(BaseException):
    """Raised amid an input that took its time; no `except Exception` catches it."""


@dataclass
class Tally:
    """What became of the inputs of one kind."""

    name: str
    inputs: int = 0
    refused: int = 0
    seconds: float = 0.0
    memory: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    """How often each thing happened that must not; an exception is named by the line that raised it."""
    examples: dict[str, str] = field(default_factory=dict)
    """The first input of each."""

    def take(self, label: str, act: Callable[[Any], Any], given: Any) -> None:
        """Give an input to what reads it; label: what brings it back."""
        self.inputs += 1
        _forget_peak()
        before, begun = _memory("VmRSS"), time.process_time()
        try:
            with _stopped_when_slow():
                act(given)
        except CapsvizError as error:
            self.refused += 1
            if len(str(error).splitlines()) != 1 or not str(error).isprintable():
                self._found(f"{type(error).__name__} is not one printable line", label)
        except TooSlow:
            self._found(f"more than {SECONDS:g} s", label)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            own = [each for each in traceback.extract_tb(error.__traceback__) if "site-packages" not in each.filename]
            place = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else last.name
            self._found(f"{type(error).__name__} in {place}", f"{label}: {error}"[:300])
        took, grown = time.process_time() - begun, _memory("VmHWM") - before
        if took > SECONDS:
            self._found(f"more than {SECONDS:g} s", label)
        if grown > BYTES:
            self._found(f"more than {BYTES / 1e9:g} GB", f"{label}: {grown / 1e9:.2f} GB")
        self.seconds, self.memory = max(self.seconds, took), max(self.memory, grown)

    def _found(self, what: str, label: str) -> None:
        self.findings[what] += 1
        self.examples.setdefault(what, label)


def _raise(number: int, frame: FrameType | None) -> None:
    raise TooSlow


@contextmanager
def _stopped_when_slow() -> Iterator[None]:
    alarms = ((signal.ITIMER_PROF, signal.SIGPROF, SECONDS), (signal.ITIMER_REAL, signal.SIGALRM, ASLEEP))
    handlers = [signal.signal(number, _raise) for _, number, _ in alarms]
    before = [signal.setitimer(timer, seconds) for timer, _, seconds in alarms]
    try:
        yield
    finally:
        for (timer, number, seconds), handler, (left, every) in zip(alarms, handlers, before, strict=True):
            passed = seconds - signal.setitimer(timer, 0)[0]
            signal.signal(number, handler)
            if left:  # the alarm of a test that takes too long, say
                signal.setitimer(timer, max(left - passed, 1e-6), every)


def _memory(what: str) -> int:
    """Bytes that this process holds (VmRSS), or held at most since `_forget_peak` (VmHWM)."""
    found = next(row for row in Path("/proc/self/status").read_text().splitlines() if row.startswith(what))
    return int(found.split()[1]) * 1024


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")
