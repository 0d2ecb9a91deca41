"""What a training will take: memory, by the shapes of its tensors, and time, by its first steps."""

from __future__ import annotations

import math
import time
from functools import cache
from typing import Any

import torch
from torch import Tensor

from capsviz import memory
from capsviz.data import describe, to_float
from capsviz.device import CPU, free_bytes
from capsviz.device import of as of_network
from capsviz.network import Network
from capsviz.routing.parts import few
from capsviz.training.config import SettingsError, TrainingConfig
from capsviz.training.feed import Batch, multi_hot
from capsviz.training.processes import together
from capsviz.training.step import ForwardPass, descend

FEWEST = 8
"""Images a step, fewer than which is no remedy: smaller images are."""
TIMED = 5
"""Steps after the first ones by which the time of all is told."""


def check_images(config: TrainingConfig, place: torch.device = CPU) -> None:
    """Raise SettingsError, which names the option, where the images of a training are more than the free memory.

    place: where those that are learned from lie while it lasts.
    """
    images = describe(config.data)
    whole = images.train_count * math.prod(images.image)
    rooms = [(2 * whole * together(), memory.free())]  # while they are split both are there, in every process
    learned = round(whole * (1 - config.validation_share))
    rooms += [] if place.type == CPU.type else [(learned, free_bytes(place))]
    for needed, free in rooms:
        if free is not None and needed > free:
            raise SettingsError(
                f"The {images.train_count:,} images take {_size(needed)} and {_size(free)} are free; give --size "
                f"{max(8, min(images.image[1:]) // 2)}."
            )


def room(config: TrainingConfig, model: Network, *, moments: bool = False, processes: int = 1) -> str:
    """The sentence on how much memory the steps of a training take.

    moments: whether the optimizer's are there already, as the weights are. processes: that train together; of a GPU
    each has its own, and there its part of the batch. Raises SettingsError, which names the option to change, where it
    is more than is free where the network is, with what is there already.
    """
    place = of_network(model)
    shares = 1 if place.type == CPU.type else processes
    free = memory.free() if place.type == CPU.type else free_bytes(place)
    weights = sum(tensor.nbytes for tensor in model.parameters())

    @cache
    def of(batch: int) -> int:
        """The weights, both moments of each, and what a step or a validation takes."""
        return 3 * weights + _taken(config, model, -(-batch // shares))

    needed = of(config.batch)
    if free is None:
        return f"A step takes about {_size(needed)} of memory."
    free += 3 * weights if moments else weights
    if needed <= free:
        return f"A step takes about {_size(needed)} of memory, and {_size(free)} are free."
    smaller = [config.batch // 2**halvings for halvings in range(1, config.batch.bit_length())]
    fitting = next((batch for batch in smaller if batch >= FEWEST and of(batch) <= free), 0)
    side = max(8, min(model.config.image[1:]) // 2)
    remedy = f"--batch {fitting}" if fitting else f"--size {side} or another --preset"
    raise SettingsError(f"A step takes about {_size(needed)} of memory, and {_size(free)} are free; give {remedy}.")


def _taken(config: TrainingConfig, model: Network, count: int) -> int:
    """Bytes that both passes of a step on `count` images, or a validation, take at most, by ones without numbers."""
    from torch._subclasses.fake_tensor import FakeTensorMode  # takes as long to import as half of torch

    mode, place = FakeTensorMode(), of_network(model).type  # each takes its own way through a network
    empty = memory.hollow(model, mode, place).train()
    with mode, few():
        images = torch.zeros(count, *model.config.image, dtype=torch.uint8, device=place)
        labels = torch.zeros(count, 1, dtype=torch.int64, device=place)
        batch = Batch(images, labels, multi_hot(labels, model.config.classes), images.unsqueeze(1))
        forward_pass, alone = ForwardPass(empty), _Alone()
        learned = memory.peak_of(lambda: descend(config, alone, empty, forward_pass, alone, batch, 0.5))
        empty.zero_grad()
        with torch.inference_mode():
            seen = memory.peak_of(lambda: empty.eval()(to_float(images), reconstruct=False))
        return max(learned, seen)


class _Alone:
    """What a step asks of processes that train together, where there is one, and of an optimizer that moves nothing."""

    param_groups: tuple[dict[str, Any], ...] = ()

    def backward(self, loss: Tensor) -> None:
        """Gradients of the loss."""
        loss.backward()

    def all_reduce(self, value: Tensor, reduce_op: str) -> Tensor:
        """The value."""
        return value

    def step(self) -> None:
        """Nothing."""

    def zero_grad(self, set_to_none: bool) -> None:
        """Nothing."""


class Pace:
    """How long a training will take, by the time of its first steps but those in which much is made that stays.

    slow: how many those are.
    """

    def __init__(self, start: int, total: int, slow: int = 1) -> None:
        self.first, self.total = start + slow, total
        self.began = 0.0

    def told(self, done: int) -> str:
        """The sentence, once enough steps are done to say it; else nothing."""
        if done not in (self.first, self.first + TIMED) or done == self.total:
            return ""
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()  # the steps of a GPU may still be under way
        now = time.monotonic()
        if done == self.first:
            self.began = now
            return ""
        return told((now - self.began) / TIMED, self.total - done)


def told(seconds: float, steps: int) -> str:
    """How long a training will take, by the seconds of one step."""
    units = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
    size, unit = next((each for each in units if seconds * steps >= 2 * each[0]), (1, "second"))
    whole = math.ceil(seconds * steps / size)
    return f"A step takes {seconds:.2g} s, the {steps:,} that are left about {whole:,} {unit}{'s' * (whole != 1)}."


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(1, round(count / 1e6))} MB"
