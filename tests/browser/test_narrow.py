"""On a telephone, and beside a tablet's sidebar: what can be chosen is in sight, and nothing lies over another."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from app.tours import store
from capsviz.experiments.reports import NAMES
from tests.browser.api import sync_api
from tests.browser.visitor import Visitor

TELEPHONE = {"width": 390, "height": 844}
TABLET = {"width": 820, "height": 1180}
"""With the sidebar open, as is half of a screen: the page has not much more room than on a telephone."""
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


@pytest.fixture(params=[TELEPHONE, TABLET], ids=["telephone", "tablet"])
def reader(request: pytest.FixtureRequest, open_window: Callable[..., sync_api.Page], address: str):
    """A visitor with either."""
    visitor = Visitor(open_window(viewport=request.param), address)
    yield visitor
    visitor.leave()


def test_the_ends_of_a_walk_stand_apart(reader: Visitor):
    reader.open("perturb?model=mnist-dr-paper&hand=walk")
    buttons = reader.window.locator(".walk .targets button")
    sync_api.expect(buttons).to_have_count(9)
    reader.still()
    found = buttons.evaluate_all(OVER)
    assert len(found) == 9 and all(map(all, found))


@pytest.mark.parametrize(
    "page",
    [
        "viewpoint?model=mnist-dr-paper",
        "compare?model=mnist-dr-paper",
        "training?model=mnist-dr-paper",
        "discriminative?model=mnist-l2-residual&part=ascent",
        "perturb?model=mnist-dr-paper",
    ],
)
def test_every_answer_and_word_of_the_widgets_is_in_sight(reader: Visitor, page: str):
    reader.open(page)
    main = reader.window.locator('[data-testid="stMain"]')
    answers = main.locator('[role="radio"]')
    size = reader.window.viewport_size
    assert size is not None
    ends = [box["x"] + box["width"] for each in answers.all() if (box := each.bounding_box())]
    assert len(ends) >= 4 and max(ends) <= size["width"]
    cut = "words => words.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"
    assert main.locator('[data-testid="stWidgetLabel"], [role="radiogroup"]').evaluate_all(cut) == []
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth")


@pytest.mark.parametrize(
    ("page", "figure", "count"),
    [
        ("compare?model=digits-dr", "reconstructions", 13),
        ("em?model=mnist-em-residual", "strip", 7),
        ("results", "table-figure", 23),
    ],
)
def test_the_words_of_wide_figures_stand_apart(reader: Visitor, page: str, figure: str, count: int):
    reader.open(page)
    words = reader.window.locator(f".st-key-{figure} :is(.annotation-text, [class^=x][class$=tick] text)")
    words = words.filter(has_text=re.compile(r"\w"))  # not those that draw an arrow
    sync_api.expect(words).to_have_count(count)
    found = words.evaluate_all(OVER)
    assert all(apart for _, apart in found)
    # What does not stand in sight is reached by scrolling, and is not cut.
    ends = "words => Math.max(...words.map((word) => word.getBoundingClientRect().right))"
    reach = "(box) => box.getBoundingClientRect().left + box.scrollWidth"
    assert words.evaluate_all(ends) <= reader.window.locator(f".st-key-{figure}").evaluate(reach)


def test_what_scrolls_sideways_is_moved_by_keys(caller: Visitor):
    caller.open("dynamic?model=digits-dr")
    strip = caller.window.get_by_role("group", name="Figure, wider than the page: ← and → move it")
    frame = caller.window.locator("output.frame")
    caller.press("Home")
    sync_api.expect(frame).to_have_text("iteration 1 of 3 · line 1 of 4")
    strip.focus()
    caller.window.keyboard.press("ArrowRight")
    caller.eventually(lambda: strip.evaluate("at => at.scrollLeft") > 0, "the strip moved")
    sync_api.expect(frame).to_have_text("iteration 1 of 3 · line 1 of 4")
    caller.window.set_viewport_size({"width": 1280, "height": 844})
    sync_api.expect(strip).to_have_count(0)


def test_a_finger_meets_the_row_of_a_capsule_and_the_numbers_of_the_chosen_one(caller: Visitor):
    caller.open("perturb?model=mnist-dr-paper&hand=cells")
    rows = caller.window.locator(".live-decoder .row:not(.head)")
    sync_api.expect(rows).to_have_count(10)
    assert min(caller.box(each)["height"] for each in rows.all()) >= 28
    widths = "cells => cells.map((cell) => cell.getBoundingClientRect().width)"
    assert min(caller.window.locator(".chosen .cell").evaluate_all(widths)) >= 30
    caller.window.set_viewport_size({"width": 1280, "height": 844})
    assert min(caller.box(each)["height"] for each in rows.all()) >= 24


def test_the_sliders_of_a_decoder_are_as_wide_as_the_pictures(reader: Visitor):
    reader.open("perturb?model=mnist-dr-paper")
    slider = reader.box(reader.window.locator('.live-decoder input[type="range"]').first)
    pictures = reader.box(reader.window.locator(".live-decoder .pictures"))
    assert slider["y"] >= pictures["y"] + pictures["height"] and slider["width"] >= pictures["width"] / 4


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


def test_the_bar_to_leave_lies_over_no_choice_on_an_old_projector(
    open_window: Callable[..., sync_api.Page], address: str
):
    speaker = Visitor(open_window(viewport={"width": 1024, "height": 768}), address)
    speaker.open("results?present=1")
    speaker.eventually(lambda: speaker.messages_sent >= 2, "the size of the window")
    speaker.settle()
    speaker.still()
    leave = speaker.window.get_by_role("button", name="Keys").bounding_box()
    assert leave is not None
    above = [box for each in speaker.window.get_by_role("radio").all() if (box := each.bounding_box())]
    assert len(above) == len(NAMES)
    assert all(box["x"] + box["width"] <= leave["x"] or box["y"] >= leave["y"] + leave["height"] for box in above)
    speaker.leave()
