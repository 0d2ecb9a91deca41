"""The decoder, live in the browser: a class capsule moved by hand, and no call to the server while it moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st
from jaxtyping import Float
from torch import Tensor

from app.components.hosting import board, built
from capsviz.boards import Left, decoder_message
from capsviz.boards.decoder import NARROW, WIDE, header, received


def live_decoder(
    decoders: Mapping[str, bytes],
    poses: Mapping[str, Float[Tensor, "upper dim"]],
    left: Left,
    *,
    wide: bool,
    dark: bool,
    key: str,
    hand: str = "sliders",
    classes: Sequence[str] | None = None,
    labels: Sequence[Sequence[str]] = (),
    lead: str | None = None,
    present: Mapping[str, Sequence[int]] | None = None,
    on_change: Callable[[Left], None] = lambda _: None,
    of: Callable[[], str] = str,
) -> Left | None:
    """A class capsule moved by hand, and what each decoder draws of it: a `decoder_message` with all it says there.

    on_change gets what the visitor left, as a callback before the script runs again. Returns that in the run that it
    caused, else None: it lives with the caller, not here. of: what of the choices it belongs to, as `hosting.board` has
    it. Raises PerturbError as `decoder_message` does.
    """
    message = decoder_message(
        decoders,
        poses,
        left,
        wide=wide,
        hand=hand,
        classes=classes,
        labels=labels,
        lead=lead,
        present=present,
        dark=dark,
    )
    headers = [header(packed) for packed in decoders.values()]

    def read(said: object) -> Left | None:
        return received(said, headers[0], WIDE if wide else NARROW)

    def changed(said: object) -> None:
        sent = read(said)
        if sent is not None:
            on_change(sent)

    with st.container(gap=None, key=f"{key}-place"):
        # The weights in elements of their own, which stay as they are while a capsule or an offset changes: bytes that
        # the browser has had are not sent again.
        weights = {own["digest"]: packed for own, packed in zip(headers, decoders.values(), strict=True)}
        for digest, packed in weights.items():
            built("live-decoder")(data=packed, key=f"{key}-{digest}")
        return read(board("live-decoder", message, key=key, actions={"left": changed}, of={"left": of}).get("left"))
