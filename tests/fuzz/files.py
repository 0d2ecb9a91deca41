"""What is read from files: whole ones are made once, each input is one of them damaged."""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import numpy as np
import torch
from PIL import Image
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

import capsviz
from capsviz import Trace, TraceSet, zoo
from capsviz.analysis import exchange
from capsviz.data import load, prepare, read_image
from capsviz.experiments import reports
from capsviz.experiments import results as experiments
from capsviz.experiments.result_files import KINDS
from capsviz.files import HEADER
from capsviz.tracing.layout import TraceError
from capsviz.tracing.trace_set_writer import record
from capsviz.training.config import TrainingConfig
from capsviz.training.journal import read_lines
from capsviz.training.loop import train
from capsviz.training.runs import open_run, read_position, read_summary
from tests import zoos
from tests.app.pictures import encoded
from tests.fuzz import damage
from tests.networks import network

Make = Callable[[Random], object]
"""An input, from a seeded source of chance."""
Act = Callable[[object], object]


@contextmanager
def variable(name: str, value: Path) -> Iterator[None]:
    """A variable of the environment, for as long as this lasts."""
    before = os.environ.get(name)
    os.environ[name] = str(value)
    try:
        yield
    finally:
        os.environ.pop(name) if before is None else os.environ.update({name: before})


def images(folder: Path) -> tuple[Make, Act]:
    """A visitor's pictures, of nine formats and of other sizes than they say."""
    drawn = Image.fromarray((np.add.outer(np.arange(40), np.arange(60)) * 2).astype(np.uint8))
    kinds = [(kind, mode) for kind in ("PNG", "TIFF", "WEBP", "GIF") for mode in ("L", "RGB", "RGBA", "P")]
    kinds += [(kind, "RGB") for kind in ("JPEG", "BMP", "PPM", "ICO", "AVIF")]
    whole = [encoded(drawn.convert(mode), kind) for kind, mode in kinds]

    def read(given: object) -> None:
        assert isinstance(given, bytes)
        picture = read_image(given)
        for shape, layout in (((1, 28, 28), "digit"), ((3, 32, 32), "photo")):
            assert tuple(prepare(picture, shape, layout=layout).pixels.shape) == shape

    return lambda random: damage.of_bytes(random.choice(whole), random), read


def traces(folder: Path) -> tuple[Make, Act]:
    """Traces of each kind of routing; one that opens is whole, and checked as one that is dropped into the app."""
    whole = []
    for routing in ("dr", "em", "attention"):
        capsviz.trace(network(routing), torch.rand(2, 1, 28, 28)).save(folder / routing)
        whole.append((folder / routing).read_bytes())

    def make(random: Random) -> bytes:
        content = random.choice(whole)
        kind = random.randrange(4)
        if kind == 0:
            return damage.of_bytes(content, random)
        return damage.with_numbers(content, random) if kind == 1 else damage.with_header(content, random, "trace")

    def read(given: object) -> None:
        assert isinstance(given, bytes)
        (folder / "given").write_bytes(given)
        opened = Trace.open(folder / "given")
        assert all(tensor.isfinite().all() for tensor in opened.tensors().values() if tensor.is_floating_point())
        exchange.check_sizes("mine", exchange.routed_sizes(opened.config), "open it elsewhere", TraceError)

    return make, read


def sets(folder: Path) -> tuple[Make, Act]:
    """Recordings: their index or one of their shards is damaged."""
    record(network("dr"), load("digits", "test"), folder, name="mine", count=6, shard_size=4)
    index = json.loads((folder / "index.json").read_text())
    shards = {each["file"]: (folder / each["file"]).read_bytes() for each in index["shards"]}

    def make(random: Random) -> tuple[str, bytes]:
        kind = random.randrange(4)
        if kind == 0:
            name = random.choice(list(shards))
            return name, damage.with_header(shards[name], random, "trace")
        if kind == 1:
            return "index.json", damage.of_bytes(json.dumps(index).encode(), random)
        return "index.json", json.dumps(damage.of_json(index, random)).encode()

    def read(given: object) -> None:
        assert isinstance(given, tuple)
        name, content = given
        for file, before in {**shards, "index.json": json.dumps(index).encode()}.items():
            (folder / file).write_bytes(content if file == name else before)
        opened = TraceSet.open(folder)
        assert sum(1 for _ in opened) == len(opened)
        opened[:]

    return make, read


def manifests(folder: Path) -> tuple[Make, Act]:
    """Manifests of a zoo: it is listed, and each of its models opened."""
    kept = list(zoos.rows(zoos.copied(folder, "digits-dr", "digits-l2-fc")).values())

    def make(random: Random) -> bytes:
        said = {"models": kept}
        if random.randrange(4) == 0:
            return damage.of_bytes(json.dumps(said).encode(), random)
        return json.dumps(damage.of_json(said, random)).encode()

    def read(given: object) -> None:
        assert isinstance(given, bytes)
        (folder / "manifest.json").write_bytes(given)
        with variable("CAPSVIZ_ZOO", folder):
            zoo.markdown()
            for name in zoo.models():
                zoo.load(name)

    return make, read


def weights(folder: Path) -> tuple[Make, Act]:
    """Weights of a zoo, with the digest in the manifest put right: what is left is to open them."""
    row = zoos.rows()["digits-dr"]
    content = (zoo.folder() / row["file"]).read_bytes()

    def make(random: Random) -> bytes:
        return (damage.with_numbers if random.randrange(3) == 0 else damage.of_bytes)(content, random)

    def read(given: object) -> None:
        assert isinstance(given, bytes)
        (folder / row["file"]).write_bytes(given)
        zoos.state(folder, row | {"sha256": hashlib.sha256(given).hexdigest()})
        with variable("CAPSVIZ_ZOO", folder):
            zoo.load("digits-dr")
            zoo.exemplar_capsules("digits-dr")
            zoo.capsule_spread("digits-dr")

    return make, read


def steps(folder: Path) -> tuple[Make, Act]:
    """Checkpoints of a zoo, with the digest put right: the file, or what is compressed in it, is damaged."""
    row = zoos.rows()["digits-dr"]
    kept = row["checkpoints"]
    content = (zoo.folder() / kept["file"]).read_bytes()
    streams = {name: stream.numpy().tobytes() for name, stream in load_tensors(content).items()}
    file = folder / kept["file"]
    file.parent.mkdir()

    def make(random: Random) -> bytes:
        if random.randrange(3) == 0:
            return damage.of_bytes(content, random)
        inner = lzma.decompress(streams["0"])
        wrong = (damage.with_numbers if random.randrange(3) == 0 else damage.of_bytes)(inner, random)
        held = streams | {"0": lzma.compress(wrong, preset=0)}
        return save_tensors({name: torch.frombuffer(bytearray(each), dtype=torch.uint8) for name, each in held.items()})

    def read(given: object) -> None:
        assert isinstance(given, bytes)
        file.write_bytes(given)
        zoos.state(folder, row | {"checkpoints": kept | {"sha256": hashlib.sha256(given).hexdigest()}})
        with variable("CAPSVIZ_ZOO", folder):
            zoo.load("digits-dr@20")
            zoo.exemplar_capsules("digits-dr@20")

    return make, read


def models(folder: Path) -> tuple[Make, Act]:
    """Models that were exported: one that is read is built, and says something finite."""
    whole = [exchange.export(name) for name in ("digits-l2-fc", "digits-matrix", "digits-attention")]

    def make(random: Random) -> bytes:
        content = random.choice(whole)
        kind = random.randrange(5)
        if kind == 0:
            return damage.of_bytes(content, random)
        if kind == 1:
            return damage.with_numbers(content, random)
        return damage.with_header(content, random, "measured" if kind == 2 else "model")

    def read(given: object) -> None:
        assert isinstance(given, bytes)
        found = exchange.read(given, "mine.capsviz")
        exchange.check_small(found)
        exchange.check_runs(found)
        assert found.entry.data == "digits" or found.entry.data.startswith("folder:")

    return make, read


def results(folder: Path) -> tuple[Make, Act]:
    """Result files: every experiment is told, its sentences and its table."""
    whole = {path.name: path.read_bytes() for path in experiments.folder().glob("*.json")}
    curves = experiments.folder() / "curves"
    told = [name for name in whole if name.removesuffix(".json") in KINDS or name == "seeds.json"]

    def make(random: Random) -> dict[str, bytes]:
        name = random.choice(sorted(told))
        if random.randrange(4) == 0:
            return {name: damage.of_bytes(whole[name], random)}
        return {name: json.dumps(damage.of_json(json.loads(whole[name]), random)).encode()}

    def read(given: object) -> None:
        assert isinstance(given, dict)
        for name in told:
            (folder / name).write_bytes(given.get(name, whole[name]))
        if not (folder / "curves").exists():
            (folder / "curves").symlink_to(curves)
        with variable("CAPSVIZ_RESULTS", folder):
            for experiment in reports.NAMES:
                reports.report(experiment)

    return make, read


def checkpoints(folder: Path) -> tuple[Make, Act]:
    """Weights, summary and metrics of a run of its own."""
    config = TrainingConfig("digits", "dr", "tiny", steps=2, batch=8)
    train(config, folder / "run", quiet=True)
    whole = {
        path.name: path.read_bytes() for path in (folder / "run").iterdir() if path.is_file() and path.stat().st_size
    }

    def make(random: Random) -> tuple[str, bytes]:
        name = random.choice(sorted(whole))
        if name.endswith(".safetensors") and random.randrange(2):
            return name, damage.with_header(whole[name], random, HEADER)
        if name.endswith(".json") and random.randrange(2):
            return name, json.dumps(damage.of_json(json.loads(whole[name]), random)).encode()
        return name, damage.of_bytes(whole[name], random)

    def read(given: object) -> None:
        assert isinstance(given, tuple)
        name, content = given
        (folder / name).write_bytes(content)
        if name.endswith(".jsonl"):
            read_lines(folder / name)
        elif name.endswith(".json"):
            shutil.copy(folder / name, folder / "summary.json") if name != "summary.json" else None
            read_summary(folder)
        else:
            open_run(folder / name)
            if name.startswith("checkpoint"):
                read_position(folder / name)

    return make, read
