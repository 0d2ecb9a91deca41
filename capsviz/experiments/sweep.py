"""Training the same network under one setting after another: what is done is skipped, what was cut off is resumed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from capsviz.data import load
from capsviz.experiments import results
from capsviz.training.config import TrainingConfig
from capsviz.training.evaluate import evaluate
from capsviz.training.feed import training_sets
from capsviz.training.journal import read_metrics
from capsviz.training.loop import sparsity_of, train
from capsviz.training.runs import open_run

RUNS = Path("runs") / "experiments"


def digits(routing: str, **settings: Any) -> TrainingConfig:
    """The recipe of every sweep: seconds a run on one core, on images that come with capsviz.

    15 epochs, half of what the shipped digits models had, and float32, so that every machine does the same.
    """
    recipe = {"epochs": 15, "batch": 32, "learning_rate": 0.002, "schedule": "one-cycle", "shift": 1}
    return TrainingConfig("digits", routing, "tiny", **{**recipe, "precision": "32-true", **settings})


def sweep(
    name: str,
    configs: Sequence[TrainingConfig],
    *,
    runs: Path = RUNS,
    threads: int | None = None,
    time_limit: float | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Train every config that the result file of this name does not hold yet, and add a row for each as it ends.

    Returns the result: "rows", one for each config that is done, and "complete". Ctrl-C or the time limit (seconds,
    for each run) stop the sweep with a checkpoint; the same call goes on. The runs' folders go when their row stands.
    """
    done = {row["command"] for row in results.begun(name)["rows"]}
    wanted = [config for config in configs if config.command() not in done]
    for number, config in enumerate(wanted, start=1):
        say(f"{number} of {len(wanted)}: {config.command()}")
        folder = runs / name / f"{configs.index(config):03d}"
        outcome = train(config, folder, resume=True, device="cpu", threads=threads, time_limit=time_limit, quiet=True)
        if outcome.stopped:
            say(f"Stopped ({outcome.stopped}); the same command goes on from here.")
            break
        row = row_of(config, folder, outcome.summary or {})
        with results.changing(name) as result:
            results.put(result, [row], "command")
            result["complete"] = {config.command() for config in configs} <= {row["command"] for row in result["rows"]}
        shutil.rmtree(folder)
    return results.begun(name)


def conditions(result: dict[str, Any] | None) -> str:
    """On what a sweep was run: data, preset, steps, seeds, device."""
    if not result or not result["rows"]:
        return "No training of this experiment was measured yet"
    config = TrainingConfig.from_dict(result["rows"][0]["training"])
    counts = {row["training"]["seed"] for row in result["rows"]}
    unfinished = "" if result.get("complete") else ", the sweep is not finished"
    return (
        f"Data: {config.data}, {result['rows'][0]['test']['count']} test images; preset {config.preset}, "
        f"{result['rows'][0]['steps']} steps of {config.batch} images, seeds: {len(counts)}{unfinished}; CPU, "
        f"{' and '.join(dict.fromkeys(each['machine'] for each in results.machines(result)))}, {config.precision}"
    )


def row_of(config: TrainingConfig, folder: Path, summary: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a finished run: losses and errors on images as they are, validation by epoch, what b became."""
    model, _ = open_run(folder)
    seen = evaluate(model, training_sets(config)[0], 256)
    unseen = evaluate(model, load(config.data, "test"), 256)
    row: dict[str, Any] = {
        "command": config.command(),
        "training": config.to_dict(),
        "steps": summary["steps"],
        "seconds": summary["seconds"],
        "train": {"error": seen.error, "loss": seen.loss, "count": seen.count},
        "test": {"error": unseen.error, "loss": unseen.loss, "count": unseen.count},
        "validation": [
            [line["step"], line["validation_error"], line["validation_loss"]]
            for line in read_metrics(folder)
            if line["kind"] == "epoch"
        ],
    }
    if zeros := sparsity_of(model):
        b = model.get_buffer("coefficients")
        row["coefficients"] = zeros | {
            "negative_share": float((b < 0).float().mean()),
            "mean": float(b.mean()),
            "deviation": float(b.std()),
            "largest": float(b.abs().max()),
        }
    return row
