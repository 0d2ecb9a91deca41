"""A page that is left for another in Chromium: what its components would still tell does not lead back to it."""

from __future__ import annotations

import pytest

from tests.browser.api import sync_api
from tests.browser.visitor import LED, Connection, Visitor

RESIZED = 400
"""Milliseconds by which the page has told the size of its window."""
AT_REST = 490
"""Milliseconds after a step of a player at which its board is about to tell where it was left."""
COMPARE = "document.querySelector('.st-key-pages a[href*=compare]').click()"
BACK = f"({LED})('/compare?model=digits-dr&present=1')"
"""As the browser's Back, at once."""


def test_a_board_left_in_a_hurry_keeps_nobody_from_the_next_page(visitor: Visitor):
    visitor.open("compare?model=digits-dr")
    visitor.follow("/?model=digits-dr")
    step = "dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }))"
    visitor.window.evaluate(f"() => {{ document.body.{step}; setTimeout(() => {{ {COMPARE}; }}, {AT_REST}); }}")
    sync_api.expect(visitor.window.locator("h2")).to_have_text("Compare")
    visitor.settle()
    assert visitor.window.url == f"{visitor.address}/compare?model=digits-dr"
    visitor.press("]")  # and this page is heard
    visitor.eventually(lambda: "image=" in visitor.query(), "the next image in the link")
    visitor.follow("/?model=digits-dr")
    visitor.window.keyboard.press("ArrowLeft")
    visitor.eventually(lambda: "frame=" in visitor.query(), "the frame in the link of a page that is not left")


@pytest.mark.parametrize("way", [COMPARE, BACK], ids=["link", "back"])
def test_a_window_of_another_size_keeps_nobody_from_the_next_page(visitor: Visitor, way: str):
    line = Connection(visitor.window)
    visitor.open("compare?model=digits-dr&present=1")
    small = visitor.window.locator(".js-plotly-plot").first.evaluate("plot => plot.layout.font.size")
    visitor.follow("/?model=digits-dr&present=1")
    with line.slow():
        visitor.window.evaluate(f"() => addEventListener('resize', () => {{ {way}; }}, {{ once: true }})")
        visitor.window.set_viewport_size({"width": 1920, "height": 1080})
        visitor.window.wait_for_timeout(RESIZED)
    sync_api.expect(visitor.window.locator("h2")).to_have_text("Compare")
    visitor.settle()
    assert visitor.window.url == f"{visitor.address}/compare?model=digits-dr&present=1"
    plot = visitor.window.locator('[data-stale="false"] .js-plotly-plot').first
    visitor.eventually(lambda: plot.evaluate("plot => plot.layout.font.size") > small, "larger type on a larger screen")
