"""Quick hands in Chromium: what was done a moment before the answer to something else came is not undone by that."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from tests.browser.api import sync_api
from tests.browser.test_history import shows
from tests.browser.test_routing_board import EVEN, at
from tests.browser.visitor import Connection, Visitor

HELD = 800
"""Milliseconds in which the answer to what was done before comes."""


def link(visitor: Visitor) -> str:
    """The choices in the address, as one reads them."""
    return unquote(visitor.query())


def drag(visitor: Visitor, place: tuple[float, float], right: float, down: float) -> None:
    """Move something and hold it still until the answer to what was done before has come, then let go."""
    mouse = visitor.window.mouse
    mouse.move(*place)
    mouse.down()
    mouse.move(place[0] + right, place[1] + down, steps=8)
    visitor.window.wait_for_timeout(HELD)
    mouse.up()


@pytest.mark.parametrize("pause", [0, 100])
def test_a_class_chosen_right_behind_a_slider_is_drawn_moved(visitor: Visitor, pause: int):
    visitor.open("perturb?model=digits-dr&image=0")
    three = visitor.window.locator('[class*="st-key-upper"]').get_by_role("radio", name="3", exact=True)
    visitor.window.locator("#dimension-4").focus()
    visitor.window.keyboard.press("ArrowRight")
    visitor.window.wait_for_timeout(pause)
    three.click()
    wanted = f"model=digits-dr&image=0&class=3&offsets={',' * 4}0.05{',' * 11}"
    visitor.eventually(lambda: link(visitor) == wanted, "class and offset in the link")
    visitor.settle()
    sync_api.expect(three).to_be_checked()
    state = visitor.window.locator(".live-decoder").first.evaluate("root => root.capsvizBoard.state")
    assert state["upper"] == 3 and state["offsets"][4] == 0.05


@pytest.mark.parametrize("pause", [0, 100])
def test_an_offset_of_a_row_that_is_no_longer_chosen_is_void(visitor: Visitor, pause: int):
    visitor.open("perturb?model=digits-dr&image=0&hand=cells&class=5")
    board = visitor.window.locator(".live-decoder").first
    board.evaluate("root => { const board = root.capsvizBoard; board.offset(2, 0.1); board.leaveSoon(); }")
    visitor.window.wait_for_timeout(pause)
    visitor.press(".")
    visitor.eventually(lambda: link(visitor) == "model=digits-dr&image=0&class=6&hand=cells", "the class in the link")
    visitor.settle()
    visitor.window.wait_for_timeout(HELD)
    assert link(visitor) == "model=digits-dr&image=0&class=6&hand=cells"
    assert board.evaluate("root => root.capsvizBoard.state.upper") == 6
    assert not any(board.evaluate("root => root.capsvizBoard.state.offsets"))


FOLDED = "root => [...root.querySelectorAll('.others input')].map(({ id }) => id)"


def worded(visitor: Visitor) -> sync_api.Locator:
    """The first slider whose meaning has a word, which the next class has other words for."""
    return visitor.window.locator(
        f"#{visitor.window.locator('.live-decoder .sliders input').first.get_attribute('id')}"
    )


def test_a_slider_that_is_held_while_another_class_comes_stays_in_the_hand(visitor: Visitor):
    """Other numbers of the next class have words: the sliders change places once the hand has let go."""
    visitor.open("perturb?model=digits-dr&image=0&class=0")
    board, mouse, slider = visitor.window.locator(".live-decoder").first, visitor.window.mouse, worded(visitor)
    before, box = board.evaluate(FOLDED), visitor.box(slider)
    y = box["y"] + box["height"] / 2
    mouse.move(box["x"] + box["width"] / 2, y)
    mouse.down()
    mouse.move(box["x"] + 0.7 * box["width"], y, steps=4)
    visitor.eventually(lambda: float(slider.input_value()) > 0, "the slider in the hand")
    visitor.window.keyboard.press(".")
    visitor.eventually(lambda: "class=1" in link(visitor), "the next class in the link")
    visitor.settle()
    visitor.window.wait_for_timeout(HELD)
    mouse.move(box["x"] + 0.2 * box["width"], y, steps=8)
    visitor.eventually(lambda: float(slider.input_value()) < 0, "the slider still in the hand")
    left = visitor.resting(slider.input_value, "where the hand has it")
    assert float(left) < 0 and board.evaluate(FOLDED) == before
    mouse.up()
    visitor.eventually(lambda: left in link(visitor), "the offset in the link")
    visitor.settle()
    dimension = int(str(slider.get_attribute("id")).removeprefix("dimension-"))
    assert link(visitor) == f"model=digits-dr&image=0&class=1&offsets={',' * dimension}{left}{',' * (15 - dimension)}"
    led = Visitor(visitor.window.context.new_page(), visitor.address).open(f"perturb?{link(visitor)}")
    assert board.evaluate(FOLDED) == led.window.locator(".live-decoder").first.evaluate(FOLDED) != before
    assert led.window.locator(f"#dimension-{dimension}").input_value() == left
    led.leave()


def test_a_slider_keeps_the_focus_when_another_class_comes(visitor: Visitor):
    visitor.open("perturb?model=digits-dr&image=0&class=0")
    slider = worded(visitor)
    slider.focus()
    visitor.window.keyboard.press("ArrowRight")
    visitor.window.keyboard.press(".")
    visitor.eventually(lambda: "class=1" in link(visitor), "the next class in the link")
    visitor.settle()
    visitor.window.wait_for_timeout(HELD)
    sync_api.expect(slider).to_be_focused()
    before = float(slider.input_value())
    visitor.window.keyboard.press("ArrowRight")
    assert float(slider.input_value()) == pytest.approx(before + 0.05)


def test_a_player_that_is_paused_on_its_way_stands_on_the_frame_that_its_link_has(moving: Visitor):
    moving.open("?model=digits-dr&image=0")
    board = moving.window.locator("section.routing")
    pause = """root => new Promise((done) => {
        const { controls } = root.capsvizBoard;
        const look = () => {
            const between = controls.position % 1;
            if (between < 0.3 || between > 0.7) return requestAnimationFrame(look);
            controls.toggle();
            done(controls.position);
        };
        controls.play();
        look();
    })"""
    at(moving, "board.controls.reset(0)")  # it plays by itself to begin with
    at(moving, EVEN)
    frame = board.evaluate(pause)
    assert frame == round(frame) < 10
    wanted = f"model=digits-dr&image=0&frame={frame}"
    moving.eventually(lambda: link(moving) == wanted, "the frame in the link")
    moving.settle()
    assert at(moving, "board.controls.position") == frame


def turned(visitor: Visitor) -> list[int | None]:
    """T of the routing board or the toy, and the frame at which its player stands, None for the last."""
    board = visitor.window.locator('[data-stale="false"] section:is(.routing, .toy)')
    return board.evaluate("({ capsvizBoard: { rounds, controls } }) => [rounds.value, controls.left]")


@pytest.mark.parametrize("more", ["", "&lab=toy"])
def test_a_line_gone_to_again_right_behind_another_t_is_the_one_of_that(visitor: Visitor, more: str):
    line = Connection(visitor.window)
    visitor.open(f"?model=digits-dr&image=0&frame=0{more}")
    with line.slow():
        visitor.press("-")
        visitor.window.wait_for_timeout(HELD)
        visitor.press("Home")
        visitor.window.wait_for_timeout(HELD)
    visitor.eventually(lambda: "T=2" in link(visitor), "the other T in the link")
    visitor.eventually(lambda: link(visitor) == f"model=digits-dr&image=0&frame=0{more}&T=2", "the line in the link")
    visitor.settle()
    assert turned(visitor) == [2, 0]


@pytest.mark.parametrize("player", [0, 1])
def test_a_line_of_either_board_of_a_pair_right_behind_another_t_is_the_one_of_that(visitor: Visitor, player: int):
    line = Connection(visitor.window)
    visitor.open("?model=digits-dr&image=0&frame=0&second=same:em")
    boards = visitor.window.locator("section.routing")

    def frames() -> list[str | None]:
        return [each.get_attribute("data-frame") for each in boards.all()]

    sync_api.expect(boards).to_have_count(2)
    boards.nth(player).locator("output.frame").click()  # keys go to the player that was touched last
    visitor.press("-")
    with line.slow():
        visitor.window.wait_for_timeout(HELD)
        visitor.press("Home")
        visitor.eventually(line.answered, "the other T on its way")
        answer = len(line.waiting)
        visitor.window.wait_for_timeout(HELD)
        line.arrive(answer)
        visitor.eventually(lambda: "T=2" in link(visitor), "the other T in the link")
        visitor.eventually(lambda: frames() == ["0", "0"], "both at their beginning")
    wanted = "model=digits-dr&image=0&frame=0&second=same:em&T=2"
    visitor.eventually(lambda: link(visitor) == wanted, "the line in the link")
    visitor.settle()
    assert frames() == ["0", "0"]


@pytest.mark.parametrize("more", ["", "&lab=toy"])
def test_another_t_and_back_at_once_leaves_the_player_where_its_link_has_it(visitor: Visitor, more: str):
    visitor.open(f"?model=digits-dr&image=0&frame=1{more}")
    press = "for (const key of '+-') document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));"
    visitor.window.evaluate(f"() => {{ {press} }}")
    assert turned(visitor) == [3, None]
    visitor.eventually(lambda: link(visitor) == f"model=digits-dr&image=0{more}", "the end in the link")
    visitor.settle()
    assert turned(visitor) == [3, None]


def test_a_board_whose_other_t_is_not_at_hand_goes_to_its_end_with_it(visitor: Visitor):
    """Of a network of several routed layers."""
    visitor.open("em?model=digits-matrix&image=0&frame=1")
    before = at(visitor, "board.run.iterations")
    visitor.press("+")
    other = f"model=digits-matrix&image=0&T={before + 1}"
    visitor.eventually(lambda: link(visitor) == other, "the other T in the link")
    visitor.settle()
    assert at(visitor, "[board.run.iterations, board.controls.left]") == [before + 1, None]


def test_a_cell_that_is_held_while_the_next_image_comes_stays_the_one_that_moves(visitor: Visitor):
    visitor.open("perturb?model=digits-dr&image=0&hand=cells&class=2")
    board, mouse = visitor.window.locator(".live-decoder").first, visitor.window.mouse
    cell = board.get_by_role("slider", name="class 6, dimension 5", exact=True)
    x, y = visitor.middle(cell)
    visitor.press("Alt+]")
    mouse.move(x, y)
    mouse.down()
    mouse.move(x, y + 9, steps=3)
    visitor.eventually(lambda: "image=1" in link(visitor), "the next image in the link")
    visitor.settle()
    mouse.move(x, y + 30, steps=8)
    state = board.evaluate("root => new Promise(requestAnimationFrame).then(() => root.capsvizBoard.state)")
    assert state["upper"] == 6 and [d for d, offset in enumerate(state["offsets"]) if offset] == [5]
    moved = board.locator(".cell.moved").evaluate_all("cells => cells.map((cell) => cell.ariaLabel)")
    assert moved == ["class 6, dimension 5"]
    assert board.locator(".reading").inner_text().startswith("class 6, dimension 5")
    mouse.up()
    wanted = f"model=digits-dr&image=1&class=6&offsets={',' * 5}{state['offsets'][5]:g}{',' * 10}&hand=cells"
    visitor.eventually(lambda: link(visitor) == wanted, "image, class and offset in the link")
    visitor.settle()
    six = visitor.window.locator('[class*="st-key-upper"]').get_by_role("radio", name="6", exact=False)
    sync_api.expect(six).to_be_checked()
    assert board.evaluate("root => root.capsvizBoard.state.upper") == 6


def test_a_row_and_at_once_the_first_one_again_leave_the_first_one_chosen(visitor: Visitor):
    visitor.open("perturb?model=digits-dr&image=0&class=5&hand=cells")
    board, sent = visitor.window.locator(".live-decoder"), visitor.messages_sent
    for name in ("class capsule 3", "class capsule 5"):
        board.get_by_role("button", name=name, exact=True).evaluate("button => button.click()")
    visitor.eventually(lambda: visitor.messages_sent >= sent + 2, "both rows on their way")
    visitor.still()
    visitor.settle()
    visitor.eventually(lambda: "class=5" in link(visitor), "the first class in the link")
    five = visitor.window.locator('[class*="st-key-upper"]').get_by_role("radio", name="5", exact=False)
    sync_api.expect(five).to_be_checked()
    assert board.evaluate("root => root.capsvizBoard.state.upper") == 5


def test_the_cloud_stays_as_it_was_turned_when_an_answer_comes(visitor: Visitor):
    visitor.open("?model=digits-dr&image=0&3d=0.5,0.3")
    middle = visitor.middle(visitor.window.locator("section.routing .cloud canvas"))
    visitor.window.keyboard.press("ArrowLeft")
    visitor.window.wait_for_timeout(250)
    drag(visitor, middle, 80, 20)
    visitor.eventually(lambda: link(visitor) == "model=digits-dr&image=0&frame=10&3d=1.17,0.47", "the turn in the link")
    visitor.settle()
    assert at(visitor, "[board.cloud.camera.yaw, board.cloud.camera.pitch]") == pytest.approx([1.17, 0.47], abs=0.01)


def test_a_knob_that_is_held_is_not_put_back_by_an_answer(visitor: Visitor):
    visitor.open("mixtures?model=digits-dr&as=votes")
    knob = visitor.window.get_by_role("slider", name="βₐ")
    middle = visitor.middle(knob)
    visitor.press("ArrowLeft")
    drag(visitor, middle, 40, 0)
    left = knob.input_value()
    assert float(left) > 0
    visitor.eventually(lambda: f"beta_a={left}" in link(visitor) and "frame=29" in link(visitor), "both in the link")
    visitor.settle()
    assert knob.input_value() == left


def test_a_knob_that_was_put_back_by_the_hand_follows_the_address(visitor: Visitor):
    """A slider that ends where it began says nothing of its end."""
    visitor.open("mixtures?model=digits-dr&as=votes")
    pressed = visitor.window.locator("section.mixture .tools button[aria-pressed=true]")
    before = pressed.all_inner_texts()
    visitor.window.locator("section.mixture .tools").first.get_by_role("button", pressed=False).nth(1).click()
    visitor.eventually(lambda: link(visitor) != "model=digits-dr&as=votes", "other points in the link")
    visitor.settle()
    assert pressed.all_inner_texts() != before
    there_and_back = """knob => [2, knob.value].forEach((value) => {
        knob.value = value;
        knob.dispatchEvent(new Event("input", { bubbles: true }));
    })"""
    visitor.window.get_by_role("slider", name="βₐ").evaluate(there_and_back)
    visitor.window.go_back()
    visitor.eventually(lambda: link(visitor) == "model=digits-dr&as=votes", "the address of before")
    visitor.eventually(lambda: pressed.all_inner_texts() == before, "the points of before")


@pytest.mark.parametrize("pause", [120, 180, 250])
def test_a_capsule_clicked_before_an_answer_is_the_one_that_is_muted(visitor: Visitor, pause: int):
    visitor.open("?model=digits-dr&image=0&capsule=195")
    board = visitor.window.locator("section.routing")
    script = """(root, pause) => {
        const board = root.capsvizBoard;
        const named = (name) => [...root.querySelectorAll("button")].find(({ textContent }) => textContent === name);
        const mute = () => named("Mute").click();
        mute();
        setTimeout(() => { board.select(146, false); setTimeout(mute, pause); }, pause);
    }"""
    board.evaluate(script, pause)
    wanted = "model=digits-dr&image=0&capsule=146&touch=mute:146,195"
    visitor.eventually(lambda: link(visitor) == wanted, "both capsules in the link, the last one looked at")
    visitor.settle()
    sync_api.expect(board.get_by_role("button", name="Undo: 2 muted")).to_be_visible()
    assert at(visitor, "board.capsule") == 146
    assert at(visitor, "[...board.run.data.gains.keys()].filter(i => board.run.data.gains[i] === 0)") == [146, 195]


def test_back_to_the_image_of_before_within_a_run(visitor: Visitor):
    sent = visitor.open("?model=digits-dr&image=0").messages_sent
    script = """pictures => { pictures[2].click(); setTimeout(() => pictures[0].click(), 60); }"""
    visitor.window.locator('[class*="st-key-image_thumbs"] button').evaluate_all(script)
    visitor.eventually(lambda: visitor.messages_sent >= sent + 2, "both images on their way")
    visitor.window.wait_for_timeout(HELD)
    shows(visitor, 0)
