"""A folder of results that no other test sees."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CAPSVIZ_RESULTS", str(tmp_path / "results"))
    return tmp_path / "results"
