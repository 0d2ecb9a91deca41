"""The images of a data set, or of a model's own decoder, to choose from in the sidebar."""

from __future__ import annotations

import base64
import io
import random
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from torch import Tensor

from app.page import widgets
from app.page.text import plain
from app.scene import Scene, choices, keep
from app.shared import resources
from app.shared.caching import of_zoo
from app.sources import browsing, images, trace_sets
from app.sources.linked_picture import as_image
from app.state.choices import Choices
from capsviz.zoo import Entry

PER_PAGE = 15


def show(scene: Scene) -> None:
    """The images of the source, a class of them or all, a page at a time."""
    choices, entry = scene.choices, scene.entry
    places = images.listing(choices, entry)
    classes, only = images.classes_of(choices, entry), images.only_of(choices, entry)
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        widgets.chosen(
            st.selectbox,
            "Show class",
            "only",
            -1 if only is None else only,
            range(-1, len(classes)),
            format_func=lambda label: "all" if label < 0 else classes[label],
            read=lambda label, now: _class_changes(None if label < 0 else label, now, _now_on_stage(scene, now)),
        )
    with right:
        st.button(
            "Random",
            icon=":material/casino:",
            width="stretch",
            key="random",
            disabled=not places,
            on_click=lambda: _at_random(scene),
        )
    index = images.index_of(choices, entry)
    position = places.index(index) if index in places else 0
    pages = max(1, -(-len(places) // PER_PAGE))
    page = _page(position // PER_PAGE, pages, choices)
    shown = _thumbnails(scene, places[page * PER_PAGE : (page + 1) * PER_PAGE])
    widgets.chosen(
        st.pills,
        "Images",
        "image",
        index if index in shown else None,
        list(shown),
        key="image_thumbs",
        format_func=shown.__getitem__,
        label_visibility="collapsed",
        read=lambda picked, now: {"image": picked} if picked is not None and _offered(now) == _offered(choices) else {},
    )
    st.pagination(pages, default=page + 1, max_visible_pages=3, key=widgets.key_of("thumbs_page"))


def _page(default: int, pages: int, choices: Choices) -> int:
    """The page of thumbnails: the one that holds the image, until the visitor leafs on."""
    # What is browsed is no choice that a link must carry, so it lives in the session alone.
    browsed = (choices.model, *_offered(choices), choices.only, choices.image)
    if st.session_state.get("browsed") != browsed or not 1 <= (widgets.shown("thumbs_page") or 0) <= pages:
        st.session_state["browsed"] = browsed
        widgets.place("thumbs_page", default + 1)
        return default
    return widgets.shown("thumbs_page") - 1


def _offered(choices: Choices) -> tuple[str, ...]:
    """What the images to choose from are of: with another, a place among them is that of another image."""
    model = resources.entries()[choices.model]
    return (model.data, choices.source, choices.data, choices.split, choices.recording)


def _at_random(scene: Scene) -> None:
    """Any of the images that are browsed now, which may be others than those that are drawn."""
    now = choices()
    if places := images.listing(now, _now_on_stage(scene, now)):
        keep(image=random.choice(places))


def _now_on_stage(scene: Scene, now: Choices) -> Entry:
    """The model on stage once another may have been chosen; it may be the network of a recording."""
    return scene.entry if now.model == scene.choices.model else resources.entries()[now.model]


def _class_changes(label: int | None, choices: Choices, entry: Entry) -> dict[str, object]:
    """Another class to browse; the image on stage stays where it is of that class."""
    places, index = images.listing(replace(choices, only=label), entry), images.index_of(choices, entry)
    return {"only": label, "image": index if index in places or not places else places[0]}


def _thumbnails(scene: Scene, places: Sequence[int]) -> dict[int, str]:
    """The images at some places, each as the label of a widget."""
    choices, entry = scene.choices, scene.entry
    source = images.source_of(choices, entry)
    if source == "generated":
        return {place: as_markdown(*_generated(entry.name, place)) for place in places}
    if source == "recorded":
        name = trace_sets.chosen(choices.recording)
        pictures = {place: images.recorded(name, place, entry) for place in places}
        return {place: as_markdown(picture.title, _png(picture.pixels)) for place, picture in pictures.items()}
    name, split = images.data_of(choices, entry), images.split_of(choices, entry)
    return dict(zip(places, data_images(name, split, tuple(places), browsing.known_by(name)), strict=True))


@st.cache_data(show_spinner=False, max_entries=200)
def data_images(name: str, split: str, indices: tuple[int, ...], state: tuple[int, ...]) -> list[str]:
    """Images of a data set, each as the label of a widget; state: what they are `browsing.known_by`."""
    labels = []
    for index in indices:
        pixels, classes = browsing.image(name, split, index)
        labels.append(as_markdown(f"image {index}, {images.kinds(classes, browsing.classes(name))}", _png(pixels)))
    return labels


@of_zoo(most=500)
def _generated(model: str, index: int) -> tuple[str, bytes]:
    picture = images.generated(resources.entries()[model], index)
    return picture.title, _png(picture.pixels)


def _png(pixels: Tensor) -> bytes:
    file = io.BytesIO()
    as_image(pixels).save(file, format="PNG")
    return file.getvalue()


def as_markdown(title: str, png: bytes) -> str:
    """A picture as the label of a widget."""
    return f"![{plain(title)}](data:image/png;base64,{base64.b64encode(png).decode('ascii')})"
