"""One training step: both passes over a batch, the weights' move by AdamW, and the ascent of learned coefficients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from capsviz.data import to_float
from capsviz.network import METHODS, Network
from capsviz.routing import Ascending
from capsviz.training import losses
from capsviz.training.config import TEMPERED, TrainingConfig
from capsviz.training.feed import Batch


class Outputs(NamedTuple):
    """What a training step needs of a forward pass; the last two only where coefficients are learned."""

    scores: Tensor  # batch upper; activations, or the baseline's logits
    reconstructions: Tensor | None  # batch present channel height width
    primary_poses: Tensor | None  # batch lower d
    sums: Tensor | None  # batch upper dim


class Descended(NamedTuple):
    """Of one step: the whole loss, that on the classes, the reconstruction's, unweighted, and g where b is learned."""

    loss: Tensor
    routing_loss: Tensor
    reconstruction: Tensor
    gradient: Tensor | None  # lower upper


Descent = Callable[[Batch, float], Descended]
"""Moves the weights one step on a batch; the float is the progress, 0 to 1."""


class ForwardPass(nn.Module):
    """The network as one differentiable call on bytes: what Fabric wraps for precision and processes."""

    def __init__(self, model: Network) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor, labels: Tensor, progress: float) -> Outputs:
        """Run the network; the decoder sees the capsule of each label, one after the other."""
        output = self.model(to_float(images), progress=progress, reconstruct=False)
        drawn = None
        if self.model.decoder is not None:
            drawn = torch.stack([self.model.decode(output.poses, present) for present in labels.unbind(1)], dim=1)
        if METHODS[self.model.config.routing].ascends:
            return Outputs(output.scores, drawn, output.primary.poses, output.step.sums)
        return Outputs(output.scores, drawn, None, None)


def take_step(
    config: TrainingConfig,
    model: Network,
    optimizer: Any,
    descent: Descent,
    batch: Batch,
    rate: float,
    progress: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """One training step of `model`: `descent`, which is `descend` of it or a recording, then the ascent.

    Returns the whole loss, that on the classes, and the reconstruction's, unweighted.
    The weights move by AdamW on the method's loss + 0.0005 × reconstruction. Where coefficients are learned (L2, L1)
    they then move by one ascent step (Yang, Li & Yu 2021, Algorithm 1 with n_r = n_b = 1). γ falls with the learning
    rate: where the weights have come to rest and b has not, b drifts away from them (on MNIST the margin loss of the
    last of ten epochs doubled, 0.017 to 0.033).
    """
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate * group["share"])
        else:
            group["lr"] = rate * group["share"]
    loss, routing_loss, reconstruction, gradient = descent(batch, progress)
    method = METHODS[config.routing]
    if isinstance(method, Ascending) and gradient is not None:
        coefficients = model.get_buffer("coefficients")
        ascended = method.ascend(
            coefficients,
            gradient,
            step=config.ascent_step * rate / config.learning_rate,
            regularisation=config.regularisation,
            proximal=config.proximal,
        )
        coefficients.copy_(ascended)
    return loss, routing_loss, reconstruction


def descend(
    config: TrainingConfig,
    fabric: Any,
    model: Network,
    forward_pass: nn.Module,
    optimizer: Any,
    batch: Batch,
    progress: float,
) -> Descended:
    """Both passes over a batch, through `forward_pass`, which wraps `model`, and a step of its weights.

    The ascent's gradient g takes votes and sums from the same forward pass as the weights' gradient: Algorithm 1 shares
    its mini-batch between the two, and a second forward pass would double the price of a step. g is averaged over the
    batch and over all processes, so that γ does not depend on the batch size.
    """
    output = forward_pass(batch.images, batch.labels, progress)
    method = METHODS[config.routing]
    routing_loss = method.loss(output.scores, batch.targets, progress)
    reconstruction = torch.zeros_like(routing_loss)
    if output.reconstructions is not None:
        drawings = to_float(batch.drawings)
        # Where two digits are present, each is drawn on its own and both errors count.
        present = drawings.shape[1]
        reconstruction = present * losses.reconstruction_loss(
            output.reconstructions.flatten(0, 1), drawings.flatten(0, 1)
        )
    loss = routing_loss + losses.RECONSTRUCTION_WEIGHT * reconstruction
    fabric.backward(loss)

    # Before the weights move: g belongs to the weights that made these votes and sums.
    gradient = None
    if isinstance(method, Ascending):
        assert output.primary_poses is not None and output.sums is not None
        with torch.no_grad():
            own = method.gradient(model, output.primary_poses, output.sums, batch.targets)
        gradient = fabric.all_reduce(own, reduce_op="mean")
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return Descended(loss.detach(), routing_loss.detach(), reconstruction.detach(), gradient)


def waits(device: torch.device) -> bool:
    """Whether a device has to stop for every loss that is looked at."""
    return device.type != "cpu"


def recordable(config: TrainingConfig, fabric: Any, precision: str) -> bool:
    """Whether a step launches the same work every time, and waits for nothing: on one GPU, and without a scaler.

    What EM computes depends on the progress, which is no tensor; so may what a routing of one's own does.
    """
    alone = fabric.device.type == "cuda" and fabric.world_size == 1 and precision != "16-mixed"
    ours = type(config.method).__module__.startswith("capsviz.")
    return alone and ours and config.method not in TEMPERED.methods


def optimizer_of(config: TrainingConfig, model: Network) -> torch.optim.AdamW:
    """AdamW over the parameters' groups; on a GPU with rates and counters that lie there, for a recording to read."""
    groups = parameter_groups(config, model)
    device = next(model.parameters()).device
    for group in groups:
        rate = config.learning_rate * group["share"]
        group["lr"] = torch.tensor(rate, device=device) if device.type == "cuda" else rate
    return torch.optim.AdamW(groups, weight_decay=config.weight_decay, fused=True, capturable=device.type == "cuda")


def parameter_groups(config: TrainingConfig, model: Network) -> list[dict[str, Any]]:
    """The weights as AdamW gets them, each group with the share of the learning rate at which it moves.

    Biases, the parameters of normalisations and β do not decay.
    """
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        slow = config.decoder_rate is not None and name.startswith("decoder.")
        groups.setdefault((slow, parameter.ndim > 1), []).append(parameter)
    decoder_share = (config.decoder_rate or config.learning_rate) / config.learning_rate
    return [
        {
            "params": parameters,
            "share": decoder_share if slow else 1.0,
            "weight_decay": config.weight_decay if decays else 0.0,
        }
        for (slow, decays), parameters in groups.items()
    ]
