"""The live decoder in Chromium: it draws what PyTorch draws, without the server; how fast, a benchmark says."""

from __future__ import annotations

import re

import numpy as np
import pytest

from capsviz import zoo
from capsviz.analysis import perturbation
from capsviz.analysis.predictions import recorded
from tests.browser.api import sync_api
from tests.browser.visitor import Holder, visits
from tests.known import known

PAGE = "live_page.py"
CLASS = 3  # what the page starts with
AT_REST = """async board => { let before = -1;
    while (board.capsvizFrames !== before) {
        before = board.capsvizFrames;
        for (let k = 0; k < 10; k++) await new Promise(requestAnimationFrame);
    }
    return before; }"""
"""How many frames were drawn, once the browser has had ten of its own without one more."""


def signs(text: str) -> str:
    """A number as the page writes it: with a true minus sign, which a zero has not."""
    return "0.0" if text == "-0.0" else text.replace("-", "−")


class Live(Holder):
    """Somebody who moves the capsule of the page."""

    place, ready = ".live-decoder", '.live-decoder[data-ready="true"]'

    def slider(self, dimension: int) -> sync_api.Locator:
        return self.board.locator('input[type="range"]').nth(dimension)

    def slide(self, dimension: int, to: float, steps: int = 20) -> None:
        """Press on the thumb in the middle and move it to a place in 0..1 of the slider, without letting go."""
        box = self.box(self.slider(dimension))
        x, y = box["x"], box["y"] + box["height"] / 2
        self.window.mouse.move(x + box["width"] / 2, y)
        self.window.mouse.down()
        self.window.mouse.move(x + to * box["width"], y, steps=steps)

    def canvas(self, row: str, place: int = 0) -> np.ndarray:
        """The pixels of a canvas, height × width × 3, as numbers from 0 to 255."""
        data = (
            self.board.locator(f"canvas.{row}")
            .nth(place)
            .evaluate("c => [c.height, c.width, ...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]")
        )
        return np.array(data[2:]).reshape(data[0], data[1], 4)[..., :3]

    def shows(self, expected: np.ndarray, row: str = "after", place: int = 0) -> None:
        """Wait until a canvas shows a picture of numbers from 0 to 255; what moves is drawn with the next frame."""
        self.eventually(
            lambda: np.abs(self.canvas(row, place)[..., 0] - expected).max() <= 1, f"the picture “{row}” as expected"
        )

    def until(self, condition: str, argument: object = None) -> None:
        """Wait until a condition on the board holds: a function of its element and the argument."""
        handle = self.board.element_handle()
        self.window.wait_for_function(f"([board, it]) => ({condition})(board, it)", arg=[handle, argument])

    def heard(self, pattern: str) -> re.Match:
        """What Python says it heard, once that matches."""
        text = self.window.get_by_text(re.compile(pattern))
        text.wait_for()
        return known(re.search(pattern, text.inner_text()))


@pytest.fixture
def visit(server, open_window):
    """Open the page; at the end nothing may have gone wrong there."""
    with visits(Live, open_window, server) as visit:
        yield visit


def drawn(offsets: dict[int, float], upper: int = CLASS, name: str = "digits-dr") -> np.ndarray:
    """What PyTorch draws of the page's capsule, 0 to 255."""
    pose = zoo.exemplar_capsules(name)[upper, 0].clone()
    for dimension, offset in offsets.items():
        pose[dimension] += offset
    return perturbation.draw(zoo.load(name), pose[None], upper)[0, 0].numpy() * 255


def test_the_page_draws_as_pytorch_draws(visit):
    """One capsule through the whole of it; that the decoder's numbers are PyTorch's, its unit test says."""
    assert np.abs(visit().canvas("before")[..., 0] - drawn({})).max() <= 1


def test_dragging_draws_without_the_server_and_python_hears_where_it_ended(visit):
    live = visit()
    still = live.canvas("after")
    asked = live.messages_sent
    live.slide(5, 0.9)
    live.until("(board) => board.querySelectorAll('output')[5].textContent !== '0'")
    live.until("(board) => board.querySelector('#dimension-5').value >= 0.15")
    offset = float(live.resting(live.slider(5).input_value, "the last move of the hand"))
    assert 0.15 <= offset <= 0.25
    live.shows(drawn({5: offset}))
    assert live.messages_sent == asked
    assert np.abs(live.canvas("after") - still).max() > 20
    live.window.mouse.up()
    live.heard(rf"heard .*\(0\.0, 0\.0, 0\.0, 0\.0, 0\.0, {offset}, 0\.0.*kept")
    assert live.messages_sent == asked + 1


def test_the_difference_is_signed(visit):
    live = visit()
    assert np.ptp(live.canvas("difference").reshape(-1, 3), axis=0).max() == 0
    live.slider(2).focus()
    for _ in range(4):
        live.window.keyboard.press("ArrowRight")
    live.until("(board) => board.querySelectorAll('output')[2].textContent === '+0.20'")
    live.heard(r"heard \(0\.0, 0\.0, 0\.2, ")
    live.shows(drawn({2: 0.2}))
    change = drawn({2: 0.2}) - drawn({})
    colours = live.canvas("difference").astype(int)
    redness = colours[..., 0] - colours[..., 2]
    assert change.max() > 25 and (redness[change > 25] > 20).all()  # orange where it is brighter
    assert change.min() < -25 and (redness[change < -25] < -20).all()  # blue where it is darker


def test_a_double_click_resets_one_slider_and_the_button_all(visit):
    live = visit()
    for dimension in (0, 9):
        live.slide(dimension, 0.8)
        live.window.mouse.up()
    live.heard(r"heard \(0\.\d+, 0\.0.*0\.[12]")
    live.slider(0).dblclick()
    live.until("(board) => board.querySelectorAll('output')[0].textContent === '0'")
    live.heard(r"heard \(0\.0, 0\.0.*0\.[12]")
    zero = live.board.get_by_role("button", name="All to zero")
    zero.click()
    live.heard(r"heard \(0\.0(, 0\.0){15}\)")
    live.eventually(lambda: np.array_equal(live.canvas("after"), live.canvas("before")), "the picture of before")
    sync_api.expect(zero).to_be_disabled()
    sync_api.expect(zero).to_be_focused()


def test_python_may_move_the_sliders_change_the_class_and_take_the_component_away(visit):
    live = visit()
    live.window.get_by_role("button", name="From Python").click()
    live.until("(board) => board.querySelectorAll('output')[15].textContent === '+0.20'")
    live.shows(drawn({15: 0.2}))
    live.window.get_by_text("Wide").click()
    live.until("(board) => board.querySelector('input').max === '1'")
    live.window.get_by_role("combobox").click()
    before = live.board.locator(".value").first.inner_text()
    live.window.get_by_role("option", name="8", exact=True).click()
    live.until("(board, text) => board.querySelector('.value').textContent !== text", before)
    live.shows(drawn({15: 0.2}, 8))
    for _ in range(2):
        live.window.get_by_text("Shown").click()
        live.board.wait_for(state="detached")
        live.window.get_by_text("Shown").click()
        live.settle()
    assert live.board.count() == 1
    assert live.board.locator("input").count() == 16
    before = live.board.evaluate(AT_REST)
    live.slider(1).press("ArrowLeft")
    live.until("(board, before) => board.capsvizFrames === before + 1", before)
    assert live.board.evaluate(AT_REST) == before + 1


def test_dragging_a_cell_moves_that_number_by_standard_deviations(visit):
    live = visit("?hand=cells")
    assert live.board.locator(".cell").count() == 160
    pose, spread = zoo.exemplar_capsules("digits-dr")[CLASS, 0], zoo.capsule_spread("digits-dr")[CLASS]
    mean = recorded(zoo.entry("digits-dr")).class_means(10)[CLASS]
    deviations = ((pose - mean) / spread).tolist()
    assert max(map(abs, deviations)) < 4, "an image that is read as its class is not far from the others of it"
    assert live.board.locator(".chosen .cell").all_inner_texts() == [signs(f"{value:.1f}") for value in deviations]
    told = f"{pose[4]:+.2f}, {deviations[4]:+.1f} σ from the mean of the class"
    assert live.board.locator(".chosen .cell").nth(4).get_attribute("aria-valuetext") == signs(told)
    assert live.board.locator(".cells-key span").all_inner_texts() == ["≤ −6 σ", "≥ 6 σ"]
    asked = live.messages_sent
    x, y = live.middle(live.board.locator(".chosen .cell").nth(4))
    live.window.mouse.move(x, y)
    live.window.mouse.down()
    live.window.mouse.move(x, y - 48, steps=12)  # three standard deviations
    live.until("(board) => board.querySelectorAll('.chosen .cell')[4].classList.contains('moved')")
    expected = round(min(0.25, 3 * float(spread[4])), 2)
    live.shows(drawn({4: expected}))
    assert live.messages_sent == asked
    live.window.mouse.up()
    live.heard(rf"heard \(0\.0, 0\.0, 0\.0, 0\.0, {expected}, 0\.0")


def test_a_number_that_hardly_varies_in_its_class_is_dragged_as_well(visit):
    """A deviation of matrix capsules may be far below the last decimal of an offset."""
    live = visit("?hand=cells&model=digits-matrix")
    live.board.get_by_role("button", name="class capsule 7").click()
    live.heard(r"class 7 ")
    deviations = live.board.evaluate("root => [...root.capsvizBoard.decoder(0).deviations(7)]")
    place = deviations.index(min(deviations))
    assert deviations[place] < 0.001
    box = live.box(live.board.locator(".row.chosen .cell").nth(place))
    live.window.mouse.move(box["x"] + 4, box["y"] + 4)
    live.window.mouse.down()
    live.window.mouse.move(box["x"] + 4, box["y"] - 60, steps=6)
    sync_api.expect(live.board.locator(".row.chosen .cell").nth(place)).to_contain_class("moved")
    live.window.mouse.up()
    sync_api.expect(live.board.locator(".unit")).to_contain_text("are in units of")


def test_of_several_models_the_walk_says_whose_lengths_it_tells(visit):
    live = visit("?several&hand=walk")
    assert live.board.locator(".reading").inner_text().startswith("DR: Length here ")


def test_cells_of_a_model_that_nobody_measured_show_its_numbers(visit):
    """Without the means of the classes there is no deviation from them."""
    live = visit("?hand=cells&unmeasured=1")
    numbers = [signs(f"{value:.1f}") for value in zoo.exemplar_capsules("digits-dr")[CLASS, 0].tolist()]
    assert live.board.locator(".chosen .cell").all_inner_texts() == numbers
    assert "σ" not in live.board.locator(".chosen .cell").first.get_attribute("aria-valuetext")


def test_a_row_of_the_grid_chooses_its_class_and_keys_move_a_cell(visit):
    live = visit("?hand=cells")
    live.board.get_by_role("button", name="class capsule 8").click()
    live.heard(r"class 8 ")
    live.shows(drawn({}, 8), "before")
    cell = live.board.get_by_role("slider", name="class 8, dimension 2")
    cell.focus()
    for _ in range(3):
        live.window.keyboard.press("ArrowUp")
    live.heard(r"kept \(0\.0, 0\.0, 0\.\d*[1-9]")
    live.window.keyboard.press("PageDown")  # the same number of the next class, which nobody has moved yet
    moved = live.board.get_by_role("slider", name="class 9, dimension 2")
    assert moved.evaluate("cell => cell.matches(':focus')")
    live.window.keyboard.press("ArrowUp")
    step = round(max(0.01, 0.25 * float(zoo.capsule_spread("digits-dr")[9, 2])), 2)
    live.heard(r"class 9 ")
    live.heard(rf"kept \(0\.0, 0\.0, {step:g}\d*, 0\.0")
    live.window.keyboard.press("PageUp")
    live.window.keyboard.press("ArrowRight")
    assert live.board.get_by_role("slider", name="class 8, dimension 3").evaluate("cell => cell.matches(':focus')")


@pytest.mark.parametrize(("target", "path"), [((8, 2), "straight"), ((1, -1), "on the sphere")])
def test_a_walk_draws_what_pytorch_draws(visit, target: tuple[int, int], path: str):
    live = visit(f"?hand=walk&to={target[0]},{target[1]}")
    exemplars, model = zoo.exemplar_capsules("digits-dr"), zoo.load("digits-dr")
    start = perturbation.masked(exemplars[CLASS, :1], CLASS, 10)[0]
    end = perturbation.masked(exemplars[target[0], 0 if target[1] < 0 else target[1]][None], target[0], 10)[0]
    way = perturbation.lerp if path == "straight" else perturbation.slerp
    half = model.decoder.layers(way(start, end, 0.5).flatten()).detach().unflatten(0, (28, 28)).numpy() * 255
    before = live.canvas("after")[..., 0]
    live.board.get_by_role("button", name=f"{path}, 50 %").click()
    live.heard(rf"share 0\.5 sphere {path != 'straight'}")
    live.shows(half)
    assert np.abs(before - half).max() > 20, "it does lead somewhere"


def test_a_walk_plays_without_the_server_and_python_hears_where_it_was_left(visit):
    live = visit("?hand=walk&to=8,2")
    start, asked = live.canvas("after"), live.messages_sent
    live.board.get_by_role("button", name="Play or pause (space)").click()
    live.until("(board) => parseInt(board.querySelector('.frame').textContent) >= 20")
    assert live.messages_sent == asked
    live.window.keyboard.press("End")
    live.until("(board) => board.querySelector('.frame').textContent === '100 %'")
    live.heard(r"to \(8, 2\) share 1\.0 sphere False")
    end = (
        perturbation.draw(zoo.load("digits-dr"), zoo.exemplar_capsules("digits-dr")[8, 2][None], 8)[0, 0].numpy() * 255
    )
    live.shows(end)
    assert np.abs(live.canvas("after") - start).max() > 50
    for share in (13, 38, 50):
        live.board.get_by_role("button", name=f"on the sphere, {share} %").click()
        sync_api.expect(live.board.locator(".frame")).to_have_text(f"{share} %")
    live.heard(r"share 0\.5 sphere True")


def test_a_number_with_a_word_comes_first_and_the_others_are_folded_until_one_moves(visit):
    live = visit("?worded")
    words = live.board.locator(".word").all_inner_texts()
    assert words[0] == "slant" and not any(words[1:])
    shown = [slider for slider in live.board.locator('input[type="range"]').all() if slider.is_visible()]
    assert [slider.get_attribute("id") for slider in shown] == ["dimension-1"]
    summary = live.board.locator("summary")
    sync_api.expect(summary).to_have_text("15 numbers whose meaning has no word")
    summary.press("Enter")
    sync_api.expect(live.board.locator("#dimension-7")).to_be_visible()
    live.board.locator("#dimension-1").press("ArrowRight")
    live.heard(r"heard \(0\.0, 0\.0\d, ")
    sync_api.expect(live.board.locator("#dimension-1")).to_be_focused()
    sync_api.expect(live.board.locator("#dimension-7")).to_be_visible()
    summary.press("Enter")
    sync_api.expect(live.board.locator("#dimension-7")).to_be_hidden()
    live.window.get_by_role("button", name="From Python").click()
    sync_api.expect(live.board.locator("#dimension-15")).to_be_visible()


def test_four_decoders_answer_to_one_slider_each_with_its_own_capsule(visit):
    live = visit("?several")
    assert live.board.locator("h3").all_inner_texts() == ["DR", "EM", "L2", "L1"]
    assert not any(live.board.locator(".word").all_inner_texts()), "one model's words say nothing of another's numbers"
    live.slide(5, 1.0)
    live.until("(board) => board.querySelectorAll('output')[5].textContent === '+0.25'")
    live.window.mouse.up()
    live.heard(r"heard \(0\.0(, 0\.0){4}, 0\.25")
    for place, routing in enumerate(("dr", "em", "l2", "l1")):
        live.shows(drawn({}, name=f"digits-{routing}"), "before", place)
        live.shows(drawn({5: 0.25}, name=f"digits-{routing}"), "after", place)


def test_four_decoders_of_the_papers_size_follow_the_hand(visit):
    live = visit("?several=paper")
    before = [live.canvas("after", place) for place in range(4)]
    live.slide(5, 1.0, steps=40)
    live.until("(board) => board.capsvizLatencies.length > 3")
    live.window.mouse.up()
    live.heard(r"heard \(0\.0(, 0\.0){4}, 0\.25")
    for place, still in enumerate(before):
        assert not np.array_equal(live.canvas("after", place), still)
