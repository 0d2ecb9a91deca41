"""Whatever a visitor uploads: the right picture or one clear sentence, and a page that stays usable."""

from __future__ import annotations

import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.sources import linked_picture, uploads
from app.sources.images import EMPTY
from capsviz.data import DIGITS
from tests.app import pictures
from tests.app.conftest import Visit

FIRST = DIGITS.start
PNG = pictures.encoded(pictures.digit())


def upload(app: AppTest, content: bytes, name: str = "picture.png") -> AppTest:
    app.file_uploader(key="file").upload(name, content, "image/png").run()
    assert not app.exception
    assert len(app.get("plotly_chart")) > 3, "the page stays usable"
    return app


def captions(app: AppTest) -> str:
    return "\n".join(caption.value for caption in app.caption)


def test_the_pad_says_where_it_does_not_hold_what_is_on_stage(visit: Visit):
    app = visit(model="digits-dr", source="pad")
    assert "not what the pad holds" not in captions(app)
    drawing = uploads.receive("drawing", PNG)
    app.session_state["given-pad"] = drawing
    assert "not what the pad holds" in captions(app.run()), "Back has led to before the drawing"
    app.query_params["picture"] = link = linked_picture.written(torch.full((1, 28, 28), 9, dtype=torch.uint8))
    assert "not what the pad holds" in captions(app.run())
    app.session_state["originals"] = {link: (drawing, ())}
    assert "not what the pad holds" not in captions(app.run())


@pytest.fixture
def app(visit: Visit) -> AppTest:
    return visit(model="digits-dr", source="upload", details=1)


def test_before_a_picture_is_there_the_page_shows_one_of_the_data_set(app: AppTest):
    assert "Until a picture is here" in captions(app)
    assert any(f"Digits test image {FIRST}" in text.value for text in app.markdown)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "The file is empty (0 bytes): choose another one."),
        (b"Not a picture at all.", "This is not a picture that can be read: choose a file in PNG"),
        (PNG[: len(PNG) // 2], "The picture is truncated or damaged"),
        (PNG.ljust(6_000_000, b"\0"), "The file has more than 5 MB: make the picture smaller"),
        (
            pictures.enormous(),
            "The picture has more than 16 million pixels, or more than 20000 a side: make it smaller",
        ),
        (pictures.enormous(1, 15_000_000), "The picture has more than 16 million pixels, or more than 20000 a side"),
    ],
    ids=["empty", "text", "truncated", "heavy", "30000x30000", "1x15000000"],
)
def test_what_is_no_picture_gets_one_sentence(app: AppTest, content: bytes, sentence: str):
    upload(app, content)
    assert len(app.error) == 1
    assert app.error[0].value.startswith(sentence)
    assert app.error[0].value.count(". ") == 0


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (PNG, "scaled to"),
        (pictures.animated(), "The file holds several frames: the first one is used."),
        (pictures.sixteen_bit(), "The grey levels were scaled to 8 bits."),
        (pictures.transparent(), "Transparent parts were filled with white."),
        (pictures.turned(), "The picture was turned as its camera recorded."),
    ],
    ids=["plain", "animated", "16-bit", "alpha", "exif"],
)
def test_a_strange_picture_becomes_the_right_one_and_says_what_was_done(app: AppTest, content: bytes, note: str):
    upload(app, content)
    assert not app.error
    assert note in captions(app)
    assert any("your picture picture.png" in text.value for text in app.markdown)


def test_grey_noise_is_black_to_the_model_and_the_page_says_so_here_and_from_the_link(app: AppTest, visit: Visit):
    assert not app.warning
    upload(app, pictures.encoded(pictures.noise()))
    assert [warning.value for warning in app.warning] == [EMPTY]
    assert "Nothing stands out from its background" in captions(app)
    assert not app.session_state["shown"].trace.images.any()
    link = {key: value if isinstance(value, str) else value[0] for key, value in app.query_params.items()}
    assert [warning.value for warning in visit(**link).warning] == [EMPTY]
    upload(app, PNG)
    assert not app.warning


def test_back_from_a_file_that_is_no_picture_leads_to_the_picture_alone(app: AppTest):
    before = upload(app, PNG).query_params["picture"]
    assert upload(app, b"nothing").error
    app.query_params["picture"] = before
    app.run()
    assert not app.error and any("your picture picture.png" in text.value for text in app.markdown)


def test_an_uploaded_picture_stays_on_stage_on_the_other_pages(app: AppTest):
    upload(app, PNG)
    app.switch_page("views/compare.py").run()
    assert not app.exception
    assert any("your picture picture.png" in text.value for text in app.markdown)


def test_after_a_bad_picture_a_good_one_is_welcome(app: AppTest):
    upload(app, b"nothing")
    assert app.error
    upload(app, PNG, "second.png")
    assert not app.error
    assert any("your picture second.png" in text.value for text in app.markdown)


def test_a_link_shows_the_same_picture_where_nobody_uploaded_it(app: AppTest, visit: Visit):
    upload(app, PNG)
    link = {key: value if isinstance(value, str) else value[0] for key, value in app.query_params.items()}
    elsewhere = visit(**link)
    assert any("picture from the link" in text.value for text in elsewhere.markdown)
    assert elsewhere.session_state["shown"].trace.images.equal(app.session_state["shown"].trace.images)


def test_a_picture_that_is_taken_back_leaves_the_link(app: AppTest):
    upload(app, PNG)
    assert "picture" in app.query_params
    upload(app, b"nothing")
    assert "picture" not in app.query_params
    assert any(f"Digits test image {FIRST}" in text.value for text in app.markdown)


def test_another_source_leaves_the_link_without_the_picture_and_the_way_back_brings_it(app: AppTest):
    upload(app, PNG)
    picture = app.query_params["picture"]
    app.button_group(key="source").set_value("data").run()
    assert "picture" not in app.query_params
    app.button_group(key="source").set_value("upload").run()
    assert app.query_params["picture"] == picture
    assert any("your picture picture.png" in text.value for text in app.markdown)


def test_a_photograph_goes_the_same_way(visit: Visit):
    app = visit(model="digits-dr", source="camera")
    assert "Until a picture is here" in captions(app)
    app.camera_input(key="photo").set_value(
        ("photo.jpg", pictures.encoded(pictures.digit("RGB"), "JPEG"), "image/jpeg")
    )
    app.run()
    assert not app.exception
    assert any("your photograph" in text.value for text in app.markdown)
    assert set(app.query_params) == {"model", "source", "picture"}
    app.switch_page("views/compare.py").run()
    assert any("your photograph" in text.value for text in app.markdown)
