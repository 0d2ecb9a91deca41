"""Files of tensors with a JSON header, and JSON files: written as a whole or not at all."""

import json
import os
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from capsviz.errors import CapsvizError

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
