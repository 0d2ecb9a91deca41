"""How b came to be: snapshots of the coefficients over a training run of L2 or L1."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
from jaxtyping import Float
from msgspec import Meta
from torch import Tensor

from capsviz.files import CheckpointError, read_tensors, write_tensors
from capsviz.network import METHODS, Network
from capsviz.reading import Number, refused, understood
from capsviz.tensors import all_finite

HISTORY = "coefficients.safetensors"
SNAPSHOTS = 13
_PREFIX = "history/"


@dataclass(frozen=True)
class HistoryHeader:
    """What the file of a history says: after how many steps each snapshot was taken."""

    steps: Annotated[tuple[Number, ...], Meta(min_length=1, max_length=1000)]


class CoefficientHistory(NamedTuple):
    """b after some steps of a training: steps, rising from 0, and coefficients "snapshot lower upper" in float16."""

    steps: list[int]
    coefficients: Float[Tensor, "snapshot lower upper"]


class Snapshots:
    """Gathers the learned b of the weights that are validated, more often at first, when it moves most."""

    def __init__(self, total: int) -> None:
        self.due = {round(total * (number / (SNAPSHOTS - 1)) ** 2) for number in range(SNAPSHOTS)}
        self.taken: dict[int, Tensor] = {}

    def see(self, step: int, model: Network) -> None:
        """Keep b as it is after `step` steps, where that is one of the moments to keep."""
        if step in self.due and METHODS[model.config.routing].ascends:
            self.taken[step] = model.get_buffer("coefficients").detach().to("cpu", torch.float16, copy=True)

    def tensors(self) -> dict[str, Tensor]:
        """What a checkpoint has to hold, so that a resumed run has its whole history."""
        return {f"{_PREFIX}{step}": b for step, b in self.taken.items()}

    def restore(self, checkpoint: dict[str, Tensor]) -> None:
        """Take back what `tensors` gave to a checkpoint."""
        found = {name.removeprefix(_PREFIX): b for name, b in checkpoint.items() if name.startswith(_PREFIX)}
        self.taken = {int(step): b for step, b in found.items()}

    def write(self, folder: Path) -> None:
        """Leave the history in a run's folder; nothing where nothing was gathered."""
        if self.taken:
            steps = sorted(self.taken)
            stacked = torch.stack([self.taken[step] for step in steps])
            write_tensors(folder / HISTORY, {"coefficients": stacked}, {"steps": steps})


def read_history(path: Path) -> CoefficientHistory:
    """The history in a file that `Snapshots` wrote; raises CheckpointError where it is missing or damaged."""
    tensors, header = read_tensors(path)
    remedy = "restore it, or train again"
    steps = understood(HistoryHeader, header, path, remedy, CheckpointError).steps
    if list(steps) != sorted(set(steps)):
        refused(path, "steps", "do not rise", remedy, CheckpointError)
    b = tensors.get("coefficients")
    if b is None or b.ndim != 3 or len(b) != len(steps) or not b.is_floating_point():
        refused(path, "coefficients", "are not one matrix for each step", remedy, CheckpointError)
    if not all_finite(b):
        refused(path, "coefficients", "hold numbers that are not finite", remedy, CheckpointError)
    return CoefficientHistory(list(steps), b)
