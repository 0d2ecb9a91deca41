"""What a board tells a moment after the hand has left it belongs to the view on which the hand moved."""

from __future__ import annotations

import pytest

from tests.browser.api import sync_api
from tests.browser.visitor import Visitor

TOLD = 2000
"""Milliseconds by which every board has told where it was left, and Python has heard it."""


def test_an_amount_of_one_change_is_not_taken_for_one_of_the_next(visitor: Visitor):
    visitor.open("viewpoint?model=digits-dr&image=3&change=right")
    visitor.press("Home")
    visitor.window.get_by_role("radio").filter(has_text="down").first.click()
    visitor.eventually(lambda: "change=down" in visitor.query(), "the other change")
    visitor.window.wait_for_timeout(TOLD)
    visitor.settle()
    assert "down_" not in visitor.query()
    sync_api.expect(visitor.window.locator("output.frame")).to_have_text("0 px")


@pytest.mark.parametrize(
    ("page", "slider"),
    [
        ("basics?model=digits-dr&exhibit=loss", ".basics.margin td input"),
        ("perturb?model=digits-dr", ".live-decoder input[type=range]"),
    ],
)
def test_what_is_moved_on_one_image_says_nothing_of_the_next(visitor: Visitor, page: str, slider: str):
    visitor.open(f"{page}&image=3")
    moved = visitor.window.locator(slider).first
    before = moved.input_value()
    left = moved.evaluate(
        "slider => { slider.stepUp(3); for (const what of ['input', 'change'])"
        " slider.dispatchEvent(new Event(what, { bubbles: true }));"
        " slider.dispatchEvent(new KeyboardEvent('keydown', { key: ']', bubbles: true, composed: true }));"
        " return slider.value; }"
    )  # at once: where the hand rests for a moment, what it moved is told
    assert left != before
    visitor.eventually(lambda: "image=4" in visitor.query(), "the next image")
    visitor.window.wait_for_timeout(TOLD)
    visitor.settle()
    assert sorted(visitor.query().split("&")) == sorted(f"{page.partition('?')[2]}&image=4".split("&"))
