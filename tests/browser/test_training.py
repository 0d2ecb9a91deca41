"""A training in the browser: the page while it runs and after it, the model on its page, and nothing left behind."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from app.benchmarks.serving import Server, serving
from tests.app.training.test_trainings import wait
from tests.browser.api import sync_api
from tests.browser.test_words import QUESTIONS, asked, too_wide
from tests.browser.visitor import Visitor

EPOCHS = 2
"""Of training_main.py."""
PICTURES = ("image", "drawn", "shares", "errors", "losses")
TRAINING = 240_000  # milliseconds, beside other tests


def processes(server: Server) -> list[str]:
    """What a server has started and is still running, as numbers."""
    found: list[str] = []
    for task in Path(f"/proc/{server.process}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread may end meanwhile
            found += (task / "children").read_text().split()
    return found


def test_a_network_is_trained_in_sight(open_window: Callable[..., sync_api.Page], tmp_path: Path):
    expect = sync_api.expect
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with serving(
        "tests/browser/training_main.py", tmp_path, CAPSVIZ_DATA=str(tmp_path), TMPDIR=str(temporary)
    ) as server:
        window = open_window()
        window.add_init_script(f"window.words = {QUESTIONS}; words.listen();")
        visitor = Visitor(window, server.address).open("training?model=mnist-dr-paper&image=108")
        assert processes(server) == []
        window.get_by_role("button", name="Train", exact=True).click()
        stop = window.locator(".st-key-stop button")
        expect(stop).to_be_visible()
        assert len(list(temporary.glob("capsviz-training-*"))) == 1
        visitor.eventually(lambda: len(processes(server)) == 1, "the process that trains")
        expect(window.locator(".st-key-training-drawn .js-plotly-plot")).to_be_visible(timeout=TRAINING)
        said = window.get_by_text("The model is yours for this session: digits-dr.capsviz, wrong on")
        expect(said).to_be_visible(timeout=TRAINING)
        for name in PICTURES:
            expect(window.locator(f".st-key-training-{name} .js-plotly-plot")).to_be_visible()
        expect(window.get_by_text("As the trained network draws it, which reads")).to_be_visible()
        visitor.settle()
        errors = window.locator(".st-key-training-errors .js-plotly-plot")
        assert errors.evaluate("plot => plot.data[0].y.length") == EPOCHS
        for width, height in ((390, 844), (1280, 720)):
            window.set_viewport_size({"width": width, "height": height})
            visitor.still()
            assert visitor.remaining(lambda: [*asked(window, "overprinted()"), *too_wide(window)]) == []
        window.get_by_text("Open it on the page Dynamic routing").click()
        window.wait_for_url(re.compile(r"/dynamic\?model=digits-dr\.capsviz&"))
        expect(window.get_by_text("MNIST test image 108").first).to_be_visible()
        expect(window.locator("h2")).to_have_text("Dynamic routing")
        expect(window.get_by_role("radio", name="Dynamic routing, yours")).to_be_checked()
        visitor.settle()
        visitor.board()
        expect(stop).not_to_be_visible()
        assert processes(server) == [] and list(temporary.glob("capsviz-training-*")) == []
        visitor.leave()


def test_a_training_ends_where_its_visitor_closes_the_page(open_window: Callable[..., sync_api.Page], tmp_path: Path):
    folder = str(tmp_path)
    with serving("tests/browser/training_main.py", tmp_path, CAPSVIZ_DATA=folder, TMPDIR=folder) as server:
        visitor = Visitor(open_window(), server.address).open("training?model=digits-dr")
        visitor.window.get_by_role("button", name="Train", exact=True).click()
        sync_api.expect(visitor.window.locator(".st-key-stop button")).to_be_visible()
        visitor.eventually(lambda: len(processes(server)) == 1, "the process that trains")
        visitor.leave()
        wait(lambda: processes(server) == [] and not list(tmp_path.glob("capsviz-training-*")))
