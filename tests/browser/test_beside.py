"""Another algorithm beside the first in Chromium: the whole page says what was put there, and Back takes it away."""

from __future__ import annotations

import re

from tests.browser.api import sync_api
from tests.browser.test_late import TOLD
from tests.browser.visitor import Visitor


def test_another_algorithm_on_the_same_votes_stands_beside_the_first(visitor: Visitor):
    visitor.open("?model=digits-dr&image=7")
    window = visitor.window
    window.locator('[class*="st-key-second"] input').first.click()
    window.get_by_role("option", name="EM routing, on the same votes").click()
    visitor.eventually(lambda: "second=same%3Aem" in visitor.query(), "the algorithm in the link")
    visitor.settle()
    headings = window.locator('[class*="st-key-boards"], .stMainBlockContainer').first
    sync_api.expect(headings).to_contain_text("EM routing · the votes of digits-dr")
    boards = window.locator('[data-stale="false"] section.routing')
    sync_api.expect(boards).to_have_count(2)
    sync_api.expect(boards.first).to_contain_text(re.compile(r"iteration 3 of 3 · line 4 of 4"))
    sync_api.expect(boards.last).to_contain_text(re.compile(r"iteration 3 of 3 · line 3 of 3"))
    named = "plot => plot.data.map(trace => trace.name)"
    figure = window.locator('.st-key-certainty[data-stale="false"] .js-plotly-plot:has(.main-svg)')
    methods = ["Dynamic routing", "EM routing", "L2"]
    visitor.eventually(lambda: figure.evaluate(named) == methods, "how certain the methods are")
    sync_api.expect(window.get_by_text("a thought experiment")).to_be_visible()
    window.go_back()
    sync_api.expect(boards).to_have_count(1)
    visitor.settle()
    assert visitor.query() == "model=digits-dr&image=7"
    sync_api.expect(window.get_by_text("Whom does each believe?")).to_have_count(0)


def test_the_second_board_stays_at_each_of_its_lines_where_the_first_has_fewer(visitor: Visitor):
    visitor.open("em?model=digits-em&image=7&second=same%3Adr")
    boards = visitor.window.locator('[data-stale="false"] section.routing')

    def step_back(board: sync_api.Locator, first: int, second: int) -> None:
        board.locator("button[aria-label='One line back (←)']").click()
        visitor.window.wait_for_timeout(TOLD)
        visitor.eventually(lambda: f"frame={first}" in visitor.query(), "a frame of the first in the link")
        visitor.settle()
        sync_api.expect(boards).to_have_count(2)
        assert [each.get_attribute("data-frame") for each in boards.all()] == [str(first), str(second)]

    for first, second in [(7, 10), (7, 9), (6, 8), (5, 7)]:  # of 9 lines and of 12
        step_back(boards.last, first, second)
    step_back(boards.first, 4, 6)


def test_two_algorithms_stand_as_far_along_each_in_its_own_lines_and_the_link_names_the_first(visitor: Visitor):
    visitor.open("?model=digits-dr&image=7&second=same%3Aem")
    boards = visitor.window.locator('[data-stale="false"] section.routing')

    def stand() -> bool:
        return [each.get_attribute("data-frame") for each in boards.all()] == ["6", "4"]

    for _ in range(4):  # from the end of EM, back to the second line of its second iteration
        boards.last.locator("button[aria-label='One line back (←)']").click()
    sync_api.expect(boards.last).to_contain_text("iteration 2 of 3 · line 2 of 3")
    sync_api.expect(boards.first).to_contain_text("iteration 2 of 3 · line 3 of 4")
    visitor.eventually(lambda: "frame=6" in visitor.query(), "frames of the first board in the link")
    visitor.settle()
    visitor.eventually(stand, "the boards where they were left")
    visitor.open(f"?{visitor.query()}")
    sync_api.expect(boards).to_have_count(2)
    visitor.eventually(stand, "the boards where the link leads")
