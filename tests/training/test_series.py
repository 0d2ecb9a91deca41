"""One model after the other: skipped, resumed, stopped in time, and what is left is said."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
import torch
from typer.testing import CliRunner

from capsviz.commands.main import app
from capsviz.device import DeviceError
from capsviz.training import loop, recipes
from capsviz.training.config import TrainingConfig
from capsviz.training.recipes import Recipe
from capsviz.training.runs import CHECKPOINT, SUMMARY
from capsviz.training.series import State, state_of, table, train_series
from capsviz.training.step import take_step
from tests.programs import refused
from tests.weights import assert_same

pytestmark = pytest.mark.long

DR = Recipe("digits-dr", TrainingConfig("digits", "dr", "tiny", steps=6, batch=32))
L2 = Recipe("digits-l2", TrainingConfig("digits", "l2", "tiny", steps=6, batch=32))
CNN = Recipe("digits-cnn", TrainingConfig("digits", "cnn", "tiny", steps=6, batch=32))


def test_a_series_trains_every_recipe_and_a_second_one_nothing(tmp_path):
    said: list[str] = []
    series = train_series([DR, CNN], tmp_path, device="cpu", quiet=True, say=said.append)
    assert series.stopped == "" and all(state.done for state in series.states.values())
    assert series.summary() == "Done: 2 of 2."
    assert "2 of 2: digits-cnn is done, test error" in said[-1]

    written = (tmp_path / "digits-dr" / "model.safetensors").stat().st_mtime_ns
    said.clear()
    again = train_series([DR, CNN], tmp_path, device="cpu", quiet=True, say=said.append)
    assert again.states == series.states
    assert len(said) == 2 and all("is done, test error" in line for line in said)
    assert (tmp_path / "digits-dr" / "model.safetensors").stat().st_mtime_ns == written


def test_a_series_goes_on_where_a_run_was_cut_off(tmp_path):
    cut = loop.train(L2.config, tmp_path / L2.name, device="cpu", quiet=True, threads=1, time_limit=1e-6)
    assert state_of(L2, tmp_path) == State(cut.step) and 0 < cut.step < 6
    said: list[str] = []
    series = train_series([L2], tmp_path, device="cpu", quiet=True, threads=1, say=said.append)
    assert said[0] == f"1 of 1: digits-l2, from step {cut.step}"
    assert series.states["digits-l2"].done and series.states["digits-l2"].step == 6
    loop.train(L2.config, tmp_path / "straight", device="cpu", quiet=True, threads=1)
    assert_same(tmp_path / L2.name, tmp_path / "straight")


def test_a_time_limit_holds_for_the_whole_list_and_what_is_left_is_said(tmp_path, monkeypatch):
    """By a clock that training steps alone move, each by half a second."""
    clock = [0.0]

    def in_half_a_second(*given):
        clock[0] += 0.5
        return take_step(*given)

    long = replace(L2, config=replace(L2.config, steps=100_000))
    train_series([DR], tmp_path, device="cpu", quiet=True)
    monkeypatch.setattr(loop, "take_step", in_half_a_second)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    series = train_series([DR, long, CNN], tmp_path, device="cpu", quiet=True, time_limit=4.0)
    assert series.stopped == "time limit"
    assert series.states["digits-dr"].done and series.states["digits-cnn"] == State()
    step = series.states["digits-l2"].step
    assert step == 8 and not series.states["digits-l2"].done, "3.6 s, and the step that was under way"
    assert series.summary().splitlines() == [
        "Done: 1 of 3.",
        f"Cut off: digits-l2 (step {step}).",
        "Not begun: digits-cnn.",
        "Stopped (time limit); repeat the command to go on.",
    ]


def test_a_missing_data_set_does_not_keep_the_others_from_being_trained(tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_DATA", str(tmp_path))
    absent = Recipe("cifar10-dr", TrainingConfig("cifar10", "dr", "tiny", steps=6, batch=32))
    series = train_series([absent, CNN], tmp_path / "runs", device="cpu", quiet=True)
    assert series.states["digits-cnn"].done and not series.states["cifar10-dr"].done
    assert "capsviz data download cifar10" in series.failed["cifar10-dr"]
    assert "Left out: cifar10-dr." in series.summary() and "Not begun" not in series.summary()


def test_a_run_with_other_settings_is_left_alone_and_named(tmp_path):
    train_series([CNN], tmp_path, device="cpu", quiet=True)
    other = replace(CNN, config=replace(CNN.config, seed=3))
    series = train_series([other], tmp_path, device="cpu", quiet=True)
    assert "seed 0 and not 3" in series.failed["digits-cnn"]
    assert "other settings" in table([other], tmp_path)


def test_a_run_whose_checkpoint_is_damaged_is_called_so(tmp_path):
    loop.train(CNN.config, tmp_path / CNN.name, device="cpu", quiet=True, time_limit=1e-6)
    (tmp_path / CNN.name / CHECKPOINT).write_bytes(b"no tensors at all")
    listed, said = table([CNN], tmp_path).splitlines()
    assert listed.startswith("digits-cnn                 damaged  ") and CHECKPOINT in said


def test_a_run_with_a_setting_that_this_version_does_not_know_is_called_so(tmp_path):
    loop.train(CNN.config, tmp_path / CNN.name, device="cpu", quiet=True)
    summary = json.loads((tmp_path / CNN.name / SUMMARY).read_text())
    summary["training"]["colour"] = "blue"
    (tmp_path / CNN.name / SUMMARY).write_text(json.dumps(summary))
    listed, said = table([CNN], tmp_path).splitlines()
    assert listed.startswith("digits-cnn                 other version  ")
    assert "made by another version of capsviz (unknown setting 'colour'); train again" in said


def test_a_missing_device_stops_the_whole_list(tmp_path):
    with pytest.raises(DeviceError, match="choose one of"):
        train_series([DR, CNN], tmp_path, device="abacus", quiet=True)


@pytest.fixture
def short_list(monkeypatch):
    """A list of two trainings of a second each, in place of the long one."""
    monkeypatch.setattr(recipes, "LIST", (recipes.Row("digits", "tiny", ("l1-fc", "cnn"), {"steps": 6, "batch": 32}),))


def zoo(*words):
    return CliRunner().invoke(app, ["zoo", *(str(word) for word in words)])


def test_the_command_lists_trains_and_measures_the_spread(short_list, tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_RESULTS", str(tmp_path))
    runs = ("--out", tmp_path / "runs")
    listed = zoo("train", "--list", *runs)
    assert listed.output.count("not begun") == 2 and "capsviz train --data digits --routing l1" in listed.output
    assert not (tmp_path / "runs").exists()

    trained = zoo("train", "--seeds", 2, "--device", "cpu", *runs)
    assert trained.exit_code == 0, trained.output
    assert "Done: 4 of 4." in trained.output
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "digits-cnn", "digits-cnn-seed1", "digits-l1-fc", "digits-l1-fc-seed1",
    ]  # fmt: skip
    assert "%" in zoo("train", "digits-cnn", "--list", *runs).output

    result = zoo("seeds", *runs)
    assert result.exit_code == 0 and "(2 seeds)" in result.output
    rows = json.loads((tmp_path / "seeds.json").read_text())["rows"]
    assert [row["name"] for row in rows] == ["digits-cnn", "digits-l1-fc"]
    assert all(row["seeds"] == [0, 1] for row in rows)


def test_the_command_leaves_0_at_its_time_limit_and_1_where_a_model_was_left_out(short_list, tmp_path, monkeypatch):
    assert zoo("train", "--time-limit", "0.001s", "--out", tmp_path).exit_code == 0
    monkeypatch.setenv("CAPSVIZ_DATA", str(tmp_path))
    absent = (recipes.Row("cifar10", "tiny", ("dr",), {"steps": 6}),)
    monkeypatch.setattr(recipes, "LIST", absent)
    left_out = zoo("train", "--device", "cpu", "--out", tmp_path)
    assert left_out.exit_code == 1 and "capsviz data download cifar10" in left_out.output


def test_an_unknown_name_gets_one_sentence(tmp_path):
    assert "resnet" in refused("zoo", "train", "resnet", "--out", tmp_path)


def test_a_training_that_diverges_does_not_keep_the_others_from_being_trained(tmp_path):
    wild = Recipe("digits-dr", replace(DR.config, learning_rate=1e12))
    series = train_series([wild, CNN], tmp_path, device="cpu", quiet=True)
    assert "digits-dr" in series.failed and series.states["digits-cnn"].done


def test_a_step_that_does_not_fit_names_the_option_and_the_others_are_trained(tmp_path, monkeypatch):
    def full(config, *arguments):
        if config.routing == "dr":
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return take_step(config, *arguments)

    monkeypatch.setattr(loop, "take_step", full)
    series = train_series([DR, CNN], tmp_path, device="cpu", quiet=True)
    assert series.failed["digits-dr"].startswith("A step takes more memory than ")
    assert series.failed["digits-dr"].endswith(" smaller --batch under another --name.")
    assert series.states["digits-cnn"].done
