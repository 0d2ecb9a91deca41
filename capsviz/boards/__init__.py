"""Boards: pictures that move and answer, drawn in the browser from one packed message of numbers.

Their code is TypeScript in `frontend/`; what it builds lies here as `bundles/`, so that nobody needs Node to run it.
"""

from __future__ import annotations

from .board import Board, decoder_board, film_board, trace_board
from .built import bundle
from .decoder import Left, decoder_message, pack_weights
from .discriminative import agreement_film, ascent_film, coefficient_film, history_film
from .film import Film
from .message import Message
from .page import board_page
from .routing import describe_routing, drawn_weights, routing_message
from .table import as_csv

__all__ = [
    "Board",
    "Film",
    "Left",
    "Message",
    "agreement_film",
    "as_csv",
    "ascent_film",
    "board_page",
    "bundle",
    "coefficient_film",
    "decoder_board",
    "decoder_message",
    "describe_routing",
    "drawn_weights",
    "film_board",
    "history_film",
    "pack_weights",
    "routing_message",
    "trace_board",
]
