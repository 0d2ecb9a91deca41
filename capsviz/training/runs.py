"""A trained network from a run's folder."""

from pathlib import Path
from typing import Any

from capsviz.network import Network, assemble, config_from_dict
from capsviz.training.checkpoint import CheckpointError, model_tensors, read_tensors, restore_model

CHECKPOINT, WEIGHTS, SUMMARY = "checkpoint.safetensors", "model.safetensors", "summary.json"


def open_run(path: Path) -> tuple[Network, dict[str, Any]]:
    """The network of a run, in eval mode on the CPU, and the run's JSON header (name, config, training).

    path: a run's folder (its final weights, else its checkpoint) or one of these files.
    Raises CheckpointError when there is none or it is damaged.
    """
    if path.is_dir():
        files = [path / name for name in (WEIGHTS, CHECKPOINT) if (path / name).is_file()]
        if not files:
            raise CheckpointError(
                f"{path} holds neither {WEIGHTS} nor {CHECKPOINT}; give the folder of a training run."
            )
        path = files[0]
    tensors, header = read_tensors(path)
    if "config" not in header:
        raise CheckpointError(f"{path} does not say which network it belongs to; give a file that training wrote.")
    model = assemble(config_from_dict(header["config"]))
    restore_model(model_tensors(tensors), model)
    return model.eval(), header
