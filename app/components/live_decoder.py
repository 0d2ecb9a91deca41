"""The decoder, live in the browser: a class capsule moved by hand, and no call to the server while it moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from app.components.hosting import board, built
from app.server import packs
from capsviz.boards import Left, Message
from capsviz.boards.decoder import header, received

_BROUGHT = "-weights-brought"


def live_decoder(
    message: Message,
    decoders: Mapping[str, bytes],
    *,
    key: str,
    on_change: Callable[[Left], None],
    of: Callable[[], str] = str,
) -> None:
    """A class capsule moved by hand, and what each decoder draws of it.

    message: of `decoder_message`, for these decoders. on_change gets what the visitor left, as a callback before the
    script runs again: it lives with the caller, not here. of: what of the choices it belongs to, as `hosting.board` has
    it.
    """
    headers = [header(packed) for packed in decoders.values()]

    def changed(said: object) -> None:
        sent = received(said, headers[0], message.fields["reach"])
        if sent is not None:
            on_change(sent)

    with st.container(gap=None, key=f"{key}-place"):
        weights = {own["digest"]: packed for own, packed in zip(headers, decoders.values(), strict=True)}
        # Where the browser could not fetch them, as behind what serves the app at another path, messages bring them.
        brought = key + _BROUGHT in st.session_state
        fetched = {digest: None if brought else packs.address(digest, packed) for digest, packed in weights.items()}
        for digest, packed in weights.items():
            if fetched[digest] is None:
                built("live-decoder")(data=packed, key=f"{key}-{digest}")
        message = replace(message, fields={**message.fields, "packs": {a: b for a, b in fetched.items() if b}})
        actions = {"left": changed, "lost": lambda _: st.session_state.__setitem__(key + _BROUGHT, True)}
        board("live-decoder", message, key=key, actions=actions, of={"left": of})
