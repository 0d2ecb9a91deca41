"""The baseline through the same loop, command and zoo as the capsule networks."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from capsviz import zoo
from capsviz.data import load
from capsviz.network import CNN, NoCapsulesError
from capsviz.training import loop
from capsviz.training.config import SettingsError, TrainingConfig
from capsviz.training.publish import publish
from capsviz.training.runs import open_run
from capsviz.zoo.coefficient_history import HISTORY
from tests.programs import command, refused

pytestmark = pytest.mark.long

CONFIG = TrainingConfig("digits", "cnn", "tiny", epochs=3, batch=32, shift=1)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run of a few seconds."""
    return loop.train(CONFIG, tmp_path_factory.mktemp("runs") / "digits-cnn", device="cpu", quiet=True).folder


@pytest.fixture(scope="module")
def zoo_folder(run, tmp_path_factory):
    """A zoo with this one model in it."""
    folder = tmp_path_factory.mktemp("zoo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAPSVIZ_ZOO", str(folder))
        publish(run)
    return folder


@pytest.fixture
def here(zoo_folder, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(zoo_folder))


def test_the_cnn_learns_to_read_digits(run):
    summary = json.loads((run / "summary.json").read_text())
    assert summary["test_error"] <= 8
    assert summary["routing"] == "cnn" and summary["name"] == "digits-cnn"
    assert not (run / HISTORY).exists()


def test_a_run_of_the_cnn_opens_again_with_its_weights(run):
    model, header = open_run(run)
    assert isinstance(model, CNN) and model.config.to_dict() == {
        **header["config"],
        "image": (1, 28, 28),
        "channels": (32, 64),
    }
    assert TrainingConfig.from_dict(header["training"]) == CONFIG


def test_the_cnn_has_no_decoder_to_leave_out():
    with pytest.raises(SettingsError, match="--no-decoder"):
        TrainingConfig("mnist", "cnn", decoder=False)
    assert CONFIG.command().startswith("capsviz train --data digits --routing cnn --preset tiny")


def test_the_zoo_holds_a_cnn_beside_capsule_networks(here):
    entry = zoo.entry("digits-cnn")
    assert entry.routing == "cnn" and not entry.has_capsules
    zoo.verify(entry)
    network = zoo.load_network("digits-cnn")
    assert isinstance(network, CNN) and not network.training
    assert entry.parameters == sum(parameter.numel() for parameter in network.parameters())
    assert "| `digits-cnn` | digits | CNN, max pooling | tiny |" in zoo.markdown()


def test_what_only_capsule_networks_have_is_refused_in_one_sentence(here):
    for ask in (zoo.load, zoo.exemplar_capsules, zoo.capsule_spread, lambda name: zoo.entry(name).config):
        with pytest.raises(NoCapsulesError, match="digits-cnn is a CNN without capsules"):
            ask("digits-cnn")


def test_evaluate_agrees_with_the_manifest_of_a_cnn(here):
    assert "it agrees" in command("evaluate", "--model", "digits-cnn").output


def test_the_trace_command_says_that_a_cnn_has_nothing_to_record(here, unchecked_types, tmp_path):
    Image.fromarray(load("digits", "test").images[0, 0].numpy()).save(tmp_path / "digit.png")
    words = ("trace", tmp_path / "digit.png", "-o", tmp_path / "out.safetensors", "--model", "digits-cnn")
    assert refused(*words, error=NoCapsulesError)
    assert not (tmp_path / "out.safetensors").exists()
