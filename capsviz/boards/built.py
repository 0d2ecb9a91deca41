"""What `frontend/` builds: the scripts and style sheets in `bundles/`."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def bundle(file: str) -> str | None:
    """The text of a built script or style sheet, "keys.js" or "keys.css"; None where nothing of that name is built.

    It is read once: a server that runs while another is built goes on with the one that it has begun with.
    """
    built = resources.files("capsviz.boards") / "bundles" / file
    return built.read_text(encoding="utf-8") if built.is_file() else None
