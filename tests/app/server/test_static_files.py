"""Browser code goes out compressed, and is the same."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from app.server import static_files
from app.server.static_files import LEAST, Compressed

CODE = b"const a = 1;\n" * LEAST


async def _answered(request: Request) -> Response:
    match request.path_params["name"]:
        case "code.js":
            return StreamingResponse(iter([CODE[:1000], CODE[1000:]]), media_type="text/javascript")
        case "small.js":
            return Response(CODE[:100], media_type="text/javascript")
        case "picture.png":
            return Response(CODE, media_type="image/png")
    return Response("not here", status_code=404)


SERVED = Starlette(routes=[Route("/static/js/{name}", _answered)], middleware=[Middleware(Compressed)])


def got(name: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and bytes of an answer."""
    given = {"accept-encoding": "br, gzip;q=0.8", **{name.replace("_", "-"): value for name, value in headers.items()}}
    scope = {
        "type": "http",
        "method": "GET",
        "path": f"/static/js/{name}",
        "query_string": b"",
        "headers": [(key.encode(), value.encode()) for key, value in given.items()],
    }
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.sleep(60)  # the browser stays

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(SERVED(scope, receive, send))
    start, *bodies = sent
    said = {key.decode(): value.decode() for key, value in start["headers"]}
    return start["status"], said, b"".join(each.get("body", b"") for each in bodies)


def test_code_is_compressed_once_and_comes_whole(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(static_files, "_zipped", {})
    status, headers, content = got("code.js")
    assert (status, headers["content-encoding"], headers["vary"]) == (200, "gzip", "accept-encoding")
    assert int(headers["content-length"]) == len(content) < len(CODE) / 10 and gzip.decompress(content) == CODE
    monkeypatch.setattr(gzip, "compress", None)
    assert got("code.js")[2] == content


@pytest.mark.parametrize(
    ("name", "headers"),
    [
        ("code.js", {"accept_encoding": "identity"}),
        ("code.js", {"range": "bytes=0-99"}),
        ("small.js", {}),
        ("picture.png", {}),
        ("none.js", {}),
    ],
)
def test_what_is_small_no_code_or_not_asked_for_so_goes_out_as_it_is(name: str, headers: dict[str, str]):
    status, said, content = got(name, **headers)
    assert "content-encoding" not in said and content[:5] in CODE + b"not here"
    assert status == (404 if name == "none.js" else 200)
