"""What a visitor is told where the app fails: one sentence. The traceback is for the server's log, not for a hall."""

from __future__ import annotations

import streamlit as st

from app.page.text import sentence

SENTENCE = (
    "Something went wrong here, and the server's log says what: reload the page, and if that does not help, choose "
    "another image or model."
)


def answer(error: Exception) -> bool:
    """Say what a script, a part of it or an action of the visitor failed with, for `st.App`, which has logged it.

    True: Streamlit shows nothing of its own.
    """
    from capsviz.errors import CapsvizError, of_system  # the server starts without capsviz

    said = str(error) if isinstance(error, CapsvizError) else SENTENCE
    st.error(sentence(of_system(error) if isinstance(error, OSError) else said), icon=":material/error:")
    return True
