"""What a page sends after its board: when the browser has drawn that, and not much later where it never says so."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from starlette.requests import Request

from app.server import drawing_order, own_routes


class Overtaken(Exception):
    """What Streamlit ends a run with."""


@pytest.fixture
def session(monkeypatch):
    """A session on a server; what it holds can be another's."""
    monkeypatch.setattr(drawing_order, "_served", threading.Event())
    monkeypatch.setattr(drawing_order, "PATIENCE", 60.0)
    (route,) = drawing_order.routes()
    assert route.path == "/_capsviz/drawn/{token}"
    return _session(monkeypatch, "first")


def _session(monkeypatch, name):
    context = SimpleNamespace(session_id=name, page_script_hash="page", yield_check=lambda: None)
    state = SimpleNamespace(session_state={}, get_option=lambda option: "")
    monkeypatch.setattr(drawing_order, "get_script_run_ctx", lambda: context)
    for module in (drawing_order, own_routes):
        monkeypatch.setattr(module, "st", state)
    drawing_order.begin()
    return SimpleNamespace(context=context, state=state)


def _say(address):
    scope = {"type": "http", "method": "POST", "path_params": {"token": address.rsplit("/", 1)[1]}}
    with pytest.raises(StopIteration) as answered:  # it waits for nothing
        drawing_order._drawn(Request(scope)).send(None)
    return answered.value.value


def _go(session, page):
    session.context.page_script_hash = page
    drawing_order.begin()


def _waited():
    since = time.monotonic()
    drawing_order.wait()
    return time.monotonic() - since


def _looks(session, address=None):
    """How often it was looked whether to go on; at the third look the browser says at an address that it has drawn."""
    looks: list[None] = []

    def look():
        looks.append(None)
        if address and len(looks) == 3:
            _say(address)

    session.context.yield_check = look
    drawing_order.wait()
    return len(looks)


def test_nobody_is_waited_for_without_a_server(visit):
    assert drawing_order.told_at("board", b"message") is None
    app = visit("dynamic")
    assert "awaited-sent" not in app.session_state


def test_a_message_has_one_address_in_a_session_and_another_in_the_next(session, monkeypatch):
    first = drawing_order.told_at("board", b"message")
    assert first is not None and first.startswith("/_capsviz/drawn/")
    assert drawing_order.told_at("board", b"message") == first
    assert drawing_order.told_at("board", b"another") != first
    session.state.get_option = lambda option: "/below/this/"
    assert drawing_order.told_at("board", b"message") == "/below/this" + first
    (route,) = drawing_order.routes()
    assert route.path == "/below/this/_capsviz/drawn/{token}", "where the server hears it"
    _session(monkeypatch, "second")
    assert drawing_order.told_at("board", b"message") != first


def test_of_two_boards_with_the_same_message_each_says_that_it_is_drawn(session):
    both = [drawing_order.told_at(key, b"message") for key in ("board", "board-second")]
    assert len({*both}) == 2
    for address in both:
        _say(address)
    assert _looks(session) == 0


def test_what_follows_waits_until_the_browser_has_drawn(session):
    address = drawing_order.told_at("board", b"message")
    assert _looks(session, address) == 3
    assert _looks(session) == 0, "nothing has been sent since"
    drawing_order.told_at("board", b"message")
    assert _looks(session) == 0, "it stands already"


def test_a_page_that_is_come_back_to_draws_its_board_anew(session):
    there = drawing_order.told_at("board", b"message")
    _say(there)
    drawing_order.wait()
    _go(session, "a page without such a board")
    _go(session, "page")
    assert drawing_order.told_at("board", b"message") == there
    assert _looks(session, there) == 3


def test_the_board_of_a_page_that_was_left_is_not_waited_for(session):
    drawing_order.told_at("board", b"message")  # and the run ends here: the visitor has gone on
    _go(session, "another page")
    assert _looks(session) == 0


def test_of_two_boards_both_are_waited_for(session):
    first, second = drawing_order.told_at("board", b"one"), drawing_order.told_at("board-second", b"two")
    _say(first)
    assert _looks(session, second) == 3


def test_a_browser_that_does_not_answer_is_waited_for_once_until_it_does(session, monkeypatch):
    monkeypatch.setattr(drawing_order, "PATIENCE", 0.3)
    drawing_order.told_at("board", b"one")
    assert _waited() >= 0.3
    late = drawing_order.told_at("board", b"two")
    assert _looks(session) == 0
    _say(late)
    drawing_order.told_at("board", b"three")
    assert _waited() >= 0.3


def test_who_does_something_else_meanwhile_is_not_kept(session):
    drawing_order.told_at("board", b"message")
    session.context.yield_check = Mock(side_effect=Overtaken)
    with pytest.raises(Overtaken):
        drawing_order.wait()
    following = drawing_order.told_at("board", b"next")
    assert _looks(session, following) == 3, "the browser had no chance to answer: it is waited for again"


def test_an_unknown_token_changes_nothing(session):
    assert _say("/_capsviz/drawn/of-nobody").status_code == 204
