"""Who visits the served pages in Chromium, and notices everything that goes wrong there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import urlsplit

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from app.server.failures import SENTENCE
from tests.known import known
from tests.serving import WAIT

if TYPE_CHECKING:
    from playwright import sync_api

Found = TypeVar("Found")
SCREEN: sync_api.ViewportSize = {"width": 1280, "height": 720}
RESTING = 400
"""Milliseconds in which nothing may have moved, for the page to be at rest."""
READINGS = 8
"""How many looks in a row have to find it so, however long the machine takes for one."""
PLACES = """() => { const places = [];
  const look = (root) => { for (const at of root.querySelectorAll("*")) {
    if (at.shadowRoot) look(at.shadowRoot);
    if (!at.matches("h2, canvas, .main-svg, [data-testid=stElementContainer]")) continue;
    const box = at.getBoundingClientRect(); places.push([box.x, box.y, box.width, box.height].join()); } };
  look(document);
  return places.join(";"); }"""
"""Where everything that is drawn on a page lies in the window."""
HEAD = "[...document.querySelectorAll('h2, .st-key-pages a')].map((each) => each.href ?? each.innerText).join()"
"""What a page is called, and the choices that its links carry."""
LED = "to => { history.pushState({}, '', to); dispatchEvent(new PopStateEvent('popstate')); }"
"""A link that is followed as Back and Forward are."""
PATIENT = """() => { const real = performance.now.bind(performance), since = real();
  performance.now = () => since + (real() - since) / 4; }"""
"""From here on the page waits four times as long before it follows a link, as a busy machine needs."""
Kept = TypeVar("Kept")


class Guest:
    """Somebody at a served page, in a window of their own; what they see of it, a subclass knows.

    Whatever a test does, no exception box may appear, nothing may be logged as an error, no other host be asked.
    """

    def __init__(self, window: sync_api.Page, address: str) -> None:
        self.window, self.address = window, address
        self.problems: list[str] = []
        self.messages_sent = 0
        window.set_default_timeout(WAIT)
        window.on("console", self._heard)
        window.on("pageerror", lambda error: self.problems.append(f"uncaught: {error}"))
        window.on("request", self._asked)
        window.on("websocket", lambda socket: socket.on("framesent", self._sent))

    def _heard(self, message: sync_api.ConsoleMessage) -> None:
        # Opened at /em, Streamlit looks for its server below /em/ first and finds it one level up.
        probing = "/_stcore/" in message.location.get("url", "") and "404" in message.text
        if message.type == "error" and not probing:
            self.problems.append(f"console: {message.text} {message.location.get('url', '')}")

    def _asked(self, request: sync_api.Request) -> None:
        if urlsplit(request.url).scheme.startswith(("http", "ws")) and not request.url.startswith(self.address):
            self.problems.append(f"another host was asked: {request.url}")

    def _sent(self, _frame: object) -> None:
        self.messages_sent += 1

    def open(self, path: str = "") -> Self:
        """Go to a link and wait until the page stands."""
        self.window.goto(f"{self.address}/{path}")
        self.settle()
        self.still()
        return self

    def settle(self) -> None:
        """Wait until the page stands."""
        raise NotImplementedError

    def fresh(self) -> None:
        """Wait until all that is on the page is of the script's last run."""
        # Not by wait_for_function, which evaluates a text in the page: the content security policy forbids that.
        self.eventually(lambda: self.window.locator('[data-stale="true"]').count() == 0, "a page of one run")

    def still(self) -> None:
        """Wait until nothing on the page moves any more: what mounts late pushes aside what is there already."""
        self.resting(lambda: self.window.evaluate(PLACES), "a page at rest")

    def box(self, shown: sync_api.Locator) -> sync_api.FloatRect:
        """Where something lies in the window, once it is scrolled to and lies still: there the mouse finds it."""
        shown.scroll_into_view_if_needed()
        return self.resting(lambda: known(shown.bounding_box()), f"{shown} at rest")

    def resting(self, read: Callable[[], Kept], what: str) -> Kept:
        """What is read, once it has been the same for RESTING milliseconds and READINGS times in a row."""
        end, kept, since, same = time.monotonic() + WAIT / 1000, read(), time.monotonic(), 0
        while same < READINGS or time.monotonic() - since < RESTING / 1000:
            assert time.monotonic() < end, f"never happened: {what}"
            self.window.wait_for_timeout(RESTING / READINGS)
            same += 1
            if (now := read()) != kept:
                kept, since, same = now, time.monotonic(), 0
        return kept

    def middle(self, shown: sync_api.Locator) -> tuple[float, float]:
        """Where in the window the middle of something lies, as of `box`."""
        box = self.box(shown)
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def drag(self, x: float, y: float, right: float, down: float) -> None:
        """The mouse, pressed at a place of the window, moved by so many pixels and let go."""
        self.window.mouse.move(x, y)
        self.window.mouse.down()
        self.window.mouse.move(x + right, y + down, steps=8)
        self.window.mouse.up()

    def press(self, key: str) -> None:
        """Press a key wherever the focus is not."""
        self.window.locator("body").press(key)

    def eventually(self, question: Callable[[], bool], what: str) -> None:
        """Wait until something is so."""
        end = time.monotonic() + WAIT / 1000
        while not question():
            assert time.monotonic() < end, f"never happened: {what}"
            self.window.wait_for_timeout(100)

    def remaining(self, question: Callable[[], Found]) -> Found:
        """What is still found when the page has had its time: ask until nothing is, and give the last answer."""
        end = time.monotonic() + WAIT / 1000
        while (found := question()) and time.monotonic() < end:
            self.window.wait_for_timeout(200)
        return found

    def leave(self) -> None:
        """Close the window; by then nothing may have gone wrong in it."""
        failed = self.failures()
        self.window.evaluate("localStorage.clear()")  # the next guest of this profile finds nothing of this one
        self.window.close()
        assert failed == []
        assert self.problems == []

    def failures(self) -> list[str]:
        """What the page says of failures of its own: Streamlit's boxes, our sentence, a component's."""
        boxes = self.window.query_selector_all('[data-testid="stException"], p.failed')
        alerts = self.window.query_selector_all('[data-testid="stAlert"] p')
        ours = [said for alert in alerts if (said := alert.inner_text()) == SENTENCE]
        return [*(box.inner_text() for box in boxes), *ours]


class Holder(Guest):
    """Somebody at a page with one board. place: where that is on the page; ready: what is there once it is drawn."""

    place: str
    ready: str

    def __init__(self, window: sync_api.Page, address: str) -> None:
        super().__init__(window, address)
        self.board = window.locator(self.place)

    def settle(self) -> None:
        """Wait until the board is drawn."""
        self.window.locator(self.ready).first.wait_for()

    def ask(self, code: str, argument: object = None) -> Any:
        """What an expression says of `board`, of its element `root` and of the argument `it`."""
        return self.board.evaluate(f"(root, it) => {{ const board = root.capsvizBoard; return {code}; }}", argument)


class Visitor(Guest):
    """A visitor of the app."""

    def settle(self) -> None:
        """Wait until the script has run and every figure is drawn."""
        self.window.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
        self.window.wait_for_selector("h2")
        drawn = ".js-plotly-plot .main-svg, section:is(.basics, .mixture, .sweep[data-ready]) canvas, .toy.plain canvas"
        self.window.locator(drawn).first.wait_for(state="attached")
        self.fresh()
        waiting = self.window.locator('.live-decoder[data-ready="false"]')
        self.eventually(lambda: waiting.count() == 0, "the weights of every decoder")
        assert self.failures() == []

    def follow(self, link: str) -> None:
        """Go to another page of the app as Back and Forward do, which loads no script anew, and wait until it stands.

        link: from the root on, to another page than the open one or with other choices.
        """
        self.go_on(link)
        self.settle()

    def go_on(self, link: str) -> None:
        """Go there, and wait until the page has another heading or links with other choices."""
        before = self.window.evaluate(HEAD)
        self.window.evaluate(LED, link)
        self.eventually(lambda: self.window.evaluate(HEAD) != before, f"the heading and the links of {link}")

    def figure(self, key: str) -> str:
        """All numbers that a figure shows at the moment."""
        script = "plot => JSON.stringify(plot.data.map(trace => [trace.z, trace.x, trace.y, trace.marker?.size]))"
        # For a moment a figure that was drawn anew stands beside the one that it replaces.
        return self.window.locator(f'.st-key-{key}[data-stale="false"] .js-plotly-plot:has(.main-svg)').evaluate(script)

    def board(self) -> str:
        """What the routing board shows: its numbers and its frame."""
        board = self.window.locator('[data-stale="false"] section.routing')
        return board.evaluate(
            "root => JSON.stringify([root.dataset.frame, root.capsvizBoard.run.upper,"
            " [...root.capsvizBoard.run.data.shares.slice(0, 4000)], [...root.capsvizBoard.run.data.image]])"
        )

    def canvas(self, row: str) -> str:
        """The picture on a canvas of the live decoder, as a data address."""
        return self.window.locator(f".live-decoder canvas.{row}").first.evaluate("canvas => canvas.toDataURL()")

    def query(self) -> str:
        """The part of the address that holds the choices."""
        return urlsplit(self.window.url).query


class Connection:
    """What a window and the server say to each other: a word can get lost, and the server's can be late.

    To be laid before a page is opened. lost: what the window said and the server never heard; waiting: what the server
    said and the window has not heard yet.
    """

    def __init__(self, window: sync_api.Page) -> None:
        self.lost: list[str | bytes] = []
        self._losing = False
        self._late = False
        self._away = False
        self.waiting: list[str | bytes] = []
        self._last = ""
        window.route_web_socket("**/_stcore/stream", self._connect)

    def _connect(self, socket: sync_api.WebSocketRoute) -> None:
        if self._away:
            socket.close()
            return
        self._socket, server = socket, socket.connect_to_server()
        socket.on_message(lambda said: self.lost.append(said) if self._losing and not self.lost else server.send(said))
        server.on_message(self._hear)

    def _hear(self, said: str | bytes) -> None:
        if self._late:
            self.waiting.append(said)
            return
        self._socket.send(said)
        if self._last and isinstance(said, bytes):
            self._late = ForwardMsg.FromString(said).WhichOneof("type") == self._last

    @contextmanager
    def cut(self) -> Iterator[None]:
        """In here there is no connection, and none comes."""
        self._away = True
        self._socket.close()
        yield
        self._away = False

    def lose_one(self) -> None:
        """Lose the next thing that the window says."""
        self._losing = True

    @contextmanager
    def slow(self, last: str = "") -> Iterator[None]:
        """In here, nothing that the server says arrives; afterwards all of it does.

        last: the kind of message, of Streamlit's ForwardMsg, that still does.
        """
        self._late, self._last = not last, last
        yield
        self._last = ""
        while self.waiting:
            self.arrive(1)
        self._late = False

    def answered(self) -> bool:
        """Whether the end of a run of the script is in what the window has not heard yet."""
        said = (ForwardMsg.FromString(each) for each in self.waiting if isinstance(each, bytes))
        return any(each.WhichOneof("type") == "script_finished" for each in said)

    def arrive(self, count: int) -> None:
        """The first of what the server has said meanwhile arrives."""
        for _ in range(count):
            self._socket.send(self.waiting.pop(0))


Kind = TypeVar("Kind", bound=Guest)


@contextmanager
def visits(
    kind: Callable[[sync_api.Page, str], Kind], open_window: Callable[..., sync_api.Page], address: str
) -> Iterator[Callable[..., Kind]]:
    """Opens guests' windows, each at a query of the page, with Playwright's options; at the end all of them leave."""
    with ExitStack() as leaving:

        def visit(query: str = "", **options: Any) -> Kind:
            guest = kind(open_window(**options), address)
            leaving.callback(guest.leave)
            return guest.open(query)

        yield visit
