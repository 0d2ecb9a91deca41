"""Words that are not ours in a Plotly figure, which reads HTML marks and %{…} in every text."""

from __future__ import annotations

import html
from collections.abc import Iterable

_JOINER = "\u2060"
"""Has no width: keeps two characters apart that together would be a mark."""


def literal(text: str) -> str:
    """A name of a class, a model or an image, so that a figure shows it as it is written."""
    return html.escape(text, quote=False).replace("%{", f"%{_JOINER}{{")


def literals(texts: Iterable[str]) -> tuple[str, ...]:
    """The same for several."""
    return tuple(map(literal, texts))


def unmarked(text: str) -> str:
    """What `literal` wrote, as it was."""
    return html.unescape(text).replace(_JOINER, "")


def short(name: str, letters: int) -> str:
    """A name that has room for so many letters: what is left out is an ellipsis."""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"
