"""Training: losses, schedules, the loop, checkpoints, and what is written down of a run."""

from capsviz.training.config import SettingsError, TrainingConfig
from capsviz.training.evaluate import Evaluation, evaluate
from capsviz.training.losses import reconstruction_loss

__all__ = [
    "Evaluation",
    "SettingsError",
    "TrainingConfig",
    "evaluate",
    "reconstruction_loss",
]
