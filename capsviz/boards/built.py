"""What `frontend/` builds: the scripts and style sheets in `bundles/`."""

from __future__ import annotations

from importlib import resources


def bundle(file: str) -> str | None:
    """The text of a built script or style sheet, "keys.js" or "keys.css"; None where nothing of that name is built."""
    built = resources.files("capsviz.boards") / "bundles" / file
    return built.read_text(encoding="utf-8") if built.is_file() else None
