"""The exhibits of Basics: what each shows of the image on stage, and what the visitor leaves there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st
from numpy import ndarray

from app import scene
from app.components.hosting import board
from app.components.routing_board import in_words
from app.page import layout, takeaway
from app.page.text import plain
from app.page.widgets import chosen
from app.scene import Scene
from app.sources import images
from app.state import session
from app.state.choices import MOST_PARTS
from capsviz.boards import Board, Message, margin_message, squash_message
from capsviz.boards.basics import LONGEST, margin_table
from capsviz.boards.checks import is_index, is_number
from capsviz.figures.describe import describe
from capsviz.figures.parse_tree import parse_tree
from capsviz.routing.em import EM, SPREAD_MARGIN_END, SPREAD_MARGIN_START
from capsviz.tracing.trace import Trace
from capsviz.zoo import Entry

FRAGMENT = "exhibit"
OTHERWISE = (
    f"{EM.title} has no marks to reach: its spread loss asks only that the activation of the class that is there leads "
    f"every other one by a margin, Σ max(0, m − (aₜ − aᵢ))², and m rises from {SPREAD_MARGIN_START:g} to "
    f"{SPREAD_MARGIN_END:g} in training."
)
"""How the loss that is no margin loss differs."""


def _stage(current: Scene) -> tuple[Entry, Trace]:
    """A model that squashes, and the image on stage through it; an intervention of the visitor's is said."""
    entry, note = current.squashing()
    trace = current.trace(entry, touched=True)
    takeaway.record(trace, entry)
    layout.note(note)
    if current.intervention(entry):
        st.caption(f"{layout.TOUCHED}.")
    return entry, trace


def _about(current: Scene, entry: Entry) -> str:
    touched = in_words(current.intervention(entry))
    return ", ".join(filter(None, [entry.name, current.picture.title, touched]))


def _shown(
    kind: str,
    title: str,
    message: Message,
    actions: dict[str, Callable[[Any], None]],
    table: Callable[[], dict[str, ndarray]] | None = None,
    *,
    about: str,
    **of: Callable[[], str],
) -> None:
    takeaway.offer(kind, lambda: Board(kind, f"{title}, {about}", lambda _: message, table=table), title)
    board(kind, message, key=f"exhibit-{kind}", actions=actions, of=of)


def moved_vector(said: object) -> None:
    """Keep the vector that the visitor left: its length and its angle in degrees."""
    match said:
        case [length, angle] if is_number(length, 0, LONGEST) and is_number(angle, -180, 180):
            scene.keep(FRAGMENT, vector_length=float(length), vector_angle=round(angle))


def moved_margins(said: object) -> None:
    """Keep the margins that the visitor left."""
    if isinstance(said, list) and len(said) == 3 and all(is_number(each, 0, 1) for each in said):
        names = ("present_margin", "absent_margin", "absent_weight")
        scene.keep(FRAGMENT, **dict(zip(names, map(float, said), strict=True)))


def moved_lengths(said: object, classes: int) -> None:
    """Keep the lengths that the visitor gave to class capsules."""
    if not isinstance(said, list):
        return
    found = {}
    for pair in said:
        match pair:
            case [upper, length] if is_index(upper, classes) and is_number(length, 0, 1):
                found[upper] = float(length)
            case _:
                return
    scene.keep(FRAGMENT, lengths=tuple(sorted(found.items())))


def squash(current: Scene) -> None:
    """A vector that is dragged, and the class capsules of the image on stage before and after squash."""
    (entry, trace), choices = _stage(current), current.choices
    title = f"{current.picture.title} in {entry.name}"
    message = squash_message(
        trace, length=choices.vector_length, angle=choices.vector_angle, title=title, dark=current.dark
    )
    _shown("squash", "Squash", message, {"vector": moved_vector}, about=_about(current, entry))


def loss(current: Scene) -> None:
    """The margin loss of every class of the image on stage, its margins and lengths in the visitor's hand."""
    (entry, trace), choices = _stage(current), current.choices
    known = current.labels(trace.classes)
    labels = known or tuple(trace.named[0].tolist())
    message = margin_message(
        trace,
        labels,
        margins=(choices.present_margin, choices.absent_margin, choices.absent_weight),
        moved=[(upper, length) for upper, length in choices.lengths if upper < len(trace.classes)],
        dark=current.dark,
    )
    count = len(trace.classes)
    actions = {"margins": moved_margins, "lengths": lambda said: moved_lengths(said, count)}
    lengths, table = (lambda: session.tied(scene.choices(), "lengths")), partial(margin_table, message)
    _shown("margin-loss", "Margin loss", message, actions, table, about=_about(current, entry), lengths=lengths)
    which = "as it is labelled" if known else "as the network reads it: the image has no label here"
    st.caption(f"The image on stage shows {plain(images.names(labels, trace.classes))}, {which}. {OTHERWISE}")


def parts(current: Scene) -> None:
    """The primary capsules of the image on stage that make its class capsules, what they see and what they give."""
    (_, trace), each = _stage(current), current.choices.parts
    chosen(st.slider, "Parts of each class capsule", "parts", each, 1, MOST_PARTS, then=[FRAGMENT])
    figure = parse_tree(trace, each=each, dark=current.dark)
    layout.show(figure, "parse-tree", "Part and whole")
    st.caption(plain(describe(figure)))
