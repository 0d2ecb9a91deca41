"""Capsule maps in Chromium: every frame is Python's, playing asks no server, a click on a capsule reaches Python."""

from __future__ import annotations

import numpy as np
import pytest

from capsviz import zoo
from tests.browser.api import sync_api
from tests.browser.maps_page import CLASS, STEPS, shown
from tests.browser.pen import marks, words
from tests.browser.test_routing_board import EVEN
from tests.browser.visitor import Holder, visits

PAGE = "maps_page.py"
HEARD = """() => { window.heard = [];
    const told = (changes) => { for (const { target, addedNodes } of changes) {
        const place = (target.closest ? target : target.parentElement)?.closest("output, [role=status], [aria-live]");
        if (addedNodes.length && place && place.ariaLive !== "off")
            window.heard.push(place.closest(".capsviz-aloud") ? addedNodes[0].textContent : place.textContent); } };
    const look = (root) => {
        new MutationObserver(told).observe(root, { childList: true, subtree: true });
        for (const { shadowRoot } of root.querySelectorAll("*")) if (shadowRoot) look(shadowRoot); };
    look(document); }"""
"""Keeps what the places say that a screen reader reads out whenever they change."""
THREE_STEPS = """async () => { for (let step = 0; step < 3; step++) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true, composed: true }));
    await new Promise(requestAnimationFrame); } }"""
"""Three presses in three frames, however busy the machine is: what stands still for 700 ms is told."""
SIGHT = "board.parts.find(part => part.picture)"


class Viewer(Holder):
    """Somebody who watches the maps of the page."""

    place, ready = ".capsule-maps", '.capsule-maps[data-ready="true"]'

    def click(self, capsule: int) -> None:
        """Click on a capsule of the first map."""
        x, y = self.ask(
            "((tiles, at, across) => [tiles.left + (at % across + 0.5) * tiles.cell,"
            " tiles.label + (Math.floor(at / across) + 0.5) * tiles.cell])"
            "(board.maps[0].tiles, board.message.cells.indexOf(it), board.message.shape[1])",
            capsule,
        )
        self.board.locator(".map canvas").click(position={"x": x, "y": y})


@pytest.fixture
def visit(server, open_window):
    """Open the page; at the end nothing may have gone wrong there."""
    with visits(Viewer, open_window, server) as visit:
        yield visit


def test_every_frame_is_pythons_and_stepping_asks_no_server(visit):
    visitor, maps = visit(), shown(still=False)
    arrays = maps.arrays()
    asked = visitor.messages_sent
    # Where the visitor rests is told to Python, and on a slow machine every step is a rest.
    visitor.ask("board.controls.rest = null")
    assert visitor.ask("board.position") == STEPS  # it begins where it all leads
    visitor.press("Home")
    for frame in range(STEPS + 1):
        sync_api.expect(visitor.board.locator("output")).to_have_text(f"step {frame} of {STEPS}")
        np.testing.assert_allclose(
            visitor.ask("Array.from(board.data.at(0, board.position))"), arrays["map0"][frame], atol=1e-6
        )
        signs = {"negative": arrays["map0"][frame] < 0, "positive": arrays["map0"][frame] > 0}
        counted = " ".join(f"{each.sum()} {sign} ({100 * each.mean():.1f} %)" for sign, each in signs.items())
        assert " ".join(visitor.board.locator(".counts").inner_text().split()) == counted
        visitor.press("ArrowRight")
    wrong = visitor.board.locator("figcaption", has_text="Error on the batch").locator("b").inner_text()
    assert float(wrong.split()[0]) == pytest.approx(100 * arrays["curve2.0"][-1], abs=0.06)
    assert visitor.messages_sent == asked


def test_of_many_classes_those_farthest_from_zero_have_a_bar(visit):
    visitor = visit("?still")
    many = """(() => { const { fields } = board.data, lower = fields.per_class.length / fields.classes.length;
        fields.classes = Array.from({ length: 1000 }, (_, j) => `class ${j}`);
        fields.per_class = Float32Array.from({ length: 1000 * lower }, (_, at) => (at % 1000) / 1000);
        board.redraw(); })()"""
    visitor.ask(many)
    bars = visitor.board.locator(".class-bars canvas")
    said = bars.get_attribute("aria-label").split(", ")
    assert len(said) == 25 and said[-1] == "976 other classes are nearer to zero"
    assert said[0] == "class class 3 0.003" and said[1] == "class class 977 0.977"
    assert bars.bounding_box()["height"] < 700


def test_a_chart_begins_at_zero_and_says_where_it_ends(visit):
    visitor, maps = visit(), shown(still=False)
    for number, curve in enumerate(maps.curves):
        values = np.concatenate([np.asarray(each) for _, each in curve.lines.values()])
        low, high = visitor.ask("board.parts.filter(part => part.ends)[it].ends", number)
        assert (low, high) == pytest.approx((min(0, values.min()), max(0, values.max())))
        chart = f"board.parts.filter(part => part.ends)[{number}]"
        said = [word.removesuffix(" %").replace("−", "-") for word in words(visitor.board, chart)]
        assert [float(end) / (100 if curve.percent else 1) for end in said] == pytest.approx([low, high], abs=0.001)
        lines = [each.colour for each in marks(visitor.board, chart, "stroke") if len(each.path) > 2]
        assert lines == [colour for colour, _ in curve.lines.values()]
    theme = maps.fields(dark=False)["theme"]
    *bars, axis = marks(visitor.board, "board.parts.find(part => part.far)", "fillRect")
    middle = axis.given[2] / 2
    for (x, _, wide, _), colour in ((bar.given, bar.colour) for bar in bars):
        assert colour == theme["negative" if x + wide < middle else "positive" if x > middle else "muted"]


def test_the_current_line_is_lit_and_carries_the_numbers_of_the_capsule(visit):
    visitor, maps = visit(), shown(still=False)
    b, g = maps.arrays()["map0"], maps.arrays()["line1.0"]
    capsule = int(np.abs(b[-1]).argmax())
    lines = visitor.board.locator(".algorithm .line")
    assert visitor.board.locator(".algorithm .pair").inner_text().split("\n") == [f"i = capsule {capsule}", "j = 3"]

    def said(position: float) -> list[str]:
        visitor.ask("board.controls.place(it)", position)
        return [text.replace("−", "-") for text in lines.locator(".numbers").all_inner_texts()]

    def lit() -> list[int]:
        return [k for k in range(4) if "lit" in (lines.nth(k).get_attribute("class") or "").split()]

    texts = said(5)
    assert lit() == [3]
    assert float(texts[0].split("= ")[1]) == pytest.approx(b[4, capsule], abs=6e-4)
    assert float(texts[1].split("= ")[1]) == pytest.approx(g[5, capsule], abs=6e-4)
    assert float(texts[2].split("→ ")[1]) == pytest.approx(b[5, capsule], abs=6e-4)
    assert said(4.3)[2:] == ["…", "…"] and lit() == [1]
    assert said(0)[1] == "g = …"


def test_it_glides_from_the_start_to_the_end_and_stops_where_it_is_told_to(visit):
    visitor = visit(reduced_motion="no-preference")
    visitor.ask(EVEN)
    visitor.ask(
        "(root.drawn = [], board.maps[0].draw = new Proxy(board.maps[0].draw, { apply(draw, self, given) {"
        " root.drawn.push(board.position); return draw.apply(self, given); } }))"
    )
    visitor.press(" ")
    visitor.eventually(lambda: visitor.ask("board.position") == STEPS, "the end")
    drawn = np.array(visitor.ask("root.drawn"))
    # At sixty pictures a second none is far from the one before. How fast they are, `capsviz benchmark app` measures.
    assert drawn[0] == 0 and (np.diff(drawn) >= 0).all() and np.diff(drawn).max() < 0.2
    visitor.ask("(board.controls.play(), board.controls.place(4.5), board.controls.toggle())")
    assert visitor.ask("[board.position, board.controls.timer]") == [5, 0]  # on a frame, which is what is told
    visitor.press("End")
    assert visitor.ask("board.position") == STEPS


def test_who_hears_the_maps_is_told_of_a_step_once_and_of_what_plays_once_it_stands(visit):
    visitor = visit()
    visitor.window.evaluate(HEARD)
    frame, readout = visitor.board.locator("output"), visitor.board.locator(".readout")

    def heard() -> list[str]:
        return visitor.window.evaluate("window.heard")

    def told() -> list[str]:
        return [each.text_content() or "" for each in (readout, frame)]

    visitor.window.wait_for_timeout(1000)  # what stands there at first is read, not told
    visitor.window.evaluate(THREE_STEPS)
    visitor.eventually(lambda: heard() == told(), "capsule and frame after the last of three steps")
    visitor.press("Home")
    visitor.eventually(lambda: heard()[2:] == told(), "those of the start")
    play = visitor.board.get_by_role("button", name="Play or pause (space)")
    assert [play.get_attribute("aria-pressed"), play.inner_text()] == ["false", "▶ Play"]
    visitor.press(" ")
    visitor.eventually(lambda: visitor.ask("board.position") >= 3, "three frames on")
    assert [play.get_attribute("aria-pressed"), play.inner_text()] == ["true", "❚❚ Pause"]
    assert len(heard()) == 4
    visitor.press(" ")
    assert play.get_attribute("aria-pressed") == "false"
    assert visitor.ask("board.controls.timer") == 0
    visitor.eventually(lambda: heard()[4:] == told(), "where it was left")
    slow = visitor.board.get_by_role("button", name="Slow motion (s)")
    sync_api.expect(slow).to_have_attribute("aria-pressed", "false")
    visitor.press("s")
    sync_api.expect(slow).to_have_attribute("aria-pressed", "true")


def test_between_two_frames_the_numbers_glide(visit):
    visitor, values = visit(), shown(still=False).arrays()["map0"]
    visitor.ask("board.controls.place(3.25)")
    np.testing.assert_allclose(
        visitor.ask("Array.from(board.data.at(0, board.position))"), 0.75 * values[3] + 0.25 * values[4], atol=1e-6
    )


def test_an_older_answer_of_python_moves_nothing_and_news_do(visit):
    visitor = visit()
    visitor.ask("board.controls.rest = () => {}")

    def leave(frame: int) -> None:
        visitor.ask("(board.controls.place(it), board.controls.leave())", frame)

    def told(frame: int | None, count: int) -> float:
        """Where the maps stand after Python has said a frame, having heard of one so many times."""
        return visitor.ask("(board.controls.stand(...it), board.position)", [frame, count])

    leave(6)
    leave(8)
    assert told(6, 1) == 8, "8 is still on its way"
    assert told(8, 2) == 8
    assert told(3, 2) == 3, "Back"
    visitor.ask("board.controls.place(7)")
    assert told(3, 2) == 7, "the visitor has moved on and not rested yet"
    leave(5)
    assert told(3, 3) == 3, "5 was heard and undone"
    assert told(None, 3) == STEPS


def test_a_pause_in_a_held_frame_is_a_place_where_the_visitor_leaves_the_maps(visit):
    visitor = visit()
    visitor.ask("board.controls.rest = (frame) => (root.left = frame)")
    visitor.ask("(board.controls.place(2), board.controls.play(), board.controls.toggle())")
    visitor.eventually(lambda: visitor.ask("root.left") == 2, "frame 2 told")


def test_a_click_selects_a_capsule_and_a_second_one_lets_it_go(visit):
    visitor, maps = visit("?still"), shown(still=True)
    b = maps.arrays()["per_class"]
    strongest = int(np.abs(b[:, CLASS]).argmax())
    fields = maps.fields(dark=False)
    theme, (map0,) = fields["theme"], fields["maps"]
    (tiles,) = marks(visitor.board, "board.maps[0].tiles", "drawImage")
    colours = dict(zip(maps.grid.cells.flat, tiles.pixels, strict=True))
    assert map0["high"] > map0["reach"] > -map0["low"] and colours[strongest] == theme["diverging"][-1][1]
    assert visitor.board.locator(".key span").all_inner_texts() == [f"−{map0['reach']:.2f}", f"≥ {map0['reach']:.2f}"]
    unasked = visitor.board.locator(".readout").inner_text()  # no panel waits empty for a click
    assert unasked.startswith(f"{maps.grid.label(strongest)},") and "the strongest. Click a capsule" in unasked
    assert visitor.board.locator(".class-bars canvas").get_attribute("aria-label") is not None
    visitor.click(101)
    visitor.window.get_by_text("heard 101").wait_for()
    readout = visitor.board.locator(".readout").inner_text()
    assert readout.startswith(f"{maps.grid.label(101)},")
    assert f"b = {b[101, 3]:.4f}".replace("-", "−") in readout
    said = visitor.board.locator(".class-bars canvas").get_attribute("aria-label")
    assert said == ", ".join(f"class {j} {b[101, j]:.3f}".replace("-", "−") for j in range(10))
    bars = marks(visitor.board, "board.parts.find(part => part.root.matches('.class-bars'))", "fillRect")
    assert [each.colour for each in bars[:10]] == [theme["negative" if each < 0 else "positive"] for each in b[101]]
    top, left, bottom, right = zoo.load("digits-l2").receptive_field(101)
    (x, y, across, down), wide = marks(visitor.board, SIGHT, "strokeRect")[0].given, visitor.ask(f"{SIGHT}.width")
    frame = [x - 1.5, y - 1.5, across + 3, down + 3]  # it is drawn 3 pixels wide, inside
    assert frame == pytest.approx([each * wide / 28 for each in (left, top, right - left, bottom - top)])
    visitor.click(101)
    visitor.window.get_by_text("heard None").wait_for()
    assert visitor.ask("board.chosen") is None


def test_arrow_keys_select_a_capsule_and_leave_the_player_alone(visit):
    visitor = visit()
    visitor.click(101)
    sync_api.expect(visitor.board.locator(".map canvas")).to_have_attribute("role", "application")
    frame = visitor.board.locator("output.frame").inner_text()
    for key, down, across in (("ArrowRight", 0, 1), ("ArrowDown", 1, 0), ("ArrowLeft", 0, -1), ("ArrowUp", -1, 0)):
        row, column, kind = visitor.ask("board.data.place(board.chosen)")
        visitor.board.locator(".map canvas").first.press(key)
        there = f"row {row + down} column {column + across} type {kind},"
        visitor.board.locator(".readout", has_text=there).wait_for()
    said = visitor.board.locator(".readout").inner_text()
    assert "capsule 101: " in said and visitor.board.locator("output.frame").inner_text() == frame
    visitor.window.get_by_text("heard 101").wait_for()
