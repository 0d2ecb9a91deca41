"""The iterations of a routing: how many there are, and through which gradients flow."""

from typing import Literal

Through = Literal["last", "all"]
"""The last iteration only, as training by agreement usually does (Sabour, Frosst & Hinton 2017), or all of them."""


def numbered(iterations: int) -> range:
    """1 … iterations; raises ValueError for fewer than one."""
    if iterations < 1:
        raise ValueError(f"routing takes at least one iteration; got iterations={iterations}")
    return range(1, iterations + 1)
