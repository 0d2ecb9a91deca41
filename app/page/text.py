"""Text from links, files, folders and manifests, so that Streamlit, which reads Markdown, shows it as it is written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any
from unicodedata import bidirectional

_JOINER = "\u2060"
"""Has no width. Of text that is escaped Streamlit makes links, icons, emoji and arrows still, but not across this."""
_APART = re.compile(
    r"(?<=[<>=~-])(?=[<>=~-])|(?<=:)(?=//|:|[^\W\d]|[\w+-]+[:\[])|(?<=\S@)(?=[\w-]+\.)|(?<=www)(?=\.)", re.IGNORECASE
)
_MARKS = re.compile(r"[\\`*_\[\]<>$~&|]|^[#+=-]|(?<=^\d)[.)](?=\s|$)")
_RIGHT_TO_LEFT = {"R", "AL", "RLE", "RLO", "LRE", "LRO", "RLI", "FSI", "PDF", "PDI"}
_CODE = re.compile(r"`([^`]+)`")


def plain(text: str) -> str:
    """A name or a title in one line, for where Markdown is read; what is written from right to left keeps to itself."""
    name = _escaped(" ".join(text.split()))
    return f"\u2068{name}\u2069" if any(bidirectional(x) in _RIGHT_TO_LEFT for x in name) else name


def told_apart(titles: Mapping[Any, Any], written: Callable[[str], str] = str) -> dict[Any, Any]:
    """The titles of what a picker offers, behind those that are alike the value: Streamlit knows only its text.

    written: how the value stands there, `plain` where the picker reads Markdown.
    """
    counts = Counter(titles.values())
    return {value: f"{said} ({written(str(value))})" if counts[said] > 1 else said for value, said in titles.items()}


def sentence(text: str) -> str:
    """A sentence that names what is not ours; what stands in backticks is code, in which nothing is marked."""
    parts = _CODE.split(" ".join(text.split()))
    return "".join(f"`{part}`" if number % 2 else _escaped(part) for number, part in enumerate(parts))


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\g<0>", _APART.sub(_JOINER, text))
