"""The view of a step: which page it is, and the choices that its link stands for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from app.state import session
from app.state.choices import DECLARED, Catalogue, Choices
from app.tours.tour import Tour, TourError, TourStep
from capsviz.routing.dynamic import DYNAMIC

_VIEWS = Path(__file__).resolve().parents[1] / "views"
_HOW = ("present", "tour", "step", "notes", "talk")
"""Choices, by field and by key, of how a view is shown and in which tour."""


@cache
def pages() -> tuple[str, ...]:
    """The names of the app's pages in a link."""
    return tuple(sorted(path.stem for path in _VIEWS.glob("*.py")))


def script_of(page: str) -> str:
    """What Streamlit knows a page by."""
    return f"views/{page}.py"


def view_of(page: str, choices: Choices) -> str:
    """A page and choices as a step says them."""
    return f"{page}?{urlencode(session.to_query(alone(choices)), safe=',;:~/@')}"


def alone(choices: Choices) -> Choices:
    """The choices of a view by itself: what it shows, not how or in which tour."""
    usual = Choices(choices.model)
    return replace(choices, **{name: getattr(usual, name) for name in _HOW})


def opened(step: TourStep, catalogue: Catalogue) -> tuple[str, Choices, tuple[str, ...]]:
    """The page that a step leads to, its choices, and a sentence for each part of the link that means nothing here.

    Of an address that was copied whole, the machine does not count, nor how and in which tour it was shown; without a
    page name it opens what the app opens at it. Raises TourError where it names no page.
    """
    page, query = _named(step)
    choices, notices = session.parse({name: said for name, said in query.items() if name not in _HOW}, catalogue)
    return page, alone(choices), (*notices, *unknown(step))


def _named(step: TourStep) -> tuple[str, dict[str, str]]:
    """The page that a step leads to, and its choices as they are written. Raises TourError where it names no page."""
    parts = _parts(step)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    page = parts.path.rstrip("/").rsplit("/", 1)[-1]
    if page not in pages():
        if parts.path and not parts.path.endswith("/"):
            raise TourError(f"“{page[:40]}” is no page; begin the link with one of {', '.join(pages())}")
        page = session.START["page"] if session.opens_start(query) else DYNAMIC.page
    return page, query


def _parts(step: TourStep) -> SplitResult:
    """The parts of a step's link. Raises TourError."""
    try:
        return urlsplit(step.view)
    except ValueError as error:
        raise TourError("The link cannot be read; copy the address of a page of the app again") from error


def problems(tour: Tour) -> Iterator[str]:
    """One sentence, which names the step, for each link of a tour that leads to no page or holds what no choice has."""
    for number, step in enumerate(tour.steps, start=1):
        try:
            _named(step)
        except TourError as error:
            yield f"Step {number}, view: {error}."
        else:
            yield from (f"Step {number}, view: {wrong}" for wrong in unknown(step))


def unknown(step: TourStep) -> tuple[str, ...]:
    """A sentence for each name in the link of a step that no choice has. Raises TourError for what is no link."""
    names = {*session.START, *(declared.key for declared in DECLARED.values())}
    said = dict(parse_qsl(_parts(step).query, keep_blank_values=True))
    return tuple(
        f"A link holds no choice “{name[:40]}”; take it out, or mend its name." for name in said if name not in names
    )
