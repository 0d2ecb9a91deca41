"""The boards of the pages, those of a routing and maps of the capsules: what is on them, what an action changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from app import scene
from app.boards import second_board
from app.boards.second_board import Routed
from app.components.capsule_maps import capsule_maps
from app.components.routing_board import in_words, numbered, place_of, routing_board
from app.page import layout, takeaway
from app.page.widgets import chosen
from app.scene import Scene
from app.shared import resources
from app.state import session
from app.state.choices import ANOTHER_IMAGE, LOOK
from capsviz.boards import Board, CapsuleMaps, describe_routing, maps_board, routing_message, trace_board
from capsviz.boards.mixture import TEMPERATURES
from capsviz.figures.compare import error_map
from capsviz.figures.objects import objects_apart
from capsviz.figures.perturb import reconstruction_figure
from capsviz.tracing.trace import Trace
from capsviz.zoo import Entry

_LEFT = "frame-left"
CHOSEN_FIRST = {"tour", "upper", "kind", "capsule", "touched", "iterations", "frame", *LOOK}
"""Choices, any of which says how a routing board is to stand: it does not play by itself then."""


def acted(entries: Sequence[Entry], changes: dict[str, Any]) -> None:
    """Keep what the visitor chose on a board; how that is looked at concerns boards and links, the rest the page.

    entries: the models whose boards stand there, from whose own T another is a choice.
    """
    if "iterations" in changes:
        changes = {"iterations": scene.own_or(changes["iterations"], *entries)}
    looks = changes.keys() <= {"capsule", "frame", *LOOK}
    scene.keep(*(["boards"] if looks else []), **changes)


@st.fragment(key="boards")
def show(routing: str) -> None:
    """The board of the image on stage under a routing, and what the visitor put beside it, in step."""
    current = scene.current()
    entry, _ = current.sibling(routing)
    first, second = second_board.own(current, entry, current.picture), second_board.second(current, entry)
    if second is None:
        with layout.errors_as_sentences():
            _board(current, first, "board", partial(acted, [entry]))
        return
    for column, shown, key in zip(st.columns(2, gap="medium"), [first, second], ["board", "board-second"], strict=True):
        with column, layout.errors_as_sentences():
            st.markdown(shown.heading)
            _board(current, shown, key, partial(acted, [entry, second.entry]), group="pair", like=first)
    with layout.errors_as_sentences():
        second_board.compared(current, entry, second)


def _board(
    current: Scene,
    shown: Routed,
    key: str,
    on_action: Callable[[dict[str, Any]], None],
    group: str = "",
    like: Routed | None = None,
) -> None:
    """like: the first of two boards, whose frames the link names, and whose class is shown, for one image by two
    algorithms, so that both are about the same.
    """
    entry, whole, touched = shown.entry, shown.traced(True, False), current.intervention(shown.entry)
    beside, layers = like.traced(True, False) if like is not None else whole, len(whole.layers)
    # The link names a layer of the first; beside it a network of more or fewer layers shows its class capsules.
    layer, position = scene.layer_of(current.choices, whole) if len(beside.layers) == layers else (layers - 1, 0)
    routed = whole.layers[layer]
    trace = whole.at(layer, position)
    longest = shown.traced(True, True).at(layer, position)
    longest_base = shown.traced(False, True).at(layer, position) if touched else None
    compared = like is not None and like.algorithm is not shown.algorithm
    upper = current.upper(beside if compared else trace)
    more = shown.drawn_weights(layer, position, len(trace.classes))
    own, first = _last_frame(shown), _last_frame(like or shown)
    below = routed.observed(position * routed.upper_grid[2]).tolist()

    def changed(changes: dict[str, Any]) -> None:
        if "frame" in changes:
            changes = changes | {"frame": _linked_frame(key, changes["frame"], own, first)}
        on_action({scene.upper_field(trace) if name == "upper" else name: value for name, value in changes.items()})

    frame, look = _own_frame(key, current.choices.frame, first, own), session.look(current.choices)
    standing = {"frame": frame, "looked": dict(look), "capsule": place_of(current.choices.capsule, below)}
    standing |= numbered(below, routed.lower_grid[1])

    def taken() -> Board:
        made = trace_board(trace, longest=longest, upper=upper, base=longest_base, more=more, dark=current.dark)
        title = [f"{shown.what} · {shown.whose}", current.picture.title] if shown.votes else [made.title, shown.whose]
        return replace(made.standing(**standing), title=", ".join(filter(None, [*title, in_words(touched)])))

    takeaway.offer(
        key,
        taken,
        f"The routing of {entry.name}, played" if like in (None, shown) else f"{shown.what} · {shown.whose}, played",
    )
    routing_board(
        routing_message(longest, upper=upper, base=longest_base, more=more, dark=current.dark),
        rounds=trace.layer.iterations,
        most=min(current.most(each.entry) for each in (shown, like or shown)),  # a T is for both
        trained=entry.config.iterations,
        capsule=current.choices.capsule,
        frame=frame,
        look=look,
        introducing=not group and not session.chosen(current.choices) & CHOSEN_FIRST,
        key=f"{key}-{shown.algorithm.name}",
        alt=describe_routing(trace, upper=upper),
        group=group,
        touched=lambda: scene.choices().touched,
        capsules=entry.config.lower,
        network=scene.trained(entry),
        below=below,
        columns=routed.lower_grid[1],
        able=layer == 0,
        on_action=changed,
    )


def _last_frame(shown: Routed) -> int:
    """Where the player of a routing ends: it has a frame for each line of each iteration."""
    program = shown.algorithm.program
    assert program is not None, "what has a board has lines"
    return shown.traced(True, False).layer.iterations * len(program.lines) - 1


def _own_frame(board: str, linked: int | None, first: int, own: int) -> int | None:
    """Of a player that ends at `own`, the frame to stand at, where the link names one of a player that ends at `first`.

    The link names frames of the first of two boards. Several of the second may be as far along as one of those; where
    the visitor left the second at one of them, it stays there.
    """
    left: int | None = st.session_state.get(_LEFT, {}).get(board)
    return left if left is not None and _as_far(left, own, first) == linked else _as_far(linked, first, own)


def _linked_frame(board: str, frame: int | None, own: int, first: int) -> int | None:
    """The frame for the link, of one at which the visitor left a board."""
    st.session_state[_LEFT] = {board: frame}
    return _as_far(frame, own, first)


def _as_far(frame: int | None, last: int, other: int) -> int | None:
    """Of a player that ends at `other`, the frame as far along as one where `last` is the end; None is the end."""
    return None if frame is None else round(frame * other / max(1, last))


def answer(current: Scene, entry: Entry) -> None:
    """What an intervention did to the reconstruction; nothing where there is none, or nothing is reconstructed."""
    touched, plain = current.trace(entry, touched=True), current.trace(entry)
    if not current.intervention(entry) or touched.reconstruction is None or plain.reconstruction is None:
        return
    st.subheader("What the intervention did to the reconstruction", anchor=False)
    pictures = {
        "image": ("The image", "The image", plain.images[0]),
        "untouched": ("Untouched", "The reconstruction, untouched", plain.reconstruction[0]),
        "now": ("Now", "The reconstruction, now", touched.reconstruction[0]),
    }
    *columns, last = st.columns(4)
    for (key, (title, called, image)), column in zip(pictures.items(), columns, strict=True):
        with column:
            figure = reconstruction_figure(image, title=title, dark=current.dark, height=290)
            layout.show(figure, f"answer-{key}", called)
    with last:
        before, now = plain.reconstruction[0], touched.reconstruction[0]
        figure = error_map(before, now, quantity="now − untouched", dark=current.dark)
        layout.show(figure.update_layout(height=320), "answer-difference", "The reconstruction, now − untouched")
        st.caption("Now − untouched: orange is new, blue is gone.")


def objects(current: Scene, trace: Trace) -> None:
    """Of an image that shows several objects, each by itself: its drawing, and what each position gave to it."""
    if trace.drawings is not None:
        st.subheader("Each of them by itself", anchor=False)
        layout.show(objects_apart(trace, dark=current.dark), "objects", "Each object by itself")


def pickers(current: Scene, entry: Entry, trace: Trace) -> int:
    """The class capsule to look at, chosen in a row with EM's λ, and what is routed beside it; T is the boards' own."""
    tempered = entry.config.algorithm.tempered and resources.has_network(entry)
    more = current.choices.second == ANOTHER_IMAGE and resources.has_network(entry)
    first, *others = st.columns([6] + [2] * tempered + [2] + [1.6] * more, vertical_alignment="bottom")
    with first:
        upper = layout.class_picker(current, trace)
    if tempered:
        with others[0]:
            _temperature_picker(current, entry)
    with others[tempered]:
        _second_picker(current, entry)
    if more:
        with others[-1]:
            chosen(st.number_input, "Image", "second_image", current.choices.second_image, 0, None, step=1)
            *_, shown = second_board.second_image(current, entry)
            if shown != current.choices.second_image:
                st.caption(f"It is not here: image {shown} instead.")
    return upper


def _temperature_picker(current: Scene, entry: Entry) -> None:
    own = entry.config.inverse_temperature.final
    shown = current.choices.temperature or own
    chosen(
        st.select_slider,
        "λ rises to",
        "temperature",
        shown,
        sorted({*TEMPERATURES, own, shown}),
        format_func=lambda value: f"{value:g}",
        read=lambda value, _: {"temperature": None if value == own else value},
        help=f"The inverse temperature of the logistic; the model was trained with {own:g}.",
    )


def _second_picker(current: Scene, entry: Entry) -> None:
    options, second = second_board.options(entry), current.choices.second
    shown = options.values()
    chosen(
        st.selectbox,
        "Beside it",
        "second",
        second if second in options else "",
        list(options),
        format_func=lambda value: options[value],
        help="Two routings side by side play in step. "
        + "; ".join(
            f"{mark} {said}" for mark, said in second_board.MARKS.items() if any(mark in each for each in shown)
        )
        + ".",
    )


@st.fragment(key="maps")
def maps(shown: CapsuleMaps, entry: Entry, key: str, title: str) -> None:
    """Maps over the capsules of a model, with their player, to be taken away as they stand under a title.

    The selected capsule is that of all pages; it and the frame concern maps and links, not the rest of the page.
    """
    current = scene.current()
    standing = {"capsule": current.capsule(entry), "frame": current.choices.frame}
    takeaway.offer(key, lambda: maps_board(shown, title, dark=current.dark).standing(**standing), title)
    capsule_maps(
        shown,
        **standing,
        dark=current.dark,
        key=key,
        on_capsule=lambda capsule: scene.keep("maps", capsule=capsule),
        on_frame=lambda frame: scene.keep("maps", frame=frame),
    )
