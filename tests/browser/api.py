"""Playwright's interface; whatever imports it is skipped where Playwright is not installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright import sync_api
else:
    sync_api = pytest.importorskip("playwright.sync_api")

__all__ = ["sync_api"]
