"""Keys of the whole page: what is pressed anywhere outside a field becomes a command."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping

import streamlit as st

from app.components.hosting import built
from app.state import leaving, session

SHEET: tuple[tuple[str, str, str], ...] = (
    ("0 … 9", "the pages, in their order", "pages"),
    ("Page Down  Page Up", "next, previous step of the tour", "step"),
    ("b  or  Backspace", "back to the tour's step, after a question", "step"),
    ("[  ]", "previous, next image", "image step"),
    ("[  ]  or  Page Up  Page Down", "previous, next image", "image !step"),
    (",  .", "previous, next class capsule", "class"),
    ("+  −", "one routing iteration T more, less", "T"),
    ("Space", "play or pause the player", "player"),
    ("←  →", "one step back, on", "player"),
    ("Home  End", "first, last step", "player"),
    ("s", "slow motion", "player"),
    ("n  arrows  a  Delete", "on the plane: next point, move it, add one, remove it", "plane"),
    ("n  arrows", "on a parent's plane (Tab): next vote, move it", "votes"),
    ("p", "presenter mode on, off", "present"),
    ("?", "this sheet on, off", ""),
)
"""Keys, what they do, and what of the page they move, or with a ! what it must not have; a key that has nothing to move
is not on the sheet, and idle.

Space, arrows, Home, End and s are the players' own."""
MOST = 50
"""Commands that are done at once: no hand presses more keys while a run lasts."""
_HALL = ".stApp:not(:has(.st-key-notes))"
"""Not the window of the speaker's notes."""
TOUR, PAGES, IMAGES = (
    ".st-key-tour, .st-key-notes",
    f"{_HALL} .st-key-pages",
    f'{_HALL} [class*="st-key-image_thumbs"]',
)
MOVED = {
    "pages": PAGES,
    "present": PAGES,
    "image": IMAGES,
    "step": TOUR,
    "page": f"{TOUR}, {IMAGES}",
    "class": '[class*="st-key-upper"], [class*="st-key-kind"]',
    "T": '[class*="st-key-iterations"], [class*="st-key-board-"], [class*="st-key-routing-toy"]',
    "plane": ".st-key-mixture-board",
    "votes": ".st-key-routing-toy",
}
"""By what keys move: where the page has it, as a CSS selector. The browser knows of its players, and a board that has a
T takes its keys itself."""

_ROWS = "".join(
    f'<div data-moves="{moved}"><dt>{html.escape(pressed)}</dt><dd>{html.escape(does)}</dd></div>'
    for pressed, does, moved in SHEET
)
_HTML = f"""
<div class="bar" hidden>
  <button type="button" class="help" title="All keys (?)">Keys</button>
  <button type="button" class="leave" title="Leave presenter mode (p)">Leave</button>
</div>
<dialog aria-label="Keys"><p class="title">Keys</p><dl>{_ROWS}</dl>
  <form method="dialog"><button>Close</button></form>
  <label><input type="checkbox" class="characters"> Letters, digits and signs but ? are keys</label></dialog>
"""


def keys(
    *,
    key: str,
    page: str,
    presenting: bool,
    sheet: str,
    on_command: Callable[[str], Callable[[], None] | None],
    on_screen: Callable[[], object],
) -> None:
    """Listen on the whole document, and call `on_command` before the script runs again.

    Commands: "present", "step" (back to that of the tour), and "page", "image", "class" or "T" with "-1" or "+1". A
    digit follows the page's link in the browser, "?" shows the sheet of keys there; a command that would move nothing
    on the page is not sent. page: the one that is drawn, by its name in the address. presenting: a small bar shows how
    to leave, and the browser tells how large its window is; sheet: the style of presenter mode, which its key lays over
    the page before it is answered. on_screen is called before the script runs again where the window has another size.
    What `on_command` returns is called last: it may lead to another page, which ends what else there is to do.
    """
    mount = built("keys", html=_HTML)
    acknowledged = f"{key}-acknowledged"

    def pressed() -> None:
        """Run before the script."""
        if leaving.lasts():
            return  # not acknowledged, so that the browser tells the page that comes
        # What is sent again, having been heard already, brings the address that the browser had then.
        session.here()
        # Streamlit has forgotten what was told where the last run ended before it came here: the key is sent again.
        told = st.session_state.get(key) or {}
        for number, command in received(told.get("commands"), st.session_state.get(acknowledged, 0)):
            leads = on_command(command)  # where this fails, the key is not acknowledged and comes again
            st.session_state[acknowledged] = number
            if leads:
                leads()

    mount(
        key=key,
        data={
            "page": page,
            "presenting": presenting,
            "sheet": sheet,
            "screen": screen(key),
            "acknowledged": st.session_state.get(acknowledged, 0),
            "moved": MOVED,
        },
        on_commands_change=pressed,
        on_back_change=session.here,  # the connection is back: the page runs, from the newest address
        on_screen_change=on_screen,
    )


def received(sent: object, acknowledged: int) -> list[tuple[int, str]]:
    """The last `MOST` commands of the browser's that are newer than the last one acknowledged, oldest first."""
    pairs = [tuple(pair) for pair in sent if isinstance(pair, list)] if isinstance(sent, list) else []
    whole = [pair for pair in pairs if len(pair) == 2 and type(pair[0]) is int and isinstance(pair[1], str)]
    return [pair for pair in whole if pair[0] > acknowledged][-MOST:]


def screen(key: str) -> tuple[int, int] | None:
    """Width and height of the browser's window in pixels; None until presenter mode has asked for it."""
    state = st.session_state.get(key)
    said = state.get("screen") if isinstance(state, Mapping) else None
    if not isinstance(said, list) or len(said) != 2 or not all(isinstance(side, int) for side in said):
        return None
    return max(320, min(said[0], 8192)), max(240, min(said[1], 8192))
