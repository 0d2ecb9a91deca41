"""Signed numbers over the primary capsules, frame by frame, in the browser; a click selects a capsule everywhere."""

from __future__ import annotations

from collections.abc import Callable

from app.components.hosting import board
from capsviz.boards import CapsuleMaps, Message
from capsviz.boards.checks import is_one_of


def capsule_maps(
    maps: CapsuleMaps,
    *,
    capsule: int | None,
    frame: int | None,
    dark: bool,
    key: str,
    on_capsule: Callable[[int | None], None],
    on_frame: Callable[[int | None], None],
) -> None:
    """Show maps with their player; capsule: the one that is selected; frame: where they stand, None: at the end.

    on_capsule gets the capsule that the visitor clicks, None where that was the selected one, and on_frame the frame at
    which the visitor left the player, None for the last; both as callbacks before the script runs again. What they got
    has to come back as capsule and frame: what was acknowledged and is not said is undone.
    """

    def clicked(said: object) -> None:
        if is_one_of(said, maps.grid.lower):
            on_capsule(said)

    def left(said: object) -> None:
        if is_one_of(said, len(maps.frames)):
            on_frame(said)

    message = maps.message(dark=dark, hint="Click a capsule to select it on every page.")
    board(
        "capsule-maps",
        Message({**message.fields, "capsule": capsule, "frame": frame}, message.arrays),
        key=key,
        actions={"capsule": clicked, "frame": left},
    )
