"""How many routing iterations (seed 000): trained with T = 1 … 5, and shipped models asked again with T = 1 … 10.

capsviz experiment iterations --seeds 3
"""

from __future__ import annotations

from capsviz.experiments.sweep import digits
from capsviz.training.config import TrainingConfig

TRAINED = (1, 2, 3, 4, 5)


def configs(seeds: int) -> list[TrainingConfig]:
    """DR on the digits with T fixed, seed by seed, so that a sweep that is cut short compares like with like."""
    return [digits("dr", iterations=iterations, seed=seed) for seed in range(seeds) for iterations in TRAINED]
