"""The drawing pad in Chromium: what is drawn is what Python receives, and what a model reads."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from capsviz import data, zoo
from tests.browser.api import sync_api
from tests.browser.visitor import Guest, visits
from tests.known import known
from tests.serving import WAIT, served

SIDE = 280  # of the PNG
PEN = 20  # thickness at the start, of 280


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[tuple[str, Path]]:
    """The page, served: its address, and the folder in which it leaves what it received."""
    folder = tmp_path_factory.mktemp("received")
    with served("tests/browser/pad_page.py", folder, CAPSVIZ_RECEIVED=str(folder)) as address:
        yield address, folder


class Pad(Guest):
    """Somebody who draws on the pad of the page; places on it go from 0 to 1."""

    def __init__(self, window: sync_api.Page, address: str, folder: Path) -> None:
        super().__init__(window, address)
        self.folder = folder
        self.canvas = window.locator("canvas")
        self.undo = window.get_by_role("button", name="Undo")
        self.clear = window.get_by_role("button", name="Clear")

    def settle(self) -> None:
        self.canvas.wait_for()
        assert self.said  # the first run has ended

    def at(self, x: float, y: float) -> tuple[float, float]:
        box = self.box(self.canvas)
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    def stroke(self, *places: tuple[float, float]) -> None:
        """Draw with the mouse, in straight lines from place to place."""
        self.window.mouse.move(*self.at(*places[0]))
        self.window.mouse.down()
        for place in places[1:]:
            self.window.mouse.move(*self.at(*place), steps=4)
        self.window.mouse.up()

    @property
    def said(self) -> str:
        """What the page says of the last run: a digest, or “nothing”."""
        text = self.window.get_by_text("received").inner_text()
        return known(re.fullmatch(r"received (\w+) in run \d+", text))[1]

    def after(self, before: str) -> str:
        """What Python receives as soon as that is something else than before."""
        pattern = re.compile(rf"received (?!{before} )\w+ in run \d+")
        sync_api.expect(self.window.get_by_text(pattern)).to_be_visible(timeout=WAIT)
        return self.said

    def png(self, digest: str) -> bytes:
        return (self.folder / f"{digest}.png").read_bytes()

    def ink(self, digest: str) -> np.ndarray:
        """Where there is ink on the drawing, "height width"."""
        return np.asarray(Image.open(io.BytesIO(self.png(digest))).convert("L")) > 127

    def shown(self) -> np.ndarray:
        """Where there is ink on the screen."""
        picture = Image.open(io.BytesIO(self.canvas.screenshot())).convert("L")
        return np.asarray(picture.resize((SIDE, SIDE))) > 127

    def again(self) -> None:
        """Run the script again, from the page."""
        before = self.run()
        self.window.get_by_role("button", name="Run again").click()
        self.eventually(lambda: self.run() > before, "another run")

    def run(self) -> int:
        """How often the script has run."""
        return int(self.window.get_by_text("received").inner_text().split()[-1])

    def toggle(self) -> None:
        self.window.get_by_text("Show the pad").click()


@pytest.fixture
def visit(open_window, server):
    """Open the page; at the end nothing may have gone wrong there."""
    address, folder = server
    with visits(partial(Pad, folder=folder), open_window, address) as visit:
        yield partial(visit, viewport={"width": 900, "height": 640})


@pytest.fixture
def pad(visit) -> Pad:
    return visit()


ONE = [(0.36, 0.3), (0.52, 0.14), (0.52, 0.86)]
ZERO = [(0.5 + 0.24 * math.sin(turn), 0.5 - 0.36 * math.cos(turn)) for turn in np.linspace(0, 2 * math.pi, 17)]


@pytest.mark.parametrize(("digit", "places"), enumerate((ZERO, ONE)))
def test_a_drawn_digit_is_read_as_such(pad, digit, places):
    pad.stroke(*places)
    model = zoo.load("digits-dr")
    drawn = data.read_image(pad.png(pad.after("nothing")))
    prepared = data.prepare(drawn, model.config.image, layout="digit", invert=False)
    assert int(model(data.to_float(prepared.pixels)[None]).activations.argmax()) == digit


def test_the_ink_is_where_it_was_drawn_and_as_thick_as_the_pen(pad):
    pad.stroke((0.25, 0.2), (0.25, 0.8))
    ink = pad.ink(pad.after("nothing"))
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    wanted = [0.25 * SIDE - PEN / 2, 0.25 * SIDE + PEN / 2, 0.2 * SIDE - PEN / 2, 0.8 * SIDE + PEN / 2]
    assert [columns[0], columns[-1], rows[0], rows[-1]] == pytest.approx(wanted, abs=2)
    assert (pad.shown() != ink).mean() < 0.03  # screen and drawing differ at most in rounded corners and edges


def test_the_empty_pad_sends_nothing_and_offers_nothing_to_undo(pad):
    assert pad.said == "nothing"
    assert pad.undo.is_disabled() and pad.clear.is_disabled()


def test_undo_takes_the_last_stroke_by_button_and_by_keys(pad):
    pad.stroke((0.2, 0.2), (0.2, 0.8))
    first = pad.after("nothing")
    pad.stroke((0.8, 0.2), (0.8, 0.8))
    second = pad.after(first)
    pad.undo.click()
    assert pad.after(second) == first
    pad.stroke((0.5, 0.5), (0.7, 0.5))
    third = pad.after(first)
    assert pad.canvas.evaluate("canvas => canvas.matches(':focus:not(:focus-visible)')")  # no ring over the drawing
    pad.window.keyboard.press("Control+z")
    assert pad.after(third) == first
    pad.window.keyboard.press("Control+z")
    assert pad.after(first) == "nothing"


def test_clear_sends_nothing_and_can_be_undone(pad):
    pad.stroke(*ZERO)
    drawing = pad.after("nothing")
    pad.clear.click()
    assert pad.after(drawing) == "nothing"
    assert not pad.shown().any() or pad.shown().mean() < 0.02  # the hint
    pad.undo.click()
    assert pad.after("nothing") == drawing


def test_keys_are_heard_after_a_button_that_got_no_focus(pad):
    """As in Safari, where a button that is pressed gets none."""
    pad.stroke(*ZERO)
    drawing = pad.after("nothing")
    pad.canvas.evaluate("canvas => canvas.blur()")
    pad.clear.evaluate("button => button.click()")
    assert pad.after(drawing) == "nothing"
    pad.window.keyboard.press("Control+z")
    assert pad.after("nothing") == drawing


def test_a_pencil_on_the_pad_writes_no_words(pad):
    """Safari takes quick strokes of a pencil for handwriting, unless their beginning is cancelled."""
    begin = "(canvas) => canvas.dispatchEvent(new Event('touchstart', { cancelable: true }))"
    assert pad.canvas.evaluate(begin) is False


def test_everything_but_drawing_works_by_keyboard(pad):
    pad.stroke((0.5, 0.2), (0.5, 0.8))
    thin = pad.after("nothing")
    pad.window.keyboard.press("Tab")
    pad.window.keyboard.press("Tab")
    pad.window.keyboard.press("Space")  # Clear
    assert pad.after(thin) == "nothing"
    slider = pad.window.get_by_role("slider", name="Pen thickness")
    slider.press("End")
    pad.stroke((0.5, 0.2), (0.5, 0.8))
    thick = pad.after("nothing")
    assert pad.ink(thick).any(axis=0).sum() == pytest.approx(40, abs=2)


def test_strokes_outlast_a_rerun_a_change_of_theme_and_another_page(pad):
    pad.stroke(*ZERO)
    drawing = pad.after("nothing")
    shown = pad.shown()
    pad.again()
    assert pad.said == drawing
    pad.window.emulate_media(color_scheme="dark")
    pad.again()
    pad.toggle()
    assert pad.after(drawing) == "nothing"
    pad.toggle()
    assert pad.after("nothing") == drawing  # the pad is back, and has told Python again
    assert (pad.shown() == shown).mean() > 0.99
    pad.window.reload()
    pad.canvas.wait_for()
    assert pad.after("nothing") == drawing
    pad.undo.click()
    assert pad.after(drawing) == "nothing"


def test_reruns_add_no_listeners(pad):
    before = listeners(pad)
    for scheme in ("dark", "light", "dark"):
        pad.window.emulate_media(color_scheme=scheme)
        pad.again()
    assert listeners(pad) == before
    assert before.count("pointerdown") == 1


def listeners(pad: Pad) -> list[str]:
    """The types of all event listeners on the pad's canvas."""
    session = pad.window.context.new_cdp_session(pad.window)
    find = "document.querySelector('[data-testid=stBidiComponentIsolated]').shadowRoot.querySelector('canvas')"
    canvas = session.send("Runtime.evaluate", {"expression": find})["result"]["objectId"]
    found = session.send("DOMDebugger.getEventListeners", {"objectId": canvas})["listeners"]
    return sorted(listener["type"] for listener in found)


def test_a_finger_draws_and_does_not_scroll_and_a_second_one_is_ignored(visit):
    pad = visit(has_touch=True, device_scale_factor=2)
    session = pad.window.context.new_cdp_session(pad.window)

    def touch(kind: str, *places: tuple[float, float]) -> None:
        points = [{"id": number, **dict(zip("xy", pad.at(*place), strict=True))} for number, place in enumerate(places)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    top = pad.at(0, 0)
    touch("touchStart", (0.3, 0.2))
    for step in range(1, 7):
        touch("touchMove", (0.3, 0.2 + step * 0.1))
    touch("touchStart", (0.3, 0.8), (0.8, 0.5))  # a palm
    touch("touchEnd")
    ink = pad.ink(pad.after("nothing"))
    assert pad.at(0, 0) == top
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    wanted = [0.3 * SIDE - PEN / 2, 0.3 * SIDE + PEN / 2, 0.2 * SIDE - PEN / 2, 0.8 * SIDE + PEN / 2]
    assert [columns[0], columns[-1], rows[0], rows[-1]] == pytest.approx(wanted, abs=4)
    assert pad.canvas.evaluate("canvas => canvas.width / canvas.clientWidth") == pytest.approx(2, abs=0.02)


def test_a_pen_presses_thick_and_thin(pad):
    pad.canvas.evaluate(
        """canvas => {
            const box = canvas.getBoundingClientRect();
            const pen = (type, y, pressure) => canvas.dispatchEvent(new PointerEvent(type, {
                pointerId: 7, pointerType: "pen", pressure, button: 0,
                clientX: box.left + box.width / 2, clientY: box.top + y * box.height,
            }));
            canvas.setPointerCapture = () => {}; // a pen that is not there cannot be captured
            pen("pointerdown", 0.2, 0.1);
            for (let step = 1; step <= 20; step++) pen("pointermove", 0.2 + step * 0.03, 0.1 + step * 0.045);
            pen("pointerup", 0.8, 0);
        }"""
    )
    widths = pad.ink(pad.after("nothing")).sum(axis=1)
    assert widths[int(0.75 * SIDE)] > 1.8 * widths[int(0.25 * SIDE)] > 0


def test_a_pen_draws_where_a_palm_lay_before_it(pad):
    pad.canvas.evaluate(
        """canvas => {
            const box = canvas.getBoundingClientRect();
            const send = (type, pointerId, pointerType, x, y) => canvas.dispatchEvent(new PointerEvent(type, {
                pointerId, pointerType, pressure: 0.5, button: 0,
                clientX: box.left + x * box.width, clientY: box.top + y * box.height,
            }));
            canvas.setPointerCapture = () => {};
            send("pointerdown", 1, "touch", 0.9, 0.9);
            send("pointerdown", 2, "pen", 0.3, 0.2);
            for (let step = 1; step <= 12; step++) send("pointermove", 2, "pen", 0.3, 0.2 + step * 0.05);
            send("pointercancel", 1, "touch", 0.9, 0.9);
            send("pointerup", 2, "pen", 0.3, 0.8);
        }"""
    )
    ink = pad.ink(pad.after("nothing"))
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    assert rows[0] < 0.25 * SIDE and rows[-1] > 0.75 * SIDE, "the stroke of the pen"
    assert columns[-1] < 0.5 * SIDE, "and no blot of the palm"
    inside = slice(int(0.6 * SIDE), int(0.96 * SIDE))  # of its frame
    assert not pad.shown()[inside, inside].any(), "nor on the screen"
