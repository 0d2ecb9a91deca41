"""What a browser fetches once is at hand as long as it is asked for, and takes no more memory than there is."""

from __future__ import annotations

import pytest

from app.server import own_routes, packs, presence


@pytest.fixture(autouse=True)
def _served(monkeypatch):
    monkeypatch.setattr(own_routes.SERVED, "is_set", lambda: True)
    packs.clear()
    yield
    packs.clear()


def kept(*digests: str) -> list[bool]:
    return [digest in packs._kept for digest in digests]


def test_packs_are_weighed_and_the_oldest_goes(monkeypatch):
    monkeypatch.setattr(packs, "MOST_BYTES", 100)
    monkeypatch.setattr(packs, "LARGEST", 60)
    assert (packs.address("a", bytes(40)) or "").endswith("/a")
    packs.address("b", bytes(40))
    packs.address("a", bytes(40))  # asked for again
    packs.address("c", bytes(40))
    assert kept("a", "b", "c") == [True, False, True]
    assert packs.address("d", bytes(61)) is None, "messages bring it"
    assert kept("a", "c", "d") == [True, True, False]


def test_nothing_is_at_hand_once_the_last_visitor_has_left(monkeypatch):
    monkeypatch.setattr("app.server.startup.warm", lambda: None)
    packs.address("a", bytes(40))
    presence.empty()
    assert kept("a") == [False]
