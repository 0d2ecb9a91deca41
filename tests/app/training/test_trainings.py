"""Trainings of visitors as processes: begun, read, and ended with their visitor, their server and their time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.training import trainings
from app.training.trainings import CLOSED, CONFIGS, FAILED, GONE, KILLED, STOPPED, Training, TrainingError, Trainings
from capsviz.analysis import exchange
from capsviz.data import DIGITS
from capsviz.network import CapsNet
from capsviz.routing import ALGORITHMS
from capsviz.training.config import TrainingConfig
from capsviz.training.recipes import recipes

FIRST = next(iter(CONFIGS))


def long(config: TrainingConfig) -> TrainingConfig:
    """More steps than any test waits for, with a checkpoint after each of 41."""
    return replace(config, epochs=5000)


def short(config: TrainingConfig) -> TrainingConfig:
    return replace(config, epochs=1)


def wait(question: Callable[[], object], seconds: float = 90) -> None:
    """Until something is so."""
    end = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.1)


def runs(process: int) -> bool:
    """Whether there is a process of this number that has not ended."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def left_over(process: int) -> bool:
    """Whether a process has ended and its parent has not asked how (Linux)."""
    try:
        said = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return said.rpartition(")")[2].split()[0] == "Z"


def nothing_left(training: Training) -> bool:
    return training.over and not runs(training.process) and not training.folder.exists()


@pytest.fixture
def there() -> set[str]:
    """The visitors whose connection stands."""
    return {"first", "second", "third"}


@pytest.fixture
def server(there: set[str]) -> Iterator[Trainings]:
    server = Trainings(connected=there.__contains__, adapt=long, grace=0.5)
    yield server
    server.close()


def test_each_algorithm_of_which_the_recipes_train_a_small_network_of_the_digits_can_be_trained():
    able = {
        recipe.config.routing
        for recipe in recipes()
        if recipe.config.data == DIGITS.name and recipe.config.preset == trainings.PRESET
    }
    assert set(CONFIGS) == able & ALGORITHMS.keys() and all(config.decoder for config in CONFIGS.values())


def test_a_training_is_read_while_it_runs_and_stopped_without_a_trace(server: Trainings):
    training = server.begin("first", FIRST)
    assert training.progress().lines == [] and training.network() is None
    wait(lambda: training.network())
    progress = training.progress()
    assert 0 < progress.step < (progress.total or 0) and (progress.seconds_left or 0) > 0
    assert {"loss", "margin", "reconstruction"} <= progress.lines[0].keys()
    assert isinstance(training.network(), CapsNet) and runs(training.process)
    training.stop(wait=True)
    assert nothing_left(training) and training.said == STOPPED and not training.content
    assert training.progress().step >= progress.step  # what was measured stays


@pytest.mark.parametrize("chosen", [None, "ACTIVE"])
def test_threads_of_a_training_leave_the_cores_to_others_unless_the_server_says_otherwise(
    server: Trainings, monkeypatch: pytest.MonkeyPatch, chosen: str | None
):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if chosen:
        monkeypatch.setenv("OMP_WAIT_POLICY", chosen)
    training = server.begin("first", FIRST)
    wait(lambda: training.process)
    environment = Path(f"/proc/{training.process}/environ").read_bytes().decode().split("\0")
    assert f"OMP_WAIT_POLICY={chosen or 'PASSIVE'}" in environment


def test_the_model_is_one_that_the_sidebar_would_take(there: set[str]):
    server = Trainings(connected=there.__contains__, adapt=short)
    training = server.begin("first", FIRST)
    wait(lambda: training.over, 180)
    assert nothing_left(training) and not training.said
    found = exchange.read(training.content, training.file)
    assert found.entry.routing == FIRST and found.entry.data == DIGITS.name
    exchange.check_runs(found)
    assert found.entry.curves == ""


def test_one_for_each_visitor_and_two_at_a_time(server: Trainings):
    first = server.begin("first", FIRST)
    with pytest.raises(TrainingError, match="for you already; stop it, or wait"):
        server.begin("first", FIRST)
    server.begin("second", FIRST)
    with pytest.raises(TrainingError, match="2 networks are being trained on this server; try again"):
        server.begin("third", FIRST)
    first.stop(wait=True)
    assert server.begin("third", FIRST).visitor == "third"


def test_a_training_ends_with_its_visit(server: Trainings, there: set[str]):
    training, other = server.begin("first", FIRST), server.begin("second", FIRST)
    wait(lambda: training.process and other.process)
    there.remove("first")
    wait(lambda: training.over)
    assert nothing_left(training) and training.said == GONE and not other.over


def test_a_training_ends_with_its_time(there: set[str]):
    server = Trainings(connected=there.__contains__, adapt=long, limit=1)
    training = server.begin("first", FIRST)
    wait(lambda: training.over)
    assert nothing_left(training) and "took longer than" in training.said


def test_all_end_with_the_server(server: Trainings):
    both = [server.begin("first", FIRST), server.begin("second", FIRST)]
    wait(lambda: all(training.process for training in both))
    server.close()
    assert all(nothing_left(training) and training.said == CLOSED for training in both)


def test_a_killed_training_is_one_sentence(server: Trainings, caplog: pytest.LogCaptureFixture):
    training = server.begin("first", FIRST)
    wait(lambda: training.progress().lines)
    os.kill(training.process, signal.SIGKILL)
    wait(lambda: training.over)
    assert nothing_left(training) and training.said == KILLED and training.config.name in caplog.text


def test_a_diverged_training_is_one_sentence(there: set[str]):
    def wild(config: TrainingConfig) -> TrainingConfig:
        return replace(config, learning_rate=1e30)

    training = Trainings(connected=there.__contains__, adapt=wild).begin("first", FIRST)
    wait(lambda: training.over)
    assert nothing_left(training) and training.said.startswith("This training diverged: ")
    assert "a smaller learning rate than 1e+30, by `capsviz train --data digits" in training.said


def test_a_training_that_fails_otherwise_points_to_the_log(there: set[str], caplog: pytest.LogCaptureFixture):
    def unreadable(config: TrainingConfig) -> TrainingConfig:
        return replace(config, data="folder:nowhere")

    training = Trainings(connected=there.__contains__, adapt=unreadable).begin("first", FIRST)
    wait(lambda: training.over)
    assert nothing_left(training) and training.said == FAILED and "nowhere" in caplog.text


BEGIN = """
import time
from dataclasses import replace
from app.training.trainings import CONFIGS, Trainings
server = Trainings(connected=lambda visitor: True, adapt=lambda config: replace(config, epochs=5000))
training = server.begin("first", next(iter(CONFIGS)))
while not training.progress().lines:
    time.sleep(0.1)
print(training.process, flush=True)
time.sleep(600)
"""


def test_a_training_ends_where_its_server_is_killed(tmp_path: Path):
    variables = {**os.environ, "TMPDIR": str(tmp_path)}  # where the folder stays
    with subprocess.Popen(
        [sys.executable, "-c", BEGIN], cwd=trainings.ROOT, env=variables, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        process = int(server.stdout.readline())
        assert runs(process) and not left_over(process)
        server.kill()
    # Whoever takes it over may never ask, such as the first process of a container.
    wait(lambda: not runs(process) or left_over(process), 30)
