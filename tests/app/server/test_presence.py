"""What visitors share is kept while one of them is there, and given back some time after the last has left."""

from __future__ import annotations

import threading

import pytest
from streamlit.runtime.caching import clear_session_resource_cache

from app.server import presence, startup
from app.server.presence import Presence
from app.shared import resources
from tests.app.conftest import Visit

SESSION = "test session id"
"""Of all of AppTest's visitors."""


def test_who_leaves_last_is_followed_by_silence_unless_somebody_comes():
    silent = threading.Event()
    visitors = Presence(silent.set, 1.0)
    visitors.come()
    visitors.come()
    visitors.go()
    assert not silent.wait(1.5) and visitors.count == 1
    visitors.go()
    visitors.come()
    assert not silent.wait(1.5)
    visitors.go()
    assert silent.wait(5)


def test_a_visitor_counts_once_and_until_the_window_is_closed(visit: Visit, monkeypatch: pytest.MonkeyPatch):
    gone = threading.Event()
    monkeypatch.setattr(presence, "VISITORS", Presence(gone.set, 0.0))
    clear_session_resource_cache(SESSION)  # of another test that was in the same window
    monkeypatch.setattr(presence, "VISITORS", Presence(gone.set, 0.0))
    app = visit("dynamic", model="digits-dr")
    app.run()
    assert presence.VISITORS.count == 1
    clear_session_resource_cache(SESSION)
    assert presence.VISITORS.count == 0 and gone.wait(5)


def test_what_a_closed_window_showed_is_let_go_of_though_its_session_is_kept(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(presence, "VISITORS", Presence(lambda: None, 0.0))  # or another test loses its caches
    app = visit("dynamic", model="digits-dr")
    shown = app.session_state["shown"]
    assert shown.trace is not None and shown.pictures
    clear_session_resource_cache(SESSION)
    assert app.session_state["shown"] is shown and shown.trace is None and not shown.pictures
    app.run()  # the visitor is back: the connection had been lost
    assert app.session_state["shown"].trace is not None
    clear_session_resource_cache(SESSION)
    assert app.session_state["shown"].trace is None


def test_an_empty_server_has_forgotten_its_visitors_models_and_is_ready(bare_machine, monkeypatch: pytest.MonkeyPatch):
    loaded, warmed = resources.model("digits-dr"), threading.Event()
    assert resources.model("digits-dr") is loaded
    monkeypatch.setattr(startup, "warm", warmed.set)
    presence.empty()
    assert warmed.is_set() and resources.model("digits-dr") is not loaded
