"""The routing algorithms, in the order in which every list, table and page has them."""

from __future__ import annotations

from .algorithm import Algorithm, Ascending
from .attention import ATTENTION
from .discriminative import L1, L2
from .dynamic import DYNAMIC
from .em import EM

ALGORITHMS: dict[str, Algorithm] = {algorithm.name: algorithm for algorithm in (DYNAMIC, EM, ATTENTION, L2, L1)}
"""By name."""

ASCENDING: dict[str, Ascending] = {name: each for name, each in ALGORITHMS.items() if isinstance(each, Ascending)}
"""Those that learn coefficients by an ascent of their own."""
