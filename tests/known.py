"""What a test takes for granted of a value: the type checker then knows it, and a test fails where it is not so."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from torch import Tensor

from capsviz.data import DIGITS, ImageSet, to_float

T = TypeVar("T")


def known(value: T | None) -> T:
    """A value that is not None."""
    assert value is not None
    return value


def single_digits(split: str = "test") -> ImageSet:
    """The embedded digits; `load` gives them as well, but may give pairs of digits by another name."""
    return DIGITS.load(split, Path())


def first_digit() -> Tensor:
    """The digit that the app shows where no other is chosen, "1 1 height width"."""
    return to_float(single_digits().images[DIGITS.start][None])
