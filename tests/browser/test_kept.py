"""A board is sent what changed on it alone, and shows the same numbers as one that is given all of them at once."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.browser.api import sync_api
from tests.browser.visitor import Visitor

LARGE = 50_000
"""Bytes that no message without arrays has."""
HELD = """() => {
  const find = (root) => { for (const at of root.querySelectorAll("*")) {
    if (at.capsvizBoard?.root.dataset.frame) return at.capsvizBoard;
    const found = at.shadowRoot && find(at.shadowRoot); if (found) return found; } };
  const { data } = find(document).run;
  const arrays = Object.entries(data).filter(([, each]) => each instanceof Float32Array);
  return Object.fromEntries(arrays.map(([name, each]) => [name, [...each].join()]));
}"""
"""The numbers of a routing board, by name."""


class Line:
    """The connection between a page and its server: what came over it, and what is to be lost on it."""

    def __init__(self, window: sync_api.Page) -> None:
        self.came: list[int] = []
        self.losing = False
        window.route_web_socket(re.compile("_stcore/stream"), self._through)

    def _through(self, socket: sync_api.WebSocketRoute) -> None:
        server = socket.connect_to_server()
        socket.on_message(server.send)
        server.on_message(lambda message: self._arrived(message, socket.send))

    def _arrived(self, message: str | bytes, on: Callable[[str | bytes], None]) -> None:
        assert isinstance(message, bytes)
        if self.losing and len(message) > LARGE and b'"kept"' in message:  # a board's
            self.losing = False
        else:
            self.came.append(len(message))
            on(message)


def act(visitor: Visitor, key: str, said: str) -> None:
    visitor.press(key)
    visitor.eventually(lambda: said in visitor.query(), f"{said} in the link")
    visitor.settle()
    visitor.fresh()


def anew(visitor: Visitor) -> dict[str, str]:
    """The numbers of the board where the page is loaded again."""
    visitor.window.reload()
    visitor.settle()
    visitor.window.locator("section.routing[data-frame]").wait_for()
    return visitor.window.evaluate(HELD)


def test_a_line_at_which_the_player_stands_brings_no_numbers_again(visitor: Visitor):
    line = Line(visitor.window)
    visitor.open("dynamic?model=mnist-dr-residual&image=7")
    assert max(line.came) > 10 * LARGE, "what is to be spared"
    first = visitor.window.evaluate(HELD)
    del line.came[:]
    act(visitor, "ArrowLeft", "frame=")
    assert max(line.came) < 4 * LARGE, "the charts of the page"
    assert visitor.window.evaluate(HELD) == first
    del line.came[:]
    act(visitor, ".", "class=")
    assert max(line.came) < 8 * LARGE, "the votes for the other class, and not how all of them share"
    other = visitor.window.evaluate(HELD)
    assert {name for name in first if first[name] != other[name]} >= {"votes", "places", "poses"}
    assert other == anew(visitor)


def test_a_board_that_never_got_what_it_is_to_have_is_sent_all_of_it(visitor: Visitor):
    line = Line(visitor.window)
    visitor.open("dynamic?model=mnist-dr-residual&image=7")
    line.losing = True
    act(visitor, "]", "image=8")
    assert not line.losing, "the board of the next image was lost"
    sync_api.expect(visitor.window.locator("section.routing")).to_have_count(0)
    del line.came[:]
    act(visitor, ".", "class=")
    visitor.eventually(lambda: max(line.came, default=0) > 10 * LARGE, "all of it")
    visitor.window.locator("section.routing[data-frame]").wait_for()
    visitor.still()
    shown = visitor.window.evaluate(HELD)
    assert shown == anew(visitor)


def test_a_board_that_comes_back_is_there_with_its_page(visitor: Visitor):
    visitor.open("dynamic?model=digits-dr&image=7")
    sections = visitor.window.get_by_role("radio")
    sections.filter(has_text="Two parents").click()
    visitor.eventually(lambda: "lab=toy" in visitor.query(), "the other section")
    visitor.settle()
    sent = visitor.messages_sent
    sections.filter(has_text="The network").click()
    visitor.window.locator("section.routing[data-frame]").wait_for()
    visitor.settle()
    visitor.window.wait_for_timeout(600)
    assert visitor.messages_sent == sent + 1, "the board was not asked for again"
