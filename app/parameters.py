"""How each choice is called in a link, read from it and written to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from app import capsule_sets, linked_picture, recordings
from app.choices import (
    ANOTHER_IMAGE,
    BATCHES,
    CLIMBS,
    CLOSEST,
    FARTHEST_TURN,
    FEWEST,
    LABS,
    LISTED,
    MAX_ASCENT_STEPS,
    MAX_DRAW,
    MAX_ITERATIONS,
    MAX_TEMPERATURE,
    MEASURES,
    MOST,
    ORDERS,
    PENALTIES,
    REGULARISATIONS,
    SECTIONS,
    SOURCES,
    SPLITS,
    STEP_SIZES,
    TOY_CAPSULES,
    TOY_REACH,
    VIEWS,
    Catalogue,
    Choices,
)
from capsviz.boards.decoder import HANDS, OWN, WIDE
from capsviz.experiments import reports
from capsviz.intervene import Intervention
from capsviz.zoo import EXEMPLARS


@dataclass(frozen=True)
class Parameter:
    """How one field is called in the URL, read from it and written to it. `read` raises ValueError with a sentence."""

    key: str
    read: Callable[[str, Choices, Catalogue], Any]
    write: Callable[[Any], str] = field(default=str)


def _natural(text: str, low: int, high: int, otherwise: str) -> int:
    """The whole number that a text is; raises ValueError with a sentence where it is none from low to high."""
    if not text.isascii() or not text.isdigit() or len(text) > 9 or not low <= int(text) <= high:
        raise ValueError(otherwise)
    return int(text)


def _one_of(values: tuple[str, ...], what: str) -> Callable[[str, Choices, Catalogue], str]:
    def read(text: str, _choices: Choices, _catalogue: Catalogue) -> str:
        if text not in values:
            raise ValueError(f"There is no {what} “{text}” ({', '.join(values)})")
        return text

    return read


class Replaced(ValueError):
    """What a text stood for has left, and what took its place; the sentence says both."""

    def __init__(self, sentence: str, successor: str) -> None:
        super().__init__(sentence)
        self.successor = successor


def _model(text: str, _choices: Choices, catalogue: Catalogue) -> str:
    return _known(text, catalogue)


def _known(text: str, catalogue: Catalogue, where: str = "") -> str:
    if text in catalogue.successors:
        successor = catalogue.successors[text]
        raise Replaced(f"{text} is no longer here; showing {successor}, which took its place.", successor)
    if text not in catalogue.classes:
        raise ValueError(f"There is no model “{text}”{where}")
    return text


def _picture(text: str, _choices: Choices, _catalogue: Catalogue) -> str:
    linked_picture.read(text)
    return text


def _data(text: str, _choices: Choices, catalogue: Catalogue) -> str:
    if text not in catalogue.data:
        raise ValueError(f"There is no data set “{text}” ({', '.join(catalogue.data)})")
    return text


def _recording(text: str, _choices: Choices, _catalogue: Catalogue) -> str:
    if not recordings.is_here(text):
        raise ValueError(f"There is no recording “{text}” in {recordings.folder()}")
    return text


def _image(text: str, _choices: Choices, _catalogue: Catalogue) -> int:
    return _natural(text, 0, 999_999_999, f"There is no image “{text}”")


def _class(text: str, choices: Choices, catalogue: Catalogue) -> int:
    last = catalogue.classes[choices.model] - 1
    return _natural(text, 0, last, f"{choices.model} has no class “{text}” (0 to {last})")


def _second(text: str, _choices: Choices, catalogue: Catalogue) -> str:
    return text if text == ANOTHER_IMAGE else _known(text, catalogue, " to put beside it")


def _capsule(text: str, _choices: Choices, _catalogue: Catalogue) -> int:
    return _natural(text, 0, capsule_sets.MOST - 1, f"There is no primary capsule “{text}”")


def _touched(text: str, _choices: Choices, _catalogue: Catalogue) -> Intervention:
    return capsule_sets.read_intervention(text)


def _temperature(text: str, _choices: Choices, _catalogue: Catalogue) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"λ cannot be “{text}”") from None
    if not 0 < value <= MAX_TEMPERATURE:
        raise ValueError(f"λ goes from 0 to {MAX_TEMPERATURE:g}")
    return value


def _iterations(text: str, _choices: Choices, _catalogue: Catalogue) -> int:
    return _natural(text, 1, MAX_ITERATIONS, f"Routing cannot run “{text}” times here (1 to {MAX_ITERATIONS})")


def _number(values: tuple[float, ...], what: str) -> Callable[[str, Choices, Catalogue], float]:
    def read(text: str, _choices: Choices, _catalogue: Catalogue) -> float:
        found = next((value for value in values if f"{value:g}" == text), None)
        if found is None:
            raise ValueError(f"{what} cannot be “{text}” here ({', '.join(f'{value:g}' for value in values)})")
        return found

    return read


def _whole(low: int, high: int, what: str) -> Callable[[str, Choices, Catalogue], int]:
    return lambda text, *_: _natural(text, low, high, f"{what} cannot be “{text}” ({low} to {high})")


def _offsets(text: str, _choices: Choices, _catalogue: Catalogue) -> tuple[float, ...]:
    try:
        values = tuple(round(float(value or 0), 2) for value in text.split(","))
    except ValueError:
        raise ValueError("The capsule offsets in the link are not numbers") from None
    if not all(abs(value) <= WIDE for value in values):  # also false for NaN
        raise ValueError(f"Capsule offsets go from −{WIDE:g} to {WIDE:g}")
    return values


def _count(text: str, _choices: Choices, _catalogue: Catalogue) -> int:
    return _natural(text, FEWEST, MOST, f"“{text}” images do not fit side by side ({FEWEST} to {MOST})")


def _pair(text: str, _choices: Choices, catalogue: Catalogue) -> tuple[str, str]:
    names = tuple(text.split(","))
    if len(names) != 2 or names[0] == names[1] or not set(names) <= catalogue.classes.keys():
        raise ValueError(f"“{text}” is no pair of models")
    return names


def _cell(text: str, choices: Choices, catalogue: Catalogue) -> tuple[int, int]:
    shown, _, named = text.partition("-")
    return _class(shown, choices, catalogue), _class(named, choices, catalogue)


def _turned(text: str, _choices: Choices, _catalogue: Catalogue) -> tuple[float, float]:
    otherwise = f"The votes are turned by two angles from −{FARTHEST_TURN:g} to {FARTHEST_TURN:g}, not by “{text}”"
    try:
        yaw, pitch = (round(float(angle), 2) for angle in text.split(","))
    except ValueError:
        raise ValueError(otherwise) from None
    if not all(abs(angle) <= FARTHEST_TURN for angle in (yaw, pitch)):  # also false for NaN
        raise ValueError(otherwise)
    return yaw, pitch


def _zoom(text: str, _choices: Choices, _catalogue: Catalogue) -> int:
    otherwise = f"The votes cannot be zoomed by “{text}” (−{CLOSEST} to {CLOSEST})"
    steps = _natural(text.removeprefix("-"), 0, CLOSEST, otherwise)
    return -steps if text.startswith("-") else steps


def _toy(text: str, _choices: Choices, _catalogue: Catalogue) -> tuple[float, ...]:
    try:
        votes = tuple(round(float(value), 2) for value in text.split(","))
    except ValueError:
        raise ValueError("The toy's votes in the link are not numbers") from None
    low, high = TOY_CAPSULES
    if len(votes) % 4 or not low <= len(votes) // 4 <= high:
        raise ValueError(f"The toy takes four numbers for each of {low} to {high} capsules")
    if not all(abs(value) <= TOY_REACH for value in votes):  # also false for NaN
        raise ValueError(f"The toy's votes go from −{TOY_REACH:g} to {TOY_REACH:g}")
    return votes


def _write_offsets(offsets: tuple[float, ...]) -> str:
    return ",".join(f"{value:g}" if value else "" for value in offsets)


def _flag(word: str, key: str, what: str = "") -> Parameter:
    """A switch: in the URL its word when it is on, and nothing else. what: what the switch is called in a sentence."""
    read = _one_of((word,), what or f"value of {key}")
    return Parameter(key, lambda text, *rest: read(text, *rest) == word, lambda _: word)


def _target(text: str, choices: Choices, catalogue: Catalogue) -> tuple[int, int]:
    label, _, number = text.partition(".")
    missing = f"A class has no exemplar “{number}” (1 to {EXEMPLARS})"
    exemplar = _natural(number, 1, EXEMPLARS, missing) - 1 if number else OWN
    return _class(label, choices, catalogue), exemplar


def _write_target(target: tuple[int, int]) -> str:
    label, number = target
    return str(label) if number == OWN else f"{label}.{number + 1}"


def _share(text: str, _choices: Choices, _catalogue: Catalogue) -> float:
    try:
        value = round(float(text), 2)
    except ValueError:
        raise ValueError(f"“{text}” is no share of a walk") from None
    if not 0 <= value <= 1:
        raise ValueError("A walk goes from 0 to 1")
    return value


PARAMETERS: dict[str, Parameter] = {
    "model": Parameter("model", _model),
    "source": Parameter("source", _one_of(SOURCES, "source of images")),
    "picture": Parameter("picture", _picture),
    "data": Parameter("data", _data),
    "split": Parameter("split", _one_of(SPLITS, "split")),
    "recording": Parameter("recording", _recording),
    "image": Parameter("image", _image),
    "only": Parameter("only", _class),
    "upper": Parameter("class", _class),
    "layer": Parameter("layer", _whole(0, 9, "The layer")),
    "position": Parameter("position", _whole(0, 9999, "The position")),
    "capsule": Parameter("capsule", _capsule),
    "touched": Parameter("touch", _touched, capsule_sets.write_intervention),
    "temperature": Parameter("lambda", _temperature, lambda value: f"{value:g}"),
    "frame": Parameter("frame", _image),
    "turned": Parameter("3d", _turned, lambda angles: ",".join(f"{angle:g}" for angle in angles)),
    "zoom": Parameter("zoom", _zoom),
    "bare": _flag("off", "heat"),
    "absolute": _flag("off", "difference"),
    "listed": Parameter("list", _one_of(LISTED, "order of the list")),
    "lab": Parameter("lab", _one_of(LABS, "laboratory")),
    "second": Parameter("second", _second),
    "second_image": Parameter("image2", _image),
    "iterations": Parameter("T", _iterations),
    "penalty": Parameter("penalty", _one_of(PENALTIES, "penalty")),
    "section": Parameter("part", _one_of(SECTIONS, "part of the page")),
    "votes": Parameter("votes", _one_of(("same", "own"), "choice of votes")),
    "climb": Parameter("climb", _one_of(tuple(CLIMBS), "ascent")),
    "step_size": Parameter("gamma", _number(STEP_SIZES, "γ"), lambda value: f"{value:g}"),
    "regularisation": Parameter("regularisation", _number(REGULARISATIONS, "λ"), lambda value: f"{value:g}"),
    "ascent_steps": Parameter("steps", _whole(1, MAX_ASCENT_STEPS, "The number of ascent steps")),
    "start": Parameter("start", _one_of(("fresh", "trained"), "start of b")),
    "batch": Parameter("batch", lambda text, *_: int(_number(BATCHES, "The batch")(text, *_))),
    "draw": Parameter("draw", _whole(0, MAX_DRAW, "The draw of the batch")),
    "toy": Parameter("toy", _toy, lambda votes: ",".join(f"{value:g}" for value in votes)),
    "offsets": Parameter("offsets", _offsets, _write_offsets),
    "wide": _flag("wide", "range", "slider range"),
    "view": Parameter("view", _one_of(VIEWS, "view")),
    "order": Parameter("order", _one_of(ORDERS, "order")),
    "count": Parameter("n", _count),
    "pair": Parameter("pair", _pair, ",".join),
    "measure": Parameter("measure", _one_of(MEASURES, "measure")),
    "errors": _flag("errors", "show", "picture"),
    "chart": Parameter("chart", _one_of(("violin", "ecdf"), "chart")),
    "sort": Parameter("sort", _one_of(("method", "median"), "order of methods")),
    "method": Parameter("method", _model),
    "cell": Parameter("cell", _cell, lambda cell: f"{cell[0]}-{cell[1]}"),
    "sample": Parameter("sample", _one_of(("wrong", "first"), "sample")),
    "experiment": Parameter("experiment", _one_of(reports.NAMES, "experiment")),
    "hand": Parameter("hand", _one_of(HANDS, "way to move a capsule")),
    "beside": _flag("1", "beside"),
    "to": Parameter("to", _target, _write_target),
    "share": Parameter("walk", _share, lambda value: f"{value:g}"),
    "sphere": _flag("sphere", "path"),
    "present": _flag("1", "present"),
}
"""Fields of `Choices` in the order in which they are read: the model first, because classes depend on it."""
