"""What is written down of a run: metrics.jsonl, TensorBoard, and a line or a bar on the terminal."""

import json
import math
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from capsviz.files import CheckpointError, sentences, write
from capsviz.reading import Number, parsed, refused, understood

METRICS = "metrics.jsonl"
PLAIN_LINE_SECONDS = 10
METRICS_EVERY = 50
"""Steps between two lines of metrics, but for the end of an epoch."""
READINGS = 400
"""Lines between the epochs of a run that are kept where its model is kept: as many as a curve can show."""
DIGITS = 6
LARGEST = 100_000_000
"""Bytes of a file of metrics: the longest training here left 1,000,000."""


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run's metrics.jsonl, none where there is no such file; raises CheckpointError as `read_lines`."""
    path = folder / METRICS
    return read_lines(path) if path.is_file() else []


@dataclass(frozen=True)
class Reading:
    """What every line of metrics has, beside the numbers that were measured."""

    kind: Literal["train", "epoch"]
    step: Number


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of metrics; a last line cut off by a kill is left out.

    Raises CheckpointError, naming the line, where another one is damaged.
    """
    remedy, found = "restore the file, or train again", []
    if path.stat().st_size > LARGEST:
        refused(path, "", f"has more than {LARGEST // 1_000_000} MB", remedy, CheckpointError)
    with path.open("rb") as file:
        for number, text in enumerate(file, start=1):
            place = f"{path}, line {number}"
            if not text.endswith(b"\n"):
                with suppress(CheckpointError):
                    found.append(_line(text, place, remedy))
                break
            found.append(_line(text, place, remedy))
    return found


def _line(text: bytes, place: str, remedy: str) -> dict[str, Any]:
    said = parsed(text, place, remedy, CheckpointError)
    understood(Reading, said, place, remedy, CheckpointError)
    return understood(dict[str, int | float | str | None], said, place, remedy, CheckpointError)


def abridged(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A run's metrics as they are kept for good: every epoch, at most READINGS lines between, six significant digits.

    Of a longer run every second line is kept, or every third, and so on, and the last one.
    """
    between = [place for place, line in enumerate(lines) if line["kind"] == "train"]
    each = math.ceil(len(between) / READINGS) or 1
    left_out = set(between) - set(between[::-1][::each])
    return [
        {name: float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value for name, value in line.items()}
        for place, line in enumerate(lines)
        if place not in left_out
    ]


class Journal:
    """Writes metrics to a run's folder and tells the terminal how far the run is.

    On resuming, lines later than `start` are dropped: the steps they describe are done again.
    A terminal gets a bar with images/s and remaining time, anything else one line every ten seconds.
    """

    def __init__(
        self,
        folder: Path,
        *,
        start: int,
        total: int,
        quiet: bool = False,
        watch: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        self.folder, self.total, self.quiet, self.watch = folder, total, quiet, watch
        self.bar: Any = None
        self.task: Any = None
        kept = [line for line in read_metrics(folder) if line["step"] <= start]
        write(folder / METRICS, "".join(json.dumps(line) + "\n" for line in kept))
        self.file = open(folder / METRICS, "a", encoding="utf-8", buffering=1)  # noqa: SIM115
        self.board = self._tensorboard(start)
        self.last_line = time.monotonic()
        if not quiet and sys.stderr.isatty():
            self._open_bar(start)

    def _tensorboard(self, start: int) -> Any:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            self.say("TensorBoard is not installed; the metrics are in metrics.jsonl alone.")
            return None
        return SummaryWriter(str(self.folder / "tensorboard"), purge_step=start + 1)

    def _open_bar(self, start: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self.bar = Progress(
            TextColumn("step {task.completed}/{task.total}"),
            BarColumn(),
            TextColumn("{task.fields[news]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self.task = self.bar.add_task("training", total=self.total, completed=start, news="")
        self.bar.start()

    def write(self, kind: str, line: dict[str, Any]) -> None:
        """Append one line of metrics; `kind` is "train" (a stretch of steps) or "epoch" (with validation)."""
        line = {"kind": kind, **line}
        with sentences(self.folder):
            self.file.write(json.dumps(line) + "\n")
            if self.board:
                for name, value in line.items():
                    if isinstance(value, (int, float)) and name != "step":
                        self.board.add_scalar(f"{kind}/{name}", value, line["step"])
        if self.watch:
            self.watch(line)

    def progress(self, step: int, images_per_second: float, loss: float | None) -> None:
        """Show where the run is; cheap enough to be called at every step."""
        news = f"{images_per_second:.0f} images/s" + ("" if loss is None else f", loss {loss:.4f}")
        if self.bar:
            self.bar.update(self.task, completed=step, news=news)
        elif time.monotonic() - self.last_line >= PLAIN_LINE_SECONDS:
            self.last_line = time.monotonic()
            self.say(f"step {step}/{self.total}, {news}")

    def say(self, sentence: str) -> None:
        """One line for the person who watches."""
        if self.quiet or not sentence:
            return
        if self.bar:
            self.bar.console.print(sentence, highlight=False)
        else:
            print(sentence, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Flush and close; the journal says nothing afterwards."""
        if self.bar:
            self.bar.stop()
        with sentences(self.folder):
            if self.board:
                self.board.close()
            self.file.close()
