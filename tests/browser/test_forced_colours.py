"""Where the system forces colours, as in high contrast: those that are numbers or say what is chosen stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.browser.api import sync_api
from tests.browser.visitor import Visitor

GROUNDS = "places => places.map((place) => getComputedStyle(place).backgroundColor)"


@pytest.fixture
def forced(open_window: Callable[..., sync_api.Page], address: str) -> Iterator[Visitor]:
    visitor = Visitor(open_window(forced_colors="active"), address)
    yield visitor
    visitor.leave()


def test_cells_and_lines_keep_the_colours_that_say_something(forced: Visitor, visitor: Visitor):
    for page, places in (
        ("perturb?model=digits-dr&hand=cells", ".live-decoder .cells .cell"),
        ("dynamic?model=digits-dr", ".routing .algorithm .line"),
    ):
        for each in (visitor, forced):
            each.open(page)
            each.window.locator('.live-decoder[data-ready="true"], .routing[data-frame]').first.wait_for()

        def same(places: str = places) -> bool:
            seen = [each.window.locator(places).evaluate_all(GROUNDS) for each in (visitor, forced)]
            return seen[0] == seen[1] and len(set(seen[0])) > 1

        visitor.eventually(same, f"the same colours on {page}, forced or not")


def test_what_is_chosen_among_several_is_told(forced: Visitor):
    forced.open("perturb?model=digits-dr")
    for group in ('[data-testid="stRadioOption"] > div > :first-child', ".stButtonGroup button"):
        grounds = forced.window.locator(group).evaluate_all(GROUNDS)
        assert len(set(grounds)) > 1
    switches = forced.window.locator(".stCheckbox label > div:first-of-type")
    switches.first.click()
    forced.eventually(lambda: len(set(switches.evaluate_all(GROUNDS))) > 1, "which of the switches is on")
