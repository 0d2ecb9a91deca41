"""Boards: pictures that move and answer, drawn in the browser from one packed message of numbers.

Their code is TypeScript in `frontend/`; what it builds lies here as `bundles/`, so that nobody needs Node to run it.
"""

from __future__ import annotations

from importlib import resources

from .decoder import Left, decoder_message, pack_weights
from .discriminative import agreement_film, ascent_film, coefficient_film, history_film
from .film import Film
from .message import Message
from .routing import routing_message

__all__ = [
    "Film",
    "Left",
    "Message",
    "agreement_film",
    "ascent_film",
    "bundle",
    "coefficient_film",
    "decoder_message",
    "history_film",
    "pack_weights",
    "routing_message",
]


def bundle(file: str) -> str | None:
    """The text of a built script or style sheet, "keys.js" or "keys.css"; None where nothing of that name is built."""
    built = resources.files(__name__) / "bundles" / file
    return built.read_text(encoding="utf-8") if built.is_file() else None
