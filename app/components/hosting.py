"""What ties the browser's code to Streamlit: the components that `frontend/` builds, and what boards tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from hashlib import blake2b
from types import MappingProxyType
from typing import Any

import numpy as np
import streamlit as st

from app.server import drawing_order
from capsviz.boards import Message, bundle

_HELD = "boards-held"
"""The digests of the arrays that the browser was given last, by the key of a board and the name of an array."""


def built(name: str, *, html: str | None = None) -> Any:
    """The component that `frontend/` builds as a bundle of this name; html: what stands in it before its script runs.

    Mount it as what `st.components.v2.component` gives. It is defined anew each time, so that a new runtime knows it.
    """
    return st.components.v2.component(f"capsviz_{name}", html=html, js=bundle(f"{name}.js"), css=bundle(f"{name}.css"))


def begin() -> None:
    """Another page is open: boards there are given all of theirs, for the browser keeps few messages."""
    st.session_state[_HELD] = {}


def board(
    name: str,
    message: Message,
    *,
    key: str,
    actions: Mapping[str, Callable[[Any], None]],
    of: Mapping[str, Callable[[], str]] = MappingProxyType({}),
    first: bool = False,
) -> None:
    """A board: the bundle of this name, given a message.

    first: it is drawn before what a page sends after `app.server.drawing_order.wait`.

    of: by what a board may tell, to which view it belongs, as the address now has it: what is told of another view
    comes too late, and nobody gets it.

    actions: by what a board may tell, a callback that gets it before the script runs again; what it got has to come
    back in the message: what was acknowledged and is not said is undone. The message says as `acknowledged` how often
    Python got each. Where Back follows closely on what the visitor did, it is else the very message that the browser
    was given last, and the board would not be told that what was done since then no longer counts. Arrays that are as
    they were in the last message are not sent again.
    """
    counts = f"{key}-acknowledged"
    assert "missed" not in actions
    held: dict[str, dict[str, str]] = st.session_state.setdefault(_HELD, {})
    actions = {**actions, "missed": lambda _: st.session_state[_HELD].pop(key, None)}  # all of it is sent then

    def acknowledged() -> dict[str, int]:
        return dict.fromkeys(actions, 0) | st.session_state.get(counts, {})

    def receive(what: str, act: Callable[[Any], None]) -> None:
        said = said_in(st.session_state.get(key), what, of[what]() if what in of else None)
        known = acknowledged()
        st.session_state[counts] = known | {what: known[what] + 1}
        if said:
            act(said[0])

    listening = {f"on_{what}_change": partial(receive, what, act) for what, act in actions.items()}
    more: dict[str, Any] = {"acknowledged": acknowledged()}
    if of:
        more["of"] = {what: view() for what, view in of.items()}
    new, digests = _new_of(message, held.get(key, {}))
    whole = Message({**message.fields, "version": digests}, {})  # says all of it in few bytes
    if first and (drawn := drawing_order.told_at(key, whole.packed(**more))):
        more["drawn"] = drawn
    built(name)(key=key, data=new.packed(**more), **listening)
    held[key] = digests  # not before it is sent: a newer action may end the run on the way


def _new_of(message: Message, held: Mapping[str, str]) -> tuple[Message, dict[str, str]]:
    """What of a message the browser lacks, and the digests of all its arrays; held: of those that it was given last.

    `frontend/app/kept.ts` completes it.
    """
    here = {name: _digest(array) for name, array in message.arrays.items()}
    kept = [name for name in here if held.get(name) == here[name]]
    new = {name: each for name, each in message.arrays.items() if name not in kept}
    return Message({**message.fields, "kept": kept, "version": here}, new), here


def _digest(array: np.ndarray) -> str:
    return blake2b(array.tobytes(), digest_size=16, key=array.dtype.str.encode()).hexdigest()


def said_in(state: object, what: str, of: str | None = None) -> list[Any]:
    """What a component's state says was told, as a list of one, for it may be None; empty where nothing was.

    of: the view to which it has to belong, where the component says one.
    """
    said = state.get(what) if isinstance(state, Mapping) else None
    if not isinstance(said, list) or not 1 <= len(said) <= 2 or (of is not None and said[1:] not in ([], [of])):
        return []
    return said[:1]
