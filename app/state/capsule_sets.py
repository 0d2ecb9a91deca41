"""Sets of capsules as a few characters of a link: "3,12,40-44,5-1125/32" (every 32nd from 5 to 1125: one type)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from capsviz.tracing.intervention import Intervention

KINDS = {"mute": "muted", "boost": "boosted", "only": "isolated"}
"""What each part of an intervention is called in a link, and its field."""
MOST = 400_000
"""No network has more capsules, with images of 224 × 224 pixels; a link that names more is a mistake."""
_NEAR = 64
"""How many capsules on, at most, the second of a run is looked for."""
_ROOM, _SCATTERED = ((16, MOST), (_NEAR, 100_000)), 20_000
"""How many capsules a set of up to so many parts may name, and one of more: in more parts they take longer to write."""
_FEW = 4
"""Interventions that are remembered: each may name every capsule three times."""

_PART = re.compile(r"(\d{1,6})(?:-(\d{1,6})(?:/(\d{1,6}))?)?")


def write(capsules: Iterable[int]) -> str:
    """Runs of equal steps, from the smallest capsule on; single numbers where there are none."""
    rest, parts = sorted(set(capsules)), []
    left, after, before = set(rest), dict(pairwise(rest)), {on: back for back, on in pairwise(rest)}
    for first in rest:
        if first not in left:
            continue
        run, second = range(first, first + 1), first
        for _ in range(_NEAR):
            second = after.get(second, first)
            if second == first or (rest[-1] - first) // (second - first) < len(run):
                break  # there is none, or no run from here on can be longer
            end = second
            while end in left:
                end += second - first
            run = max(run, range(first, end, second - first), key=len)
        run = run if len(run) > 2 else run[:1]
        step = f"/{run.step}" * (run.step > 1)
        parts.append(str(first) if len(run) == 1 else f"{first}-{run[-1]}{step}")
        left.difference_update(run)
        for capsule in run:
            back, on = before.pop(capsule, None), after.pop(capsule, None)
            if back is not None and on is not None:
                after[back], before[on] = on, back
            elif back is not None:
                del after[back]
            elif on is not None:
                del before[on]
    return ",".join(parts)


def read(text: str) -> tuple[int, ...]:
    """The capsules that `write` wrote down. Raises ValueError for anything else."""
    found: list[range] = []
    parts = text.split(",")
    room = next((room for most, room in _ROOM if len(parts) <= most), _SCATTERED)
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


@lru_cache(maxsize=_FEW)
def write_intervention(intervention: Intervention) -> str:
    """ "mute:3,12;boost:40-44"."""
    parts = [(kind, getattr(intervention, field)) for kind, field in KINDS.items()]
    return ";".join(f"{kind}:{write(capsules)}" for kind, capsules in parts if capsules)


@lru_cache(maxsize=_FEW)  # a page reads its link often
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
