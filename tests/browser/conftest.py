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
    """Opens windows, with Playwright's options. Those of one kind of device share a profile, and what it has loaded.

    Nothing plays by itself in them, unless `reduced_motion="no-preference"` says so: what a test sees stands still.

    Each is opened by an empty one, as a page opens another. Such a window is as new as any, but lives in the process of
    the one that opened it: there Streamlit's scripts and Plotly's are compiled already, half of what a page takes.

    It is a popup, as a tab behind another is drawn once a second, and each of the mouse's moves waits for that.
    """
    openers: dict[str, sync_api.Page] = {}

    def open_window(
        *, viewport: sync_api.ViewportSize = SCREEN, reduced_motion: Any = "reduce", **options: Any
    ) -> sync_api.Page:
        media = {name: options.pop(name) for name in ("color_scheme", "forced_colors") if name in options}
        device = repr(sorted(options.items()))
        if device not in openers:
            context = chromium.new_context(**options)
            context.set_default_timeout(WAIT)
            openers[device] = context.new_page()
        with openers[device].expect_popup() as opened:
            openers[device].evaluate("() => void window.open('about:blank', '', 'popup')")
        window = opened.value
        window.set_viewport_size(viewport)
        window.emulate_media(reduced_motion=reduced_motion, **media)
        return window

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
