"""The way to another page from a callback: a link that the browser follows as if the visitor had pressed it.

`st.switch_page` with a query leaves two entries in the browser's history, the first of which is the page before with
the query of the page after: Back would lead there.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app.components.hosting import built
from app.server import callbacks
from app.state import leaving

COMPONENT = "page-link"
WHERE = "links"
"""Key of the fragment that calls `show`."""
ONWARDS = "Onwards"


def follow(page: str, query: Mapping[str, str]) -> None:
    """Go to another page, by its name in the address, with choices; to be called last in a callback, which it ends.

    Where another page, or Back, has been asked for by now, nothing is done.
    """
    if callbacks.overtaken():
        return
    leaving.begin(page, query)
    st.rerun([WHERE])


def show(pages: Mapping[str, StreamlitPage]) -> None:
    """The link that was last asked for; the browser follows each once. pages: by their names."""
    way = leaving.way()
    if way is not None:
        with st.container(key="page-link"):
            st.page_link(pages[way.page], label=ONWARDS, query_params=way.query)
            built(COMPONENT)(key="page-link-followed", data=way.token)
