"""How much memory training takes: two steps of a network that need not ship, and the most that the process ever held.

capsviz benchmark memory --routing em --preset compact --image 3x64x64 --classes 200 --batch 32
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

import torch

from capsviz.errors import CapsvizError
from capsviz.experiments import results
from capsviz.network import METHODS, assemble, configure
from capsviz.network.finite import check_finite
from capsviz.routing.dynamic import DYNAMIC
from capsviz.training import losses
from capsviz.training.feed import multi_hot
from capsviz.training.memory import keep_freed_memory
from capsviz.training.processes import precision_on, step_products

COMMAND = "capsviz benchmark memory"
STEPS = 2
"""Of training: Adam has its moments from the first one on, and the second meets them."""
ASKED = 4e9
"""Bytes within which 32 colour images of 64×64 and 200 classes are asked to train."""


def measure(
    preset: str, routing: str | None, image: str, classes: int, batch: int, threads: int | None = None
) -> dict[str, Any]:
    """Train on noise on the CPU for `STEPS` steps, in this process, and say what it took.

    routing: dynamic routing unless given. image: "3x64x64", channels, rows and columns. Images are noise: no size here
    depends on what they show. Raises CapsvizError for another form, ConfigError for a network that cannot be built.
    """
    if threads:
        torch.set_num_threads(threads)
    routing = routing or DYNAMIC.name
    keep_freed_memory()
    torch.manual_seed(0)
    shape, before = _shape(image), held()
    network = assemble(configure(preset, "digits", routing, image=shape, classes=classes))
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, fused=True)
    images, labels = torch.rand(batch, *shape), torch.randint(classes, (batch,))
    precision = precision_on("cpu")
    seconds = []
    for _ in range(STEPS):
        began = time.perf_counter()
        with step_products("cpu", precision):
            with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16-mixed"):
                output = network(images, reconstruct=False)
                drawn = None if network.decoder is None else network.decode(output.poses, labels)
            loss = METHODS[routing].loss(output.scores, multi_hot(labels.unsqueeze(1), classes), 1.0)
            if drawn is not None:
                loss = loss + losses.RECONSTRUCTION_WEIGHT * losses.reconstruction_loss(drawn, images)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - began)
    check_finite(network.state_dict(), "The network")
    return {
        "command": f"{COMMAND} --routing {routing} --preset {preset} --image {image} "
        f"--classes {classes} --batch {batch}",
        "parameters": sum(weight.numel() for weight in network.parameters()),
        "lower": getattr(network.config, "lower", 0),
        "bytes_before": before,
        "bytes": held(),
        "seconds_per_step": round(min(seconds), 2),
    }


def table(result: Mapping[str, Any]) -> str:
    """A row for each command of a result file, and a sentence on the machine."""
    head = [
        "| `capsviz benchmark memory` | weights | primary capsules | held at the most, GB | asked | |",
        "| --- | ---: | ---: | ---: | --- | --- |",
    ]
    rows = [
        f"| `{row['command'].removeprefix(COMMAND).strip()}` | {row['parameters'] / 1e6:.1f} M | {row['lower']:,} "
        f"| {row['bytes'] / 1e9:.2f} | at most {ASKED / 1e9:g} | {'met' if row['bytes'] <= ASKED else 'missed'} |"
        for row in result["rows"]
    ]
    before = max(row["bytes_before"] for row in result["rows"])
    places = " and ".join(f"{_threads(on['threads'])} of {on['machine']}" for on in results.machines(result))
    below = (
        f"Each in a process of its own, which held up to {before / 1e9:.2f} GB before there was a network; {places}."
    )
    return "\n".join([*head, *rows, "", below])


def held() -> int:
    """Bytes that this process held at the most so far, all that it imported included.

    Raises CapsvizError on Windows, which does not say.
    """
    if sys.platform == "win32":
        raise CapsvizError("Windows does not say what a process held at the most; measure memory on Linux or macOS.")
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def sentence(result: Mapping[str, Any]) -> str:
    """A result in a sentence."""
    most, before = (result[name] / 1e9 for name in ("bytes", "bytes_before"))
    return (
        f"{result['parameters'] / 1e6:.1f} M weights, {result['lower']:,} primary capsules: {most:.2f} GB at the most, "
        f"of which {before:.2f} GB before that network; {result['seconds_per_step']:.2f} s a step on "
        f"{_threads(torch.get_num_threads())}."
    )


def _threads(count: int) -> str:
    return f"{count} thread{'s' * (count > 1)}"


def _shape(image: str) -> tuple[int, int, int]:
    sizes = image.split("x")
    if len(sizes) != 3 or not all(size.isdigit() and int(size) for size in sizes):
        raise CapsvizError(f"{image!r} is no size of an image; write channels, rows and columns like 3x64x64.")
    channels, rows, columns = map(int, sizes)
    return channels, rows, columns
