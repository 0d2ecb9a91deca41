"""Writes the TOML of a tour: tables of text and of switches. Reading is tomllib's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_ESCAPED = re.compile(r'[\x00-\x1f\x7f"\\]')
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def document(top: Mapping[str, str | bool], name: str, tables: Sequence[Mapping[str, str | bool]]) -> str:
    """A file with some values, then an array of tables under a name."""
    blocks = [_block(top), *(f"[[{name}]]\n{_block(table)}" for table in tables)]
    return "\n".join(blocks)


def _block(table: Mapping[str, str | bool]) -> str:
    return "".join(f"{key} = {_value(value)}\n" for key, value in table.items())


def _value(value: str | bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if "\n" in value or "\\" in value:
        return _as_it_is(value)
    return f'"{_ESCAPED.sub(_escape, value)}"'


def _as_it_is(text: str) -> str:
    """Lines and formulas stand in the file as they are, without escapes, where TOML lets them."""
    if "'''" in text or text.endswith("'") or _CONTROL.search(text):
        return f'"{_ESCAPED.sub(_escape, text)}"'
    return f"'''\n{text}'''"


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    return _SHORT.get(character, f"\\u{ord(character):04x}")
