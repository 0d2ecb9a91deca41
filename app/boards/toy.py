"""The two-dimensional toy of dynamic routing: its presets, and its place on a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
import torch
from numpy import ndarray

from app import scene
from app.components.routing_toy import PlaneVotes, nested, routing_toy, toy_message
from app.page import layout, takeaway
from app.scene import Scene
from app.shared import resources
from capsviz.boards import Board
from capsviz.routing.dynamic import DYNAMIC, dynamic_routing
from capsviz.routing.votes import DenseVotes
from capsviz.zoo import Entry

TITLE = "Two parents, by hand"
WAYS = "ways"
"""Key of the fragment of the start page's large links, which carry the votes along."""
LENGTH = 0.9
"""Of every preset's votes."""
CAPSULES = 5
APART = (150, 300, 50, 350, 100)
"""Directions, in degrees, of votes for parent 1 that agree on little, before each turns to where all agree."""
NUMBERS = ("logits", "couplings", "sums", "poses", "agreement")
"""Of an iteration, as a table has them."""


def _vote(degrees: float) -> list[float]:
    angle = math.radians(degrees)
    return [round(LENGTH * math.cos(angle), 2), round(LENGTH * math.sin(angle), 2)]


def _around(middle: float, count: int = CAPSULES, spread: float = 60.0) -> list[list[float]]:
    """Votes that agree: directions evenly over `spread` degrees about a middle."""
    return [_vote(middle + spread * (i / max(1, count - 1) - 0.5)) for i in range(count)]


def _scattered(turn: float, count: int = CAPSULES) -> list[list[float]]:
    """Votes that agree on nothing: directions evenly around the circle, so that they add up to zero."""
    return [_vote(turn + 360 * i / count) for i in range(count)]


def _pairs(first: list[list[float]], second: list[list[float]]) -> list[list[list[float]]]:
    return [list(pair) for pair in zip(first, second, strict=True)]


def presets() -> dict[str, dict[str, Any]]:
    """Votes to begin with, by name, each with the sentence that says what to look for."""
    return {
        "Opposition": {
            "votes": _pairs([_vote(230), *_around(50, CAPSULES - 1)], _around(50)),
            "note": "Capsule 1 votes against v₁ and with v₂: its coupling leaves parent 1 for parent 2.",
        },
        "Agreement": {
            "votes": _pairs(_around(50), _scattered(20)),
            "note": "The votes for parent 1 agree, those for parent 2 cancel: all capsules move to parent 1.",
        },
        "Two clusters": {
            "votes": _pairs(
                [*_around(50, 3), *_scattered(50 + 90, 2)],
                [*_scattered(310 + 90, 3), *_around(310, 2)],
            ),
            "note": "Capsules 1 to 3 agree on parent 1, 4 and 5 on parent 2: each group finds its own.",
        },
        "An outlier": {
            "votes": _pairs([*_around(50, CAPSULES - 1), _vote(180)], _scattered(20)),
            "note": "Capsule 5 disagrees about parent 1: it is left to parent 2, which then turns to it alone.",
        },
    }


def story() -> dict[str, Any]:
    """What the start page shows: the votes for parent 1 come to agree, those for parent 2 never do."""
    votes = presets()["Agreement"]["votes"]
    before = _pairs([_vote(degrees) for degrees in APART], [second for _, second in votes])
    return {
        "votes": votes,
        "before": before,
        "said": (
            "The votes disagree: they pull in all directions, and both parents' arrows v stay short.",
            "The five votes for parent 1 come to agree: v₁ grows. Those for parent 2 still cancel.",
            "Each capsule turns to the parent that it agrees with: its coupling, the thickness of its arrow, rises.",
        ),
    }


def _routed(current: Scene) -> Entry:
    """The model whose T the toy has: the chosen one where none here takes the image on stage."""
    try:
        return current.on_page(DYNAMIC.page)[0]
    except scene.SceneError:
        return resources.entries()[current.choices.model]


def _turned(iterations: int) -> None:
    """Keep another T, which the strip shows as well."""
    scene.keep(iterations=scene.own_or(iterations, _routed(scene.current())))


def _play(
    first: PlaneVotes,
    presets: Mapping[str, Mapping[str, Any]],
    key: str,
    on_votes: Callable[[tuple[float, ...]], None],
    told: Mapping[str, Any] | None = None,
) -> None:
    """The toy with the votes of the link, else the `first`; told: the story that these tell, without numbers."""
    current = scene.current()
    entry = _routed(current)
    own = current.choices.toy
    votes, rounds = nested(own) if own else first, current.rounds(entry)
    message = toy_message(
        votes,
        rounds,
        presets,
        most=current.most(entry),
        frame=current.choices.frame,
        dark=current.dark,
        story=None if own else told,
        plain=told is not None,
    )
    takeaway.offer(key, lambda: Board("toy", TITLE, lambda _: message, table=lambda: _table(votes, rounds)), TITLE)
    routing_toy(
        message,
        key=key,
        on_votes=on_votes,
        on_frame=lambda frame: scene.keep("toy", frame=frame),
        on_iterations=_turned,
    )


def _table(votes: PlaneVotes, iterations: int) -> dict[str, ndarray]:
    """The votes, "lower parent 2", and what dynamic routing has of them in each iteration."""
    held = torch.tensor(votes, dtype=torch.float64)
    steps = list(dynamic_routing(DenseVotes(held.unsqueeze(0)), iterations, final_agreement=True))
    found = {name: torch.cat([getattr(step, name) for step in steps]) for name in NUMBERS}
    return {name: values.numpy() for name, values in {"votes": held, **found}.items()}


@st.fragment(key="toy")
def by_itself() -> None:
    """The toy of the start page, without numbers: it plays by itself until a vote is dragged, or the link has some."""
    told = story()

    def taken(votes: tuple[float, ...]) -> None:
        before = scene.choices()  # out of the story, its frame is left with it: the toy then stands at the end
        scene.keep("toy", WAYS, toy=votes, frame=before.frame if before.toy else None)

    _play(told["votes"], {}, "routing-toy-start", taken, told)


@st.fragment(key="toy")
def toy() -> None:
    """Votes in the plane that can be dragged; the votes are in the link, and T is that of the page."""
    layout.say(
        "<b>Take the votes into your hand</b>: drag an arrow's tip. The thicker an arrow, the larger its coupling."
    )
    known = presets()
    _play(next(iter(known.values()))["votes"], known, "routing-toy", lambda votes: scene.keep("toy", toy=votes))
