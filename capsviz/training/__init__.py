"""Training: losses, schedules, the loop, checkpoints, and what is written down of a run."""

from capsviz.training.config import ConfigError, TrainingConfig
from capsviz.training.evaluate import Evaluation, evaluate
from capsviz.training.losses import reconstruction_loss

__all__ = [
    "ConfigError",
    "Evaluation",
    "TrainingConfig",
    "evaluate",
    "reconstruction_loss",
]
