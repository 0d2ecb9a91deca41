"""The training loop: one function that a person can read from top to bottom.

capsviz train --data digits --routing dr --preset tiny --epochs 30
capsviz train --data mnist --routing l2 --preset compact --epochs 10 --shift 2
torchrun --nproc-per-node 2 -m capsviz train --data mnist --routing dr      (a batch is that of both processes together)

A run leaves metrics.jsonl, model.safetensors, summary.json and, where b was learned, its history in
coefficients.safetensors; checkpoint.safetensors while it is under way. The same command with --resume goes on with one
that was cut off.
"""

import math
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from capsviz.data import ImageSet, MultiDigits
from capsviz.errors import CapsvizError
from capsviz.files import read_header, read_tensors, write_tensors
from capsviz.network import METHODS, Network, assemble, configure
from capsviz.routing.discriminative import sparsity
from capsviz.training import forecast, schedules
from capsviz.training.checkpoint import restore_checkpoint, save_checkpoint
from capsviz.training.config import NO_DECODER, SettingsError, TrainingConfig
from capsviz.training.evaluate import evaluate
from capsviz.training.feed import Feed, training_sets
from capsviz.training.graph import WARM_UPS, Recorded
from capsviz.training.interrupt import listening
from capsviz.training.journal import METRICS_EVERY, Journal
from capsviz.training.memory import keep_freed_memory
from capsviz.training.processes import DIVERGED, DUE, agreed, launch, or_smaller, part, step_products
from capsviz.training.running_means import RunningMeans
from capsviz.training.runs import (
    CHECKPOINT,
    alone,
    check_same_images,
    finish,
    finished_summary,
    read_position,
)
from capsviz.training.step import Descent, ForwardPass, descend, optimizer_of, recordable, take_step, waits
from capsviz.training.weight_average import WeightAverage
from capsviz.waiting import under_way
from capsviz.zoo.coefficient_history import Snapshots


class Diverged(CapsvizError):
    """The loss of a training is no number any more."""

    status = 3


def kept_of(folder: Path) -> str:
    """What is left of a training that diverged, and what to do: the end of a sentence."""
    path = folder / CHECKPOINT
    left = f"{CHECKPOINT} is that of step {read_header(path)['step']}" if path.is_file() else "no checkpoint was left"
    return f"{left}; train again with a smaller learning rate (--lr) and another --name."


def kept_at(folder: Path, step: int) -> Path:
    """Where a run keeps its weights as they were after so many steps."""
    return folder / f"weights-{step}.safetensors"


@dataclass(frozen=True)
class Outcome:
    """How a call of `train` ended: `stopped` is "" when the run is finished; rank 0 then has the `summary` it wrote."""

    folder: Path
    step: int
    stopped: str
    summary: dict[str, Any] | None


@alone
def train(
    config: TrainingConfig,
    folder: Path,
    *,
    resume: bool = False,
    device: str | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    checkpoint_seconds: float = 60,
    quiet: bool = False,
    watch: Callable[[dict[str, Any]], None] | None = None,
    keep: Collection[int] = (),
) -> Outcome:
    """Train a network, leaving metrics, checkpoints, final weights and a summary in `folder`.

    All randomness derives from (seed, epoch, step): a run that was cut off and resumed ends in the same weights,
    bit for bit on the same machine with as many threads, with the same metrics but for the clock's. It stops
    between two steps on Ctrl-C, SIGTERM or after `time_limit` seconds, leaving a checkpoint. Validation images are
    held out of the training set; the test set is looked at once, at the end. `watch` is called with every line of
    metrics. `keep`: steps after which the weights are kept in a file of their own, `kept_at(folder, step)`; 0 is
    before the first one.
    device: as `capsviz.device.chosen` takes it. threads: PyTorch's on the CPU, in this process from here on.
    Raises SettingsError, DeviceError, CheckpointError, Busy where another process trains in the folder, WriteError, an
    error of capsviz.data, CapsvizError where Fabric is not installed, or Diverged at the first loss that is not finite
    (on a GPU within METRICS_EVERY steps of it), each in one sentence.
    """
    finished = finished_summary(folder, config, resume)
    if finished:
        if finished.get("images"):
            check_same_images(checksums(training_sets(config)), finished)
        return Outcome(folder, finished["steps"], "", finished)
    if threads:
        torch.set_num_threads(threads)
    keep_freed_memory()
    begun = read_position(folder / CHECKPOINT) if resume and (folder / CHECKPOINT).is_file() else {}
    # "auto" is another precision on another machine, but not amid a run.
    fabric = launch(device, begun.get("precision") or config.precision)
    precision = fabric.strategy.precision.precision
    if config.is_folder:
        forecast.check_images(config, fabric.device)
        fabric.barrier()  # none reads while another still looks at what is free
    with under_way("reading the images", quiet=quiet):
        parts = training_sets(config)
    images = checksums(parts) if config.is_folder else []
    train_set, held_out = parts[0].to(fabric.device), parts[1]
    feed = Feed(train_set, config, fabric.global_rank, fabric.world_size)
    total = config.steps or config.epochs * feed.steps_per_epoch

    model = build(config, train_set.image, len(train_set.classes)).to(fabric.device)
    optimizer = optimizer_of(config, model)
    average = WeightAverage(model, config.average)
    state: dict[str, Any] = {"step": 0, "seconds": 0.0, "validation_error": None}
    snapshots = Snapshots(total)
    snapshots.see(0, average.model)
    tensors: dict[str, Tensor] = {}
    if begun:
        state = begun
        tensors, _ = read_tensors(folder / CHECKPOINT)
        check_same_images(images, state)
        restore_checkpoint(tensors, model, optimizer)
        if state.get("scaler"):
            fabric.strategy.precision.load_state_dict(state["scaler"])
        average.restore(tensors)
        snapshots.restore(tensors)
    start, seconds_before, validation_error = state["step"], state["seconds"], state["validation_error"]
    window = RunningMeans()
    window.restore(tensors, fabric)
    tensors.clear()  # the whole checkpoint
    forward_pass, fabric_optimizer = fabric.setup(ForwardPass(model), optimizer)
    descent: Descent = partial(descend, config, fabric, model, forward_pass, fabric_optimizer)
    recorded = recordable(config, fabric, precision)
    if recorded:
        descent = Recorded(descent, undo=optimizer.zero_grad)

    with listening(time_limit) as stop, ExitStack() as shown:
        journal = None
        if fabric.is_global_zero:
            journal = shown.enter_context(closing(Journal(folder, start=start, total=total, quiet=quiet, watch=watch)))
            journal.say(greeting(config, model, fabric, start, total))
            if config.is_folder:
                journal.say(train_set.note)
                journal.say(forecast.room(config, model, moments=bool(optimizer.state), processes=fabric.world_size))
            if start == 0 and 0 in keep:
                write_tensors(kept_at(folder, 0), average.model.state_dict(), {"step": 0})
        pace = forecast.Pace(start, total, slow=WARM_UPS + 1 if recorded else 1) if config.is_folder else None
        saved = began = window.began = time.monotonic()

        def finite(loss: Tensor | float, done: int, what: str = "loss") -> None:
            """Raise Diverged, in all processes, where a loss is no number in one of them."""
            if agreed(fabric, "" if math.isfinite(loss) else DIVERGED):
                part(fabric)
                raise Diverged(f"The {what} is not finite after step {done}; {kept_of(folder)}")

        for step in range(start, total):
            progress = min(1.0, step / max(1, config.warm_up(total)))
            rate = schedules.learning_rate(config.schedule, config.learning_rate, step, total)
            batch = feed.batch(step)
            with step_products(fabric.device.type, precision), or_smaller(fabric.device):
                taken = take_step(config, model, fabric_optimizer, descent, batch, rate, progress)
            window.add(config.batch, *taken)

            done = step + 1
            epoch_over = done % feed.steps_per_epoch == 0 or done == total
            looked_at = not waits(fabric.device) or done % METRICS_EVERY == 0 or epoch_over
            if looked_at:
                finite(window.total, done)
            average.follow(model, done)
            snapshots.see(done, average.model)
            if journal and done in keep:
                write_tensors(kept_at(folder, done), average.model.state_dict(), {"step": done})
            seconds = seconds_before + time.monotonic() - began
            position = {"step": done, "epoch": done / feed.steps_per_epoch, "seconds": round(seconds, 2)}
            if done % METRICS_EVERY == 0 or epoch_over:
                position |= window.read(fabric) | {"learning_rate": rate} | sparsity_of(average.model)
                if journal:
                    journal.write("train", position)
            result = evaluate(average.model, held_out, config.batch) if journal and epoch_over else None
            if epoch_over:
                finite(result.loss if result else 0.0, done, "validation loss")
            if journal and result:
                validation_error = result.error
                position |= {"validation_error": result.error, "validation_loss": result.loss}
                journal.write("epoch", position)
                journal.say(f"epoch {position['epoch']:.3g}: validation error {result.error:.2f} %")
            if journal:
                journal.progress(done, window.images_per_second(), window.loss)
                if pace:
                    journal.say(pace.told(done))

            due = DUE if journal and time.monotonic() - saved >= checkpoint_seconds else ""
            wish = agreed(fabric, stop.reason() or due)
            stopped = "" if wish == DUE else wish
            if wish and not looked_at:
                finite(window.total, done)
            sums = window.tensors(fabric) if wish or epoch_over else {}
            if journal and (wish or epoch_over):
                state = {"step": done, "seconds": seconds, "validation_error": validation_error}
                state |= {"name": config.name, "config": model.config.to_dict(), "training": config.to_dict()}
                state |= {"classes": train_set.classes, "precision": precision, "images": images}
                state |= {"scaler": fabric.strategy.precision.state_dict()}
                more = snapshots.tensors() | average.tensors() | sums
                save_checkpoint(folder / CHECKPOINT, model, optimizer, state, more)
                saved = time.monotonic()
            if stopped and done < total:
                part(fabric)
                return Outcome(folder, done, stopped, None)

    summary = None
    if journal:
        seconds = seconds_before + time.monotonic() - began
        measured = {"validation_error": validation_error, "seconds": round(seconds, 1), "steps": total}
        measured |= {"precision": precision, "images": images}
        snapshots.write(folder)
        with under_way("looking at the test images", quiet=quiet) as told:
            summary = finish(config, average.model, measured, folder, told)
    part(fabric)
    return Outcome(folder, total, "", summary)


def checksums(parts: Iterable[ImageSet | MultiDigits]) -> list[str]:
    """Of the user's own images, which may change between two calls."""
    return [each.checksum() for each in parts if isinstance(each, ImageSet)]


def build(config: TrainingConfig, image: tuple[int, int, int], classes: int) -> Network:
    """The network that a config asks for, with weights drawn from the run's seed.

    Raises SettingsError for the learning rate of a decoder that it has not.
    """
    asked = {name: getattr(config, name) for name in ("iterations", "through", "coefficient_start")}
    overrides = {name: value for name, value in asked.items() if value is not None}
    model_config = configure(
        config.preset, config.data, config.routing, decoder=config.decoder, image=image, classes=classes, **overrides
    )
    model = assemble(model_config, config.seed)
    if config.decoder_rate is not None and model.decoder is None:
        raise SettingsError(NO_DECODER)
    return model


def sparsity_of(model: Network) -> dict[str, float]:
    """Shares of exactly and nearly zero coefficients, where such are learned."""
    if not METHODS[model.config.routing].ascends:
        return {}
    found = sparsity(model.get_buffer("coefficients"))
    return {"exact_zero_share": found.exact, "near_zero_share": found.near}


def greeting(config: TrainingConfig, model: Network, fabric: Any, start: int, total: int) -> str:
    """One line on what is about to happen."""
    parameters = sum(parameter.numel() for parameter in model.parameters())
    processes = f"{fabric.world_size} process{'es' if fabric.world_size > 1 else ''}"
    return (
        f"{config.name}: {parameters:,} parameters, step {start} to {total}, "
        f"{processes} on {fabric.device} in {fabric.strategy.precision.precision}"
    )
