"""From a finished run to the zoo: what travels with the weights."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from capsviz import data, places, zoo
from capsviz.analysis import exchange
from capsviz.commands.main import app
from capsviz.experiments import seeds
from capsviz.training import loop
from capsviz.training.config import TrainingConfig
from capsviz.training.evaluate import evaluate
from capsviz.training.journal import READINGS, abridged, read_metrics
from capsviz.training.publish import publish
from capsviz.training.runs import SUMMARY, open_run
from capsviz.zoo.coefficient_history import HISTORY, read_history
from tests import zoos
from tests.folders import renamed
from tests.programs import command, refused

pytestmark = pytest.mark.long

CONFIG = TrainingConfig("digits", "l1", "tiny", epochs=3, batch=32, decoder=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """The folder of a run of a few seconds."""
    return loop.train(CONFIG, tmp_path_factory.mktemp("runs") / "digits-l1-fc", device="cpu", quiet=True).folder


@pytest.fixture
def empty_zoo(tmp_path, monkeypatch) -> Path:
    """A zoo without any model."""
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
    return tmp_path / "zoo"


def test_the_history_of_b_travels_with_the_weights_and_ends_in_them(run, empty_zoo):
    entry = publish(run)
    assert entry.history == "histories/digits-l1-fc.safetensors"
    assert zoo.entry("digits-l1-fc") == entry
    found = zoo.history("digits-l1-fc")
    assert found is not None
    original = read_history(run / HISTORY)
    assert found.steps == original.steps and torch.equal(found.coefficients, original.coefficients)
    # The zoo's weights are float16, and so is the history.
    assert torch.equal(found.coefficients[-1].float(), zoo.load("digits-l1-fc").get_buffer("coefficients"))


def test_in_eight_bits_a_model_takes_half_the_room_and_is_measured_as_everybody_gets_it(run, empty_zoo):
    whole = publish(run)
    images = data.to_float(data.load("digits", "test").images[:50])
    scores = zoo.load("digits-l1-fc")(images).activations
    command("zoo", "add", run, "--8-bits")
    entry = zoo.entry("digits-l1-fc")
    assert (whole.bits, entry.bits) == (16, 8) and entry.bytes < 0.6 * whole.bytes
    network = zoo.load("digits-l1-fc")
    for name, value in zoo.shipped(open_run(run)[0], 8).state_dict().items():
        assert torch.equal(value, network.state_dict()[name])
    assert evaluate(network, data.load("digits", "test")).error == pytest.approx(entry.test_error)
    assert 0 < (network(images).activations - scores).abs().max() < 0.02
    assert "8 bits" in zoo.markdown()
    # b is in float16 still: its zeros mean something.
    history = zoo.history("digits-l1-fc")
    assert history is not None
    assert torch.equal(history.coefficients[-1].float(), network.get_buffer("coefficients"))


def test_a_published_model_takes_the_place_of_another(run, empty_zoo, tmp_path, monkeypatch):
    monkeypatch.setattr(places, "root", lambda: tmp_path / "shipped")
    monkeypatch.chdir(tmp_path)
    old = publish(run)
    curves = (empty_zoo / old.curves).read_text()
    command("zoo", "add", run, "--name", "new", "--replaces", "digits-l1-fc")
    assert list(zoo.models()) == ["new"] and zoo.successors() == {"digits-l1-fc": "new"}
    assert not (tmp_path / "shipped").exists(), "a model of one's own leaves the results that ship as they are"
    monkeypatch.setenv("CAPSVIZ_RESULTS", str(tmp_path / "results"))
    kept = seeds.recorded()["digits-l1-fc"]
    steps = json.loads((run / SUMMARY).read_text())["steps"]
    assert (kept.errors, kept.steps, kept.command) == ((old.test_error,), steps, old.command)
    assert seeds.curves_of("digits-l1-fc").read_text() == curves
    assert refused("zoo", "add", run, "--name", "newer", "--replaces", "absent") and list(zoo.models()) == ["new"]


@pytest.mark.parametrize("file", [False, True])
def test_a_model_that_cannot_be_replaced_is_said_before_anything_changes(file, run, empty_zoo, tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_RESULTS", str(tmp_path / "results"))
    old, source = publish(run), run
    if file:
        source = tmp_path / "other.capsviz"
        source.write_bytes(exchange.export(old.name))
    before = {path: path.read_bytes() for path in empty_zoo.rglob("*.*")}

    def said(*words: str) -> str:
        sentence = refused("zoo", "add", source, *words)
        assert {path: path.read_bytes() for path in empty_zoo.rglob("*.*")} == before
        assert not (tmp_path / "results").exists()
        return sentence

    own = said("--name", old.name, "--replaces", old.name)
    assert own.startswith("digits-l1-fc is in the zoo;" if file else "digits-l1-fc cannot take its own place;")
    kept = zoo.Checkpoints("checkpoints/a.safetensors", old.sha256, (3,), (9.0,), 9)
    with zoo.manifest.changing() as (entries, _):
        entries[old.name] = replace(old, checkpoints=kept)
    before[empty_zoo / "manifest.json"] = (empty_zoo / "manifest.json").read_bytes()
    assert said("--name", "new", "--replaces", f"{old.name}@3").startswith("digits-l1-fc@3 is a step of a training;")
    before.pop(curves := empty_zoo / old.curves)
    curves.unlink()
    gone = said("--name", "new", "--replaces", old.name)
    assert gone == "The curves curves/digits-l1-fc.jsonl of digits-l1-fc are missing; restore them with git."


def test_an_altered_or_missing_history_is_named(run, empty_zoo):
    entry = publish(run)
    path = empty_zoo / entry.history
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(zoo.ZooError, match=r"histories/digits-l1-fc\.safetensors of digits-l1-fc are not those"):
        zoo.history("digits-l1-fc")
    result = CliRunner().invoke(app, ["zoo", "verify"])
    assert result.exit_code == 1 and entry.history in result.output
    path.unlink()
    with pytest.raises(zoo.ZooError, match="are missing"):
        zoo.history("digits-l1-fc")
    zoo.load("digits-l1-fc")


def test_a_model_without_history_says_none(run, empty_zoo):
    with renamed(run / HISTORY, "elsewhere"):
        entry = publish(run, name="plain")
    assert entry.history == entry.history_sha256 == ""
    assert zoo.history("plain") is None
    zoo.verify_history(entry)


def test_a_manifest_from_before_histories_and_eight_bits_stays_valid(run, empty_zoo):
    publish(run)
    row = zoos.rows(empty_zoo)["digits-l1-fc"]
    del row["history"], row["history_sha256"], row["bits"]
    zoos.state(empty_zoo, row)
    assert zoo.history("digits-l1-fc") is None
    zoo.verify(zoo.entry("digits-l1-fc"))


def test_curves_are_kept_to_six_digits(run, empty_zoo):
    entry = publish(run)
    written = read_metrics(run)
    kept = [json.loads(line) for line in (zoo.folder() / entry.curves).read_text(encoding="utf-8").splitlines()]
    assert len(kept) == len(written)
    for line, exact in zip(kept, written, strict=True):
        assert line.keys() == exact.keys() and line["kind"] == exact["kind"]
        for name in line.keys() - {"kind"}:
            assert line[name] == pytest.approx(exact[name], rel=1e-5)
        assert len(str(line["learning_rate"]).split("e")[0]) <= 8


@pytest.mark.parametrize(("count", "left"), [(0, 0), (1, 1), (READINGS, READINGS), (READINGS + 1, 201), (1000, 334)])
def test_of_a_long_run_every_epoch_is_kept_and_the_last_step(count, left):
    lines = [{"kind": "train", "step": step, "loss": 1 / 3} for step in range(1, count + 1)]
    lines += [{"kind": "epoch", "step": step} for step in range(100, count + 1, 100)]
    kept = abridged(lines)
    assert [line for line in kept if line["kind"] == "epoch"] == [line for line in lines if line["kind"] == "epoch"]
    readings = [line for line in kept if line["kind"] == "train"]
    assert len(readings) == left
    assert not readings or (readings[-1]["step"], readings[-1]["loss"]) == (count, 0.333333)


def test_a_model_of_another_training_is_not_replaced_unasked(run, empty_zoo):
    first = publish(run)
    assert publish(run) == first, "the same training again"
    other = {"command": "capsviz train --data digits --routing l1 --preset tiny --epochs 30 --no-decoder"}
    zoos.state(empty_zoo, zoos.rows(empty_zoo)[first.name] | other)
    before = (empty_zoo / first.file).read_bytes()
    with pytest.raises(zoo.ZooError, match="digits-l1-fc is in the zoo, from another training; give this one a name"):
        publish(run)
    assert (empty_zoo / first.file).read_bytes() == before
    assert publish(run, name="mine").name == "mine" and set(zoo.models()) == {"digits-l1-fc", "mine"}
