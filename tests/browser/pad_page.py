"""A page with nothing but the drawing pad: says what Python received, and keeps it in the folder it is given."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import streamlit as st

from app.components.drawing_pad import drawing_pad, drawn

folder = Path(os.environ["CAPSVIZ_RECEIVED"])
st.session_state["runs"] = st.session_state.get("runs", 0) + 1
with st.sidebar:
    st.button("Run again")
    if shown := st.toggle("Show the pad", value=True):
        drawing_pad(key="pad", on_change=lambda: None)
drawing = drawn("pad") if shown else None
if drawing is None:
    name = "nothing"
else:
    name = hashlib.sha256(drawing).hexdigest()[:16]
    (folder / f"{name}.png").write_bytes(drawing)
st.text(f"received {name} in run {st.session_state['runs']}")
