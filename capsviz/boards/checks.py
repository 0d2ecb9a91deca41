"""Whether what a browser told is what it may tell."""

from __future__ import annotations

from typing import TypeGuard


def is_number(value: object, low: int | float, high: int | float) -> TypeGuard[float]:
    """Whether it is a number from low to high; NaN is not, nor is a yes or no."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high


def is_index(value: object, count: int) -> TypeGuard[int]:
    """Whether it is one of so many things, counted from 0."""
    return type(value) is int and 0 <= value < count


def is_one_of(value: object, count: int) -> TypeGuard[int | None]:
    """Whether it is one of so many things, or none of them."""
    return value is None or is_index(value, count)
