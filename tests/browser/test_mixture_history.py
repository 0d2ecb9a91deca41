"""Back and Forward on the page Mixtures: the whole page says again what it said, whatever was done by hand."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import pytest

from tests.browser.test_whole_page import FIND, Act, button, key, settled, slide
from tests.browser.visitor import Visitor


def drag_a_point(visitor: Visitor) -> None:
    """The first point, moved."""
    visitor.still()
    board = visitor.window.evaluate_handle(f"({FIND})('capsvizBoard')")
    x, y = board.evaluate(
        "board => { const box = board.plane.canvas.getBoundingClientRect(), at = board.plane.place(board.points[0]);"
        " return [box.x + at[0], box.y + at[1]]; }"
    )
    visitor.drag(x, y, 60, 20)


def held(visitor: Visitor) -> None:
    """The toggle below the board."""
    visitor.window.get_by_text("Hold the mixture against scikit-learn").click()


ACTIONS: dict[str, tuple[str, Sequence[tuple[Act, str]]]] = {
    "preset and reading": ("", [(button("Overlapping"), "preset="), (button("The points are votes"), "as=votes")]),
    "point and covariance": ("", [(drag_a_point, "points="), (button("diagonal"), "covariance=diag")]),
    "half step and λ": ("&as=votes", [(key("Home"), "frame=0"), (slide("λ rises to", "ArrowRight"), "lambda=")]),
    "start and scikit-learn": ("", [(button("Another start"), "turn="), (held, "check=")]),
}
"""By what is done: where on the page, and two actions, each with what it brings into the link."""


@pytest.mark.parametrize(("at", "actions"), ACTIONS.values(), ids=ACTIONS)
def test_back_back_and_forward_say_what_the_page_said(visitor: Visitor, at: str, actions: Sequence[tuple[Act, str]]):
    visitor.open(f"mixtures?model=digits-dr{at}")
    visitor.window.locator(".katex").first.wait_for(state="attached")  # of the explanation, which comes last
    visitor.window.evaluate("async () => { await document.fonts.ready; }")
    links = visitor.window.locator(".st-key-pages a")

    def told() -> tuple[str, str]:
        """The choices in the address, and in the links to other pages."""
        return visitor.query(), urlsplit(links.last.get_attribute("href") or "").query

    seen, queries, now = [settled(visitor)], [told()], 2
    for act, change in actions:
        act(visitor)
        visitor.eventually(lambda: all(change in each for each in told()), f"{change} in the links")  # noqa: B023
        seen.append(settled(visitor, unlike=seen[-1]))
        queries.append(told())
    for lead, to in ((visitor.window.go_back, 1), (visitor.window.go_back, 0), (visitor.window.go_forward, 1)):
        lead()
        visitor.eventually(lambda: told() == queries[to], "the links of before")  # noqa: B023  (asked here and now)
        assert settled(visitor, unlike=seen[now]) == seen[to], f"step {to} again"
        now = to
