"""The camera in Chromium: a digit of the data set before it, as black ink on lit paper, is read and routed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from app.benchmarks.serving import CHROMIUM, FLAGS
from capsviz import data
from tests.app import pictures
from tests.browser.api import sync_api
from tests.browser.visitor import SCREEN, Visitor

PLACE = 5
"""Of the digit in the test set."""


@pytest.fixture
def at_the_camera(tmp_path: Path, chromium: sync_api.Browser, address: str) -> Iterator[Visitor]:
    """A visitor whose camera sees the digit."""
    images, _ = data.load("digits", "test").batch(torch.tensor([PLACE]))
    paper = Image.new("L", (640, 480), 205)
    ink = Image.fromarray(images[0, 0].numpy()).resize((340, 340), Image.Resampling.BICUBIC)
    paper.paste(Image.fromarray((205 - 0.75 * np.asarray(ink, dtype=float)).astype(np.uint8)), (150, 70))
    video = tmp_path / "digit.mjpeg"
    video.write_bytes(pictures.encoded(paper.convert("RGB"), "JPEG", quality=92) * 2)
    camera = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
    flags = [*FLAGS, *camera, f"--use-file-for-fake-video-capture={video}"]
    browser = chromium.browser_type.launch(executable_path=str(CHROMIUM), args=flags)
    visitor = Visitor(browser.new_page(viewport=SCREEN), address)
    yield visitor
    visitor.leave()
    browser.close()


def test_a_digit_before_the_camera_is_read_and_flows_into_the_link(at_the_camera: Visitor):
    visitor = at_the_camera
    visitor.open("?model=digits-dr&source=camera")
    before, lens = visitor.board(), visitor.window.locator('[data-testid="stCameraInput"] video')
    lens.scroll_into_view_if_needed()  # out of sight Chromium decodes no frame, and the photograph is black
    visitor.window.wait_for_timeout(500)
    visitor.eventually(lambda: lens.evaluate("video => video.readyState > 1 && video.currentTime > 0.5"), "a frame")
    visitor.window.locator('[data-testid="stCameraInputButton"]').click()
    sync_api.expect(visitor.window.get_by_text("your photograph")).to_be_visible()
    visitor.eventually(lambda: visitor.board() != before, "the photograph on the board")
    _, upper, *_ = json.loads(visitor.board())
    assert upper == data.load("digits", "test").labels[PLACE]  # the class that the model predicts
    visitor.eventually(lambda: "picture=" in visitor.query(), "the photograph in the link")
