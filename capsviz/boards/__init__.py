"""Boards: pictures that move and answer, drawn in the browser from one packed message of numbers.

Their code is TypeScript in `frontend/`; what it builds lies here as `bundles/`, so that nobody needs Node to run it.
"""

from __future__ import annotations

from .basics import margin_message, squash_message
from .board import Board, decoder_board, maps_board, trace_board
from .built import bundle
from .capsule_maps import CapsuleMaps
from .csv_table import board_csv
from .decoder import Left, decoder_message, pack_weights
from .discriminative import agreement_maps, ascent_maps, coefficient_maps, history_maps
from .message import Message
from .page import board_page
from .routing import describe_routing, drawn_weights, routing_message

__all__ = [
    "Board",
    "CapsuleMaps",
    "Left",
    "Message",
    "agreement_maps",
    "ascent_maps",
    "board_csv",
    "board_page",
    "bundle",
    "coefficient_maps",
    "decoder_board",
    "decoder_message",
    "describe_routing",
    "drawn_weights",
    "history_maps",
    "maps_board",
    "margin_message",
    "pack_weights",
    "routing_message",
    "squash_message",
    "trace_board",
]
