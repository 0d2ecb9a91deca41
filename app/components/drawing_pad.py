"""A pad to draw on, white ink on black as the digits are; what is drawn arrives as PNG."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping

import streamlit as st

from app.components.hosting import built
from capsviz.data import ImageError

_HTML = """
<div class="pad">
  <div class="paper">
    <canvas tabindex="0" role="img" aria-label="Drawing pad"></canvas>
    <p class="hint" aria-hidden="true">Draw here</p>
  </div>
  <div class="tools">
    <button type="button" class="undo" title="Undo (Ctrl+Z)">Undo</button>
    <button type="button" class="clear">Clear</button>
    <label class="pen" title="Pen thickness">
      <span class="nib" aria-hidden="true"><span></span></span>
      <input type="range" min="8" max="40" step="2" aria-label="Pen thickness">
    </label>
  </div>
</div>
"""


def drawing_pad(*, key: str, on_change: Callable[[], None]) -> None:
    """Show the pad, of 280 × 280 pixels; `drawn` has what is drawn on it.

    The strokes live in the browser, under `key`: they outlast re-runs, other pages and a reload of the tab.
    on_change: called before the script runs again, where `drawn(key)` already answers with the new drawing.
    """
    # The browser sends again what it holds if that is another version than the one known here.
    known = st.session_state.get(key) or {}
    version = (known.get("drawing") or {}).get("version")
    built("drawing-pad", html=_HTML)(key=key, data={"pad": key, "version": version}, on_drawing_change=on_change)


def drawn(key: str) -> bytes | None:
    """What is drawn on the pad `key`, as PNG; None where that is nothing or no pad is shown. Raises ImageError."""
    state = st.session_state.get(key)
    return received(state.get("drawing") if isinstance(state, Mapping) else None)


def brought_back(key: str) -> bool:
    """Whether the pad `key` only told again what it holds, as after a reload, and nobody has drawn since."""
    state = st.session_state.get(key)
    drawing = state.get("drawing") if isinstance(state, Mapping) else None
    return isinstance(drawing, Mapping) and drawing.get("again") is True


def received(drawing: object) -> bytes | None:
    """The PNG in what the browser sent, None for an empty pad; raises ImageError where it is not base64."""
    png = drawing.get("png") if isinstance(drawing, Mapping) else None
    if png is None:
        return None
    try:
        return base64.b64decode(png, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise ImageError("The drawing did not arrive whole: draw another stroke.") from error
