"""The speaker's notes, for a window of their own: the words of the step, the next one, and a clock."""

from __future__ import annotations

from html import escape

import streamlit as st

from app import scene
from app.components import tour as browser
from app.state import session
from app.state.choices import Choices
from app.tours import caption, path, stage
from app.tours.tour import TourStep


def show(choices: Choices) -> None:
    """The notes in the place of the page. Raises TourError."""
    at = path.place(choices)
    if at is None:
        return
    st.html(stage.STYLE)
    with st.container(key="notes"):
        browser.clock(at.name, at.number, st.session_state.get(stage.MOVED, 0), key="notes-clock", on_at=_follow)
        now, then = st.columns([3, 2], gap="large")
        with now:
            _words(f"{at.number} of {len(at.tour.steps)}", at.step)
        with then:
            if at.next:
                _words("Next", at.next)
            else:
                st.html(f"<p>The last step of {escape(at.tour.title)}</p>")


def _words(which: str, step: TourStep) -> None:
    st.html(f'<p class="notes-which">{which}</p><h2 class="notes-title">{escape(step.title)}</h2>')
    st.markdown(caption.unbroken(step.caption))


def _follow(tour: str, step: int) -> None:
    """Turn to where the hall's window is."""
    session.update(scene.choices(), tour=tour, step=step)
