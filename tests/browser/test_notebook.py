"""The notebook of the docs is executed, and what its cells show is drawn in a browser as a notebook draws widgets."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from capsviz.boards import bundle
from tests.browser.api import sync_api

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "notebooks" / "boards.ipynb"
WIDGET = "application/vnd.jupyter.widget-view+json"
PAGE = """<!doctype html><body><div id="cell"></div><script type="module">
import widget from "data:text/javascript;base64,{script}";
const state = {state}, heard = {{}};
const bytes = (text) => new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
Object.assign(state, {{ message: bytes(state.message), first: state.first.map(bytes) }});
window.changes = [];
widget.render({{ el: document.getElementById("cell"), model: {{
  get: (name) => state[name],
  set: (name, value) => {{ state[name] = value; window.changes.push([name, value]); }},
  on: (event, hears) => (heard[event] = hears), off: () => undefined, save_changes: () => undefined,
}} }});
</script>"""


@pytest.fixture(scope="module")
def widgets() -> list[dict[str, Any]]:
    """The state of the widget that each cell of the notebook shows, buffers in base 64."""
    client = NotebookClient(nbformat.read(NOTEBOOK, as_version=4), timeout=300, kernel_name="python3")
    notebook = client.execute()
    shown = [output.data[WIDGET]["model_id"] for cell in notebook.cells if cell.cell_type == "code"
             for output in cell.outputs if WIDGET in output.get("data", {})]  # fmt: skip
    found = []
    for model in shown:
        state = dict(client.widget_state[model])
        for buffer in client.widget_buffers[model].values():
            path: Any = buffer["path"]  # nbclient takes it for a word, and it is a list of them
            at, *rest = path
            if rest:
                state[at] = [*state[at]]
                state[at][rest[0]] = buffer["data"]
            else:
                state[at] = buffer["data"]
        found.append(state)
    return found


def drawn(chromium: sync_api.Browser, state: dict[str, Any], path: Path) -> sync_api.Page:
    script = base64.b64encode((bundle("widget.js") or "").encode()).decode()
    names = ("board", "name", "css", "first", "message", "upper")
    path.write_text(PAGE.format(script=script, state=json.dumps({name: state[name] for name in names})))
    window = chromium.new_page(viewport={"width": 1200, "height": 900})
    window.goto(path.as_uri())
    return window


def test_a_notebook_shows_the_board_of_a_trace(chromium: sync_api.Browser, widgets: list, tmp_path: Path):
    window = drawn(chromium, widgets[0], tmp_path / "cell.html")
    frame = window.locator("output.frame")
    sync_api.expect(frame).to_have_text("iteration 3 of 3 · line 4 of 4")
    window.keyboard.press("Home")
    sync_api.expect(frame).to_have_text("iteration 3 of 3 · line 4 of 4")  # keys are the notebook's
    window.get_by_role("button", name="One line back").click()
    sync_api.expect(frame).to_have_text("iteration 3 of 3 · line 3 of 4")
    window.keyboard.press("Home")  # and the board's where it has the focus
    sync_api.expect(frame).to_have_text("iteration 1 of 3 · line 1 of 4")
    window.locator("section.routing").evaluate("root => root.capsvizBoard.tell('upper', 8)")
    assert window.evaluate("changes") == [["upper", 8]]
    window.close()


def test_a_notebook_shows_a_live_decoder(chromium: sync_api.Browser, widgets: list, tmp_path: Path):
    window = drawn(chromium, widgets[1], tmp_path / "cell.html")
    board = window.locator("section.live-decoder")
    sync_api.expect(board).to_have_attribute("data-ready", "true")
    pixels = "canvas => canvas.toDataURL()"
    after = board.locator("canvas.after")
    before = after.evaluate(pixels)
    cell = board.locator(".row.chosen .cell").nth(3)
    cell.focus()
    for _ in range(8):
        window.keyboard.press("ArrowUp")
    window.wait_for_function(
        "([canvas, before]) => canvas.toDataURL() !== before", arg=[after.element_handle(), before]
    )
    assert board.locator("canvas.before").evaluate(pixels) == before
    window.close()
