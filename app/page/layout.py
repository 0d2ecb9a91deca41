"""How every page is put together: headline, strip, pictures, numbers, and the explanation folded away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from plotly.graph_objects import Figure

from app import scene
from app.page import presenter, takeaway, text, ways
from app.page.widgets import chosen, segments
from app.scene import Scene
from app.server import drawing_order, failures
from app.state.choices import MAX_ITERATIONS
from capsviz.errors import CapsvizError
from capsviz.figures.describe import describe
from capsviz.figures.network import Part, network_strip
from capsviz.tracing.trace import Trace
from capsviz.zoo import AtStep, Entry

BELOW_STRIP = 370
"""Height of a chart, in pixels of the ordinary page, that leaves a presented screen room for strip and pickers."""
TOUCHED = "Some primary capsules of this link are muted, boosted or isolated"
STYLE = Path(__file__).with_name("style.css")
_CHART = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"], "responsive": True}


@contextmanager
def errors_as_sentences() -> Iterator[None]:
    """Show what a visitor can meet as its one sentence, and leave the rest of the page usable."""
    try:
        yield
    except (CapsvizError, OSError) as error:
        failures.answer(error)
        if isinstance(error, scene.NoModel):
            ways.offer(error)


def headline(title: str, sentence: str) -> None:
    """The page's name and the one line that a hall understands."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="headline"):
        st.header(title, anchor=False, width="content")
        say(sentence)


def say(sentence: str) -> None:
    """A sentence in large type; HTML marks what is bold in it."""
    st.markdown(f'<p class="headline">{sentence}</p>', unsafe_allow_html=True)


def show(
    figure: Figure,
    key: str,
    title: str,
    *,
    choose: Callable[[Any], None] | None = None,
    height: float | None = None,
    of_others: bool = False,
) -> None:
    """A figure as wide as its place, in its own theme, with its description for those who do not see it.

    title, of_others: as in `takeaway.offer`. choose: called, before the page runs again, with the customdata
    of a point that the visitor clicks. height: the most that it takes in presenter mode, in pixels of the ordinary
    page, of which a screen then has 626.
    """
    takeaway.offer(key, figure, title, of_others=of_others)
    options: dict[str, Any] = {}
    if choose is not None:
        options = {"selection_mode": "points", "on_select": partial(_clicked, key, choose)}
    larger = presenter.staged(figure, height=height)
    st.plotly_chart(larger, width="stretch", theme=None, key=key, config=_CHART, alt=describe(figure), **options)


def _clicked(key: str, choose: Callable[[Any], None]) -> None:
    points = st.session_state[key]["selection"]["points"]
    if points:  # a second click on the same point takes the selection back, and means nothing here
        choose(points[0]["customdata"])


def strip(trace: Trace, entry: Entry, highlight: Part, dark: bool, *, shown: bool = True) -> None:
    """The network from image to reconstruction, the page's subject marked; its trace is the one to take away.

    shown: whether the page has room for it, or only lets it be taken away.
    """
    draw = strip_later(trace, entry, highlight, dark)
    if shown:
        draw()


def strip_later(trace: Trace, entry: Entry, highlight: Part, dark: bool) -> Callable[[], None]:
    """Keep the strip's place; what draws it there once the boards stand that the page has sent before."""
    takeaway.record(trace, entry)
    place = st.container(key="strip-place")

    def made() -> Figure:
        figure = network_strip(trace, highlight=highlight, dark=dark)
        figure.layout.height = 132
        return figure

    def draw() -> None:
        figure = made()
        drawing_order.wait()
        with place:
            show(figure, "strip", "The network", height=116)

    takeaway.offer("strip", made, "The network")
    return draw


def explain(text: str, formula: str, source: str) -> None:
    """One paragraph, its formula and where both come from, folded away."""
    with st.expander("What is computed here", icon=":material/function:", key="explanation"):
        st.markdown(text)
        st.latex(formula)
        st.caption(f"Source: {source}")


def numbers(pairs: dict[str, str], helped: Mapping[str, str] | None = None) -> None:
    """A row of large numbers with their names; helped: what some of them mean, by these."""
    with st.container(key="numbers"):
        for column, (name, value) in zip(st.columns(len(pairs)), pairs.items(), strict=True):
            column.metric(text.plain(name), text.plain(value), help=(helped or {}).get(name))


def iterations_picker(current: Scene, entry: Entry, **options: Any) -> None:
    """T: a slider that begins with what the model was trained with; options: further ones of the slider."""
    chosen(
        st.slider,
        "Iterations T",
        "iterations",
        current.rounds(entry),
        1,
        max(MAX_ITERATIONS, entry.config.iterations, current.rounds(entry)),
        read=lambda value, _: {"iterations": scene.own_or(value, entry)},
        **options,
    )


def layer_picker(current: Scene, trace: Trace) -> Trace:
    """The routed layer to look at, by itself; a choice is shown only where a network has several.

    In a convolutional layer a second picker chooses the position of the upper capsules, named by their type.
    """
    count = len(trace.layers)
    if count == 1:
        return trace
    layer, position = scene.layer_of(current.choices, trace)
    names = [f"Convolutional layer {number + 1}" for number in range(count - 1)] + ["Class capsules"]
    rows, columns, _ = trace.layers[layer].upper_grid
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        segments(
            "EM layer", "layer", layer, dict(enumerate(names)),
            read=lambda number, _: {"layer": None if number == count - 1 else number},
        )  # fmt: skip
    if layer < count - 1:
        with right:
            chosen(
                st.selectbox,
                "Position",
                "position",
                position,
                range(rows * columns),
                format_func=lambda place: f"row {place // columns}, column {place % columns}",
            )
    return trace.at(layer, position)


SIDE_BY_SIDE = 32
"""Classes that are buttons beside one another; more of them are a list, in which one can type."""


def class_picker(current: Scene, trace: Trace, what: str = "", *, then: Sequence[str] = ()) -> int:
    """The upper capsule to look at: the most active, whose class is predicted, until the visitor chooses another.

    what: the picker's label, "Class capsule" or "Capsule type" unless given. then: the fragments to run again, where
    the whole page need not.
    """
    upper = current.upper(trace)
    named = trace.named[0].tolist()
    of_types, many = trace.kind == "type", len(trace.classes) > SIDE_BY_SIDE
    # A list reads no Markdown, buttons do.
    classes = [each if many else text.plain(each) for each in trace.classes]
    marked = "{} ◂" if many else "**{}** ◂"
    chosen(
        st.selectbox if many else partial(st.segmented_control, required=True),
        what or ("Capsule type" if of_types else "Class capsule"),
        scene.upper_field(trace),
        upper,
        range(len(classes)),
        format_func=lambda index: marked.format(classes[index]) if index in named else classes[index],
        help="◂ marks the most active capsule." if of_types else "◂ marks what the model predicts.",
        then=then,
    )
    return upper


def so_far(current: Scene, page: str) -> None:
    """A sentence where the model that a page runs is shown as it was early in its training."""
    try:
        entry = current.running(page)
    except scene.SceneError:
        return  # the page says that it has no model
    if isinstance(entry, AtStep) and entry.checkpoints is not None:
        st.caption(
            f":material/history: After **{entry.step:,}** of {entry.checkpoints.total:,} steps of its training, "
            f"{text.plain(entry.trained)} reads {entry.test_error:.1f} % of the test images wrongly."
        )


def untouched(current: Scene, entry: Entry) -> str:
    """The `note` of a page on which no intervention counts, where the model that it runs is the one of the link's."""
    if entry.name != current.entry.name or not current.intervention(entry):
        return ""
    return f"{TOUCHED}; this page runs the network untouched."


def note(sentence: str) -> None:
    """A sentence, in Markdown, on what runs here, where it is not the chosen model as chosen; else its place is kept.

    One a page.
    """
    place = st.container(key="note")  # what follows stands, and keeps the focus, where a choice brings the sentence
    if sentence:
        place.caption(f":material/swap_horiz: {sentence}")
