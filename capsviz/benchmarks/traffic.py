"""What a measured call moves through memory, and how near that comes to what the device copies in the same time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from capsviz.memory import Watch

COPIED = 2**26
"""Numbers in float32 that are copied to see what the device can: far more than any cache holds."""


def moved(call: Callable[[], Any]) -> int:
    """Bytes that one call moves: Σ over PyTorch's operations of all that each reads and writes (`capsviz.memory`)."""
    with Watch() as watch:
        call()
    return watch.moved


def copying(device: torch.device) -> tuple[Callable[[], Any], int]:
    """A call that copies from memory to memory, and the bytes that it moves."""
    source = torch.ones(COPIED, device=device)
    target = torch.empty_like(source)
    return lambda: target.copy_(source), 2 * source.nbytes


def ms(seconds: float) -> str:
    """Milliseconds as the tables write them: "149.3", and less than one as "0.025"."""
    return f"{1e3 * seconds:.1f}" if seconds >= 1e-3 else f"{1e3 * seconds:.3f}"


def table(result: dict[str, Any]) -> str:
    """Milliseconds, images a second and bytes moved of every call, beside the plain formulation on the same device."""
    rates, batch, copy = result["images_per_second"], result["batch"], result["copy_bytes_per_second"]
    lines = [
        f"On {result['device']}, batch {batch}; bytes moved: Σ over PyTorch's operations of what each reads and "
        "writes; GB/s: that by the time; a copy from memory to memory "
        f"(bytes read + written by its time) reaches {copy / 1e9:.0f} GB/s.",
        "",
        "| measured | ms per batch | images/s | × plain formulation | MB moved | GB/s | of a copy's |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, bytes_moved in result["bytes_moved"].items():
        seconds = batch / rates[name]
        own = f"plain {name.removeprefix('plain ')}"
        plain = rates.get(own) or rates.get(f"plain {name.rpartition(' ')[2]}")
        faster = f"{rates[name] / plain:.2f}" if plain else ""
        speed = bytes_moved / seconds
        lines.append(
            f"| {name} | {ms(seconds)} | {rates[name]:.0f} | {faster} | {bytes_moved / 1e6:.1f} "
            f"| {speed / 1e9:.1f} | {100 * speed / copy:.0f} % |"
        )
    choice = result["milliseconds_from_choice_to_trace"]
    asked = ", ".join(f"{name} {value:.1f} ms" for name, value in choice.items())
    return "\n".join([*lines, "", f"From the choice of an image to its trace, all votes and 10 iterations: {asked}."])
