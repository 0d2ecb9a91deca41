"""Where the sidebar takes a model or a trace in a file, and lets it go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from app import scene
from app.page.text import plain, sentence
from app.server import sent_files
from app.shared import own_models, own_traces, resources
from app.sources import trace_sets, uploads
from app.state import session
from app.state.choices import Choices
from capsviz.analysis import exchange
from capsviz.errors import CapsvizError

_TURN, _PROBLEM, _MADE_ROOM = "own-model-turn", "own-model-problem", "own-model-room"
TITLE = "Your own model or trace"
PLACE = f"NAME{exchange.SUFFIX}, or a trace NAME{own_traces.SUFFIX}"


def show() -> None:
    """A place to drop a file, what is wrong with the last one, and what is here for this visitor only."""
    problem, note = session.said(_PROBLEM), session.said(_MADE_ROOM)
    with st.expander(TITLE, icon=":material/upload_file:", expanded=bool(problem or note), key="own_model"):
        key = f"model_file-{st.session_state.get(_TURN, 0)}"
        st.file_uploader(
            PLACE,
            key=key,
            max_upload_size=own_models.LARGEST,
            on_change=partial(_received, key),
            help="`capsviz zoo export NAME -o NAME.capsviz` writes a model, `capsviz trace` and `trace.save` a trace. "
            "Nobody else sees it; it goes with this page. Two of each are kept.",
        )
        if problem:
            st.error(sentence(problem), icon=":material/error:")
        if note:
            st.info(sentence(note), icon=":material/logout:")
        for name in _here():
            st.button(
                f"Remove {plain(name)}",
                icon=":material/close:",
                key=f"remove-{name}",
                on_click=partial(_removed, name),
                width="stretch",
            )


def _here() -> tuple[str, ...]:
    return (*own_models.models(), *own_traces.traces())


def received(receive: Callable[[Choices], str]) -> tuple[str, Choices]:
    """The name of a file that is received, and the choices without what made room for it, which is said."""
    choices, before = scene.choices(), _here()
    name = receive(choices)
    gone = [each for each in before if each not in _here()]
    _say(room=f"{gone[0]} made room: two are kept at a time." if gone else "")
    return name, session.changed(choices, **_without(choices, gone))


def _received(key: str) -> None:
    """Check what was dropped and put it on stage; the place is empty again, so that nothing is kept twice."""
    file = st.session_state.get(key)
    if not isinstance(file, UploadedFile):
        return  # there is none, or it was taken already by a run that was overtaken
    st.session_state[_TURN] = st.session_state.get(_TURN, 0) + 1
    try:
        if file.name.lower().endswith(own_traces.SUFFIX):
            name, choices = received(lambda _: own_traces.receive(file.name, file.getvalue()))
            session.update(choices, **trace_sets.choices_with(name), image=0)
        else:
            stage = resources.entries()[scene.choices().model]
            name, choices = received(lambda now: own_models.receive(file.name, file.getvalue(), now.models))
            changes = scene.model_changes(name, choices, stage)
            # Another network may have the name of the one on stage, whose capsules it has not.
            session.update(session.changed(choices, model=scene.catalogue().start), **changes)
    except CapsvizError as error:
        _say(problem=str(error))
    finally:
        sent_files.forget(file)


def _say(problem: str = "", room: str = "") -> None:
    session.say(_PROBLEM, problem)
    session.say(_MADE_ROOM, room)


def _without(choices: Choices, gone: Sequence[str]) -> dict[str, Any]:
    """The changes by which nothing beside what is on stage is named any more that is gone."""
    default = Choices(choices.model)
    named = {"second": [choices.second], "method": [choices.method], "pair": choices.pair or ()}
    return {field: getattr(default, field) for field, names in named.items() if not set(names).isdisjoint(gone)}


def _removed(name: str) -> None:
    """Let a model or a trace go; whoever looks at it sees the model, or the image, to begin with."""
    _say()
    choices = scene.choices()
    changes = _without(choices, [name])
    if name in own_traces.traces():
        if choices.source == "recorded" and trace_sets.chosen(choices.recording) == name:
            changes |= trace_sets.left("recorded", name) | {"source": "data"}
        own_traces.forget(name)
    else:
        own_models.forget(name)
        if choices.model == name:
            changes["model"] = start = scene.catalogue().start
            changes["picture"] = uploads.again(choices.picture, resources.entries()[start])
    if changes:
        session.update(choices, **changes)
