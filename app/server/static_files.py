"""The browser code of Streamlit, compressed once: it goes out as it is otherwise, 8 MB to each new visitor."""

from __future__ import annotations

import asyncio
import gzip
import re
import threading
from hashlib import blake2b

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEAST = 20_000
"""Bytes below which it is hardly worth it."""
_zipped: dict[bytes, bytes] = {}
"""By what they are digests of."""
_lock = threading.Lock()


class Compressed:
    """Middleware that answers a request for a script or a style with its bytes as gzip, where the browser takes them.

    A file's name says its content; what was compressed is kept as long as the server runs, 2 MB of all that there are.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request as the app does, the bytes of a static file compressed."""
        if not _is_asked(scope):
            await self.app(scope, receive, send)
            return
        begun: list[Message] = []
        whole = bytearray()

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                begun.append(message)
                return
            if message["type"] == "http.response.body":
                whole.extend(message.get("body", b""))
                if message.get("more_body", False):
                    return
                message = {"type": "http.response.body", "body": await _smaller(begun, bytes(whole))}
            for first in (*begun, message):
                await send(first)
            begun.clear()

        await self.app(scope, receive, told)


def _is_asked(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET" or "/static/" not in scope["path"]:
        return False
    asked = Headers(scope=scope)
    takes = {
        each.split(";")[0].strip()
        for each in asked.get("accept-encoding", "").split(",")
        if not re.search(r";\s*q=0(\.0*)?\s*$", each)
    }
    return scope["path"].endswith((".js", ".css")) and "gzip" in takes and "range" not in asked


async def _smaller(begun: list[Message], content: bytes) -> bytes:
    """What is sent, of which the beginning is told its length and encoding."""
    headers = MutableHeaders(scope=begun[0])
    if begun[0]["status"] != 200 or len(content) < LEAST or "content-encoding" in headers:
        return content
    found = await asyncio.to_thread(_compressed, content)
    headers["content-encoding"], headers["content-length"] = "gzip", str(len(found))
    if (tag := headers.get("etag", "")).startswith('"'):
        headers["etag"] = f"W/{tag}"  # other bytes than those of the file: no part of these goes on with those
    del headers["accept-ranges"]
    headers.add_vary_header("accept-encoding")
    return found


def _compressed(content: bytes) -> bytes:
    digest = blake2b(content).digest()
    with _lock:
        if digest not in _zipped:
            _zipped[digest] = gzip.compress(content, 6, mtime=0)
        return _zipped[digest]
