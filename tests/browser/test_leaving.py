"""A page that is left for another in Chromium: what its components would still tell does not lead back to it."""

from __future__ import annotations

import pytest

from tests.browser.api import sync_api
from tests.browser.visitor import LED, PATIENT, Connection, Visitor

RESIZED = 400
"""Milliseconds by which the page has told the size of its window."""
AT_REST = 490
"""Milliseconds after a step of a player at which its board is about to tell where it was left."""
COMPARE = "document.querySelector('.st-key-pages a[href*=compare]').click()"
BACK = f"({LED})('/compare?model=digits-dr&present=1')"
"""As the browser's Back, at once."""


@pytest.mark.parametrize("way", [COMPARE, BACK], ids=["link", "back"])
def test_a_board_left_in_a_hurry_keeps_nobody_from_the_next_page(visitor: Visitor, way: str):
    visitor.open("compare?model=digits-dr")
    visitor.follow("/?model=digits-dr")
    if way == COMPARE:
        visitor.window.evaluate(PATIENT)
    step = "dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }))"
    visitor.window.evaluate(f"() => {{ setTimeout(() => {{ {way}; }}, {AT_REST}); document.body.{step}; }}")
    sync_api.expect(visitor.window.locator("h2")).to_have_text("Compare")
    visitor.settle()
    assert "/compare?" in visitor.window.url
    assert ("frame=" in visitor.query()) == (way == COMPARE), "a link waits for what is about to be told"
    visitor.press("]")  # and this page is heard
    visitor.eventually(lambda: "image=" in visitor.query(), "the next image in the link")
    visitor.follow("/?model=digits-dr")
    visitor.window.keyboard.press("ArrowLeft")
    visitor.eventually(lambda: "frame=" in visitor.query(), "the frame in the link of a page that is not left")


@pytest.mark.parametrize("way", [COMPARE, BACK], ids=["link", "back"])
def test_a_window_of_another_size_keeps_nobody_from_the_next_page(visitor: Visitor, way: str):
    line = Connection(visitor.window)
    visitor.open("compare?model=digits-dr&present=1")
    small = visitor.window.locator(".js-plotly-plot:has(.main-svg)").first.evaluate("plot => plot.layout.font.size")
    visitor.follow("/?model=digits-dr&present=1")
    with line.slow():
        visitor.window.evaluate(f"() => addEventListener('resize', () => {{ {way}; }}, {{ once: true }})")
        visitor.window.set_viewport_size({"width": 1920, "height": 1080})
        visitor.window.wait_for_timeout(RESIZED)
    sync_api.expect(visitor.window.locator("h2")).to_have_text("Compare")
    visitor.settle()
    assert visitor.window.url == f"{visitor.address}/compare?model=digits-dr&present=1"
    plot = visitor.window.locator('[data-stale="false"] .js-plotly-plot:has(.main-svg)').first
    visitor.eventually(lambda: plot.evaluate("plot => plot.layout.font.size") > small, "larger type on a larger screen")


def leave_at_once(visitor: Visitor, title: str) -> None:
    """Follow the link to a page without waiting for anything, and stand there."""
    visitor.window.locator(".st-key-pages a", has_text=title).click()
    sync_api.expect(visitor.window.locator("h2")).to_have_text(title)
    visitor.settle()
    assert f"/{title.lower()}?" in visitor.window.url


def test_a_caption_that_is_left_by_a_link_goes_along_and_back_leads_to_it(visitor: Visitor):
    visitor.open("results?model=digits-dr")
    visitor.window.get_by_role("button", name="Add this view").click()
    visitor.eventually(lambda: "talk=" in visitor.query(), "the talk in the link")
    visitor.settle()
    visitor.window.get_by_role("link", name="Tours").click()
    caption = visitor.window.get_by_label("Caption: Markdown")
    visitor.window.evaluate(PATIENT)
    for said in ("Said in a hurry.", "Said once more."):
        before = visitor.query()
        caption.fill(said)
        leave_at_once(visitor, "Basics")
        assert visitor.query() != before, "the link has the talk with the caption"
        visitor.window.go_back()
        sync_api.expect(visitor.window.locator("h2")).to_have_text("Tours")
        sync_api.expect(caption).to_have_value(said)
        visitor.window.wait_for_timeout(1500)  # in which the page asks again where it and its address differ
        sync_api.expect(caption).to_have_value(said)


def test_a_half_step_that_is_left_by_a_link_is_there_again(visitor: Visitor):
    visitor.open("mixtures?model=digits-dr")
    frame = visitor.window.locator(".mixture output.frame")
    visitor.window.evaluate(PATIENT)
    visitor.press("Home")
    leave_at_once(visitor, "Basics")
    visitor.window.go_back()
    sync_api.expect(frame).to_have_text("the start")
    visitor.settle()
    assert "frame=0" in visitor.query()


def test_a_stroke_that_is_left_by_a_link_goes_along(visitor: Visitor):
    visitor.open("dynamic?model=digits-dr&source=pad")
    pad = visitor.window.locator(".pad canvas")
    visitor.window.evaluate(PATIENT)

    def stroke(across: float) -> None:
        box = visitor.box(pad)
        visitor.drag(box["x"] + across * box["width"], box["y"] + 0.2 * box["height"], 0, 0.6 * box["height"])

    stroke(0.4)
    visitor.eventually(lambda: "picture=" in visitor.query(), "the drawing in the link")
    visitor.settle()
    one = visitor.query()
    stroke(0.7)
    leave_at_once(visitor, "Basics")
    two = visitor.query()
    assert two != one
    visitor.window.go_back()
    sync_api.expect(visitor.window.locator("h2")).to_have_text("Dynamic routing")
    visitor.settle()
    assert visitor.query() == two
