"""An image over a change of viewpoint, in the browser: played, stepped through, and left at an amount."""

from __future__ import annotations

from collections.abc import Callable

from app.components.hosting import board
from capsviz.boards.checks import is_number
from capsviz.boards.sweep import Swing, sweep_message


def show_sweep_board(
    swing: Swing, *, frame: int, dark: bool, key: str, on_amount: Callable[[float], None], of: Callable[[], str]
) -> None:
    """Show a sweep; frame: the amount at which it stands, counted from 0.

    on_amount gets the amount at which the visitor left the player, as a callback before the script runs again; it has
    to come back as frame: what was acknowledged and is not said is undone. of: the change, as the
    address now has it.
    """

    def left(said: object) -> None:
        if is_number(said, swing.change.low, swing.change.high):
            on_amount(float(said))

    message = sweep_message(swing, frame=None if frame == len(swing.amounts) - 1 else frame, dark=dark)
    board("sweep", message, key=key, actions={"amount": left}, of={"amount": of})
