"""The step γ of b's ascent and where b starts, which seed 003 leaves open: a sweep, and the reason for the defaults.

capsviz experiment ascent --seeds 3
"""

from __future__ import annotations

from capsviz.experiments.sweep import digits
from capsviz.training.config import TrainingConfig

STEPS = (0.0005, 0.005, 0.05, 0.5)
STARTS = (0.0, 0.1, 1.0)
STEP, START = 0.005, 0.1
"""The defaults: each of the two is varied while the other keeps its own."""


def configs(seeds: int) -> list[TrainingConfig]:
    """L2 on the digits, seed by seed."""
    settings = [(step, START) for step in STEPS] + [(STEP, start) for start in STARTS if start != START]
    return [
        digits("l2", ascent_step=step, coefficient_start=start, seed=seed)
        for seed in range(seeds)
        for step, start in settings
    ]
