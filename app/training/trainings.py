"""Trainings that visitors began: a process each, none of which outlives its visitor, the server or its time."""

from __future__ import annotations

import atexit
import json
import logging
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamlit import runtime

from app.server import endings
from capsviz.analysis.exchange import SUFFIX
from capsviz.data import DIGITS
from capsviz.errors import CapsvizError
from capsviz.files import CheckpointError
from capsviz.network import CapsNet
from capsviz.routing import ALGORITHMS
from capsviz.training.config import TrainingConfig
from capsviz.training.journal import read_metrics
from capsviz.training.loop import Diverged
from capsviz.training.recipes import recipes
from capsviz.training.runs import open_run

ROOT = Path(__file__).resolve().parents[2]
PRESET = "tiny"
MOST = 2
"""Trainings at a time, of all visitors."""
LIMIT = 900.0
"""Seconds that one may take."""
GRACE = 20.0
"""Seconds for which a visitor's connection may be away."""
PATIENCE = 10.0
"""Seconds for a process to end when it is asked to."""
NICE = 10
STOPPED = "You stopped this training; train again whenever you like."
FAILED = (
    "The training ended before its time and left no network, and the server's log says why; train again, or choose "
    "another algorithm."
)
KILLED = (
    "The system ended this training before its time, as it does where memory runs out; train again when less is going "
    "on on this machine."
)
DIVERGED = (
    "This training diverged: steps of its weights were too large, its loss is no number any more, and no network is "
    "left. It would do so again: choose another algorithm, or train outside of the app with a smaller learning rate "
    "than {rate:g}, by `{command}` with another --lr."
)
LATE = "The training took longer than the {:.0f} minutes that it may take here; train again when less is going on."
GONE = "The visitor has left, and the training ended with their visit."
CLOSED = "The server is closing, and the training ended with it; train again when it is back."

YIELDING = {"OMP_WAIT_POLICY": "PASSIVE"}
"""Threads that have nothing to do sleep: spinning, they took the cores from the server and from each other, and beside
other work on two cores a training took five times as long.
"""

CONFIGS: dict[str, TrainingConfig] = {
    recipe.config.routing: recipe.config
    for name in ALGORITHMS
    for recipe in recipes()
    if recipe.config.routing == name
    and (recipe.config.data, recipe.config.preset, recipe.config.decoder) == (DIGITS.name, PRESET, True)
}
"""By its algorithm, how a small network of the digits is trained."""


class TrainingError(CapsvizError):
    """A training cannot begin now."""


@dataclass(frozen=True)
class Progress:
    """How far a training is: its steps, the seconds left where that can be told, and the lines of its metrics."""

    step: int
    total: int | None
    seconds_left: float | None
    lines: list[dict[str, Any]]


def connected(visitor: str) -> bool:
    """Whether a browser holds the connection of a session."""
    return runtime.exists() and runtime.get_instance().is_active_session(visitor)


class Training:
    """A network that is being trained for one visitor, in a folder and by processes that end with it.

    `said` is why it ended without a model, `content` the model as `capsviz zoo export` writes it.
    """

    def __init__(
        self, visitor: str, config: TrainingConfig, connected: Callable[[str], bool], limit: float, grace: float
    ) -> None:
        self.visitor, self.config, self.limit = visitor, config, limit
        self.said, self.content, self.process = "", b"", 0
        self.folder = Path(tempfile.mkdtemp(prefix="capsviz-training-"))
        self._connected, self._grace = connected, grace
        self._began = self._seen = time.monotonic()
        self._asked, self._why = threading.Event(), ""
        self._files, self._kept = threading.Lock(), Progress(0, config.steps, None, [])
        self._thread = threading.Thread(target=self._run, name=f"training {config.name}", daemon=True)
        self._thread.start()

    @property
    def file(self) -> str:
        """What the model is called as a file."""
        return self.config.name + SUFFIX

    @property
    def over(self) -> bool:
        """Whether nothing of it runs any more."""
        return not self._thread.is_alive()

    @property
    def stopping(self) -> bool:
        """Whether it was asked to end."""
        return self._asked.is_set()

    def stop(self, why: str = STOPPED, *, wait: bool = False) -> None:
        """Ask it to end; wait: until it has."""
        self._why = self._why or why
        self._asked.set()
        if wait:
            self._thread.join()

    def progress(self) -> Progress:
        """How far it is, read from its metrics; after its end as it was then. Raises CheckpointError."""
        with self._files:
            if not self.folder.is_dir():
                return self._kept
            lines = read_metrics(self._folder)
        if not lines:
            return self._kept
        last = lines[-1]
        total = self.config.steps or round(self.config.epochs * last["step"] / last["epoch"])
        left = last["seconds"] / last["step"] * (total - last["step"])
        self._kept = Progress(last["step"], total, left, lines)
        return self._kept

    def network(self) -> CapsNet | None:
        """The network of its last checkpoint; None before the first one and after the end. Raises CheckpointError."""
        with self._files:
            if not any(self._folder.glob("*.safetensors")):
                return None
            try:
                network, _ = open_run(self._folder)
            except (CheckpointError, FileNotFoundError):
                if self._folder.joinpath("summary.json").is_file():
                    return None  # the last checkpoint has just made room for the final weights
                raise
        assert isinstance(network, CapsNet)
        return network

    @property
    def _folder(self) -> Path:
        return self.folder / self.config.name

    def _run(self) -> None:
        name, limit = self.config.name, f"{self.limit:g}s"
        zoo = self.folder / "zoo"
        train = [*shlex.split(self.config.command())[1:], "--out", str(self.folder), "--name", name]
        steps = (
            [*train, "--threads", "1", "--time-limit", limit],
            ["zoo", "add", str(self._folder)],
            ["zoo", "export", name, "-o", str(self.folder / self.file)],
        )
        try:
            zoo.mkdir()
            (zoo / "manifest.json").write_text(json.dumps({"models": []}))
            for words in steps:
                self.said = self._ended(words, {"CAPSVIZ_ZOO": str(zoo)})
                if self.said:
                    return
            self.content = (self.folder / self.file).read_bytes()
        finally:
            if not self.content:
                self.said = self.said or FAILED
            try:
                self.progress()
            finally:
                with self._files:
                    shutil.rmtree(self.folder)

    def _ended(self, words: list[str], variables: dict[str, str]) -> str:
        """Run a command of capsviz to its end; why there is nothing to go on with, or ""."""
        log = self.folder / "log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "app.training.child_process", *words],
                cwd=ROOT,
                env={**YIELDING, **os.environ, **variables},
                stdin=subprocess.PIPE,  # which closes when this server is gone
                stdout=file,
                stderr=file,
            )
        self.process = process.pid
        try:
            if hasattr(os, "setpriority"):
                os.setpriority(os.PRIO_PROCESS, process.pid, NICE)
            while process.poll() is None:
                if why := self._reason():
                    return why
                self._asked.wait(0.25)
            if process.returncode:
                logging.getLogger(__name__).error("%s: %s", self.config.name, log.read_text(errors="replace"))
            return self._failed(process.returncode)
        finally:
            _end(process)

    def _failed(self, status: int) -> str:
        """What an exit status says of the end of a command, or ""."""
        if status == Diverged.status:
            return DIVERGED.format(rate=self.config.learning_rate, command=self.config.command())
        return KILLED if status < 0 else FAILED if status else ""

    def _reason(self) -> str:
        """Why it has to end now, or ""."""
        now = time.monotonic()
        if self.stopping:
            return self._why
        if now - self._began > self.limit:
            return LATE.format(self.limit / 60)
        if self._connected(self.visitor):
            self._seen = now
        return GONE if now - self._seen > self._grace else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert process.stdin is not None
    process.stdin.close()


class Trainings:
    """Those of a server. connected: whether a visitor is there; adapt: what becomes of a recipe's settings."""

    def __init__(
        self,
        *,
        connected: Callable[[str], bool] = connected,
        adapt: Callable[[TrainingConfig], TrainingConfig] = lambda config: config,
        limit: float = LIMIT,
        grace: float = GRACE,
    ) -> None:
        self._connected, self._adapt, self._limit, self._grace = connected, adapt, limit, grace
        self._all: list[Training] = []
        self._lock = threading.Lock()

    def begin(self, visitor: str, routing: str) -> Training:
        """Train a network for a visitor, by its session's id. Raises TrainingError where it has to wait."""
        with self._lock:
            self._all = [training for training in self._all if not training.over]
            if any(training.visitor == visitor for training in self._all):
                raise TrainingError("A network is being trained for you already; stop it, or wait until it is done.")
            if len(self._all) >= MOST:
                raise TrainingError(f"{MOST} networks are being trained on this server; try again in a minute.")
            config = self._adapt(CONFIGS[routing])
            self._all.append(Training(visitor, config, self._connected, self._limit, self._grace))
            return self._all[-1]

    def close(self) -> None:
        """End all of them, and wait for it."""
        with self._lock:
            for training in self._all:
                training.stop(CLOSED)
            for training in self._all:
                training.stop(CLOSED, wait=True)


server = Trainings()
"""Those of this process."""


def _close() -> None:
    server.close()


endings.asked.callback(_close)
atexit.register(_close)
