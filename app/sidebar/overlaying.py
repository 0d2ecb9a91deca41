"""Two images of a data set laid over one another by hand, chosen in the sidebar."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from app.page.text import plain
from app.page.widgets import chosen
from app.scene import Scene
from app.sidebar.thumbnails import data_images
from app.sources import browsing, images
from app.state.choices import Choices
from capsviz.data.multi import REACH


def show(scene: Scene) -> None:
    """Which two images, and how far apart: an example of each class to pick from, and other examples by number."""
    choices, entry = scene.choices, scene.entry
    name, split = images.data_of(choices, entry), images.split_of(choices, entry)
    _one("The first", "image", partial(images.index_of, entry=entry), choices, name, split)
    _one("Over it", "over", partial(images.over_of, entry=entry), choices, name, split)
    left, right = st.columns(2)
    with left:
        chosen(st.slider, "to the right, px", "right", choices.right, -2 * REACH, 2 * REACH)
    with right:
        chosen(st.slider, "down, px", "down", choices.down, -2 * REACH, 2 * REACH)


def _one(title: str, field: str, place: Callable[[Choices], int], choices: Choices, name: str, split: str) -> None:
    """place: of the image in the data set, under any choices."""
    of_class = [browsing.indices_of(name, split, label) for label in range(len(browsing.classes(name)))]

    def class_of(index: int) -> int:
        return next((label for label, places in enumerate(of_class) if index in places), 0)

    index = place(choices)
    label = class_of(index)
    example = of_class[label].index(index) if index in of_class[label] else 0
    row = [places[min(example, len(places) - 1)] for places in of_class]
    labels = dict(zip(row, data_images(name, split, tuple(row), browsing.known_by(name)), strict=True))

    def other(number: int, now: Choices) -> dict[str, object]:
        places = of_class[class_of(place(now))]
        return {field: places[min(number, len(places)) - 1]}

    chosen(
        st.pills,
        title,
        field,
        row[label],
        row,
        key=f"image_thumbs_{field}",
        required=True,
        format_func=labels.__getitem__,
    )
    chosen(
        st.number_input,
        f"{title}: example of class {plain(browsing.classes(name)[label])}",
        field,
        example + 1,
        1,
        len(of_class[label]),
        key=f"{field}-example",
        read=other,
    )
