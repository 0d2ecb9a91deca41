"""A run's folder: how a run is gone on with, what it leaves when it is finished, and the network that lies there."""

import json
import os
import platform
from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import torch

from capsviz.data import load
from capsviz.files import CheckpointError, locked, read_tensors, write_json, write_tensors
from capsviz.network import Network, assemble, config_from_dict
from capsviz.network.finite import check_finite
from capsviz.training.checkpoint import model_tensors, restore_model
from capsviz.training.config import SettingsError, TrainingConfig
from capsviz.training.evaluate import evaluate

CHECKPOINT, WEIGHTS, SUMMARY = "checkpoint.safetensors", "model.safetensors", "summary.json"


P = ParamSpec("P")
T = TypeVar("T")


def alone(
    train: Callable[Concatenate[TrainingConfig, Path, P], T],
) -> Callable[Concatenate[TrainingConfig, Path, P], T]:
    """A training that holds its folder while it runs: a second one in it raises Busy at once, and changes nothing.

    Of several processes that torchrun started, the first holds it for all.
    """

    @wraps(train)
    def guarded(config: TrainingConfig, folder: Path, /, *args: P.args, **options: P.kwargs) -> T:
        first = os.environ.get("RANK", "0") == "0"
        with locked(folder, "trains", wait=False) if first else nullcontext():
            return train(config, folder, *args, **options)

    return guarded


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


def finished_summary(folder: Path, config: TrainingConfig, resume: bool) -> dict[str, Any] | None:
    """The summary of a run that is finished; SettingsError when the folder holds a run and nobody said to go on."""
    if not resume and ((folder / CHECKPOINT).exists() or (folder / SUMMARY).exists()):
        raise SettingsError(f"{folder} already holds a run; add --resume to go on with it, or --name for another.")
    if not (folder / SUMMARY).exists():
        return None
    summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    check_same_run(config, summary)
    return summary


def check_same_run(config: TrainingConfig, saved: dict[str, Any]) -> None:
    """Raise CheckpointError, naming the setting, when a run on disk was started with another one."""
    started = TrainingConfig.from_dict(saved["training"])
    before, now = started.to_dict(), config.to_dict()
    for name in now:
        if before[name] != now[name]:
            raise CheckpointError(
                f"The run was started with {name} {before[name]} and not {now[name]}; repeat its command "
                f"({started.command()}) or give another --name."
            )


def finish(
    config: TrainingConfig, model: Network, measured: dict[str, Any], folder: Path, data_root: Path | None
) -> dict[str, Any]:
    """Measure the test error, once, and write the final weights and the summary; the checkpoint goes.

    Raises NotFinite for weights of a training that diverged.
    """
    check_finite(model.state_dict(), "The network")
    test = load(config.data, "test", root=data_root).to(next(model.parameters()).device)
    result = evaluate(model, test, config.batch)
    described = {"name": config.name, "config": model.config.to_dict(), "training": config.to_dict()}
    write_tensors(folder / WEIGHTS, model.state_dict(), described)
    summary = {
        **described,
        "data": config.data,
        "routing": config.routing,
        "preset": config.preset,
        "command": config.command(),
        "test_error": result.error,
        "test_count": result.count,
        **measured,
        "note": test.note,
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "capsviz": own_version()},
    }
    write_json(folder / SUMMARY, summary)
    (folder / CHECKPOINT).unlink(missing_ok=True)
    return json.loads((folder / SUMMARY).read_text(encoding="utf-8"))


def own_version() -> str:
    """The installed version of capsviz, or "source" where it runs from a checkout."""
    try:
        return version("capsviz")
    except PackageNotFoundError:
        return "source"
