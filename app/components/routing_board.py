"""The player of dynamic and EM routing, drawn in the browser: play, step, scrub, point, pick."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from app.components.hosting import board
from app.state import capsule_sets
from app.state.choices import CLOSEST, FARTHEST_TURN, LISTED, LOOK, MAX_ITERATIONS
from capsviz.boards import Message
from capsviz.boards.checks import is_index, is_one_of
from capsviz.tracing.intervention import UNTOUCHED, Intervention

MOST_FRAMES = 1000
"""No player has more lines over all iterations."""
MOST_LETTERS = 40
"""Of the numbers of capsules in a title."""
ACTIONS = ("capsule", "upper", "frame", "rounds", "look", "untouched", *capsule_sets.KINDS)
"""What a board tells."""


def routing_board(
    message: Message,
    *,
    rounds: int,
    most: int,
    trained: int,
    capsule: int | None,
    frame: int | None,
    look: Mapping[str, Any],
    introducing: bool = False,
    key: str,
    alt: str,
    group: str = "",
    touched: Callable[[], Intervention] = lambda: UNTOUCHED,
    capsules: int = capsule_sets.MOST,
    network: str,
    below: Sequence[int],
    columns: int,
    able: bool = True,
    on_action: Callable[[dict[str, Any]], None] = lambda _: None,
) -> None:
    """Draw one routing, every line of every iteration of it.

    message: of `routing_message`; rounds: T, of the message's iterations the first so many, most: what it may rise to,
    trained: with what the model was trained; capsule: the selected capsule, the strongest unless given or where it is
    not on the board; frame: the line at which to stand, counted from 0 over all iterations, the last unless given or
    where there are fewer; look: how it is looked at, of `LOOK`; introducing: it plays once by itself, the first time in
    a window; alt: the picture in words; group: boards of the same group play in step; touched: what the visitor's
    intervention is now, to which an action adds; capsules: how many primary capsules the network has, which alone are
    counted of it; network: whose capsules are on the board; below: what number each of them has in it, columns: of the
    layer that they are in; able: whether they are primary ones, which an intervention is about.
    on_action gets, as a callback before the script runs again, the changes to the choices that the visitor asks for:
    `capsule`, `upper`, `frame`, `iterations`, `touched`, or all of `LOOK`.
    """
    upper = len(message.fields["classes"])
    shown = place_of(capsule, below)
    chosen: dict[str, Any] = {"capsule": shown, "able": able, "frame": frame, "group": group, "alt": alt}
    chosen |= {"rounds": rounds, "most": most, "trained": trained, "network": network}
    chosen |= numbered(below, columns)
    here = touched().without(range(capsules, capsule_sets.MOST))
    chosen |= {"touched": _summary(here), "looked": dict(look), "introducing": introducing}

    def acted(what: str, value: Any) -> None:
        action = changes({what: value}, below, upper, touched(), able=able, most=most)
        if action:
            on_action(action)

    actions = {what: partial(acted, what) for what in ACTIONS}
    whole = Message({**message.fields, **chosen}, message.arrays)
    board("routing-board", whole, key=key, actions=actions, first=True)


def numbered(below: Sequence[int], columns: int) -> dict[str, Any]:
    """What tells a board how its capsules are numbered in the network, where otherwise than on the board."""
    return {"below": {"numbers": list(below), "columns": columns}} if list(below) != list(range(len(below))) else {}


def place_of(capsule: int | None, below: Sequence[int]) -> int | None:
    """Which of the capsules on a board that is; None where it is none of them. below: as in `routing_board`."""
    return below.index(capsule) if capsule in below else None


def changes(
    action: object,
    below: Sequence[int],
    upper: int,
    touched: Intervention,
    *,
    able: bool = True,
    most: int = MAX_ITERATIONS,
) -> dict[str, Any]:
    """What the browser asked for as changes to the choices; empty where it makes no sense here.

    below, able, most: as in `routing_board`.
    """
    if not isinstance(action, dict) or len(action) != 1:
        return {}
    [(name, value)] = action.items()
    if name == "untouched":
        return {"touched": Intervention()}
    if name == "capsule" and is_index(value, len(below)):
        return {"capsule": below[value]}
    if name == "upper" and is_index(value, upper):
        return {"upper": value}
    if name == "frame" and is_one_of(value, MOST_FRAMES):
        return {"frame": value}
    if name == "rounds" and is_index(value, most + 1) and value:
        return {"iterations": value}
    if name == "look" and isinstance(value, dict):
        return _look(value)
    if able and name in capsule_sets.KINDS and isinstance(value, list) and value:
        if not all(is_index(i, len(below)) for i in value):
            return {}
        named = [below[i] for i in value]
        looked_at = {"capsule": named[0]} if len(named) == 1 else {}  # also where it no longer is the strongest
        return {"touched": _touched(capsule_sets.KINDS[name], named, touched), **looked_at}
    return {}


def _touched(kind: str, named: Sequence[int], touched: Intervention) -> Intervention:
    """The intervention once the named capsules are "muted" or "boosted" as well, or they alone are "isolated".

    What is boosted is no longer muted, and the other way round; what is isolated stays so, lest all others speak again.
    """
    stays = {"isolated": (), "boosted": touched.boosted} if kind == "isolated" else {"isolated": touched.isolated}
    return replace(touched.without(named), **stays).with_(kind, named)


def _look(said: dict[str, Any]) -> dict[str, Any]:
    """A look that the browser sent, field by field; empty where it is none."""
    turned, zoom, bare, absolute, listed = (said.get(name) for name in LOOK)
    if turned is not None:
        if not isinstance(turned, list) or len(turned) != 2:
            return {}
        # Compared before it is converted: a whole number may have more digits than a float holds.
        if not all(isinstance(angle, (int, float)) and abs(angle) <= FARTHEST_TURN for angle in turned):
            return {}
        turned = tuple(round(float(angle), 2) for angle in turned)
    if not isinstance(zoom, int) or isinstance(zoom, bool) or abs(zoom) > CLOSEST:
        return {}
    if not isinstance(bare, bool) or not isinstance(absolute, bool) or listed not in LISTED:
        return {}
    return dict(zip(LOOK, (turned, zoom, bare, absolute, listed), strict=True))


def in_words(touched: Intervention) -> str:
    """ "capsule 117 muted, capsules 0-7 boosted", for a title; of a set that takes many letters how many they are."""
    said = []
    for field in capsule_sets.KINDS.values():
        if capsules := getattr(touched, field):
            which, several = capsule_sets.write(capsules), "s" * (len(capsules) > 1)
            short = len(which) <= MOST_LETTERS
            said.append(f"capsule{several} {which} {field}" if short else f"{len(capsules):,} capsules {field}")
    return ", ".join(said)


def _summary(touched: Intervention) -> str:
    """ "2 muted, 36 boosted", for the button that takes it back."""
    parts = [(len(getattr(touched, field)), field) for field in capsule_sets.KINDS.values()]
    return ", ".join(f"{count} {field}" for count, field in parts if count)
