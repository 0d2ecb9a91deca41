"""A visitor who speaks to the server as a browser does, and keeps of the page what the next message needs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from app.benchmarks.load.page import DONE, Node, Page
from app.components import page_link
from capsviz.boards.message import unpack

PATIENCE = 120.0
"""Seconds after which nobody waits any longer for an answer."""
AGAIN = 4.0
"""Seconds after which keys are sent again that nobody acknowledged, as `frontend/app/commands.ts` does."""
DIFFERING = 0.8
"""Seconds for which address and page may differ, as `frontend/app/address.ts` waits."""
GRACE = 20.0
"""Seconds after a run in which whatever was sent again has begun another, also on a machine that is busy."""


@dataclass
class Visitor:
    """One browser window at an address, and its history."""

    address: str
    page: Page = field(default_factory=Page)
    history: list[tuple[str, str]] = field(default_factory=list)
    """Name of the page and query of each entry, the latest last."""
    finished: float = 0.0
    """When the last run ended that no other followed."""
    seen: list[Node] = field(default_factory=list)
    """Exceptions and alerts, in the order in which they came."""
    waiting: list[tuple[int, str]] = field(default_factory=list)
    """Keys that Python has not acknowledged."""
    closed: bool = False
    """Whether the server has closed the connection."""
    hurried: bool = False
    """Whether a key was pressed before the page had answered what was done before."""

    def __post_init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        """Be a window in which nothing has been opened yet."""
        self.page, self.waiting, self.closed = Page(), [], False
        self._news = asyncio.Condition()
        self._told: dict[str, str] = {}
        self._sent = self._last = 0
        self._sent_at = 0.0
        self._leaving = ("", 0.0)  # the page that a link leads to, and when it was followed
        self._tasks: set[asyncio.Task[None]] = set()
        self._mending: asyncio.Task[None] | None = None
        self._name = self._followed = ""

    async def open(self, name: str, query: str) -> None:
        """Come to the page of this name, in a window without history; returns once the server has been asked."""
        self._socket = await self._connected()
        self._name, self.page.query, self.history = name, query, [(name, query)]
        self._start(self._listen())
        await self.run(name=name)

    async def _connected(self) -> websockets.ClientConnection:
        """A connection, tried again as a browser does where the server does not answer in time."""
        while True:
            with contextlib.suppress(TimeoutError):
                return await websockets.connect(
                    f"ws://{urlsplit(self.address).netloc}/_stcore/stream",
                    origin=websockets.Origin(self.address),
                    subprotocols=[websockets.Subprotocol("streamlit")],
                    max_size=None,
                    ping_interval=None,
                    open_timeout=PATIENCE,
                    user_agent_header="Mozilla/5.0",
                )

    async def anew(self, name: str, query: str) -> None:
        """Open a link in the place of the page: the window forgets everything."""
        await self.leave()
        self._forget()
        await self.open(name, query)

    async def leave(self) -> None:
        """Close the window."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._socket.close()

    async def run(
        self,
        node: Node | None = None,
        done: Callable[[Any], None] = lambda _: None,
        *,
        script: str = "",
        name: str = "",
        query: str | None = None,
        back: bool = False,
    ) -> None:
        """Ask for a run: of the page as it is, with what was `done` to the widget `node`, or of another page."""
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string = self.page.query if query is None else query
        asked.widget_states.CopyFrom(self.page.states(staying=bool(script) and script != self.page.script))
        if node is not None:
            done(asked.widget_states.widgets)
            asked.fragment_id = node.fragment
        asked.page_script_hash = script or self.page.script
        asked.page_name = name
        asked.is_history_navigation = back
        about = asked.context_info
        about.timezone, about.timezone_offset, about.locale = "UTC", 0, "en-US"
        about.url, about.is_embedded, about.color_scheme = f"{self.address}/{self._name}", False, "light"
        with contextlib.suppress(websockets.ConnectionClosed):
            await self._socket.send(message.SerializeToString())

    async def pick(self, node: Node, value: Any) -> None:
        """Have a widget show another value, as a hand does."""
        self.page.values[node.proto.id] = value
        await self.run(node)

    async def click(self, node: Node) -> None:
        """Press a button."""
        await self.run(node, lambda widgets: widgets.add(id=node.proto.id, trigger_value=True))

    async def tell(self, node: Node, what: str, value: Any) -> None:
        """Have a component tell something."""
        told = json.dumps([{"event": what, "value": value}])
        name = f"$$STREAMLIT_INTERNAL_KEY_{node.proto.id}__events"
        await self.run(node, lambda widgets: widgets.add(id=name, json_trigger_value=told))

    async def press(self, command: str) -> None:
        """Press a key that is a command; one batch is on its way at a time."""
        newest = self.waiting[-1][0] + 1 if self.waiting else 0
        self.waiting.append((max(int(time.time() * 1000), newest), command))
        await self._flush()

    async def follow(self, script: str, query: str, *, back: bool = False) -> None:
        """Follow a link to a page, or go back to one."""
        if not back:
            self._leaving = (script, time.perf_counter())
            self._at(self.page.pages.get(script, self._name), query)
        await self.run(script=script, query=query, back=back)
        self.page.query = query

    async def back(self) -> None:
        """Go to the entry of the history before this one."""
        self.history.pop()
        self._name, query = self.history[-1]
        await self.follow(self._script(), query, back=True)

    def _script(self) -> str:
        """That of the page that the address names."""
        return next((script for script, name in self.page.pages.items() if name == self._name), self.page.script)

    async def until(self, shown: Callable[[], bool], since: float) -> float | None:
        """Seconds from a moment until a run has ended whose page shows something; None where none does.

        Nothing is answered on a page that is being left: what is done next would be done on it, and lost with it.
        """
        end = since + PATIENCE
        while not self.closed:
            if self.finished > since and not self.page.running and not self._leaves():
                if shown():
                    return self.finished - since
                end = min(end, self.finished + GRACE)
            now = time.perf_counter()
            if now >= end:
                return None
            async with self._news:
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._news.wait(), min(end - now, 1.0))
            if self.page.running:
                end = since + PATIENCE
        return None

    def _at(self, name: str, query: str) -> None:
        self._name = name
        if self.history[-1] != (name, query):
            self.history.append((name, query))

    def _start(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _listen(self) -> None:
        with contextlib.suppress(websockets.ConnectionClosed):
            await self._hear()
        self.closed = True
        async with self._news:
            self._news.notify_all()

    async def _hear(self) -> None:
        async for data in self._socket:
            message = ForwardMsg()
            message.ParseFromString(data)
            await self._take(message)

    async def _take(self, message: ForwardMsg) -> None:
        self.page.take(message)
        match message.WhichOneof("type"):
            case "navigation":
                self._at(self.page.pages.get(self.page.script, self._name), self.page.query)
                await self._flush()
            case "page_info_changed":
                self._at(self._name, self.page.query)
            case "delta" if message.delta.WhichOneof("type") == "new_element":
                await self._element(message)
            case "script_finished" if message.script_finished in DONE:
                self.finished = time.perf_counter()
                async with self._news:
                    self._news.notify_all()

    async def _element(self, message: ForwardMsg) -> None:
        node = self.page.elements[tuple(message.metadata.delta_path)]
        if node.kind in ("exception", "alert"):
            self.seen.append(node)
        elif node.kind == "bidi_component" and node.proto.component_name.endswith("capsviz_keys"):
            self._last = json.loads(node.proto.json)["acknowledged"]
            self.waiting = [each for each in self.waiting if each[0] > self._last]
            await self._flush()
        elif node.kind == "bidi_component" and node.proto.component_name.endswith("capsviz_routing-board"):
            self._start(self._drawn(unpack(node.proto.bytes).fields["drawn"]))
        elif node.kind == "bidi_component" and node.proto.component_name.endswith(f"capsviz_{page_link.COMPONENT}"):
            await self._lead(node, tuple(message.metadata.delta_path))
        elif node.kind == "bidi_component" and node.proto.component_name.endswith("capsviz_address"):
            if self._mending:
                self._mending.cancel()
            if self.page.data("address") == self.page.choices:
                self._told = {}  # mended: the same address may get lost again
            self._mending = self._start(self._mend())

    async def _drawn(self, path: str) -> None:
        """Say that a board stands, as `frontend/app/streamlit.ts` does once it is drawn."""
        host = urlsplit(self.address)
        _, writer = await asyncio.open_connection(host.hostname, host.port)
        writer.write(f"POST {path} HTTP/1.1\r\nHost: {host.netloc}\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    async def _lead(self, node: Node, place: tuple[int, ...]) -> None:
        """Follow the link beside a component that asks for it, once."""
        token, link = json.loads(node.proto.json), self.page.elements[*place[:-1], place[-1] - 1].proto
        if token != self._followed:
            self._followed = token
            await self.follow(link.page_script_hash, link.query_string)

    def _leaves(self) -> bool:
        """Whether a link was followed whose page has not begun, and may begin yet, as `frontend/app/commands.ts`."""
        script, since = self._leaving
        return script not in ("", self.page.script) and (self.page.running or time.perf_counter() - since < AGAIN)

    async def _flush(self) -> None:
        """Send the keys that are due."""
        if self._leaves():
            return  # until the page has begun that a link leads to
        if self._leaving[0] == self.page.script:
            self._sent = self._last  # the page before may have heard the keys while it was left
        self._leaving = ("", 0.0)
        if not self.waiting or (self._sent > self._last and time.perf_counter() - self._sent_at < AGAIN):
            return
        keys = self.page.component("keys")
        if keys is None:
            return
        self._sent, self._sent_at = self.waiting[-1][0], time.perf_counter()
        self._start(self._again())
        await self.tell(keys, "commands", self.waiting)

    async def _again(self) -> None:
        await asyncio.sleep(AGAIN)
        await self._flush()

    async def _mend(self) -> None:
        """Ask once more, as Back does, for the page of an address that is not shown."""
        await asyncio.sleep(DIFFERING)
        while self.page.running:
            await asyncio.sleep(DIFFERING)
        node = self.page.component("address")
        here = self.page.choices
        told, self._told = self._told, {} if node is None or self.page.data("address") == here else here
        if self._told not in ({}, told):
            await self.run(script=self._script(), query=self.page.query, back=True)
