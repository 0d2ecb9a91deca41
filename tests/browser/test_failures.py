"""A failure of the app itself: the log has its traceback, the page one sentence that says what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.server.failures import SENTENCE
from tests.browser.api import sync_api
from tests.serving import ROOT, WAIT, served

BREAK = """
from capsviz.analysis import metrics

def summarise(*_):
    raise RuntimeError("the secret of the house")

metrics.summarise = summarise
"""
"""What Python runs before the app: the numbers of the routing pages and the walk of Perturb then fail."""


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of an app that fails, and its server's log."""
    folder = tmp_path_factory.mktemp("broken")
    (folder / "sitecustomize.py").write_text(BREAK)
    with served("app/main.py", folder, CAPSVIZ_DATA=str(folder), PYTHONPATH=f"{folder}:{ROOT}") as address:
        yield address, folder / "log"


@pytest.mark.parametrize("page", ["", "perturb"], ids=["the page", "a part that runs by itself"])
def test_a_failure_is_one_sentence_on_the_page_and_a_traceback_in_the_log(
    open_window: Callable[..., sync_api.Page], broken: tuple[str, Path], page: str
):
    address, log = broken
    before, window = log.read_text(), open_window()
    window.set_default_timeout(WAIT)
    window.goto(f"{address}/{page}?model=digits-dr")
    alert = window.locator('[data-testid="stAlert"] p')
    alert.first.wait_for()
    window.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    assert set(alert.all_inner_texts()) == {SENTENCE}
    assert window.locator('[data-testid="stException"]').count() == 0
    shown = window.locator("body").inner_text()
    for detail in ("secret", "Traceback", "RuntimeError", "summarise", ".py"):
        assert detail not in shown
    assert window.locator(".st-key-strip").count() == 1, "what was drawn before stays"
    window.get_by_role("link", name="6 Results").click()
    window.locator("h2", has_text="How far from").wait_for()
    sync_api.expect(alert).to_have_count(0)  # the other pages go on
    window.close()
    logged = log.read_text()[len(before) :]
    assert "Traceback" in logged and "RuntimeError: the secret of the house" in logged


def test_a_component_that_fails_says_so_in_a_sentence(chromium: sync_api.Browser, address: str):
    window = chromium.new_page()
    window.set_default_timeout(WAIT)
    window.add_init_script(
        "CanvasRenderingContext2D.prototype.strokeText = () => { throw new Error('the secret of the house'); };"
    )

    def told(message: sync_api.ConsoleMessage) -> bool:
        return message.type == "error" and "the secret of the house" in message.text

    with window.expect_console_message(told):  # the browser's console knows
        window.goto(f"{address}/?model=digits-dr")
    failed = window.locator("p.failed")
    failed.first.wait_for()
    assert "reload the page" in failed.first.inner_text()
    assert "secret" not in window.locator("body").inner_text()
    assert "BidiComponent Error" not in window.locator("body").inner_text()
    window.close()
