"""Films in Chromium: every frame is Python's, playing asks no server, a click on a capsule reaches Python."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.browser.film_page import CLASS, STEPS, shown
from tests.browser.visitor import Guest, visits
from tests.serving import served

sync_api = pytest.importorskip("playwright.sync_api")


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[str]:
    """The page, served: its address."""
    with served("tests/browser/film_page.py", tmp_path_factory.mktemp("film")) as address:
        yield address


class Viewer(Guest):
    """Somebody who watches the film of the page."""

    def __init__(self, window: sync_api.Page, address: str) -> None:
        super().__init__(window, address)
        self.film = window.locator(".film")

    def settle(self) -> None:
        self.window.locator('.film[data-ready="true"]').wait_for()

    def ask(self, code: str, argument: object = None):
        """A question to the film of the page."""
        return self.film.evaluate(f"(root, it) => {{ const film = root.capsvizFilm; return {code}; }}", argument)

    def click(self, capsule: int) -> None:
        """Click on a capsule of the first map."""
        x, y = self.ask(
            "((tiles, at, across) => [tiles.left + (at % across + 0.5) * tiles.cell,"
            " tiles.label + (Math.floor(at / across) + 0.5) * tiles.cell])"
            "(film.maps[0].tiles, film.message.cells.indexOf(it), film.message.shape[1])",
            capsule,
        )
        self.film.locator(".map canvas").click(position={"x": x, "y": y})


@pytest.fixture
def visit(server, open_window):
    """Open the page; at the end nothing may have gone wrong there."""
    with visits(Viewer, open_window, server) as visit:
        yield visit


def test_every_frame_is_pythons_and_stepping_asks_no_server(visit):
    visitor, film = visit(), shown(still=False)
    arrays = film.arrays()
    asked = visitor.messages_sent
    # Where the visitor rests is told to Python, and on a slow machine every step is a rest.
    visitor.ask("film.transport.rest = null")
    assert visitor.ask("film.position") == STEPS  # it begins where it all leads
    visitor.press("Home")
    for frame in range(STEPS + 1):
        assert visitor.film.locator("output").inner_text() == f"step {frame} of {STEPS}"
        np.testing.assert_allclose(
            visitor.ask("Array.from(film.data.at(0, film.position))"), arrays["map0"][frame], atol=1e-6
        )
        negative = int((arrays["map0"][frame] < 0).sum())
        assert visitor.film.locator(".counts").inner_text().strip().startswith(f"{negative} negative (")
        visitor.press("ArrowRight")
    wrong = visitor.film.locator("figcaption", has_text="Error on the batch").locator("b").inner_text()
    assert float(wrong.split()[0]) == pytest.approx(100 * arrays["curve2.0"][-1], abs=0.06)
    assert visitor.messages_sent == asked


def test_the_current_line_is_lit_and_carries_the_numbers_of_the_capsule(visit):
    visitor, film = visit(), shown(still=False)
    b, g = film.arrays()["map0"], film.arrays()["line1.0"]
    capsule = int(np.abs(b[-1]).argmax())
    lines = visitor.film.locator(".algorithm .line")
    assert visitor.film.locator(".algorithm .pair").inner_text().split("\n") == [f"i = capsule {capsule}", "j = 3"]

    def said(position: float) -> list[str]:
        visitor.ask("film.transport.place(it)", position)
        return [text.replace("−", "-") for text in lines.locator(".numbers").all_inner_texts()]

    def lit() -> list[int]:
        return [k for k in range(4) if "lit" in (lines.nth(k).get_attribute("class") or "").split()]

    texts = said(5)
    assert lit() == [3]
    assert float(texts[0].split("= ")[1]) == pytest.approx(b[4, capsule], abs=6e-4)
    assert float(texts[1].split("= ")[1]) == pytest.approx(g[5, capsule], abs=6e-4)
    assert float(texts[2].split("→ ")[1]) == pytest.approx(b[5, capsule], abs=6e-4)
    assert said(4.3)[2:] == ["…", "…"] and lit() == [1]
    assert said(0)[1] == "g = …"


def test_it_plays_smoothly_from_the_start_to_the_end(visit):
    visitor = visit()
    visitor.ask(
        "(root.drawn = [], film.maps[0].draw = new Proxy(film.maps[0].draw, { apply(draw, self, given) {"
        " root.drawn.push(performance.now()); return draw.apply(self, given); } }))"
    )
    visitor.press(" ")
    handle = visitor.film.element_handle()
    visitor.window.wait_for_function("film => film.capsvizFilm.position > 4", arg=handle)
    visitor.press(" ")
    visitor.window.wait_for_timeout(300)
    stopped = visitor.ask("film.position")
    assert 4 < stopped < STEPS
    apart = np.diff(visitor.ask("root.drawn"))
    # 30 frames a second on a quiet machine; under load this only notices a player gone wrong.
    assert np.median(apart[apart < 300]) < 120
    visitor.press("End")
    assert visitor.ask("film.position") == STEPS


def test_a_frame_is_drawn_in_less_than_a_thirtieth_of_a_second(visit):
    visitor = visit()
    took = visitor.ask(
        "Array.from({ length: 60 }, (_, k) => { const began = performance.now();"
        f" film.transport.place(k * {STEPS} / 60); return performance.now() - began; }})"
    )
    assert np.median(took) < 1000 / 30


def test_between_two_frames_the_numbers_glide(visit):
    visitor, values = visit(), shown(still=False).arrays()["map0"]
    visitor.ask("film.transport.place(3.25)")
    np.testing.assert_allclose(
        visitor.ask("Array.from(film.data.at(0, film.position))"), 0.75 * values[3] + 0.25 * values[4], atol=1e-6
    )


def test_an_older_answer_of_python_moves_nothing_and_news_do(visit):
    visitor = visit()
    visitor.ask("film.transport.rest = () => {}")

    def leave(frame: int) -> None:
        visitor.ask("(film.transport.place(it), film.transport.leave())", frame)

    def told(frame: int | None, count: int) -> float:
        """Where the film stands after Python has said a frame, having heard of one so many times."""
        return visitor.ask("(film.transport.stand(...it), film.position)", [frame, count])

    leave(6)
    leave(8)
    assert told(6, 1) == 8, "8 is still on its way"
    assert told(8, 2) == 8
    assert told(3, 2) == 3, "Back"
    visitor.ask("film.transport.place(7)")
    assert told(3, 2) == 7, "the visitor has moved on and not rested yet"
    leave(5)
    assert told(3, 3) == 3, "5 was heard and undone"
    assert told(None, 3) == STEPS


def test_a_pause_in_a_held_frame_is_a_place_where_the_visitor_leaves_the_film(visit):
    visitor = visit()
    visitor.ask("film.transport.rest = (frame) => (root.left = frame)")
    visitor.ask("(film.transport.place(2), film.transport.play(), film.transport.toggle())")
    visitor.eventually(lambda: visitor.ask("root.left") == 2, "frame 2 told")


def test_a_click_selects_a_capsule_and_a_second_one_lets_it_go(visit):
    visitor, film = visit("?still"), shown(still=True)
    b = film.arrays()["per_class"]
    strongest = int(np.abs(b[:, CLASS]).argmax())
    unasked = visitor.film.locator(".readout").inner_text()  # no panel waits empty for a click
    assert unasked.startswith(f"{film.grid.label(strongest)},") and "the strongest. Click a capsule" in unasked
    assert visitor.film.locator(".class-bars canvas").get_attribute("aria-label") is not None
    visitor.click(101)
    visitor.window.get_by_text("heard 101").wait_for()
    readout = visitor.film.locator(".readout").inner_text()
    assert readout.startswith(f"{film.grid.label(101)},")
    assert f"b = {b[101, 3]:.4f}".replace("-", "−") in readout
    said = visitor.film.locator(".class-bars canvas").get_attribute("aria-label")
    assert said == ", ".join(f"class {j} {b[101, j]:.3f}".replace("-", "−") for j in range(10))
    visitor.click(101)
    visitor.window.get_by_text("heard None").wait_for()
    assert visitor.ask("film.chosen") is None
