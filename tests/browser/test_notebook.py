"""The notebooks of the docs are executed, and what their cells show is drawn in a browser as notebooks draw widgets."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from capsviz.boards import bundle
from capsviz.boards.theme import theme
from tests.browser.api import sync_api
from tests.serving import WAIT

pytestmark = pytest.mark.timeout(900)
NOTEBOOKS = Path(__file__).resolve().parents[2] / "docs" / "notebooks"
WIDGET = "application/vnd.jupyter.widget-view+json"
PAGE = """<!doctype html><body><div id="cell"></div><script type="module">
import widget from "data:text/javascript;base64,{script}";
const state = {state}, heard = {{}};
const bytes = (text) => new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
const packed = {{ shared: bytes(state.shared), first: state.first.map(bytes), messages: state.messages.map(bytes) }};
Object.assign(state, packed);
window.changes = [];
const content = window.content = {{ el: {place}, model: {{
  get: (name) => state[name],
  set: (name, value) => {{ state[name] = value; window.changes.push([name, value]); }},
  on: (event, hears) => (heard[event] = hears), off: () => undefined, save_changes: () => undefined,
}} }};
widget.render(content)();
window.leave = widget.render(content); // as marimo runs a cell again: into the same place
</script>"""


Executed = tuple[list[dict[str, Any]], str]
"""The state of the widget that each cell of a notebook shows, buffers in base 64; and all that its cells print."""


def executed(name: str, folder: Path) -> Executed:
    client = NotebookClient(
        nbformat.read(NOTEBOOKS / name, as_version=4),
        timeout=480,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")  # beside other tests, and for such small networks, more are slower
        outputs = [output for cell in client.execute().cells for output in cell.get("outputs", ())]
    found = []
    for model in (output.data[WIDGET]["model_id"] for output in outputs if WIDGET in output.get("data", {})):
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
    return found, "".join(output.text for output in outputs if output.output_type == "stream")


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory: pytest.TempPathFactory) -> Executed:
    return executed("record-and-look.ipynb", tmp_path_factory.mktemp("notebook"))


@pytest.fixture(scope="module")
def widgets(looked_at: Executed) -> list[dict[str, Any]]:
    return looked_at[0]


def drawn(
    chromium: sync_api.Browser, state: dict[str, Any], path: Path, place: str = "document.getElementById('cell')"
) -> sync_api.Page:
    script = base64.b64encode((bundle("widget.js") or "").encode()).decode()
    names = ("board", "name", "css", "first", "shared", "messages", "themes", "count", "upper")
    said = json.dumps({name: state[name] for name in names})
    path.write_text(PAGE.format(script=script, state=said, place=place))
    window = chromium.new_page(viewport={"width": 1200, "height": 900})
    window.set_default_timeout(WAIT)
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
    sync_api.expect(window.get_by_text("j = 8")).to_be_visible()  # without a kernel
    commands = """() => ["s", "S"].map((key, place) => {
        const board = document.querySelector("#cell > div");
        const target = board.shadowRoot.querySelector("button");
        target.dispatchEvent(new KeyboardEvent("keydown", { key, ctrlKey: !place, bubbles: true, composed: true }));
        return board.dataset.lmSuppressShortcuts ?? "the notebook's";
    })"""
    assert window.evaluate(commands) == ["the notebook's", "true"]
    assert window.locator("#cell > div").count() == 1
    window.evaluate("leave()")
    assert window.locator("#cell > div").count() == 0
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


def test_a_board_is_as_light_or_dark_as_the_notebook(chromium: sync_api.Browser, widgets: list, tmp_path: Path):
    window = drawn(chromium, widgets[0], tmp_path / "cell.html")
    board = window.locator("section.routing")
    ground = "root => root.capsvizBoard.message.theme.ground"
    assert board.evaluate(ground) == theme(False)["ground"]
    window.get_by_role("button", name="One line back").click()
    window.evaluate("document.body.style.background = 'oklch(0.2 0.02 260)'")
    window.wait_for_function(f"root => ({ground})(root) === '{theme(True)['ground']}'", arg=board.element_handle())
    sync_api.expect(window.locator("output.frame")).to_have_text("iteration 3 of 3 · line 3 of 4")
    host = window.locator("#cell .board-host")
    assert host.evaluate("root => root.style.getPropertyValue('--ground')") == theme(True)["ground"]
    window.evaluate("document.body.style.background = '#fafafa'")
    window.wait_for_function(f"root => ({ground})(root) === '{theme(False)['ground']}'", arg=board.element_handle())
    window.close()


def test_a_board_that_is_drawn_before_it_is_on_the_page_is_light_on_a_light_one(
    chromium: sync_api.Browser, widgets: list, tmp_path: Path
):
    window = drawn(
        chromium, widgets[0], tmp_path / "cell.html", "Object.assign(document.createElement('div'), {id: 'cell'})"
    )
    window.evaluate("document.body.append(content.el)")
    board = window.locator("section.routing")
    sync_api.expect(board).to_be_visible()
    assert board.evaluate("root => root.capsvizBoard.message.theme.ground") == theme(False)["ground"]
    window.evaluate("document.body.replaceChildren(); document.body.style.background = '#111'")
    window.evaluate("document.body.append(content.el)")
    dark = f"root => root.capsvizBoard.message.theme.ground === '{theme(True)['ground']}'"
    window.wait_for_function(dark, arg=board.element_handle())
    window.close()


def test_the_trace_of_the_notebook_grows_for_its_class(looked_at: Executed):
    assert "couplings (3, 1, 288, 10)" in looked_at[1]
    grown = re.findall(r"iteration \d: longest is class 4, ‖v‖ = (0\.\d+)", looked_at[1])
    assert len(grown) == 3 and grown == sorted(grown)


def test_a_network_of_ones_own_routes_as_capsviz_does(chromium: sync_api.Browser, tmp_path: Path):
    (shown,), said = executed("your-own-network.ipynb", tmp_path)
    (misread,) = re.findall(r"(\d+) of 360 test images are misread", said)
    assert int(misread) < 36
    (difference,) = re.findall(r"differ by at most (\S+)", said)
    assert float(difference) < 1e-6
    assert "torch.Size([3, 4, 64, 10])" in said
    window = drawn(chromium, shown, tmp_path / "cell.html")
    sync_api.expect(window.locator("output.frame")).to_have_text("iteration 3 of 3 · line 4 of 4")
    window.close()


def test_a_row_of_table_2_is_repeated_on_the_digits(tmp_path: Path):
    shown, said = executed("row-of-table-2.ipynb", tmp_path)
    assert shown == []
    (errors,) = re.findall(r"^test error % +(.*)$", said, re.MULTILINE)
    assert len(errors.split()) == 5 and all(float(error) < 5 for error in errors.split())
    assert re.findall(r"capsviz train .*--routing (\w+)( .*--no-decoder)?", said)[-1][0] == "l1"
    assert said.count("--no-decoder") == 2
