"""Every browser test may ask for the served app and a visitor of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.visitor import SCREEN, Visitor
from tests.serving import WAIT, served

if TYPE_CHECKING:
    from playwright import sync_api


@pytest.fixture(scope="session")
def open_window(chromium: sync_api.Browser) -> Callable[..., sync_api.Page]:
    """Opens windows, with Playwright's options. Those with the same options share a profile, and what it has loaded.

    Nothing plays by itself in them, unless `reduced_motion="no-preference"` says so: what a test sees stands still.

    Each is opened by an empty one, as a page opens another. Such a window is as new as any, but lives in the process of
    the one that opened it: there Streamlit's scripts and Plotly's are compiled already, half of what a page takes.
    """
    openers: dict[str, sync_api.Page] = {}

    def open_window(**options: Any) -> sync_api.Page:
        options = {"viewport": SCREEN, "reduced_motion": "reduce", **options}
        key = repr(sorted(options.items()))
        if key not in openers:
            context = chromium.new_context(**options)
            context.set_default_timeout(WAIT)
            openers[key] = context.new_page()
        with openers[key].expect_popup() as opened:
            openers[key].evaluate("() => void window.open('about:blank')")
        return opened.value

    return open_window


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a page of these tests answers, the script that a file of them calls PAGE."""
    with served(f"tests/browser/{request.module.PAGE}", tmp_path_factory.mktemp("page")) as address:
        yield address


@pytest.fixture
def moving(open_window: Callable[..., sync_api.Page], address: str) -> Iterator[Visitor]:
    """A visitor to whom pictures play and glide, who has not opened a page yet."""
    visitor = Visitor(open_window(reduced_motion="no-preference"), address)
    yield visitor
    visitor.leave()


@pytest.fixture
def visitor(open_window: Callable[..., sync_api.Page], address: str) -> Iterator[Visitor]:
    """A visitor of the app who has not opened a page yet."""
    visitor = Visitor(open_window(), address)
    yield visitor
    visitor.leave()
