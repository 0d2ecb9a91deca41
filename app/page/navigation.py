"""Which page an address opens, and the links to all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app import scene
from app.components import page_link
from app.components.address import address
from app.state import leaving, session
from capsviz.routing.discriminative import L2
from capsviz.routing.dynamic import DYNAMIC
from capsviz.routing.em import EM

START = session.START["page"]
VIEWS = Path(__file__).resolve().parents[1] / "views"
FIRST_LAB = DYNAMIC.page
"""What the empty address opened before there was a start page, and opens still where the link holds a choice."""
PAGES = {
    "start": ("Start", "home"),
    FIRST_LAB: (DYNAMIC.title, "route"),
    EM.page: ("EM", "bubble_chart"),
    L2.page: ("L2 / L1", "balance"),
    "perturb": ("Perturb", "tune"),
    "compare": ("Compare", "compare"),
    "results": ("Results", "table_chart"),
    "basics": ("Basics", "category"),
    "mixtures": ("Mixtures", "scatter_plot"),
    "viewpoint": ("Viewpoint", "3d_rotation"),
    "training": ("Training", "model_training"),
    "tours": ("Tours", "co_present"),
}
"""Title and icon of every page by its name in the address, in the order that their keys follow, from 0 on."""
WITHOUT_KEY = ("training", "tours")
"""The pages that come after those with digits."""


@dataclass(frozen=True)
class Opened:
    """The page that is open.

    page: as it was opened, perhaps at the address without a name. named: itself, or the one of the same script that
    has a name.
    """

    page: StreamlitPage
    named: StreamlitPage

    def link(self, target: StreamlitPage, query: dict[str, str]) -> tuple[StreamlitPage, dict[str, str]]:
        """Where a link to a page leads; to the open one, as it was opened."""
        if target is not self.named:
            return target, query
        unnamed = self.page is not target and target.url_path == START
        return self.page, st.query_params.to_dict() if unnamed else query


@cache
def _page(name: str) -> StreamlitPage:
    title, icon = PAGES[name]
    return st.Page(VIEWS / f"{name}.py", title=title, icon=f":material/{icon}:", url_path=name)


@cache
def _bare(name: str) -> StreamlitPage:
    """A page at the address without a name."""
    path = VIEWS / f"{name}.py"
    return st.Page(path, title=PAGES[name][0], url_path="bare", default=True, visibility="hidden")


def pages() -> list[StreamlitPage]:
    """The pages for one run of the script, which notes in them what it opens; what a page is, is found out once."""
    return [copy(_page(name)) for name in PAGES]


def open_page(pages: Sequence[StreamlitPage]) -> Opened:
    """The page of the address.

    The one without a name is the start page; with choices that were not made there it is Dynamic routing, which was
    there before.
    """
    named = st.session_state["pages"] = {page.url_path: page for page in pages}
    starts = session.opens_start(st.query_params)
    first = named[START if starts else FIRST_LAB]
    bare = copy(_bare(first.url_path))
    page = st.navigation([*pages, bare], position="hidden")
    session.mark(session.START if page is bare and starts else {})
    opened = Opened(page, first if page is bare else page)
    leaving.arrived(opened.named.url_path)
    return opened


def named() -> Mapping[str, StreamlitPage]:
    """The pages by their names in the address."""
    return st.session_state["pages"]


@st.fragment(key=page_link.WHERE)
def links(here: Opened, pages: Sequence[StreamlitPage]) -> None:
    """The pages; a link carries the choices along, in this window and in another."""
    query = session.to_query(scene.choices())
    with st.container(horizontal=True, key="pages"):
        for number, target in enumerate(pages):
            page, carried = here.link(target, query)
            label = target.title if target.url_path in WITHOUT_KEY else f"{number} {target.title}"
            st.page_link(page, label=label, query_params=carried)
    address(key="address")
    page_link.show(named())
