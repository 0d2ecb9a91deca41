"""Presenter mode: the page without its sidebar, for the last row of a hall; and what the keys do on every page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st
from plotly.graph_objects import Figure

from app import scene
from app.components import keys
from app.page import widgets
from app.shared import resources
from app.sources import images
from app.state import session
from app.state.choices import MAX_ITERATIONS, Choices
from app.tours import stage
from capsviz.figures.enlarge import enlarge
from capsviz.routing.em import EM

KEYS = "keys"
STYLE = Path(__file__).with_name("presenting.css").read_text(encoding="utf-8")
LARGER = 1.15
"""Type against that of the ordinary page on a screen of 1280 × 720; on larger screens it grows in proportion.

Components follow the root's type, which presenting.css sets to the same."""
WIDTH, HEIGHT = 1280, 720
TALLEST = 585
"""Pixels of a figure that fills such a screen, as the figure counts them before it is enlarged."""


def presenting() -> bool:
    """Whether the page is in presenter mode."""
    return scene.choices().present


def scale() -> float:
    """What lengths in pixels are multiplied by: 1 but in presenter mode."""
    if not presenting():
        return 1.0
    width, height = keys.screen(KEYS) or (WIDTH, HEIGHT)
    return LARGER * max(1.0, min(width / WIDTH, height / HEIGHT))


def staged(figure: Figure, *, height: float | None = None) -> Figure:
    """The figure as the page shows it: as it is, or in presenter mode with larger type.

    height: the most that it takes in presenter mode, in pixels of the ordinary page; a screen unless given.
    """
    factor = scale()
    if factor == 1.0:
        return figure
    own = figure.layout.height or 450  # plotly's default
    return enlarge(figure, factor, height=factor * min(own, height or TALLEST))


def listen(page: str) -> None:
    """Listen for keys on this page, whatever has the focus. page: its name in the address."""
    # The message that tells a size has the address of before a key that is on its way: what the key led to is kept.
    keys.keys(
        key=KEYS,
        page=page,
        presenting=presenting(),
        sheet=STYLE,
        on_command=run_command,
        on_screen=session.here,
    )
    if presenting():
        st.html(f"<style>{STYLE}</style>")


def run_command(command: str) -> Callable[[], None] | None:
    """Do what a key stands for: change the choices, as a widget would. Returns what is to be called at the end."""
    choices = scene.choices()
    if choices.notes and not command.startswith(("page", "step")):
        return None
    if command.startswith("page") and not choices.tour:
        if "tour" in session.here():  # a talk that this server does not know: the page says so, and stays as it is
            return None
        command = command.replace("page", "image")
    match command:
        case "page-1" | "page+1":
            return stage.moved(choices, int(command[-2:]))
        case "step":
            return stage.moved(choices, 0)
        case _ if command == "end" or command.startswith("step="):
            return stage.commanded(choices, command)
        case "present":
            session.update(choices, present=not choices.present)
        case "image-1" | "image+1":
            _leaf(choices, int(command[-2:]))
        case "class-1" | "class+1":
            _class(choices, int(command[-2:]))
        case "T-1" | "T+1":
            if widgets.shown("iterations") is not None:
                current = scene.current()
                entry = current.iterated(session.page())
                now, step = current.rounds(entry), int(command[-2:])
                if now <= MAX_ITERATIONS or step < 0:  # beyond what may be chosen a model has its own alone
                    within = max(1, min(MAX_ITERATIONS, now + step))
                    session.update(choices, iterations=scene.own_or(within, entry))
    return None


def _leaf(choices: Choices, step: int) -> None:
    """The next or previous image of those that are browsed; after the last comes the first."""
    entry = resources.entries()[choices.model]
    places, index = images.listing(choices, entry), images.index_of(choices, entry)
    if len(places) < 2:
        return
    position = places.index(index) if index in places else min(0, -step)  # leads to an end
    session.update(choices, image=places[(position + step) % len(places)])


def _class(choices: Choices, step: int) -> None:
    """The next or previous capsule of the picker, of a convolutional layer a type, from the one that the page shows."""
    here = session.page() == EM.page  # the picker of a page that was left may still be known
    field = "kind" if here and widgets.offered("kind") else "upper"
    count = len(widgets.offered(field) or range(scene.catalogue().classes[choices.model]))
    shown = getattr(choices, field)  # a second key comes before the page shows the first
    if shown is None or shown >= count:
        shown = widgets.shown(field)
    if shown is None:  # the page has not come so far yet, or has no picker
        current = scene.current()
        try:
            trace = current.looked_at(session.page())
        except scene.SceneError:
            return  # as the page says
        field, shown, count = scene.upper_field(trace), current.upper(trace), len(trace.classes)
    session.update(choices, **{field: (shown + step) % count})
