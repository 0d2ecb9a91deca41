"""A figure on screen as SVG or PNG: the browser has drawn it already, so the browser writes the file."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_HERE = Path(__file__)
_HTML = '<div class="pictures"><button data-format="svg">SVG</button><button data-format="png">PNG</button></div>'
SCALE = 2
"""Pixels of the PNG for each of the figure on screen."""


def picture_buttons(*, plot: str, name: str, key: str) -> None:
    """Two buttons that save the Plotly figure with the key `plot` as `name`.svg and `name`.png.

    The file shows what the figure shows at that moment: of a player, the frame that stands.
    """
    mount = st.components.v2.component(  # the same definition each time, so that a new runtime knows it as well
        "capsviz_picture_buttons",
        html=_HTML,
        css=_HERE.with_suffix(".css").read_text(encoding="utf-8"),
        js=_HERE.with_suffix(".js").read_text(encoding="utf-8"),
    )
    mount(key=key, data={"plot": plot, "name": name, "scale": SCALE})
