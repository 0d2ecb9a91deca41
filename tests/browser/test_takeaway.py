"""What is taken away is opened again: pictures, the page of its own, the table, the trace."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from PIL import Image

from app.shared import resources
from app.sources import browsing
from capsviz.tracing.trace import Trace
from tests.browser.api import sync_api
from tests.browser.visitor import Visitor
from tests.known import known
from tests.serving import WAIT

SVG = "http://www.w3.org/2000/svg"


@pytest.fixture
def opened(visitor: Visitor) -> Visitor:
    visitor.open("?model=digits-dr&image=3")
    visitor.window.get_by_role("button", name="Take away").first.click()
    visitor.window.locator(".st-key-taken .main-svg").first.wait_for()
    visitor.fresh()
    visitor.still()
    return visitor


def choose(visitor: Visitor, title: str) -> None:
    visitor.window.locator(".st-key-taken_key input").click()
    visitor.window.get_by_role("option", name=title).click()
    visitor.fresh()


def taken(visitor: Visitor, folder: Path, button: str) -> Path:
    pressed = visitor.window.get_by_role("dialog").get_by_role("button", name=button, exact=True)
    pressed.wait_for()
    # A button that is drawn anew under the pointer swallows the click.
    visitor.window.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    visitor.fresh()
    with visitor.window.expect_download() as download:
        pressed.click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_each_file_opens_again(opened: Visitor, chromium: sync_api.Browser, tmp_path: Path):
    window = opened.window
    figure = json.loads(
        window.locator(".st-key-taken .js-plotly-plot:has(.main-svg)").evaluate(
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
    pixels = browsing.image_set("digits", "test").images[3].numpy().tobytes()
    expected = resources.trace("digits-dr", pixels, 3)
    torch.testing.assert_close(trace.images, expected.images)
    torch.testing.assert_close(trace.layer["couplings"], expected.layer["couplings"], rtol=1e-4, atol=1e-5)
    assert trace.classes == expected.classes


def test_the_words_of_an_svg_stay_whole_where_its_typeface_is_missing(
    opened: Visitor, chromium: sync_api.Browser, tmp_path: Path
):
    choose(opened, "Indecision of the primary capsules")
    opened.window.locator(".st-key-taken_preview .legendtext").first.wait_for()
    svg = taken(opened, tmp_path, "SVG")
    elsewhere = tmp_path / "elsewhere.svg"  # with letters far wider than those of the page
    elsewhere.write_text(re.sub(r"font-family: [^;]*;", "font-family: monospace;", svg.read_text("utf-8")), "utf-8")
    page = chromium.new_page()
    page.goto(elsewhere.as_uri())
    beyond = page.evaluate(
        """() => {
            const legend = document.querySelector(".legend .bg").getBoundingClientRect().right;
            const right = (words) => words.getBoundingClientRect().right;
            const edge = (words) => (words.matches(".legendtext") ? legend : document.documentElement.clientWidth);
            return [...document.querySelectorAll("text")].filter((words) => right(words) > edge(words) + 1)
                .map((words) => words.textContent);
        }"""
    )
    page.close()
    assert beyond == []
    assert "middle 80 % of capsules" in "".join(ElementTree.parse(svg).getroot().itertext())


@pytest.fixture
def board(opened: Visitor, chromium: sync_api.Browser, tmp_path: Path) -> Iterator[sync_api.Page]:
    """The board that was taken away, opened from disk by a browser without a network."""
    choose(opened, "The routing of digits-dr, played")
    opened.window.locator(".st-key-taken_preview iframe").wait_for()
    context = chromium.new_context(offline=True, viewport={"width": 1400, "height": 900}, accept_downloads=True)
    alone, complaints = context.new_page(), []
    alone.set_default_timeout(WAIT)
    page = taken(opened, tmp_path, "HTML")
    alone.on("request", lambda request: complaints.append(request.url) if not request.url.startswith(OWN) else None)
    alone.on("pageerror", lambda error: complaints.append(str(error)))
    alone.goto(page.as_uri())
    alone.locator("section.routing").wait_for()
    yield alone
    assert complaints == []
    context.close()


OWN = ("file:", "blob:", "data:")
"""Addresses of what a page has in itself."""


def test_the_board_that_is_taken_along_plays_without_network(board: sync_api.Page):
    frame = board.locator("output.frame")
    sync_api.expect(frame).to_have_text("iteration 3 of 3 · line 4 of 4")
    board.keyboard.press("Home")
    sync_api.expect(frame).to_have_text("iteration 1 of 3 · line 1 of 4")
    board.keyboard.press("ArrowRight")
    sync_api.expect(frame).to_have_text("iteration 1 of 3 · line 2 of 4")
    board.get_by_role("button", name="Play").click()
    sync_api.expect(frame).to_have_text("iteration 3 of 3 · line 4 of 4", timeout=60_000)
    root = board.locator("section.routing").element_handle()
    shown = """root => {
        const { run } = root.capsvizBoard;
        return [run.upper, ...run.data.lengths.slice(10 * run.iterations - 10, 10 * run.iterations)];
    }"""
    expected = resources.trace("digits-dr", browsing.image_set("digits", "test").images[3].numpy().tobytes(), 3)
    upper, *lengths = root.evaluate(shown)
    assert upper == int(expected.predicted[0])
    assert lengths == pytest.approx(expected.activations[0].tolist(), rel=1e-4)
    # Another class has its own votes, the place among the lines and the way of looking stay.
    board.keyboard.press("Home")
    board.get_by_role("button", name="Heat").click()
    board.wait_for_timeout(700)
    picker = board.get_by_role("combobox", name="The class that is looked at")
    assert picker.input_value() == str(upper)
    picker.focus()
    picker.select_option("8")
    assert picker.evaluate("select => select.matches(':focus')")
    assert root.evaluate("root => [root.capsvizBoard.run.upper, root.dataset.frame]") == [8, "0"]
    votes = root.evaluate("root => [...root.capsvizBoard.run.vote(5)]")
    assert votes == pytest.approx(known(expected.layer.votes)[0, 5, 8].tolist(), rel=1e-4, abs=1e-6)
    sync_api.expect(board.get_by_role("button", name="Heat")).to_have_attribute("aria-pressed", "false")
    # In a lower window the picture of the votes is lower, though the page is as wide as before.
    tall = "root => root.querySelector('canvas').getBoundingClientRect().height"
    before = root.evaluate(tall)
    board.set_viewport_size({"width": 1400, "height": 600})
    board.wait_for_function(f"([root, before]) => ({tall})(root) < before", arg=[root, before])
    # It may be given more iterations there.
    board.get_by_role("slider", name="Iterations T").press("ArrowRight")
    sync_api.expect(frame).to_have_text("iteration 4 of 4 · line 4 of 4")
    _, *lengths = root.evaluate(shown)
    more = resources.trace("digits-dr", browsing.image_set("digits", "test").images[3].numpy().tobytes(), 4)
    assert lengths == pytest.approx(more.activations[0].tolist(), rel=1e-4)
    # What is told of it, to those who do not see it, is of the T that it stands at, also for another class.
    said = sync_api.expect(board.locator("section.routing"))
    said.to_have_attribute("aria-label", re.compile("in 4 iterations"))
    board.wait_for_timeout(700)
    picker.select_option("7")
    board.wait_for_function("root => root.capsvizBoard.run.upper === 7", arg=root)
    said.to_have_attribute("aria-label", re.compile("in 4 iterations"))


@pytest.mark.parametrize("exhibit", ["squash", "loss"])
def test_an_exhibit_saves_what_it_shows_as_svg(visitor: Visitor, chromium: sync_api.Browser, tmp_path, exhibit: str):
    visitor.open(f"basics?model=digits-dr&exhibit={exhibit}")
    visitor.window.get_by_role("button", name="Take away").first.click()
    page = taken(visitor, tmp_path, "HTML")
    context = chromium.new_context(offline=True, viewport={"width": 1400, "height": 900}, accept_downloads=True)
    alone = context.new_page()
    alone.set_default_timeout(WAIT)
    alone.goto(page.as_uri())
    with alone.expect_download() as download:
        alone.get_by_role("button", name="SVG", exact=True).click()
    download.value.save_as(tmp_path / "exhibit.svg")
    words = "".join(ElementTree.parse(tmp_path / "exhibit.svg").getroot().itertext())
    assert {"squash": "‖s‖, before", "loss": "not in the image"}[exhibit] in words
    assert "As trained" not in words, "buttons stay behind"
    colour = "inputs => inputs.map((input) => (input.style.backgroundColor = 'rgb(1, 2, 3)')).length"
    assert alone.locator("input").evaluate_all(colour) > 0
    with alone.expect_download() as download:
        alone.get_by_role("button", name="SVG", exact=True).click()
    download.value.save_as(tmp_path / "fields.svg")
    assert "rgba(1, 2, 3" not in (tmp_path / "fields.svg").read_text("utf-8"), "and sliders"
    context.close()


def test_a_board_saves_what_it_shows_as_svg_and_png(board: sync_api.Page, tmp_path: Path):
    def saved(kind: str) -> Path:
        with board.expect_download() as download:
            board.get_by_role("button", name=kind, exact=True).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        return path

    svg = saved("SVG")
    root = ElementTree.parse(svg).getroot()
    words = " ".join("".join(part.itertext()) for part in root.iter(f"{{{SVG}}}text"))
    for said in ("Votes û for 4", "squash", "iteration 3 of 3", "Length ‖v‖ of each class", "capsule"):
        assert said in words
    assert "▶ Play" not in words and "Heat" not in words
    dots = [part for part in root.iter(f"{{{SVG}}}path") if part.get("fill", "none") != "none"]
    assert len(dots) > 200, "the votes are drawn as shapes, not as a picture of pixels"
    size = board.locator("section.routing").bounding_box()
    assert size is not None
    with Image.open(saved("PNG")) as png:
        assert png.size == pytest.approx((2 * size["width"], 2 * size["height"]), abs=4)
        assert png.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
        assert len(png.convert("RGB").quantize(64).getcolors() or []) > 20
