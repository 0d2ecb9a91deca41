"""The viewpoint's sliders move the whole page: image, numbers, pictures and every link."""

from __future__ import annotations

import pytest

from tests.browser.api import sync_api
from tests.browser.test_whole_page import Act, Pair, pair, two  # noqa: F401  (fixtures)
from tests.browser.visitor import Visitor


def slider(name: str, pressed: str) -> Act:
    """A key on a slider of the sidebar."""
    return lambda visitor: visitor.window.get_by_role("slider", name=name).press(pressed)


def as_it_is(visitor: Visitor) -> None:
    """The way back."""
    visitor.window.get_by_role("button", name="As it is").click()


@pytest.mark.parametrize("page", ["dynamic", "perturb"])
def test_a_slider_of_the_viewpoint_changes_the_whole_page(pair: Pair, page: str):  # noqa: F811
    pair.open(f"{page}?model=digits-dr&image=7&viewpoint=rotation_29")
    pair.do(slider("Rotation", "ArrowRight"), "viewpoint=rotation_30")
    pair.do(slider("Shift down", "ArrowLeft"), "viewpoint=rotation_30_down_-1")
    pair.do(as_it_is, "-viewpoint=")


def test_what_stands_on_the_page_is_the_turned_image(visitor: Visitor):
    visitor.open("dynamic?model=digits-dr&image=7")
    window = visitor.window
    sync_api.expect(window.get_by_role("slider", name="Rotation")).to_be_hidden()
    window.locator(".st-key-viewpoint summary").click()
    picture = window.locator(".st-key-preview img")
    before = picture.get_attribute("src"), visitor.figure("strip"), visitor.board()
    slider("Rotation", "End")(visitor)
    visitor.eventually(lambda: "viewpoint=rotation_60" in visitor.query(), "60 degrees in the link")
    visitor.settle()
    visitor.eventually(lambda: visitor.board() != before[2], "another image on the board")
    visitor.eventually(lambda: picture.get_attribute("src") != before[0], "another picture")
    visitor.eventually(lambda: visitor.figure("strip") != before[1], "another strip")
    sync_api.expect(window.get_by_text("rotation 60°").first).to_be_visible()
    window.go_back()
    visitor.eventually(lambda: "viewpoint" not in visitor.query(), "the image as it was")
    visitor.eventually(lambda: picture.get_attribute("src") == before[0], "its picture")
