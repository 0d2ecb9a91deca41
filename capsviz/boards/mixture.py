"""Points in the plane for a mixture of Gaussians, and as votes for EM routing: what the board takes and tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, get_args

import torch
from numpy import ndarray

from capsviz.analysis.mixtures import FLOOR, Covariance, begin, half_steps
from capsviz.boards.board import Board
from capsviz.boards.checks import is_index, is_number, is_one_of
from capsviz.boards.message import Message
from capsviz.boards.theme import theme
from capsviz.data.points import COUNT, DECIMALS, EXTENT, PRESETS
from capsviz.routing import InverseTemperature
from capsviz.routing.em import BETA_A, EM

ROUNDS = 15
"""E-steps and M-steps that are played."""
FRAMES = 2 * ROUNDS + 1
FEWEST_POINTS, MOST_POINTS = 4, 40
"""Points on the board."""
GAUSSIANS = (2, 3, 4)
COVARIANCES: tuple[Covariance, ...] = get_args(Covariance)
TURNS, SEEDS = 8, 10_000
"""How many starts and how many draws of a preset there are to choose from."""
BETA = 4.0
"""How far β_u and β_a go from 0."""
TEMPERATURES = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0)
"""What λ may rise to: finer steps where it is small."""
LEAST_TEMPERATURE = 1e-3
"""The least that it may be in a link, or rise to on the board."""
LINES = (
    "<b>E</b> r<sub>ik</sub> = π<sub>k</sub> N(x<sub>i</sub>; μ<sub>k</sub>, Σ<sub>k</sub>) / "
    "Σ<sub>l</sub> π<sub>l</sub> N(x<sub>i</sub>; μ<sub>l</sub>, Σ<sub>l</sub>)",
    "<b>M</b> n<sub>k</sub> = Σ<sub>i</sub> r<sub>ik</sub>, π<sub>k</sub> = n<sub>k</sub> / N, "
    "μ<sub>k</sub> = Σ<sub>i</sub> r<sub>ik</sub> x<sub>i</sub> / n<sub>k</sub>,<br>"
    "Σ<sub>k</sub> = Σ<sub>i</sub> r<sub>ik</sub> (x<sub>i</sub> − μ<sub>k</sub>)(x<sub>i</sub> − μ<sub>k</sub>)ᵀ / "
    "n<sub>k</sub> + ε I",
)
"""Of EM for a mixture, in HTML: the E-step, the M-step."""


@dataclass(frozen=True)
class Laid:
    """All that a visitor chooses on the board but the half step.

    preset, seed: which points are drawn; points: those by hand instead, flat, x, y and activation a_i of each; drawn
    ones have a_i = 1. turn: of the start. votes: the points are votes under EM routing, with λ rising to `temperature`,
    from an R of 1 / J where it is `even`. point: the one that is looked at.
    """

    preset: str = next(iter(PRESETS))
    seed: int = 0
    points: tuple[float, ...] = ()
    gaussians: int = next(iter(PRESETS.values())).gaussians
    covariance: Covariance = "full"
    turn: int = 0
    votes: bool = False
    temperature: float = 1.0
    beta_u: float = 0.0
    beta_a: float = BETA_A
    even: bool = False
    point: int | None = None

    def tensor(self) -> torch.Tensor:
        """The points with their activations, "point 3"."""
        flat = self.points or [x for point in PRESETS[self.preset].points(self.seed) for x in (*point, 1.0)]
        return torch.tensor(flat, dtype=torch.float64).view(-1, 3)


def mixture_message(laid: Laid, *, frame: int | None = None, draws: bool = False, dark: bool = False) -> Message:
    """The board of a mixture: it computes in the browser what follows from where everything lies.

    frame: the half step at which to stand, counted from 0, the start; None: the last. draws: another seed can be asked
    for.
    """
    state = {**asdict(laid), "points": nested(laid.points) or None}
    fields = {
        "state": state,
        "frame": frame,
        "draws": SEEDS if draws else 1,
        "presets": [
            {
                "name": name,
                "title": preset.title,
                "note": preset.note,
                "gaussians": preset.gaussians,
                "points": [[*point, 1.0] for point in preset.points(laid.seed)],
            }
            for name, preset in PRESETS.items()
        ],
        "starts": [{count: _start(count, turn) for count in GAUSSIANS} for turn in range(TURNS)],
        "floor": FLOOR,
        "ramp": [InverseTemperature().at(iteration) for iteration in range(1, ROUNDS + 1)],
        "fewest": FEWEST_POINTS,
        "most": MOST_POINTS,
        "reach": EXTENT,
        "decimals": DECIMALS,
        "beta": BETA,
        "temperatures": sorted({*TEMPERATURES, laid.temperature}),
        "lines": {"mixture": list(LINES), "votes": [line.math for line in EM.program.lines]},
        "theme": theme(dark, max(GAUSSIANS)),
    }
    return Message(fields, {})


def mixture_board(laid: Laid, title: str, *, dark: bool = False) -> Board:
    """The board by itself, for a page of its own."""
    return Board("mixture", title, lambda _: mixture_message(laid, dark=dark), table=lambda: mixture_table(laid))


def mixture_table(laid: Laid) -> dict[str, ndarray]:
    """The points with their activations, and the mixture of Gaussians, as `HalfStep` has it, at each half step.

    Beside votes it is that which the board draws dashed; responsibilities begin with the first E-step.
    """
    points = laid.tensor()
    start = begin(laid.gaussians, laid.turn)
    steps = list(islice(half_steps(points[:, :2], start, laid.covariance), FRAMES))
    owned = [step.responsibilities for step in steps if step.responsibilities is not None]
    gaussians = [asdict(step.gaussians) for step in steps]
    found = {name: torch.stack([each[name] for each in gaussians]) for name in gaussians[0]}
    found |= {"points": points, "responsibilities": torch.stack(owned)}
    found["log_likelihood"] = torch.tensor([step.log_likelihood for step in steps])
    return {name: values.numpy() for name, values in found.items()}


def _start(count: int, turn: int) -> dict[str, Any]:
    start = begin(count, turn)
    return {name: getattr(start, name).tolist() for name in ("weights", "means", "covariances")}


def nested(flat: Sequence[float]) -> list[list[float]]:
    """Flat points as one triple each."""
    return [list(flat[at : at + 3]) for at in range(0, len(flat), 3)]


def received(value: object) -> Laid | None:
    """What the browser sent, coordinates and activations to two decimals; None where it is nothing that can be laid."""
    if not isinstance(value, dict):
        return None
    numbers = {name: value.get(name) for name in ("temperature", "beta_u", "beta_a")}
    points = _points(value.get("points"))
    fits = (
        value.get("preset") in list(PRESETS)  # what is told may be a list, which no mapping can be asked for
        and points is not None
        and is_index(value.get("seed"), SEEDS)
        and is_index(value.get("gaussians"), max(GAUSSIANS) + 1)
        and value["gaussians"] in GAUSSIANS
        and value.get("covariance") in COVARIANCES
        and is_index(value.get("turn"), TURNS)
        and all(is_number(number, -BETA, BETA) for name, number in numbers.items() if name != "temperature")
        and is_number(numbers["temperature"], LEAST_TEMPERATURE, TEMPERATURES[-1])
        and is_one_of(value.get("point"), len(points) // 3 or COUNT)
    )
    if not fits or points is None:
        return None
    return Laid(
        points=points,
        votes=value.get("votes") is True,
        even=value.get("even") is True,
        temperature=float(value["temperature"]),
        beta_u=round(float(value["beta_u"]), 1),
        beta_a=round(float(value["beta_a"]), 1),
        **{name: value[name] for name in ("preset", "seed", "gaussians", "covariance", "turn", "point")},
    )


def _points(value: object) -> tuple[float, ...] | None:
    """Flat; empty for none, None for what can be no points."""
    if value is None:
        return ()
    if not isinstance(value, list) or not FEWEST_POINTS <= len(value) <= MOST_POINTS:
        return None
    for point in value:
        if not isinstance(point, list) or len(point) != 3 or not all(is_number(x, -EXTENT, EXTENT) for x in point):
            return None
        if point[2] < 0:
            return None
    return tuple(round(float(x), DECIMALS) for point in value for x in point)
