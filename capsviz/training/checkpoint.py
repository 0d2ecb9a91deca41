"""A training run on disk: tensors and a JSON header in one safetensors file, replaced as a whole."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from capsviz.files import CheckpointError, write_tensors
from capsviz.network.finite import check_finite

MODEL, AVERAGE = "model/", "average/"
"""Before the names of tensors: of the network that is trained, and of the average of its weights where there is one."""


def save_checkpoint(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    header: dict[str, Any],
    more: dict[str, Tensor] | None = None,
) -> None:
    """Write everything that the next step depends on: weights, buffers, Adam's moments, `header`; and `more`.

    Raises NotFinite, and leaves the file as it was, for weights of a training that diverged.
    """
    check_finite(model.state_dict(), "The network")
    tensors = dict(more or {}) | {MODEL + name: tensor for name, tensor in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"adam/{name}/{key}"] = value
    write_tensors(path, tensors, header)


def restore_checkpoint(tensors: dict[str, Tensor], model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Put back what `save_checkpoint` wrote, in the memory layout and on the device of the model's parameters.

    Raises CheckpointError when the tensors belong to another network.
    """
    restore_model(model_tensors(tensors), model)
    for name, parameter in model.named_parameters():
        prefix = f"adam/{name}/"
        for key in (key for key in tensors if key.startswith(prefix)):
            saved = tensors[key]
            # Adam keeps its moments in the parameter's own layout; its step counter is a plain scalar.
            value = torch.empty_like(parameter).copy_(saved) if saved.shape == parameter.shape else saved
            on_device = optimizer.defaults.get("fused") or value.shape == parameter.shape
            optimizer.state[parameter][key.removeprefix(prefix)] = value.to(parameter.device) if on_device else value


def model_tensors(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The network's part of a checkpoint, or of a file of final weights."""
    return below(MODEL, tensors) or tensors


def validated_tensors(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The network in a file of a run that is validated, tested and saved: the average, where there is one."""
    return below(AVERAGE, tensors) or model_tensors(tensors)


def below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin with a prefix, by what follows it."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def restore_model(tensors: dict[str, Tensor], model: nn.Module) -> None:
    """Load weights and buffers into a network; CheckpointError when they belong to another one, NotFinite for NaN."""
    check_finite(tensors, "The run")
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise CheckpointError("The weights belong to another network; train again or name the right run.") from error
