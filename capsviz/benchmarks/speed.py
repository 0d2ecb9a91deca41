"""How fast a step, a pass, a routing and a trace are, as ratios within one process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.utils.benchmark import Timer

from capsviz import device as devices
from capsviz.benchmarks import traffic
from capsviz.benchmarks.plain import Plain, PlainCapsNet, PlainMatrixCapsNet
from capsviz.data import to_float
from capsviz.network import MATRIX_PRESETS, CapsNet, preset
from capsviz.routing import ASCENDING, Ascending
from capsviz.routing.dynamic import DYNAMIC
from capsviz.routing.em import EM
from capsviz.tracing.recorder import trace
from capsviz.training import losses
from capsviz.training.feed import Batch, multi_hot
from capsviz.training.graph import Recorded
from capsviz.training.memory import keep_freed_memory
from capsviz.training.processes import precision_on, step_products

ROUNDS, SECONDS, GPU_SECONDS = 4, 1.0, 0.05
"""How often each thing has its turn, and how long at least it is measured then: on a GPU, which is quicker, less."""
STACK = f"matrix {EM.name}"
"""What the convolutional layers of matrix capsules are called here."""
PRODUCT = "one matrix product"
"""What a routing without a loop consists of: the lower poses of a batch times the weights of all votes."""


@dataclass(frozen=True)
class Bar:
    """One line of the table: a measured ratio beside what was asked of it."""

    what: str
    seconds: float
    against: str
    against_seconds: float
    ratio: float
    asked: str
    met: bool


def measure(
    preset_name: str = "paper", batch: int = 128, threads: int | None = None, device: str | None = None
) -> dict[str, Any]:
    """Measure every bar for a preset on MNIST's size; returns what `benchmarks/results/speed-PRESET.json` holds.

    device: as `capsviz.device.chosen` takes it. Times are medians in seconds per batch. Images are noise: no time here
    depends on what they show.
    """
    if threads:
        torch.set_num_threads(threads)
    place = devices.chosen(device)
    torch.manual_seed(0)
    named = {name: (preset_name, name) for name in (DYNAMIC.name, *ASCENDING, EM.name)}
    if f"matrix-{preset_name}" in MATRIX_PRESETS:
        named[STACK] = f"matrix-{preset_name}", EM.name
    networks = {name: CapsNet(preset(which, "mnist", routing)).to(place) for name, (which, routing) in named.items()}
    plain: dict[str, Plain[Any]] = {"plain": PlainCapsNet(networks[DYNAMIC.name])}
    plain |= {f"plain {name}": PlainMatrixCapsNet(networks[name]) for name in (EM.name, STACK) if name in networks}
    images, labels = torch.rand(batch, 1, 28, 28, device=place), torch.randint(10, (batch,), device=place)

    # The yardstick first, while memory is still handled as PyTorch finds it.
    calls = {what: call for name, each in plain.items() for what, call in _plain(name, each, images, labels).items()}
    times, moved = _times(calls, place), {name: traffic.moved(call) for name, call in calls.items()}
    keep_freed_memory()
    calls = _calls(networks, images.to(memory_format=torch.channels_last), labels)
    for call in calls.values():
        call()  # Adam makes its moments
    # What is played back on a GPU shows no operation: it is counted while it is still launched.
    moved |= {name: traffic.moved(call) for name, call in calls.items()}
    times |= _times(calls, place)
    copy, copied = traffic.copying(place)
    one = images[:1].cpu()
    choices = {
        name: partial(trace, each.eval(), one, iterations=10 if each.config.algorithm.iterates else None, votes="all")
        for name, each in networks.items()
    }
    return {
        "preset": preset_name,
        "batch": batch,
        "threads": torch.get_num_threads(),
        "machine": devices.processor(),
        "device": devices.title(place),
        "torch": torch.__version__,
        "images_per_second": {name: round(batch / seconds, 1) for name, seconds in times.items()},
        "bytes_moved": moved,
        "copy_bytes_per_second": round(copied / _times({"copy": copy}, place)["copy"]),
        "milliseconds_from_choice_to_trace": {
            name: round(1e3 * seconds, 2) for name, seconds in _times(choices, place).items()
        },
        "bars": [asdict(bar) for bar in _bars(times, preset_name)],
    }


def _calls(networks: Mapping[str, CapsNet], images: Tensor, labels: Tensor) -> dict[str, Callable[[], Any]]:
    """What is measured of capsviz, by name."""
    trained = {name: deepcopy(each).eval() for name, each in networks.items()}
    network = trained[DYNAMIC.name]
    with torch.inference_mode():
        lower = {name: each.encode(images) for name, each in trained.items()}
        poses, weights = lower[DYNAMIC.name].poses.flatten(1), network.weight.detach().flatten(0, 1).flatten(1)
    calls: dict[str, Callable[[], Any]] = {
        "encoder both ways": _encoding(networks[DYNAMIC.name], images),
        "encoder forward": _pass(lambda: network.encode(images), partial(_precision, images.device)),
        f"{DYNAMIC.name} pass in float32": _pass(lambda: network(images)),
        f"{DYNAMIC.name} trace": _pass(lambda: trace(network, images, votes=False)),
        PRODUCT: _pass(lambda: poses @ weights),
    }
    for name, each in trained.items():
        calls[f"{name} step"] = _step(networks[name], images, labels)
        calls[f"{name} forward"] = _pass(partial(each, images, reconstruct=False), partial(_precision, images.device))
        calls[f"{name} routing"] = _pass(partial(each.routed, lower[name]))
    return calls


def _plain(name: str, plain: Plain[Any], images: Tensor, labels: Tensor) -> dict[str, Callable[[], Any]]:
    """What is measured of a plain formulation, by name."""
    trained = deepcopy(plain).eval()
    with torch.inference_mode():
        lower = trained.encode(images)
    return {
        f"{name} step": _plain_step(plain, images, labels),
        f"{name} forward": _pass(lambda: trained(images)),
        f"{name} routing": _pass(lambda: trained.route(lower)),
    }


def _bars(times: dict[str, float], preset_name: str) -> list[Bar]:
    """What is asked of every preset, and what of the paper's network alone."""
    paper = [
        _faster(times, f"{DYNAMIC.name} step", "plain step", 4.0),
        _faster(times, f"{DYNAMIC.name} forward", "plain forward", 5.0),
        _faster(times, f"{DYNAMIC.name} routing", "plain routing", 6.0),
        *(_at_most(times, f"{name} step", f"{DYNAMIC.name} step", 0.8) for name in ASCENDING),
    ]
    return [
        *(paper if preset_name == "paper" else []),
        *(_at_most(times, f"{name} routing", PRODUCT, 1.5) for name in ASCENDING),
        _at_most(times, f"{DYNAMIC.name} step", "encoder both ways", 1.35),
        *(_at_most(times, f"{name} step", "encoder both ways", 1.15) for name in ASCENDING),
        _at_most(times, f"{DYNAMIC.name} trace", f"{DYNAMIC.name} pass in float32", 1.15),
    ]


def table(result: dict[str, Any]) -> str:
    """The bars as a Markdown table, and below it images a second, and what the convolutions leave to gain."""
    lines = [
        f"| `{result['preset']}`, {result['device']} | ms per batch | against | ms per batch | ratio | asked | |",
        "| --- | ---: | --- | ---: | ---: | --- | --- |",
    ]
    for bar in result["bars"]:
        lines.append(
            f"| {bar['what']} | {traffic.ms(bar['seconds'])} | {bar['against']} | {traffic.ms(bar['against_seconds'])} "
            f"| {bar['ratio']:.2f} | {bar['asked']} | {'met' if bar['met'] else 'missed'} |"
        )
    more = ["", traffic.table(result)] if "bytes_moved" in result else []
    return "\n".join([*lines, "", _rates(result), _floor(result), *_matrices(result), *more])


def _rates(result: dict[str, Any]) -> str:
    """Images a second, of capsviz and of the plain formulation."""
    rate = result["images_per_second"]
    step, forward, routing = (
        f"{rate[f'{DYNAMIC.name} {what}']:.0f} against {rate[f'plain {what}']:.0f}"
        for what in ("step", "forward", "routing")
    )
    return (
        f"A training step of {DYNAMIC.short} takes {step} images/s, a forward pass {forward}, votes and routing "
        f"iterations {routing}."
    )


def _matrices(result: dict[str, Any]) -> list[str]:
    """How much faster EM routing is than its plain formulation: in one layer, and in a stack of convolutional ones."""
    rate, said = result["images_per_second"], []
    for name, title in ((EM.name, EM.title), (STACK, "The stack of matrix capsules")):
        if f"plain {name} step" in rate:
            step, forward, routing = (rate[f"{name} {what}"] for what in ("step", "forward", "routing"))
            plain = [rate[f"plain {name} {what}"] for what in ("step", "forward", "routing")]
            said.append(
                f"{title}: a step takes {step:.0f} images/s against {plain[0]:.0f} of a plain formulation, "
                f"{step / plain[0]:.1f} times as many; a forward pass is {forward / plain[1]:.1f} times as fast, votes "
                f"and routing iterations {routing / plain[2]:.1f} times."
            )
    return said


def _floor(result: dict[str, Any]) -> str:
    """How far the ratios could go if nothing but the encoder took time."""
    times = {name: 1e3 * result["batch"] / speed for name, speed in result["images_per_second"].items()}
    there, both = times["encoder forward"], times["encoder both ways"]
    return (
        f"The encoder alone, which every method shares, takes {there:.1f} ms forward and {both:.1f} ms forward and "
        f"backward. A forward pass that did nothing else would be {times['plain forward'] / there:.2f} times faster "
        f"than the plain one, a step {times['plain step'] / both:.2f} times, and a step of L2 or L1 "
        f"{both / times[f'{DYNAMIC.name} step']:.2f} of DR's."
    )


def _times(calls: Mapping[str, Callable[[], Any]], device: torch.device) -> dict[str, float]:
    """Median seconds of each call, after a first one that does not count.

    They take turns: what slows the machine for some seconds slows them alike.
    """
    seconds = SECONDS if device.type == "cpu" else GPU_SECONDS
    taken: dict[str, list[float]] = {name: [] for name in calls}
    timers = {}
    for name, call in calls.items():
        call()
        timers[name] = Timer("call()", globals={"call": call}, num_threads=torch.get_num_threads())
    for _ in range(ROUNDS):
        for name, timer in timers.items():
            taken[name] += timer.blocked_autorange(min_run_time=seconds).times
    return {name: median(each) for name, each in taken.items()}


def _pass(
    call: Callable[[], Any], precision: Callable[[], AbstractContextManager[Any]] = nullcontext
) -> Callable[[], None]:
    """A call that wants no gradients."""

    def through() -> None:
        with torch.inference_mode(), precision():
            call()

    return through


def _precision(device: torch.device) -> AbstractContextManager[Any]:
    """The precision that `capsviz train` takes on a device."""
    half = precision_on(device.type) == "bf16-mixed"
    return torch.autocast(device.type, torch.bfloat16) if half else nullcontext()


def _products(device: torch.device) -> AbstractContextManager[None]:
    """How a step of `capsviz train` multiplies there what stays in float32."""
    return step_products(device.type, precision_on(device.type))


def _encoding(network: CapsNet, images: Tensor) -> Callable[[], None]:
    """The part of a training step that no routing changes."""

    def both_ways(batch: Batch, progress: float) -> None:
        with _products(images.device):
            with _precision(images.device):
                poses = network.encode(to_float(batch.images)).poses
            network.zero_grad()
            poses.sum().backward()

    return _trained(both_ways, network, images, torch.zeros(len(images), dtype=torch.int64, device=images.device))


def _trained(
    descent: Callable[[Batch, float], Any], network: CapsNet, images: Tensor, labels: Tensor
) -> Callable[[], Any]:
    """A call as `capsviz train` makes it: from bytes, and on a GPU recorded once and played back."""
    pixels = (255 * images).byte()
    batch = Batch(pixels, labels.unsqueeze(1), multi_hot(labels.unsqueeze(1), 10), pixels.unsqueeze(1))
    if images.device.type == "cuda" and not network.config.algorithm.tempered:
        descent = Recorded(descent, undo=network.zero_grad)
    return partial(descent, batch, 1.0)


def _plain_step(plain: Plain[Any], images: Tensor, labels: Tensor) -> Callable[[], None]:
    optimizer = torch.optim.Adam(plain.parameters(), lr=1e-3)
    targets = multi_hot(labels.unsqueeze(1), 10)

    def step() -> None:
        upper, drawn = plain(images, labels)
        loss = plain.config.algorithm.loss(plain.scores(upper), targets)
        loss = loss + losses.RECONSTRUCTION_WEIGHT * losses.reconstruction_loss(drawn, images)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def _step(network: CapsNet, images: Tensor, labels: Tensor) -> Callable[[], None]:
    """One training step as `capsviz train` takes it, the ascent of the coefficients included."""
    algorithm, on_gpu = network.config.algorithm, images.device.type == "cuda"
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True, capturable=on_gpu)

    def descent(batch: Batch, progress: float) -> Tensor | None:
        with _products(images.device):
            seen = to_float(batch.images)
            with _precision(images.device):
                output = network(seen, batch.labels[:, 0])
            loss = algorithm.loss(output.scores, batch.targets)
            loss = loss + losses.RECONSTRUCTION_WEIGHT * losses.reconstruction_loss(output.reconstruction, seen)
            optimizer.zero_grad()
            loss.backward()
            gradient = None
            if isinstance(algorithm, Ascending):
                with torch.no_grad():
                    gradient = algorithm.gradient(network, output.primary.poses, output.step.sums, batch.targets)
            optimizer.step()
        return gradient

    descend = _trained(descent, network, images, labels)

    def step() -> None:
        gradient = descend()
        if isinstance(algorithm, Ascending):
            ascended = algorithm.ascend(network.coefficients, gradient, step=0.005, regularisation=1e-3)
            network.coefficients.copy_(ascended)

    return step


def _faster(times: dict[str, float], what: str, than: str, asked: float) -> Bar:
    ratio = times[than] / times[what]
    return Bar(what, times[what], than, times[than], ratio, f"at least {asked:g} times faster", ratio >= asked)


def _at_most(times: dict[str, float], what: str, of: str, asked: float) -> Bar:
    ratio = times[what] / times[of]
    return Bar(what, times[what], of, times[of], ratio, f"at most {asked:g} of it", ratio <= asked)
