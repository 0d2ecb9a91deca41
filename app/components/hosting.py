"""What ties the browser's code to Streamlit: the components that `frontend/` builds, and what boards tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import streamlit as st

from app.server import drawing_order
from capsviz.boards import Message, bundle


def built(name: str, *, html: str | None = None) -> Any:
    """The component that `frontend/` builds as a bundle of this name; html: what stands in it before its script runs.

    Mount it as what `st.components.v2.component` gives. It is defined anew each time, so that a new runtime knows it.
    """
    return st.components.v2.component(f"capsviz_{name}", html=html, js=bundle(f"{name}.js"), css=bundle(f"{name}.css"))


def board(
    name: str,
    message: Message,
    *,
    key: str,
    actions: Mapping[str, Callable[[Any], None]],
    of: Mapping[str, Callable[[], str]] = MappingProxyType({}),
    first: bool = False,
) -> dict[str, Any]:
    """A board: the bundle of this name, given a message.

    first: it is drawn before what a page sends after `app.server.drawing_order.wait`.

    of: by what a board may tell, to which view it belongs, as the address now has it: what is told of another view
    comes too late, and nobody gets it.

    actions: by what a board may tell, a callback that gets it before the script runs again; what it got has to come
    back in the message: what was acknowledged and is not said is undone. Returns what was told in the run that this
    caused. The message says as `acknowledged` how often Python got each. Where Back follows closely on what the visitor
    did, it is else the very message that the browser was given last, and the board would not be told that what was
    done since then no longer counts.
    """
    counts = f"{key}-acknowledged"

    def acknowledged() -> dict[str, int]:
        return dict.fromkeys(actions, 0) | st.session_state.get(counts, {})

    def receive(what: str, act: Callable[[Any], None]) -> None:
        said = said_in(st.session_state.get(key), what, of[what]() if what in of else None)
        known = acknowledged()
        st.session_state[counts] = known | {what: known[what] + 1}
        if said:
            act(said[0])

    listening = {f"on_{what}_change": partial(receive, what, act) for what, act in actions.items()}
    heard = acknowledged()
    belongs = {"of": {what: view() for what, view in of.items()}} if of else {}
    data = message.packed(acknowledged=heard, **belongs)
    if first and (drawn := drawing_order.told_at(key, data)):
        data = message.packed(acknowledged=heard, drawn=drawn, **belongs)
    result = built(name)(key=key, data=data, **listening)
    return {what: value for what in actions for value in said_in(result, what)}


def said_in(state: object, what: str, of: str | None = None) -> list[Any]:
    """What a component's state says was told, as a list of one, for it may be None; empty where nothing was.

    of: the view to which it has to belong, where the component says one.
    """
    said = state.get(what) if isinstance(state, Mapping) else None
    if not isinstance(said, list) or not 1 <= len(said) <= 2 or (of is not None and said[1:] not in ([], [of])):
        return []
    return said[:1]
