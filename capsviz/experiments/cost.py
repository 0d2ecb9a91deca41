"""Figure 4 of Yang, Li & Yu 2021: seconds per 100 steps of DR, L2 and L1, the whole step and the routing alone.

capsviz experiment cost --threads 2
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from capsviz.experiments import results
from capsviz.experiments.table2 import amid, block_of
from capsviz.network import METHODS
from capsviz.routing.discriminative import L1, L2
from capsviz.routing.dynamic import DYNAMIC

COMPARED = (DYNAMIC.name, L2.name, L1.name)
ENCODERS = ("paper", "residual")
"""Whose steps are compared: the papers' network, and what our encoder leaves of the saving."""
PAPER_SAVES = 0.2
"""Yang, Li & Yu 2021, Figure 4: L1 and L2 take at least 20 % less time than DR."""


@dataclass(frozen=True)
class Cost:
    """Seconds per 100 batches by method, measured on one device."""

    device: str
    preset: str
    batch: int
    step: dict[str, float]
    routing: dict[str, float]
    stored: float | None = None

    def saved(self, name: str) -> float:
        """Which share of DR's whole step a method saves."""
        return 1 - self.step[name] / self.step[DYNAMIC.name]


def costs() -> list[Cost]:
    """What `speed-PRESET.json` (CPU) and `speed-PRESET-cuda.json` (GPU; or -mps) hold, as far as they are there."""
    places = [(file_of(preset, kind), kind) for preset in ENCODERS for kind in ("cpu", "cuda", "mps")]
    return [of(result, kind) for name, kind in places if (result := results.read(name)) is not None]


def file_of(preset: str, kind: str) -> str:
    """The name of the result file of a preset on a kind of device, "cpu", "cuda" or "mps"."""
    return f"speed-{preset}" if kind == "cpu" else f"speed-{preset}-{kind}"


def of(result: dict[str, Any], kind: str) -> Cost:
    """The cost that a result of `capsviz benchmark` stands for; raises ResultError where a method was not measured.

    kind: of the device, as of `file_of`.
    """
    wanted = {f"{name} {what}" for name in COMPARED for what in ("step", "routing")}
    if missing := wanted - result["images_per_second"].keys():
        raise results.ResultError(f"The speed of {min(missing)!r} was not measured; run `capsviz benchmark` again.")
    speed, batch = result["images_per_second"], result["batch"]
    where = f"CPU, {result['threads']} threads, {result['machine']}" if kind == "cpu" else result["device"]
    step, routing = ({name: 100 * batch / speed[f"{name} {what}"] for name in COMPARED} for what in ("step", "routing"))
    plain = speed.get("plain routing")
    return Cost(where, result["preset"], batch, step, routing, 100 * batch / plain if plain else None)


def markdown(found: list[Cost]) -> str:
    """Seconds per 100 batches as a table."""
    names = [METHODS[name].short for name in COMPARED]
    heads = [*names, *(f"{name} saves" for name in names[1:])]
    lines = [
        f"| preset | device | seconds per 100 | {' | '.join(heads)} |",
        "| --- | --- | --- |" + " ---: |" * len(heads),
    ]
    for cost in found:
        for what, seconds in (("training steps", cost.step), ("routings, forward", cost.routing)):
            saved = [f"{100 * (1 - seconds[name] / seconds[DYNAMIC.name]):.0f} %" for name in COMPARED[1:]]
            cells = " | ".join([*(f"{seconds[name]:.2f}" for name in COMPARED), *saved])
            lines.append(f"| {cost.preset} | {cost.device} | {what} | {cells} |")
    return "\n".join(lines)


def sentences(found: list[Cost]) -> list[str]:
    """Whether L2 and L1 save what the paper says, and where it was measured."""
    said = []
    for preset, devices in groupby(found, key=lambda cost: cost.preset):
        of_preset = list(devices)
        said.append(
            f"A whole step of {amid(block_of(preset))} costs {', '.join(map(_saving, of_preset))}; the paper reports "
            f"at least {100 * PAPER_SAVES:.0f} %."
        )
    for cost in found:
        times: dict[str, float] = {
            name: cost.routing[DYNAMIC.name] / cost.routing[name]
            if cost.routing[name] <= cost.routing[DYNAMIC.name]
            else -cost.routing[name] / cost.routing[DYNAMIC.name]
            for name in COMPARED[1:]
        }
        said.append(
            f"The routing alone costs {_less(times, '{:.1f}', 'times ')} ({cost.preset}, {cost.device}): DR itself "
            f"stores no votes here{_as_stored(cost)}."
        )
    if found and all(cost.device.startswith("CPU") for cost in found):
        said.append("No GPU was at hand: nothing was measured on one.")
    return said


def _as_stored(cost: Cost) -> str:
    """How DR's routing compares with one that stores its votes, where that was measured."""
    if cost.stored is None:
        return ""
    own = cost.routing[DYNAMIC.name]
    slower = own >= cost.stored
    times = own / cost.stored if slower else cost.stored / own
    return f", and takes {times:.1f} times {'as long as' if slower else 'less than'} one that does"


def _saving(cost: Cost) -> str:
    """What L2 and L1 save on one device: "L2 14 % and L1 13 % less than DR (CPU, 2 threads: missed)"."""
    met = [cost.saved(name) >= PAPER_SAVES for name in COMPARED[1:]]
    verdict = "met by both" if all(met) else "met by one of the two" if any(met) else "missed"
    saved: dict[str, float] = {name: 100 * cost.saved(name) for name in COMPARED[1:]}
    return f"{_less(saved, '{:.0f} %')} than DR ({cost.device}: {verdict})"


def _less(amounts: dict[str, float], written: str, unit: str = "") -> str:
    """Who costs how much less, or more where the amount is negative: "L2 14 % and L1 13 % less"."""
    said = [
        (f"{METHODS[name].short} {written.format(abs(each))}", f"{unit}{'less' if each >= 0 else 'more'}")
        for name, each in amounts.items()
    ]
    if len({way for _, way in said}) == 1:
        return f"{' and '.join(amount for amount, _ in said)} {said[0][1]}"
    return " and ".join(map(" ".join, said))
