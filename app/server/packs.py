"""What is large and stays as it is, as the weights of decoders: a browser fetches it once, by its digest.

With each message it would be sent again: megabytes for every slider that is let go.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.server.own_routes import SERVED, place_of

PATH = "_capsviz/packs"
MOST_BYTES = 200_000_000
"""Of the packs that the server has at hand, most of 1 to 6 MB; a browser asks right after it has been told of one."""
LARGEST = 50_000_000
"""Bytes of a pack that is among them."""
_kept: OrderedDict[str, bytes] = OrderedDict()
_lock = threading.Lock()


def routes() -> list[Route]:
    """Where a server gives them out; from now on it is one."""
    SERVED.set()
    return [Route(f"{place_of(PATH)}/{{digest}}", _given, methods=["GET"])]


def address(digest: str, packed: bytes) -> str | None:
    """Where a browser fetches what has this digest; None where no server would answer, or where it is too large."""
    if not SERVED.is_set() or len(packed) > LARGEST:
        return None
    with _lock:
        _kept[digest] = packed
        _kept.move_to_end(digest)
        while sum(map(len, _kept.values())) > MOST_BYTES:
            _kept.popitem(last=False)
    return f"{place_of(PATH)}/{digest}"


def clear() -> None:
    """Nobody is there who might ask for one."""
    with _lock:
        _kept.clear()


async def _given(request: Request) -> Response:
    with _lock:
        packed = _kept.get(request.path_params["digest"])
    if packed is None:
        return Response(status_code=404)
    # Numbers hardly shrink: as they are, or Streamlit would compress them anew for each browser.
    forever = {"Cache-Control": "private, max-age=31536000, immutable", "Content-Encoding": "identity"}
    return Response(packed, media_type="application/octet-stream", headers=forever)
