"""The toy in Chromium: it routes as capsviz routes, follows the hand without the server, and says where it ended."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from app.boards.toy import presets
from capsviz.routing import DenseVotes, dynamic_routing
from tests.browser.api import sync_api
from tests.browser.visitor import Holder, visits

PAGE = "toy_page.py"


class Player(Holder):
    """Somebody who has the toy of the page in the hand."""

    place, ready = ".toy", ".toy canvas"

    def tip(self, capsule: int, parent: int) -> tuple[float, float]:
        """Where on the page the tip of a vote is."""
        box = self.box(self.board.locator("canvas").nth(parent))
        at = self.ask("board.parents[it[1]].plane.place(board.votes[it[0]][it[1]])", [capsule, parent])
        return box["x"] + at["x"], box["y"] + at["y"]


@pytest.fixture
def visitor(server, open_window):
    """The page, open; at the end nothing may have gone wrong there."""
    with visits(Player, open_window, server) as visit:
        yield visit()


def python(votes: list, iterations: int) -> list:
    """The steps of capsviz's own dynamic routing of these votes."""
    return list(
        dynamic_routing(DenseVotes(torch.tensor(votes, dtype=torch.float64)[None]), iterations, final_agreement=True)
    )


def test_a_dragged_vote_is_followed_without_the_server_and_heard_when_it_is_let_go(visitor):
    asked, before = visitor.messages_sent, visitor.ask("board.steps.at(-1).poses")
    x, y = visitor.tip(0, 0)
    visitor.window.mouse.move(x, y)
    visitor.window.mouse.down()
    visitor.window.mouse.move(x + 80, y - 40, steps=12)
    # What the pointer did comes with the browser's next frame.
    visitor.eventually(lambda: visitor.tip(0, 0) == pytest.approx((x + 80, y - 40), abs=1), "the vote at the pointer")
    moved, poses = visitor.ask("[board.votes, board.steps.at(-1).poses]")
    assert moved[0][0] != presets()["Opposition"]["votes"][0][0]
    assert np.abs(np.array(poses) - np.array(before)).max() > 0.01
    np.testing.assert_allclose(poses, python(moved, 3)[-1].poses[0].numpy(), atol=1e-6)
    assert visitor.messages_sent == asked
    visitor.window.mouse.up()
    flat = tuple(float(value) for capsule in moved for vote in capsule for value in vote)
    visitor.window.get_by_text(f"heard {flat}").wait_for()
    assert visitor.ask("board.votes") == moved
    assert visitor.board.locator(".note").inner_text().startswith("Your own votes")


def test_a_finger_drags_a_vote_and_does_not_scroll(server, chromium):
    context = chromium.new_context(viewport={"width": 1280, "height": 500}, has_touch=True)
    visitor = Player(context.new_page(), server).open()
    hand = context.new_cdp_session(visitor.window)

    def touch(kind: str, *places: tuple[float, float]) -> None:
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in places]})

    visitor.board.locator("canvas").first.scroll_into_view_if_needed()
    before, (x, y) = visitor.ask("board.votes"), visitor.tip(0, 0)
    touch("touchStart", (x + 20, y))  # fingers are broad
    for step in range(1, 7):
        touch("touchMove", (x + 20, y - 15 * step))
    touch("touchStart", (x + 20, y - 90), (x + 200, y + 60))  # another finger holds nothing, and lets nothing go
    touch("touchMove", (x + 20, y - 90), (x + 220, y + 80))
    touch("touchMove", (x + 20, y - 90))  # the other one leaves
    assert visitor.ask("board.hand.busy")
    touch("touchEnd")
    visitor.eventually(lambda: visitor.ask("board.votes")[0][0][1] > before[0][0][1] + 0.3, "the vote at the finger")
    moved = visitor.ask("board.votes")
    assert moved[1:] == before[1:]
    assert visitor.tip(0, 0)[1] == pytest.approx(y - 90, abs=2)  # the plane stays where it is
    visitor.window.get_by_text(f"heard ({moved[0][0][0]}, {moved[0][0][1]}").wait_for()
    context.close()
    assert visitor.problems == []


def test_the_table_says_b_c_and_agreement_of_the_iteration_on_screen(visitor):
    steps = python(presets()["Opposition"]["votes"], 3)
    for key, index in (("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2)):
        visitor.press(key)
        step = steps[index]
        sync_api.expect(visitor.board.locator("output.frame")).to_have_text(f"iteration {index + 1} of 3")
        for capsule, row in enumerate(visitor.board.locator("tbody tr").all()):
            b1, d1, _, d2, b2 = (cell.inner_text() for cell in row.locator("td").all())
            expected = [step.logits[0, capsule, 0], step.agreement[0, capsule, 0]]
            expected += [step.agreement[0, capsule, 1], step.logits[0, capsule, 1]]
            said = [float(text.replace("−", "-")) for text in (b1, d1, d2, b2)]
            np.testing.assert_allclose(said, [float(value) for value in expected], atol=0.0051)
            widths = [float(span.evaluate("s => parseFloat(s.style.width)")) for span in row.locator("span").all()[1:]]
            np.testing.assert_allclose(widths, 100 * step.couplings[0, capsule].numpy(), atol=0.01)


def test_a_preset_and_another_number_of_iterations_reach_python(visitor):
    visitor.board.get_by_role("button", name="Two clusters").click()
    first = presets()["Two clusters"]["votes"][0][0]
    visitor.window.get_by_text(f"heard ({first[0]}, {first[1]}").wait_for()
    assert visitor.board.get_by_role("button", name="Two clusters").get_attribute("aria-pressed") == "true"
    turn = visitor.board.get_by_role("slider", name="Iterations T")
    turn.focus()
    for _ in range(3):
        turn.press("ArrowRight")
    visitor.window.get_by_text("T 6").wait_for()
    assert visitor.ask("board.steps.length") == 6
    sync_api.expect(visitor.board.locator("output.frame")).to_have_text("iteration 6 of 6")


def test_with_another_t_it_stands_where_all_is_routed(visitor):
    frame, turn = visitor.board.locator("output.frame"), visitor.board.get_by_role("slider", name="Iterations T")
    visitor.press("ArrowLeft")
    sync_api.expect(frame).to_have_text("iteration 2 of 3")
    turn.press("ArrowRight")
    sync_api.expect(frame).to_have_text("iteration 4 of 4")
    assert visitor.ask("board.controls.position") == 3
    visitor.window.get_by_text("T 4").wait_for()
    visitor.window.wait_for_timeout(600)  # a player that rests is heard
    for key in ("Home", "ArrowRight"):
        turn.press(key)
    sync_api.expect(frame).to_have_text("iteration 2 of 2")


def test_votes_are_chosen_and_moved_by_keys_on_a_plane_that_tab_reaches_and_nowhere_else(visitor):
    before = visitor.ask("board.votes")
    plane = visitor.board.locator("canvas").nth(1)
    x, y = visitor.tip(1, 1)
    visitor.window.mouse.click(x, y)
    visitor.press("ArrowLeft")  # behind a click, the player's
    sync_api.expect(visitor.board.locator("output.frame")).to_have_text("iteration 2 of 3")
    assert visitor.ask("board.votes") == before
    visitor.board.get_by_role("button", name="Two clusters").focus()
    for _ in range(20):
        visitor.window.keyboard.press("Tab")
        if plane.evaluate("plane => plane.matches(':focus')"):
            break
    sync_api.expect(plane).to_be_focused()
    assert plane.get_attribute("role") == "application"  # a screen reader leaves the arrows to it
    first = int(str(plane.get_attribute("aria-label")).split("vote ")[1].split(" at")[0]) - 1
    visitor.window.keyboard.press("n")
    visitor.window.keyboard.press("Shift+ArrowRight")
    visitor.window.keyboard.press("ArrowDown")
    chosen = (first + 1) % len(before)
    moved = visitor.ask("board.votes")
    across, up = before[chosen][1]
    assert moved[chosen][1] == pytest.approx([across + 0.1, up - 0.01])
    moved[chosen][1] = before[chosen][1]
    assert moved == before, "no other vote"
    moved = visitor.ask("board.votes")
    np.testing.assert_allclose(
        visitor.ask("board.steps.at(-1).poses"), python(moved, 3)[-1].poses[0].numpy(), atol=1e-6, err_msg="not routed"
    )
    said = f"; vote {chosen + 1} at {moved[chosen][1][0]:.2f}, {moved[chosen][1][1]:.2f}".replace("-", "−")
    assert str(plane.get_attribute("aria-label")).endswith(said)
    flat = tuple(float(value) for capsule in moved for vote in capsule for value in vote)
    visitor.window.get_by_text(f"heard {flat}").wait_for()
    sync_api.expect(visitor.board.locator("output.frame")).to_have_text("iteration 2 of 3")
