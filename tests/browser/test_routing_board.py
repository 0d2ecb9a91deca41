"""The routing board in Chromium: it plays without the server, obeys keys, and what is picked goes to the link."""

from __future__ import annotations

import json
import re
from typing import Literal

import numpy as np
import pytest

from app.benchmarks.live import PLAY
from tests.browser.api import sync_api
from tests.browser.pen import marks, told, words
from tests.browser.visitor import LED, SCREEN, Connection, Visitor
from tests.known import known
from tests.serving import WAIT

EVEN = """(() => { const real = window.requestAnimationFrame; let now;
    window.requestAnimationFrame = (draw) => { now ??= performance.now(); return real(() => draw(now += 1000 / 60)); };
})()"""
"""From here on a sixtieth of a second passes from picture to picture, however long the machine takes for one."""


def shown(visitor: Visitor) -> sync_api.Locator:
    """The board."""
    return visitor.window.locator('[data-stale="false"] section.routing[data-frame]').first


def last(said: dict, array: str) -> np.ndarray:
    """An array of what the board was told, in the last iteration."""
    return np.reshape(said[array], (said["iterations"], -1))[said["rounds"] - 1]


def at(visitor: Visitor, script: str):
    """What an expression of `board` gives on the board."""
    shown(visitor).wait_for()
    return visitor.window.evaluate(
        "script => { const find = (root) => { for (const at of root.querySelectorAll('*')) {"
        " if (at.capsvizBoard) return at.capsvizBoard; if (at.shadowRoot) { const found = find(at.shadowRoot);"
        " if (found) return found; } } }; const board = find(document); return eval(script); }",
        script,
    )


def press(visitor: Visitor, key: str) -> float:
    visitor.window.keyboard.press(key)
    return at(visitor, "board.controls.position")


@pytest.mark.parametrize(("page", "frames"), [("", 8), ("em", 6)])
def test_it_plays_every_line_of_every_iteration_without_asking_the_server(moving: Visitor, page: str, frames: int):
    moving.open(f"{page}?model=digits-dr&T=2")
    assert at(moving, "board.run.count") == frames
    assert press(moving, "Home") == 0
    moving.eventually(lambda: "frame=0" in moving.query(), "the first frame in the link")
    moving.settle()
    sent = moving.messages_sent
    at(moving, "(board.drawings.length = 0, board.controls.player.hold = 0)")  # standing still draws nothing
    at(moving, EVEN)
    at(moving, "board.controls.root.querySelector('button').click()")
    moving.eventually(lambda: at(moving, "board.controls.position") == frames - 1, "the last frame")
    assert at(moving, "board.controls.timer") == 0
    # It glides: many more pictures than frames. How fast they are, `capsviz benchmark app` measures.
    assert at(moving, "board.drawings.length") > 3 * frames
    moving.eventually(lambda: "frame" not in moving.query(), "in the link, that it stands at its end")
    moving.settle()
    assert moving.messages_sent == sent + 1, "one message, where it was left"


def test_keys_step_jump_play_and_pause_but_not_while_a_field_is_typed_into(visitor: Visitor):
    visitor.open("?model=digits-dr")
    assert at(visitor, "board.controls.position") == 11  # what came out is seen first
    assert press(visitor, "Home") == 0
    assert press(visitor, "ArrowRight") == 1
    assert press(visitor, "ArrowLeft") == 0
    assert press(visitor, "End") == 11
    press(visitor, "Home")
    press(visitor, " ")
    assert at(visitor, "board.controls.timer") > 0
    press(visitor, " ")
    assert at(visitor, "board.controls.timer") == 0
    press(visitor, "Home")
    visitor.window.evaluate("document.body.append(Object.assign(document.createElement('input'), {id: 'typing'}))")
    visitor.window.locator("#typing").press("ArrowRight")
    assert at(visitor, "board.controls.position") == 0


def test_where_the_visitor_stops_goes_to_the_link_and_the_link_leads_there(visitor: Visitor):
    visitor.open("?model=digits-dr&frame=5")
    assert at(visitor, "board.controls.position") == 5
    press(visitor, "ArrowRight")
    visitor.eventually(lambda: "frame=6" in visitor.query(), "the frame in the link")
    visitor.window.go_back()
    visitor.eventually(lambda: at(visitor, "board.controls.position") == 5, "the frame of before")


def test_a_back_that_got_lost_on_its_way_is_heard_after_all(visitor: Visitor):
    line = Connection(visitor.window)
    visitor.open("?model=digits-dr&frame=5")
    press(visitor, "ArrowRight")
    visitor.eventually(lambda: "frame=6" in visitor.query(), "the frame in the link")
    visitor.settle()
    line.lose_one()
    visitor.window.go_back()
    visitor.eventually(lambda: at(visitor, "board.controls.position") == 5, "the frame that the address says")
    assert b"frame=5" in line.lost[0]
    assert "frame=5" in visitor.query()


def test_how_the_votes_are_looked_at_is_in_the_link_and_comes_back_with_it(visitor: Visitor):
    visitor.open("?model=digits-dr")
    board = visitor.window.locator("section.routing")
    board.get_by_role("button", name="3-D").click()
    visitor.eventually(lambda: "3d=0.6%2C0.35" in visitor.query(), "the turned votes in the link")
    board.get_by_role("button", name="Heat").click()
    visitor.eventually(lambda: "heat=off" in visitor.query(), "the bare image in the link")
    board.get_by_title("Sort by û·v").click()
    visitor.eventually(lambda: "list=agreement" in visitor.query(), "the order of the list in the link")
    visitor.drag(*visitor.middle(board.locator(".cloud canvas")), 60, 0)
    visitor.eventually(lambda: "3d=1.1%2C0.35" in visitor.query(), "the new angle in the link")
    board.locator(".cloud canvas").focus()
    frame = at(visitor, "board.root.dataset.frame")
    for key in ("ArrowLeft", "ArrowLeft", "ArrowUp"):
        visitor.window.keyboard.press(key)
    visitor.eventually(lambda: "3d=0.9%2C0.25" in visitor.query(), "the angle of the keys in the link")
    assert at(visitor, "board.root.dataset.frame") == frame, "they are not the player's"
    seen = json.loads(at(visitor, "JSON.stringify(board.looked())"))
    visitor.window.reload()
    visitor.settle()
    assert json.loads(at(visitor, "JSON.stringify(board.looked())")) == seen
    board.get_by_role("button", name="3-D").click()
    visitor.eventually(lambda: "3d=" not in visitor.query(), "the plane in the link")


@pytest.mark.parametrize(
    ("page", "left", "link"),
    [
        ("discriminative?model=digits-l2&part=history", "capsule-maps", "frame=1"),
        ("?model=digits-dr&lab=toy", "toy", "frame=1"),
    ],
)
def test_every_player_leaves_its_place_in_the_link(visitor: Visitor, page: str, left: str, link: str):
    visitor.open(page)
    player = visitor.window.locator(f"section.{left} .player-controls input").first
    player.wait_for()  # by then it hears keys
    visitor.press("Home")
    visitor.press("ArrowRight")
    visitor.eventually(lambda: link in visitor.query(), "the frame in the link")
    visitor.window.reload()
    visitor.settle()
    visitor.eventually(lambda: player.input_value() == "1", "the frame of the link")


def test_the_lines_carry_the_numbers_of_the_chosen_pair(visitor: Visitor):
    visitor.open("?model=digits-dr&capsule=17&class=3")
    press(visitor, "Home")
    for _ in range(7):
        press(visitor, "ArrowRight")
    text = at(visitor, "board.algorithm.root.innerText")
    shares = at(visitor, "[board.run.data['line0.0'][board.run.lower + 17], board.run.share(1, 17, 3)]")
    assert "capsule 17, j = 3" in text
    assert f"b = {shares[0]:.3f}".replace("-", "−") in text
    assert f"c = {shares[1]:.3f}" in text
    assert at(visitor, "board.algorithm.root.querySelector('.lit').innerText").startswith("b")


def test_a_capsule_chosen_on_one_picture_is_chosen_on_all_and_in_the_link(visitor: Visitor):
    visitor.open("?model=digits-dr")
    at(visitor, "board.list.root.querySelectorAll('tbody tr')[3].click()")
    capsule = at(visitor, "board.capsule")
    visitor.eventually(lambda: f"capsule={capsule}" in visitor.query(), "the capsule in the link")
    visitor.settle()
    assert at(visitor, "board.capsule") == capsule
    assert f"capsule {capsule}," in at(visitor, "board.algorithm.root.innerText")


def test_the_benchmark_hears_every_picture_of_a_player(moving: Visitor):
    moving.open("?model=digits-dr&T=1")
    shown(moving).wait_for()
    times = shown(moving).evaluate(PLAY)
    assert len(times) >= at(moving, "board.run.count") and times == sorted(times)


def test_the_list_says_the_numbers_of_the_frame_and_not_of_the_way_to_it(moving: Visitor):
    moving.open("?model=digits-dr")
    assert press(moving, "Home") == 0
    unknown = "[...board.list.root.querySelectorAll('tbody tr')].map(row => row.querySelectorAll('td')[2].textContent)"
    moving.eventually(lambda: set(at(moving, unknown)) == {"…"}, "no agreement yet")
    at(moving, "board.controls.root.querySelector('button').click()")
    moving.eventually(lambda: at(moving, "board.controls.position") == 11, "the last frame")
    said = "[...board.list.root.querySelectorAll('tbody tr')].map(row => [...row.querySelectorAll('td')].slice(1)"
    said += ".map(cell => Number(cell.textContent.replace('−', '-'))))"
    true = "[...board.list.root.querySelectorAll('tbody button')].map(each => Number(each.textContent)).map(i =>"
    true += " ['shares', 'agreement'].map(name => board.run.state(11)[name][i * 10 + board.run.upper])"
    true += ".concat(board.run.data.vote_lengths[i]))"
    expected = [pytest.approx(numbers, abs=6e-4) for numbers in at(moving, true)]
    moving.eventually(lambda: at(moving, said) == expected, "the list, out of sight a moment later")


def test_a_button_below_the_board_keeps_the_focus_when_it_is_pressed(visitor: Visitor):
    visitor.open("?model=digits-dr&capsule=17")  # nothing plays by itself
    focused = "board.root.getRootNode().activeElement"
    at(visitor, "[...board.tools.querySelectorAll('button')].find(each => each.textContent === '+').focus()")
    for times in (1, 2):
        visitor.window.keyboard.press(" ")
        assert at(visitor, f"[board.cloud.camera.zoom, {focused}?.textContent]") == [times, "+"]
        assert at(visitor, "board.controls.timer") == 0, "it does not play"
        visitor.window.wait_for_url(re.compile(f"zoom={times}"))
        visitor.settle()
    at(visitor, "board.list.root.querySelectorAll('tbody button')[3].focus()")
    row = at(visitor, f"{focused}.textContent")
    visitor.window.keyboard.press("Enter")
    visitor.eventually(lambda: f"capsule={row}" in visitor.query(), "the capsule in the link")
    visitor.settle()
    assert at(visitor, f"{focused}?.textContent") == row


def test_a_pointer_that_rests_on_a_vote_stays_where_the_next_network_has_fewer(visitor: Visitor):
    visitor.open("?model=mnist-dr-paper&image=3")
    last = at(visitor, "board.run.lower") - 1
    at(visitor, f"board.cloud.point({last})")
    assert at(visitor, "board.cloud.hovered") == last
    visitor.window.evaluate(LED, "/?model=digits-dr&image=3")
    visitor.eventually(lambda: at(visitor, "board.run.lower") <= last, "the smaller network")
    visitor.settle()
    assert at(visitor, "board.cloud.hovered") == -1
    visitor.window.evaluate(LED, "/discriminative?model=mnist-l2-residual&image=3&part=coefficients")
    readout = visitor.window.locator(".capsule-maps .readout")
    sync_api.expect(readout).to_contain_text("the strongest")
    at_maps = "root => (root.capsvizBoard.point(700), root.capsvizBoard.pointed)"
    assert visitor.window.locator("section.capsule-maps").evaluate(at_maps) == 700
    visitor.window.evaluate(LED, "/discriminative?model=digits-l2&image=3&part=coefficients")
    sync_api.expect(readout).to_contain_text("the strongest")
    visitor.settle()


def test_what_is_picked_is_let_go_where_the_numbers_are_those_of_other_capsules(visitor: Visitor):
    visitor.open("?model=digits-dr&image=3")
    at(visitor, "board.pick([3, 5], true)")
    picked = visitor.window.locator("section.routing .picked")
    sync_api.expect(picked).to_have_text("2 picked")
    visitor.press("]")
    visitor.eventually(lambda: "image=4" in visitor.query(), "the next image in the link")
    visitor.settle()
    sync_api.expect(picked).to_have_text("2 picked")  # the same capsules see another image
    visitor.window.evaluate(LED, "/?model=mnist-dr-paper&image=3")
    sync_api.expect(picked).to_have_text(re.compile("^capsule "))
    visitor.open("em?model=digits-matrix&image=3&layer=0&position=0")
    at(visitor, "board.pick([3, 5], true)")
    sync_api.expect(picked).to_have_text("2 picked")
    visitor.window.evaluate(LED, "/em?model=digits-matrix&image=3&layer=0&position=1")
    sync_api.expect(picked).to_have_text(re.compile("^capsule "))
    visitor.settle()


def test_the_grid_of_all_types_ends_where_its_place_does(visitor: Visitor):
    visitor.open("?model=digits-dr&image=3")
    for width in (7, 40, 90, 300, 900):
        across, cell, columns, types, high = at(
            visitor,
            f"(board.tiles.fit({width}, 0), [board.tiles.across, board.tiles.cell, board.run.data.grid[1],"
            " board.run.data.grid[2], board.tiles.height])",
        )
        assert cell > 0 and across * (columns + 1) * cell <= width, width
        assert high == pytest.approx(-(-types // across) * (columns + 1) * cell)


def test_a_tall_grid_and_a_tall_image_end_within_the_screen(visitor: Visitor):
    visitor.open("?model=digits-dr&image=3")
    high = at(
        visitor,
        "(board.tiles.run.data.grid = [36, 1, 8], board.tiles.fit(700, 0, 600), board.tiles.height)",
    )
    assert 36 < high <= 600
    at(visitor, "(board.retina.shape = [1, 128, 32], board.retina.fit(200, 0, 0))")
    size = at(visitor, "[board.retina.width, board.retina.height]")
    assert size == [50, 200]


def test_what_is_picked_beside_others_is_added_and_taken_away_where_all_of_it_was_there(visitor: Visitor):
    visitor.open("?model=digits-dr&image=3")
    for picked, then in (([1, 2, 3], [1, 2, 3]), ([3, 4], [1, 2, 3, 4]), ([2, 4], [1, 3]), ([], [1, 3])):
        at(visitor, f"board.pick({picked}, true)")
        assert sorted(at(visitor, "[...board.picked]")) == then


def test_the_column_by_which_the_list_is_sorted_is_marked_also_where_the_chosen_one_is_missing(visitor: Visitor):
    for page, chosen in (("dynamic?model=digits-dr", "û·v"), ("em?model=digits-em", "R")):
        visitor.open(f"{page}&list=agreement")
        sorted_by = visitor.window.locator("section.routing th[aria-sort=descending]")
        sync_api.expect(sorted_by).to_have_count(1)
        sync_api.expect(sorted_by).to_contain_text(chosen)


def test_capsules_that_are_muted_one_after_the_other_before_the_answer_are_all_muted(visitor: Visitor):
    visitor.open("?model=digits-dr&image=3")
    mute = "[...board.tools.querySelectorAll('button')].find(b => b.textContent === 'Mute').click()"
    at(visitor, f"(board.pick([3], false), {mute}, board.pick([5], false), {mute})")
    visitor.eventually(lambda: "touch=mute%3A3%2C5" in visitor.query() or "touch=mute:3,5" in visitor.query(), "both")
    visitor.settle()
    visitor.open("?model=digits-dr&image=4")
    isolate = mute.replace("Mute", "Isolate")
    at(visitor, f"(board.pick([3], false), {isolate}, board.pick([5], false), {isolate})")
    visitor.eventually(lambda: "touch=only%3A5" in visitor.query() or "touch=only:5" in visitor.query(), "the last one")
    visitor.settle()


def test_while_few_votes_introduce_the_board_no_other_is_pointed_at_or_picked(visitor: Visitor):
    visitor.open("?model=digits-dr&image=3")
    at(visitor, "(board.introduce(board.run, board.controls), board.controls.halt(), board.controls.go(0))")
    few = at(visitor, "[...board.few]")
    seen = at(visitor, "board.cloud.spots.map(spot => board.cloud.nearest(spot))")
    assert few and {*seen} <= {-1, *few}
    box = json.loads(at(visitor, "JSON.stringify(board.cloud.canvas.getBoundingClientRect())"))
    corners = [(2, 2), (box["width"] - 2, 2), (box["width"] - 2, box["height"] - 2), (2, box["height"] - 2), (2, 2)]
    for step, (x, y) in enumerate(corners):
        visitor.window.mouse.move(box["x"] + x, box["y"] + y, steps=4)
        if not step:
            visitor.window.mouse.down()
    visitor.window.mouse.up()
    assert {*at(visitor, "[...board.picked]")} <= {*few}
    at(visitor, "(board.few = null, board.draw())")
    assert len({*at(visitor, "board.cloud.spots.map(spot => board.cloud.nearest(spot))")}) > len(few)


def test_muted_capsules_route_again_show_the_difference_and_are_undone(visitor: Visitor):
    visitor.open("?model=digits-dr")
    before = at(visitor, "[...board.run.data.lengths]")
    at(visitor, "board.pick(board.run.ofType(board.capsule), false)")
    at(visitor, "[...board.tools.querySelectorAll('button')].find(b => b.textContent === 'Mute').click()")
    visitor.eventually(lambda: "touch=mute" in visitor.query(), "the intervention in the link")
    visitor.settle()
    visitor.eventually(lambda: at(visitor, "board.message.touched") == "36 muted", "the routing without them")
    assert at(visitor, "[...board.run.data.base_lengths]") == before
    assert at(visitor, "[...board.run.data.lengths]") != before
    assert at(visitor, "board.run.data.gains.filter(gain => gain === 0).length") == 36
    bars = marks(shown(visitor), "board.bars", "fillRect", "strokeRect")
    drawn = [each.given[2] for did in ("fillRect", "strokeRect") for each in bars if each.did == did]
    lengths = [last(told(shown(visitor)), name) for name in ("lengths", "base_lengths")]
    assert drawn / np.ravel(lengths) == pytest.approx(max(drawn) / np.max(lengths)), "filled as it is, dashed as it was"
    assert any("less the untouched" in each for each in words(shown(visitor), "board.tiles"))
    at(visitor, "[...board.tools.querySelectorAll('button')].find(b => b.textContent.startsWith('Undo')).click()")
    visitor.eventually(lambda: "touch" not in visitor.query(), "the network untouched in the link")
    visitor.settle()
    visitor.eventually(lambda: at(visitor, "[...board.run.data.lengths]") == before, "the first routing again")


def is_drawn(board: sync_api.Locator, capsule: int) -> None:
    """The pictures show what was told of the last iteration."""
    said = told(board)
    (rows, columns, types), upper, classes = said["grid"], said["upper"], len(said["classes"])
    shares = np.reshape(said["shares"], (-1, rows * columns, types, classes))[: said["rounds"]]
    lines = marks(board, "board.lines")
    curve = next(each.path for each in lines if each.did == "stroke" and len(each.path) == len(shares) > 2)
    texts = [each.given[:3] for each in lines if each.did == "fillText"]
    under = [(text, x) for text, x, y in texts if y == max(y for *_, y in texts)]
    assert under == [(str(t), x) for t, (x, _) in enumerate(curve, start=1)]
    pose = last(said, "poses")
    vote = np.reshape(said["votes"], (-1, len(pose)))[capsule]
    bars = [each.given[3] for each in marks(board, "board.vote", "fillRect")[2:]]  # two are the key
    assert bars / np.ravel(np.abs([vote, pose]), "F") == pytest.approx(max(bars) / max(np.abs([vote, pose]).flat))
    for dot, share in zip(marks(board, "board.cloud", "fill"), shares[-1, ..., upper].flat, strict=False):
        if len(dot.path) == 1:  # and no arrowhead
            assert dot.path[0][2] == pytest.approx(max(1.1, said["cloud"]["point"] * share**0.5), rel=1e-3)
    means = shares.mean(2) - 1 / classes
    heat = [each.colour for each in marks(board, "board.retina", "fillRect")][: rows * columns]
    colours = np.array([re.findall(r"[\d.]+", each) for each in heat], dtype=float)
    warmth = np.where(colours[:, 0] == 255, 1, -1) * colours[:, 3]
    assert warmth == pytest.approx(0.85 * means[-1, :, upper] / np.abs(means).max(), abs=0.004)


def test_each_picture_of_the_board_is_called_by_what_it_shows(visitor: Visitor):
    visitor.open("dynamic?model=digits-dr&image=3&capsule=14&class=4")
    pictures = visitor.window.locator("section.routing canvas:visible")
    names = [picture.get_attribute("aria-label") or "" for picture in pictures.all()]
    assert {"Votes û for 4, area = c, colour = û·v", "c of capsule 14 to each class", "Mean c to 4, by place"} <= {
        *names
    }
    assert len({*names}) == len(names) and max(map(len, names)) < 80
    is_drawn(shown(visitor), 14)


def test_heat_is_offered_where_capsules_have_a_place_on_the_image_and_nowhere_else(visitor: Visitor):
    heat = visitor.window.locator("section.routing").get_by_role("button", name="Heat")
    visitor.open("em?model=digits-em")
    sync_api.expect(heat).to_have_count(1)
    visitor.window.evaluate(LED, "/em?model=digits-matrix")
    visitor.settle()
    sync_api.expect(heat).to_have_count(0)
    visitor.window.evaluate(LED, "/em?model=digits-em")
    visitor.settle()
    sync_api.expect(heat).to_have_count(1)


@pytest.mark.parametrize("link", ["dynamic?model=mnist-dr-paper", "em?model=mnist-em-residual"])
def test_the_bar_of_the_last_class_is_in_sight_as_a_page_opens(visitor: Visitor, link: str):
    visitor.open(link)
    at(visitor, "board.controls.position")
    bars = visitor.window.locator("section.routing").get_by_label(re.compile("of each class$"))
    box = visitor.resting(lambda: known(bars.bounding_box()), "the bars at rest")
    assert box["y"] + box["height"] <= SCREEN["height"]


def test_colours_of_a_convolutional_layer_begin_at_the_even_share_of_each_capsule(visitor: Visitor):
    """Capsules that lie in several windows share themselves among more upper ones than those that lie in one."""
    visitor.open("em?model=digits-matrix&image=3&layer=0&frame=1")
    board = shown(visitor)
    assert any("less an even share" in each for each in words(board, "board.tiles"))
    evens = np.array(told(board)["even"])
    (first,) = marks(board, "board.map", "drawImage")
    assert len({*evens.round(5)}) > 1 and len({*first.pixels}) == 1
    assert any("less an even share" in each for each in words(board, "board.map"))
    visitor.press("End")
    visitor.eventually(lambda: len({*marks(board, "board.map", "drawImage")[0].pixels}) > 1, "the last shares")
    visitor.open("em?model=digits-matrix&image=3&frame=1")
    assert not any("even" in each for each in words(board, "board.map"))


def test_a_class_is_chosen_by_its_bar(visitor: Visitor):
    visitor.open("?model=digits-dr&class=3")
    at(visitor, "board.bars.canvas.scrollIntoView()")
    visitor.still()
    box = json.loads(at(visitor, "JSON.stringify(board.bars.canvas.getBoundingClientRect())"))
    row = at(visitor, "board.bars.row")
    visitor.window.mouse.click(box["x"] + 60, box["y"] + 24 + 5.5 * row)
    visitor.eventually(lambda: "class=5" in visitor.query(), "the class in the link")
    visitor.settle()
    visitor.eventually(lambda: at(visitor, "board.run.upper") == 5, "the class on the board")
    sync_api.expect(visitor.window.locator("h2")).to_be_visible(timeout=WAIT)


RESIZED = """(board.drawings.length = 0, board.resized = 0, board.layout = () => {
    board.resized++;
    Object.getPrototypeOf(board).layout.call(board);
})"""
"""From here on it is counted how often the board draws, and how often because its place has another size."""
MORE = """(() => {
    const before = board.drawings.length;
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "+", bubbles: true, composed: true }));
    return board.drawings.length - before;
})()"""
"""One iteration more; how often the board draws at once for that."""


@pytest.mark.parametrize("page", ["?model=digits-dr", "em?model=digits-em"])
def test_another_t_is_on_the_board_before_the_server_has_heard_of_it(visitor: Visitor, page: str):
    line = Connection(visitor.window)
    visitor.open(page)
    at(visitor, RESIZED)
    with line.slow():
        for rounds in (4, 5, 6):
            assert at(visitor, MORE) == 1, "one picture for each T"
            assert at(visitor, "board.run.iterations") == rounds
            assert at(visitor, "board.controls.label.textContent").startswith(f"iteration {rounds} of {rounds}")
        shown = at(visitor, "[...board.run.view(board.controls.position).lengths]")
        assert at(visitor, "board.drawings.length - board.resized") == 3, "and none after it"
    visitor.eventually(lambda: "T=6" in visitor.query(), "T in the link")
    visitor.settle()
    assert at(visitor, "[...board.run.view(board.controls.position).lengths]") == shown
    strip = visitor.window.locator('.st-key-strip[data-stale="false"] .js-plotly-plot:has(.main-svg)')
    visitor.eventually(
        lambda: (
            strip.evaluate("plot => [...plot.data.find(({ type }) => type === 'bar').y]")
            == pytest.approx(shown, abs=1e-3)
        ),
        "the lengths of the board on the strip",
    )
    said = "[board.root.ariaLabel, board.run.iterations]"
    label, rounds = at(visitor, said)
    assert f"in {rounds} iterations: the largest" in label
    with line.slow():
        press(visitor, "-")
        label, rounds = at(visitor, said)
        assert rounds == 5 and label.endswith("in 5 iterations")
    visitor.eventually(lambda: "T=5" in visitor.query(), "T in the link")
    visitor.eventually(lambda: "in 5 iterations: the largest" in at(visitor, said)[0], "the board in words")
    while "T=" in visitor.query():  # a slow hand rests at every T
        visitor.window.go_back()
    visitor.eventually(lambda: at(visitor, "board.run.iterations") == 3, "the T of before")


def test_the_right_mouse_button_takes_nothing_into_the_hand(visitor: Visitor):
    visitor.open("?model=digits-dr")
    cloud = visitor.window.locator('[data-stale="false"] .routing .cloud canvas')
    box = visitor.box(cloud)
    corners = [(0.02, 0.1), (0.98, 0.1), (0.98, 0.98), (0.02, 0.98), (0.02, 0.1)]
    buttons: tuple[Literal["right", "left"], ...] = ("right", "left")
    for button in buttons:
        for number, (x, y) in enumerate(corners):
            visitor.window.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=5)
            if not number:
                visitor.window.mouse.down(button=button)
        visitor.window.mouse.up(button=button)
        assert (at(visitor, "board.picked.size") > 0) == (button == "left")


def test_two_boards_play_in_step(visitor: Visitor):
    visitor.open("?model=digits-dr&second=image&image2=5")
    boards = visitor.window.locator('[data-stale="false"] section.routing[data-frame]')
    sync_api.expect(boards).to_have_count(2)
    press(visitor, "Home")
    for _ in range(3):
        press(visitor, "ArrowRight")
    for number in range(2):
        sync_api.expect(boards.nth(number)).to_have_attribute("data-frame", "3")
    press(visitor, "+")
    for number in range(2):
        sync_api.expect(boards.nth(number).locator("output.frame")).to_have_text("iteration 4 of 4 · line 4 of 4")
    visitor.eventually(lambda: "T=4" in visitor.query(), "T in the link")


def test_em_ends_with_the_r_that_made_the_capsules_on_board_flow_and_legend(visitor: Visitor):
    """Nothing in the network uses an R after the last M-step, so that no picture shows one; a share of 0 is no blue."""
    visitor.open("em?model=digits-em&image=5&details=1")
    ends = at(visitor, "[...Array(9).keys()].map(f => board.run.state(f).shareStep)")
    assert ends == [0, 0, 1, 1, 1, 2, 2, 2, 2]
    assert at(visitor, "board.run.iterations === 3 && board.run.data.shares.length === 10 * board.run.pairs")
    assert "R stays the one that made μ and a" in at(visitor, "board.algorithm.root.innerText")
    assert at(visitor, "board.run.data.share_names[2]") == "Responsibilities R of M-step 3"
    flow = visitor.window.locator(".st-key-flow .js-plotly-plot:has(.main-svg)")
    sync_api.expect(flow.locator(".annotation-text")).to_have_text(["Σ R a, R of M-step 3"])
    given = at(
        visitor,
        "[...Array(10).keys()].map(j => [...board.run.data.presence].reduce("
        "(sum, a, i) => sum + a * board.run.share(2, i, j), 0))",
    )
    received = flow.evaluate(
        "plot => { const { link } = plot.data[0], sums = {}; const from = new Set(link.source).size;"
        " link.target.forEach((to, k) => sums[to - from] = (sums[to - from] ?? 0) + link.value[k]);"
        " return [...Array(10).keys()].map(j => sums[j]); }"
    )
    assert given == pytest.approx(received, rel=1e-3)
    pixel = (
        "(() => { const { map, look, run } = board; const pen = map.canvas.getContext('2d'), ratio = devicePixelRatio;"
        " pen.font = look.type(13); const x = map.width - 4 - pen.measureText('1.000').width - 6 - 109;"
        " const seen = [...pen.getImageData(x * ratio, 11 * ratio, 1, 1).data].slice(0, 3);"
        " return [seen, look.diverging.of(-1 / run.upperCount, -run.reach, run.reach)]; })()"
    )

    def lowest() -> bool:
        seen, colour = at(visitor, pixel)
        return "#{:02x}{:02x}{:02x}".format(*seen) == colour

    visitor.eventually(lowest, "the colour of the lowest share, on a map out of sight")
    said = told(shown(visitor))
    deviations = [f"{h}: σ {each:.2f}" for h, each in enumerate(np.sqrt(last(said, "variances")))]
    assert written(visitor, "curves")[1:] == deviations
    drawn = marks(shown(visitor), "board.logistic", "fill", "fillText")
    texts = [each.given[:3] for each in drawn if each.did == "fillText"]
    under = next(y for text, _, y in texts if text == "0")
    ticks = {x: float(text.replace("−", "-")) for text, x, y in texts if y == under}
    points = np.array([each.path[0][0] for each in drawn if each.did == "fill"])
    over = np.polyval(np.polyfit([*ticks], [*ticks.values()], 1), points)
    assert over == pytest.approx(last(said, "cost") - said["beta_a"], abs=1e-3)


def written(visitor: Visitor, part: str) -> list[str]:
    """The words on one of the board's canvases."""
    return words(shown(visitor), f"board.{part}")


def test_every_colour_of_the_board_has_a_scale_that_is_the_same_for_all_classes(visitor: Visitor):
    """A class that nothing agrees with is not as colourful as the one that is there."""
    scales = []
    for label in (5, 8):
        visitor.open(f"?model=digits-dr&image=5&class={label}")
        reach, far = at(visitor, "[board.run.agreementReach, board.retina.farthest.at(board.run.iterations - 1)]")
        beyond = at(
            visitor, "Math.max(...board.run.view(board.controls.position).shares) > 0.1 + board.run.reach + 1e-6"
        )
        end = next(word for word in written(visitor, "cloud") if word.startswith("≥ "))
        assert float(end.removeprefix("≥ ")) == pytest.approx(reach, abs=0.01)
        assert ("−" + end.removeprefix("≥ ")) in written(visitor, "cloud")
        top = next(word for word in written(visitor, "map") if word.startswith(("≥ ", "0.1")))
        assert top.startswith("≥ ") == beyond
        assert f"{0.1 + far:.2f}" in written(visitor, "retina")
        scales.append((end, top, far))
    assert scales[0] == scales[1]


@pytest.mark.parametrize("label", ["Mute", "Boost ×2"])
def test_a_button_pressed_again_at_the_same_spot_acts_on_the_same_capsule(visitor: Visitor, label: str):
    visitor.open("?model=digits-dr")
    button = visitor.window.get_by_role("button", name=label, exact=True)
    place = visitor.box(button)
    middle = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    visitor.window.mouse.click(*middle)
    visitor.eventually(lambda: "touch=" in visitor.query(), "the intervention in the link")
    visitor.settle()
    first = visitor.query()
    assert visitor.box(visitor.window.get_by_role("button", name=label, exact=True)) == place
    visitor.window.mouse.click(*middle)
    visitor.settle()
    assert visitor.query() == first
