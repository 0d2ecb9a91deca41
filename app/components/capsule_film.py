"""A film of signed numbers over the primary capsules, played in the browser; a click selects a capsule everywhere."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.components.bundle import component, hear, heard, pack
from capsviz.figures.film import Film

_SCRIPTS = (
    "shared/canvas.js",
    "shared/mount.js",
    "shared/packed.js",
    "shared/algorithm.js",
    "shared/told.js",
    "shared/transport.js",
    "film/maps.js",
    "film/charts.js",
    "film/lines.js",
    "film/film.js",
)
_STYLES = ("shared/transport.css", "shared/algorithm.css", "film/film.css")


def received(value: object, count: int) -> int | None:
    """The capsule or frame that the browser sent, −1 for none; None where it sent nothing that is one of `count`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
        return None
    return int(value) if -1 <= value < count else None


def capsule_film(
    film: Film,
    *,
    capsule: int | None,
    frame: int | None,
    dark: bool,
    key: str,
    on_capsule: Callable[[int | None], None],
    on_frame: Callable[[int | None], None],
) -> None:
    """Show a film with its player; capsule: the one that is selected; frame: where it stands, None: at the end.

    on_capsule gets the capsule that the visitor clicks, None where that was the selected one, and on_frame the frame at
    which the visitor left the player, None for the last; both as callbacks before the script runs again. What they got
    has to come back as capsule and frame: what was heard and is not said is undone.
    """

    def clicked() -> None:
        hear(key, "capsule")
        sent = received(st.session_state[key].get("capsule"), film.grid.lower)
        if sent is not None:
            on_capsule(None if sent < 0 else sent)

    def left() -> None:
        hear(key, "frame")
        sent = received(st.session_state[key].get("frame"), len(film.frames))
        if sent is not None:
            on_frame(None if sent < 0 else sent)

    mount = component("capsviz_capsule_film", *_SCRIPTS, styles=_STYLES)
    state = {"capsule": capsule, "frame": frame, "heard": heard(key, "capsule", "frame")}
    fields = film.fields(dark=dark) | state
    mount(data=pack(fields, film.arrays()), key=key, on_capsule_change=clicked, on_frame_change=left)
