"""Where the sidebar takes a model or a trace in a file, and lets it go."""

from __future__ import annotations

from functools import partial

import streamlit as st

from app import scene
from app.page.text import plain, sentence
from app.server import sent_files
from app.shared import own_models, own_traces, resources
from app.sources import trace_sets
from app.state import session
from capsviz.analysis import exchange
from capsviz.errors import CapsvizError

_TURN, _PROBLEM = "own-model-turn", "own-model-problem"
TITLE = "Your own model or trace"
PLACE = f"NAME{exchange.SUFFIX}, or a trace NAME{own_traces.SUFFIX}"


def show() -> None:
    """A place to drop a file, what is wrong with the last one, and what is here for this visitor only."""
    problem = session.said(_PROBLEM)
    with st.expander(TITLE, icon=":material/upload_file:", expanded=bool(problem), key="own_model"):
        key = f"model_file-{st.session_state.get(_TURN, 0)}"
        st.file_uploader(
            PLACE,
            key=key,
            max_upload_size=own_models.LARGEST,
            on_change=partial(_received, key),
            help="`capsviz zoo export NAME -o NAME.capsviz` writes a model, `capsviz trace` and `trace.save` a trace. "
            "Nobody else sees it; it goes with this page.",
        )
        if problem:
            st.error(sentence(problem), icon=":material/error:")
        for name in (*own_models.models(), *own_traces.traces()):
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
    session.say(_PROBLEM, "")
    choices = scene.choices()
    try:
        if file.name.lower().endswith(own_traces.SUFFIX):
            name = own_traces.receive(file.name, file.getvalue())
            session.update(choices, **trace_sets.choices_with(name), image=0)
        else:
            stage = resources.entries()[choices.model]
            name = own_models.receive(file.name, file.getvalue(), choices.model)
            changes = scene.model_changes(name, choices, stage)
            # Another network may have the name of the one on stage, whose capsules it has not.
            session.update(session.changed(choices, model=scene.catalogue().start), **changes)
    except CapsvizError as error:
        session.say(_PROBLEM, str(error))
    finally:
        sent_files.forget(file)


def _removed(name: str) -> None:
    """Let a model or a trace go; whoever looks at it sees the model, or the image, to begin with."""
    session.say(_PROBLEM, "")
    choices = scene.choices()
    if name in own_traces.traces():
        own_traces.forget(name)
        if choices.recording == name:
            session.update(choices, source="data", recording="", image=None)
        return
    own_models.forget(name)
    start = scene.catalogue().start
    if choices.model == name:
        session.update(choices, model=start)
