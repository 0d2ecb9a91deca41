"""What is taken away is opened again: pictures, the page of its own, the table, the trace."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import torch
from PIL import Image

from app import resources, shelves
from capsviz.trace import Trace
from tests.browser.visitor import Visitor

sync_api = pytest.importorskip("playwright.sync_api")


@pytest.fixture
def opened(visitor: Visitor) -> Visitor:
    visitor.open("?model=digits-dr&image=3")
    visitor.window.get_by_role("button", name="Take away").first.click()
    visitor.window.locator(".st-key-taken .main-svg").first.wait_for()
    return visitor


def choose(visitor: Visitor, title: str) -> None:
    visitor.window.locator(".st-key-taken_key input").click()
    visitor.window.get_by_role("option", name=title).click()
    visitor.window.wait_for_function("document.querySelectorAll('[data-stale=\"true\"]').length === 0")


def taken(visitor: Visitor, folder: Path, button: str) -> Path:
    # A button that is drawn anew under the pointer swallows the click.
    visitor.window.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    with visitor.window.expect_download() as download:
        visitor.window.get_by_role("dialog").get_by_role("button", name=button, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_each_file_opens_again(opened: Visitor, chromium: sync_api.Browser, tmp_path: Path):
    window = opened.window
    figure = json.loads(
        window.locator(".st-key-taken .js-plotly-plot").evaluate(
            "plot => JSON.stringify({width: plot._fullLayout.width, height: plot._fullLayout.height,"
            " bars: [...plot.data.find((trace) => trace.type === 'bar').y]})"
        )
    )
    svg = taken(opened, tmp_path, "SVG")
    root = ElementTree.parse(svg).getroot()
    assert svg.name == "capsviz-strip.svg"
    assert root.tag.endswith("svg")
    assert "288 primary capsules" in "".join(root.itertext())

    with Image.open(taken(opened, tmp_path, "PNG")) as png:
        assert png.format == "PNG"
        assert png.size == pytest.approx((2 * figure["width"], 2 * figure["height"]), abs=2)
        assert png.convert("RGBA").getpixel((1, 1)) == (255, 255, 255, 255), "the page's ground, not nothing"

    rows = list(csv.DictReader(taken(opened, tmp_path, "CSV").open(encoding="utf-8")))
    assert [float(row["y"]) for row in rows if row["kind"] == "bar"] == pytest.approx(figure["bars"])

    trace = Trace.open(taken(opened, tmp_path, "Trace"))
    pixels = shelves.image_set("digits", "test").images[3].numpy().tobytes()
    expected = resources.trace("digits-dr", pixels, 3)
    torch.testing.assert_close(trace.images, expected.images)
    torch.testing.assert_close(trace.layer["couplings"], expected.layer["couplings"], rtol=1e-4, atol=1e-5)
    assert trace.classes == expected.classes


def test_the_player_that_is_taken_along_plays_without_network(
    opened: Visitor, chromium: sync_api.Browser, tmp_path: Path
):
    choose(opened, "The routing of digits-dr, played")
    opened.window.locator(".st-key-taken .updatemenu-button").first.wait_for()
    page = taken(opened, tmp_path, "HTML")
    context = chromium.new_context(offline=True)
    alone, asked = context.new_page(), []
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(page.as_uri())
    alone.locator(".js-plotly-plot .main-svg").first.wait_for()
    label = alone.locator(".slider-label").first
    alone.keyboard.press("End")
    sync_api.expect(label).to_contain_text("iteration 3 of 3")
    alone.keyboard.press("ArrowLeft")
    sync_api.expect(label).to_contain_text("iteration 2 of 3")
    assert asked == [page.as_uri()]
    context.close()
