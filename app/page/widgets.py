"""Widgets that show a choice: the URL says what they show, and what the visitor picks goes there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import streamlit as st

from app import scene
from app.components import page_link
from app.page.text import plain, told_apart
from app.state import leaving, session
from app.state.choices import Choices

_UNMARKED = (st.selectbox, st.select_slider)
"""Widgets that show their options as they are written; others read Markdown in them."""
MOST_KEYS = 500
"""Of a widget's name, before the first one is used again: Streamlit keeps what it knows of each for the whole visit."""


def chosen(
    widget: Callable[..., Any],
    label: str,
    field: str,
    value: Any,
    *args: Any,
    read: Callable[[Any, Choices], dict[str, Any]] | None = None,
    then: Sequence[str] = (),
    leads: Callable[[Any], str | None] = lambda _: None,
    **options: Any,
) -> Any:
    """A widget for one field of the choices: it shows `value`, and a change goes to the URL.

    The widget keeps no state of its own, so that the back button and a link always show what the URL says.
    read: turns the widget's value into the changes, where that is more than the field itself. then: the fragments to
    run again, where the whole page need not. leads: the name of the page to which a value leads, None where the visitor
    stays.
    """
    name = options.pop("key", field)
    key, among = place(name, value), args[0] if args and isinstance(args[0], Collection) else None
    st.session_state[_among(name)] = among
    if among is not None and "format_func" in options:
        titles = {value: options["format_func"](value) for value in among}
        options["format_func"] = told_apart(titles, str if widget in _UNMARKED else plain).get

    told = value

    def changed() -> None:
        nonlocal told
        answer = st.session_state.get(key, told)
        if answer == told or not possible(answer, among):
            return  # nobody picked anything: the browser has not heard yet that another widget stands in its place
        told = answer  # which it says again until it has heard that
        choices = scene.choices()
        changes = read(answer, choices) if read else {field: answer}
        page = leads(answer)
        if page is not None:
            page_link.follow(page, session.to_query(session.changed(choices, **changes)))
        session.update(choices, **changes)
        if then and not leaving.lasts():
            scene.draw(*then)

    return widget(label, *args, key=key, on_change=changed, **_beginning(widget, key, value, among), **options)


def _beginning(widget: Callable[..., Any], key: str, value: Any, among: Collection[Any] | None) -> dict[str, Any]:
    """By the name of a parameter, what a widget shows to begin with."""
    kind = getattr(widget, "func", widget)
    if kind is st.expander:  # with another beginning it would be another one
        st.session_state.setdefault(key, value)
        return {}
    if kind in (st.selectbox, st.radio):
        return {"index": list(among or ()).index(value)}
    if kind in (st.pills, st.segmented_control):
        return {"default": None if value is None else [value]}  # a pair by itself would be two of them
    return {"value": value}


def segments(
    label: str, field: str, value: Any, titles: Mapping[Any, str], *, bare: bool = False, **options: Any
) -> Any:
    """Buttons beside one another for the few values that the titles name; bare: without the label above them."""
    return chosen(
        st.segmented_control, label, field, value, list(titles), format_func=titles.get, required=True,
        label_visibility="collapsed" if bare else "visible", **options,
    )  # fmt: skip


def possible(answer: Any, among: Collection[Any] | None) -> bool:
    """Whether a widget can answer so; among: the options of a picker, which may also have nothing picked.

    After a change of the options a late message still tells the one that was picked among those of before.
    """
    return answer is None or among is None or answer in among


def place(name: str, value: Any) -> str:
    """The key under which the widget of this name shows `value`: another one where that is not what it shows by itself.

    Every message of the browser tells the values of all widgets as it knows them. Were a widget set from 2 to 3, the
    next message may have left before the browser heard of it (a second Back, a key, another widget), says 2, and
    Streamlit takes that for the visitor's pick. A widget that takes the place of the other is in no such message. Nor
    is a widget set to what it shows: what was picked on it since would be put back in the browser, and told as a pick.
    """
    if key_of(name) not in st.session_state or shown(name) != value:
        st.session_state[_turns(name)] = (st.session_state.get(_turns(name), -1) + 1) % MOST_KEYS
    return key_of(name)


def shown(name: str) -> Any:
    """What the widget of this name shows; None where the page has none."""
    return st.session_state.get(key_of(name))


def offered(name: str) -> Collection[Any] | None:
    """Among what the picker of this name lets choose; None where the page shows none."""
    return None if shown(name) is None else st.session_state.get(_among(name))


def key_of(name: str) -> str:
    """The key under which the widget of this name stands: the name, or the name with a number after it."""
    turns = st.session_state.get(_turns(name), 0)
    return f"{name}-{turns}" if turns else name


def _turns(name: str) -> str:
    return f"{name}-turns"


def _among(name: str) -> str:
    return f"{name}-among"
