"""How sparse L1 leaves b (seed 003, eq. 14 and 15): λ from nothing to much, by subgradient and by soft threshold.

capsviz experiment sparsity --seeds 3
"""

from __future__ import annotations

from capsviz.experiments.sweep import digits
from capsviz.training.config import TrainingConfig

REGULARISATION = (0.0, 1e-3, 1e-2, 3e-2, 1e-1)


def configs(seeds: int) -> list[TrainingConfig]:
    """L1 on the digits, seed by seed; without λ the two steps are one and the same."""
    return [
        digits("l1", regularisation=strength, proximal=proximal, seed=seed)
        for seed in range(seeds)
        for strength in REGULARISATION
        for proximal in ((False, True) if strength else (False,))
    ]
