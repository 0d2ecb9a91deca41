"""What stands below a board keeps its place while the board comes, and while it plays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.api import sync_api
from tests.browser.test_whole_page import drag_a_vote
from tests.browser.visitor import Visitor

WATCH = """
window.heights = [];
(function look() {
  const keys = [
    ...['board', 'maps-', 'sweep-'].map((key) => `[class*="st-key-${key}"]`), '.st-key-routing-toy', '.st-key-live'
  ];
  const at = document.querySelector(keys.join());
  const below = document.querySelector(".st-key-numbers, .st-key-explanation");
  // Streamlit loads the part of itself that brings our style as it loads all others; until then nothing has its place.
  const styled = at && getComputedStyle(at, "::before").height !== "auto";
  if (styled && below) window.heights.push(at.getBoundingClientRect().height);
  requestAnimationFrame(look);
})();
"""
BOARDS = (
    "?",
    "em?",
    "?lab=toy&",
    "discriminative?",
    "discriminative?part=coefficients&",
    "discriminative?part=history&",
    "perturb?",
    "perturb?hand=cells&",
    "viewpoint?",
)
DRAWN = (
    "section.routing[data-frame], section.capsule-maps[data-ready], section.toy canvas, "
    ".live-decoder[data-ready='true'], .sweep[data-ready]"
)
NEAR = 60
"""Pixels by which what stands below a board may move when the board comes; it was 1100."""


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_the_place_of_a_board_is_kept_from_the_start(
    open_window: Callable[..., sync_api.Page], address: str, width: int, height: int
):
    window = open_window(viewport={"width": width, "height": height})
    window.add_init_script(WATCH)
    visitor, moved = Visitor(window, address), {}
    for board in BOARDS:
        window.goto(f"{address}/{board}model=digits-{'em' if board[:2] == 'em' else 'l2' if 'part' in board else 'dr'}")
        visitor.settle()
        window.locator(DRAWN).first.wait_for()
        window.wait_for_timeout(1000)
        heights = window.evaluate("window.heights")
        assert heights[-1] > 250
        moved[board] = max(heights) - min(heights)
    visitor.leave()
    assert {board: by for board, by in moved.items() if by > NEAR} == {}


PLACES = (
    "() => [...document.querySelectorAll('[data-testid=stMain] .stElementContainer')]"
    ".flatMap((at) => { const box = at.getBoundingClientRect(); return [box.top, box.height]; })"
)


def test_the_first_drag_of_the_toy_moves_no_part_of_the_page(visitor: Visitor):
    visitor.open("?model=digits-dr&lab=toy")
    visitor.window.locator(DRAWN).first.wait_for()
    visitor.still()
    before = visitor.window.evaluate(PLACES)
    drag_a_vote(visitor)
    assert visitor.window.evaluate(PLACES) == pytest.approx(before, abs=1)
    visitor.eventually(lambda: "toy=" in visitor.query(), "the vote in the link")
    visitor.settle()
    visitor.still()
    assert visitor.window.evaluate(PLACES) == pytest.approx(before, abs=1)


def test_while_a_board_plays_nothing_on_the_page_moves(moving: Visitor):
    for page in (
        "?model=digits-dr",
        "em?model=digits-em",
        "?model=digits-dr&lab=toy",
        "discriminative?model=digits-l2",
    ):
        moving.open(page)
        window = moving.window
        moving.press("Home")
        window.wait_for_timeout(1500)
        moving.settle()
        before = window.evaluate(PLACES)
        moving.press(" ")
        for _ in range(6):
            window.wait_for_timeout(400)
            assert window.evaluate(PLACES) == pytest.approx(before, abs=1), page
