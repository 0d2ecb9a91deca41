"""A figure on screen as SVG or PNG: the browser has drawn it already, so the browser writes the file."""

from __future__ import annotations

from app.components.hosting import built

_HTML = '<div class="pictures"><button data-format="svg">SVG</button><button data-format="png">PNG</button></div>'
SCALE = 2
"""Pixels of the PNG for each of the figure on screen."""


def picture_buttons(*, plot: str, name: str, key: str) -> None:
    """Two buttons that save the Plotly figure with the key `plot` as `name`.svg and `name`.png.

    The file shows what the figure shows at that moment: of a player, the frame that stands.
    """
    mount = built("picture-buttons", html=_HTML)
    mount(key=key, data={"plot": plot, "name": name, "scale": SCALE})
