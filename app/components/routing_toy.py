"""Dynamic routing in the plane, in the browser: drag the votes of a few capsules, watch two parents follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.components.hosting import board
from app.state.choices import TOY_CAPSULES, TOY_REACH
from capsviz.boards import Message
from capsviz.boards.checks import is_one_of
from capsviz.boards.theme import theme
from capsviz.figures.theme import class_colour

FEWEST, MOST = TOY_CAPSULES
PlaneVotes = Sequence[Sequence[Sequence[float]]]
"""Lower capsule, parent (two), coordinate (two)."""

_LOWER = (1, 0, 2, 5, 8, 6)
_PARENTS = (3, 4)


def received_votes(value: object) -> tuple[float, ...] | None:
    """The votes that the browser sent, flat and to two decimals; None where it sent nothing that can be votes."""
    if not isinstance(value, list) or not FEWEST <= len(value) <= MOST:
        return None
    try:
        flat = tuple(round(float(x), 2) for capsule in value for vote in capsule for x in vote)
    except (TypeError, ValueError, OverflowError):  # a whole number may have more digits than a float holds
        return None
    return flat if len(flat) == 4 * len(value) and all(abs(x) <= TOY_REACH for x in flat) else None


def nested(flat: Sequence[float]) -> list[list[list[float]]]:
    """Flat votes as lower capsule, parent, coordinate."""
    return [[list(flat[at : at + 2]), list(flat[at + 2 : at + 4])] for at in range(0, len(flat), 4)]


def toy_message(
    votes: PlaneVotes,
    iterations: int,
    presets: Mapping[str, Mapping[str, Any]],
    *,
    most: int,
    frame: int | None,
    dark: bool,
    story: Mapping[str, Any] | None = None,
    plain: bool = False,
) -> Message:
    """What the toy shows: `votes` of two to six lower capsules for two parents, routed `iterations` times.

    presets: by name, `votes` and a `note` in one sentence. most: what T may rise to. frame: the iteration at
    which to stand, counted from 0, None: the last. story: what it shows by itself until a vote is taken into the hand,
    again and again, unless the visitor's system asks for less motion or `frame` says where to stand: the votes `before`
    they became `votes`, and `said`, three sentences on those before, on those after, and on their routing. plain: only
    the planes and the player, no numbers.
    """
    fields = {
        "votes": [[list(vote) for vote in capsule] for capsule in votes],
        "reach": TOY_REACH,
        "iterations": iterations,
        "frame": frame,
        "most": most,
        "presets": {name: dict(preset) for name, preset in presets.items()},
        "colours": [class_colour(index) for index in _LOWER],
        "parents": [class_colour(index) for index in _PARENTS],
        "story": story and {"before": story["before"], "said": list(story["said"])},
        "plain": plain,
        "theme": theme(dark),
    }
    return Message(fields, {})


def routing_toy(
    message: Message,
    *,
    key: str,
    on_votes: Callable[[tuple[float, ...]], None],
    on_iterations: Callable[[int], None],
    on_frame: Callable[[int | None], None],
) -> None:
    """Show the toy.

    on_votes gets the votes, flat, that the visitor left, on_iterations another T, and on_frame where the player was
    left, None for the last, as callbacks before the script runs again. What they got has to come back as votes,
    iterations and frame: what was acknowledged and is not said is undone.
    """
    most = message.fields["most"]

    def moved(said: object) -> None:
        sent = received_votes(said)
        if sent is not None:
            on_votes(sent)

    def turned(said: object) -> None:
        if type(said) is int and 1 <= said <= most:
            on_iterations(said)

    def left(said: object) -> None:
        if is_one_of(said, most):
            on_frame(said)

    board("toy", message, key=key, actions={"votes": moved, "iterations": turned, "frame": left})
