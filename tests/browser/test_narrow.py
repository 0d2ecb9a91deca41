"""At the width of a telephone: what can be chosen is in sight, and no picture lies over another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.tours import store
from tests.browser.api import sync_api
from tests.browser.visitor import Visitor

TELEPHONE = {"width": 390, "height": 844}
OVER = """buttons => {
    const boxes = buttons.map((button) => button.getBoundingClientRect());
    const within = (button, box) => [...button.children].every((child) => {
        const own = child.getBoundingClientRect();
        return own.left >= box.left - 1 && own.right <= box.right + 1;
    });
    return boxes.map((box, k) => [
        within(buttons[k], box),
        boxes.slice(k + 1).every((other) =>
            Math.min(box.right, other.right) - Math.max(box.left, other.left) < 1 ||
            Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) < 1),
    ]);
}"""
"""By button: whether what is on it lies within it, and none of the later ones over it."""


@pytest.fixture
def caller(open_window: Callable[..., sync_api.Page], address: str):
    """A visitor with a telephone."""
    visitor = Visitor(open_window(viewport=TELEPHONE), address)
    yield visitor
    visitor.leave()


def test_the_ends_of_a_walk_stand_apart(caller: Visitor):
    caller.open("perturb?model=mnist-dr-paper&hand=walk")
    found = caller.window.locator(".walk .targets button").evaluate_all(OVER)
    assert len(found) == 9 and all(map(all, found))


@pytest.mark.parametrize(
    "page", ["viewpoint?model=mnist-dr-paper", "compare?model=mnist-dr-paper", "training?model=mnist-dr-paper"]
)
def test_every_answer_of_a_picker_is_in_sight(caller: Visitor, page: str):
    caller.open(page)
    answers = caller.window.locator('[data-testid="stMain"] [role="radio"]')
    ends = [box["x"] + box["width"] for each in answers.all() if (box := each.bounding_box())]
    assert len(ends) >= 5 and max(ends) <= TELEPHONE["width"]


def test_the_words_of_six_reconstructions_stand_apart(caller: Visitor):
    caller.open("compare?model=digits-dr")
    words = caller.window.locator(".st-key-reconstructions .annotation-text")
    sync_api.expect(words).to_have_count(13)
    found = words.evaluate_all(OVER)
    assert all(apart for _, apart in found)


@pytest.mark.parametrize("present", ["", "&present=1"])
def test_the_words_of_a_step_are_read_first(caller: Visitor, present: str):
    step = store.find(store.SHIPPED[0]).steps[1]
    assert step.panel
    caller.window.goto(f"{caller.address}/{step.view}&tour={store.SHIPPED[0]}&step=2{present}")
    title = caller.window.locator(".tour-title")
    sync_api.expect(title).to_have_text(step.title)
    caller.window.wait_for_timeout(2700)  # in which pictures that come late may move the page
    sync_api.expect(title).to_be_in_viewport()
    sync_api.expect(caller.window.locator(".st-key-tour-words")).to_be_in_viewport()
    if present:
        keys = caller.box(caller.window.get_by_role("button", name="Keys"))
        assert keys["y"] + keys["height"] <= caller.box(title)["y"]


@pytest.mark.parametrize("present", ["", "&present=1"])
def test_the_table_of_the_toy_is_as_wide_as_the_window_at_most(caller: Visitor, present: str):
    caller.open(f"?model=digits-dr&lab=toy{present}")
    cells = caller.window.locator(".toy td, .toy th")
    sync_api.expect(cells).to_have_count(36)
    assert max(box["x"] + box["width"] for each in cells.all() if (box := each.bounding_box())) <= TELEPHONE["width"]
    assert caller.window.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= TELEPHONE["width"]
