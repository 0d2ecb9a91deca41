"""Models early in their training: as good as the manifest says, close to what was trained, and never half-loaded."""

from __future__ import annotations

import hashlib
import lzma
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save, save_file
from typer.testing import CliRunner

from capsviz import data, zoo
from capsviz.analysis import exchange
from capsviz.commands.main import app
from capsviz.files import read_tensors
from capsviz.network import CapsNet, assemble
from capsviz.training import loop, publish_checkpoints
from capsviz.training.config import SettingsError, TrainingConfig
from capsviz.training.evaluate import evaluate
from capsviz.training.publish import publish
from capsviz.training.recipes import Recipe
from capsviz.training.runs import OtherSettings
from capsviz.zoo import checkpoints
from capsviz.zoo.storage import unpacked
from tests import zoos

pytestmark = pytest.mark.long

NAMES = list(zoo.at_steps())


def test_the_digits_models_ship_at_eight_steps_of_their_training_in_six_megabytes():
    shipped = [entry for entry in zoo.models().values() if entry.checkpoints]
    assert {entry.routing for entry in shipped} == {"dr", "em", "l2", "l1", "attention"}
    assert {entry.data for entry in shipped} == {"digits"}
    for entry in shipped:
        assert entry.checkpoints is not None and entry.checkpoints.steps == publish_checkpoints.STEPS
        assert len(entry.checkpoints.steps) + 1 == 8 and entry.checkpoints.steps[-1] < entry.checkpoints.total
        zoo.verify_checkpoints(entry)
        assert entry.checkpoints.errors[0] > 75 > 10 > entry.checkpoints.errors[-1] > entry.test_error
    files = list((zoo.folder() / checkpoints.FOLDER).iterdir())
    assert len(files) == len(shipped) and sum(file.stat().st_size for file in files) <= 6e6


@pytest.mark.parametrize("name", NAMES)
def test_a_model_at_a_step_makes_exactly_the_errors_of_the_manifest(name):
    entry = zoo.entry(name)
    assert isinstance(entry, zoo.AtStep) and name == f"{entry.trained}@{entry.step}"
    result = evaluate(zoo.load(name), data.load("digits", "test"))
    assert result.error == pytest.approx(entry.test_error) and result.count == entry.test_count
    assert zoo.exemplar_capsules(name).shape == (10, zoo.EXEMPLARS, 16) and zoo.capsule_spread(name).shape == (10, 16)


def test_rounding_does_not_add_up_over_the_steps():
    torch.manual_seed(0)
    network = zoo.load("digits-dr")
    before: dict[str, torch.Tensor] = {}
    for _ in range(6):
        for weight in network.parameters():
            weight.add_(0.3 * weight.std() * torch.randn_like(weight))
        before = checkpoints.decoded(checkpoints.coded(network, before), before)
        rounded = unpacked(before)
        for key, value in network.state_dict().items():
            spacing = checkpoints.DRAWING if key.startswith("decoder.") else checkpoints.SPACING
            bound = 0.5 * spacing * value.std() if value.numel() >= 4_096 else value.abs().max() * 2**-11
            assert float((rounded[key] - value).abs().max()) <= float(bound) * 1.0001, key


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A zoo of digits-dr and its checkpoints in a folder that may be damaged."""
    (zoos.copied(tmp_path, "digits-dr") / "checkpoints").mkdir()
    shutil.copy(zoo.folder() / "checkpoints/digits-dr.safetensors", tmp_path / "checkpoints")
    zoos.state(tmp_path, zoos.rows()["digits-dr"] | {"curves": "", "history": ""})
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
    return tmp_path


def rewrite(place: Path, streams: dict[str, torch.Tensor]) -> None:
    """Put other contents into the file of checkpoints, with the checksum that the manifest wants."""
    file = place / "checkpoints/digits-dr.safetensors"
    save_file(streams, file)
    row = zoos.rows(place)["digits-dr"]
    row["checkpoints"]["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    zoos.state(place, row)


def stream(content: bytes) -> torch.Tensor:
    """Compressed bytes as a file of checkpoints holds them."""
    return torch.frombuffer(bytearray(lzma.compress(content)), dtype=torch.uint8)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda held: held.pop("20"), "20 is missing"),
        (lambda held: held.update({"20": held["20"][:-100].clone()}), "longer than such a network, or was cut short"),
        (lambda held: held.update({"20": held["20"].flip(0)}), "cannot be read"),
        (lambda held: held.update({"20": stream(bytes(10**8))}), "longer than such a network"),
        (lambda held: held.update({"20": stream(b"{}")}), "is no safetensors file"),
        (lambda held: held.update({"0": stream(save({"model.transform": torch.zeros(2)}))}), "does not fit the step"),
        (lambda held: held.update({"20": stream(save({"model.odd": torch.zeros(9000, dtype=torch.int8)}))}), "config"),
    ],
)
def test_a_wrong_file_is_one_sentence(place, damage, said):
    held = load_file(place / "checkpoints/digits-dr.safetensors")
    damage(held)
    rewrite(place, held)
    with pytest.raises(zoo.ZooError) as caught:
        zoo.load("digits-dr@40" if said != "config" else "digits-dr@20")
    assert said in str(caught.value) and "\n" not in str(caught.value)
    assert "checkpoints/digits-dr.safetensors" in str(caught.value)


def test_an_altered_file_is_named_and_a_step_that_is_not_kept_as_well(place):
    with (place / "checkpoints/digits-dr.safetensors").open("ab") as file:
        file.write(b" ")
    with pytest.raises(zoo.ZooError, match="not those of the manifest; restore them with git"):
        zoo.load("digits-dr@40")
    result = CliRunner().invoke(app, ["zoo", "verify"])
    assert result.exit_code == 1 and "checkpoints/digits-dr.safetensors" in result.output
    with pytest.raises(zoo.ZooError, match="No model is called 'digits-dr@41'"):
        zoo.entry("digits-dr@41")


def test_a_step_is_not_exported_and_the_trained_model_travels_without_its_steps(place):
    with pytest.raises(zoo.ZooError, match="export the trained model, digits-dr"):
        exchange.export("digits-dr@40")
    assert exchange.read(exchange.export("digits-dr"), "own.capsviz").entry.checkpoints is None


def test_what_a_training_keeps_is_its_weights_at_these_steps(tmp_path):
    config = replace(publish_checkpoints.recipe_of("digits-l2").config, epochs=1)
    ended = loop.train(config, tmp_path / "run", device="cpu", quiet=True, keep=(0, 5, 41))
    kept = {step: read_tensors(loop.kept_at(ended.folder, step))[0] for step in (0, 5, ended.step)}
    begun = loop.build(config, (1, 28, 28), 10).state_dict()
    last = load_file(ended.folder / "model.safetensors")
    for key, value in begun.items():
        assert torch.equal(kept[0][key], value)
        assert torch.equal(kept[ended.step][key], last[key]) and not torch.equal(kept[5][key], value)


def test_a_model_is_trained_again_and_shown_as_it_was(place, tmp_path, monkeypatch):
    recipe = publish_checkpoints.recipe_of("digits-dr")
    short = Recipe(recipe.name, replace(recipe.config, epochs=1))
    monkeypatch.setattr(publish_checkpoints, "recipe_of", lambda name: short)
    monkeypatch.setattr(publish_checkpoints, "STEPS", (0, 20, 40))
    own = zoo.entry("digits-dr")
    entry = publish_checkpoints.publish_checkpoints("digits-dr", tmp_path / "runs", quiet=True)
    assert entry.checkpoints is not None and replace(entry, checkpoints=own.checkpoints) == own
    assert entry.checkpoints.steps == (0, 20, 40) and entry.checkpoints.errors[0] > entry.checkpoints.errors[-1]
    for step, error in zip((0, 20, 40), entry.checkpoints.errors, strict=True):
        trained = assemble(own.network)
        trained.load_state_dict(read_tensors(loop.kept_at(tmp_path / "runs/digits-dr-checkpoints", step))[0])
        shown, test = zoo.load(f"digits-dr@{step}"), data.load("digits", "test")
        assert evaluate(shown, test).error == pytest.approx(error)
        assert isinstance(trained, CapsNet)
        with torch.no_grad():
            sought, found = (network(data.to_float(test.images[:40])).activations for network in (trained, shown))
        assert float((sought - found).abs().max()) < 0.05


def test_of_a_run_with_other_settings_the_option_is_named_that_the_command_has(place, tmp_path, monkeypatch):
    recipe = publish_checkpoints.recipe_of("digits-dr")
    other = replace(recipe.config, epochs=1, steps=2)
    loop.train(other, tmp_path / "digits-dr-checkpoints", device="cpu", quiet=True)
    with pytest.raises(OtherSettings, match=r"give another --out\.$"):
        publish_checkpoints.publish_checkpoints("digits-dr", tmp_path, quiet=True)


def test_of_a_training_that_was_stopped_nothing_is_published(place, tmp_path, monkeypatch):
    stopped = loop.Outcome(tmp_path, 700, "Ctrl-C", None)
    monkeypatch.setattr(publish_checkpoints, "train", lambda *_, **__: stopped)
    own = zoo.entry("digits-dr")
    with pytest.raises(SettingsError, match=r"digits-dr stopped at step 700 \(Ctrl-C\); repeat the command"):
        publish_checkpoints.publish_checkpoints("digits-dr", tmp_path / "runs", quiet=True)
    assert zoo.entry("digits-dr") == own


def test_a_model_of_another_training_has_no_checkpoints_of_the_recipe(place):
    zoos.state(place, zoos.rows(place)["digits-dr"] | {"command": f"{zoo.entry('digits-dr').command} --seed 3"})
    with pytest.raises(SettingsError, match="otherwise than its recipe says; train it by `capsviz zoo train"):
        publish_checkpoints.recipe_of("digits-dr")


def test_a_network_with_running_statistics_is_shown_as_it_was_with_these_in_its_weights(place, tmp_path, monkeypatch):
    config = TrainingConfig("digits", "l2", preset="residual", batch=128, steps=2)
    publish(loop.train(config, tmp_path / "digits-l2-residual", quiet=True).folder, bits=8)
    monkeypatch.setattr(publish_checkpoints, "recipe_of", lambda name: Recipe(name, config))
    monkeypatch.setattr(publish_checkpoints, "STEPS", (0, 1))
    publish_checkpoints.publish_checkpoints("digits-l2-residual", tmp_path / "runs", quiet=True)
    trained = loop.build(config, (1, 28, 28), 10).eval()
    trained.load_state_dict(read_tensors(loop.kept_at(tmp_path / "runs/digits-l2-residual-checkpoints", 1))[0])
    shown = zoo.load("digits-l2-residual@1")
    images = data.to_float(data.load("digits", "test").images[:40])
    assert isinstance(trained, CapsNet) and trained.config.normalised and not shown.config.normalised
    with torch.no_grad():
        sought, found = (network.encode(images).activations for network in (trained, shown))
    assert float((sought - found).abs().mean()) < 0.1 * float(sought.mean())


def test_a_model_that_is_trained_again_keeps_its_checkpoints_where_it_was_trained_alike(place):
    entry, network = zoo.entry("digits-dr"), zoo.load("digits-dr")
    zoos.saved(network, entry.name, command=entry.command)
    assert zoo.load("digits-dr@40") and zoo.entry("digits-dr").checkpoints == entry.checkpoints
    zoos.saved(network, entry.name, command=f"{entry.command} --mirror")
    assert not zoo.at_steps() and not (place / "checkpoints/digits-dr.safetensors").exists()


def test_a_model_that_leaves_takes_its_checkpoints_along(place):
    row = zoos.rows(place)["digits-dr"]
    better = {key: value for key, value in row.items() if key != "checkpoints"} | {"name": "better"}
    zoos.state(place, row, better | {"file": "better.safetensors"})
    zoo.replace("digits-dr", "better")
    assert not (place / "checkpoints/digits-dr.safetensors").exists() and not zoo.at_steps()
