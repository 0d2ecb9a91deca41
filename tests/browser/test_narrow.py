"""At the width of a telephone: what can be chosen is in sight, and no picture lies over another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

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
