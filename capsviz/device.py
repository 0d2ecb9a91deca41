"""Where networks run: `CAPSVIZ_DEVICE` (auto, cpu, cuda, cuda:1, mps) decides, for app, library and command line alike.

"auto", which holds where nothing is said, takes the first GPU of CUDA, which lists the fastest first, else the CPU.
Results come back to the CPU in float32. How many images go through at a time on a GPU follows from a forecast
(`capsviz.memory`): as many as half of the memory that is free holds, 4096 at most; half as many each time the device
runs out all the same; and where it cannot hold one, the CPU does it, and all that comes later, which is said once.
On the CPU the number is fixed, so that no sum is taken in another order from one call to the next.
"""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from itertools import chain
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor, nn

from capsviz import memory
from capsviz.errors import CapsvizError

VARIABLE = "CAPSVIZ_DEVICE"
CPU = torch.device("cpu")
SHARE, MOST = 0.5, 4096
"""Of the free memory, how much a batch may fill, and how many images it has at the most."""

P = ParamSpec("P")
T = TypeVar("T")
N = TypeVar("N", bound=nn.Module)
_exhausted: dict[torch.device, str] = {}


class DeviceError(CapsvizError):
    """A device that is not on this machine, or has no room."""


class DeviceWarning(UserWarning):
    """A device ran out of memory, and the CPU goes on; one sentence."""


def chosen(name: str | torch.device | None = None) -> torch.device:
    """That device, or the one of that name; unless given, that of `CAPSVIZ_DEVICE`, and the CPU where that ran out of
    memory.

    On a CUDA device convolutions are from here on computed in float32 proper, as on the CPU, and not in TF32, which
    PyTorch takes by default. Raises DeviceError where there is no such device.
    """
    said = str(name or "") or os.environ.get(VARIABLE) or "auto"
    device = _find(said, given=name is not None)
    if device.type == "cuda":
        torch.backends.cudnn.allow_tf32 = False
    return CPU if name is None and device in _exhausted else device


def _find(said: str, *, given: bool) -> torch.device:
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    here = {"cpu": CPU}
    here |= {f"cuda:{number}": torch.device("cuda", number) for number in range(gpus)}
    if gpus:
        here["cuda"] = torch.device("cuda", 0)
    if torch.backends.mps.is_available():
        here["mps"] = here["mps:0"] = torch.device("mps", 0)  # as tensors name it
    if said == "auto":
        return here.get("cuda", CPU)
    if said not in here:
        what = f"There is no device {said!r} here" if given else f"{VARIABLE} names {said!r}, which is not here"
        raise DeviceError(f"{what}; choose one of auto, {', '.join(sorted(here))}.")
    return here[said]


def of(network: nn.Module) -> torch.device:
    """Where a network is."""
    return next(network.parameters()).device


def placed(network: N, name: str | torch.device | None = None) -> N:
    """A network on the device of that name, or on `chosen`; on the CPU where that has no room and was not named.

    Raises DeviceError where there is no such device, and where the one that was named has no room.
    """
    place = chosen(name)
    try:
        with full():
            return network.to(place)
    except torch.OutOfMemoryError as error:
        network.to(CPU)  # what was moved already
        if name is not None:
            what = f"{title(place)} has no room for the network; free its memory, or choose another device."
            raise DeviceError(what) from error
    _give_up(place)
    return network


def processor() -> str:
    """The CPU as result files name it: its kind, and the widest instructions that PyTorch uses on it."""
    return f"{platform.machine()}, {torch.backends.cpu.get_cpu_capability()}"


def title(device: torch.device) -> str:
    """What a device is called: "NVIDIA H100 80GB HBM3", "2 cores", "1 of 2 cores" (as many threads), "Apple GPU"."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    if device.type == "mps":
        return "Apple GPU"
    threads, cores = torch.get_num_threads(), os.cpu_count() or 1
    return f"{threads} of {cores} cores" if threads < cores else f"{cores} core{'s' * (cores > 1)}"


def gave_up() -> str:
    """The sentence on a device that ran out of memory since the process began; empty where none did."""
    return next(iter(_exhausted.values()), "")


def results(values: Tensor) -> Tensor:
    """Numbers on the CPU, those with a fraction in float32 unless they are finer."""
    values = values.detach().cpu()
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values


def or_cpu(function: Callable[P, T]) -> Callable[P, T]:
    """Have a function run again, with copies of what it was given on the CPU, where the device runs out of memory.

    A DeviceWarning says so, and `chosen` names the CPU from then on. What has a device is looked for among the
    arguments, and in tuples and mappings there: networks, tensors, `FixedVotes`.
    """

    @wraps(function)
    def sheltered(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            with full():
                return function(*args, **kwargs)
        except torch.OutOfMemoryError:
            exhausted = [place for each in (*args, *kwargs.values()) for place in _places(each) if place != CPU]
            if not exhausted:
                raise
        _give_up(exhausted[0])
        return function(*map(_on_cpu, args), **{name: _on_cpu(each) for name, each in kwargs.items()})

    return sheltered


def parts(network: nn.Module, count: int, usual: int, work: Callable[[slice], T]) -> Iterator[T]:
    """Do work on `count` images, some at a time: `usual` on the CPU, elsewhere as many as the module's rule says.

    work: takes the slice of the images that is due, and is called again with a smaller one where the device runs out
    of memory: it must leave nothing behind that a second call would count twice. Raises torch.OutOfMemoryError where
    not even one image fits.
    """
    size, start = usual if of(network) == CPU else images_at_once(network), 0
    while start < count:
        done = None
        due = slice(start, min(start + size, count))
        try:
            with full():
                done = (work(due),)
        except torch.OutOfMemoryError:
            if size == 1:
                raise
        if done is None:
            size = max(1, size // 2)
            _empty(of(network))
            continue
        yield done[0]
        start = due.stop


def images_at_once(network: nn.Module) -> int:
    """How many images of a network's size a GPU takes at a time, by the module's rule."""
    return max(1, min(MOST, int(SHARE * free_bytes(of(network)) // memory.of_one_image(network))))


def free_bytes(device: torch.device) -> int:
    """Memory that is free on a GPU, with what PyTorch holds in reserve there."""
    if device.type == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.current_allocated_memory()
    held = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return torch.cuda.mem_get_info(device)[0] + held


@contextmanager
def full() -> Iterator[None]:
    """Have Apple's GPUs say as the others do that they are out of memory; raises torch.OutOfMemoryError."""
    try:
        yield
    except RuntimeError as error:
        if "MPS backend out of memory" not in str(error):
            raise
        raise torch.OutOfMemoryError(str(error)) from error


def _give_up(device: torch.device) -> None:
    _empty(device)
    sentence = (
        f"{title(device)} ran out of memory, so that networks run on {title(CPU)} from here on; free its memory and "
        "start capsviz again."
    )
    _exhausted[device] = sentence
    warnings.warn(sentence, DeviceWarning, stacklevel=3)


def _empty(device: torch.device) -> None:
    """Give back what PyTorch holds in reserve."""
    if device.type == "cuda" and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()


def _places(value: Any) -> Iterator[torch.device]:
    """The devices that a value is on, if on any."""
    if isinstance(value, nn.Module):
        yield of(value)
    elif isinstance(value, Mapping):
        yield from chain.from_iterable(map(_places, value.values()))
    elif type(value) is tuple:
        yield from chain.from_iterable(map(_places, value))
    elif isinstance(place := getattr(value, "device", None), torch.device):
        yield place


def _on_cpu(value: Any) -> Any:
    """The value, or a copy of it on the CPU where it is on another device."""
    if all(place == CPU for place in _places(value)):
        return value
    if isinstance(value, nn.Module):
        return memory.copied(value, Tensor.cpu)
    if isinstance(value, Mapping):
        return {name: _on_cpu(each) for name, each in value.items()}
    return tuple(map(_on_cpu, value)) if isinstance(value, tuple) else value.to(CPU)
