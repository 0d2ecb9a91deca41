"""A session may send so many bytes and no more, and what has been taken is kept no longer."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from starlette.types import Receive, Scope, Send
from streamlit import runtime
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

from app.server import sent_files


@pytest.fixture
def keeper(monkeypatch) -> MemoryUploadedFileManager:
    kept = MemoryUploadedFileManager("/_stcore/upload_file")
    monkeypatch.setattr(runtime, "get_instance", lambda: SimpleNamespace(uploaded_file_mgr=kept))
    monkeypatch.setattr(st, "get_option", {"server.maxUploadSize": 64}.get)
    return kept


def test_many_small_files_at_once_are_taken(keeper):
    assert _answers(keeper, [200_000] * 30, at_once=True, said=True) == [204] * 30


def test_sessions_together_hold_no_more_than_the_server_has_room_for(keeper, monkeypatch):
    monkeypatch.setattr(sent_files, "MOST_OF_ALL", 300_000_000)
    for session in "abc":
        keeper.add_file(session, UploadedFileRec("x", "x", "", bytes(70_000_000)))
    assert _answers(keeper, [1000]) == [204]
    keeper.add_file("d", UploadedFileRec("x", "x", "", bytes(70_000_000)))
    assert _answers(keeper, [1000]) == [413]


def _answers(
    keeper: MemoryUploadedFileManager, sizes: list[int], at_once: bool = False, said: bool = False
) -> list[int]:
    """What a session hears that sends files of so many bytes; said: its requests say how many."""
    heard = []

    async def taking(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0)
        _, _, session, file = scope["path"].split("/")[1:]
        keeper.add_file(session, UploadedFileRec(file, "x", "", bytes(scope["size"])))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            heard.append(message["status"])

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    app = sent_files.SentFiles(taking)
    requests = [
        app(
            {
                "type": "http",
                "method": "PUT",
                "path": f"/_stcore/upload_file/s/{name}",
                "size": size,
                "headers": [(b"content-length", str(size).encode())] if said else [],
            },
            receive,
            send,
        )
        for name, size in enumerate(sizes)
    ]

    async def visit() -> None:
        if at_once:
            await asyncio.gather(*requests)
            return
        for request in requests:
            await request

    asyncio.run(visit())
    return heard


def test_a_session_that_sends_too_much_is_refused_and_another_one_is_not(keeper):
    largest = st.get_option("server.maxUploadSize") * 2**20
    few = sent_files.MOST_HELD - largest
    assert _answers(keeper, [few // 2, few // 2, 1, 1, 1]) == [204, 204, 204, 413, 413]
    keeper.remove_session_files("s")
    assert _answers(keeper, [1]) == [204], "what Streamlit lets go is not counted"


def test_files_that_come_at_the_same_time_count_as_large_ones(keeper):
    most = sent_files.MOST_HELD // (st.get_option("server.maxUploadSize") * 2**20)
    assert sorted(_answers(keeper, [1] * (most + 3), at_once=True)) == [204] * most + [413] * 3


def test_a_file_that_was_taken_is_kept_no_longer(keeper, monkeypatch):
    file = UploadedFileRec("f", "x", "", b"1")
    keeper.add_file("s", file)
    context = SimpleNamespace(session_id="s", uploaded_file_mgr=keeper)
    monkeypatch.setattr(sent_files, "get_script_run_ctx", lambda: context)
    sent_files.forget(UploadedFile(file, FileURLs()))
    assert keeper.get_files("s", ["f"]) == []
