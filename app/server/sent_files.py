"""The files that a session has sent, which Streamlit keeps for as long as the session lasts: how many, and how long."""

from __future__ import annotations

from collections import Counter

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

MOST_HELD = 200_000_000
"""Bytes of the files of a session: two of the largest, and many pictures."""
MOST_OF_ALL = 1_000_000_000
"""The same of all sessions."""


class SentFiles:
    """Middleware that refuses (413) a file of a session whose files, with this one, may take more than `MOST_HELD`, or
    with those of all sessions more than `MOST_OF_ALL`.

    A file that is on its way counts as large as the request says, or as the largest.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._coming = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request as the app does, unless it sends too much."""
        session = _sender(scope)
        if not session:
            await self.app(scope, receive, send)
            return
        size = _size(scope)
        if _held(session) + size + self._coming[session] > MOST_HELD:
            await PlainTextResponse("This visit has sent too many files: reload the page.", 413)(scope, receive, send)
            return
        if sum(map(_held, list(_keeper().file_storage))) + size + self._coming.total() > MOST_OF_ALL:
            full = "Others hold too many files here: try again once some of them have left."
            await PlainTextResponse(full, 413)(scope, receive, send)
            return
        self._coming[session] += size
        try:
            await self.app(scope, receive, send)
        finally:
            self._coming[session] -= size
            self._coming += Counter()  # those without a file on its way go


def _sender(scope: Scope) -> str:
    """The session that a request sends a file of, empty for other requests."""
    if scope["type"] != "http" or scope["method"] != "PUT":
        return ""
    return str(scope["path"]).partition("/_stcore/upload_file/")[2].partition("/")[0]


def _size(scope: Scope) -> int:
    """The bytes of a request's body at most: as many as its header says, which the server holds it to."""
    largest: int = st.get_option("server.maxUploadSize") * 2**20
    said = Headers(scope=scope).get("content-length", "")
    return min(largest, int(said)) if said.isascii() and said.isdigit() and len(said) < 10 else largest


def _keeper() -> MemoryUploadedFileManager:
    keeper = runtime.get_instance().uploaded_file_mgr
    assert isinstance(keeper, MemoryUploadedFileManager)
    return keeper


def _held(session: str) -> int:
    return sum(len(file.data) for file in list(_keeper().file_storage.get(session, {}).values()))


def forget(file: UploadedFile) -> None:
    """Keep a file no longer that the visitor's page does not show any more."""
    context = get_script_run_ctx()
    if context is not None and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)
