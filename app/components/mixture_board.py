"""Points in the plane that Gaussians share among themselves, in the browser: added, dragged and removed by hand."""

from __future__ import annotations

from collections.abc import Callable

from app.components.hosting import board
from capsviz.boards.checks import is_one_of
from capsviz.boards.mixture import FRAMES, Laid, mixture_message, received


def show_mixture_board(
    laid: Laid,
    *,
    frame: int | None,
    dark: bool,
    key: str,
    on_laid: Callable[[Laid], None],
    on_frame: Callable[[int | None], None],
) -> None:
    """Show points and Gaussians as they are laid; frame: the half step at which to stand, None: the last.

    on_laid gets what the visitor left, and on_frame where the player was left, as callbacks before the script runs
    again. What they got has to come back as laid and frame: what was acknowledged and is not said is undone.
    """

    def left(said: object) -> None:
        sent = received(said)
        if sent is not None:
            on_laid(sent)

    def stood(said: object) -> None:
        if is_one_of(said, FRAMES):
            on_frame(said)

    message = mixture_message(laid, frame=frame, draws=True, dark=dark)
    board("mixture", message, key=key, actions={"left": left, "frame": stood})
