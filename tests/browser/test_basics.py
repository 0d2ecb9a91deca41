"""Basics in Chromium: what is dragged is answered at once, with the library's numbers, and stands in the link."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from capsviz.data import load, to_float
from capsviz.routing import squash
from capsviz.routing.losses import margin_losses
from capsviz.zoo import load as load_model
from tests.browser.api import sync_api
from tests.browser.pen import marks, told
from tests.browser.visitor import Visitor


def numbers(text: str) -> list[float]:
    """All numbers of a text."""
    return [float(found.replace("−", "-")) for found in re.findall(r"[−-]?\d+\.?\d*", text)]


def test_a_dragged_vector_is_squashed_without_the_server_as_the_library_squashes_it(visitor: Visitor):
    visitor.open("basics?model=digits-dr")
    plane, says = visitor.window.locator("section.squash canvas").first, visitor.window.locator("section.squash .says")
    box = visitor.box(plane)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    asked, unit = visitor.messages_sent, box["width"] / (2 * 1.08 * 3)
    visitor.window.mouse.move(x + unit, y)
    visitor.window.mouse.down()
    visitor.window.mouse.move(x, y - 2 * unit, steps=6)
    # What the pointer did is drawn with the browser's next frame.
    visitor.eventually(lambda: numbers(says.inner_text())[0] == pytest.approx(2, abs=0.02), "the length at the pointer")
    length, after, angle = numbers(says.inner_text())[:2] + numbers(says.inner_text())[-1:]
    assert visitor.messages_sent == asked
    assert angle == pytest.approx(90, abs=1)
    assert after == pytest.approx(float(squash(torch.tensor([0.0, length])).norm()), abs=0.006)
    visitor.window.mouse.up()
    board = visitor.window.locator("section.squash")
    drawn = marks(board, "board.plane", "fillText", "fill")
    tips = {each.colour: each.path[3][1] for each in drawn if len(each.path) == 7}
    names, theme = {each.given[0]: each.given[2] for each in drawn if each.given}, told(board)["theme"]
    for name, colour, far in (("s", theme["classes"][0], length), ("v", theme["accent"], after)):
        assert tips[colour] == pytest.approx(box["height"] / 2 - unit * far, abs=2)
        assert names[name] == pytest.approx(tips[colour], abs=30)
    plot = marks(board, "board.curve", "fill", "stroke")
    curve = next(each.path for each in plot if len(each.path) == 161)
    for x, y, *_ in (each.path[0] for each in plot if each.did == "fill"):
        assert np.interp(x, *np.transpose(curve)) == pytest.approx(y, abs=0.5)
    visitor.eventually(lambda: "angle=" in visitor.query(), "the direction in the link")
    assert f"s={length:g}" in visitor.query()


def test_each_class_costs_what_the_library_says_and_their_sum_is_its_loss(visitor: Visitor):
    visitor.open("basics?model=digits-dr&image=17&exhibit=loss")
    window = visitor.window
    shown = load("digits", "test")
    with torch.no_grad():
        lengths = load_model("digits-dr")(to_float(shown.images[17:18])).activations
    targets = torch.arange(10)[None] == shown.labels[17]

    def told() -> tuple[list[float], float]:
        rows = window.locator("section.margin tbody tr").all()
        total = numbers(window.locator("section.margin .sum").inner_text())[-1]
        return [float(row.locator("td").nth(1).inner_text()) for row in rows], total

    def tells(expected: torch.Tensor) -> bool:
        each, total = told()
        whole = pytest.approx(float(expected.sum()), abs=6e-5)
        return each == pytest.approx(expected[0].tolist(), abs=6e-5) and total == whole

    expected = margin_losses(lengths, targets)
    visitor.eventually(lambda: tells(expected), "the losses of the image")
    other = next(upper for upper in range(10) if not targets[0, upper])
    slider = window.get_by_role("slider", name=f"Length of class {other}")
    slider.focus()
    slider.press("End")
    true = window.get_by_role("slider", name=f"Length of class {int(shown.labels[17])}")
    true.focus()
    true.press("Home")
    lengths[0, other], lengths[0, int(shown.labels[17])] = 1, 0
    visitor.eventually(lambda: tells(margin_losses(lengths, targets)), "the losses of these lengths")
    pushed = window.locator("section.margin tbody tr td:last-child").all_inner_texts()
    assert pushed[other] == "← shorter" and pushed[int(shown.labels[17])] == "longer →"
    drawn = marks(window.locator("section.margin"), "board.chart")
    arrows = [each.path for each in drawn if each.did == "fill" and len(each.path) == 7]
    led = ["longer →" if tip[0] > start[0] else "← shorter" for start, _, _, tip, *_ in arrows]
    assert led == [each for each in pushed if each != "lets go"]
    words = {each.given[0]: each for each in drawn if each.did == "fillText"}
    branches = {each.colour: np.transpose(each.path) for each in drawn if len(each.path) == 201}
    for word, there in (("in the image", True), ("not in the image", False)):
        across, down = branches[words[word].colour]
        costs = margin_losses(torch.linspace(0, 1, 201)[None], torch.full((1, 201), there))[0]
        assert (down.max() - down) / np.ptp(down) == pytest.approx((costs / costs.max()).numpy(), abs=1e-4)
        for margin, length in (("m⁺", 0.9), ("m⁻", 0.1)):
            assert words[margin].given[1] == pytest.approx(across[0] + length * np.ptp(across))
    visitor.eventually(lambda: "lengths=" in visitor.query(), "the lengths in the link")
    window.get_by_role("button", name="As trained").click()
    visitor.eventually(lambda: "lengths=" not in visitor.query(), "the lengths as they were")
    visitor.eventually(lambda: tells(expected), "the losses of the image again")
    sync_api.expect(window.get_by_role("button", name="As trained", disabled=True)).to_be_focused()


def test_the_number_of_parts_is_in_the_link_of_every_page_however_long_it_is_dragged(visitor: Visitor):
    visitor.open("basics?model=digits-dr&exhibit=parts")
    x, y = visitor.middle(visitor.window.get_by_role("slider", name="Parts of each class capsule"))
    visitor.window.mouse.move(x, y)
    visitor.window.mouse.down()
    visitor.window.wait_for_timeout(1200)
    visitor.window.mouse.move(x + 220, y, steps=8)
    visitor.window.mouse.up()
    visitor.eventually(lambda: "parts=" in visitor.query(), "more parts in the link")
    link = visitor.window.locator(".st-key-pages a", has_text="Dynamic routing")
    visitor.eventually(lambda: "parts=" in (link.get_attribute("href") or ""), "and in the links of the pages")


def test_a_class_capsule_is_dragged_along_its_branch(visitor: Visitor):
    visitor.open("basics?model=digits-dr&image=17&exhibit=loss&lengths=3:0.5")
    window = visitor.window
    chart = window.locator("section.margin canvas")
    at = chart.evaluate("canvas => canvas.closest('section').capsvizBoard.chart.spot(3)")
    box = visitor.box(chart)
    visitor.drag(box["x"] + at["x"], box["y"] + at["y"], 80, 10 - at["y"])
    visitor.eventually(lambda: "lengths=3" in visitor.query() and "0.5&" not in visitor.query() + "&", "another length")
    assert float(window.locator("section.margin tbody tr").nth(3).locator("output").inner_text()) > 0.6
