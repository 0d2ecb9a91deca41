"""The ways on from a page for which no model here takes the image on stage."""

from __future__ import annotations

from functools import partial

import streamlit as st

from app import scene
from app.page import navigation
from app.page.text import plain
from app.scene import NoModel
from app.state import session
from capsviz.data import title_of
from capsviz.routing import ALGORITHMS


def offer(missing: NoModel) -> None:
    """Links to the other pages about an algorithm that show the image, and a button for a model that this one shows."""
    current, instead = scene.current(), missing.instead
    about = dict.fromkeys(each.page for each in ALGORITHMS.values() if current.has(each.name))
    with st.container(horizontal=True, vertical_alignment="center"):
        for page in (page for page in about if page != session.page()):
            title, icon = navigation.PAGES[page]
            label, query = f"{title}: {plain(current.picture.title)}", session.to_query(current.choices)
            st.page_link(navigation.named()[page], label=label, icon=f":material/{icon}:", query_params=query)
        if instead is not None:  # a button, as a page's link to itself leaves the browser's address as it is
            st.button(
                f"{instead.method.title} of {plain(title_of(instead.data))}",
                key=f"instead-{instead.name}",
                on_click=partial(choose, instead.name),
            )


def choose(name: str) -> None:
    """Put another model on stage."""
    choices = scene.choices()
    scene.keep(**scene.model_changes(name, choices))
