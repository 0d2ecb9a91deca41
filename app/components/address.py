"""The page and the address that Back or Forward led to: where they say different things, the address is right."""

from __future__ import annotations

import streamlit as st

from app.components.hosting import built


def address(*, key: str) -> None:
    """Run the app again, with that address, where the page was drawn for another and nothing mends that.

    A callback's `st.rerun([...])` runs with the address of its own message, also where a Back has come in since.
    Mount it where it runs whenever the query may have changed.
    """
    mount = built("address")
    mount(key=key, data=st.query_params.to_dict())
