"""A training that diverged is no result: it stops, and nothing of it is saved, published, evaluated or traced."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from unittest.mock import Mock

import pytest
import torch
from typer.testing import CliRunner

import capsviz
from capsviz import zoo
from capsviz.commands.main import app, main
from capsviz.files import read_tensors, write_tensors
from capsviz.network import CapsNet, assemble, config_from_dict
from capsviz.network.finite import NotFinite, check_finite
from capsviz.training import journal, loop, step
from capsviz.training.config import SettingsError, TrainingConfig
from capsviz.training.evaluate import evaluate
from capsviz.training.journal import read_metrics
from capsviz.training.publish import publish
from capsviz.training.runs import CHECKPOINT, WEIGHTS, open_run

pytestmark = pytest.mark.long

CONFIG = TrainingConfig("digits", "dr", "tiny", steps=8, batch=32)


@pytest.fixture
def run(tmp_path):
    """The folder of a finished run."""
    return loop.train(CONFIG, tmp_path / "run", device="cpu", quiet=True).folder


def spoil(path, prefix=""):
    """Put a NaN into the first weight of a file."""
    tensors, header = read_tensors(path)
    name = next(name for name, value in tensors.items() if name.startswith(prefix) and value.is_floating_point())
    tensors[name].view(-1)[0] = torch.nan
    write_tensors(path, tensors, header)


def test_the_first_loss_that_is_not_finite_stops_a_training_and_keeps_the_last_good_checkpoint(tmp_path, monkeypatch):
    def failing(*arguments):
        loss, *others = take_step(*arguments)
        calls.append(len(calls))
        return (loss * torch.nan if len(calls) == 6 else loss, *others)

    take_step, calls = step.take_step, []
    monkeypatch.setattr(loop, "take_step", failing)
    with pytest.raises(loop.Diverged, match=r"after step 6; checkpoint\.safetensors is that of step 5; train"):
        loop.train(CONFIG, tmp_path, device="cpu", quiet=True, checkpoint_seconds=0.0)
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".safetensors") == [CHECKPOINT]
    tensors, header = read_tensors(tmp_path / CHECKPOINT)
    assert header["step"] == 5 and all(bool(torch.isfinite(value).all()) for value in tensors.values())
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert not [line for line in lines if line.get("step", 0) > 5]


def test_a_device_that_is_seldom_asked_for_its_loss_is_asked_before_a_checkpoint_is_written(tmp_path, monkeypatch):
    config = replace(CONFIG, learning_rate=1e30)
    monkeypatch.setattr(loop, "waits", lambda device: True)
    with pytest.raises(
        loop.Diverged, match=r"^The loss is not finite after step \d; checkpoint\.safetensors is that of"
    ):
        loop.train(config, tmp_path, device="cpu", quiet=True, checkpoint_seconds=0.0)


def test_a_loss_that_is_not_finite_between_two_looks_stops_a_training_at_the_next(tmp_path, monkeypatch):
    """Written among the metrics, its mean would make them a file that nobody can read again."""

    def failing(*arguments):
        loss, *others = take_step(*arguments)
        calls.append(len(calls))
        return (loss * torch.nan if len(calls) == 3 else loss, *others)

    take_step, calls = step.take_step, []
    monkeypatch.setattr(loop, "take_step", failing)
    monkeypatch.setattr(loop, "waits", lambda device: True)
    with pytest.raises(loop.Diverged, match="after step 8"):
        loop.train(CONFIG, tmp_path, device="cpu", quiet=True)
    assert read_metrics(tmp_path) == []


def test_a_validation_loss_that_is_not_finite_stops_a_training_too(tmp_path, monkeypatch):
    def failing(*arguments):
        return replace(evaluate(*arguments), loss=math.nan)

    monkeypatch.setattr(loop, "evaluate", failing)
    with pytest.raises(loop.Diverged, match=r"^The validation loss is not finite after step 8; no checkpoint was left"):
        loop.train(CONFIG, tmp_path, device="cpu", quiet=True)
    assert not list(tmp_path.glob("*.safetensors")) and "epoch" not in {line["kind"] for line in read_metrics(tmp_path)}


def test_whatever_ends_a_training_leaves_the_terminal_as_it_was(tmp_path, monkeypatch):
    closed: list[journal.Journal] = []
    before = journal.Journal.close

    def closing(own: journal.Journal) -> None:
        closed.append(own)
        before(own)

    monkeypatch.setattr(journal.Journal, "close", closing)
    monkeypatch.setattr(loop, "save_checkpoint", Mock(side_effect=OSError("No space left on device")))
    with pytest.raises(OSError, match="No space"):
        loop.train(CONFIG, tmp_path / "full", device="cpu", quiet=True, checkpoint_seconds=0.0)
    assert len(closed) == 1 and closed[0].file.closed


def test_a_rate_that_is_far_too_high_ends_in_one_sentence_and_an_exit_code(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        "sys.argv",
        f"capsviz train --data digits --routing em --preset tiny --lr 1e20 --steps 60 --out {tmp_path}".split(),
    )
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert left.value.code == loop.Diverged.status == 3
    assert said.startswith("The loss is not finite after step") and said.endswith("and another --name.")
    assert not list(tmp_path.rglob("model.safetensors")) and not list(tmp_path.rglob("summary.json"))


def test_a_checkpoint_with_nan_does_not_go_on(tmp_path):
    loop.train(CONFIG, tmp_path, device="cpu", quiet=True, time_limit=1e-6)
    spoil(tmp_path / CHECKPOINT, "model/")
    with pytest.raises(NotFinite, match=r"The run has numbers that are not finite in .*: the training diverged"):
        loop.train(CONFIG, tmp_path, device="cpu", quiet=True, resume=True)


def test_weights_with_nan_are_neither_opened_nor_published_nor_evaluated_nor_traced(run, tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
    network, _ = open_run(run)
    assert isinstance(network, CapsNet)
    spoil(run / WEIGHTS)
    with pytest.raises(NotFinite):
        open_run(run)
    with pytest.raises(NotFinite):
        publish(run)
    assert not zoo.models()
    for command in (["evaluate", "--model", str(run)], ["zoo", "add", str(run)]):
        assert isinstance(CliRunner().invoke(app, command).exception, NotFinite)
    with torch.no_grad():
        next(network.parameters()).view(-1)[0] = torch.inf
    with pytest.raises(NotFinite, match=r"^mine has numbers that are not finite in"):
        capsviz.trace(network, torch.zeros(1, *network.config.image), name="mine")


def test_weights_that_float16_cannot_hold_are_not_published(run, tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
    tensors, header = read_tensors(run / WEIGHTS)
    name = next(name for name in tensors if name.endswith("bias"))
    tensors[name].view(-1)[0] = 1e6
    network = assemble(config_from_dict(header["config"]))
    network.load_state_dict(tensors)
    write_tensors(run / WEIGHTS, tensors, header)
    with pytest.raises(NotFinite, match="as it is rounded has numbers that are not finite in"):
        publish(run)
    assert not zoo.models()


def test_numbers_that_are_finite_may_have_a_sum_that_is_not():
    check_finite({"half": torch.full((10,), 6e4).half(), "single": torch.full((4,), 3e38)}, "The network")
    with pytest.raises(NotFinite):
        check_finite({"opposite": torch.tensor([torch.inf, -torch.inf])}, "The network")


@pytest.mark.parametrize(
    "given",
    [
        {"learning_rate": float("inf")},
        {"learning_rate": float("nan")},
        {"weight_decay": float("nan")},
        {"weight_decay": float("inf")},
        {"regularisation": float("nan")},
        {"batch": 0},
        {"iterations": 0},
        {"iterations": 10**8},
        {"seed": 10**30},
        {"seed": -1},
    ],
)
def test_settings_outside_their_range_are_one_sentence(given):
    with pytest.raises(SettingsError, match=rf"^{next(iter(given))}( \(--[a-z-]+\))? is .*; give .*\.$"):
        TrainingConfig("digits", "dr", "tiny", **given)


def test_a_setting_that_the_command_line_calls_otherwise_is_said_with_that_name():
    with pytest.raises(SettingsError, match=r"^ascent_step \(--gamma\) is -1.0; give "):
        TrainingConfig("digits", "l2", "tiny", ascent_step=-1.0)


@pytest.mark.parametrize("iterations", [0, 10**8])
def test_a_trace_takes_a_number_of_iterations_that_it_can_keep(iterations):
    network = capsviz.load("digits-dr")
    with pytest.raises(capsviz.CapsvizError, match=f"^iterations must be at .*; got {iterations}.$"):
        capsviz.trace(network, torch.zeros(1, *network.config.image), iterations=iterations)


@pytest.mark.parametrize("option", ["--threads", "--batch"])
def test_threads_and_batches_below_one_are_refused(option):
    said = CliRunner().invoke(app, ["evaluate", "--model", "digits-dr", option, "-1"])
    assert said.exit_code == 2 and "greater than or equal to 1" in said.output
