"""Models on the same test images: how many one of two reads rightly and the other does not, and what chance explains.

capsviz experiment same-images

All models of a data set are measured on the same images, and read most of these alike. McNemar's test asks only the
images that one of two models alone reads rightly: without a difference between the two each falls to either with
probability 1/2. Nothing is measured here: the records beside the weights (`capsviz zoo measure`) hold every answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import attrgetter

from capsviz import zoo
from capsviz.analysis.predictions import Predictions, PredictionsError, recorded
from capsviz.data import DATASETS, title_of
from capsviz.errors import listed
from capsviz.experiments.chance import CHANCE
from capsviz.network import METHODS
from capsviz.routing.dynamic import DYNAMIC

NAME = "same-images"
LEVEL = 0.05
"""Of all pairs of a data set without any difference, chance alone sets some apart once in twenty times at most."""


@dataclass(frozen=True)
class Read:
    """A model on its test images, `count` of them, its error in percent.

    called: by its method, and its preset or name where two would be called alike.
    """

    called: str
    entry: zoo.Entry
    count: int
    error: float


@dataclass(frozen=True)
class Pair:
    """Two models on the same images.

    first_alone, second_alone: images that one of them alone reads rightly. p: of McNemar's exact test, two-sided,
    corrected for all pairs of the data set (`compared`).
    """

    first: Read
    second: Read
    first_alone: int
    second_alone: int
    p: float

    @property
    def apart(self) -> bool:
        """Whether the two differ by more than chance."""
        return self.p < LEVEL

    @property
    def difference(self) -> float:
        """The first model's error less the second's, in points."""
        return 100 * (self.second_alone - self.first_alone) / self.first.count

    @property
    def reach(self) -> float:
        """How far chance may move the difference either way: 1.96 standard errors of it on the same images.

        Of this pair alone, and with half an image more in each cell, without which two models that err on the same
        images would be beyond chance. Agresti & Min 2005, *Simple improved confidence intervals for comparing matched
        proportions*.
        """
        alone, apart = self.first_alone + self.second_alone + 1, self.second_alone - self.first_alone
        count = self.first.count + 2
        return 100 * CHANCE * math.sqrt(alone - apart**2 / count) / count

    def turned(self) -> Pair:
        """The same with first and second exchanged."""
        return Pair(self.second, self.first, self.second_alone, self.first_alone, self.p)


def mcnemar(first_alone: int, second_alone: int) -> float:
    """How likely chance divides as many images at least as unequally, each side as likely as the other.

    Exact, two-sided. McNemar 1947, *Note on the sampling error of the difference between correlated proportions*.
    """
    count = first_alone + second_alone
    ways = tail = 1  # to choose as many, from none on
    for chosen in range(min(first_alone, second_alone)):
        ways = ways * (count - chosen) // (chosen + 1)
        tail += ways
    return min(1.0, 2 * tail / 2**count)


def corrected(p: Sequence[float]) -> list[float]:
    """Each p of one family of tests, so that below a level stands a false one with that probability at most.

    Holm 1979, *A simple sequentially rejective multiple test procedure*.
    """
    found, least = [0.0] * len(p), 0.0
    for place, which in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        least = max(least, min(1.0, p[which] * (len(p) - place)))
        found[which] = least
    return found


@dataclass(frozen=True)
class Compared:
    """The models of one data set, in the order of the methods, and all pairs of them."""

    data: str
    models: tuple[Read, ...]
    pairs: tuple[Pair, ...]

    @property
    def count(self) -> int:
        """The images that all of them read."""
        return self.models[0].count

    def reference(self) -> Read | None:
        """The model to which others are held: DR by the preset that most of the models have, None without DR."""
        common = Counter(one.entry.preset for one in self.models)
        ours = [one for one in self.models if one.entry.routing == DYNAMIC.name]
        return max(ours, key=lambda one: common[one.entry.preset], default=None)

    def beside_reference(self) -> list[Pair]:
        """Each other model as the first of a pair with the reference; empty without one."""
        held = self.reference()
        turned = [pair if pair.second is held else pair.turned() for pair in self.pairs]
        return [pair for pair in turned if pair.second is held]


def records() -> tuple[list[tuple[zoo.Entry, Predictions]], list[str]]:
    """The models with their records; and the names of those that have none, or one of other weights."""
    found, missing = [], []
    for entry in zoo.models().values():
        try:
            found.append((entry, recorded(entry)))
        except PredictionsError:
            missing.append(entry.name)
    return found, missing


def compared(found: Sequence[tuple[zoo.Entry, Predictions]]) -> list[Compared]:
    """Every data set of whose same test images at least two models have a record, more than once where these differ."""
    sets, methods = [*DATASETS, *sorted({entry.data for entry, _ in found} - DATASETS.keys())], list(METHODS)
    ordered = sorted(
        found,
        key=lambda one: (sets.index(one[0].data), len(one[1]), methods.index(one[0].routing), one[0].name),
    )
    groups: list[list[tuple[zoo.Entry, Predictions]]] = []
    for entry, record in ordered:
        own = (each for each in groups if each[0][0].data == entry.data and each[0][1].same_images(record))
        group = next(own, None)
        if group is None:
            groups.append(group := [])
        group.append((entry, record))
    return [_compared(group) for group in groups if len(group) > 1]


def _compared(group: Sequence[tuple[zoo.Entry, Predictions]]) -> Compared:
    called = zoo.told_apart([entry for entry, _ in group], attrgetter("short"))
    models = tuple(
        Read(name, entry, len(record), record.error) for name, (entry, record) in zip(called, group, strict=True)
    )
    rights = combinations([record.right for _, record in group], 2)
    alone = [(int((mine & ~other).sum()), int((other & ~mine).sum())) for mine, other in rights]
    ps = corrected([mcnemar(*each) for each in alone])
    pairs = zip(combinations(models, 2), alone, ps, strict=True)
    return Compared(group[0][0].data, models, tuple(Pair(*two, *each, p) for two, each, p in pairs))


def markdown(found: Sequence[Compared]) -> str:
    """A table of each data set: images that a row's model alone reads rightly, and those that a column's alone does."""
    return "\n\n".join(map(_table, found))


def titles(found: Sequence[Compared]) -> list[str]:
    """What each is called: its data set, how many images where it is there several times, and which of as many."""
    times, alike = Counter(each.data for each in found), Counter((each.data, each.count) for each in found)
    called, met = [], Counter[tuple[str, int]]()
    for each in found:
        kind = (each.data, each.count)
        met[kind] += 1
        many = f", {each.count:,} images" * (times[each.data] > 1)
        called.append(f"{title_of(each.data)}{many}{f' ({met[kind]})' * (alike[kind] > 1)}")
    return called


def _table(found: Compared) -> str:
    cells = {(pair.first.called, pair.second.called): _cell(pair) for pair in found.pairs}
    columns = [one.called for one in found.models[1:]]
    lines = [
        f"**{title_of(found.data)}**, {found.count:,} images",
        "",
        f"| | error, % | {' | '.join(columns)} |",
        "| --- | ---: |" + " ---: |" * len(columns),
    ]
    for one in found.models:
        row = (cells.get((one.called, column), "") for column in columns)
        lines.append(f"| {one.called} | {one.error:.2f} | {' | '.join(row)} |")
    return "\n".join(lines)


def _cell(pair: Pair) -> str:
    written = f"{pair.first_alone} : {pair.second_alone}"
    return f"**{written}**" if pair.apart else written


def sentences(found: Sequence[Compared], missing: Sequence[str]) -> list[str]:
    """How many pairs differ by more than chance, and of each data set who does; missing: as `records` has them."""
    pairs = [pair for each in found for pair in each.pairs]
    apart = sum(pair.apart for pair in pairs)
    return [
        f"Of {len(pairs)} pairs of models that read the same test images {apart} differ by more than chance.",
        *(f"{title}: {_said(each)}." for title, each in zip(titles(found), found, strict=True)),
        "In a cell the images that the row's model alone reads rightly, and those that the column's alone does: bold "
        f"where McNemar's exact test has p < {LEVEL:g}, corrected for all pairs of the data set (Holm 1979); a bar "
        "in the figure is that of its pair alone. One training of each: how far another seed moves a model stands in "
        "Table II.",
        *([f"Not measured image by image with their present weights: {listed(missing)}."] if missing else []),
    ]


def _said(found: Compared) -> str:
    """Who errs alike, and who errs more than the first of these."""
    least = min(one.error for one in found.models)
    best, *as_good = [one for one in found.models if one.error == least]
    others = sorted((one for one in found.models if one.error > least), key=lambda one: one.error)
    mine = [pair for pair in found.pairs if best in (pair.first, pair.second)]
    beside = {one.called: pair for pair in mine for one in (pair.first, pair.second)}
    worse = [one.called for one in others if beside[one.called].apart]
    alike = [one.called for one in others if not beside[one.called].apart]
    more = f"{listed(worse)} err{'s' * (len(worse) == 1)} more" if worse else ""
    first = f"{listed([best.called, *(one.called for one in as_good)])} err{'s' * (not as_good)} least"
    chance = f"{listed(alike)} no more than chance explains" if alike else ""
    return ", ".join(filter(None, (first, chance, more)))
