"""The command line, as a person meets it."""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import fields
from functools import partial
from importlib.metadata import version
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from capsviz import Trace, data
from capsviz.commands import main, models
from capsviz.commands.main import app
from capsviz.data import DatasetMissing, load
from capsviz.errors import CapsvizError, listed
from capsviz.network import METHODS
from capsviz.routing import ALGORITHMS
from capsviz.terminal import duration
from capsviz.training import loop
from capsviz.training.config import OPTIONS, SettingsError, TrainingConfig
from capsviz.training.loop import train
from capsviz.training.recipes import recipes
from tests import zoos
from tests.known import single_digits
from tests.programs import ROOT, command, printed, python, refused

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """The folder of a run of a few seconds."""
    config = TrainingConfig("digits", "dr", "tiny", epochs=3, batch=32)
    return train(config, tmp_path_factory.mktemp("runs") / "digits-dr", device="cpu", quiet=True).folder


@pytest.fixture(scope="module")
def zoo_folder(run, tmp_path_factory) -> Path:
    """A zoo with this one model in it."""
    folder = tmp_path_factory.mktemp("zoo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAPSVIZ_ZOO", str(folder))
        assert "test error" in command("zoo", "add", run).output
    return folder


@pytest.fixture
def here(zoo_folder, monkeypatch) -> Path:
    """That zoo, of which the command line knows; its folder."""
    monkeypatch.setenv("CAPSVIZ_ZOO", str(zoo_folder))
    return zoo_folder


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("9m", 540), ("1.5h", 5400)])
def test_a_length_of_time_may_be_written_as_people_write_it(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-3m", "0", "9 d"])
def test_a_length_of_time_that_is_none_gets_one_sentence(text):
    with pytest.raises(CapsvizError, match="9m"):
        duration(text)


def test_an_error_is_one_sentence_on_stderr_and_no_traceback(tmp_path):
    finished = python("-m", "capsviz", "evaluate", "--model", tmp_path / "nothing.safetensors")
    assert finished.returncode == 1
    assert finished.stdout == ""
    assert len(finished.stderr.strip().splitlines()) == 1 and "There is no file" in finished.stderr


@pytest.mark.parametrize(
    ("said", "words", "settings"),
    [
        ("γ", ["experiment", "show", "ascent"], {"PYTHONIOENCODING": "cp1252"}),
        ("1×28×28", ["data", "list"], {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}),
    ],
)
def test_what_is_said_is_utf8_whatever_the_system_writes(said, words, settings):
    command = [sys.executable, "-m", "capsviz", *words]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | settings, capture_output=True, timeout=300)
    assert said.encode() in done.stdout and done.stderr == b""


def test_main_turns_an_error_into_its_sentence(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["capsviz", "train", "--data", "digits", "--routing", "magic"])
    with pytest.raises(SystemExit) as left:
        main.main()
    assert left.value.code == 1
    assert capsys.readouterr().err == f"routing is 'magic'; choose one of {', '.join(METHODS)}.\n"


@pytest.mark.parametrize("words", [[], ["data"], ["zoo"], ["experiment"]])
def test_help_answers_before_anything_heavy_is_imported(words):
    code = """
import sys
from capsviz.__main__ import main
sys.argv[1:] += ["--help"]
try:
    main()
finally:
    print({"torch", "numpy", "torchvision", "sklearn", "streamlit", "plotly", "capsviz.routing"} & sys.modules.keys())
"""
    *text, heavy = printed(code, *words).strip().splitlines()
    assert "Usage: " in "".join(text) and heavy == "set()"


@pytest.mark.parametrize(
    "words",
    [
        ["zoo", "measure", "--threads", str(10**30)],
        ["zoo", "train", "--list", "--seeds", str(2**63)],
        ["experiment", "ascent", "--seeds", str(2**63)],
    ],
)
def test_more_than_a_machine_can_do_is_refused_before_anything_is_done(words):
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2 and "less than or equal to" in " ".join(result.output.split())


def test_a_list_of_models_refuses_what_is_said_of_a_training():
    said = refused("zoo", "train", "--list", "--device", "cuda", "--time-limit", "9m")
    assert said == "--list trains nothing; leave out --device and --time-limit."


@pytest.mark.parametrize("words", [["train"], ["zoo", "train"], ["experiment", "iterations"]])
def test_every_time_limit_is_written_as_people_write_it(words):
    assert refused(*words, "--time-limit", "soon").endswith("write it like 90s, 9m or 1.5h.")
    command(*words, "--time-limit", "9m", "--help")


def test_the_version_is_that_of_the_package():
    assert command("--version").output == f"capsviz {version('capsviz')}\n"


@pytest.mark.parametrize("name", ["../x", ".", "a/../../x", "/tmp/x"])
def test_a_run_is_kept_below_its_folder(tmp_path, name):
    said = refused("train", "--data", "digits", "--routing", "dr", "--out", tmp_path / "runs", "--name", name)
    assert f"--name {name} is no folder below {tmp_path}/runs; give" in said
    assert not list(tmp_path.iterdir())


def test_help_names_every_command():
    text = command("--help").output
    names = ("app", "train", "evaluate", "trace", "data", "zoo", "experiment", "benchmark")
    assert all(f"│ {name} " in text for name in names)


def test_the_help_of_training_names_every_method_and_for_whom_its_options_are():
    text = " ".join(command("train", "--help").output.replace("│", " ").split())
    assert f"{', '.join(ALGORITHMS)}; without capsules: cnn." in text
    iterating = listed([each.short for each in ALGORITHMS.values() if each.iterates])
    assert f"{iterating}: routing iterations" in text and "L1: soft threshold" in text


def test_the_help_of_training_has_every_setting_with_its_default(monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    lines = command("train", "--help").output.splitlines()
    rows = {line.replace("*", " ").split()[1]: line for line in lines if " --" in line}
    for each in fields(TrainingConfig):
        row = rows[OPTIONS[each.name]]
        valued = each.metadata.get("help") and each.default is not None and not isinstance(each.default, bool)
        assert each.metadata.get("help", "") in row
        assert (f"[default: {each.default}]" in row) if valued else ("[default" not in row)


def test_the_command_of_every_recipe_asks_for_its_training(monkeypatch):
    asked: list[TrainingConfig] = []

    def asking(config: TrainingConfig, folder: Path, **_: object) -> loop.Outcome:
        asked.append(config)
        return loop.Outcome(folder, 0, "", None)

    monkeypatch.setattr(loop, "train", asking)
    wanted = [recipe.config for recipe in recipes()]
    for config in wanted:
        command(*shlex.split(config.command())[1:])
    assert asked == wanted


@pytest.mark.parametrize("step", ["0.1", "0.005"])
def test_an_option_for_other_methods_is_refused_by_the_command_too_even_as_it_is_by_default(step):
    words = ("train", "--data", "digits", "--routing", "dr", "--gamma", step)
    assert "learn b" in refused(*words, error=SettingsError)


def test_evaluate_agrees_with_the_manifest(here):
    result = command("evaluate", "--model", "digits-dr", "--data", "digits")
    stated = zoos.rows(here)["digits-dr"]["test_error"]
    assert f"error {stated:.2f} %" in result.output and "it agrees" in result.output


def test_evaluate_says_so_when_the_manifest_states_another_error(here):
    stated = zoos.rows(here)["digits-dr"]
    try:
        zoos.state(here, stated | {"test_error": stated["test_error"] + 1})
        assert "disagrees" in refused("evaluate", "--model", "digits-dr")
    finally:
        zoos.state(here, stated)


def test_evaluate_takes_a_runs_folder(here, run):
    result = command("evaluate", "--model", run)
    expected = json.loads((run / "summary.json").read_text())["test_error"]
    assert f"error {expected:.2f} %" in result.output and "manifest" not in result.output


def test_evaluate_refuses_images_that_the_model_cannot_take(here, monkeypatch):
    wide = data.MultiDigits(single_digits())
    monkeypatch.setattr(data, "load", lambda *_, **__: wide)
    assert "choose another --data" in refused("evaluate", "--model", "digits-dr", "--data", "multi-mnist")


def test_trace_records_a_picture_in_one_file_that_opens_again(here, tmp_path):
    digit = load("digits", "test").images[0, 0]
    Image.fromarray(digit.numpy()).save(tmp_path / "digit.png")
    result = command("trace", tmp_path / "digit.png", "-o", tmp_path / "digit.safetensors", "--model", "digits-dr")
    opened = Trace.open(tmp_path / "digit.safetensors")
    assert opened.name == "digits-dr"
    torch.testing.assert_close(opened.images[0, 0], digit / 255)
    assert f"sees {opened.classes[int(opened.predicted[0])]}" in result.output
    for name in ("new/board.html", "newer/digit.safetensors"):
        command("trace", tmp_path / "digit.png", "-o", tmp_path / name, "--model", "digits-dr")
        assert (tmp_path / name).is_file(), "its folder is made"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("d.png", "-o", "y.html", "--no-votes"), "A board is made of the votes; leave out --no-votes."),
        (("d.png", "-o", "y", "--float16"), "--float16 is for a data set (--data); leave it out."),
        (("d.png", "-o", "y", "--batch", "128"), "--batch is for a data set (--data); leave it out."),
        (("--data", "digits", "-o", "y", "--no-invert"), "--invert is for a picture; leave it out."),
        (
            ("--data", "digits", "-o", "y", "--model", "digits-l2", "--iterations", "7"),
            "The routing of digits-l2 does not iterate; leave out the iterations.",
        ),
    ],
)
def test_trace_refuses_options_that_it_would_ignore(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refused("trace", *words) == said
    assert not list(tmp_path.iterdir())


def test_trace_of_what_is_no_picture_says_so(here, tmp_path):
    (tmp_path / "words.png").write_text("no picture")
    assert refused("trace", tmp_path / "words.png", "-o", tmp_path / "out.safetensors", "--model", "digits-dr")
    assert not (tmp_path / "out.safetensors").exists()


def test_data_list_names_every_set_and_how_to_fetch_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_DATA", str(tmp_path))
    text = command("data", "list").output
    lines = {line.split()[0]: line for line in text.splitlines()[1:]}
    assert lines["digits"].endswith("here")
    assert "capsviz data download mnist" in lines["mnist"]


def test_data_download_of_what_is_here_fetches_nothing():
    assert "comes with capsviz" in command("data", "download", "digits").output


def test_zoo_list_and_verify_know_the_model(here):
    assert "digits-dr" in command("zoo", "list").output
    command("zoo", "verify")


def test_zoo_verify_names_an_altered_file(here):
    weights = here / "digits-dr.safetensors"
    content = weights.read_bytes()
    try:
        weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        result = CliRunner().invoke(app, ["zoo", "verify"])
    finally:
        weights.write_bytes(content)
    assert result.exit_code == 1 and "digits-dr.safetensors" in result.output


def test_zoo_measure_keeps_what_a_model_does_with_every_image_and_does_it_once(here):
    result = command("zoo", "measure")
    assert f"digits-dr: error {zoos.rows(here)['digits-dr']['test_error']:.2f} %" in result.output
    assert (here / "measured" / "digits-dr.safetensors").is_file()
    assert "Every model has been measured" in command("zoo", "measure").output
    assert "digits-dr: error" in command("zoo", "measure", "digits-dr").output


def test_zoo_measure_of_an_unknown_model_names_the_known_ones(here):
    assert "digits-dr" in refused("zoo", "measure", "nope")


def test_zoo_measure_leaves_out_what_cannot_be_measured_here(here, monkeypatch):
    (here / "measured" / "digits-dr.safetensors").unlink(missing_ok=True)
    monkeypatch.setattr("capsviz.data.load", Mock(side_effect=DatasetMissing("It is not here.")))
    assert "digits-dr is left out: It is not here." in command("zoo", "measure").output
    refused("zoo", "measure", "digits-dr", error=DatasetMissing)


def test_zoo_add_wants_a_finished_run(here, tmp_path):
    said = partial(refused, "zoo", "add")
    assert said(tmp_path).startswith(f"{tmp_path} holds no run; give the folder of a finished one")
    assert said(tmp_path / "nope").startswith(f"{tmp_path}/nope is no folder of a run; give")
    (tmp_path / "00.png").touch()
    assert said(tmp_path / "00.png").startswith(f"{tmp_path}/00.png is no folder of a run; give")
    (tmp_path / "checkpoint.safetensors").touch()
    assert said(tmp_path) == f"The run in {tmp_path} is not finished; go on with it with --resume first."


def test_a_zoo_without_models_says_how_one_comes_into_it(monkeypatch, tmp_path):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
    assert command("zoo", "list").output.startswith(f"No model is in {tmp_path}; train one")


def test_train_reports_the_test_error_and_refuses_to_overwrite(tmp_path):
    words = ("train", "--data", "digits", "--routing", "l1", "--preset", "tiny", "--steps", "3", "--no-decoder")
    assert "digits-l1-fc: test error" in command(*words, "--out", tmp_path, "--device", "cpu").output
    assert "already holds a run" in refused(*words, "--out", tmp_path, "--device", "cpu")


def test_a_training_has_one_length_and_one_that_cannot_go_on_says_that_it_begins(tmp_path):
    words = ("train", "--data", "digits", "--routing", "l1", "--preset", "tiny", "--steps", "3", "--out", tmp_path)
    said = refused(*words, "--epochs", "2")
    assert said == "--epochs and --steps both say how long; leave out one of them."
    assert not list(tmp_path.iterdir())
    for begins in (True, False):
        result = command(*words, "--device", "cpu", "--resume", "--name", "mine")
        assert (f"There is no run in {tmp_path / 'mine'} to go on with; it begins." in result.stderr) is begins


def test_train_of_a_missing_data_set_says_which_command_fetches_it(tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_DATA", str(tmp_path))
    said = refused("train", "--data", "mnist", "--routing", "dr", "--out", tmp_path / "runs", "--device", "cpu")
    assert "capsviz data download mnist" in said
    assert not (tmp_path / "runs").exists()


def test_a_data_set_is_recorded_by_its_own_model_of_dynamic_routing():
    chosen = {data: models.usual_model(data) for data in (None, "digits", "mnist", "fashion-mnist", "cifar10")}
    assert chosen == {
        None: "digits-dr",
        "digits": "digits-dr",
        "mnist": "mnist-dr-residual",
        "fashion-mnist": "fashion-mnist-dr-residual",
        "cifar10": "cifar10-dr-residual",
    }
    with pytest.raises(CapsvizError, match=r"No model of folder:leaves by dynamic routing is in .*/pretrained; name"):
        models.usual_model("folder:leaves")
