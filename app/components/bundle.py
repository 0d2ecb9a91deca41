"""How a component is put together: shared scripts in front of its own, and numbers packed for the browser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from numpy import ndarray

from capsviz.boards import bundle

FOLDER = Path(__file__).parent


def built(name: str, *, html: str | None = None) -> Any:
    """The component that `frontend/` builds as a bundle of this name; html: what stands in it before its script runs.

    Mount it as what `st.components.v2.component` gives. It is defined anew each time, so that a new runtime knows it.
    """
    return st.components.v2.component(f"capsviz_{name}", html=html, js=bundle(f"{name}.js"), css=bundle(f"{name}.css"))


def component(name: str, *scripts: str, styles: tuple[str, ...] = (), html: str | None = None) -> Any:
    """The component of these scripts, in this order: paths below app/components, the last one with `export default`.

    The scripts become one module, so what one declares at its top the later ones see. html: what stands in it before
    they run. Mount it as what `st.components.v2.component` gives. It is defined anew each time, so that a new runtime
    knows it as well.
    """
    return st.components.v2.component(name, html=html, js=_joined(scripts), css=_joined(styles) or None)


def _joined(paths: tuple[str, ...]) -> str:
    return "\n".join((FOLDER / path).read_text(encoding="utf-8") for path in paths)


def pack(fields: Mapping[str, Any], arrays: Mapping[str, ndarray]) -> bytes:
    """Fields (what JSON can hold) and arrays (sent as float32, flat) as the bytes that shared/packed.js opens."""
    header = json.dumps({**fields, "arrays": [[name, int(array.size)] for name, array in arrays.items()]}).encode()
    header += b" " * (-len(header) % 4)
    numbers = b"".join(np.ascontiguousarray(array, dtype="<f4").tobytes() for array in arrays.values())
    return np.array(len(header), "<u4").tobytes() + header + numbers


def hear(key: str, *whats: str) -> None:
    """Count what a component has said, each by a name; to be called where Python hears it."""
    counts = st.session_state.get(f"{key}-heard", {})
    st.session_state[f"{key}-heard"] = counts | {what: counts.get(what, 0) + 1 for what in whats}


def heard(key: str, *whats: str) -> dict[str, int]:
    """How often Python has heard a component say each of these: a part of its data.

    Where Back follows closely on what the visitor did, the data is the very data that the browser was given last, and
    without these numbers the component would not be told that what was done since then no longer counts.
    """
    counts = st.session_state.get(f"{key}-heard", {})
    return {what: counts.get(what, 0) for what in whats}
