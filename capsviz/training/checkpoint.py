"""A training run on disk: tensors and a JSON header in one safetensors file, replaced as a whole."""

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from capsviz.errors import CapsvizError
from capsviz.network.finite import check_finite

HEADER = "capsviz"


class CheckpointError(CapsvizError):
    """A checkpoint cannot be used."""


def write_tensors(path: Path, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    """Write tensors and a JSON header to one file that is either the old one or the new one, never half.

    The JSON lives in the safetensors header, so that weights and position cannot come from different steps.
    """
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    unfinished = path.with_name(path.name + ".tmp")
    save_file(plain, unfinished, metadata={HEADER: json.dumps(header)})
    unfinished.chmod(0o644)  # safetensors makes its files private
    replace_durably(unfinished, path)


def replace_durably(unfinished: Path, path: Path) -> None:
    """Move a finished file into place after its bytes have reached the disk."""
    with open(unfinished, "rb") as file:
        os.fsync(file.fileno())
    os.replace(unfinished, path)


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Write a JSON file as a whole or not at all."""
    unfinished = path.with_name(path.name + ".tmp")
    unfinished.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    replace_durably(unfinished, path)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors (on the CPU) and JSON header of a file that `write_tensors` wrote.

    Raises CheckpointError when the file is missing, damaged or not one of capsviz's.
    """
    return _read(path, with_tensors=True)


def read_header(path: Path) -> dict[str, Any]:
    """The JSON header alone of a file that `write_tensors` wrote; raises CheckpointError as `read_tensors` does."""
    return _read(path, with_tensors=False)[1]


def _read(path: Path, *, with_tensors: bool) -> tuple[dict[str, Tensor], dict[str, Any]]:
    if not path.is_file():
        raise CheckpointError(f"There is no file {path}; check the path or train the model first.")
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {}).get(HEADER, "null"))
            names = list(file.keys()) if with_tensors else []
            tensors = {name: file.get_tensor(name) for name in names}
    except (SafetensorError, json.JSONDecodeError, OSError) as error:
        raise CheckpointError(f"{path} is damaged or no safetensors file; train the model again.") from error
    if not isinstance(header, dict):
        raise CheckpointError(f"{path} was not written by capsviz training; give a run's folder or file.")
    return tensors, header


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
    tensors = dict(more or {}) | {f"model/{name}": tensor for name, tensor in model.state_dict().items()}
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
    inner = {name.removeprefix("model/"): value for name, value in tensors.items() if name.startswith("model/")}
    return inner or tensors


def restore_model(tensors: dict[str, Tensor], model: nn.Module) -> None:
    """Load weights and buffers into a network; CheckpointError when they belong to another one, NotFinite for NaN."""
    check_finite(tensors, "The run")
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise CheckpointError("The weights belong to another network; train again or name the right run.") from error
