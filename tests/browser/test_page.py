"""A board that the command line wrote, opened from disk by a browser that has no network."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from capsviz.commands.main import app
from capsviz.data import load
from tests.browser.api import sync_api


@pytest.mark.parametrize("model", ["digits-em", "digits-l2"])
def test_a_board_from_the_command_line_plays_from_disk(chromium: sync_api.Browser, tmp_path: Path, model: str):
    Image.fromarray(load("digits", "test").images[3, 0].numpy()).save(tmp_path / "four.png")
    words = ["trace", str(tmp_path / "four.png"), "-o", str(tmp_path / "board.html"), "--model", model]
    assert CliRunner().invoke(app, words).exit_code == 0
    context = chromium.new_context(offline=True, viewport={"width": 1200, "height": 800})
    window, complaints = context.new_page(), []
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
    assert complaints == []
    context.close()
