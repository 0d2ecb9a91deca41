"""The page and the browser's address: where they say different things, the address is right."""

from __future__ import annotations

import streamlit as st

from app.components.bundle import component


def address(*, key: str) -> None:
    """Run the app again where the page was drawn for another address than the browser's and nothing mends that.

    A callback's `st.rerun([...])` runs with the address of its own message, also where a Back has come in since.
    Mount it where it runs whenever the query may have changed.
    """
    mount = component("capsviz_address", "address.js")

    def differs() -> None:
        said = st.session_state[key].get("differs")
        query = {name: value for name, value in (said or {}).items() if isinstance(value, str)}
        if query != st.query_params.to_dict():
            st.query_params.from_dict(query)
        st.rerun()

    mount(key=key, data=st.query_params.to_dict(), on_differs_change=differs)
