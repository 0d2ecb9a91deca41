"""The order in which a page of a board is drawn: the board, and then the figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.api import sync_api
from tests.browser.visitor import Visitor
from tests.serving import ROOT, served

PATIENCE = """
from app.server import drawing_order

drawing_order.PATIENCE = 60.0
"""
"""What Python runs before the app: however busy the machine is, what follows a board waits for the browser's word."""
WATCH = """() => {
  const order = window.order = [];
  const find = (root) => { for (const at of root.querySelectorAll("*")) {
    if (at.capsvizBoard?.root.dataset.frame) return at.capsvizBoard;
    const found = at.shadowRoot && find(at.shadowRoot); if (found) return found; } };
  const image = () => String(find(document)?.run.data.image);
  const drawn = () => document.querySelector(".st-key-strip .js-plotly-plot")?.data;
  const strip = () => drawn()?.find((each) => each.type === "bar")?.y.join();
  const before = [image(), strip()];
  const look = () => {
    if (!order.includes("board") && image() !== before[0]) order.push("board");
    if (!order.includes("strip") && strip() !== before[1]) order.push("strip");
    if (order.length < 2) requestAnimationFrame(look);
  };
  look();
}"""


@pytest.fixture
def visitor(open_window: Callable[..., sync_api.Page], tmp_path: Path) -> Iterator[Visitor]:
    """A visitor of an app that is patient, who has not opened a page yet."""
    (tmp_path / "sitecustomize.py").write_text(PATIENCE)
    path = f"{tmp_path}:{ROOT}"
    with served("app/main.py", tmp_path, CAPSVIZ_DATA=str(tmp_path), PYTHONPATH=path) as address:
        visitor = Visitor(open_window(), address)
        yield visitor
        visitor.leave()


def test_the_board_says_that_it_is_drawn_and_the_strip_comes_after_it(visitor: Visitor):
    said: list[int] = []
    window = visitor.window

    def heard(response: sync_api.Response) -> None:
        if "_capsviz/drawn" in response.url:
            said.append(response.status)

    window.on("response", heard)
    visitor.open("dynamic?model=digits-dr&image=7")
    visitor.eventually(lambda: bool(said), "the answer to what the board told")
    assert {*visitor.resting(lambda: [*said], "all answers")} == {204}
    for _ in range(3):
        del said[:]
        window.evaluate(WATCH)
        visitor.press("]")
        visitor.eventually(lambda: len(window.evaluate("window.order")) == 2, "board and strip of another image")
        assert window.evaluate("window.order") == ["board", "strip"]
        visitor.eventually(lambda: bool(said), "the answer to what the board told")  # it may come after the strip
        assert visitor.resting(lambda: [*said], "all answers") == [204], "once for each image"
