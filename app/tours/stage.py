"""A step on the page: its words above the view, and what keys do on the way through a tour."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from app import scene
from app.components import tour as browser
from app.page.text import sentence
from app.server import failures
from app.state import session
from app.state.choices import Choices
from app.tours import caption, links, path
from app.tours.path import Place
from app.tours.tour import TourError
from capsviz.figures.theme import ink

STYLE = Path(__file__).with_name("tour.css")
MOVED = "tour-notes-moved"
"""Key of how often keys have moved the notes."""
_TO = re.compile(r"step=(\d{1,3})")


@st.fragment(key=scene.TOUR)
def show(page: str, said: tuple[str, ...], *, dark: bool) -> None:
    """The words of the step that is under way, above the page; nothing where none is.

    said: what the page says already of its address.
    """
    choices = scene.choices()
    try:
        at = path.place(choices)
    except TourError as error:  # here: beyond a fragment it would be another error
        failures.answer(error)
        return
    if at is None:
        return
    try:
        left = path.away(at, choices, page)
        _, _, notices = links.opened(at.step, scene.catalogue())
    except TourError as error:
        left, notices = False, (f"{error}.",)
    st.html(STYLE)
    st.html(f"<style>{_marks(at, dark=dark, left=left)}</style>")
    with st.container(key="tour"):
        st.html(_title(at))
        with st.container(key="tour-words"):
            if left:
                st.markdown("Off the path: **b** or **Backspace** leads back to this step, Page Down to the next.")
            elif at.step.caption:
                st.markdown(caption.unbroken(at.step.caption))
            for notice in notices if not left else ():
                if notice not in said:
                    st.warning(sentence(notice), icon=":material/link_off:")
        browser.step(
            at.name,
            at.number,
            len(at.tour.steps),
            key="tour-step",
            arrival=st.session_state.get(path.ARRIVALS, 0),
            panel=at.step.panel,
            play=at.step.play,
            away=left,
            notes=notes_link(choices),
        )


def notes_link(choices: Choices) -> str:
    """Where the notes on the step are, of a session of their own, which has none of the visitor's models."""
    return "?" + urlencode({"tour": choices.tour, "step": choices.step, "notes": "1"})


def _title(at: Place) -> str:
    """The step's title below a thin line that says how far the tour is; a title is plain text."""
    count = len(at.tour.steps)
    line = (
        f'<div class="tour-line" role="progressbar" aria-label="Step {at.number} of {count}" aria-valuemin="0" '
        f'aria-valuemax="{count}" aria-valuenow="{at.number}"><div style="width:{100 * at.number / count:.2f}%"></div>'
    )
    end = "" if at.next else '<p class="tour-end">The tour ends here.</p>'
    return f'{line}</div><p class="tour-title">{escape(at.step.title)}</p>{end}'


def _marks(at: Place, *, dark: bool, left: bool) -> str:
    """The ground on which the words stand, and the mark around the panel; its name has been checked."""
    ground = f".stApp {{ --tour-ground: {ink(dark).ground}; }}"
    if not at.step.panel or left:
        return ground
    panel = f'[class*="st-key-{at.step.panel}"]'
    return f"{ground} .stMainBlockContainer {panel}:not({panel} *) {{ outline: var(--tour-mark); margin-top: 0.6rem; }}"


def moved(choices: Choices, by: int) -> Callable[[], None] | None:
    """What leads so many steps on, 0: back to the step; to be called last. Raises TourError."""
    at = path.place(choices)
    return None if at is None else _to(at.moved(by), choices)


def commanded(choices: Choices, command: str) -> Callable[[], None] | None:
    """What a button or another window asks for: `end`, or `step=7`. Raises TourError."""
    if command == "end":
        return lambda: session.update(choices, tour="")
    at, wanted = path.place(choices), _TO.fullmatch(command)
    return None if at is None or wanted is None else _to(at.moved(int(wanted[1]) - at.number), choices)


def _to(to: Place, choices: Choices) -> Callable[[], None]:
    if choices.notes:
        return lambda: _turn(to)
    return lambda: path.go(to, choices)


def _turn(to: Place) -> None:
    """Turn the notes to a step; the hall comes along."""
    st.session_state[MOVED] = st.session_state.get(MOVED, 0) + 1
    session.update(scene.choices(), step=to.number)
