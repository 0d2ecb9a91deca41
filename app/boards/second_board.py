"""What is routed beside the image on stage: another image, another model, or the same votes by another algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import streamlit as st
from numpy import ndarray

from app.page import layout
from app.page.text import plain
from app.scene import Scene
from app.shared import resources
from app.sources import browsing, images
from app.sources.picture import Picture
from app.state.choices import ANOTHER_IMAGE, SAME_VOTES
from capsviz.figures.verdicts import certainty, shares
from capsviz.routing import ALGORITHMS, Algorithm
from capsviz.tracing.trace import Trace
from capsviz.zoo import AtStep, Entry

SAME = {f"{SAME_VOTES}{name}": algorithm for name, algorithm in ALGORITHMS.items()}
BOARD = "board"
ALIKE, ON_SAME, ON_OWN = "●", "≡", "◇"
MARKS = {
    ALIKE: "another model, routed alike",
    ON_SAME: "the very same votes, by another algorithm",
    ON_OWN: "another algorithm's model, on its own votes",
}
"""The kinds of what may be put beside a model, by the marks that its picker sets before each."""


@dataclass(frozen=True)
class Routed:
    """What a board shows: what is routed and whose, the model, the algorithm that routes, and its traces.

    traced: by whether the visitor's intervention counts, and with how many iterations.
    """

    what: str
    whose: str
    entry: Entry
    algorithm: Algorithm
    traced: Callable[[bool, bool], Trace]
    votes: str = ""
    """The model whose votes are routed by an algorithm of another; empty: its own."""

    @property
    def heading(self) -> str:
        """What stands above it, in Markdown."""
        return f"**{plain(self.what)}** · {plain(self.whose)}"

    def drawn_weights(self, layer: int, position: int, upper: int) -> dict[str, ndarray]:
        """What the board draws and the trace does not hold."""
        if not self.votes:
            return resources.drawn_weights(self.entry.name, layer, position, upper)
        owner = SimpleNamespace(**(self.algorithm.unlearned(self.entry.config.lower, upper) or {}))
        found = self.algorithm.drawn_weights(owner, slice(0, upper))
        return {name: weight.numpy() for name, weight in found.items()}


def second_image(current: Scene, entry: Entry) -> tuple[str, str, int]:
    """Which image to put beside the one on stage, by data set, split and place; another where it is not here."""
    name, split = images.data_of(current.choices, entry), images.split_of(current.choices, entry)
    every, place = browsing.indices(name, split), current.choices.second_image
    return name, split, place if place in every else every[place % len(every)]


def second(current: Scene, entry: Entry) -> Routed | None:
    """What is to be routed beside it; None where nothing is, or nothing suits."""
    wanted = current.choices.second
    if wanted == ANOTHER_IMAGE and resources.has_network(entry):
        name, split, index = second_image(current, entry)
        return own(current, entry, images.from_data(name, split, index, entry))
    if wanted in SAME:
        return _rerouted(current, entry, SAME[wanted]) if wanted in _same(entry) else None
    other = resources.entries().get(wanted)
    if other is None or wanted not in {*_alike(entry), *_others(entry)}:
        return None
    return own(current, other, current.picture)


def options(entry: Entry) -> dict[str, str]:
    """What may be put beside a model, and what each is called: first what routes alike, then what does not."""
    alike = {name: f"{ALIKE} {_called(name)}" for name in _alike(entry)}
    same = {name: f"{ON_SAME} {SAME[name].title}, on the same votes" for name in _same(entry)}
    kind = {name: resources.kind(resources.entries()[name]) for name in _others(entry)}
    own = {name: f"{ON_OWN} {kind[name]}, its own votes · {name}" for name in kind}
    image = {ANOTHER_IMAGE: "another image"} if resources.has_network(entry) else {}
    return {"": "nothing", **image, **alike, **same, **own}


def _called(name: str) -> str:
    other = resources.entries()[name]
    return f"{other.trained} after {other.step:,} steps of training" if isinstance(other, AtStep) else name


def own(current: Scene, entry: Entry, picture: Picture) -> Routed:
    """An image by a model itself."""

    def traced(touched: bool, longest: bool) -> Trace:
        return current.trace_of(entry, picture, touched=touched, longest=longest)

    return Routed(entry.name, picture.title, entry, entry.config.algorithm, traced)


def _rerouted(current: Scene, entry: Entry, algorithm: Algorithm) -> Routed:
    def traced(touched: bool, longest: bool) -> Trace:
        return current.same_votes(entry, algorithm.name, touched=touched, longest=longest)

    return Routed(algorithm.title, f"the votes of {entry.name}", entry, algorithm, traced, votes=entry.name)


def _fitting(entry: Entry) -> dict[str, Entry]:
    known = resources.entries()
    steps = {name: known[name] for name in resources.steps(entry)}
    every = {name: other for name, other in (resources.peers(entry) | steps).items() if name != entry.name}
    return {name: other for name, other in every.items() if other.config.image == entry.config.image}


def _alike(entry: Entry) -> list[str]:
    return [name for name, other in _fitting(entry).items() if other.routing == entry.routing]


def _others(entry: Entry) -> list[str]:
    """Models of the same classes by other algorithms that have a board."""
    return [
        name
        for name, other in _fitting(entry).items()
        if other.routing != entry.routing
        and resources.comparable(other, entry)
        and BOARD in other.config.algorithm.pictures
    ]


def _same(entry: Entry) -> list[str]:
    """Algorithms that route the votes of a model, all of whose capsules vote for all classes, and have a board."""
    if entry.config.capsule_layers:
        return []
    wanted = [name for name, each in SAME.items() if each.name != entry.routing and BOARD in each.pictures]
    return [name for name in wanted if SAME[name].unlearned(1, 1) is not None]


def compared(current: Scene, entry: Entry, other: Routed) -> None:
    """Whom each believes: both routings of the image on stage, and of the same votes those that have no board too."""
    if other.algorithm is entry.config.algorithm:
        return
    own, whose = current.trace(entry, touched=True), plain(entry.name)
    if other.votes:
        kinds = {type(each): each for each in reversed(ALGORITHMS.values())}  # L1 and L2 differ in training alone
        able = [each for each in kinds.values() if each.unlearned(1, 1) is not None and each.name != entry.routing]
        order = [each for each in ALGORITHMS.values() if each in able]
        others = {each.title: current.same_votes(entry, each.name, touched=True) for each in order}
        assumed = ", ".join(f"{each.title} takes {each.assumed}" for each in order if each.assumed)
        note = (
            f"All route the votes of {whose}, with which {entry.method.title} alone was trained"
            f"{f'; {assumed}, as before any training' * bool(assumed)}: a thought experiment."
        )
        why = [each.unfitted(others[each.title].layer.steps) for each in order]
        note = " ".join(filter(None, [note, *why]))
    else:
        others = {other.algorithm.title: other.traced(True, False)}
        note = f"Each routes its own votes, those of {whose} and of {plain(other.entry.name)}, trained apart."
    colours = {each.title: each.colour for each in ALGORITHMS.values()}
    st.subheader("Whom does each believe?", anchor=False)
    pictures = {
        certainty: "How sure each routing is of each class",
        shares: "Mean share of a capsule that each class gets",
    }
    for column, (figure, title) in zip(st.columns(2), pictures.items(), strict=True):
        with column:
            drawn = figure({entry.method.title: own, **others}, colours=colours, dark=current.dark)
            layout.show(drawn, figure.__name__, title, of_others=True)
    st.caption(note)
