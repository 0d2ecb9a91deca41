"""What arrives from the drawing pad, without a browser."""

from __future__ import annotations

import base64
from unittest.mock import Mock

import pytest
from PIL import Image, ImageDraw
from streamlit.testing.v1 import AppTest

from app.components import drawing_pad
from app.components.drawing_pad import received
from capsviz.data import ImageError, prepare, read_image
from tests.app.pictures import encoded


def drawing(*line: int) -> bytes:
    """A white line on black, as the pad sends it."""
    picture = Image.new("L", (280, 280))
    ImageDraw.Draw(picture).line(line, fill=255, width=20)
    return encoded(picture)


def test_the_png_arrives_as_it_was_sent():
    png = drawing(30, 30, 30, 130)
    assert received({"png": base64.b64encode(png).decode(), "version": 1}) == png


@pytest.mark.parametrize("state", [None, {}, {"png": None, "version": 1}, "drawing", 3])
def test_an_empty_pad_is_none(state):
    assert received(state) is None


@pytest.mark.parametrize("png", ["no base64!", "iVBOR", "é", 7, ["aGk="], {}])
def test_what_is_no_drawing_is_refused_in_one_sentence(png):
    with pytest.raises(ImageError, match="did not arrive whole: draw another stroke"):
        received({"png": png})


def test_what_is_drawn_small_in_a_corner_comes_to_the_middle_as_large_as_mnist_digits():
    prepared = prepare(read_image(drawing(30, 20, 30, 120)), (1, 28, 28), layout="digit", invert=False)
    rows = prepared.pixels[0].amax(dim=1).nonzero().flatten()
    columns = prepared.pixels[0].amax(dim=0).nonzero().flatten()
    assert (int(rows[0]), int(rows[-1])) == (4, 23)
    assert 12 <= float(columns.float().mean()) <= 15
    assert not prepared.inverted


def test_a_page_with_the_pad_starts_with_nothing_drawn():
    def page():
        import streamlit as st

        from app.components.drawing_pad import drawing_pad, drawn

        drawing_pad(key="pad", on_change=lambda: None)
        st.text(f"{drawn('pad')!r} {drawn('elsewhere')!r}")

    test = AppTest.from_function(page).run(timeout=60)
    assert not test.exception
    assert test.text[0].value == "None None"


def test_a_drawing_that_came_damaged_does_not_take_the_page_along(monkeypatch: pytest.MonkeyPatch):
    def page():
        import streamlit as st

        from app.components.drawing_pad import drawing_pad

        st.session_state["pad"] = {"drawing": {"png": "no base64!", "version": 4}}
        drawing_pad(key="pad", on_change=lambda: None)
        st.text("below")

    mounted = Mock()
    monkeypatch.setattr(drawing_pad, "built", lambda name, **_: mounted)
    test = AppTest.from_function(page).run(timeout=60)
    assert not test.exception and test.text[0].value == "below"
    assert mounted.call_args.kwargs["data"] == {"pad": "pad", "version": 4}
