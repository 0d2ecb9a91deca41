"""An exponential moving average of a network's weights, which errs less than the weights of the last step."""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from capsviz.files import CheckpointError
from capsviz.network import Network
from capsviz.training.checkpoint import AVERAGE, below


class WeightAverage:
    """Follows a network while it trains; `model` is the network that is validated, tested and saved.

    Without a decay that is the trained network itself. Running statistics and the coefficients b are averaged as the
    weights are. Source: Polyak & Juditsky 1992; the first steps weigh less, as in Abadi et al. 2016 (TensorFlow).
    """

    def __init__(self, model: Network, decay: float) -> None:
        self.decay = decay
        self.model = copy.deepcopy(model).requires_grad_(False) if decay else model

    @torch.no_grad()
    def follow(self, model: Network, step: int) -> None:
        """Move towards the network as it is after `step` steps."""
        if not self.decay:
            return
        share = 1 - min(self.decay, (1 + step) / (10 + step))
        mine, theirs = self.model.state_dict(), model.state_dict()
        floating = [name for name, value in mine.items() if value.is_floating_point()]
        torch._foreach_lerp_([mine[name] for name in floating], [theirs[name] for name in floating], share)
        for name in mine.keys() - floating:
            mine[name].copy_(theirs[name])

    def tensors(self) -> dict[str, Tensor]:
        """What a checkpoint has to hold, so that a resumed run goes on with its average."""
        if not self.decay:
            return {}
        return {AVERAGE + name: value for name, value in self.model.state_dict().items()}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Take back what `tensors` gave to a checkpoint; raises CheckpointError when it is not that of the network."""
        if not self.decay:
            return
        try:
            self.model.load_state_dict(below(AVERAGE, tensors))
        except RuntimeError as error:
            raise CheckpointError(
                "The average belongs to another network; train again or name the right run."
            ) from error
