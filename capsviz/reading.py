"""The one reader: what a file says is held against the model of it before anything is made of it.

A model is a dataclass whose annotations say the bounds; msgspec checks them, of a file and of what is made in Python.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from operator import index
from pathlib import Path
from typing import Annotated, Any, NoReturn, get_type_hints

import msgspec
from msgspec import Meta

from capsviz.errors import CapsvizError, line

Side = Annotated[int, Meta(ge=1, le=512)]
"""Pixels of an image's side, or of a kernel."""
Count = Annotated[int, Meta(ge=1, le=10_000)]
"""Channels, types, classes, units of a network: the papers' largest is 1,024."""
Number = Annotated[int, Meta(ge=0, le=2**53)]
"""Of steps, images, bytes: what JSON's readers all hold exactly."""
Percent = Annotated[float, Meta(ge=0, le=100)]
_HALVES = r"\ud800-\udfff"
"""Of what is no text: a name that is no UTF-8 comes with them, and a file that holds one is never read again."""
ONE_LINE = rf"[^\x00-\x1f\x7f{_HALVES}]*"
LONGEST_NAME = 300
"""Letters."""
Name = Annotated[str, Meta(max_length=LONGEST_NAME, pattern=rf"^{ONE_LINE}\Z")]
Text = Annotated[str, Meta(max_length=10_000, pattern=rf"^[^{_HALVES}]*\Z")]
Names = Annotated[tuple[Name, ...], Meta(max_length=10_000)]
_INSIDE = r"(?!/|[A-Za-z]:)(?!(.*/)?\.\.?(/|$))[^\x00-\x1f\x7f\\\ud800-\udfff]+"
Inside = Annotated[str, Meta(max_length=300, pattern=rf"^{_INSIDE}\Z")]
"""A path, or the name of what has files called so, that stays in the folder of the file that names it."""
Perhaps = Annotated[str, Meta(max_length=300, pattern=rf"^(?:{_INSIDE})?\Z")]
"""Such a path, or nothing."""
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
PerhapsDigest = Annotated[str, Meta(pattern=r"^(?:[0-9a-f]{64})?\Z")]

LARGEST_JSON = 8_000_000
"""Bytes of a JSON file: those of capsviz have 200,000 at most."""
_FIELDS = {
    "Object contains unknown field": "is unknown to this version of capsviz",
    "Object missing required field": "is missing",
}
_WORDS = (
    (r"Expected `(?:int|float)` (?:>=|> ) ?([-\d.e]+)", r"must be at least \1"),
    (r"Expected `(?:int|float)` <= ([-\d.e]+)", r"must be at most \1"),
    (r"Expected `array` of length (\S+)", r"must have \1 values"),
    (r"Expected `(?:str|array|object)` of length <= (\d+)", r"is longer than \1"),
    (r"Expected `str` of length >= (\d+)", "is empty"),
    (r"Expected `str` matching regex .*", "is written in a way that is not allowed here"),
    (r"Expected `(.*)`, got `(.*)`", r"must be \1 and is \2"),
)


def _fault(error: Exception) -> tuple[str, str]:
    """The field that msgspec names, empty for the whole, and what is wrong with it."""
    found = re.fullmatch(r"(.*?)(?: - at `\$\.?(.*?)`)?", str(error), re.DOTALL)
    what, field = (found[1], found[2] or "") if found else (str(error), "")
    if (named := re.fullmatch(r"(.*) `(.*)`", what)) and named[1] in _FIELDS:
        return f"{field}.{named[2]}".removeprefix("."), _FIELDS[named[1]]
    for pattern, words in _WORDS:
        if re.fullmatch(pattern, what, re.DOTALL):
            return field, re.sub(pattern, words, what, flags=re.DOTALL)
    return field, what


def refused(file: object, field: str, what: str, remedy: str, error: type[CapsvizError]) -> NoReturn:
    """Raise the one sentence on a wrong file: what it is called, the field, what is wrong, what to do."""
    raise error(line(f"{file}{': ' + field if field else ''} {what}; {remedy}."))


def whole(value: Any, sentence: str, error: type[CapsvizError]) -> int:
    """A whole number of any library's; raises `error` with this sentence for what is none, as a truth value."""
    try:
        if isinstance(value, bool) or str(getattr(value, "dtype", "")).endswith("bool"):
            raise TypeError("a truth value")
        return index(value)
    except TypeError as inner:
        raise error(line(sentence)) from inner


_FAILURES = (msgspec.MsgspecError, ValueError, TypeError, RecursionError, OverflowError)


def understood(
    kind: Any,
    data: object,
    file: object,
    remedy: str,
    error: type[CapsvizError],
    *,
    hook: Callable[[type, Any], Any] | None = None,
) -> Any:
    """What JSON held, as a model of this kind; raises `error`, in one sentence, where it is not that.

    kind: a dataclass, or a mapping or tuple of such. file, remedy: what the sentence names, and what it says to do.
    hook: makes what only the network knows how to.
    """
    try:
        return msgspec.convert(data, kind, dec_hook=hook)
    except CapsvizError as inner:
        raise error(line(f"{file}: {inner}")) from inner
    except _FAILURES as inner:
        refused(file, *_fault(inner), remedy, error)


def parsed(text: str | bytes, file: object, remedy: str, error: type[CapsvizError]) -> Any:
    """What a JSON text holds, NaN and infinity not among it; raises `error` where it is none, or nested too deeply."""
    try:
        if len(text) > LARGEST_JSON:
            refused(file, "", f"has more than {LARGEST_JSON // 1_000_000} MB", remedy, error)
        return msgspec.json.decode(text)
    except RecursionError:
        refused(file, "", "is nested too deeply", remedy, error)
    except (msgspec.MsgspecError, ValueError) as inner:
        no_text = "is no text throughout: a name, say, that is no UTF-8 or has half a character"
        refused(file, "", f"is damaged ({inner})" if _is_unicode(text) else no_text, remedy, error)


def _is_unicode(text: str | bytes) -> bool:
    """Whether what a JSON text spells could be written as UTF-8; True of what is no JSON."""
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except UnicodeError:
        return False
    except (ValueError, RecursionError):
        return True
    return True


def read_json(path: Path, remedy: str, error: type[CapsvizError]) -> Any:
    """What a JSON file holds, as `parsed`; raises `error` where it cannot be read."""
    try:
        if not path.is_file():
            refused(path, "", "is not there", remedy, error)
        if path.stat().st_size > LARGEST_JSON:
            refused(path, "", f"has more than {LARGEST_JSON // 1_000_000} MB", remedy, error)
        return parsed(path.read_bytes(), path, remedy, error)
    except OSError as inner:
        refused(path, "", f"cannot be read ({inner.strerror})", remedy, error)


@cache
def _model(kind: Any) -> type[msgspec.Struct]:
    """The fields of a dataclass and nothing of its behaviour, as what msgspec checks at once."""
    hints = get_type_hints(kind, include_extras=True)
    return msgspec.defstruct(kind.__name__, [(field.name, hints[field.name]) for field in fields(kind)])


def check(model: Any, error: type[CapsvizError]) -> None:
    """Raise `error`, naming the field, where a dataclass made in Python is not within the bounds of its annotations.

    Its lists become tuples, as they are in a file's: else the same numbers were another model.
    """
    kind: Any = type(model)
    values = {field.name: getattr(model, field.name) for field in fields(model)}
    try:
        found = msgspec.convert(values, _model(kind))
    except _FAILURES as inner:
        field, what = _fault(inner)
        got = values.get(re.split(r"[.\[]", field)[0])
        raise error(line(f"{field} {what}; got {got!r}.")) from inner
    for name in (name for name, value in values.items() if isinstance(value, list)):
        object.__setattr__(model, name, getattr(found, name))


@cache
def _known(kind: Any) -> frozenset[str]:
    return frozenset(field.name for field in fields(kind))


def unknown(data: object, understood: Any, path: str = "") -> str:
    """The first key of nested objects that a model of them has no field for, as "stages[0].color"; "" for none."""
    if isinstance(data, dict) and is_dataclass(understood):
        kind: Any = type(understood)
        if strange := data.keys() - _known(kind):
            return f"{path}{min(strange)}"
        nested = ((key, value, getattr(understood, key)) for key, value in data.items() if type(value) in (dict, list))
        return next((found for key, value, each in nested if (found := unknown(value, each, f"{path}{key}."))), "")
    if isinstance(data, list) and data and isinstance(data[0], dict) and isinstance(understood, tuple):
        pairs = enumerate(zip(data, understood, strict=True))
        at = path.removesuffix(".")
        return next((found for place, pair in pairs if (found := unknown(*pair, f"{at}[{place}]."))), "")
    return ""


def names_in(given: Any) -> Any:
    """Names in whatever holds them, whole numbers as their digits; what holds none as it is."""
    if isinstance(given, str | bytes | Mapping):
        return given
    try:
        several = tuple(given.tolist() if hasattr(given, "tolist") else given)
    except TypeError:
        return given
    return tuple(str(each) if type(each) is int else each for each in several)
