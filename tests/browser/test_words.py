"""Words in pictures, measured in Chromium: none is written over another, and for a hall all are large enough."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.api import sync_api
from tests.browser.visitor import Visitor

QUESTIONS = Path(__file__).with_name("words.js").read_text(encoding="utf-8").rstrip()
PAGES = (
    "?model=digits-dr",
    "?model=digits-dr&lab=toy",
    "em?model=digits-em",
    "em?model=mnist-matrix",
    "?model=fashion-mnist-dr",
    "discriminative?model=digits-l2",
    "discriminative?model=digits-l2&part=coefficients",
    "discriminative?model=digits-l2&part=history",
    "perturb?model=digits-dr",
    "perturb?model=digits-dr&hand=cells",
    "perturb?model=digits-dr&hand=walk",
    "compare?model=mnist-dr-paper",
    "compare?model=mnist-dr-paper&view=many",
    "compare?model=mnist-dr-paper&view=distributions",
    "compare?model=mnist-dr-paper&view=confusions",
    "compare?model=fashion-mnist-dr&view=confusions",
    "compare?model=mnist-dr-paper&view=wrong",
    "basics?model=fashion-mnist-dr",
    "basics?model=fashion-mnist-dr&exhibit=loss",
    "basics?model=mnist-dr-paper&exhibit=parts",
    "mixtures?model=digits-dr&preset=overlapping",
    "mixtures?model=digits-dr&preset=ring&as=votes",
    "viewpoint?model=mnist-dr-paper&viewpoint=rotation_30",
    "viewpoint?model=digits-l2&change=brightness",
    "training?model=mnist-dr-paper",
)
PAIRS = (
    "?model=mnist-dr-paper&second=image",
    "?model=fashion-mnist-dr-residual&second=same:em",
    "em?model=mnist-matrix&second=digits-em",
)
"""Two boards beside one another."""

HALL = {"width": 1920, "height": 1080}
LEAST = 20
"""Height of type, in pixels of such a screen, that is read from the last row of a hall."""

GROWN = "document.querySelector('.st-key-strip .js-plotly-plot')?._fullLayout?.font.size > 25"


def asked(window: sync_api.Page, question: str) -> list[Any]:
    """The page's answer to one of the questions in words.js."""
    return window.evaluate(f"words.{question}")


def all_written(visitor: Visitor, boards: sync_api.Locator) -> None:
    """Wait until there are words on every canvas of the boards: out of sight they are drawn when there is time."""
    pictures = boards.locator("canvas:visible")

    def drawn() -> int:
        return sum("size" in each for each in asked(visitor.window, "words()"))

    visitor.eventually(lambda: drawn() >= pictures.count(), "words on every canvas")


def too_wide(window: sync_api.Page) -> list[str]:
    """By how much the page is wider than its window, where it is."""
    wider = window.locator('[data-testid="stMain"]').evaluate("main => main.scrollWidth - main.clientWidth")
    return [f"{wider} pixels too wide"] * (wider > 0)


def wrong(
    open_window: Callable[..., sync_api.Page], address: str, screen: dict[str, int], mode: str, least: float
) -> dict[str, list[str]]:
    """By page: words over words, words that are too small, and how much wider than its window the page is."""
    window = open_window(viewport=screen)
    window.add_init_script(f"window.words = {QUESTIONS}; words.listen();")
    visitor, found = Visitor(window, address), {}
    for number, page in enumerate(PAGES):
        if number:
            visitor.follow(f"/{page}{mode}")
        else:
            visitor.open(f"{page}{mode}")
        if mode:  # the page tells how large its window is, and is drawn again
            bare = page.startswith(("basics", "mixtures", "viewpoint", "training")) or page.endswith("view=wrong")
            if not bare:  # of a strip
                visitor.eventually(lambda: window.evaluate(GROWN), "a larger strip")
            visitor.settle()
        window.wait_for_timeout(400)

        def problems() -> list[str]:
            return [*asked(window, "overprinted()"), *asked(window, f"smaller({least})"), *too_wide(window)]

        # Where nothing is trained yet, the image's title; presented, those of the two blocks that are drawn wrong.
        least_words = 1 if page.startswith("training") else 2 if mode and page.endswith("view=wrong") else 11

        def written(least_words: int = least_words) -> bool:
            return sum(len(each["words"]) for each in asked(window, "words()")) >= least_words

        visitor.eventually(written, f"the words of {page}")
        found[page] = visitor.remaining(problems)
        assert written(), page
    visitor.leave()
    return {page: problems for page, problems in found.items() if problems}


def test_the_questions_find_what_is_wrong(chromium: sync_api.Browser):
    window = chromium.new_page()
    window.add_init_script(f"window.words = {QUESTIONS}; words.listen();")
    window.goto("about:blank")
    window.evaluate(
        "() => { document.body.innerHTML = '<canvas width=400 height=200 style=\"width: 200px\"></canvas>';"
        " const pen = document.querySelector('canvas').getContext('2d'); pen.font = '40px serif';"
        " pen.fillText('gone', 0, 40); pen.clearRect(0, 0, 400, 200);"
        " pen.fillText('words', 0, 40); pen.fillText('over', 20, 45); pen.fillText('apart', 200, 40); }"
    )
    assert [pair.split(": ")[1].split(" by")[0] for pair in asked(window, "overprinted()")] == ["“words” and “over”"]
    assert asked(window, "smaller(20)") == []
    assert len(asked(window, "smaller(21)")) == 3
    window.evaluate(
        "() => { const pen = document.querySelector('canvas').getContext('2d'); pen.clearRect(0, 0, 400, 200);"
        " pen.fillText('beyond', 350, 40); pen.fillText('dots…', 0, 40); pen.fillText('whole', 0, 100); }"
    )
    assert [word.split(": ")[1].split(" ")[0] for word in asked(window, "cut()")] == ["“beyond”", "“dots…”"]
    window.close()


@pytest.mark.timeout(900)
@pytest.mark.parametrize("width", [1280, 390])
def test_no_word_of_a_picture_is_written_over_another(
    open_window: Callable[..., sync_api.Page], address: str, width: int
):
    assert wrong(open_window, address, {"width": width, "height": 720}, "", 0) == {}


@pytest.mark.timeout(900)
def test_presented_every_word_of_a_picture_is_large_enough_for_a_hall(
    open_window: Callable[..., sync_api.Page], address: str
):
    assert wrong(open_window, address, HALL, "&present=1", LEAST) == {}


@pytest.mark.parametrize("page", ["?model=mnist-dr-paper", "em?model=mnist-matrix&layer=1"])
def test_presented_on_a_screen_of_4k_no_word_of_the_votes_and_the_image_is_written_over_another(
    open_window: Callable[..., sync_api.Page], address: str, page: str
):
    window = open_window(viewport={"width": 2 * HALL["width"], "height": 2 * HALL["height"]})
    window.add_init_script(f"window.words = {QUESTIONS}; words.listen();")
    visitor = Visitor(window, address).open(f"{page}&present=1")
    visitor.eventually(lambda: window.evaluate(GROWN), "a larger strip")
    visitor.settle()
    all_written(visitor, window.locator("section.routing"))
    known = ("Vote", "Mean", "The image", "Activation", "Length", "c of", "R of")

    def problems() -> list[str]:
        return [each for each in asked(window, "overprinted()") if each.startswith(known)]

    assert visitor.remaining(problems) == []
    visitor.leave()


@pytest.mark.parametrize("page", PAIRS)
def test_presented_no_word_of_two_boards_is_cut_and_neither_is_wider_than_its_place(
    open_window: Callable[..., sync_api.Page], address: str, page: str
):
    window = open_window(viewport=HALL)
    window.add_init_script(f"window.words = {QUESTIONS}; words.listen();")
    visitor = Visitor(window, address).open(f"{page}&present=1")
    visitor.eventually(lambda: window.evaluate(GROWN), "a larger strip")
    visitor.settle()
    boards = window.locator('[data-stale="false"] section.routing')
    sync_api.expect(boards).to_have_count(2)
    all_written(visitor, boards)

    def problems() -> list[str]:
        over = [said for said in asked(window, "overprinted()") if not said.startswith("st-key")]  # in no plot below
        return [*asked(window, "cut()"), *over, *asked(window, f"smaller({LEAST})")]

    assert visitor.remaining(problems) == []
    assert boards.evaluate_all("boards => boards.map((board) => board.scrollWidth - board.clientWidth)") == [0, 0]
    visitor.leave()
