"""How the values of choices are written in a link and read from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import torch

from app.sources import linked_picture, trace_sets
from app.state import capsule_sets, viewpoints
from app.tours import store
from app.tours.tour import TourError
from capsviz.analysis.exchange import SUFFIX
from capsviz.boards.decoder import OWN
from capsviz.data.dataset import FOLDER_PREFIX
from capsviz.tracing.intervention import Intervention
from capsviz.tracing.layout import TraceError
from capsviz.zoo import EXEMPLARS

if TYPE_CHECKING:
    from app.state.choices import Catalogue, Choices

LARGEST = 999_999_999


@dataclass(frozen=True)
class Codec:
    """One kind of value.

    read: the value that a text is, under the choices read so far; raises ValueError with the beginning of a sentence.
    draw: any value that `read` may answer with. write: the text that `read` turns back. normal: a value as `read` would
    answer with it, for one that comes from elsewhere.
    """

    read: Callable[[str, Choices, Catalogue], Any]
    draw: Callable[[Random, Choices, Catalogue], Any]
    write: Callable[[Any], str] = str
    normal: Callable[[Any], Any] = lambda value: value


class Replaced(ValueError):
    """What a text stood for has left, and what took its place; the sentence says both."""

    def __init__(self, sentence: str, successor: str | tuple[str, ...]) -> None:
        super().__init__(sentence)
        self.successor = successor


def _natural(text: str, low: int, high: int, otherwise: str) -> int:
    """The whole number that a text is; raises ValueError with a sentence where it is none from low to high."""
    if not text.isascii() or not text.isdigit() or len(text) > 9 or not low <= int(text) <= high:
        raise ValueError(otherwise)
    return int(text)


def whole(low: int, high: int, sentence: str) -> Codec:
    """A whole number from low to high; sentence: what is said of a {text} that is none."""
    return Codec(
        lambda text, *_: _natural(text, low, high, sentence.format(text=text)),
        lambda random, *_: random.randint(low, high),
    )


def steps(most: int, sentence: str) -> Codec:
    """A whole number from −most to most; sentence: what is said of a {text} that is none."""

    def read(text: str, *_: Any) -> int:
        found = _natural(text.removeprefix("-"), 0, most, sentence.format(text=text))
        return -found if text.startswith("-") else found

    return Codec(read, lambda random, *_: random.randint(-most, most))


def place(what: str) -> Codec:
    """A place in a sequence whose length the link does not know."""
    return whole(0, LARGEST, f"There is no {what} “{{text}}”")


def one_of(values: Sequence[str], what: str) -> Codec:
    """One of several words."""

    def read(text: str, *_: Any) -> str:
        if text not in values:
            raise ValueError(f"There is no {what} “{text}” ({', '.join(values)})")
        return text

    return Codec(read, lambda random, *_: random.choice(values))


def flag(word: str, key: str) -> Codec:
    """A switch: in the link its word when on, else nothing; for a 1 also what people write for on and off is read."""
    meanings = {word: True} | ({"true": True, "false": False, "0": False} if word == "1" else {})

    def read(text: str, *_: Any) -> bool:
        if text not in meanings:
            raise ValueError(f"A link says {key}={word} or leaves it out, not “{text}”")
        return meanings[text]

    return Codec(read, lambda *_: True, lambda _: word)


def flag_of(name: str, word: str, key: str) -> Codec:
    """As `flag`, of another choice: off whatever the link says where that one has been left empty."""
    alone = flag(word, key)
    return Codec(
        lambda text, chosen, catalogue: alone.read(text, chosen, catalogue) and bool(getattr(chosen, name)),
        lambda _, chosen, __: bool(getattr(chosen, name)),
        alone.write,
    )


def number(values: Sequence[float], what: str) -> Codec:
    """One of several numbers."""

    def read(text: str, *_: Any) -> float:
        found = next((value for value in values if f"{value:g}" == text), None)
        if found is None:
            raise ValueError(f"{what} cannot be “{text}” here ({', '.join(f'{value:g}' for value in values)})")
        return found

    return Codec(read, lambda random, *_: random.choice(values), lambda value: f"{value:g}")


def between(low: float, high: float, no_number: str, beyond: str, *, places: int = 0) -> Codec:
    """A number; no_number, beyond: what is said of a {text} that is none, or outside. places: decimals, if limited."""

    def normal(value: float) -> float:
        return round(value, places) if places else value

    def read(text: str, *_: Any) -> float:
        try:
            value = normal(float(text))
        except ValueError:
            raise ValueError(no_number.format(text=text)) from None
        if not low <= value <= high:  # also for NaN
            raise ValueError(beyond)
        return value

    def draw(random: Random, *_: Any) -> float:
        return low + (high - low) * random.randint(0, 20) / 20

    return Codec(read, lambda *given: normal(draw(*given)), lambda value: f"{value:g}", normal)


_MOST_NUMBERS = 10_000
"""Of one choice; no capsule has so many."""


def numbers(
    reach: float,
    count: Callable[[int], bool],
    lengths: Sequence[int],
    no_numbers: str,
    wrong_count: str,
    beyond: str,
    *,
    sparse: bool = False,
    least: Callable[[int], float] | None = None,
) -> Codec:
    """Several numbers from −reach to reach with two decimals; least: from where at each place, where not from −reach.

    count: whether there may be so many; lengths: some such numbers. no_numbers, wrong_count, beyond: what is said of a
    {text}. sparse: a zero is written as nothing.
    """

    low = least or (lambda _: -reach)

    def normal(values: Sequence[float]) -> tuple[float, ...]:
        return tuple(round(value, 2) for value in values)

    def read(text: str, *_: Any) -> tuple[float, ...]:
        if text.count(",") >= _MOST_NUMBERS:
            raise ValueError(f"The link has a list of more than {_MOST_NUMBERS:,} numbers")
        try:
            values = normal([float(value or (0 if sparse else "")) for value in text.split(",")])
        except ValueError:
            raise ValueError(no_numbers.format(text=text)) from None
        if not count(len(values)):
            raise ValueError(wrong_count.format(text=text))
        if not all(low(at) <= value <= reach for at, value in enumerate(values)):  # also false for NaN
            raise ValueError(beyond.format(text=text))
        return values

    def draw(random: Random, *_: Any) -> tuple[float, ...]:
        count = range(random.choice(lengths))
        return tuple(random.randint(round(100 * low(at)), int(100 * reach)) / 100 for at in count)

    def write(values: Sequence[float]) -> str:
        return ",".join(f"{value:g}" if value or not sparse else "" for value in values)

    return Codec(read, draw, write, normal)


def _known(text: str, catalogue: Catalogue, where: str = "") -> str:
    if text in catalogue.successors:
        successor = catalogue.successors[text]
        raise Replaced(f"{text} is no longer here; showing {successor}, which took its place.", successor)
    trained = text.rpartition("@")[0]
    if text not in catalogue.classes and trained in catalogue.classes:
        raise Replaced(f"“{text}” is not kept here; showing {trained}, the trained network, instead.", trained)
    if said := catalogue.unrouted.get(text.partition("@")[0]):
        raise ValueError(said.removesuffix("."))
    if text not in catalogue.classes:
        remedy = " (drop the file under Your own model or trace)" if text.endswith(SUFFIX) else ""
        raise ValueError(f"There is no model “{text}”{where}{remedy}")
    return text


def _a_model(random: Random, _choices: Choices, catalogue: Catalogue) -> str:
    return random.choice(list(catalogue.classes))


MODEL = Codec(lambda text, _choices, catalogue: _known(text, catalogue), _a_model)
METHOD = Codec(
    lambda text, _choices, catalogue: text if text in catalogue.without_capsules else _known(text, catalogue),
    lambda random, _choices, catalogue: random.choice([*catalogue.classes, *catalogue.without_capsules]),
)
"""A model, or a network without capsules."""


def model_or(words: Sequence[str], where: str) -> Codec:
    """A model, or one of some words beside them; where: what it was wanted for, in the sentence."""
    return Codec(
        lambda text, _, catalogue: text if text in words else _known(text, catalogue, where),
        lambda random, _, catalogue: random.choice([*words, *catalogue.classes]),
    )


def _read_pair(text: str, _choices: Choices, catalogue: Catalogue) -> tuple[str, ...]:
    known = (*catalogue.classes, *catalogue.successors)
    # A visitor's file may have a comma in its name.
    for first in sorted((name for name in known if text.startswith(f"{name},")), key=len):
        said = first, text[len(first) + 1 :]
        names = tuple(catalogue.successors.get(name, name) for name in said)
        if names[0] == names[1] or not set(names) <= catalogue.classes.keys():
            continue
        if names != said:
            raise Replaced(f"Of {text} not both are here any longer; showing {' and '.join(names)}.", names)
        return names
    raise ValueError(f"“{text}” is no pair of models")


PAIR = Codec(
    _read_pair,
    lambda random, _, catalogue: tuple(random.sample(list(catalogue.classes), 2)),
    lambda pair: ",".join(pair),
)


def _read_data(text: str, _choices: Choices, catalogue: Catalogue) -> str:
    if text not in catalogue.data:
        here = ", ".join(name for name in catalogue.data if not name.startswith(FOLDER_PREFIX))  # no path is told
        raise ValueError(f"There is no data set “{text}” ({here})")
    return text


DATA = Codec(_read_data, lambda random, _, catalogue: random.choice(catalogue.data))


def _read_recording(text: str, *_: Any) -> str:
    if text in trace_sets.names():
        return text
    raise ValueError(trace_sets.damaged().get(text, f"There is no recording “{text}” here").removesuffix("."))


RECORDING = Codec(_read_recording, lambda random, *_: random.choice(trace_sets.names() or [""]))


def _read_picture(text: str, *_: Any) -> str:
    linked_picture.read(text)
    return text


def _a_picture(random: Random, *_: Any) -> str:
    return linked_picture.written(torch.frombuffer(bytearray(random.randbytes(784)), dtype=torch.uint8).view(1, 28, 28))


PICTURE = Codec(_read_picture, _a_picture)


def _on_stage(choices: Choices, catalogue: Catalogue) -> tuple[str, int]:
    """Whose classes can be named, and how many: of a recording whose network is not here, else of the model, or of one
    that may stand in for it.
    """
    try:
        own = trace_sets.absent(choices.source, choices.recording)
    except TraceError:  # the page, which opens the recording too, says what is wrong with it
        own = None
    if own:
        return own.name, max(len(own.classes), *catalogue.most.values(), 0)
    return choices.model, max(catalogue.classes[choices.model], catalogue.most.get(choices.model, 0))


def _read_class(text: str, choices: Choices, catalogue: Catalogue) -> int:
    return _class_below(*_on_stage(choices, catalogue), text)


def _class_below(name: str, count: int, text: str) -> int:
    return _natural(text, 0, count - 1, f"{name} has no class “{text}” (0 to {count - 1})")


def _a_class(random: Random, choices: Choices, catalogue: Catalogue) -> int:
    return random.randrange(catalogue.classes[choices.model])


UPPER = Codec(_read_class, _a_class)


def _read_type(text: str, _: Choices, catalogue: Catalogue) -> int:
    count = max(catalogue.types.values(), default=1)  # of a network that stands in for the chosen one, perhaps
    return _natural(text, 0, count - 1, f"There is no type “{text}” (0 to {count - 1})")


TYPE = Codec(_read_type, lambda random, _, catalogue: random.randrange(max(catalogue.types.values(), default=1)))


_LENGTH = between(0, 1, "“{text}” is no length of a class capsule", "A class capsule is 0 to 1 long", places=2)


def _read_lengths(text: str, choices: Choices, catalogue: Catalogue) -> tuple[tuple[int, float], ...]:
    name, count = _on_stage(choices, catalogue)
    parts = text.split(",")
    if len(parts) > count:
        raise ValueError(f"{name} has {count} classes, and the link more lengths")
    pairs = (part.partition(":") for part in parts)
    found = {_class_below(name, count, label): _LENGTH.read(length, choices, catalogue) for label, _, length in pairs}
    return tuple(sorted(found.items()))


LENGTHS = Codec(
    _read_lengths,
    lambda *given: ((_a_class(*given), _LENGTH.draw(*given)),),
    lambda lengths: ",".join(f"{label}:{_LENGTH.write(length)}" for label, length in lengths),
    lambda lengths: tuple((label, _LENGTH.normal(length)) for label, length in lengths),
)
"""Classes, each with a length that was given to its capsule."""


def _read_cell(text: str, choices: Choices, catalogue: Catalogue) -> tuple[int, int]:
    shown, _, named = text.partition("-")
    return _read_class(shown, choices, catalogue), _read_class(named, choices, catalogue)


CELL = Codec(_read_cell, lambda *given: (_a_class(*given), _a_class(*given)), lambda cell: f"{cell[0]}-{cell[1]}")


def _read_target(text: str, choices: Choices, catalogue: Catalogue) -> tuple[int, int]:
    label, _, place = text.partition(".")
    missing = f"A class has no exemplar “{place}” (1 to {EXEMPLARS})"
    exemplar = _natural(place, 1, EXEMPLARS, missing) - 1 if place else OWN
    return _read_class(label, choices, catalogue), exemplar


def _write_target(target: tuple[int, int]) -> str:
    label, exemplar = target
    return str(label) if exemplar == OWN else f"{label}.{exemplar + 1}"


TARGET = Codec(
    _read_target,
    lambda random, *given: (_a_class(random, *given), random.choice([OWN, *range(EXEMPLARS)])),
    _write_target,
)


def _an_intervention(random: Random, *_: Any) -> Intervention:
    sets = (tuple(sorted(random.sample(range(1152), random.randint(0, 20)))) for _ in range(3))
    return Intervention(*sets)


INTERVENTION = Codec(
    lambda text, *_: capsule_sets.read_intervention(text), _an_intervention, capsule_sets.write_intervention
)
VIEWPOINT = Codec(
    lambda text, *_: viewpoints.read(text),
    lambda random, *_: viewpoints.draw(random),
    viewpoints.write,
    viewpoints.normal,
)


def _tour(find: Callable[[str], object]) -> Codec:
    def read(text: str, *_: Any) -> str:
        try:
            find(text)
        except TourError as error:
            raise ValueError(str(error).removesuffix(".")) from error
        return text

    return Codec(read, lambda random, *_: random.choice(store.names()))


TOUR, DRAFT = _tour(store.find), _tour(store.draft)
"""The name of a tour, and of one that is still being written."""
