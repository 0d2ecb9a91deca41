"""The way to another page, from the callback that leads there until it is open: what is chosen then comes too late."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st

_WAY = "way-to-another-page"
PATIENCE = 4.0
"""Seconds after which a page that was asked for will not come."""


class Way(NamedTuple):
    """To a page, by its name in the address, with choices. token: another one each time; since: in seconds."""

    token: str
    page: str
    query: dict[str, str]
    since: float


def begin(page: str, query: Mapping[str, str]) -> None:
    """Another page is asked for."""
    st.session_state[_WAY] = Way(secrets.token_hex(4), page, dict(query), time.monotonic())


def way() -> Way | None:
    """The one that was begun last, unless it has led to its page."""
    return st.session_state.get(_WAY)


def lasts() -> bool:
    """Whether the page is being left for another, so that what is changed on it now would be lost on the way."""
    found = way()
    return found is not None and time.monotonic() - found.since < PATIENCE


def arrived(page: str) -> None:
    """The page that is open: what led there is done."""
    found = way()
    if found is not None and found.page == page:
        del st.session_state[_WAY]
