"""A model in one file: the same weights and the same answers elsewhere, nothing of its owner's machine, no lies."""

from __future__ import annotations

import gc
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save as save_tensors
from typer.testing import CliRunner

from capsviz import zoo
from capsviz.analysis import exchange, predictions
from capsviz.commands.main import app, main
from capsviz.data import load, to_float
from capsviz.files import WriteError
from capsviz.network import CapsNet, CapsuleLayer
from capsviz.tensors import LENGTH
from capsviz.zoo.storage import RUN, SCALES, WEIGHTS
from tests.app.test_own_images import published
from tests.folders import drawn
from tests.fuzz.damage import sealed
from tests.known import known


@pytest.fixture
def elsewhere(tmp_path, monkeypatch) -> Path:
    """Another zoo, in which nothing is yet, once this is called for."""
    return tmp_path / "zoo"


def changed(content: bytes, **values: object) -> bytes:
    """A file whose own description says something else."""
    length = int.from_bytes(content[:LENGTH], "little")
    header = json.loads(content[LENGTH : LENGTH + length])
    said = json.loads(header["__metadata__"]["model"])
    config = values.pop("config", {})
    said |= values
    said["config"] |= config
    header["__metadata__"]["model"] = json.dumps(said)
    return sealed(header, content[LENGTH + length :])


def test_a_command_that_no_shell_would_read_is_refused():
    with pytest.raises(zoo.ZooError, match=r"command is none that a shell would read"):
        exchange.read(changed(exchange.export("digits-dr"), command="Anna's run"), "annas.capsviz")


@pytest.mark.parametrize("name", ["digits-dr", "digits-attention", "digits-l2-fc", "digits-matrix"])
def test_a_model_goes_to_another_zoo_bit_for_bit(name: str, elsewhere: Path, monkeypatch, tmp_path):
    before, network, record = zoo.entry(name), zoo.load(name), predictions.recorded(zoo.entry(name))
    exemplars = zoo.exemplar_capsules(name)
    images = to_float(load("digits", "test").images[:20])
    (tmp_path / "m.capsviz").write_bytes(exchange.export(name))
    monkeypatch.setenv("CAPSVIZ_ZOO", str(elsewhere))
    entry = exchange.add(tmp_path / "m.capsviz")
    assert replace(entry, curves="", history="", history_sha256="", checkpoints=None) == entry
    assert entry == replace(before, curves="", history="", history_sha256="", checkpoints=None)
    zoo.verify(entry)
    with torch.inference_mode():
        one, other = network(images), zoo.load(name)(images)
    assert torch.equal(one.poses, other.poses) and torch.equal(one.activations, other.activations)
    assert torch.equal(zoo.exemplar_capsules(name), exemplars)
    again = predictions.recorded(entry)
    assert torch.equal(again.predicted, record.predicted) and again.error == record.error
    assert again.reconstructs == record.reconstructs and (again.capsules is None) == (not record.reconstructs)


def test_where_the_record_finds_no_room_the_model_is_not_there_either(elsewhere: Path, monkeypatch, tmp_path):
    (tmp_path / "m.capsviz").write_bytes(exchange.export("digits-dr"))
    monkeypatch.setenv("CAPSVIZ_ZOO", str(elsewhere))
    elsewhere.mkdir()
    (elsewhere / zoo.RECORDS).write_text("no folder")
    with pytest.raises(WriteError):
        exchange.add(tmp_path / "m.capsviz")
    assert "digits-dr" not in zoo.models() and not (elsewhere / "digits-dr.safetensors").exists()


def test_a_model_of_two_digits_brings_its_record_along():
    name = "multi-mnist-dr-residual"
    record = predictions.recorded(zoo.entry(name))
    found = known(exchange.read(exchange.export(name), "pairs.capsviz").record)
    assert found.objects == 2 and (found.error, len(found)) == (record.error, len(record))
    assert all(torch.equal(value, found.columns()[column]) for column, value in record.columns().items())


def test_a_record_of_two_digits_belongs_to_no_model_of_one(monkeypatch):
    pairs = predictions.recorded(zoo.entry("multi-mnist-dr-residual"))
    monkeypatch.setattr(exchange, "_record", lambda model: replace(pairs, name=model.name))
    with pytest.raises(zoo.ZooError, match="labels are 2 of each image and not 1"):
        exchange.read(exchange.export("digits-dr"), "digits.capsviz")


def test_the_same_model_is_the_same_file():
    assert exchange.export("digits-dr") == exchange.export("digits-dr")


def test_nothing_of_the_owners_machine_is_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
    entry = published(drawn(tmp_path / "my leaves"), "dr")
    content = exchange.export(entry.name)
    found = exchange.read(content, "leaves.capsviz")
    assert str(tmp_path).encode() not in content and tmp_path.name.encode() not in content
    assert found.entry.data == "folder:my leaves@3x24x24" and "'folder:my leaves@3x24x24'" in found.entry.command
    assert found.entry.classes == entry.classes and found.record is not None
    assert found.record.data == found.entry.data


def test_every_word_of_a_command_with_a_path_keeps_its_last_part():
    entry = replace(zoo.entry("digits-dr"), command="capsviz train --data digits --out /home/me/runs --x=~/a/b")
    assert exchange._bare(entry) == "capsviz train --data digits --out runs --x=b"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"data": "folder:/etc@1x28x28"}, "data is neither a data set of capsviz nor the name of a folder"),
        ({"data": "folder:../x@1x28x28"}, "data is neither"),
        ({"data": "folder:~@1x28x28"}, "data is neither"),
        ({"data": "cifar10"}, "data has other images than the cifar10 of its network"),
        ({"config": {"classes": 11}}, "names 10 classes and its config has 11"),
        ({"config": {"conv_channels": 9_000}}, "weights and its config wants"),
        ({"config": {"iterations": 0}}, "iterations must be at least 1"),
        ({"test_error": 1.0}, "measured is of other errors than the model's"),
        ({"bits": 3}, "bits must be at least 8"),
    ],
)
def test_a_file_that_lies_of_itself_is_refused_in_one_sentence(values, said):
    with pytest.raises(zoo.ZooError, match=said) as caught:
        exchange.read(changed(exchange.export("digits-dr"), **values), "mine.capsviz")
    assert str(caught.value).startswith("mine.capsviz") and "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"words", b"\xff" * 100, b"\x02" + b"\0" * 7 + b"{}"])
def test_what_is_no_model_is_said_so(content: bytes):
    with pytest.raises(zoo.ZooError, match=r"^mine.capsviz .*; write it anew with `capsviz zoo export`\.$"):
        exchange.read(content, "mine.capsviz")


def test_a_file_that_is_not_there_is_said_so(tmp_path):
    for call in (exchange.load, exchange.add):
        with pytest.raises(zoo.ZooError, match=r"^There is no file .*nope\.capsviz; give one that `capsviz zoo"):
            call(tmp_path / "nope.capsviz")


def test_a_trace_is_no_model(tmp_path):
    import capsviz

    made = capsviz.trace(zoo.load("digits-dr"), to_float(load("digits", "test").images[:1]))
    with pytest.raises(zoo.ZooError, match="holds no model of capsviz"):
        exchange.read(made.to_bytes(), "mine.capsviz")


def test_what_would_not_run_beside_others_is_refused_before_it_is_built(monkeypatch):
    found = exchange.read(exchange.export("digits-dr"), "mine.capsviz")
    exchange.check_small(found)
    monkeypatch.setattr(exchange, "network_of", lambda *_: pytest.fail("it was built"))
    config = found.entry.config
    wrong = {
        "iterations": replace(config, iterations=11),
        "multiplications": replace(config, image=(1, 512, 512), conv_channels=4_000, primary_stride=300),
        "numbers of votes": replace(config, image=(1, 300, 300), primary_types=2, class_dim=128),
        "numbers in a layer of its encoder": replace(
            config, image=(1, 512, 512), conv_channels=8_000, kernel=1, primary_kernel=1, primary_stride=512
        ),
        "capsules below its classes": replace(
            zoo.entry("digits-matrix").config,
            image=(1, 70, 70),
            kernel=1,
            conv_channels=8,
            primary_kernel=1,
            primary_stride=1,
            primary_types=10,
            primary_dim=16,
            reshaped=False,
            capsule_layers=(CapsuleLayer(10, 1, 1),) * 16,
        ),
        "classes": replace(config, classes=2_000),
        # Each number is 1 pixel of a vote, and every iteration keeps three of each pair.
        "pairs of capsules": replace(config, classes=1_000, primary_types=64, primary_dim=1, class_dim=1),
        "numbers in the drawings of its capsules": replace(
            config, image=(1, 512, 512), classes=2, primary_stride=200, class_dim=1_000, decoder=(1,)
        ),
    }
    for said, network in wrong.items():
        classes = tuple(map(str, range(network.classes)))
        entry = replace(found.entry, routing=network.routing, network=network, classes=classes)
        with pytest.raises(zoo.ZooError, match=rf"{said}.* and here are at most .*`capsviz zoo add`\.$"):
            exchange.check_small(replace(found, entry=entry))
    exemplars = {"capsules.exemplars": torch.zeros(10, 9, 16)}
    with pytest.raises(zoo.ZooError, match="has 9 exemplars a class and here are at most 8; put it into a zoo"):
        exchange.check_small(replace(found, tensors=exemplars))


def test_four_times_as_many_names_take_about_four_times_as_long():
    content = exchange.export("digits-dr")
    length = int.from_bytes(content[:LENGTH], "little")
    metadata = json.loads(content[LENGTH : LENGTH + length])["__metadata__"]

    def seconds(names: int) -> float:
        sizes = {"whole": zoo.entry("digits-dr").network.weights} | {f"x{place}": 1 for place in range(names)}
        tensors = {f"{WEIGHTS}{name}": torch.zeros(size, dtype=torch.int8) for name, size in sizes.items()}
        tensors |= {f"{SCALES}{name}": torch.zeros(-(-size // RUN)) for name, size in sizes.items()}
        file = save_tensors(tensors | {"zzz": torch.zeros(1)}, metadata)

        def once() -> float:
            began = time.thread_time()
            with pytest.raises(zoo.ZooError, match="zzz is no part of a model"):
                exchange.read(file, "mine.capsviz")
            return time.thread_time() - began

        gc.collect()
        gc.disable()  # a collection takes as long as what other tests have left
        try:
            return min(once() for _ in range(3))
        finally:
            gc.enable()

    assert seconds(16_000) < 8 * seconds(4_000), "16 times where each name looks through all"


def test_every_shipped_model_may_be_dropped():
    for entry in filter(lambda entry: entry.has_capsules, zoo.models().values()):
        exchange.check_small(exchange.ModelFile(entry, {}, None))


def test_weights_beyond_all_bounds_are_refused():
    found = exchange.read(exchange.export("digits-em"), "mine.capsviz")
    tensors = {
        name: torch.full_like(value, 6e4) if name.startswith("model.") and value.ndim > 1 else value
        for name, value in found.tensors.items()
    }
    with pytest.raises(zoo.ZooError, match="numbers that are not finite"):
        exchange.check_runs(replace(found, tensors=tensors))


def test_the_command_line_exports_and_adds(elsewhere: Path, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> str:
        monkeypatch.setattr("sys.argv", ["capsviz", "zoo", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return said.out if not ended.value.code else said.err

    assert "digits-dr.capsviz: 2.2 MB" in run("export", "digits-dr")
    assert "NAME.capsviz" in run("export", "digits-dr", "-o", "x.bin")
    assert "new/d.capsviz: 2.2 MB" in run("export", "digits-dr", "-o", "new/d.capsviz")
    assert "digits-dr is in the zoo; give this model another --name." in run("add", "digits-dr.capsviz")
    assert "cannot be called 'a b'; give it a --name of" in run("add", "digits-dr.capsviz", "--name", "a b")
    monkeypatch.setenv("CAPSVIZ_ZOO", str(elsewhere))
    assert "test error 0.28 % (1 of 360)" in run("add", "digits-dr.capsviz", "--name", "mine")
    assert isinstance(zoo.load("mine"), CapsNet) and predictions.recorded(zoo.entry("mine")).reconstructs
    assert "no file" in run("add", "nothing.capsviz")
    assert "leave out --8-bits" in run("add", "digits-dr.capsviz", "--8-bits")


def test_of_a_model_that_came_as_a_file_the_error_and_its_commands_steps_are_kept(elsewhere, tmp_path, monkeypatch):
    command = "capsviz train --data digits --routing dr --preset tiny --steps 4 --shift 1"
    (tmp_path / "m.capsviz").write_bytes(changed(exchange.export("digits-dr"), command=command))
    monkeypatch.setenv("CAPSVIZ_ZOO", str(elsewhere))
    monkeypatch.setenv("CAPSVIZ_RESULTS", str(tmp_path / "results"))
    exchange.add(tmp_path / "m.capsviz")
    words = ["zoo", "add", str(tmp_path / "m.capsviz"), "--name", "other", "--replaces", "digits-dr"]
    told = CliRunner().invoke(app, words)
    assert told.exit_code == 0 and f"The error of digits-dr is kept in {tmp_path}/results." in told.stderr
    [row] = json.loads((tmp_path / "results" / "seeds.json").read_text())["rows"]
    assert (row["name"], row["steps"], row["command"]) == ("digits-dr", 4, command)
    assert not (tmp_path / "results" / "curves").exists()


def test_a_name_with_a_point_and_a_folder_of_any_name_travel(tmp_path, monkeypatch):
    for folder, name in ((".leaves", "leaves"), ("a~b\\c", "a-b-c"), ("...", "images")):
        data = exchange.portable(replace(zoo.entry("digits-dr"), data=f"folder:{tmp_path}/{folder}@1x28x28"))
        assert data == f"folder:{name}@1x28x28" and exchange._FOLDER.fullmatch(data)
    (tmp_path / "m.capsviz").write_bytes(exchange.export("digits-dr"))
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
    assert exchange.add(tmp_path / "m.capsviz", "leaves-v1.2").name == "leaves-v1.2"
    with pytest.raises(zoo.ZooError):
        exchange.add(tmp_path / "m.capsviz", "../leaves")
