"""A model in one file, `NAME.capsviz`: out of a zoo, into another one, or to whoever looks at it once.

The file is safetensors: the tensors of the zoo's own file, those of the model's record below "measured.", and as JSON
in its metadata what the manifest says of the model, without anything that is true on its owner's machine only.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save as save_tensors
from torch import Tensor

from capsviz import zoo
from capsviz.analysis.perturbation import OFFSETS
from capsviz.analysis.predictions import Facts, Predictions, PredictionsError, check_columns, path_of, recorded
from capsviz.data import DATASETS
from capsviz.data.dataset import FOLDER_PREFIX
from capsviz.data.folder import parted
from capsviz.errors import CapsvizError, line
from capsviz.files import safetensors_bytes
from capsviz.network import CapsNet, CapsNetConfig, Network, config_in_file
from capsviz.reading import parsed, understood
from capsviz.tensors import TensorFile, tensor_bytes
from capsviz.zoo import EXEMPLARS, Entry, ZooError
from capsviz.zoo.manifest import AtStep, changing, check_seen, row
from capsviz.zoo.storage import CAPSULES, RUN, SCALES, WEIGHTS
from capsviz.zoo.weights import capsules_of, network_of, tensors_of

FORMAT = "capsviz-model-1"
SUFFIX = ".capsviz"
MEASURED = "measured."
LARGEST_RECORD = 2_000_000
"""Bytes of a record that goes along."""
MOST_WEIGHTS, MOST_MULTIPLICATIONS = 50_000_000, 20_000_000_000
MOST_NUMBERS, MOST_CAPSULES, MOST_PAIRS, MOST_VOTES = 2**24, 50_000, 2**20, 2**24
MOST_ITERATIONS, MOST_CLASSES, MOST_DRAWN = 10, 1_000, 2**26
"""Of a network that somebody dropped into the app; the papers' largest on 32 × 32 pixels are well below."""
REMEDY = "write it anew with `capsviz zoo export`"
_FOLDER = re.compile(rf"{FOLDER_PREFIX}(?!\.)[^/\\~\x00-\x1f]+@(1|3)x\d{{1,3}}x\d{{1,3}}")


@dataclass(frozen=True)
class ModelFile:
    """A model that was exported, read and checked: what is said of it, its tensors, and its record where it has one."""

    entry: Entry
    tensors: Mapping[str, Tensor]
    record: Predictions | None

    def network(self) -> Network:
        """The network, on the CPU and in evaluation mode. Raises ZooError where the weights do not fit the config."""
        return network_of(self.entry, dict(self.tensors), REMEDY)

    def capsules(self, what: str) -> Tensor:
        """The "exemplars" or the "spread" of its class capsules. Raises ZooError."""
        return capsules_of(self.entry, dict(self.tensors), what, REMEDY)


def export(name: str) -> bytes:
    """A model of the zoo as one file: its bytes, the same for the same model. Raises ZooError."""
    model, tensors = tensors_of(name)
    if isinstance(model, AtStep):
        raise ZooError(f"{name} is a step of a training; export the trained model, {model.trained}.")
    said = row(replace(_alone(model), data=portable(model), command=_bare(model)))
    metadata = {"format": FORMAT, "model": json.dumps(said)}
    if (record := _record(model)) is not None:
        metadata |= {"measured": record.facts()}
        tensors |= {f"{MEASURED}{column}": value for column, value in record.columns().items()}
    return safetensors_bytes(tensors, metadata)


def _alone(model: Entry) -> Entry:
    """What is said of a model without the files that lie beside its own."""
    return replace(model, curves="", history="", history_sha256="", checkpoints=None)


def portable(model: Entry) -> str:
    """The model's data set without the place of a folder: "folder:NAME@3x64x64"."""
    if not model.data.startswith(FOLDER_PREFIX):
        return model.data
    path, form = parted(model.data)
    name = re.sub(r"[\\~\x00-\x1f]", "-", path.name).lstrip(".") or "images"
    return f"{FOLDER_PREFIX}{name}@{'x'.join(map(str, form or model.network.image))}"


def _bare(model: Entry) -> str:
    """The command of its training, of whose paths the last part is left."""
    words = (word.replace(model.data, portable(model)) for word in shlex.split(model.command))
    return shlex.join(re.sub(r"^(.*[=:])?~?(?:[^/]*/)+([^/]*)$", r"\1\2", word) for word in words)


def _record(model: Entry) -> Predictions | None:
    """The model's record where there is one that is small; what another model drew of it stays behind."""
    try:
        record = recorded(model)
    except PredictionsError:
        return None
    if path_of(model).stat().st_size > LARGEST_RECORD:
        return None
    record = replace(record, data=portable(model))
    if record.reconstructs:
        return record
    return replace(record, drawn_by="", drawn_by_weights="", capsules=None, mse=None, ssim=None, reread=None)


def read(content: bytes, name: str) -> ModelFile:
    """The model in a file's bytes, checked against what the file says of itself before a network is built of it.

    name: what sentences call the file. Raises ZooError, in one sentence, for a damaged, lying or foreign one.
    """
    file = tensor_bytes(content, REMEDY, ZooError, name=name)
    entry = _entry(file, name)
    weights = [each for each in file.names if each.startswith(WEIGHTS)]
    if (held := sum(math.prod(file.shape(each)) for each in weights)) < entry.network.weights:
        file.refuse("", f"holds {held:,} weights and its config wants {entry.network.weights:,} at least")
    for each in file.names:
        _check_kind(file, each)
    if "measured" in file.metadata:
        check_columns(file, MEASURED)
    everything = file.whole()
    file.check_finite(everything)
    tensors = {each: value for each, value in everything.items() if not each.startswith(MEASURED)}
    kept = save_tensors(tensors)
    parameters = sum(tensors[each].numel() for each in weights)
    entry = replace(entry, sha256=hashlib.sha256(kept).hexdigest(), bytes=len(kept), parameters=parameters)
    found = ModelFile(entry, tensors, None)
    if entry.has_capsules:
        for what in ("exemplars", "spread"):
            found.capsules(what)
    return replace(found, record=_measured(file, entry, everything))


def _entry(file: TensorFile, name: str) -> Entry:
    """What the file says of its model, as the manifest would."""
    stated = file.metadata.get("format", "")
    if not stated.startswith("capsviz-model-"):
        file.refuse("", "holds no model of capsviz")
    if stated != FORMAT:
        file.refuse("", f"is a {stated[:40]} and this capsviz reads {FORMAT}")
    said = parsed(file.metadata.get("model", ""), name, REMEDY, ZooError)
    if not isinstance(said, dict):
        file.refuse("model", "is missing")
    said = {("network" if key == "config" else key): value for key, value in said.items()}
    entry: Entry = understood(Entry, said, name, REMEDY, ZooError, hook=config_in_file)
    try:
        shlex.split(entry.command)
    except ValueError:
        file.refuse("command", "is none that a shell would read")
    if entry.data not in DATASETS and not _FOLDER.fullmatch(entry.data):
        file.refuse("data", "is neither a data set of capsviz nor the name of a folder with the form of its images")
    if entry.data in DATASETS and tuple(DATASETS[entry.data].image) != tuple(entry.network.image):
        file.refuse("data", f"has other images than the {entry.data} of its network")
    return replace(_alone(entry), file=name)


def _check_kind(file: TensorFile, name: str) -> None:
    """Refuse what is no part of a model, and numbers of another type; shapes are held against the config later."""
    kind = file.dtype(name)
    scales = SCALES + name.removeprefix(WEIGHTS)
    if name.startswith(WEIGHTS) and scales in file.names:
        file.expect(scales, (-(-math.prod(file.shape(name)) // RUN),))
        file.expect(name, file.shape(name), ("I8",))
    elif name.startswith(SCALES):
        if WEIGHTS + name.removeprefix(SCALES) not in file.names:
            file.refuse(name, "belongs to no weight")
    elif name.startswith((WEIGHTS, CAPSULES)):
        file.expect(name, file.shape(name), ("F16",))
    elif not name.startswith(MEASURED):
        file.refuse(name, f"is no part of a model ({kind})")


def _measured(file: TensorFile, entry: Entry, tensors: Mapping[str, Tensor]) -> Predictions | None:
    """The record in a file, which has to be of this model, as good as it says, and to name classes that there are."""
    if "measured" not in file.metadata:
        return None
    columns: dict[str, Any] = {
        each.removeprefix(MEASURED): value for each, value in tensors.items() if each.startswith(MEASURED)
    }
    said = parsed(file.metadata.get("measured", ""), file.path.name, REMEDY, ZooError)
    facts: Facts = understood(Facts, said, file.path.name, REMEDY, ZooError)
    own = facts.drawn_by == facts.name
    drawer = (entry.name, entry.sha256) if own else ("", "")
    found = Predictions(entry.name, entry.data, entry.sha256, *drawer, **columns)
    if found.objects != entry.objects:
        file.refuse(f"{MEASURED}labels", f"are {found.objects} of each image and not {entry.objects}")
    classes = entry.network.classes
    for column in ("labels", "predicted", "reread"):
        value: Tensor | None = getattr(found, column)
        if value is not None and not bool(((value >= 0) & (value < classes)).all()):
            file.refuse(f"{MEASURED}{column}", f"names classes beyond its {classes}")
    dim = entry.config.class_dim if entry.has_capsules else 0
    if found.capsules is not None and found.capsules.shape[-1] != dim:
        file.refuse(f"{MEASURED}capsules", f"are not of {dim} numbers")
    drawn = [value is not None for value in (found.capsules, found.mse, found.ssim, found.reread)]
    if any(drawn) != all(drawn) or all(drawn) != own:
        file.refuse("measured", "lacks a part of what was drawn")
    if own and not entry.has_decoder:
        file.refuse("measured", "says that the model drew, which has no decoder")
    if (len(found), round(found.error, 6)) != (entry.test_count, round(entry.test_error, 6)):
        file.refuse("measured", "is of other errors than the model's")
    return found


def load(path: str | Path) -> Network:
    """The network in a file NAME.capsviz, in float32 and in evaluation mode. Raises ZooError."""
    return _opened(Path(path)).network()


def _opened(path: Path) -> ModelFile:
    """As `read`; raises ZooError also where there is no such file."""
    if not path.is_file():
        raise ZooError(line(f"There is no file {path}; give one that `capsviz zoo export` wrote."))
    return read(path.read_bytes(), path.name)


def check_small(found: ModelFile) -> None:
    """Raise ZooError unless a stranger's capsule network can be run beside what others do, before it is built."""
    network = found.entry.config
    sizes = [("weights", found.entry.parameters, MOST_WEIGHTS), *_encoded_sizes(network), *routed_sizes(network)]
    exemplars = found.tensors.get(f"{CAPSULES}exemplars")
    sizes += [("exemplars a class", 0 if exemplars is None else exemplars.shape[1], EXEMPLARS), _drawn_size(network)]
    check_sizes(found.entry.file, sizes, "put it into a zoo of your own with `capsviz zoo add`", ZooError)


def check_sizes(file: str, sizes: Sequence[tuple[str, int, int]], remedy: str, error: type[CapsvizError]) -> None:
    """Raise an error, in one sentence, unless of what is counted in a stranger's file there is as much as may be."""
    for what, count, most in sizes:
        if count > most:
            raise error(f"{file} has {count:,.0f} {what} and here are at most {most:,}; {remedy}.")


def routed_sizes(network: CapsNetConfig) -> list[tuple[str, int, int]]:
    """What is counted of a network's routing, how many of it there are, and how many a stranger's file may have."""
    return [
        ("capsules below its classes", sum(math.prod(grid) for grid in network.grids), MOST_CAPSULES),
        ("iterations", network.iterations, MOST_ITERATIONS),
        ("classes", network.classes, MOST_CLASSES),
        ("numbers of votes", sum(network.votes), MOST_VOTES),
        ("pairs of capsules", sum(network.pairs), MOST_PAIRS),
    ]


def _drawn_size(network: CapsNetConfig) -> tuple[str, int, int]:
    """The same of its decoder, where every number of a capsule is moved and drawn (`perturbation.sheet`)."""
    widest = max(math.prod(network.image), network.classes * network.class_dim, *network.decoder, 0)
    drawn = network.class_dim * len(OFFSETS) * widest if network.decoder else 0
    return "numbers in the drawings of its capsules", drawn, MOST_DRAWN


def _encoded_sizes(network: CapsNetConfig) -> list[tuple[str, int, int]]:
    """The same of its encoder: multiplications, about as many as each weight at each place takes, and what it keeps."""
    sides, multiplications, largest = list(network.image[1:]), network.weights, 0
    windows = zip(network.windows(0), network.windows(1), pairwise(network.channels), strict=True)
    for rows, columns, (below, width) in windows:
        sides = [window.places(side) for window, side in zip((rows, columns), sides, strict=True)]
        multiplications += math.prod(sides) * width * below * rows.kernel * columns.kernel
        largest = max(largest, math.prod(sides) * width)
    return [
        ("multiplications an image", multiplications, MOST_MULTIPLICATIONS),
        ("numbers in a layer of its encoder", largest, MOST_NUMBERS),
    ]


def add(path: Path | str, name: str | None = None, *, replaces: str | None = None) -> Entry:
    """Put a model that was exported into the zoo, with its record; name: its name there, the file's own unless given.

    replaces: the model that is to leave for it, which must be able to. Raises ZooError for a file that is none, for a
    name that is taken or none for a model, and as `zoo.leaving`.
    """
    found = _opened(Path(path))
    name = name or found.entry.name
    zoo.check_new(name)
    if replaces is not None:
        zoo.leaving(replaces, name)
    check_runs(found)
    file = f"{name}.safetensors"
    entry = replace(found.entry, name=name, file=file)
    files = {file: save_tensors(dict(found.tensors))}
    if found.record is not None:
        own = (name, entry.sha256) if found.record.reconstructs else ("", "")
        record = replace(found.record, name=name, drawn_by=own[0], drawn_by_weights=own[1])
        files[f"{zoo.RECORDS}/{file}"] = record.to_bytes()
    with changing(files) as (entries, moved):
        check_seen(entries, name, None)
        moved.pop(name, None)
        entries[name] = entry
    return entry


def check_runs(found: ModelFile) -> Network:
    """The network, which says something finite of a black, a white and a grey image. Raises ZooError."""
    network = found.network()
    levels = torch.tensor([0.0, 1.0, 0.5]).reshape(3, 1, 1, 1)
    with torch.inference_mode():
        seen: Any = network(levels.expand(3, *network.config.image))
    answers = [seen.poses, seen.activations, seen.reconstruction] if isinstance(network, CapsNet) else [seen.scores]
    if not all(bool(each.isfinite().all()) for each in answers if each is not None):
        raise ZooError(f"{found.entry.file} computes numbers that are not finite; {REMEDY}.")
    return network
