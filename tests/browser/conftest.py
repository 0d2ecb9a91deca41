"""Every browser test may ask for the served app and a visitor of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.visitor import SCREEN, Visitor
from tests.serving import served


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the app answers, on a machine that holds no data set but the embedded digits."""
    folder = tmp_path_factory.mktemp("server")
    with served("app/main.py", folder, CAPSVIZ_DATA=str(folder)) as address:
        yield address


@pytest.fixture
def visitor(chromium, address: str) -> Iterator[Visitor]:
    """A visitor of the app who has not opened a page yet."""
    visitor = Visitor(chromium.new_page(viewport=SCREEN), address)
    yield visitor
    visitor.leave()
