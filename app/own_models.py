"""Where the sidebar takes a model in a file, and lets it go."""

from __future__ import annotations

from functools import partial

import streamlit as st

from app import dropped, resources, scene
from app.sources import images
from app.state import session
from app.text import plain, sentence
from capsviz.errors import CapsvizError

_TURN, _PROBLEM = "own-model-turn", "own-model-problem"


def show() -> None:
    """A place to drop a model, what is wrong with the last file, and the models that are here for this visitor only."""
    own, problem = dropped.models(), st.session_state.get(_PROBLEM, "")
    with st.expander("Your own model", icon=":material/upload_file:", expanded=bool(problem), key="own_model"):
        key = f"model_file-{st.session_state.get(_TURN, 0)}"
        st.file_uploader(
            "A file NAME.capsviz",
            key=key,
            max_upload_size=dropped.LARGEST,
            on_change=partial(_received, key),
            help="`capsviz zoo export NAME -o NAME.capsviz` writes one. Nobody else sees it; it goes with this page.",
        )
        if problem:
            st.error(sentence(problem), icon=":material/error:")
        for name in own:
            st.button(
                f"Remove {plain(name)}",
                icon=":material/close:",
                key=f"remove-{name}",
                on_click=partial(_removed, name),
                width="stretch",
            )


def _received(key: str) -> None:
    """Check what was dropped and put it on stage; the place is empty again, so that nothing is kept twice."""
    file = st.session_state.get(key)
    if file is None:
        return
    st.session_state[_TURN] = st.session_state.get(_TURN, 0) + 1
    st.session_state[_PROBLEM] = ""
    try:
        name = dropped.receive(file.name, file.getvalue())
    except CapsvizError as error:
        st.session_state[_PROBLEM] = str(error)
        return
    choices = scene.choices()
    session.update(choices, model=name, picture=images.again(choices.picture, resources.entries()[name]))


def _removed(name: str) -> None:
    """Let a model go; whoever looks at it sees the model to begin with."""
    choices = scene.choices()
    dropped.forget(name)
    start = scene.catalogue().start
    if choices.model == name:
        session.update(choices, model=start)
