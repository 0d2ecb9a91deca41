"""What a tour needs of the browser: the way on and back, what happens on arrival, and the clock of the notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from app.components.hosting import built

_NOTES = """
<div class="clock">
  <time role="timer" aria-label="Time since the start">0:00</time>
  <button type="button" class="toggle">Start</button>
  <button type="button" class="reset">Reset</button>
  <span class="away" role="status"></span>
</div>
"""


def step(
    tour: str,
    number: int,
    steps: int,
    *,
    key: str,
    arrival: int,
    panel: str,
    play: bool,
    away: bool,
    notes: str,
) -> None:
    """The buttons of a step; on arrival its panel comes up to its words, and its player starts.

    arrival: another number each time that the visitor is led to a step, by Back or Forward to none. away: whether
    the page shows something else by now. notes: where the speaker's notes on it are.
    """
    mount = built("tour", html='<nav aria-label="Tour"></nav>')
    said = {"tour": tour, "step": number, "steps": steps, "panel": panel, "play": play}
    mount(key=key, data={**said, "away": away, "notes": notes, "arrival": arrival})


def clock(tour: str, number: int, moved: int, *, key: str, on_at: Callable[[str, int], None]) -> None:
    """The clock of the notes on a step, and `on_at` where the hall's window is at another.

    moved: how often the speaker has moved these notes by a key, whereupon the hall comes along.
    """

    def told() -> None:
        state = st.session_state.get(key)
        at = state.get("at") if isinstance(state, Mapping) else None
        if isinstance(at, list) and len(at) == 2 and isinstance(at[0], str) and isinstance(at[1], int):
            on_at(at[0], at[1])

    built("notes", html=_NOTES)(key=key, data={"tour": tour, "step": number, "moved": moved}, on_at_change=told)
