"""How sparse L1 leaves b (Yang, Li & Yu 2021, eq. 14 and 15): λ from none to much, by subgradient and soft threshold.

capsviz experiment sparsity --seeds 3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from capsviz import zoo
from capsviz.data import title_of
from capsviz.experiments import results
from capsviz.experiments.seed_means import SeedMean, seed_count, seed_means
from capsviz.experiments.sweep import digits
from capsviz.network import METHODS
from capsviz.routing import ASCENDING
from capsviz.routing.discriminative import L1, L2, sparsity
from capsviz.training.config import TrainingConfig

NAME, SHIPPED = "sparsity", "sparsity-shipped"
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


def measure_shipped() -> dict[str, Any]:
    """Which shares of b are zero, by `Sparsity`, in the models with a decoder that ship; written as a result file."""
    rows = []
    for entry in zoo.models().values():
        if entry.routing in ASCENDING and entry.has_decoder:
            found = sparsity(zoo.load(entry.name).get_buffer("coefficients"))
            row = {"model": entry.name, "data": entry.data, "routing": entry.routing, "sha256": entry.sha256}
            rows.append(row | asdict(found))
    result = {"experiment": SHIPPED, "rows": rows} | results.machine()
    results.write(SHIPPED, result)
    return result


def of_shipped(result: dict[str, Any] | None) -> list[str]:
    """What the subgradient, with the λ of the recipes, left at zero in L1's models, beside L2's of the same data."""
    models = zoo.models()
    rows = [row for row in (result or {"rows": []})["rows"] if row["model"] in models]
    of = {routing: {row["data"]: row for row in rows if row["routing"] == routing} for routing in ASCENDING}
    both = [data for data in of[L1.name] if data in of[L2.name]]
    if not both:
        return []
    exact = max(100 * of[L1.name][data]["exact"] for data in both)
    percent = {data: " and ".join(f"{100 * each[data]['near']:.1f} %" for each in of.values()) for data in both}
    near = (f"{title_of(data)} {said}" for data, said in percent.items())
    return [
        f"In the models that ship, trained by the subgradient, L1 leaves at most {exact:.2f} % of b at exactly zero. "
        f"Nearly zero are, of {' and '.join(METHODS[name].short for name in of)}: {', '.join(near)}."
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
    if not any(strength for strength in exact[1]):
        return ["Only λ = 0 was measured so far."]
    best, most = [], []
    for part, proximal in zip(exact, (False, True), strict=True):
        best.append(max(working(result, proximal), key=lambda strength: part[strength].mean))
        most.append(100 * part[best[-1]].mean)
    plain = error[0][min(error[0])]
    at = f", at λ = {best[1]:g} with {error[1][best[1]].written()} % error" if most[1] else ""
    said = [
        f"Within {HARMLESS:g} point of the error without λ ({plain.written()} %), the paper's subgradient leaves "
        f"{most[0]:.2f} % of b at exactly zero and the soft threshold {most[1]:.1f} %{at} "
        f"({seed_count(exact[0])}, digits)."
    ]
    worst = max(error[1], key=lambda strength: error[1][strength].mean)
    if worst not in working(result, True):
        said.append(
            f"At λ = {worst:g} the soft threshold zeroes {100 * exact[1][worst].mean:.1f} %, and the network errs on "
            f"{error[1][worst].written()} %: it no longer reads digits."
        )
    return said
