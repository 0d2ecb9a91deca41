"""A board that the command line wrote, opened from disk by a browser that has no network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image

from capsviz import trace, zoo
from capsviz.boards import board_page, decoder_board, pack_weights
from capsviz.data import load, to_float
from tests.browser.api import sync_api
from tests.programs import command
from tests.serving import WAIT


@pytest.mark.parametrize("model", ["digits-em", "digits-l2"])
def test_a_board_from_the_command_line_plays_from_disk_and_prints(
    chromium: sync_api.Browser, tmp_path: Path, model: str
):
    Image.fromarray(load("digits", "test").images[3, 0].numpy()).save(tmp_path / "four.png")
    command("trace", tmp_path / "four.png", "-o", tmp_path / "board.html", "--model", model)
    context = chromium.new_context(offline=True, viewport={"width": 1200, "height": 800})
    window, complaints = context.new_page(), []
    window.set_default_timeout(WAIT)
    window.on("pageerror", lambda error: complaints.append(str(error)))
    window.goto((tmp_path / "board.html").as_uri())
    sync_api.expect(window.locator("h1")).to_have_text(f"The routing of {model}")
    if model == "digits-l2":
        board = window.locator("section.capsule-maps")
        x, y = board.evaluate(
            "({ capsvizBoard: board }) => [board.maps[0].tiles.left + 4, board.maps[0].tiles.label + 4]"
        )
        board.locator(".map canvas").click(position={"x": x, "y": y})
        sync_api.expect(window.locator(".readout")).to_contain_text("type 0,  b = ")
    else:
        frame = window.locator("output.frame")
        sync_api.expect(frame).to_have_text("iteration 3 of 3 · line 3 of 3")  # the board stands, and hears keys
        window.keyboard.press("Home")
        sync_api.expect(frame).to_have_text("iteration 1 of 3 · line 1 of 3")
        window.keyboard.press(" ")
        sync_api.expect(frame).to_have_text("iteration 3 of 3 · line 3 of 3", timeout=60_000)
    # On paper nothing is cut, though not every picture is drawn anew for its width.
    window.emulate_media(media="print")
    ends = """(body) => { body.style.width = "794px";
        return [...document.querySelectorAll("canvas")].map((each) => each.getBoundingClientRect().right); }"""
    assert max(window.locator("body").evaluate(ends)) <= 794
    assert complaints == []
    context.close()


@pytest.mark.parametrize("wide", [676, 1100])
def test_a_hand_can_drag_the_sliders_of_a_decoder_in_a_narrow_cell_of_a_notebook(
    chromium: sync_api.Browser, tmp_path: Path, wide: int
):
    network = zoo.load("digits-dr")
    recorded = trace(network, to_float(load("digits", "test").images[3:4]), votes=False)
    (tmp_path / "decoder.html").write_text(board_page(decoder_board(recorded, pack_weights(network))), "utf-8")
    context = chromium.new_context(offline=True, viewport={"width": 1280, "height": 900})
    window = context.new_page()
    window.set_default_timeout(WAIT)
    window.goto((tmp_path / "decoder.html").as_uri())
    window.locator("body").evaluate("(body, wide) => (body.style.width = `${wide}px`)", wide)
    sliders = window.locator("section.live-decoder input[type=range]")
    sync_api.expect(sliders).to_have_count(16)
    boxes = [box for slider in sliders.all() if (box := slider.bounding_box())]
    assert len(boxes) == 16 and min(box["width"] for box in boxes) >= 80
    edge = window.locator("body").bounding_box()
    assert edge and max(box["x"] + box["width"] for box in boxes) <= edge["x"] + edge["width"]
    assert len(re.findall(rb"/Type /Page\b", window.pdf(format="A4"))) == 1, "no empty sheet follows"
    context.close()
