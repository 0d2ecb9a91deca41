"""A talk in a file: steps, each a link to a view with the words that are said to it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from app.tours import caption, toml
from capsviz.errors import CapsvizError, line
from capsviz.experiments.reports import NAMES

MOST_STEPS = 100
LONGEST_TITLE, LONGEST_LINK = 120, 26_000  # with a picture in it
MOST_CHARACTERS = 400_000
"""Of a whole file."""
PANEL = re.compile(
    r"(strip|board|lengths|entropy|certainty|shares|flow|numbers|routing-toy|live|maps|histogram|objects|answers?"
    r"|mixture|sweep|pooling|meanings|sheet|exhibit|squash|margin-loss|parse-tree|reconstructions|grid|distributions|confusions|matrix"
    rf"|cell|wrong|convergence|multi-mnist-drawn|training|{'|'.join(f'{name}-figure' for name in NAMES)})"
    r"(-[a-z0-9_-]{0,39})?"
)
"""How the keys of a page's parts begin."""
_NAME = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\[^\n]){0,99}+"|'[^'\n]*')"""  # bounded, as the time that it takes
_NESTED = re.compile(rf"(?<![A-Za-z0-9_-]){_NAME}(?:[ \t]*\.[ \t]*{_NAME}){{64}}")
"""A name as no tour has one: what is read keeps every beginning of it, gigabytes of one that fills a file."""
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Characters that control a terminal, break a line or are none, but for tab and newline."""


class TourError(CapsvizError):
    """A tour that cannot be read: one sentence that names the step and the field."""


@dataclass(frozen=True)
class TourStep:
    """One view of a tour, as its file says it."""

    title: str
    """Plain text, one line."""
    view: str
    """A link without the app's address: the page's name, and a query with the choices."""
    caption: str = ""
    """Markdown without links, pictures and HTML; formulas stand between dollar signs."""
    play: bool = False
    """Whether the view's player starts on arrival."""
    panel: str = ""
    """Key of what is brought to the top and marked, as `strip`, `board`, `entropy`; empty: nothing."""


@dataclass(frozen=True)
class Tour:
    """A talk: what it is called, a sentence on it, and its steps in order."""

    title: str
    steps: tuple[TourStep, ...]
    about: str = ""

    def checked(self) -> Tour:
        """This very tour. Raises TourError with the first thing that is wrong with it, whatever its views show."""
        for sentence in self.problems():
            raise TourError(line(sentence))
        return self

    def problems(self) -> Iterator[str]:
        """One sentence for each thing that is wrong, in the order of the file."""
        yield from _wrong_line("The tour's title", self.title)
        if self.about:
            yield from _wrong_line("The tour's about", self.about, 3 * LONGEST_TITLE)
        if not 1 <= len(self.steps) <= MOST_STEPS:
            yield f"A tour has 1 to {MOST_STEPS} steps, and this one has {len(self.steps)}: add some, or take some out."
        for number, step in enumerate(self.steps, start=1):
            yield from step_problems(number, step)
        if len(write(self)) > MOST_CHARACTERS:
            yield f"The tour has more than {MOST_CHARACTERS:,} characters as a file: take out a step with a picture."


def step_problems(number: int, step: TourStep) -> Iterator[str]:
    """One sentence for each field of a step that is wrong; number: its place, counted from 1."""
    yield from _wrong_line(f"Step {number}, title", step.title)
    if not step.view or len(step.view) > LONGEST_LINK or _UNSEEN.search(step.view) or re.search(r"\s", step.view):
        yield f"Step {number}, view: copy the address of a page of the app, as dynamic?model=mnist-dr-paper&image=7."
    if _UNSEEN.search(step.caption):
        yield f"Step {number}, caption: it has a character that cannot be seen; type it again."
    elif wrong := caption.wrong(step.caption):
        yield f"Step {number}, caption: {wrong}"
    if step.panel and not PANEL.fullmatch(step.panel):
        yield f"Step {number}, panel: “{line(step.panel[:40])}” names no panel; write one like board, strip or entropy."


def _wrong_line(what: str, text: str, most: int = LONGEST_TITLE) -> Iterator[str]:
    if not text.strip() or len(text) > most or "\n" in text or _UNSEEN.search(text):
        yield f"{what}: write one line of 1 to {most} characters."


def of_mapping(said: Mapping[str, Any]) -> Tour:
    """The tour that a table says, of a file or of a link. Raises TourError."""
    steps = said.get("step", [])
    if not isinstance(steps, list) or not all(isinstance(step, Mapping) for step in steps):
        raise TourError("The tour's step: write each step below a line [[step]].")
    top = _fields(Tour, {name: value for name, value in said.items() if name != "step"}, "The tour's ", {"steps": ()})
    found = [_fields(TourStep, step, f"Step {number}, ") for number, step in enumerate(steps, start=1)]
    return Tour(**{**top, "steps": tuple(TourStep(**each) for each in found)}).checked()


def _fields(kind: type, said: Mapping[str, Any], where: str, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The fields of a dataclass that a table says, of the right type, none missing and none beyond."""
    given = dict(known or {})
    own = {each.name: each for each in fields(kind) if each.name not in given}
    for name, value in said.items():
        if name not in own:
            raise TourError(line(f"{where}{name}: there is no such field; choose among {', '.join(own)}."))
        wanted = bool if own[name].type == "bool" else str
        if not isinstance(value, wanted):
            raise TourError(f"{where}{name}: write {'true or false' if wanted is bool else 'text in quotes'}.")
        given[name] = value.strip() if isinstance(value, str) else value
    for name, each in own.items():
        if name not in given and each.default is MISSING:
            raise TourError(f'{where}{name}: it is missing; write {name} = "…".')
    return given


def to_mapping(tour: Tour) -> dict[str, Any]:
    """The table that `of_mapping` turns back; what is as it would be anyway is left out."""
    top = {"title": tour.title, **({"about": tour.about} if tour.about else {})}
    return {**top, "step": [_said(step) for step in tour.steps]}


def _said(step: TourStep) -> dict[str, Any]:
    return {each.name: value for each in fields(TourStep) if (value := getattr(step, each.name)) != each.default}


def read(text: str) -> Tour:
    """The tour that a TOML file holds. Raises TourError."""
    if len(text) > MOST_CHARACTERS:
        raise TourError(f"The file has more than {MOST_CHARACTERS} characters; a tour holds words and links only.")
    if _NESTED.search(text):
        raise TourError("The file has a name of more than 64 parts; a tour has none, save it again.")
    try:
        said = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise TourError(line(f"The file is no TOML ({error}); mend it there, or save the tour again.")) from error
    return of_mapping(said)


def write(tour: Tour) -> str:
    """The TOML file that `read` turns back."""
    top = to_mapping(tour)
    return toml.document({name: value for name, value in top.items() if name != "step"}, "step", top["step"])
