"""The pretrained models: `pretrained/manifest.json`, its files, their checksums."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as save_tensors
from torch import Tensor

from capsviz import places
from capsviz.data import DATASETS
from capsviz.errors import CapsvizError
from capsviz.network import (
    METHODS,
    CapsNet,
    CapsNetConfig,
    Network,
    NetworkConfig,
    NoCapsulesError,
    assemble,
    config_from_dict,
)
from capsviz.network.finite import check_finite
from capsviz.routing import Method
from capsviz.storage import packed, unpacked
from capsviz.training.history import CoefficientHistory, read_history

RECORDS = "measured"
"""Where the records of the models' answers lie in the zoo (capsviz.measured)."""
EXEMPLARS = 8
"""Class capsules of real training images kept with each model, per class."""


class ZooError(CapsvizError):
    """A model that is not there, or not what the manifest says."""


@dataclass(frozen=True)
class Entry:
    """What the manifest says of one model.

    test_error in percent, over test_count images that chose no epoch; command: what trained it; file, sha256, bytes:
    the weights, each in so many bits (16 is float16; see capsviz.storage); curves: the metrics of the training run;
    parameters: learned numbers. network: what it is made of, a capsule network or the CNN baseline.
    history, history_sha256: the snapshots of b over the training, empty where none were kept.
    """

    name: str
    data: str
    classes: tuple[str, ...]
    routing: str
    preset: str
    network: NetworkConfig
    test_error: float
    test_count: int
    command: str
    sha256: str
    file: str
    bytes: int
    parameters: int
    curves: str
    note: str = ""
    history: str = ""
    history_sha256: str = ""
    bits: int = 16

    @property
    def method(self) -> Method:
        """What the model was trained as: a routing algorithm, or the baseline."""
        return METHODS[self.routing]

    @property
    def has_capsules(self) -> bool:
        """Whether there is a routing to look at: not so for the CNN baseline."""
        return isinstance(self.network, CapsNetConfig)

    @property
    def config(self) -> CapsNetConfig:
        """What a capsule network is made of; raises NoCapsulesError for the CNN baseline."""
        if not isinstance(self.network, CapsNetConfig):
            raise NoCapsulesError(self.name)
        return self.network

    @property
    def seed(self) -> int:
        """The seed of its training, by its command; 0 where that names none."""
        words = shlex.split(self.command)
        return int(words[words.index("--seed") + 1]) if "--seed" in words else 0

    @property
    def objects(self) -> int:
        """How many objects an image of the model's data set shows."""
        return DATASETS[self.data].objects if self.data in DATASETS else 1

    @property
    def path(self) -> Path:
        """Where the weights are."""
        return folder() / self.file


def folder() -> Path:
    """`pretrained/`, which comes with capsviz, or what the environment variable CAPSVIZ_ZOO names."""
    return Path(os.environ.get("CAPSVIZ_ZOO", places.root() / "pretrained"))


def models() -> dict[str, Entry]:
    """Every model of the manifest by name, in its order; raises ZooError where the manifest cannot be read."""
    return _manifest()[0]


def successors() -> dict[str, str]:
    """Models that left the zoo, and which model of it took the place of each; raises ZooError as `models` does."""
    return _manifest()[1]


def _manifest() -> tuple[dict[str, Entry], dict[str, str]]:
    manifest = folder() / "manifest.json"
    if not manifest.is_file():
        return {}, {}
    try:
        said = json.loads(manifest.read_text())
        return {row["name"]: _entry(row) for row in said["models"]}, dict(said.get("successors", {}))
    except (ValueError, KeyError, TypeError) as error:
        raise ZooError(f"{manifest} is damaged ({error}); restore it with `git checkout {manifest.name}`.") from error


def _write_manifest(entries: dict[str, Entry], successors: dict[str, str]) -> None:
    said: dict[str, Any] = {"models": [_row(entries[name]) for name in sorted(entries)]}
    if successors:
        said["successors"] = dict(sorted(successors.items()))
    manifest = folder() / "manifest.json"
    temporary = manifest.with_suffix(".tmp")
    temporary.write_text(json.dumps(said, indent=1) + "\n")
    temporary.replace(manifest)


def entry(name: str) -> Entry:
    """What the manifest says of a model; raises ZooError for an unknown name, naming the successor of one that left."""
    known, moved = _manifest()
    if name in moved:
        raise ZooError(f"{name} left the zoo; use {moved[name]}, which took its place.")
    if name not in known:
        raise ZooError(f"No model is called {name!r}; choose one of {', '.join(known) or '(the zoo is empty)'}.")
    return known[name]


def verify(model: Entry) -> None:
    """Raise ZooError, naming the file, where a model's weights are missing or not those of the manifest."""
    _check(model.file, model.sha256, f"The weights {model.file} of {model.name}")


def verify_history(model: Entry) -> None:
    """Raise ZooError, naming the file, where a model's history of b is missing or not that of the manifest.

    A model without a history has nothing to verify.
    """
    if model.history:
        _check(model.history, model.history_sha256, f"The snapshots {model.history} of {model.name}")


def _check(file: str, sha256: str, what: str) -> None:
    path = folder() / file
    if not path.is_file():
        raise ZooError(f"{what} are missing; restore them with git.")
    if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        raise ZooError(f"{what} are not those of the manifest; restore them with git.")


def _tensors(name: str) -> tuple[Entry, dict[str, Tensor]]:
    model = entry(name)
    verify(model)
    try:
        return model, load_file(str(model.path))
    except SafetensorError as error:
        raise ZooError(f"{model.file} is no safetensors file ({error}); restore it with git.") from error


def load(name: str) -> CapsNet:
    """A pretrained capsule network by name, in float32 on the CPU and in evaluation mode.

    Raises ZooError, and NoCapsulesError for the CNN baseline, which `load_network` opens.
    """
    network = load_network(name)
    if not isinstance(network, CapsNet):
        raise NoCapsulesError(name)
    return network


def load_network(name: str) -> Network:
    """A pretrained model by name, the CNN baseline too, in float32 on the CPU and in evaluation mode.

    Raises ZooError, and NotFinite for weights of a training that diverged.
    """
    model, tensors = _tensors(name)
    network = assemble(model.network)
    try:
        weights = unpacked(tensors)
        check_finite(weights, f"The model {name}")
        network.load_state_dict(weights)
    except RuntimeError as error:
        raise ZooError(f"{model.file} does not fit the config in the manifest ({error}); restore both.") from error
    return network.eval().requires_grad_(False)


def exemplars(name: str) -> Float[Tensor, "upper exemplar dim"]:
    """Class capsules of training images, stored with a model so that its decoder can draw without the data set.

    Shape "upper exemplar dim": the images of each class that the model is surest of, in falling order. Raises ZooError,
    and NoCapsulesError for the CNN baseline.
    """
    return _capsules(name, "exemplars")


def capsule_spread(name: str) -> Float[Tensor, "upper dim"]:
    """Standard deviation of each number of each class capsule over the training images of that class."""
    return _capsules(name, "spread")


def history(name: str) -> CoefficientHistory | None:
    """How b of an L2 or L1 model came to be, snapshot by snapshot; None where no snapshots were kept.

    Raises ZooError where the file is missing or altered.
    """
    model = entry(name)
    if not model.history:
        return None
    verify_history(model)
    return read_history(folder() / model.history)


def _capsules(name: str, what: str) -> Tensor:
    model, tensors = _tensors(name)
    if not model.has_capsules:
        raise NoCapsulesError(name)
    return tensors[f"capsules.{what}"].float()


def class_capsules(
    network: CapsNet, images: Tensor, labels: Tensor, *, batch: int = 250
) -> tuple[Float[Tensor, "upper exemplar dim"], Float[Tensor, "upper dim"]]:
    """Exemplars and spread of the class capsules of labelled images (uint8 "count channel height width", "count").

    Only rightly classified images count; every class needs at least `EXEMPLARS` of them, else ValueError.
    """
    device = next(network.parameters()).device
    poses, activations = [], []
    with torch.inference_mode():
        for part in images.split(batch):
            output = network(part.to(device).float() / 255, reconstruct=False)
            poses.append(output.poses.float().cpu())
            activations.append(output.activations.float().cpu())
    pose, activation = torch.cat(poses), torch.cat(activations)
    right = activation.argmax(1) == labels
    chosen, spread = [], []
    for label in range(network.config.classes):
        mine = (right & (labels == label)).nonzero().squeeze(1)
        if len(mine) < EXEMPLARS:
            raise ValueError(f"class {label} has only {len(mine)} rightly classified images; give more of them")
        surest = mine[activation[mine, label].argsort(descending=True)[:EXEMPLARS]]
        chosen.append(pose[surest, label])
        spread.append(pose[mine, label].std(0))
    return torch.stack(chosen), torch.stack(spread)


def shipped(network: Network, bits: int = 16) -> Network:
    """The network with its weights rounded as the zoo stores them, which is what every measurement must see."""
    rounded = assemble(network.config)
    rounded.load_state_dict(unpacked(packed(network, bits)))
    return rounded.eval().requires_grad_(False)


def save(
    network: Network,
    *,
    name: str,
    data: str,
    classes: tuple[str, ...],
    preset: str,
    test_error: float,
    test_count: int,
    command: str,
    curves: str,
    images: Tensor,
    labels: Tensor,
    note: str = "",
    history: str = "",
    bits: int = 16,
) -> Entry:
    """Write a model's weights, its exemplars and its line in the manifest; a line of that name is replaced.

    test_error: measured on `shipped(network, bits)`. images (uint8) and labels: training images for the exemplars,
    which a network without capsules has not. curves: the metrics file, history: the snapshots of b, both below
    `pretrained/`. Raises NotFinite, and writes nothing, where a weight is not finite, or is not in float16.
    """
    tensors = packed(network, bits)
    check_finite(tensors, f"The model {name} as it is rounded")
    if isinstance(rounded := shipped(network, bits), CapsNet):
        chosen, spread = class_capsules(rounded, images, labels)
        tensors |= {"capsules.exemplars": chosen.half().contiguous(), "capsules.spread": spread.half().contiguous()}
    folder().mkdir(parents=True, exist_ok=True)
    path = folder() / f"{name}.safetensors"
    path.write_bytes(save_tensors(tensors))  # `save_file` would make the file private
    written = Entry(
        name=name,
        data=data,
        classes=classes,
        routing=network.config.routing,
        preset=preset,
        network=network.config,
        test_error=test_error,
        test_count=test_count,
        command=command,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        file=path.name,
        bytes=path.stat().st_size,
        parameters=sum(value.numel() for value in network.state_dict().values()),
        curves=curves,
        note=note,
        history=history,
        history_sha256=hashlib.sha256((folder() / history).read_bytes()).hexdigest() if history else "",
        bits=bits,
    )
    entries, moved = _manifest()
    moved.pop(name, None)
    _write_manifest(entries | {name: written}, moved)
    return written


def replace(name: str, successor: str) -> None:
    """Take a model out of the zoo, with all its files; whoever asks for it is told of its successor.

    Raises ZooError where either is not in the manifest, or both are the same.
    """
    leaving = entry(name)
    if entry(successor) == leaving:
        raise ZooError(f"{name} cannot take its own place; name another model as its successor.")
    entries, moved = _manifest()
    del entries[name]
    for file in (leaving.file, leaving.curves, leaving.history, f"{RECORDS}/{name}.safetensors"):
        if file:
            (folder() / file).unlink(missing_ok=True)
    moved = {old: successor if new == name else new for old, new in moved.items()}
    _write_manifest(entries, moved | {name: successor})


def markdown() -> str:
    """The manifest as the table of docs/models.md."""
    lines = [
        "| model | data | routing | preset | parameters | file | test error |",
        "| --- | --- | --- | --- | ---: | ---: | ---: |",
    ]
    for model in models().values():
        wrong = round(model.test_error * model.test_count / 100)
        bare = model.has_capsules and not model.config.decoder
        routing = model.method.title + (", no decoder" if bare else "")
        size = f"{model.bytes / 1e6:.1f} MB" + (", 8 bits" if model.bits == 8 else "")
        lines.append(
            f"| `{model.name}` | {model.data} | {routing} | {model.preset} | {model.parameters / 1e6:.2f} M "
            f"| {size} | {model.test_error:.2f} % ({wrong} of {model.test_count}) |"
        )
    return "\n".join(lines)


def _row(model: Entry) -> dict[str, Any]:
    """An entry as the manifest writes it: the network's config stands under "config"."""
    return {("config" if key == "network" else key): value for key, value in asdict(model).items()}


def _entry(row: dict[str, Any]) -> Entry:
    """The entry that `_row` wrote."""
    network = config_from_dict(row["config"])
    fields = {key: value for key, value in row.items() if key != "config"}
    return Entry(**{**fields, "classes": tuple(row["classes"]), "network": network})
