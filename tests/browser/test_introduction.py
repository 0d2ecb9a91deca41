"""A routing that nobody has chosen anything of yet plays once by itself: from a few votes to all, and to its end."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.visitor import Visitor

if TYPE_CHECKING:
    from playwright import sync_api

NOW = """({ controls, capsule, few, run }) => ({ at: controls.position, playing: controls.timer !== 0,
  last: run.count - 1, capsule, few: few && [...few], presence: [...run.data.presence] })"""
WATCH = (
    """(() => { const now = """
    + NOW
    + """, find = (root) => { for (const at of root.querySelectorAll("*")) {
    if (at.capsvizBoard?.controls && at.dataset.frame) return at.capsvizBoard;
    const found = at.shadowRoot && find(at.shadowRoot); if (found) return found; } };
  const look = () => { const board = find(document);
    if (board) window.capsvizFirst = now(board); else requestAnimationFrame(look); };
  look(); })()"""
)
"""Keeps how the board stands when it is first drawn, however late a test asks."""
HOLD = """({ controls: { player } }, hold) => { const before = player.hold; player.hold = hold; return before; }"""
"""Has each frame of a board stand for so many milliseconds; gives how many it was before."""


def now(visitor: Visitor) -> dict:
    """Where the board of the page stands, and with which votes it begins."""
    said = visitor.window.locator("section.routing").evaluate(f"root => JSON.stringify(({NOW})(root.capsvizBoard))")
    return json.loads(said)


@pytest.mark.parametrize("page", ["dynamic?model=digits-dr", "em?model=digits-em"])
def test_it_plays_once_from_five_votes_to_all_and_is_not_in_the_link(
    open_window: Callable[..., sync_api.Page], address: str, page: str
):
    visitor = Visitor(open_window(reduced_motion="no-preference"), address)
    visitor.window.add_init_script(WATCH)
    visitor.open(page)
    began = visitor.window.evaluate("window.capsvizFirst")
    assert began["playing"] and began["at"] < 1 and len(began["few"]) == 5 and began["capsule"] in began["few"]
    presence, others = began["presence"], set(began["few"]) - {began["capsule"]}
    assert min(presence[i] for i in others) >= sorted(presence)[-5]
    visitor.eventually(lambda: now(visitor)["at"] >= 1 and now(visitor)["few"] is None, "all votes")
    board = visitor.window.locator("section.routing").evaluate_handle("root => root.capsvizBoard")
    board.evaluate("board => { board.controls.player.hold = 0; }")  # the rest of it sooner
    visitor.eventually(lambda: not now(visitor)["playing"], "the end of the play")
    assert now(visitor)["at"] == began["last"]
    visitor.window.wait_for_timeout(1000)  # what is told when a player rests would be in the link by now
    assert "frame" not in visitor.query()
    visitor.press("]")  # another image of the same page: what comes out is seen at once
    visitor.eventually(lambda: now(visitor)["presence"] != presence, "the next image")
    seen = now(visitor)
    assert seen["at"] == seen["last"] and not seen["playing"] and seen["few"] is None
    visitor.leave()


@pytest.mark.parametrize("chosen", ["&class=3", "&frame=2", "&capsule=17", "&touch=mute:17", "&T=4"])
def test_a_link_that_has_chosen_something_stands_where_it_says(
    open_window: Callable[..., sync_api.Page], address: str, chosen: str
):
    visitor = Visitor(open_window(reduced_motion="no-preference"), address).open(f"dynamic?model=digits-dr{chosen}")
    seen = now(visitor)
    assert not seen["playing"] and seen["few"] is None
    assert seen["at"] == (2 if "frame" in chosen else seen["last"])
    visitor.leave()


def test_what_already_plays_is_not_introduced_when_the_last_choice_is_taken_back(
    open_window: Callable[..., sync_api.Page], address: str
):
    page = "dynamic?model=digits-dr&heat=off"
    visitor = Visitor(open_window(reduced_motion="no-preference"), address).open(page)
    board = visitor.window.locator("section.routing").evaluate_handle("root => root.capsvizBoard")
    usual = board.evaluate(HOLD, 60_000)  # it plays for minutes
    visitor.window.get_by_role("button", name="Play or pause").click()
    visitor.window.get_by_role("button", name="Heat").click()
    visitor.eventually(lambda: "heat" not in visitor.query(), "the choice taken back in the link")
    visitor.window.wait_for_timeout(800)
    seen = now(visitor)
    assert seen["playing"] and seen["few"] is None
    board.evaluate(HOLD, usual)
    visitor.window.get_by_role("button", name="Play or pause").click()
    rests = now(visitor)["at"]
    visitor.window.wait_for_timeout(500)
    assert not now(visitor)["playing"] and now(visitor)["at"] == rests
    visitor.leave()


def test_an_introduction_that_is_stopped_is_not_that_of_the_next_image(
    open_window: Callable[..., sync_api.Page], address: str
):
    visitor = Visitor(open_window(reduced_motion="no-preference"), address).open("dynamic?model=digits-dr")
    board = visitor.window.locator("section.routing").evaluate_handle("root => root.capsvizBoard")
    few = "board => { board.introduce(board.run, board.controls); board.controls.go(0); return [...board.few]; }"
    assert len(board.evaluate(few)) == 5
    presence = now(visitor)["presence"]
    visitor.press("]")
    visitor.eventually(lambda: now(visitor)["presence"] != presence, "the next image")
    assert now(visitor)["few"] is None
    visitor.leave()


def test_mute_stands_on_the_first_screen(visitor: Visitor):
    visitor.open("dynamic?model=digits-dr")
    mute = visitor.window.get_by_role("button", name="Mute").bounding_box()
    assert mute and mute["y"] + mute["height"] < 720
