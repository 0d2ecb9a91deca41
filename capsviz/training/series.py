"""Training one model of the zoo after the other: what is done is skipped, what was cut off is resumed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from capsviz.device import chosen as place_of
from capsviz.errors import CapsvizError
from capsviz.files import CheckpointError
from capsviz.training.config import SettingsError
from capsviz.training.loop import train
from capsviz.training.recipes import Recipe
from capsviz.training.runs import CHECKPOINT, SUMMARY, OtherSettings, check_same_run, read_position, read_summary

RESERVE_SECONDS = 5.0
"""Kept back from a time limit, at most a tenth of it: the last step and its checkpoint have to fit in, too."""


@dataclass(frozen=True)
class State:
    """How far one model is: its test error in percent when it is done, else the step that its checkpoint is at."""

    step: int = 0
    test_error: float | None = None
    test_count: int = 0

    @property
    def done(self) -> bool:
        """Whether the model is trained and measured."""
        return self.test_error is not None


@dataclass(frozen=True)
class Series:
    """How a call of `train_series` ended: what `stopped` it ("" when it came to its end), and where every model is.

    failed: the sentence of each model that could not be trained here.
    """

    stopped: str
    states: dict[str, State]
    failed: dict[str, str] = field(default_factory=dict)

    def summary(self) -> str:
        """What is done, under way and not begun, and what to do about the rest."""
        waiting = {name: state for name, state in self.states.items() if not state.done and name not in self.failed}
        lines = [f"Done: {sum(state.done for state in self.states.values())} of {len(self.states)}."]
        if begun := [f"{name} (step {state.step})" for name, state in waiting.items() if state.step]:
            lines.append(f"Cut off: {', '.join(begun)}.")
        if not_begun := [name for name, state in waiting.items() if not state.step]:
            lines.append(f"Not begun: {', '.join(not_begun)}.")
        lines += [f"Left out: {name}. {sentence}" for name, sentence in self.failed.items()]
        if self.stopped:
            lines.append(f"Stopped ({self.stopped}); repeat the command to go on.")
        return "\n".join(lines)


def state_of(recipe: Recipe, out: Path) -> State:
    """How far the run of a recipe is, by the files in OUT/NAME.

    Raises CheckpointError where the run there was started with other settings.
    """
    folder = out / recipe.name
    if (folder / SUMMARY).is_file():
        summary = read_summary(folder)
        check_same_run(recipe.config, summary, folder)
        return State(summary["steps"], summary["test_error"], summary["test_count"])
    if (folder / CHECKPOINT).is_file():
        header = read_position(folder / CHECKPOINT)
        check_same_run(recipe.config, header, folder)
        return State(header["step"])
    return State()


def train_series(
    chosen: Sequence[Recipe],
    out: Path,
    *,
    device: str | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    quiet: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Series:
    """Train every recipe that is not done, in order, each in OUT/NAME, until the list or the time is at its end.

    time_limit: in seconds, for all of them together; each training gets what those before it have left. A model whose
    data set is missing, or whose folder holds a run with other settings or is held by another training, is left out and
    named in `failed`. `say` is called with one sentence for each model. Raises DeviceError where nothing can be
    trained.
    """
    place_of(device)
    began, stopped, failed = time.monotonic(), "", {}
    for number, recipe in enumerate(chosen, start=1):
        left = None
        if time_limit is not None:
            left = time_limit - min(RESERVE_SECONDS, time_limit / 10) - (time.monotonic() - began)
            if left <= 0:
                stopped = "time limit"
                break
        place = f"{number} of {len(chosen)}"
        try:
            before = state_of(recipe, out)
            if before.done:
                say(f"{place}: {recipe.name} is done, test error {before.test_error:.2f} %")
                continue
            say(f"{place}: {recipe.name}" + (f", from step {before.step}" if before.step else ""))
            outcome = train(
                recipe.config,
                out / recipe.name,
                resume=True,
                device=device,
                threads=threads,
                time_limit=left,
                quiet=quiet,
            )
        except CapsvizError as error:  # the others go on
            failed[recipe.name] = str(error)
            say(f"{place}: {recipe.name} is left out. {error}")
            continue
        if outcome.stopped:
            stopped = outcome.stopped
            break
        if outcome.summary:
            say(f"{place}: {recipe.name} is done, test error {outcome.summary['test_error']:.2f} %")
    states = {}
    for recipe in chosen:
        try:
            states[recipe.name] = State() if recipe.name in failed else state_of(recipe, out)
        except CheckpointError as error:  # the time was over before its turn came
            failed[recipe.name], states[recipe.name] = str(error), State()
    return Series(stopped, states, failed)


def table(chosen: Sequence[Recipe], out: Path) -> str:
    """One line for each recipe: its name, how far its run in OUT is, and the command that trains it alone.

    Below them a sentence on each run that cannot be read.
    """
    lines, sentences = [], []
    for recipe in chosen:
        try:
            state = state_of(recipe, out)
        except OtherSettings:
            state_now = "other settings"
        except CheckpointError as error:
            state_now = "other version" if isinstance(error.__cause__, SettingsError) else "damaged"
            sentences.append(str(error))
        else:
            state_now = f"{state.test_error:.2f} %" if state.test_error is not None else f"step {state.step}"
            state_now = state_now if state.done or state.step else "not begun"
        lines.append(f"{recipe.name:26} {state_now:14} {recipe.config.command()}")
    return "\n".join(lines + sentences)
