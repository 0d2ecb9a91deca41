"""Take it away: every figure of the page as a file, its numbers, the trace, and the Python that computes it again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import streamlit as st
from plotly.graph_objects import Figure
from streamlit.delta_generator import DeltaGenerator

from app.components.picture_buttons import picture_buttons
from app.page.text import plain, told_apart
from app.scene import Scene
from app.server import failures
from app.shared import own_models, resources
from app.sources import browsing, trace_sets
from app.state import viewpoints
from capsviz.boards import Board, board_csv, board_page
from capsviz.boards.page import holds_all
from capsviz.data import exemplars
from capsviz.errors import CapsvizError
from capsviz.figures import standalone_html
from capsviz.figures.csv_table import figure_csv
from capsviz.figures.describe import describe
from capsviz.figures.theme import ink
from capsviz.letters import as_file
from capsviz.routing import InverseTemperature
from capsviz.tracing.trace import Trace
from capsviz.zoo import Entry

_PREVIEW = "taken"
BOARD_HEIGHT = 620
"""Pixels of the dialog that a board takes; it scrolls."""
Make = Callable[[], str]


@dataclass
class Shown:
    """What the page of one visitor has on screen, and what it has beyond that."""

    pictures: dict[str, tuple[str, Figure | Callable[[], Figure | Board]]] = field(default_factory=dict)
    """Title and figure, or what makes figure or board when it is asked for, by key."""
    of_others: set[str] = field(default_factory=set)
    """Keys of figures that are of several models, or of another than the page's."""
    trace: Trace | None = None
    entry: Entry | None = None
    """The model that the trace is of, or what is known of the network of a recording."""
    of_many: bool = False
    """Whether the page's figures, but for the network, are of many images, or of none."""
    gone: bool = False
    """Whether all of this was let go of, as of a window that was closed."""

    def titles(self) -> dict[str, str]:
        """What the list calls each picture, by key."""
        return told_apart({key: title for key, (title, _) in self.pictures.items()})

    def forget(self) -> None:
        """Have nothing on screen."""
        self.pictures, self.of_others = {}, set()
        self.trace, self.entry, self.of_many, self.gone = None, None, False, True


@dataclass
class Kept:
    """A visitor's window, of which Streamlit keeps the session for some minutes after it has been closed."""

    shown: Shown = field(default_factory=Shown)

    def close(self) -> None:
        """Let go of what it shows, which takes far more memory than the rest of the session."""
        self.shown.forget()


@st.cache_resource(show_spinner=False, scope="session", on_release=Kept.close)
def _window() -> Kept:
    return Kept()


def begin() -> None:
    """Forget the pictures of the page before."""
    st.session_state["shown"] = _window().shown = Shown()


def offer(key: str, picture: Figure | Callable[[], Figure | Board], title: str, *, of_others: bool = False) -> None:
    """Let the visitor take a figure or a board away, whether or not the page shows it.

    picture: or what makes it, called when it is asked for; title: what the list calls it. of_others: whether a figure
    is of several models, or of another than the page's, by whose name it is not called then.
    """
    _shown().pictures[key] = (title, picture)
    if of_others:
        _shown().of_others.add(key)


def record(trace: Trace, entry: Entry) -> None:
    """The trace that the page is about, and of which model it is; the last one counts."""
    shown = _shown()
    shown.trace, shown.entry = trace, entry


def of_many() -> None:
    """Say that the page's figures, but for the network, are of many images, or of none."""
    _shown().of_many = True


def _shown() -> Shown:
    return st.session_state.setdefault("shown", Shown())


@st.dialog("Take it away", width="large", icon=":material/download:")
def take_away(current: Scene) -> None:
    """A picture at a time with its files, and below it the trace and the lines that reproduce it."""
    shown = _shown()
    if shown.gone:
        st.rerun()  # the window was away for a moment, and is back
    if shown.pictures:
        try:
            _pictures(shown, current)
        except (CapsvizError, OSError) as error:  # the trace can be taken all the same
            failures.answer(error)
    if shown.trace is not None and shown.entry is not None:
        _trace(shown.trace, shown.entry, current)


def _pictures(shown: Shown, current: Scene) -> None:
    titles = shown.titles()
    key = st.selectbox("Figure", list(titles), format_func=lambda key: titles[key], key="taken_key")
    title, offered = shown.pictures[key]
    picture = offered if isinstance(offered, Figure) else offered()
    name = f"capsviz-{key}"
    if isinstance(picture, Board):
        _board(picture, name)
    else:
        one = key == "strip" or not shown.of_many
        whose = shown.entry.name if shown.entry and key not in shown.of_others else ""
        about = [whose, current.picture.title] if one else []
        _figure(picture, name, ", ".join(filter(None, [title, *about])), current)


def _board(board: Board, name: str) -> None:
    """The board as it is in its file, where it plays and saves its pictures; here it shows one class only."""
    with st.container(key="taken_preview"):
        alone = replace(board, count=1, message=lambda _: board.message(board.upper))
        st.iframe(board_page(alone), height=BOARD_HEIGHT)
    every, one = "every class that can be chosen on it", f"this class alone: those of all {board.count:,} are too many"
    classes = f" The page has the numbers of {every if holds_all(board) else one}." if board.count > 1 else ""
    st.caption(f"SVG and PNG are at its end.{classes}")
    _, middle, right = st.columns([2, 1, 1])
    _downloads(name, (middle, right), lambda: board_page(board), lambda: board_csv(board), "One row per number.")


def _figure(figure: Figure, name: str, called: str, current: Scene) -> None:
    # On a page of its own a transparent figure would lose its ground, and light type would stand on white.
    still = Figure(figure).update_layout(paper_bgcolor=ink(current.dark).ground)
    with st.container(key="taken_preview"):
        st.plotly_chart(still, width="stretch", theme=None, key=_PREVIEW, alt=describe(figure), config=_BARE)
    left, middle, right = st.columns([2, 1, 1], vertical_alignment="center")
    with left:
        picture_buttons(plot=_PREVIEW, name=name, key="taken_pictures")
    page, numbers = partial(standalone_html, figure, called), partial(figure_csv, figure)
    _downloads(name, (middle, right), page, numbers, "One row per point, commas between.")


def _downloads(name: str, places: tuple[DeltaGenerator, DeltaGenerator], page: Make, numbers: Make, rows: str) -> None:
    """The page that stands alone, and the numbers as a table; rows: what a row of it is."""
    said = "Stands alone: opens in any browser, without network; what plays answers keys."
    for place, kind, make, text in zip(places, ("html", "csv"), (page, numbers), (said, rows), strict=True):
        place.download_button(
            kind.upper(),
            partial(_encoded, make, kind),
            f"{name}.{kind}",
            f"text/{kind}",
            help=text,
            key=f"taken_{kind}",
            on_click="ignore",
            width="stretch",
        )


def _encoded(make: Make, kind: str) -> bytes:
    # Spreadsheets take a table for text of another encoding unless it begins with the mark.
    return make().encode("utf-8-sig" if kind == "csv" else "utf-8")


_BARE = {"displayModeBar": False, "responsive": True}


def _trace(trace: Trace, entry: Entry, current: Scene) -> None:
    name = file_name(trace, current)
    left, right = st.columns([3, 1], vertical_alignment="center")
    whose = plain(trace.name)
    left.markdown(f"**The trace**: every number of {whose} on this image, and three lines that record it again.")
    right.download_button(
        "Trace",
        trace.to_bytes,
        name,
        "application/octet-stream",
        help=f"{plain(name)}: safetensors; opens by capsviz.Trace.open.",
        key="taken_trace",
        on_click="ignore",
        width="stretch",
    )
    st.code(lines(trace, entry, current), language="python", wrap_lines=True)


def file_name(trace: Trace, current: Scene) -> str:
    """What the trace is called as a file: the model, the image and its viewpoint."""
    picture = current.picture
    image = as_file(picture.title.split(",")[0])
    # Drawings and generated images share their titles, and the lines open the file of this one.
    alone = picture.origin is None and picture.recording is None
    digits = hashlib.sha256(picture.key).hexdigest()[:6] if alone else ""
    return f"{'-'.join(filter(None, (trace.name, image, viewpoints.write(picture.viewpoint), digits)))}.safetensors"


def _quoted(name: str | Path) -> str:
    """A name as Python writes it in double quotes, whatever is in it."""
    return json.dumps(str(name), ensure_ascii=False)


def lines(trace: Trace, entry: Entry, current: Scene) -> str:
    """Three lines of Python that record the trace again: from the data set or the recording, else from its own file."""
    if current.picture.recording and not resources.has_network(entry):
        name, index = current.picture.recording
        whole, rounds = f"capsviz.TraceSet.open({_quoted(trace_sets.path_of(name))})[{index}]", trace.layer.iterations
        if rounds == trace_sets.trace(name, index).layer.iterations:
            return f"import capsviz\ntrace = {whole}"
        begun = f"capsviz.tracing.recorder.shorter(None, whole, {rounds})"
        return f"import capsviz, capsviz.tracing.recorder\nwhole = {whole}\ntrace = {begun}"
    origin = current.picture.origin
    if current.picture.recording:
        name, index = current.picture.recording
        images = f"capsviz.TraceSet.open({_quoted(trace_sets.path_of(name))})[{index}].images"
        if trace.gains is not None or not current.replays(entry):  # a network runs on bytes
            images = f"capsviz.data.to_float(capsviz.data.to_bytes({images}))"
    elif origin is None:
        images = f"capsviz.Trace.open({_quoted(file_name(trace, current))}).images"
    else:
        name, split, index = origin
        image_set, place = f'capsviz.data.load({_quoted(name)}, "{split}")', index
        pairs = not browsing.labelled(name)
        if not browsing.whole(name):
            image_set, pairs = f'capsviz.data.exemplars.exemplars("{name}")', False
            place = exemplars.exemplars(name).place(index)
        chosen = (
            f"{image_set}.batch(torch.tensor([{place}]))[0]" if pairs else f"{image_set}.images[{place}:{place + 1}]"
        )
        if current.picture.viewpoint:
            chosen = f"capsviz.data.{current.picture.viewpoint!r}({chosen})"
        images = f"capsviz.data.to_float({chosen})"
    own = trace.name in own_models.models()
    load = "capsviz.analysis.exchange.load" if own else "capsviz.load"
    arguments = [f"{load}({_quoted(trace.name)})", "images"]
    if entry.method.iterates:
        arguments.append(f"iterations={trace.layer.iterations}")
    if trace.gains is not None:
        arguments.append(f"intervention=capsviz.{current.intervention(entry)!r}")
    if entry.config.algorithm.tempered and trace.config.inverse_temperature != entry.config.inverse_temperature:
        schedule: InverseTemperature = trace.config.inverse_temperature
        arguments.append(f"inverse_temperature=capsviz.routing.{schedule!r}")
    if trace.objects > 1:
        arguments.append(f"objects={trace.objects}")
    if entry.classes != tuple(map(str, range(len(entry.classes)))):  # a trace numbers them unless given
        named = repr(entry.classes) if own else f"capsviz.zoo.entry({_quoted(trace.name)}).classes"
        arguments.append(f"classes={named}")
    used = [each for each in ("capsviz.data.exemplars", "torch") if f"{each}." in images]
    modules = ", ".join(["capsviz", *["capsviz.analysis.exchange"] * own, *used])
    return f"import {modules}\nimages = {images}\ntrace = capsviz.trace({', '.join(arguments)})"
