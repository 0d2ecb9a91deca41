"""What Streamlit runs for each visitor at each action: the choices are read, a page is shown."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

from app import startup

startup.wait()
from app import layout, presenter, scene, sidebar, takeaway, text  # noqa: E402
from app.components.address import address  # noqa: E402
from app.state import session  # noqa: E402
from app.tours import notes, path, stage  # noqa: E402
from capsviz import zoo  # noqa: E402

st.set_page_config(
    page_title="capsviz",
    page_icon=str(Path(__file__).with_name("icon.svg")),  # a named icon would be fetched from another host
    layout="wide",
    menu_items={
        "About": "capsviz: capsule routing, made visible. Everything on screen is computed from trained weights."
    },
)
st.html(layout.STYLE)

first = partial(st.Page, "views/dynamic.py", title="Dynamic routing", icon=":material/route:")
PAGES = [
    first(url_path="first", default=True),
    st.Page("views/em.py", title="EM", icon=":material/bubble_chart:", url_path="em"),
    st.Page("views/discriminative.py", title="L2 / L1", icon=":material/balance:", url_path="discriminative"),
    st.Page("views/perturb.py", title="Perturb", icon=":material/tune:", url_path="perturb"),
    st.Page("views/compare.py", title="Compare", icon=":material/compare:", url_path="compare"),
    st.Page("views/results.py", title="Results", icon=":material/table_chart:", url_path="results"),
    st.Page("views/basics.py", title="Basics", icon=":material/category:", url_path="basics"),
    st.Page("views/mixtures.py", title="Mixtures", icon=":material/scatter_plot:", url_path="mixtures"),
    st.Page("views/tours.py", title="Tours", icon=":material/co_present:", url_path="tours"),
]
by_name = first(url_path="dynamic", visibility="hidden")  # the first page has the empty address, and this one as well
page = st.navigation([*PAGES, by_name], position="hidden")
if page.url_path == by_name.url_path:
    PAGES[0] = page


@st.fragment(key="links")
def links() -> None:
    """The pages; a link carries the choices along, in this window and in another."""
    query = session.to_query(scene.choices())
    with st.container(horizontal=True, key="pages"):
        for number, target in enumerate(PAGES, start=1):
            st.page_link(target, label=f"{number} {target.title}", query_params=query)
    address(key="address")


with layout.errors_as_sentences():
    version = zoo.version()
    path.remember(page.url_path or by_name.url_path)
    presenter.listen()
    links()
    current = scene.current()  # where this fails, keys and links lead on
    with st.sidebar:
        named = {target.url_path or by_name.url_path: target for target in PAGES}
        take_away = sidebar.show(current, page.url_path or by_name.url_path, named)
    for notice in current.notices:
        st.warning(text.sentence(notice), icon=":material/link_off:")
    takeaway.begin()
    if notes.wanted(current.choices):
        notes.show(current.choices)
    else:
        with layout.errors_as_sentences():
            stage.show(current.choices, page.url_path or by_name.url_path, dark=current.dark)
        page.run()
    if take_away:
        takeaway.take_away(current)
    if zoo.version() != version:  # a page of two zoos: its pictures may be those of one, its decoder of the other
        st.rerun()
