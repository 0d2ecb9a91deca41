"""The sidebar: which model, which image."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app.page.text import plain, sentence
from app.page.widgets import chosen
from app.scene import TALK, Scene, SceneError, choices, keep, model_changes
from app.shared import resources
from app.sidebar import image_source, own_files, viewpoint
from app.state import session
from app.tours import talk
from app.tours.tour import MOST_STEPS
from capsviz import device
from capsviz.data import title_of
from capsviz.routing import ALGORITHMS
from capsviz.zoo import AtStep, Entry

TOURS, TRAINING = "tours", "training"
STILL = {
    "results": "Models and images are chosen on the other pages; what was measured is the same for all of them.",
    "mixtures": "Models and images are chosen on the other pages; here are points in the plane, and no network.",
    TOURS: "Models and images are chosen on the other pages, and each step of a tour brings its own.",
}
"""The pages that show no model and no image of the visitor's choice, and what the sidebar says there."""


def begin() -> None:
    """Its first line, sent ahead of the page, which then has its width from the start."""
    st.sidebar.html('<p class="brand">capsviz<span>capsules, routed in sight</span></p>')


def show(scene: Scene, here: str, pages: Mapping[str, StreamlitPage]) -> bool:
    """Draw the sidebar for what is on stage; whether the visitor asks to take something away.

    here: the page on which it stands, by its name in the link. pages: all of them.
    """
    wanted = here != TOURS and _actions(scene, here, pages)
    if here in STILL:
        st.caption(STILL[here])
        return wanted
    if here == TRAINING:
        st.caption("The network is the one that learns here; the image is of your choice.")
    else:
        _models(scene, here)
    own_files.show()
    image_source.show(scene)
    _preview(scene)
    viewpoint.sliders(scene)
    return wanted


def _actions(scene: Scene, here: str, pages: Mapping[str, StreamlitPage]) -> bool:
    with st.container(horizontal=True, key="actions"):
        st.button(
            "Present",
            icon=":material/slideshow:",
            key="present",
            on_click=lambda: keep(present=True),  # the boards may have told the link more since the sidebar ran
            help="Presenter mode: no sidebar, large type, keys (p; ? shows all keys).",
            width="stretch",
        )
        wanted = st.button(
            "Take away",
            icon=":material/download:",
            key="take_away",
            help="The page's figures as SVG, PNG, HTML and CSV, the trace, and the Python that records it again.",
            width="stretch",
        )
    full = talk.full(scene.choices)
    st.button(
        "Add this view",
        icon=":material/playlist_add:",
        key="add_view",
        on_click=partial(talk.add, here, pages[here].title + f": {scene.picture.title}" * (here not in STILL)),
        disabled=full,
        help=f"A talk has at most {MOST_STEPS} steps; take one out on the page Tours."
        if full
        else "What is on screen becomes a step of your own talk, which the page Tours edits, saves and presents.",
        width="stretch",
    )
    if talk.own(scene.choices):
        _own_talk(pages[TOURS])
        st.session_state[TALK] = True
    return wanted


@st.fragment(key=TALK)
def _own_talk(page: StreamlitPage) -> None:
    now = choices()
    if collected := talk.own(now):
        label = f"Your own talk: {len(collected.steps)} view{'s' * (len(collected.steps) != 1)}"
        st.page_link(page, label=label, query_params=session.to_query(now))


def _models(scene: Scene, here: str) -> None:
    """Which model; the algorithm is the one that the page runs, and another leads to the page that is about it."""
    entries = resources.entries()
    entry = scene.entry
    if entry.name not in entries:
        st.caption(
            f"{resources.ABSENT.format(name=plain(entry.name))}: {entry.method.title}, {entry.config.lower:,} capsules."
        )
        return
    with suppress(SceneError):  # the page says that it has no model
        running, _ = scene.on_page(here)
        entry = running if running.data == entry.data else entry
    about = {algorithm.page for algorithm in ALGORITHMS.values()}

    def leads(name: str) -> str | None:
        own = entries[name].config.algorithm.page
        return own if here in about and own != here else None

    offered = [other for other in resources.peers(entry).values() if other.data == entry.data]
    kinds = [_kind(other) for other in offered]
    sets = list(dict.fromkeys(entry.data for entry in entries.values()))
    chosen(
        st.selectbox,
        "Model trained on",
        "model",
        scene.entry.data,
        sets,
        key="model_data",
        format_func=title_of,
        read=lambda name, choices: model_changes(_first_of(name, scene.entry.routing), choices),
    )
    chosen(
        st.radio,
        "Algorithm, and its test error",
        "model",
        entry.name,
        [other.name for other in offered],
        format_func=lambda name: _label(entries[name], twin=kinds.count(_kind(entries[name])) > 1),
        read=model_changes,
        leads=leads,
        help="Another algorithm leads to the page that is about it." if here in about else None,
    )
    if steps := resources.steps(entry):
        chosen(
            st.select_slider,
            "Training so far",
            "model",
            entry.name,
            list(steps),
            key="so_far",
            format_func=lambda name: f"step {steps[name]}" if steps[name] < max(steps.values()) else "trained",
            read=model_changes,
            help=f"The network as it was early in the {max(steps.values()):,} steps of its training.",
        )
    st.caption(
        f"{plain(entry.name)}: {plain(entry.preset)}, {entry.parameters / 1e6:.1f} M weights, "
        f"tested on {entry.test_count:,} images; runs on {device.title(device.chosen())}"
    )
    if device.gave_up():
        st.caption(sentence(device.gave_up()))


def _kind(entry: Entry) -> str:
    return resources.kind(entry) + ", no decoder" * entry.classifies_alone


def _label(entry: Entry, *, twin: bool) -> str:
    """What a model is offered as; a twin by the same algorithm is told by its preset."""
    return f"{_kind(entry)}{f', {plain(entry.preset)}' if twin else ''} · {entry.test_error:.2f} %"


def _first_of(name: str, routing: str) -> str:
    """A model of another data set, by the same algorithm where there is one."""
    entries = [entry for entry in resources.entries().values() if entry.data == name and not isinstance(entry, AtStep)]
    return next((entry.name for entry in entries if entry.routing == routing), entries[0].name)


def _preview(scene: Scene) -> None:
    picture = scene.picture
    left, right = st.columns([1, 2], vertical_alignment="center")
    with left, st.container(key="preview"):
        st.image(picture.address, width=80, alt=picture.title)
    right.markdown(f"**On stage:** {plain(picture.title)}")
    for note in picture.notes:
        st.caption(sentence(note))
