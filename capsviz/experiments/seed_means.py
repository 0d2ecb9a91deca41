"""Means over runs that differ in nothing but their seed."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SeedMean:
    """Mean of `count` runs, with the smallest and the largest of them."""

    mean: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, values: Iterable[float]) -> SeedMean:
        """The average of at least one number."""
        found = list(values)
        return cls(statistics.fmean(found), min(found), max(found), len(found))

    def written(self, digits: int = 2) -> str:
        """ "0.56", or with its spread "0.56 (0.28 to 0.83)", which no narrow column tears apart."""
        spread = f" ({self.low:.{digits}f}\u00a0to\u00a0{self.high:.{digits}f})" if self.high > self.low else ""
        return f"{self.mean:.{digits}f}{spread}"


def seed_means(
    rows: Iterable[Mapping[str, Any]], key: Callable[[Mapping[str, Any]], Hashable], value: Callable[..., float]
) -> dict[Any, SeedMean]:
    """The average of a value over the rows that share a key, by that key, in its rising order."""
    groups: dict[Any, list[float]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(value(row))
    return {group: SeedMean.of(groups[group]) for group in sorted(groups)}


def seed_count(seed_means: Mapping[Any, SeedMean]) -> str:
    """ "3 seeds", "1 seed" or, where some settings have more runs than others, "1 to 3 seeds"."""
    counts = sorted({average.count for average in seed_means.values()})
    if not counts:
        return "no seed"
    several = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    return f"{several} seed{'s' * (counts[-1] > 1)}"
