"""How sparse L1 leaves b (Yang, Li & Yu 2021, eq. 14 and 15): λ from none to much, by subgradient and soft threshold.

capsviz experiment sparsity --seeds 3
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from capsviz import zoo
from capsviz.data import title_of
from capsviz.experiments import results
from capsviz.experiments.convergence import settings
from capsviz.experiments.moving import own_of
from capsviz.experiments.seed_means import SeedMean, seed_count, seed_means
from capsviz.experiments.sweep import digits
from capsviz.network import METHODS
from capsviz.routing.discriminative import L1, L2, sparsity
from capsviz.training.config import TrainingConfig

NAME, SHIPPED = "sparsity", "sparsity-shipped"
BOTH = L2.name, L1.name
HARMLESS = 1.0
"""Percentage points of error by which a sparse network may be worse and still count as one that works."""
REGULARISATION = (0.0, 1e-3, 1e-2, 3e-2, 1e-1)


def configs(seeds: int) -> list[TrainingConfig]:
    """L1 on the digits, seed by seed; without λ the two steps are one and the same."""
    return [
        digits(L1.name, regularisation=strength, proximal=proximal, seed=seed)
        for seed in range(seeds)
        for strength in REGULARISATION
        for proximal in ((False, True) if strength else (False,))
    ]


def shipped() -> list[str]:
    """The models that learned b and have a decoder."""
    return [name for name, entry in zoo.models().items() if entry.routing in BOTH and entry.has_decoder]


def measure_shipped() -> dict[str, Any]:
    """Which shares of b are zero, by `Sparsity`, in the models with a decoder that ship; written as a result file."""
    with results.apart(own_of(shipped())):
        rows = []
        for entry in map(zoo.entry, shipped()):
            found = sparsity(zoo.load(entry.name).get_buffer("coefficients"))
            row = {"model": entry.name, "data": entry.data, "routing": entry.routing, "sha256": entry.sha256}
            rows.append(row | asdict(found))
        result = {"experiment": SHIPPED, "rows": rows} | results.machine()
        results.write(SHIPPED, result)
        return result


def of_shipped(result: dict[str, Any] | None) -> list[str]:
    """What the subgradient left at zero in L1's models, beside L2's that differ in the routing alone."""
    models, alike = zoo.models(), dict[tuple[str, str], dict[str, dict[str, Any]]]()
    for row in (result or {"rows": []})["rows"]:
        if row["model"] in models:
            trained = settings(models[row["model"]].command)  # L2 is never trained by the soft threshold
            alike.setdefault((row["data"], trained), {}).setdefault(row["routing"], row)
    both = [rows for rows in alike.values() if len(rows) == len(BOTH)]
    if not both:
        return []
    exact = max(100 * rows[L1.name]["exact"] for rows in both)
    several = Counter(rows[L1.name]["data"] for rows in both)
    near = []
    for rows in both:
        data, model = rows[L1.name]["data"], rows[L1.name]["model"]
        percent = " and ".join(f"{100 * rows[name]['near']:.1f} %" for name in BOTH)
        near.append(f"{title_of(data)}{f' ({model})' * (several[data] > 1)} {percent}")
    return [
        f"In the models that ship, trained by the subgradient, L1 leaves at most {exact:.2f} % of b at exactly zero. "
        f"Nearly zero are, of {' and '.join(METHODS[name].short for name in BOTH)}: {', '.join(near)}."
    ]


def shares(result: dict[str, Any], measure: str, proximal: bool) -> dict[float, SeedMean]:
    """The average over seeds by λ of "exact_zero_share", "near_zero_share" (0..1) or "error" (percent, test)."""
    rows = [row for row in result["rows"] if row["training"]["proximal"] == proximal or not _strength(row)]
    return seed_means(rows, _strength, lambda row: row["test"]["error"] if measure == "error" else _of_b(row, measure))


def _strength(row: Mapping[str, Any]) -> float:
    return row["training"]["regularisation"]


def _of_b(row: Mapping[str, Any], measure: str) -> float:
    return row["coefficients"][measure]


def working(result: dict[str, Any], proximal: bool) -> list[float]:
    """The λ whose networks err by at most `HARMLESS` points more than without λ: zeros of others say nothing."""
    error = shares(result, "error", proximal)
    if not error:
        return []
    bar = error[min(error)].mean + HARMLESS
    return [strength for strength, each in error.items() if each.mean <= bar]


def markdown(result: dict[str, Any]) -> str:
    """Error and shares of zeros by λ and step, mean and range over the seeds."""
    lines = [
        "| λ | step | test error, % | exact zeros, % | near zeros, % | seeds |",
        "| ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for proximal, name in ((False, "subgradient"), (True, "soft threshold")):
        error = shares(result, "error", proximal)
        exact, near = (shares(result, f"{kind}_zero_share", proximal) for kind in ("exact", "near"))
        for strength in error:
            if proximal and not strength:
                continue
            percent = [f"{100 * share[strength].mean:.1f}" for share in (exact, near)]
            lines.append(
                f"| {strength:g} | {name} | {error[strength].written()} | {' | '.join(percent)} "
                f"| {error[strength].count} |"
            )
    return "\n".join(lines)


def sentences(result: dict[str, Any]) -> list[str]:
    """What each of the two steps leaves at zero in a network that still works, and where that ends."""
    exact = [shares(result, "exact_zero_share", proximal) for proximal in (False, True)]
    error = [shares(result, "error", proximal) for proximal in (False, True)]
    if not exact[0]:
        return ["Nothing was measured here."]
    if not any((*exact[0], *exact[1])):
        return ["Only λ = 0 was measured so far."]
    best, most = [], []
    for part, proximal in zip(exact, (False, True), strict=True):
        best.append(max(working(result, proximal), key=lambda strength: part[strength].mean))
        most.append(100 * part[best[-1]].mean)
    plain = error[0][min(error[0])]
    at = f", at λ = {best[1]:g} with {error[1][best[1]].written()} % error" if most[1] else ""
    soft = f" and the soft threshold {most[1]:.1f} %{at}" if any(exact[1]) else ""
    said = [
        f"Within {HARMLESS:g} point of the error without λ ({plain.written()} %), the paper's subgradient leaves "
        f"{most[0]:.2f} % of b at exactly zero{soft} ({seed_count(exact[0])}, digits)."
    ]
    worst = max(error[1], key=lambda strength: error[1][strength].mean)
    if worst not in working(result, True):
        said.append(
            f"At λ = {worst:g} the soft threshold zeroes {100 * exact[1][worst].mean:.1f} %, and the network errs on "
            f"{error[1][worst].written()} %, {error[1][worst].mean - plain.mean:.1f} points more than without λ."
        )
    return said
