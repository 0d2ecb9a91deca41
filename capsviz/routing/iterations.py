"""The iterations of a routing: how many there are, and through which gradients flow."""

from typing import Literal, get_args

Through = Literal["last", "all"]
"""The last iteration only, the others' shares taken as given, or all of them."""


def numbered(iterations: int, through: Through) -> range:
    """1 … iterations; raises ValueError for fewer than one, and for a word that is none of `Through`."""
    if iterations < 1:
        raise ValueError(f"routing takes at least one iteration; got iterations={iterations}")
    if through not in get_args(Through):
        raise ValueError(f"gradients flow through the last iteration or all of them; got through={through!r}")
    return range(1, iterations + 1)
