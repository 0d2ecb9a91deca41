"""The mixture in Chromium: points in the hand, by pointer and by keys; all that the page says follows them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from itertools import islice
from urllib.parse import parse_qs

import numpy as np
import pytest
import torch

from capsviz.analysis.mixtures import HalfStep, begin, half_steps
from tests.browser.api import sync_api
from tests.browser.pen import marks, told
from tests.browser.visitor import Visitor, visits
from tests.known import known

EVERYTHING = """root => { const board = root.capsvizBoard; return {
    points: board.points, likelihood: board.run.mixture.at(-1).likelihood / board.points.length,
    picture: [...root.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL()),
    chart: root.querySelector(".chart").innerText, bars: root.querySelector(".bars").innerText,
    lines: root.querySelector(".algorithm").innerText, note: root.querySelector(".note").innerText }; }"""


class Player(Visitor):
    """Somebody who has the points in the hand."""

    def settle(self) -> None:
        self.window.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
        self.mixture = self.window.locator(".mixture[data-ready]")
        self.mixture.wait_for()
        assert self.failures() == []

    def all(self) -> dict:
        return self.mixture.evaluate(EVERYTHING)

    def at(self, index: int) -> tuple[float, float]:
        """Where on the page a point lies."""
        box = self.box(self.mixture.locator(".plane canvas"))
        x, y = self.mixture.evaluate(
            "(root, i) => { const b = root.capsvizBoard; return b.plane.place(b.points[i]); }", index
        )
        return box["x"] + x, box["y"] + y

    def linked(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.query()).items()}


@pytest.fixture
def player(open_window: Callable[..., sync_api.Page], address: str) -> Iterator[Player]:
    with visits(Player, open_window, address) as visit:
        yield visit("mixtures?model=digits-dr")


def fitted(points: list) -> HalfStep:
    """The mixture that Python comes to."""
    values = torch.tensor(points, dtype=torch.float64)[:, :2]
    return list(islice(half_steps(values, begin(2)), 31))[-1]


def ellipses(player: Player, colour: str) -> list[np.ndarray]:
    """The covariances of which the outlines of a colour on the plane are one deviation, from the outermost inwards."""
    drawn = [each.path[0] for each in marks(player.mixture, "board.plane", "stroke") if each.colour == colour]
    across, down, angles = np.array([each[2:5] for each in drawn if len(each) == 7]).T
    unit, turns = player.mixture.evaluate("root => root.capsvizBoard.plane.unit"), [np.cos(angles), np.sin(angles)]
    # On a canvas y is downwards.
    axes = np.array([[across * turns[0], -down * turns[1]], [-across * turns[1], -down * turns[0]]]).T / unit
    return [each.T @ each for each in axes]


def test_a_dragged_point_changes_colours_numbers_chart_and_link(player: Player):
    before = player.all()
    player.drag(*player.at(0), 60, 20)
    parts = ("points", "picture", "chart", "lines", "note")
    player.eventually(lambda: all(player.all()[what] != before[what] for what in parts), "the dragged point, drawn")
    now = player.all()
    assert now["points"][0] != before["points"][0] and now["points"][1:] == before["points"][1:]
    found = fitted(now["points"])
    likelihood, bound = found.log_likelihood / len(now["points"]), known(found.bound) / len(now["points"])
    assert now["likelihood"] == pytest.approx(likelihood, abs=1e-8)
    said = f"per point {likelihood:.4f} its bound {bound:.4f}".replace("-", "−")
    assert now["chart"].split()[1:] == said.split()
    for colour, covariance in zip(told(player.mixture)["theme"]["classes"], found.gaussians.covariances, strict=False):
        for drawn, deviations in zip(ellipses(player, colour), (2, 1), strict=True):
            assert drawn == pytest.approx(deviations**2 * covariance.numpy(), abs=1e-6)
    curve, *_ = (each.path for each in marks(player.mixture, "board.side.chart") if len(each.path) == 31)
    axis = {each.given[0]: each.given[1] for each in marks(player.mixture, "board.side.chart", "fillText")}
    assert [axis[name] for name in ("start", "M 5", "M 10", "M 15")] == [x for x, _ in curve[::10]]
    player.eventually(lambda: "points" in player.linked(), "the points in the link")
    x, y, a = now["points"][0]
    assert player.linked()["points"].startswith(f"{x:g},{y:g},{a:g},")
    again = Player(player.window.context.new_page(), player.address)
    again.open(f"mixtures?{player.query()}")
    assert again.all()["points"] == now["points"] and again.all()["bars"] == now["bars"]
    again.leave()


def test_the_keyboard_alone_adds_moves_and_removes_and_plays(player: Player):
    before = player.all()["points"]
    player.mixture.locator(".plane canvas").focus()
    for key in ("n", "n", "ArrowRight", "Shift+ArrowUp"):
        player.window.keyboard.press(key)
    moved = player.all()["points"]
    assert moved[1][:2] == pytest.approx([before[1][0] + 0.01, before[1][1] + 0.1])
    player.window.keyboard.press("a")
    assert len(player.all()["points"]) == len(before) + 1
    player.window.keyboard.press("Delete")
    assert player.all()["points"] == moved
    player.press("Home")  # outside the plane the keys are the player's
    sync_api.expect(player.mixture.locator("output.frame")).to_have_text("the start")
    player.press("ArrowRight")
    sync_api.expect(player.mixture.locator(".line.lit")).to_have_text(re.compile("^E"))
    player.eventually(lambda: player.linked().get("frame") == "1", "the half step in the link")


def test_points_that_a_button_adds_lie_apart(player: Player):
    before = player.all()["points"]
    for _ in range(6):
        player.mixture.get_by_role("button", name="Add point").click()
    points = player.all()["points"]
    assert points[: len(before)] == before and len(points) == len(before) + 6
    assert all(
        math.dist(points[at][:2], other[:2]) > 0.05 for at in range(len(before), len(points)) for other in points[:at]
    )


def test_keys_in_quick_succession_all_count_and_the_board_keeps_the_focus(player: Player):
    board = player.mixture.element_handle()
    player.mixture.locator(".plane canvas").focus()
    player.window.keyboard.press("n")
    for pause in range(0, 600, 30):  # the app's answers come amid the next keys
        before = player.all()["points"]
        player.window.keyboard.press("n")
        player.window.keyboard.press("ArrowRight")
        player.window.wait_for_timeout(pause)
        player.window.keyboard.press("a")
        assert len(player.all()["points"]) == len(before) + 1
        player.window.keyboard.press("Delete")
        assert len(player.all()["points"]) == len(before)
    assert known(board).evaluate("board => board.isConnected")


def test_a_click_adds_and_a_double_click_removes(player: Player):
    before = player.all()["points"]
    box = player.box(player.mixture.locator(".plane canvas"))
    player.window.mouse.click(box["x"] + 0.2 * box["width"], box["y"] + 0.2 * box["height"])
    player.eventually(lambda: len(player.all()["points"]) == len(before) + 1, "one more point")
    player.window.mouse.dblclick(*player.at(len(before)))
    player.eventually(lambda: player.all()["points"] == before, "the points of before")
    player.eventually(lambda: "points" not in player.linked(), "the preset's own points")


def test_as_votes_the_picture_stays_and_what_changes_is_marked(player: Player):
    player.mixture.get_by_role("button", name="One outlier").click()
    player.mixture.get_by_role("button", name="The points are votes").click()
    player.eventually(lambda: player.linked().get("as") == "votes", "votes in the link")
    assert player.linked()["preset"] == "outlier"
    sync_api.expect(player.window.locator(".st-key-headline")).to_contain_text("switches on")
    before = player.all()
    marked = player.mixture.locator(".bars .mark").evaluate_all("all => all.map((each) => parseFloat(each.style.left))")
    assert marked == pytest.approx((100 * fitted(before["points"]).gaussians.weights).tolist(), abs=1e-2)
    assert (
        player.mixture.locator(".caption")
        .inner_text()
        .startswith("Drag a point, or click to add one. Dashed, and the mark")
    )
    slider = player.mixture.get_by_role("slider", name="λ rises to")
    slider.focus()
    for _ in range(4):
        slider.press("ArrowRight")
    player.eventually(lambda: player.linked().get("lambda") == "5", "λ in the link")
    player.eventually(lambda: player.all()["bars"] != before["bars"], "other activations")
    assert player.all()["points"] == before["points"]
    assert float(player.mixture.locator(".bars b").first.inner_text()) < 0.01
