"""Sets of capsules as a few characters of a link: "3,12,40-44,5-1125/32" (every 32nd from 5 to 1125: one type)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from capsviz.tracing.intervention import Intervention

KINDS = {"mute": "muted", "boost": "boosted", "only": "isolated"}
"""What each part of an intervention is called in a link, and its field."""
MOST = 1_000_000
"""No network has more capsules, with images of 224 × 224 pixels; a link that names more is a mistake."""
_NEAR = 64
"""How many capsules on, at most, the second of a run is looked for."""
_MOST_SCATTERED = 20_000
"""Capsules of a set in more parts than that, which take long to write."""

_PART = re.compile(r"(\d{1,6})(?:-(\d{1,6})(?:/(\d{1,6}))?)?")


def write(capsules: Iterable[int]) -> str:
    """Runs of equal steps, from the smallest capsule on; single numbers where there are none."""
    rest, parts = sorted(set(capsules)), []
    while rest:
        here = set(rest)
        run = max((_run(rest[0], second - rest[0], here) for second in rest[1 : _NEAR + 1]), key=len, default=rest[:1])
        if len(run) < 3:
            run = rest[:1]
        step = run[1] - run[0] if len(run) > 1 else 1
        parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" + (f"/{step}" if step > 1 else ""))
        gone = set(run)
        rest = [capsule for capsule in rest if capsule not in gone]
    return ",".join(parts)


def _run(first: int, step: int, here: set[int]) -> list[int]:
    """The capsules at `first` and at every `step` from there, as far as none is missing."""
    run = [first]
    while run[-1] + step in here:
        run.append(run[-1] + step)
    return run


def read(text: str) -> tuple[int, ...]:
    """The capsules that `write` wrote down. Raises ValueError for anything else."""
    found: list[range] = []
    parts = text.split(",")
    room = MOST if len(parts) <= _NEAR else _MOST_SCATTERED
    for part in parts:
        match = _PART.fullmatch(part)
        if not match:
            raise ValueError(f"“{part}” names no capsules; write them like 3,12,40-44")
        first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        named = range(first, last + 1, step or 1)
        room -= len(named)
        if step < 1 or room < 0:
            raise ValueError(f"“{part}” names no capsules; write them like 3,12,40-44")
        found.append(named)
    return tuple(sorted(set().union(*found)))


def write_intervention(intervention: Intervention) -> str:
    """ "mute:3,12;boost:40-44"."""
    parts = [(kind, getattr(intervention, field)) for kind, field in KINDS.items()]
    return ";".join(f"{kind}:{write(capsules)}" for kind, capsules in parts if capsules)


@lru_cache(maxsize=64)  # a page reads its link often
def read_intervention(text: str) -> Intervention:
    """The intervention that `write_intervention` wrote down. Raises ValueError for anything else."""
    said: dict[str, str] = {}
    for part in text.split(";"):
        kind, colon, capsules = part.partition(":")
        if not colon or kind not in KINDS or kind in said:
            raise ValueError(f"“{part}” is no intervention; write it like mute:3,12;boost:40-44 ({', '.join(KINDS)})")
        said[kind] = capsules
    intervention = Intervention()
    for kind, capsules in said.items():
        intervention = intervention.with_(KINDS[kind], read(capsules))
    return intervention
