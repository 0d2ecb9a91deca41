"""A board that is awaited is drawn first: what a browser draws together with it is sent once the board stands.

A browser takes all that has come as one, and a figure of Plotly's keeps it for longer than the board does.
"""

from __future__ import annotations

import threading
import time
import weakref
from hashlib import blake2b

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.server.own_routes import SERVED as _served
from app.server.own_routes import place_of

PATH = "_capsviz/drawn"
PATIENCE = 1.0
"""Seconds after which what follows is sent all the same; a browser that never answered is not waited for again."""
SLICE = 0.01
"""Seconds between two looks at whether the visitor has done something else."""
_SENT, _WAITING, _LAST = "awaited-sent", "awaited-waiting", "awaited-last"
_asked: weakref.WeakValueDictionary[str, threading.Event] = weakref.WeakValueDictionary()
"""What is waited for, by its token; a session holds its own."""


def routes() -> list[Route]:
    """Where a server hears that a board is drawn; from now on it is one."""
    _served.set()
    return [Route(f"{place_of(PATH)}/{{token}}", _drawn, methods=["POST"])]


async def _drawn(request: Request) -> Response:
    if event := _asked.get(request.path_params["token"]):
        event.set()
    return Response(status_code=204)


def begin() -> None:
    """Another page is open: the boards of the one before are gone by now."""
    if get_script_run_ctx() is not None and _served.is_set():
        st.session_state[_SENT], st.session_state[_WAITING] = {}, {}


def told_at(key: str, packed: bytes) -> str | None:
    """Where the browser says that the board `key` is drawn as this message has it; None where no server would hear.

    The same message has the same address: as long as the page stays, the board is drawn once for it.
    """
    context = get_script_run_ctx()
    if context is None or not _served.is_set():
        return None
    # Two boards may have the same message.
    token = blake2b(key.encode() + b"\0" + packed, digest_size=16, key=context.session_id.encode()[:64]).hexdigest()
    if st.session_state[_SENT].get(key) != token:
        st.session_state[_SENT][key] = token
        st.session_state[_WAITING][key] = _asked[token] = threading.Event()
    return f"{place_of(PATH)}/{token}"


def wait() -> None:
    """Until the boards that this run has sent are drawn, or PATIENCE seconds have passed."""
    context = get_script_run_ctx()
    waiting: list[threading.Event] = list(st.session_state.get(_WAITING, {}).values())
    if context is None or not waiting:
        return
    st.session_state[_WAITING] = {}
    last: threading.Event | None = st.session_state.get(_LAST)
    until = time.monotonic() + (PATIENCE if last is None or last.is_set() else 0)
    for event in waiting:
        while not event.wait(SLICE) and time.monotonic() < until:
            context.yield_check()
    st.session_state[_LAST] = waiting[-1]
