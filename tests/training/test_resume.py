"""Runs that are cut off, in processes of their own, and what --resume makes of them."""

import errno
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.summary.writer import event_file_writer

from capsviz.data import load
from capsviz.device import processor
from capsviz.files import CheckpointError, WriteError, read_tensors, write_tensors
from capsviz.training import loop, processes, step
from capsviz.training.config import TrainingConfig
from capsviz.training.evaluate import evaluate
from capsviz.training.journal import Journal, read_metrics
from capsviz.training.running_means import RunningMeans
from capsviz.training.runs import open_run
from tests.known import known
from tests.programs import ROOT
from tests.weights import assert_same

pytestmark = pytest.mark.long

CONFIG = TrainingConfig("digits", "l2", "tiny", epochs=14, batch=128, shift=2, schedule="one-cycle")


@pytest.fixture
def one_thread():
    """The same number of threads as the processes under test: sums depend on how they are split."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_a_folder_may_be_named_by_text(tmp_path):
    outcome = loop.train(replace(CONFIG, steps=1), str(tmp_path / "run"), device="cpu", quiet=True)
    assert outcome.folder == tmp_path / "run" and outcome.summary


def started(folder: Path) -> subprocess.Popen:
    words = CONFIG.command().split()[1:]
    options = ["--name", folder.name, "--out", str(folder.parent), "--resume", "--device", "cpu", "--threads", "1"]
    return subprocess.Popen(
        [sys.executable, "-m", "capsviz", *words, *options],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def cut_off(folder: Path, number: signal.Signals) -> tuple[int, str]:
    """Start or resume a run, send a signal once it has written a newer checkpoint; exit code and stderr."""
    checkpoint = folder / "checkpoint.safetensors"
    before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
    process = started(folder)
    while not (checkpoint.exists() and checkpoint.stat().st_mtime_ns > before):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.002)
    process.send_signal(number)
    _, errors = process.communicate(timeout=300)
    return process.returncode, errors


def terminate(line: dict) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def position(folder: Path) -> int:
    return read_tensors(folder / "checkpoint.safetensors")[1]["step"]


@pytest.mark.timeout(600)
def test_a_run_cut_off_three_times_ends_in_the_weights_of_an_uninterrupted_one(tmp_path, one_thread):
    folder = tmp_path / "cut"

    code, _ = cut_off(folder, signal.SIGKILL)
    assert code == -signal.SIGKILL
    killed_at = position(folder)

    code, errors = cut_off(folder, signal.SIGINT)
    assert code == 130
    assert "--resume" in errors.splitlines()[-1] and "Traceback" not in errors
    interrupted_at = position(folder)
    model, header = open_run(folder)
    assert header["name"] == "digits-l2"
    assert evaluate(model, load("digits", "test")).error < 80, "the checkpoint that Ctrl-C leaves is a usable network"

    def at_an_epoch(line: dict) -> None:
        if line["kind"] == "epoch":
            terminate(line)

    handler = signal.getsignal(signal.SIGTERM)
    outcome = loop.train(CONFIG, folder, resume=True, device="cpu", quiet=True, watch=at_an_epoch)
    assert outcome.stopped == "SIGTERM" and outcome.step == position(folder)
    assert signal.getsignal(signal.SIGTERM) == handler
    assert 0 < killed_at < interrupted_at < outcome.step < 140

    resumed = loop.train(CONFIG, folder, resume=True, device="cpu", quiet=True)
    straight = loop.train(CONFIG, tmp_path / "straight", device="cpu", quiet=True)
    assert_same(resumed.folder, straight.folder)
    assert known(resumed.summary)["test_error"] == known(straight.summary)["test_error"]


def test_running_statistics_and_averaged_weights_are_exact_on_resume(tmp_path, one_thread):
    config = TrainingConfig(
        "digits", "l2", "residual", steps=6, batch=32, rotate=10.0, scale=0.1, shear=5.0, weight_decay=0.01,
        average=0.9, precision="32-true",
    )  # fmt: skip
    straight = loop.train(config, tmp_path / "straight", device="cpu", quiet=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(loop, "METRICS_EVERY", 3)
        cut = loop.train(config, tmp_path / "cut", device="cpu", quiet=True, watch=terminate)
    assert cut.step == 3
    resumed = loop.train(config, tmp_path / "cut", resume=True, device="cpu", quiet=True)
    assert any(name.endswith("running_var") for name in open_run(straight.folder)[0].state_dict())
    assert_same(resumed.folder, straight.folder)
    assert known(resumed.summary)["test_error"] == known(straight.summary)["test_error"]


def test_a_run_goes_on_in_the_precision_that_it_began_in_and_says_it(tmp_path, monkeypatch):
    config = TrainingConfig("digits", "l2", "tiny", steps=4, batch=32)
    monkeypatch.setattr(loop, "METRICS_EVERY", 2)
    monkeypatch.setattr(processes, "precision_on", lambda device: "bf16-mixed")
    cut = loop.train(config, tmp_path, device="cpu", quiet=True, watch=terminate)
    assert cut.step == 2 and read_tensors(tmp_path / "checkpoint.safetensors")[1]["precision"] == "bf16-mixed"
    monkeypatch.setattr(processes, "precision_on", lambda device: "32-true")
    summary = known(loop.train(config, tmp_path, resume=True, device="cpu", quiet=True).summary)
    assert (summary["precision"], summary["machine"]) == ("bf16-mixed", processor())


def test_a_run_goes_on_with_the_factor_of_its_loss_where_there_is_one(tmp_path, monkeypatch):
    """Of 16-mixed, which wants a GPU: here a scaler lies beside a precision without one."""
    config = TrainingConfig("digits", "l2", "tiny", steps=3, batch=32)
    scalers: list[torch.amp.GradScaler] = []

    def scaling(*given):
        fabric = processes.launch(*given)
        scalers.append(torch.amp.GradScaler("cpu", init_scale=2.0 ** (10 + len(scalers)), growth_interval=7))
        monkeypatch.setattr(fabric.strategy.precision, "state_dict", scalers[-1].state_dict)
        monkeypatch.setattr(fabric.strategy.precision, "load_state_dict", scalers[-1].load_state_dict)
        return fabric

    monkeypatch.setattr(loop, "launch", scaling)
    assert loop.train(config, tmp_path, device="cpu", quiet=True, time_limit=1e-6).stopped == "time limit"
    loop.train(config, tmp_path, resume=True, device="cpu", quiet=True)
    begun, resumed = scalers
    assert begun.get_scale() == resumed.get_scale() == 1024
    assert type(resumed.get_growth_interval()) is int


def test_metrics_after_a_resume_are_those_of_an_uninterrupted_run(tmp_path, monkeypatch, one_thread):
    """A line is a mean over steps, and the run is cut off amid them."""
    config = TrainingConfig("digits", "l2", "tiny", steps=9, batch=32)
    monkeypatch.setattr(loop, "METRICS_EVERY", 4)
    straight = loop.train(config, tmp_path / "straight", device="cpu", quiet=True)
    steps, take_step = count(1), step.take_step

    def sixth_is_the_last(*given):
        if next(steps) == 6:
            os.kill(os.getpid(), signal.SIGTERM)
        return take_step(*given)

    monkeypatch.setattr(loop, "take_step", sixth_is_the_last)
    assert loop.train(config, tmp_path / "cut", device="cpu", quiet=True).step == 6
    resumed = loop.train(config, tmp_path / "cut", resume=True, device="cpu", quiet=True)

    def told(folder: Path) -> list[dict]:
        clock = ("seconds", "images_per_second")
        return [{name: line[name] for name in line if name not in clock} for line in read_metrics(folder)]

    assert told(resumed.folder) == told(straight.folder)
    assert [line["step"] for line in told(resumed.folder)] == [4, 8, 9, 9]
    assert {**known(resumed.summary), "seconds": 0} == {**known(straight.summary), "seconds": 0}


@pytest.mark.parametrize(
    "damaged",
    [
        {"window/sums": torch.ones(2), "window/steps": torch.tensor(1)},
        {"window/sums": torch.full((3,), math.nan), "window/steps": torch.tensor(1)},
        {"window/sums": torch.ones(3), "window/steps": torch.tensor(0)},
        {"window/sums": torch.ones(3), "window/steps": torch.ones(2)},
        {"window/sums": torch.ones(1, 1, 3), "window/steps": torch.tensor(1)},
    ],
)
def test_a_checkpoint_whose_losses_are_no_sums_gets_one_sentence(damaged):
    with pytest.raises(CheckpointError, match=r"^The losses in the checkpoint are no sums over steps; train"):
        RunningMeans().restore(damaged, SimpleNamespace(device=torch.device("cpu")))


def test_a_write_that_fails_midway_leaves_the_checkpoint_of_before(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint.safetensors"
    write_tensors(path, {"model/x": torch.ones(3)}, {"step": 1})
    full_disk = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr("capsviz.files.os.fsync", Mock(side_effect=full_disk))
    with pytest.raises(WriteError, match=r"No space left on device.*make room and try again"):
        write_tensors(path, {"model/x": torch.zeros(3)}, {"step": 2})
    assert list(tmp_path.iterdir()) == [path]
    tensors, header = read_tensors(path)
    assert header["step"] == 1 and tensors["model/x"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("start", [0, 50])
def test_tensorboard_draws_no_step_that_is_done_again(tmp_path, monkeypatch, start):
    # Files of one second are told apart by this number, and read in the order of their names.
    monkeypatch.setattr(event_file_writer, "_global_uid", event_file_writer.AtomicCounter(0))
    losses = dict.fromkeys((50, 100), 2.0), dict.fromkeys((start + 50,), 1.0)
    for begun, kept in zip((0, start), losses, strict=True):
        journal = Journal(tmp_path, start=begun, total=100, quiet=True)
        for reached, loss in kept.items():
            journal.write("train", {"step": reached, "loss": loss})
        journal.close()
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    drawn = [(event.step, event.value) for event in events.Scalars("train/loss")]
    assert drawn == [(line["step"], line["loss"]) for line in read_metrics(tmp_path)]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device here that is always full")
def test_metrics_that_find_no_room_are_told_in_one_sentence(tmp_path):
    journal = Journal(tmp_path, start=0, total=2, quiet=True)
    journal.file.close()
    journal.file = Path("/dev/full").open("a", encoding="utf-8", buffering=1)  # noqa: SIM115
    for tried in (lambda: journal.write("train", {"step": 1}), journal.close):
        with pytest.raises(WriteError, match=rf"^{tmp_path} could not be written \(No space .*; make room and try ag"):
            tried()
    assert journal.file.closed


@pytest.mark.parametrize("content", [b"", b"no tensors at all", b"\xff" * 64])
def test_a_damaged_checkpoint_gets_one_sentence(tmp_path, content):
    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="damaged") as caught:
        read_tensors(path)
    assert "\n" not in str(caught.value)


def test_a_truncated_checkpoint_gets_one_sentence(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    write_tensors(path, {"model/x": torch.ones(1000)}, {"step": 1})
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(CheckpointError, match="cut short"):
        read_tensors(path)


def test_tensors_of_another_program_and_a_missing_file_are_told_apart(tmp_path):
    from safetensors.torch import save_file

    save_file({"x": torch.ones(1)}, tmp_path / "foreign.safetensors")
    with pytest.raises(CheckpointError, match="not written by capsviz"):
        read_tensors(tmp_path / "foreign.safetensors")
    with pytest.raises(CheckpointError, match="There is no file"):
        read_tensors(tmp_path / "absent.safetensors")
    with pytest.raises(CheckpointError, match="neither"):
        open_run(tmp_path)
