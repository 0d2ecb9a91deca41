"""What Streamlit runs for each visitor at each action: the choices are read, a page is shown."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app.server import startup

startup.wait()
from app import scene  # noqa: E402
from app.components import hosting  # noqa: E402
from app.page import layout, navigation, presenter, takeaway, text  # noqa: E402
from app.server import callbacks, drawing_order, presence  # noqa: E402
from app.shared import caching  # noqa: E402
from app.sidebar import sidebar  # noqa: E402
from app.state import session  # noqa: E402
from app.tours import notes, stage  # noqa: E402
from capsviz import zoo  # noqa: E402

session.arrive()  # before anything at which a newer message may end this run
presence.here()
st.set_page_config(
    page_icon=str(Path(__file__).with_name("icon.svg")),  # a named icon would be fetched from another host
    layout="wide",
    menu_items={
        "About": "capsviz: capsule routing, made visible. Everything on screen is computed from trained weights."
    },
)
st.html(layout.STYLE)

PAGES = navigation.pages()
here = navigation.open_page(PAGES)
st.set_page_config(page_title=f"{here.named.title} · capsviz")
if callbacks.begin():
    drawing_order.begin()
    hosting.begin()
st.session_state[scene.TALK] = False  # until the sidebar has the link

with layout.errors_as_sentences():
    session.remember_page(here.named.url_path)
    presenter.listen(here.page.url_path)
    navigation.links(here, PAGES)
    current = scene.current()  # where this fails, keys and links lead on
    with st.container(key="notices"):  # where none is, what follows keeps its place, and its boards stand
        for notice in current.notices:
            st.warning(text.sentence(notice), icon=":material/link_off:")
    takeaway.begin()
    sided = here.named.url_path != navigation.START
    if sided:
        sidebar.begin()
    if current.choices.notes:
        notes.show(current.choices)
    else:
        stage.show(here.named.url_path, current.notices, dark=current.dark)
        if here.named.url_path not in {navigation.START, sidebar.TRAINING, *sidebar.STILL}:
            layout.so_far(current, here.named.url_path)
        with layout.errors_as_sentences():
            here.page.run()
    with st.sidebar:  # after the page, whose board is awaited
        take_away = sided and sidebar.show(current, here.named.url_path, navigation.named())
    if take_away:
        takeaway.take_away(current)
    callbacks.end()
    # Else a page of two zoos: its pictures may be those of one, its decoder of the other.
    if zoo.version() != caching.version():
        st.rerun()
