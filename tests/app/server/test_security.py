"""What a page of another host may ask of the server, and that this asks nobody in turn."""

from __future__ import annotations

import pytest
from streamlit import net_util
from streamlit.web.server.starlette.starlette_websocket import _is_origin_allowed

from app.server import security


def test_a_page_of_another_host_is_refused_and_no_host_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, timeout: asked.append(url))
    monkeypatch.setattr(net_util, "_external_ip", None)
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)  # as it was, afterwards
    security.ask_nobody()
    for origin in ("http://elsewhere.test", "null", "https://10.1.2.3"):
        assert not _is_origin_allowed(origin, "localhost:8501")
    assert _is_origin_allowed("http://localhost:8501", "localhost:8501")
    assert _is_origin_allowed("http://127.0.0.1", "localhost:8501")
    assert not asked


@pytest.fixture(autouse=True)
def _as_served(monkeypatch):
    monkeypatch.setattr("streamlit.web.server.starlette.starlette_websocket.is_host_allowed", lambda host: True)
