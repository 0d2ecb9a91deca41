"""Tours: talks that ship, and the visitor's own; each begins at a button, and is a list of links."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from html import escape

import streamlit as st

from app import scene
from app.page import layout
from app.page.text import plain, sentence
from app.state import session
from app.state.choices import Choices
from app.tours import links, path, stage, store, talk
from app.tours.path import Place
from app.tours.tour import Tour, TourError

FILE = "talk-opened"


def opened() -> None:
    """Open the file that the visitor gave; taking it back changes nothing but what was said of it."""
    session.say(talk.PROBLEM, "")
    sent = st.session_state[FILE]
    if sent is not None:
        talk.opened(scene.choices(), sent.name, sent.getvalue())


def begin(name: str, tour: Tour, *, present: bool) -> None:
    """Go to the first step."""
    path.go(Place(name, tour, 1), replace(scene.choices(), present=present))


def copy(tour: Tour) -> None:
    """Make a tour one's own talk."""
    session.update(scene.choices(), talk=store.keep(tour))


def card(choices: Choices, name: str, tour: Tour) -> None:
    """A tour: what it is about, the button to begin, and its steps as links."""
    with st.container(border=True, key=f"card-{name[:40].replace('~', 'link-')}"):
        left, right = st.columns([4, 2], vertical_alignment="center")
        with left:
            st.html(f'<h3 class="tour-name">{escape(tour.title)}</h3><p class="tour-about">{escape(tour.about)}</p>')
        able = not any(tour.problems())
        with right, st.container(horizontal=True, horizontal_alignment="right"):
            for label, icon, present in (("Begin", "slideshow", True), ("Read", "menu_book", False)):
                st.button(
                    label,
                    icon=f":material/{icon}:",
                    type="primary" if present else "secondary",
                    key=f"{label.lower()}-{name}",
                    on_click=partial(begin, name, tour, present=present),
                    disabled=not able,
                    help="In presenter mode: Page Down and Page Up lead through it."
                    if present
                    else "With the sidebar.",
                )
        with st.expander(f"{len(tour.steps)} step{'s' * (len(tour.steps) != 1)}"):
            for number in range(1, len(tour.steps) + 1):
                step(choices, Place(name, tour, number))
            if name != choices.talk:
                st.button("Make it your own", icon=":material/edit:", key=f"copy-{name}", on_click=partial(copy, tour))


def step(choices: Choices, at: Place) -> None:
    """A step by its title; those that cannot be shown here say why."""
    label = f"{at.number} {plain(at.step.title)}"
    try:
        page, query = path.target(at, choices)
    except TourError as error:
        st.caption(f"{label}: {plain(str(error))}.")
        return
    st.page_link(links.script_of(page), label=label, query_params=query)


current = scene.current().choices
st.html(stage.STYLE)
layout.headline("Tours", "A talk is a list of views: <b>Page Down</b> leads on, <b>b</b> back to the path.")
mine = talk.own(current)
others = [name for name in dict.fromkeys([*store.names(), current.tour]) if name and name != current.talk]
for each in others:
    with layout.errors_as_sentences():
        card(current, each, store.find(each))

st.subheader("Your own talk", anchor=False)
if mine is None:
    st.markdown("**Add this view**, in the sidebar of every page, collects what is on screen. Or open a talk's file:")
else:
    card(current, current.talk, mine)
    talk.take_away(current, mine)
    talk.editor(current, mine)
st.file_uploader("Open the file of a talk", type="toml", max_upload_size=1, key=FILE, on_change=opened)
if problem := session.said(talk.PROBLEM):
    st.error(sentence(problem), icon=":material/broken_image:")
