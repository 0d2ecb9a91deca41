"""What chance alone may leave between two measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from capsviz.errors import listed

CHANCE = 1.96
"""Standard errors of a difference that chance alone passes once in twenty times."""
MEANT = f"within chance: at most {CHANCE} standard errors of the difference of two shares of as many images apart"
"""What the word means beside errors."""


def error_of_share(percent: float, count: int) -> float:
    """Binomial standard error of a share of `count` images, both in percent."""
    share = percent / 100
    return 100 * math.sqrt(share * (1 - share) / count)


def standard_error(row: dict[str, Any]) -> float:
    """That of a row's `error` in percent of `count` images, in percentage points."""
    return error_of_share(row["error"], row["count"])


def least(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of rows with an `error` in percent of `count` images those that are above the least by chance alone, it first."""
    first, *others = sorted(rows, key=lambda row: row["error"])

    def beyond(row: dict[str, Any]) -> int:
        return verdict(row["error"] - first["error"], standard_error(row), standard_error(first))

    return [first, *(row for row in others if not beyond(row))]


def told(alike: Sequence[dict[str, Any]], names: Sequence[str]) -> tuple[str, str, str]:
    """Of the rows that `least` gives: "b and a err least", "4.20 to 5.00 %", and of several that they err alike."""
    ends = dict.fromkeys(f"{row['error']:.2f}" for row in (alike[0], alike[-1]))
    several = len(alike) > 1
    return (
        f"{listed(names)} err{'' if several else 's'} least",
        f"{' to '.join(ends)} %",
        " (alike within chance)" * several,
    )


def verdict(difference: float, *errors: float) -> int:
    """The sign of a difference, -1 or 1, where it is beyond chance, and else 0.

    errors: the standard errors of the two measurements, taken as independent; of the same images, which many models
    read alike, that is more cautious than need be.
    """
    return 0 if abs(difference) <= CHANCE * math.hypot(*errors) else int(math.copysign(1, difference))
