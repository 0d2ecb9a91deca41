"""An algorithm as it is read: its lines, what each gives for a pair of capsules, and when what is known. Plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor

Reading = Mapping[str, Tensor]
"""A recorded routing of one image to one upper capsule: the fields of its steps, "T", "T lower" or "T dim", and of the
lower capsules `presence` (activations) and `vote_lengths` ‖û‖, "lower"."""


@dataclass(frozen=True)
class Number:
    """A number that a line gives: what is written before it, its values "T lower", or "T" where no lower capsule has a
    part in it (NaN where there is none), and how many decimals are worth reading; following: it is that of the
    iteration after, so that the last one has none."""

    text: str
    of: Callable[[Reading], Tensor]
    decimals: int = 3
    following: bool = False


@dataclass(frozen=True)
class Line:
    """A line of the algorithm: in HTML, in a sentence, and in numbers.

    first, last: the sentence in the first and in the last iteration, where it is another one; "{upper}" stands for the
    number of upper capsules.
    """

    math: str
    says: str
    numbers: tuple[Number, ...]
    first: str = ""
    last: str = ""


@dataclass(frozen=True)
class Tip:
    """A vector of the chosen upper capsule that is drawn from the origin: a field of the steps, "T upper dim", known
    from a line of each iteration on."""

    name: str
    field: str
    since: int


@dataclass(frozen=True)
class Program:
    """The lines of one iteration; of what a board shows, after which of them an iteration's entry is known.

    since: by "shares", "lengths", "agreement", "covariances"; −1: the last line of the iteration before. tips: the last
    one is what the upper capsule becomes. area: of the largest vote in pixels of radius, far: the share of votes, of
    those farthest out, that may lie beyond the border; fenced: as may those beyond Tukey's fences, one and a half times
    the middle half's width away from it, where few votes far out would leave the others no room.
    """

    lines: tuple[Line, ...]
    since: Mapping[str, int]
    tips: tuple[Tip, ...]
    area: float = 13.0
    far: float = 0.01
    fenced: bool = False


@dataclass(frozen=True)
class Share:
    """What a lower capsule gives to an upper one: the field of the steps that has it, its symbol and name.

    of: what of an iteration has made it, so that pictures can say whose it is.
    """

    field: str
    symbol: str
    name: str
    of: str = "iteration"


@dataclass(frozen=True)
class Strength:
    """What says how sure an upper capsule is: in a word, as a symbol, above a chart of it, and of the lower capsules.

    whole: whether it is seen against 1; activations may all be small, and what counts is which is largest.
    """

    word: str = "length"
    symbol: str = "‖v‖"
    title: str = "Length ‖v‖"
    lower: str = "‖u‖"
    whole: bool = True


LENGTH = Strength()
ACTIVATION = Strength("activation", "a", "Activation a", "a", whole=False)


@dataclass(frozen=True)
class Explanation:
    """How a page explains the algorithm: a headline in HTML, a paragraph in Markdown, formulas in LaTeX, the source.

    headline: "{lower}" stands for the number of primary capsules.
    """

    headline: str
    text: str
    formulas: str
    source: str
