"""The image on stage is turned, shifted, scaled, sheared and brightened on every page, and in every link."""

from __future__ import annotations

import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.page.text import plain as plain_text
from app.shared import resources
from app.sources import browsing, linked_picture
from capsviz import data
from capsviz.boards.message import Message
from capsviz.data import Viewpoint
from capsviz.figures.picture import png
from tests.app.conftest import Visit
from tests.app.page.test_takeaway import assert_equal, opened, recorded
from tests.app.reading import board, boards

LINK = "rotation_-30_scale_1.2_brightness_0.7"
SEEN = Viewpoint(rotation=-30.0, scale=1.2, brightness=0.7)


def plain(index: int = 7) -> torch.Tensor:
    return browsing.image_set("digits", "test").images[index]


def on_stage(app: AppTest) -> torch.Tensor:
    """The image that the page's trace is of."""
    return app.session_state["shown"].trace.images[0]


def preview(app: AppTest) -> str:
    """The picture on stage, as the sidebar shows it."""
    [image] = app.sidebar.get("image")
    return image.value[0]


def address(pixels: torch.Tensor) -> str:
    return png(pixels.expand(3, -1, -1).permute(1, 2, 0).numpy())


def image_of(board: Message) -> torch.Tensor:
    """The pixels that a routing board was given."""
    return torch.tensor(board.arrays["image"]).flatten()


@pytest.mark.parametrize("page", ["dynamic", "em", "discriminative", "perturb", "compare"])
def test_every_page_shows_the_image_from_the_viewpoint_of_the_link(visit: Visit, page: str):
    app = visit(page, model="digits-dr", image=7, viewpoint=LINK)
    torch.testing.assert_close(on_stage(app), data.to_float(SEEN(plain())), rtol=0, atol=0)
    assert preview(app) == address(SEEN(plain()))
    said = "\n".join(each.value for each in app.markdown)
    assert f"Digits test image 7, class {browsing.image('digits', 'test', 7)[1][0]}, {SEEN}" in said
    assert all(f"viewpoint={LINK}" in link.proto.query_string for link in app.get("page_link"))
    assert app.slider(key="viewpoint_rotation").value == -30.0
    assert not app.warning


def test_the_numbers_are_those_of_the_image_that_is_shown(visit: Visit):
    app = visit("dynamic", model="digits-dr", image=7, viewpoint=LINK)
    expected = resources.trace("digits-dr", SEEN(plain()).numpy().tobytes(), 3)
    shown = app.session_state["shown"].trace
    torch.testing.assert_close(shown.activations, expected.activations, rtol=0, atol=0)
    seen = data.to_float(SEEN(plain())).flatten()
    torch.testing.assert_close(image_of(board(app)), seen, rtol=0, atol=1e-3)


def test_a_slider_moves_the_image_and_the_links_and_as_it_is_takes_them_back(visit: Visit):
    app = visit("dynamic", model="digits-dr", image=7)
    assert torch.equal(on_stage(app), data.to_float(plain()))
    app.slider(key="viewpoint_right").set_value(3.0).run()
    app.slider(key="viewpoint_shear").set_value(10.0).run()
    assert app.query_params["viewpoint"] == "right_3_shear_10"
    assert preview(app) == address(Viewpoint(right=3.0, shear=10.0)(plain()))
    assert app.query_params["image"] == "7", "it is still the same image"
    app.button(key="viewpoint_reset").click().run()
    assert "viewpoint" not in app.query_params
    assert torch.equal(on_stage(app), data.to_float(plain()))
    assert app.button(key="viewpoint_reset").disabled


def test_another_image_is_seen_from_the_same_viewpoint(visit: Visit):
    app = visit("dynamic", model="digits-dr", image=7, viewpoint=LINK)
    [thumbs] = [group for group in app.get("button_group") if group.key == "image_thumbs"]
    thumbs.set_value(9).run()
    assert app.query_params["image"] == "9"
    assert preview(app) == address(SEEN(plain(9)))


def test_the_image_that_is_put_beside_it_stays_as_it_is(visit: Visit):
    app = visit("dynamic", model="digits-dr", image=7, viewpoint=LINK, second="image", image2=7)
    for shown, expected in zip(boards(app), (SEEN(plain()), plain()), strict=True):
        torch.testing.assert_close(image_of(shown), data.to_float(expected).flatten(), rtol=0, atol=1e-3)


def test_the_lines_and_the_file_of_take_away_say_the_viewpoint(visit: Visit):
    app = visit("dynamic", model="digits-dr", image=11, viewpoint=LINK)
    code = opened(app).code[0].value
    assert "capsviz.data.Viewpoint(rotation=-30.0, scale=1.2, brightness=0.7)" in code
    assert_equal(recorded(code), resources.trace("digits-dr", SEEN(plain(11)).numpy().tobytes(), 3))
    name = plain_text(f"digits-dr-digits-test-image-11-{LINK}.safetensors")
    assert name in [button.proto.help for button in app.get("download_button")][-1]


def test_records_of_the_test_images_are_not_told_of_a_turned_one(visit: Visit):
    """What is measured of the image on stage is measured of what is on stage, not read from the record of the image."""
    marks = []
    for query in ({}, {"viewpoint": LINK}):
        app = visit("compare", model="digits-dr", image=7, view="distributions", **query)
        said = "\n".join(each.value for each in app.caption)
        assert (f"measured as they are, without {SEEN}" in said) == bool(query)
        marks.append([chart.proto.spec for chart in app.get("plotly_chart")][-1])
    assert marks[0] != marks[1]


def test_a_picture_that_left_the_canvas_is_said_to_have(visit: Visit):
    dot = torch.zeros(1, 28, 28, dtype=torch.uint8)
    dot[0, 0, 0] = 255
    picture = linked_picture.written(dot)
    app = visit("dynamic", model="digits-dr", source="pad", picture=picture, viewpoint="right_-8")
    assert ["nothing of the picture is left" in warning.value for warning in app.warning] == [True]
