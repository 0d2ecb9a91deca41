"""The way through a tour: where a visitor is on it, and the links that lead on, back, and back to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from app import scene
from app.components.page_link import follow
from app.state import session
from app.state.choices import Choices
from app.tours import links, store
from app.tours.tour import Tour, TourError, TourStep
from capsviz.data.viewpoint import CHANGES
from capsviz.errors import CapsvizError

OTHERS = ("viewpoint", "training", "start", "results", "mixtures", "tours")
"""The pages that show no upper capsule, or where none is chosen another than the most active one."""
ARRIVALS = "tour-arrivals"
"""Key of how often a visitor was led to a step: one led to again is arrived at again."""


@dataclass(frozen=True)
class Place:
    """A step of a tour, counted from 1."""

    name: str
    tour: Tour
    number: int

    @property
    def step(self) -> TourStep:
        """What the tour says of it."""
        return self.tour.steps[self.number - 1]

    @property
    def next(self) -> TourStep | None:
        """The step after it; None at the end."""
        return self.tour.steps[self.number] if self.number < len(self.tour.steps) else None

    def moved(self, by: int) -> Place:
        """The step so many on, or the first or last one where there are not so many."""
        return replace(self, number=max(1, min(len(self.tour.steps), self.number + by)))


def place(choices: Choices) -> Place | None:
    """Where the choices stand on a tour; None where none is under way. Raises TourError."""
    if not choices.tour:
        return None
    tour = store.find(choices.tour)
    return Place(choices.tour, tour, min(choices.step, len(tour.steps)))


def target(to: Place, choices: Choices) -> tuple[str, dict[str, str]]:
    """The page and the query of a step of a tour, for somebody with these choices. Raises TourError."""
    page, view, _ = links.opened(to.step, scene.catalogue())
    there = replace(view, present=choices.present, talk=choices.talk, tour=to.name, step=to.number)
    return page, session.to_query(there)


def away(at: Place, choices: Choices, page: str) -> bool:
    """Whether the visitor has left the view of the step; where a player stands does not count, nor how a board is
    turned and zoomed, nor that a capsule is chosen which is shown where none is. Raises TourError.
    """
    own, wanted, _ = links.opened(at.step, scene.catalogue())
    here, there = _shown(page, choices), _shown(own, wanted)
    free: dict[str, Any] = {field: None for field in ("upper", "kind") if getattr(there, field) is None}
    if (page, replace(here, **free)) != (own, there):
        return True
    chosen = {field: getattr(here, field) for field in free if getattr(here, field) is not None}
    return bool(chosen) and chosen != _unchosen(page, choices)


def _unchosen(page: str, choices: Choices) -> dict[str, int]:
    """The upper capsule that all of a page shows where none is chosen, by the choice that can name it."""
    if choices.second or page in OTHERS:  # the other board may begin with another
        return {}
    try:
        trace = scene.current().looked_at(page)
    except (CapsvizError, OSError):  # as the page says
        return {}
    return {scene.upper_field(trace): int(trace.predicted[0])}


def _shown(page: str, choices: Choices) -> Choices:
    """What a view shows, without how it is looked at and where its players stand, be it by an amount or a share."""
    alone = replace(links.alone(choices), frame=None, **session.look(Choices(choices.model)))
    if page == "perturb":
        return replace(alone, share=0.0)
    if page != "viewpoint":
        return alone
    change = CHANGES[choices.change]
    return replace(alone, viewpoint=replace(alone.viewpoint, **{change.name: change.neutral}))


def go(to: Place, choices: Choices) -> None:
    """Go to a step of a tour, where its link leads nowhere without another page; to be called last in a callback."""
    try:
        page, query = target(to, choices)
    except TourError:  # the step's words say so, and keys lead on
        page, query = session.page(), session.to_query(replace(choices, tour=to.name, step=to.number))
    st.session_state[ARRIVALS] = st.session_state.get(ARRIVALS, 0) + 1
    if page == session.page():
        session.write(query)
    else:
        follow(page, query)
