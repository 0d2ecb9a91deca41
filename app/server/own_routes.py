"""Where this server answers beside Streamlit, below the path that it is served at."""

from __future__ import annotations

import threading

import streamlit as st

SERVED = threading.Event()
"""Set once a server has the routes: a test's script, or a page that Streamlit runs by itself, has none."""


def place_of(path: str) -> str:
    """A path of our own, as a browser asks for it."""
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"/{base}/{path}" if base else f"/{path}"
