"""The way to another page from a callback: a link that the browser follows as if the visitor had pressed it.

`st.switch_page` with a query leaves two entries in the browser's history, the first of which is the page before with
the query of the page after: Back would lead there.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app.components.hosting import built

COMPONENT = "page-link"
WHERE = "links"
"""Key of the fragment that calls `show`."""
_ASKED, ONWARDS = "page-link", "Onwards"
PATIENCE = 4.0
"""Seconds after which a page that was asked for will not come."""


def follow(page: str, query: Mapping[str, str]) -> None:
    """Go to another page, by its name in the address, with choices; to be called last in a callback, which it ends."""
    st.session_state[_ASKED] = secrets.token_hex(4), page, dict(query), time.monotonic()
    st.rerun([WHERE])


def show(pages: Mapping[str, StreamlitPage]) -> None:
    """The link that was last asked for; the browser follows each once. pages: by their names."""
    if _ASKED in st.session_state:
        token, page, query, _ = st.session_state[_ASKED]
        with st.container(key="page-link"):
            st.page_link(pages[page], label=ONWARDS, query_params=query)
            built(COMPONENT)(key="page-link-followed", data=token)


def leaving() -> bool:
    """Whether the page is being left for another, so that what is changed on it now would be lost on the way."""
    return _ASKED in st.session_state and time.monotonic() - st.session_state[_ASKED][-1] < PATIENCE


def arrived(page: str) -> None:
    """The page that is open: what led there is done."""
    if _ASKED in st.session_state and st.session_state[_ASKED][1] == page:
        del st.session_state[_ASKED]
