"""A finger on a telephone: a swipe over a picture moves the page, a tap and a drag are the picture's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.api import sync_api
from tests.browser.test_narrow import TELEPHONE
from tests.browser.visitor import Visitor
from tests.known import known

SCROLLED = "() => document.querySelector('[data-testid=stMain]').scrollTop"


class Finger:
    """One finger over a canvas, its places in CSS pixels from the canvas's upper left corner."""

    def __init__(self, visitor: Visitor, canvas: str) -> None:
        self.visitor, self.canvas = visitor, visitor.window.locator(canvas).first
        self.canvas.wait_for()
        self.canvas.evaluate("(canvas) => canvas.scrollIntoView({ block: 'center' })")
        self.wires = visitor.window.context.new_cdp_session(visitor.window)

    def touch(self, kind: str, *places: tuple[float, float]) -> None:
        points = [{"x": x, "y": y} for x, y in places]
        self.wires.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def stroke(self, x: float, y: float, up: float) -> float:
        """Down at a place, so far up, and away, and time to answer that; how far the page was scrolled before."""
        box = self.visitor.resting(lambda: known(self.canvas.bounding_box()), "the canvas")
        before = self.scrolled()
        self.touch("touchStart", (box["x"] + x, box["y"] + y))
        for step in range(1, 9) if up else ():
            self.touch("touchMove", (box["x"] + x, box["y"] + y - up * step / 8))
        self.touch("touchEnd")
        self.visitor.window.wait_for_timeout(900)
        return before

    def scrolled(self) -> float:
        return self.visitor.window.evaluate(SCROLLED)

    def scrolls(self, x: float, y: float, up: float) -> None:
        """A stroke with which the page goes."""
        before = self.stroke(x, y, up)
        self.visitor.eventually(lambda: self.scrolled() - before > 60, "the page goes with the finger")

    def scrolls_nothing(self, x: float, y: float, up: float) -> None:
        """A stroke with which the page does not go."""
        before = self.stroke(x, y, up)
        assert self.scrolled() == pytest.approx(before, abs=1)


@pytest.fixture
def caller(open_window: Callable[..., sync_api.Page], address: str):
    visitor = Visitor(open_window(viewport=TELEPHONE, has_touch=True, is_mobile=True), address)
    yield visitor
    visitor.leave()


def test_points_are_added_by_a_tap_and_moved_by_a_drag_and_a_swipe_scrolls(caller: Visitor):
    caller.open("mixtures?model=digits-dr")
    finger, before = Finger(caller, ".mixture .plane canvas"), caller.window.url
    finger.scrolls(290, 280, 150)
    assert caller.window.url == before
    finger = Finger(caller, ".mixture .plane canvas")
    finger.scrolls_nothing(40, 40, 0)
    caller.window.wait_for_function("() => new URLSearchParams(location.search).has('points')")
    tapped = caller.window.url
    finger.scrolls_nothing(40, 44, -60)
    caller.window.wait_for_function("(before) => location.href !== before", arg=tapped)


@pytest.mark.parametrize(
    ("page", "canvas"),
    [
        ("basics?model=digits-dr", ".basics canvas.held"),
        ("dynamic?model=digits-dr", ".routing .cloud canvas"),
        ("viewpoint?model=digits-dr", ".sweep .charts canvas"),
    ],
)
def test_a_swipe_over_a_picture_moves_the_page_and_nothing_else(caller: Visitor, page: str, canvas: str):
    caller.open(page)
    finger, before = Finger(caller, canvas), caller.window.url
    finger.scrolls(40, 200, 150)
    assert caller.window.url == before


def test_a_swipe_over_the_cells_of_all_capsules_scrolls_and_the_row_of_a_tap_is_dragged(caller: Visitor):
    caller.open("perturb?model=digits-dr&class=1&hand=cells")
    row, before = caller.window.locator(".cells .row").nth(6), caller.window.url
    finger = Finger(caller, ".cells .row:nth-child(7) .cell:nth-child(4)")
    finger.scrolls(5, 9, 150)
    assert caller.window.url == before
    finger = Finger(caller, ".cells .row:nth-child(7) .cell:nth-child(4)")
    finger.scrolls_nothing(5, 9, 0)
    sync_api.expect(row).to_contain_class("chosen")
    caller.eventually(lambda: "class=5" in caller.query(), "the class of the row, in the link")
    caller.settle()
    finger.scrolls_nothing(5, 9, 60)
    sync_api.expect(row.locator(".cell.moved")).to_have_count(1)


def test_a_finger_that_takes_a_point_of_the_margin_loss_keeps_it(caller: Visitor):
    caller.open("basics?model=digits-dr&exhibit=loss&lengths=3:0.5")
    finger = Finger(caller, ".basics canvas.held")
    find = "root => { const { chart } = root.capsvizBoard; return [chart.spot(3).x, chart.spot(3).y]; }"
    x, y = caller.window.locator("section.basics").first.evaluate(find)
    finger.scrolls_nothing(x, y, 60)
    finger.scrolls(x / 2, 4, 120)


def test_a_finger_that_goes_along_a_curve_or_taps_it_takes_the_frame_with_it(caller: Visitor):
    caller.open("viewpoint?model=digits-dr")
    finger, before = Finger(caller, ".sweep .charts canvas"), caller.window.url
    box = caller.box(finger.canvas)
    middle = box["y"] + box["height"] / 2
    frame = "root => root.capsvizBoard.controls.index"
    sweep = caller.window.locator(".sweep")
    finger.touch("touchStart", (box["x"] + 60, middle))
    for step in range(1, 9):
        finger.touch("touchMove", (box["x"] + 60 + 25 * step, middle + 2))
    finger.touch("touchEnd")
    dragged = caller.resting(lambda: sweep.evaluate(frame), "the frame that the finger took along")
    caller.eventually(lambda: caller.window.url != before, "where the finger left it, in the link")
    caller.settle()
    finger.scrolls_nothing(box["width"] - 20, box["height"] / 2, 0)
    caller.eventually(lambda: sweep.evaluate(frame) > dragged > 0, f"a frame behind {dragged}")


def test_a_swipe_over_a_chart_scrolls_as_beside_it_and_a_tap_chooses_its_cell(caller: Visitor):
    caller.open("compare?model=digits-dr&view=confusions&method=digits-em&cell=0-0")
    place = caller.window.locator('[class*=st-key-matrix][data-stale="false"]')
    plot, cells = place.locator(".js-plotly-plot"), place.locator(".nsewdrag")
    axes = "(plot) => JSON.stringify(['xaxis', 'yaxis'].map((axis) => plot._fullLayout[axis].range))"
    before = plot.evaluate(axes)
    finger = Finger(caller, "[class*=st-key-matrix] .nsewdrag")
    finger.scrolls(100, 200, 150)
    sync_api.expect(place.locator(".modebar-btn").first).to_be_hidden()
    box = caller.resting(lambda: known(cells.bounding_box()), "the cells")
    x, y = box["x"] + 0.15 * box["width"], box["y"] + 0.5 * box["height"]
    finger.touch("touchStart", (x + 150, y))
    for step in range(1, 9):
        finger.touch("touchMove", (x + 150 - 15 * step, y))
    finger.touch("touchEnd")
    caller.window.wait_for_function("(place) => place.scrollLeft > 40", arg=place.element_handle())
    assert plot.evaluate(axes) == before and "cell=0-0" in caller.query()
    caller.window.wait_for_timeout(900)
    box = caller.resting(lambda: known(cells.bounding_box()), "the cells")
    caller.window.touchscreen.tap(box["x"] + 0.55 * box["width"], box["y"] + 0.55 * box["height"])
    caller.eventually(lambda: "cell=5-5" in caller.query(), "the cell in the link")
    sync_api.expect(caller.window.locator("strong", has_text="images of 5 named rightly")).to_be_visible()


WEBKIT = """(canvas, [x, y]) => {
  const box = canvas.getBoundingClientRect();
  const place = { bubbles: true, cancelable: true, button: 0, clientX: box.left + x, clientY: box.top + y };
  const finger = { ...place, pointerId: 7, pointerType: "touch", isPrimary: true };
  canvas.dispatchEvent(new PointerEvent("pointerdown", finger));
  canvas.dispatchEvent(new PointerEvent("pointerup", finger));
  canvas.dispatchEvent(new MouseEvent("click", place));
}"""
"""A tap as Safari tells of it: the click of a finger is a mouse's."""


def test_a_tap_counts_where_its_click_is_that_of_a_mouse(caller: Visitor):
    caller.open("mixtures?model=digits-dr")
    plane = caller.window.locator(".mixture .plane canvas").first
    plane.evaluate(WEBKIT, [40, 40])
    caller.eventually(lambda: "points=" in caller.query(), "the point in the link")
    caller.open("basics?model=digits-dr")
    before = caller.query()
    caller.window.locator(".basics canvas").first.evaluate(WEBKIT, [60, 60])
    caller.eventually(lambda: caller.query() != before, "the vector in the link")
