"""The step γ of b's ascent and where b starts, which Yang, Li & Yu 2021 leave open: a sweep, why the defaults are so.

capsviz experiment ascent --seeds 3
"""

from __future__ import annotations

from typing import Any

from capsviz.experiments import results
from capsviz.experiments.seed_means import SeedMean, seed_count, seed_means
from capsviz.experiments.sweep import digits
from capsviz.routing.discriminative import L2
from capsviz.training.config import TrainingConfig
from capsviz.training.journal import read_lines

NAME = "ascent"
STEPS = (0.0005, 0.005, 0.05, 0.5)
STARTS = (0.0, 0.1, 1.0)
STEP, START = 0.005, 0.1
"""The defaults: each of the two is varied while the other keeps its own."""
CONSTANT = "mnist-l2-constant-gamma.jsonl"
"""The training of mnist-l2 in which γ stayed the same while the learning rate fell."""


def configs(seeds: int) -> list[TrainingConfig]:
    """L2 on the digits, seed by seed."""
    settings = [(step, START) for step in STEPS] + [(STEP, start) for start in STARTS if start != START]
    return [
        digits(L2.name, ascent_step=step, coefficient_start=start, seed=seed)
        for seed in range(seeds)
        for step, start in settings
    ]


def by_step(result: dict[str, Any], measure: str) -> dict[float, SeedMean]:
    """The average over seeds by γ, b starting at its default; measure: see `_value`."""
    rows = [row for row in result["rows"] if row["training"]["coefficient_start"] == START]
    return seed_means(rows, lambda row: row["training"]["ascent_step"], lambda row: _value(row, measure))


def by_start(result: dict[str, Any], measure: str) -> dict[float, SeedMean]:
    """The average over seeds by the start of b, γ being its default; measure: see `_value`."""
    rows = [row for row in result["rows"] if row["training"]["ascent_step"] == STEP]
    return seed_means(rows, lambda row: row["training"]["coefficient_start"], lambda row: _value(row, measure))


def _value(row: dict[str, Any], measure: str) -> float:
    """Test "error" in percent, test or training loss, or one of what is kept of b: "deviation", "negative_share"."""
    if measure in ("error", "loss"):
        return row["test"][measure]
    return row["train"]["loss"] if measure == "train loss" else row["coefficients"][measure]


def drift() -> dict[str, list[tuple[int, float]]]:
    """Training margin loss of mnist-l2 by step with a constant γ and with one that falls as the learning rate does."""
    return {
        name: [(line["step"], line["margin"]) for line in lines if line["kind"] == "train"]
        for name, lines in _constant_and_falling().items()
    }


def _constant_and_falling() -> dict[str, list[dict[str, Any]]]:
    curves = results.folder() / "curves" / "mnist-l2.jsonl"
    paths = {"constant γ": results.folder() / CONSTANT, "γ ∝ learning rate": curves}
    return {name: read_lines(path) for name, path in paths.items() if path.is_file()}


def _validated(lines: list[dict[str, Any]]) -> float:
    """The validation error at the end."""
    return float([line["validation_error"] for line in lines if "validation_error" in line][-1])


def markdown(result: dict[str, Any]) -> str:
    """Loss, error and what became of b, by γ and by start, mean and range over the seeds."""
    lines = [
        "| γ | start of b | train loss | test error, % | deviation of b | negative b, % | seeds |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for values, place in ((by_step, 0), (by_start, 1)):
        measured = {name: values(result, name) for name in ("train loss", "error", "deviation", "negative_share")}
        for key, error in measured["error"].items():
            if place == 1 and key == START:
                continue
            step, start = (key, START) if place == 0 else (STEP, key)
            lines.append(
                f"| {step:g} | {start:g} | {measured['train loss'][key].written(4)} | {error.written()} "
                f"| {measured['deviation'][key].mean:.3f} | {100 * measured['negative_share'][key].mean:.1f} "
                f"| {error.count} |"
            )
    return "\n".join(lines)


def sentences(result: dict[str, Any]) -> list[str]:
    """Which γ and which starts train, and why γ falls with the learning rate."""
    error, starts = by_step(result, "error"), by_start(result, "error")
    if not error:
        return ["Nothing was measured here."]
    said = [
        f"Test error by γ on the digits ({seed_count(error)}): "
        + ", ".join(f"{step:g} → {each.written()} %" for step, each in error.items())
        + f"; the default is {STEP:g}.",
    ]
    if starts:
        by_start_of_b = ", ".join(f"{start:g} → {each.written()} %" for start, each in starts.items())
        said.append(f"By the start of b: {by_start_of_b}.")
    found = drift()
    if len(found) == 2:
        last = {name: points[-1][1] for name, points in found.items()}
        lowest = {name: min(value for _, value in points) for name, points in found.items()}
        said.append(
            "On MNIST the last training margin loss is "
            + " and ".join(f"{last[name]:.4f} with {name} (lowest: {lowest[name]:.4f})" for name in found)
            + ": where the weights rest and b does not, it rises, so γ falls with the learning rate. Validation error: "
            + ", ".join(f"{_validated(lines):.2f} % with {name}" for name, lines in _constant_and_falling().items())
            + ". One training each."
        )
    return said
