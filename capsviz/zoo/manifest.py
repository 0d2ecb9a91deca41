"""The manifest of the pretrained models, `pretrained/manifest.json`: what it says of each, and their checksums."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from msgspec import Meta

from capsviz import places
from capsviz.data import DATASETS
from capsviz.errors import CapsvizError, line
from capsviz.files import json_text, locked, make_folder, remove, write_together
from capsviz.letters import one_form
from capsviz.network import METHODS, CapsNetConfig, NetworkConfig, NoCapsulesError, config_in_file
from capsviz.reading import (
    Digest,
    Inside,
    Name,
    Names,
    Number,
    Percent,
    Perhaps,
    PerhapsDigest,
    Text,
    check,
    read_json,
    refused,
    understood,
)
from capsviz.routing import Method
from capsviz.routing.own import DEFINE

MANIFEST = "manifest.json"
RECORDS = "measured"
"""Where the records of the models' answers lie in the zoo (capsviz.analysis.predictions)."""


class ZooError(CapsvizError):
    """A model that is not there, or not what the manifest says."""


@dataclass(frozen=True)
class Checkpoints:
    """What the manifest says of a model as it was during its training (capsviz.zoo.checkpoints).

    file, sha256: where these are; steps: after how many of all `total` each was taken, in rising order; errors: the
    test error of each in percent, as in `Entry`.
    """

    file: Inside
    sha256: Digest
    steps: Annotated[tuple[Number, ...], Meta(min_length=1, max_length=100)]
    errors: Annotated[tuple[Percent, ...], Meta(max_length=100)]
    total: Number

    def __post_init__(self) -> None:
        if list(self.steps) != sorted({*self.steps}) or len(self.errors) != len(self.steps):
            raise ZooError(f"{self.file} has no error for each of rising steps; restore the manifest.")


@dataclass(frozen=True)
class Entry:
    """What the manifest says of one model.

    test_error in percent, over test_count images that chose no epoch; command: what trained it; file, sha256, bytes:
    the weights, each in so many bits (16 is float16; see capsviz.zoo.storage); curves: the metrics of the training run;
    parameters: learned numbers. network: what it is made of, a capsule network or the CNN baseline.
    history, history_sha256: the snapshots of b over the training, empty where none were kept. checkpoints: the model as
    it was during its training, where that is kept.
    """

    name: Inside
    data: Name
    classes: Names
    routing: Name
    preset: Name
    network: NetworkConfig
    test_error: Percent
    test_count: Annotated[int, Meta(ge=1, le=2**53)]
    command: Text
    sha256: Digest
    file: Inside
    bytes: Number
    parameters: Number
    curves: Perhaps
    note: Text = ""
    history: Perhaps = ""
    history_sha256: PerhapsDigest = ""
    bits: Annotated[int, Meta(ge=8, le=16)] = 16
    checkpoints: Checkpoints | None = None

    def __repr__(self) -> str:
        return f"<{self.name}: {self.method.title} on {self.data}, test error {self.test_error:.2f} %>"

    def __post_init__(self) -> None:
        if self.routing != self.network.routing:
            raise ZooError(
                f"{self.name} is {self.routing} and its config {self.network.routing}; restore the manifest."
            )
        if len(self.classes) != self.network.classes:
            raise ZooError(
                f"{self.name} names {len(self.classes)} classes and its config has {self.network.classes}; "
                "restore the manifest."
            )

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
    def has_decoder(self) -> bool:
        """Whether it draws what its capsules hold."""
        return self.has_capsules and bool(self.config.decoder)

    @property
    def classifies_alone(self) -> bool:
        """Whether it has capsules that no decoder draws, for which Yang, Li & Yu 2021 write /FC."""
        return self.has_capsules and not self.has_decoder

    @property
    def short(self) -> str:
        """Its method's name where there is little room: "DR", "L2/FC", "EM matrix", "DR 1" for another seed."""
        matrix = " matrix" if self.has_capsules and self.config.capsule_layers else ""
        return f"{self.method.short}{'/FC' * self.classifies_alone}{matrix}{f' {self.seed}' if self.seed else ''}"

    @property
    def seed(self) -> int:
        """The seed of its training, by its command; 0 where that names none."""
        found = re.search(r"(?:^|\s)--seed[ =](\d{1,19})(?:\s|$)", self.command)
        return int(found[1]) if found else 0

    @property
    def objects(self) -> int:
        """How many objects an image of the model's data set shows."""
        return DATASETS[self.data].objects if self.data in DATASETS else 1

    @property
    def path(self) -> Path:
        """Where the weights are."""
        return folder() / self.file


@dataclass(frozen=True)
class AtStep(Entry):
    """A model as it was after `step` of all steps of its training, by the name of the `trained` one and that step.

    Its file is that of all checkpoints of the model, of which it takes those `until` its own.
    """

    trained: str = ""
    step: int = 0
    until: tuple[int, ...] = ()


def folder() -> Path:
    """`pretrained/`, which comes with capsviz, or what the environment variable CAPSVIZ_ZOO names."""
    return places.chosen("CAPSVIZ_ZOO", places.root() / "pretrained")


def version() -> tuple[str, *tuple[int, ...]]:
    """What is another as soon as the zoo is: with a model added, replaced, withdrawn or measured, or another folder.

    The path of the manifest, and the state of that file and of the folder of records where there are such.
    """
    path = folder() / MANIFEST
    try:
        state = path.stat()
    except OSError:
        return (str(path),)
    known = str(path), state.st_ino, state.st_mtime_ns, state.st_size
    try:
        return *known, (folder() / RECORDS).stat().st_mtime_ns
    except FileNotFoundError:
        return known


def models() -> dict[str, Entry]:
    """Every model of the manifest by name, in its order, but those that are `unrouted`.

    Raises ZooError where the manifest cannot be read.
    """
    return dict(_read()[0])


def unrouted() -> dict[str, str]:
    """Models of the manifest whose routing nothing here defines, and a sentence on each; raises as `models` does."""
    return {
        name: line(f"{name} routes by {said['routing']!r}, which nothing here defines; {DEFINE}.")
        for name, said in _read()[2].items()
    }


def at_step(model: Entry, step: int) -> str:
    """What a model is called as it was after a step of its training."""
    return f"{model.name}@{step}"


def at_steps() -> dict[str, AtStep]:
    """Every model of the manifest as it was at each step that is kept, by names such as "digits-dr@40".

    Raises ZooError as `models` does.
    """
    found = {}
    for model in models().values():
        kept = model.checkpoints
        for place, step in enumerate(kept.steps if kept else ()):
            assert kept is not None
            said = {each.name: getattr(model, each.name) for each in fields(model)}
            said |= {"name": at_step(model, step), "file": kept.file, "sha256": kept.sha256}
            said["test_error"] = kept.errors[place]
            entry = AtStep(**said, trained=model.name, step=step, until=kept.steps[: place + 1])
            found[entry.name] = entry
    return found


def successors() -> dict[str, str]:
    """Models that left the zoo, and which model of it took the place of each; raises ZooError as `models` does."""
    return dict(_read()[1])


@dataclass(frozen=True)
class Unrouted:
    """What is read of a model whose routing nothing here defines."""

    name: Inside
    routing: Name


@dataclass(frozen=True)
class Manifest:
    """What `manifest.json` holds; successors: models that left, and which took the place of each.

    unrouted: those of the models that are read no further.
    """

    models: Annotated[tuple[Entry, ...], Meta(max_length=10_000)]
    unrouted: Annotated[tuple[Unrouted, ...], Meta(max_length=10_000)]
    successors: Annotated[dict[Inside, Inside], Meta(max_length=10_000)] = field(default_factory=dict)


Read = tuple[Mapping[str, Entry], Mapping[str, str], Mapping[str, dict[str, Any]]]


def _read() -> Read:
    """The models by name, the successors of those that left, and the rows of the `unrouted`, as they stand.

    Raises ZooError where it cannot be read.
    """
    path, *state = version()
    return _parsed(Path(path), tuple(METHODS), *state) if state else ({}, {}, {})


@lru_cache(maxsize=16)
def _parsed(manifest: Path, methods: tuple[str, ...], *state: int) -> Read:
    """What a manifest says, read once for each `version` of the file; methods: those that are defined here."""
    remedy = f"restore it with `git checkout {manifest.name}`"
    said = read_json(manifest, remedy, ZooError)
    rows = said.get("models") if isinstance(said, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        refused(manifest, "models", "is no list of models", remedy, ZooError)
    apart = [row for row in rows if _is_unrouted(row, methods)]
    routed = [row for row in rows if not _is_unrouted(row, methods)]
    own = [{("network" if key == "config" else key): value for key, value in row.items()} for row in routed]
    said = {**said, "models": own, "unrouted": apart}
    content: Manifest = understood(Manifest, said, manifest, remedy, ZooError, hook=config_in_file)
    entries, left_out = {entry.name: entry for entry in content.models}, {row["name"]: row for row in apart}
    if len(entries | left_out) < len(rows):
        refused(manifest, "models", "has two of one name", remedy, ZooError)
    return entries, content.successors, left_out


def _is_unrouted(row: dict[str, Any], methods: tuple[str, ...]) -> bool:
    """Whether a row of the manifest, and its config too, name a routing that none of the methods is."""
    routing, config = row.get("routing"), row.get("config")
    alike = isinstance(config, dict) and config.get("routing") == routing
    return isinstance(routing, str) and alike and routing not in methods


@contextmanager
def changing(files: Mapping[str, bytes] = MappingProxyType({})) -> Iterator[tuple[dict[str, Entry], dict[str, str]]]:
    """The models and the successors, to be changed in place; they are written where the block ends without an error.

    The `unrouted` stay as they stand.
    files: what is written before the manifest, by its place below `pretrained/`: all of it or none, so that a full disk
    leaves every model as it was. Files that no model has any longer are removed after it: it never names one that is
    not there. Another process that changes the manifest is waited for. Raises ZooError as `models` does, WriteError.
    """
    with locked(folder(), "changes models", wait=True, other="set CAPSVIZ_ZOO to another folder"):
        entries, moved, apart = models(), successors(), _read()[2]
        before = _files(entries)
        yield entries, moved
        for place in files:
            make_folder((folder() / place).parent)
        contents: dict[Path, bytes | str] = {folder() / place: content for place, content in files.items()}
        write_together(contents | {folder() / MANIFEST: _written(entries, moved, apart)})
        for place in before - _files(entries):
            remove(folder() / place)


def check_seen(entries: Mapping[str, Entry], name: str, seen: Entry | None) -> None:
    """Raise ZooError where a name is not that of the model, or of none, that was seen as one's own was begun."""
    if entries.get(name) != seen or name in _read()[2]:
        raise ZooError(f"{name} changed in the zoo meanwhile; see `capsviz zoo list`, and begin again.")


def _files(entries: Mapping[str, Entry]) -> set[str]:
    """The files of models, by their place below `pretrained/`."""
    found = set[str]()
    for name, each in entries.items():
        steps = each.checkpoints.file if each.checkpoints else ""
        found |= {each.file, each.curves, each.history, steps, f"{RECORDS}/{name}.safetensors"}
    return found - {""}


def _written(
    entries: Mapping[str, Entry], successors: Mapping[str, str], unrouted: Mapping[str, dict[str, Any]]
) -> str:
    """The manifest: the models and their successors in the order of their names."""
    for model in entries.values():
        check(model, ZooError)
    rows = {**unrouted, **{name: row(model) for name, model in entries.items()}}
    said: dict[str, Any] = {"models": [rows[name] for name in sorted(rows)]}
    if successors:
        said["successors"] = dict(sorted(successors.items()))
    return json_text(said, indent=1)


def entry(name: str) -> Entry:
    """What the manifest says of a model, or of one at a step of its training ("digits-dr@40").

    Raises ZooError for an unknown name, naming the successor of one that left, and for an `unrouted` one.
    """
    known, moved, apart = _read()
    if name not in known:  # a name may be written in other letters than it looks (Unicode)
        name = next((each for each in (*known, *apart) if one_form(each) == one_form(name)), name)
    if name not in known and (kept := at_steps().get(name)):
        return kept
    left_out = unrouted()
    if said := left_out.get(name.partition("@")[0]):
        raise ZooError(said)
    if name in moved:
        raise ZooError(f"{name} left the zoo; use {moved[name]}, which took its place.")
    if not known:
        how = " ".join(left_out.values()) or "add one with `capsviz zoo add`."
        raise ZooError(f"No model is called {name!r}: {folder()} holds none; {how}")
    if name not in known:
        raise ZooError(_unknown(name, known))
    return known[name]


def told_apart(entries: Sequence[Entry], form: Callable[[Entry], str]) -> list[str]:
    """What `form` calls each model; where two would be called alike their preset is said, or else their name."""
    plain = [form(entry) for entry in entries]
    for more in ("preset", "name"):
        alike = [plain.count(called) > 1 for called in plain]
        plain = [
            f"{form(entry)} ({getattr(entry, more)})" if several else called
            for entry, called, several in zip(entries, plain, alike, strict=True)
        ]
    return plain


def _unknown(name: str, known: Mapping[str, Entry]) -> str:
    model, _, _ = name.partition("@")
    if model != name and model in known:
        steps = [kept for kept in at_steps() if kept.startswith(f"{model}@")]
        if not steps:
            return f"No model is called {name!r}: no step of the training of {model} is kept; choose that itself."
        return f"No model is called {name!r}: {model} is kept as {', '.join(steps)}; choose one of these."
    if Path(name).is_dir():
        how = f"from capsviz.training.runs import open_run; open_run({name!r})"
        return f"{name!r} is a folder and no model; open a training's by `{how}`."
    return f"No model is called {name!r}; choose one of {', '.join(known)}."


def verify(model: Entry) -> None:
    """Raise ZooError, naming the file, where a model's weights are missing or not those of the manifest."""
    _check(model.file, model.sha256, f"The weights {model.file} of {model.name}")


def verify_history(model: Entry) -> None:
    """Raise ZooError, naming the file, where a model's history of b is missing or not that of the manifest.

    A model without a history has nothing to verify.
    """
    if model.history:
        _check(model.history, model.history_sha256, f"The snapshots {model.history} of {model.name}")


def verify_checkpoints(model: Entry) -> None:
    """Raise ZooError, naming the file, where a model's checkpoints are missing or not those of the manifest.

    A model without checkpoints has nothing to verify.
    """
    if kept := model.checkpoints:
        _check(kept.file, kept.sha256, f"The checkpoints {kept.file} of {model.name}")


def _check(file: str, sha256: str, what: str) -> None:
    path = folder() / file
    if not path.is_file():
        raise ZooError(line(f"{what} are missing; restore them with git."))
    with path.open("rb") as opened:
        if hashlib.file_digest(opened, "sha256").hexdigest() != sha256:
            raise ZooError(line(f"{what} are not those of the manifest; restore them with git."))


def markdown() -> str:
    """The manifest as the table of docs/models.md."""
    lines = [
        "| model | data | routing | preset | parameters | file | test error |",
        "| --- | --- | --- | --- | ---: | ---: | ---: |",
    ]
    for model in models().values():
        wrong = round(model.test_error * model.test_count / 100)
        routing = model.method.title + "/FC, no decoder" * model.classifies_alone
        size = f"{model.bytes / 1e6:.1f} MB" + (", 8 bits" if model.bits == 8 else "")
        lines.append(
            f"| `{model.name}` | {model.data} | {routing} | {model.preset} | {model.parameters / 1e6:.2f} M "
            f"| {size} | {model.test_error:.2f} % ({wrong} of {model.test_count}) |"
        )
    return "\n".join(lines)


def row(model: Entry) -> dict[str, Any]:
    """An entry as the manifest writes it: the network's config stands under "config", and no `checkpoints` if none."""
    said = {("config" if key == "network" else key): value for key, value in asdict(model).items()}
    return said if model.checkpoints else {key: value for key, value in said.items() if key != "checkpoints"}
