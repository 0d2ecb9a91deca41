"""A viewpoint as a few characters of a link: "rotation_-30_scale_1.2"."""

from __future__ import annotations

from random import Random

from capsviz.data.viewpoint import CHANGES, Viewpoint

PLACES = 2
"""Decimals of an amount."""


def write(viewpoint: Viewpoint) -> str:
    """Each change and its amount; empty where nothing is changed."""
    return "_".join(f"{name}_{amount:g}" for name, amount in viewpoint.changes.items())


def read(text: str) -> Viewpoint:
    """The viewpoint that `write` wrote down. Raises ValueError for anything else."""
    words = text.split("_")
    amounts: dict[str, float] = {}
    for name, number in zip(words[::2], [*words[1::2], ""], strict=False):
        if name not in CHANGES:
            raise ValueError(f"There is no change of viewpoint “{name}” ({', '.join(CHANGES)})")
        change = CHANGES[name]
        try:
            amounts[name] = round(float(number), PLACES)
        except ValueError:
            raise ValueError(f"The {change.title.lower()} in the link, “{number}”, is no number") from None
        if not change.low <= amounts[name] <= change.high:  # also for NaN
            low, high = (f"{end:g}".replace("-", "−") for end in (change.low, change.high))
            raise ValueError(f"{change.title} goes from {low} to {high}")
    return Viewpoint(**amounts)


def normal(viewpoint: Viewpoint) -> Viewpoint:
    """The viewpoint as a link can say it."""
    return Viewpoint(**{name: round(amount, PLACES) for name, amount in viewpoint.changes.items()})


def draw(random: Random) -> Viewpoint:
    """Any viewpoint that a link can say."""
    some = random.sample(list(CHANGES.values()), random.randint(0, len(CHANGES)))
    return Viewpoint(**{change.name: round(random.uniform(change.low, change.high), PLACES) for change in some})
