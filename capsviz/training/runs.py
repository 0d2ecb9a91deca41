"""A run's folder: how a run is gone on with, what it leaves when it is finished, and the network that lies there."""

import platform
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar

import torch
from msgspec import Meta

from capsviz.data import load
from capsviz.device import processor
from capsviz.files import CheckpointError, locked, read_header, read_tensors, remove, write_json, write_tensors
from capsviz.network import Network, NetworkConfig, assemble, config_in_file
from capsviz.network.finite import check_finite
from capsviz.places import own_version
from capsviz.reading import Name, Names, Number, Percent, Text, read_json, understood
from capsviz.training.checkpoint import restore_model, validated_tensors
from capsviz.training.config import PRECISIONS, SettingsError, TrainingConfig
from capsviz.training.evaluate import evaluate
from capsviz.waiting import Progress, first_process

CHECKPOINT, WEIGHTS, SUMMARY = "checkpoint.safetensors", "model.safetensors", "summary.json"


Precision = Annotated[str, Meta(pattern=f"^({'|'.join(PRECISIONS[1:])})$")]
WRITTEN = "give a file that training wrote, or train again"


@dataclass(frozen=True)
class RunHeader:
    """What the files of a run say of the network in them, of its training and of the names of the classes."""

    config: NetworkConfig
    training: dict[str, Any]
    name: Name
    classes: Names = ()

    def __post_init__(self) -> None:
        TrainingConfig.from_dict(self.training)


@dataclass(frozen=True, kw_only=True)
class Position(RunHeader):
    """A checkpoint's header: where the training was cut off, and the precision that "auto" meant there.

    images: checksums of the user's own images, to learn from and held out. scaler: by what the loss is multiplied under
    16-mixed, and what decides when that changes.
    """

    step: Number
    seconds: Annotated[float, Meta(ge=0)]
    validation_error: Percent | None
    precision: Precision | None = None
    images: Names = ()
    scaler: dict[Name, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Summary(RunHeader):
    """What a finished run says of itself; errors in percent, images as of `Position`."""

    command: Text
    test_error: Percent
    test_count: Annotated[int, Meta(ge=1, le=2**53)]
    validation_error: Percent | None
    seconds: Annotated[float, Meta(ge=0)]
    steps: Number
    note: Text = ""
    precision: Precision | None = None
    images: Names = ()
    machine: Text = ""


class OtherSettings(CheckpointError):
    """A run on disk was started with other settings."""


P = ParamSpec("P")
T = TypeVar("T")


def alone(
    train: Callable[Concatenate[TrainingConfig, Path, P], T],
) -> Callable[Concatenate[TrainingConfig, str | Path, P], T]:
    """A training that holds its folder while it runs: a second one in it raises Busy at once, and changes nothing.

    It is in float32, whatever PyTorch's default type is.

    Of several processes that torchrun started, the first holds it for all.
    """

    @wraps(train)
    def guarded(config: TrainingConfig, folder: str | Path, /, *args: P.args, **options: P.kwargs) -> T:
        folder, first = Path(folder), first_process()
        default = torch.get_default_dtype()
        with locked(folder, "trains", wait=False) if first else nullcontext():
            torch.set_default_dtype(torch.float32)
            try:
                return train(config, folder, *args, **options)
            finally:
                torch.set_default_dtype(default)

    return guarded


def open_run(path: Path | str) -> tuple[Network, dict[str, Any]]:
    """The network of a run, in eval mode on the CPU, and the run's JSON header (name, config, training).

    path: a run's folder (its final weights, else its checkpoint) or one of these files.
    Raises CheckpointError when there is none or it is damaged.
    """
    path = Path(path)
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
    said: RunHeader = understood(RunHeader, header, path, WRITTEN, CheckpointError, hook=config_in_file)
    config = said.config
    weights = validated_tensors(tensors)
    if sum(value.numel() for value in weights.values()) < config.weights:
        raise CheckpointError(f"{path} holds fewer weights than its config has; {WRITTEN}.")
    model = assemble(config, seed=0)
    restore_model(weights, model)
    return model.eval(), header


def read_summary(folder: Path) -> dict[str, Any]:
    """What a finished run says of itself; raises CheckpointError where it is damaged, or none of a finished run."""
    path = folder / SUMMARY
    said = read_json(path, WRITTEN, CheckpointError)
    understood(Summary, said, path, WRITTEN, CheckpointError, hook=config_in_file)
    return said


def read_position(path: Path) -> dict[str, Any]:
    """The header of a checkpoint; raises CheckpointError where it is damaged, or none of a training."""
    header = read_header(path)
    understood(Position, header, path, WRITTEN, CheckpointError, hook=config_in_file)
    return header


def holds_run(folder: Path) -> bool:
    """Whether a training was begun in a folder."""
    return (folder / CHECKPOINT).exists() or (folder / SUMMARY).exists()


def read_run(folder: Path) -> dict[str, Any]:
    """What the run in a folder says of itself: its summary where it is finished, else the header of its checkpoint."""
    return read_summary(folder) if (folder / SUMMARY).exists() else read_position(folder / CHECKPOINT)


def finished_summary(folder: Path, config: TrainingConfig, resume: bool) -> dict[str, Any] | None:
    """The summary of a run that is finished; SettingsError when the folder holds a run and nobody said to go on.

    Raises OtherSettings where that is another run, which nobody can go on with.
    """
    if not holds_run(folder):
        return None
    is_finished, found = (folder / SUMMARY).exists(), read_run(folder)
    started = TrainingConfig.from_dict(found["training"]).command()
    place = f"--out {quote(str(folder.parent))} --name {quote(folder.name)}"
    check_same_run(config, found, folder, f"--name, or repeat its command: {started} {place} --resume")
    if not resume:
        raise SettingsError(f"{folder} already holds a run; add --resume to go on with it, or --name for another.")
    return found if is_finished else None


def check_same_run(config: TrainingConfig, saved: dict[str, Any], folder: Path, other: str = "--out") -> None:
    """Raise OtherSettings, naming the setting, when a run on disk was started with another one.

    other: the option that chooses another place, and what else can be done.
    """
    before, now = TrainingConfig.from_dict(saved["training"]).to_dict(), config.to_dict()
    for name in now:
        if before[name] != now[name]:
            what = f"{folder} was started with {name} {before[name]} and not {now[name]}"
            raise OtherSettings(f"{what}; give another {other}.")


def check_same_images(images: Sequence[str], saved: dict[str, Any]) -> None:
    """Raise CheckpointError where the user's own images are not those that a run on disk was started with."""
    if list(images) != saved.get("images", list(images)):
        raise CheckpointError(
            "The images in the folder are not those that the run was started with; restore them, or train anew under "
            "another --name."
        )


def finish(
    config: TrainingConfig, model: Network, measured: dict[str, Any], folder: Path, progress: Progress | None = None
) -> dict[str, Any]:
    """Measure the test error, once, and write the final weights and the summary; the checkpoint goes.

    progress: as `evaluate` takes it. Raises NotFinite for weights of a training that diverged.
    """
    check_finite(model.state_dict(), "The network")
    test = load(config.data, "test")
    result = evaluate(model, test, config.batch, progress=progress)
    described = {
        "name": config.name,
        "config": model.config.to_dict(),
        "training": config.to_dict(),
        "classes": test.classes,
    }
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
        "machine": processor(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "capsviz": own_version()},
    }
    write_json(folder / SUMMARY, summary)
    remove(folder / CHECKPOINT)
    return read_summary(folder)
