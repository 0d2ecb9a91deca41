"""Boards saved as pictures: what is on the screen is in the file, where it stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from app.boards.toy import presets
from app.components.routing_toy import toy_message
from capsviz import Intervention, trace, zoo
from capsviz.analysis.viewpoint import amounts, seen_by, sweep
from capsviz.boards import Board, board_page, decoder_board, pack_weights, trace_board
from capsviz.boards.sweep import Swept, Swing, sweep_board
from capsviz.data import load, to_float
from capsviz.data.viewpoint import CHANGES, Viewpoint
from tests.browser.api import sync_api
from tests.known import single_digits
from tests.serving import WAIT

Save = Callable[..., Element]


@pytest.fixture
def save(chromium: sync_api.Browser, tmp_path: Path) -> Iterator[Save]:
    """Opens a board from disk in a window so wide, the board so far from its left edge; gives its SVG."""
    context = chromium.new_context(offline=True, accept_downloads=True)
    context.set_default_timeout(WAIT)

    def save(board: Board, wide: int = 1200, left: int = 0) -> Element:
        (tmp_path / "board.html").write_text(board_page(board), "utf-8")
        window = context.new_page()
        window.set_viewport_size({"width": wide, "height": 800})
        window.goto((tmp_path / "board.html").as_uri())
        window.locator(".board-place canvas").first.wait_for()
        window.locator("body").evaluate("(body, left) => (body.style.marginLeft = `${left}px`)", left)
        with window.expect_download() as download:
            window.get_by_role("button", name="SVG").click()
        download.value.save_as(tmp_path / "board.svg")
        return ElementTree.parse(tmp_path / "board.svg").getroot()

    yield save
    context.close()


def parts(picture: Element, tag: str) -> list[Element]:
    return [each for each in picture.iter() if each.tag.endswith(f"}}{tag}")]


def across(path: Element) -> list[float]:
    """Where along x the corners of a path are."""
    return [float(x) for x in re.findall(r"[ML] ?(-?[\d.e+-]+)", path.get("d", ""))]


@pytest.fixture(scope="module")
def swing() -> Swing:
    digits, change = single_digits(), CHANGES["rotation"]
    images, label = seen_by(digits.images[0], Viewpoint(), "rotation", amounts(change)), int(digits.labels[0])
    seen = Swept("DR", "digits-dr", "#0000ff", sweep(zoo.load("digits-dr"), images, label))
    return Swing(change, amounts(change), images, digits.classes, (label,), (seen,), seen, None)


def test_a_narrow_sweep_is_saved_with_its_charts_and_each_row_of_numbers_in_its_own_colour(save: Save, swing: Swing):
    picture = save(sweep_board(swing, "A sweep", frame=None), wide=900)
    words = " ".join(picture.itertext())
    assert re.search(r"never\s+lost|lost:", words) and "digits-dr" in words
    sizes = [(float(each.get("width", 0)), float(each.get("height", 0))) for each in parts(picture, "image")]
    assert sum(high > 5 * wide for wide, high in sizes) == len(swing.amounts), "a column of the map for each amount"


@pytest.fixture(scope="module")
def decoder() -> Board:
    network = zoo.load("digits-dr")
    seen = trace(network, single_digits().images[:1] / 255, votes=False)
    return decoder_board(seen, pack_weights(network))


def test_a_saved_decoder_has_the_key_of_its_difference(save: Save, decoder: Board):
    words = " ".join(save(decoder).itertext()).split()
    assert {"difference", "−1", "+1"} <= set(words)


@pytest.mark.parametrize("left", [0, 300])
def test_the_colours_of_a_saved_key_go_from_its_one_end_to_the_other(save: Save, left: int):
    seen = trace(zoo.load("digits-l2"), single_digits().images[:1] / 255)
    picture = save(trace_board(seen), left=left)
    [key] = parts(picture, "linearGradient")
    [filled] = [each for each in parts(picture, "path") if each.get("fill") == f"url(#{key.get('id')})"]
    ends = [float(key.get(end, "").removesuffix("px")) for end in ("x1", "x2")]
    assert ends == pytest.approx([min(across(filled)), max(across(filled))], abs=6)


def test_no_shape_of_the_saved_toy_lies_beyond_it(save: Save):
    votes = next(iter(presets().values()))["votes"]
    message = toy_message(votes, 3, {}, most=10, frame=None, dark=False)
    picture = save(Board("toy", "Two parents", lambda _: message))
    width = float(picture.get("viewBox", "").split()[2])
    ends = [x for path in parts(picture, "path") if path.get("fill") not in (None, "none") for x in across(path)]
    assert len(ends) > 20 and min(ends) > -50 and max(ends) < width + 50


def test_on_a_phone_the_bars_of_a_board_have_room_beside_names_and_what_changed(save: Save):
    images = to_float(load("fashion-mnist", "test").images[:1])
    network = zoo.load("fashion-mnist-dr-residual")
    untouched = trace(network, images)
    muted = trace(network, images, intervention=Intervention(muted=tuple(range(200))))
    picture = save(trace_board(muted, base=untouched), wide=320)
    assert "(+" in " ".join(save(trace_board(muted, base=untouched)).itertext()), (
        "where there is room, numbers say it too"
    )
    widths = [float(each.get("width", 0)) for each in parts(picture, "rect")]
    assert min(widths) >= 0 and "(+" not in " ".join(picture.itertext())
