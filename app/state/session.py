"""The visitor's choices and the URL that mirrors them, so that a link is a demonstration."""

from __future__ import annotations

import dataclasses
import hashlib
import time
from collections.abc import Mapping
from typing import Any

import streamlit as st

from app.server import callbacks
from app.state import leaving
from app.state.choices import DECLARED, LOOK, Catalogue, Choices
from app.state.codecs import Replaced

START = {"page": "start"}
"""What a query holds beside the choices where they were made on the start page at the address without a name."""
_MARK = "mark-of-the-page"
_TRAIL, _WRITTEN = "trail", "written-at"
_PAGE, _SAID = "page-here", "said-here"
LONGEST_TRAIL = 50
"""Addresses of which a browser may not have heard yet."""
AHEAD = 4.0
"""Seconds for which it may not have heard of one."""


def parse(query: Mapping[str, str], catalogue: Catalogue) -> tuple[Choices, tuple[str, ...]]:
    """The choices that a URL query stands for, and one sentence for each part of it that means nothing here."""
    choices, notices = Choices(catalogue.start), []
    for name, declared in DECLARED.items():
        if declared.key not in query:
            continue
        try:
            value = declared.codec.read(query[declared.key], choices, catalogue)
        except Replaced as error:
            notices.append(str(error))
            value = error.successor
        except ValueError as error:
            notices.append(f"{error}; showing {declared.instead.format(**vars(choices))} instead.")
            continue
        choices = dataclasses.replace(choices, **{name: value})
    return choices, tuple(notices)


def to_query(choices: Choices) -> dict[str, str]:
    """The URL query that `parse` turns back into these choices."""
    said = chosen(choices) | {"model"}
    return {each.key: each.codec.write(getattr(choices, name)) for name, each in DECLARED.items() if name in said}


def chosen(choices: Choices) -> set[str]:
    """The choices beside the model that differ from their defaults."""
    default = Choices(choices.model)
    return {name for name in DECLARED if getattr(choices, name) != getattr(default, name)}


def opens_start(query: Mapping[str, str]) -> bool:
    """Whether a query at the address without a name is the start page's: no choices, or those made there."""
    return query.items() >= START.items() or not any(declared.key in query for declared in DECLARED.values())


def remember_page(page: str) -> None:
    """The page that this visitor is on, by its name in a link, for what happens before the next one is drawn."""
    if st.session_state.get(_PAGE) != page:
        st.session_state[_PAGE], st.session_state[_SAID] = page, {}


def page() -> str:
    """That page; "" before any has been drawn."""
    return st.session_state.get(_PAGE, "")


def say(matter: str, sentence: str) -> None:
    """Keep a sentence on a matter until the page is left or another is said, "" to say no more."""
    st.session_state[_SAID] = st.session_state.get(_SAID, {}) | {matter: sentence}


def said(matter: str) -> str:
    """That sentence; "" where there is none."""
    sentences: dict[str, str] = st.session_state.get(_SAID, {})
    return sentences.get(matter, "")


def mark(query: Mapping[str, str]) -> None:
    """What `write` puts before the choices, for the page that is open."""
    st.session_state[_MARK] = dict(query)


def write(query: Mapping[str, str]) -> None:
    """Put a query of the page that is open into the URL, unless the URL is that of another one, or Back's, by now."""
    if callbacks.overtaken():
        return
    st.query_params.from_dict({**st.session_state.get(_MARK, {}), **query})
    st.session_state[_TRAIL] = [*st.session_state.get(_TRAIL, []), st.query_params.to_dict()][-LONGEST_TRAIL:]
    st.session_state[_WRITTEN] = time.monotonic()


def arrive() -> None:
    """Take the address of this run for what the visitor wants; to be called first in the script, after all callbacks.

    A link or Back has led there, or what callbacks have written. Whoever goes back right behind an action may be told
    of the address of that only then; it is made that of the page again.
    """
    here = st.query_params.to_dict()
    if st.session_state.get(_TRAIL, [None])[-1] != here:
        st.session_state[_TRAIL] = [here]
        if callbacks.goes_back() and time.monotonic() - st.session_state.get(_WRITTEN, -AHEAD) < AHEAD:
            st.query_params.from_dict(here)


def here() -> dict[str, str]:
    """The address from which a callback goes on, which is put into the URL, unless that is another's by now.

    Every message of the browser brings the address that it knew when it sent it; what was picked just before may have
    led to another one.
    """
    sent, left = st.query_params.to_dict(), st.session_state.get(_TRAIL, [{}])
    if left[-1] != sent:  # else it is what was written last, perhaps in this very run
        left = st.session_state[_TRAIL] = [sent] if callbacks.overtaken() else followed(left, sent)
        if left[-1] != sent:
            st.query_params.from_dict(left[-1])
    return left[-1]


def followed(left: list[dict[str, str]], sent: dict[str, str]) -> list[dict[str, str]]:
    """The addresses that callbacks led through, to which the next one adds its own; the last one is where it starts.

    left: the addresses so far. sent: the one that came with the message. A browser may send an address that an earlier
    callback has left already, when it has not been told of the newer one yet.
    """
    return list(left) if sent in left[:-1] and sent != left[-1] else [sent]


def tied(choices: Choices, name: str) -> str:
    """In a short word, the choices with which one goes back to its default: set for others, it would not be meant."""
    said = [getattr(choices, other) for other, declared in DECLARED.items() if name in declared.resets]
    return hashlib.sha256(repr(said).encode()).hexdigest()[:12]


def look(choices: Choices) -> dict[str, Any]:
    """How routing boards are looked at, by the names of `LOOK`."""
    return {name: getattr(choices, name) for name in LOOK}


def update(choices: Choices, **changes: Any) -> None:
    """Write `changed` choices to the URL, unless the page is being left for another, whose own are on their way.

    To be called from a widget's callback: the script then reads them back from the URL, the only place they live.
    """
    if not leaving.lasts():
        write(to_query(changed(choices, **changes)))


def changed(choices: Choices, **changes: Any) -> Choices:
    """The choices with changes; what depends on one that is another now goes back to its default."""
    default = Choices(choices.model)
    new = {
        name: value if value == getattr(default, name) else DECLARED[name].codec.normal(value)
        for name, value in changes.items()
    }
    others = [name for name, value in new.items() if value != getattr(choices, name)]
    reset = {other for name in others for other in DECLARED[name].resets if not DECLARED[other].kept(choices)}
    return dataclasses.replace(choices, **({name: getattr(default, name) for name in reset} | new))
