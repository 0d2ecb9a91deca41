"""Viewpoints never seen in training: test images shifted by 0 … 8 pixels and turned by 0 … 60 degrees.

capsviz experiment robustness --count 10000

Evaluation only. What each model saw in training, its `--shift` and `--rotate`, is written beside its figures. Image i
goes right, down, left or up as i runs through 0 … 3 modulo 4, and turns left or right by turns, so that every image has
one fate, the same for all models. Far shifts push strokes off the canvas: the share of ink that is left is measured
too, because no network can read what is gone.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from capsviz import device, zoo
from capsviz.data import ImageSet
from capsviz.data.viewpoint import affine, shift
from capsviz.errors import listed
from capsviz.experiments import chance, moving, results
from capsviz.experiments.moving import candidates, compared, measured, own_of, sampled, tables, which
from capsviz.network import METHODS
from capsviz.training.evaluate import evaluate

NAME = "robustness"
SHIFTS = tuple(range(9))
ANGLES = (0, 10, 20, 30, 40, 50, 60)
SEEN = {"shift": "--shift", "rotation": "--rotate", "scale": "--scale", "shear": "--shear"}
"""What training images were moved by, and the option of `capsviz train` that says how far."""
SETTINGS = tuple(("shift", pixels) for pixels in SHIFTS) + tuple(("rotation", angle) for angle in ANGLES[1:])
AT_ONCE = 32
"""Images that are turned at a time: a turn takes numbers of them, eight to thirty times the room of the bytes."""
COUNTS = ("count",)
"""Only rows of as many images compare."""


def run(
    data: str = "mnist",
    models: Sequence[str] | None = None,
    count: int = 2000,
    *,
    settings: Sequence[tuple[str, int]] = SETTINGS,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure every model (`capsviz.experiments.moving.candidates`, unless given) under every setting.

    count: so many test images. A row is added as soon as it is measured, and what stands is skipped; a model
    whose weights changed is measured again. Raises CapsvizError as `sampled` and `compared`.
    """
    with results.apart(own_of(models or candidates(data), data)):
        images = sampled(data, "test", count, models)
        for entry in compared(NAME, images, models):
            done = measured(results.begun(NAME), entry.name, images.name, "kind", "amount", *COUNTS)
            wanted = [setting for setting in settings if (*setting, len(images)) not in done]
            network = zoo.load_network(entry.name) if wanted else None
            for kind, amount in wanted:
                assert network is not None
                moved = moved_images(images, kind, amount)
                found = evaluate(network, moved)
                row = {
                    "model": entry.name,
                    "data": images.name,
                    "routing": entry.routing,
                    "sha256": entry.sha256,
                    **{f"seen_{name}": seen(entry.command, option) for name, option in SEEN.items()},
                    "kind": kind,
                    "amount": amount,
                    "count": found.count,
                    "error": found.error,
                    "ink": ink_left(images, moved),
                }
                with results.changing(NAME) as result:
                    results.put(result, [row], "model", "data", "kind", "amount", *COUNTS, place=device.of(network))
                say(f"{entry.name}, {kind} {amount}: {found.error:.2f} % of {found.count}")
        return results.begun(NAME)


def moved_images(images: ImageSet, kind: str, amount: int) -> ImageSet:
    """The images shifted by `amount` pixels, or turned by `amount` degrees, each in its own direction."""
    number = torch.arange(len(images))
    if kind == "rotation":
        degrees = amount * (1.0 - 2.0 * (number % 2))
        parts = zip(images.images.split(AT_ONCE), degrees.split(AT_ONCE), strict=True)
        return replace(images, images=torch.cat([affine(part, degrees=some) for part, some in parts]))
    right, down = torch.tensor([1, 0, -1, 0])[number % 4], torch.tensor([0, 1, 0, -1])[number % 4]
    return replace(images, images=shift(images.images, amount * right, amount * down))


def ink_left(before: ImageSet, after: ImageSet) -> float:
    """The share of all brightness that is still on the canvas; what resampling adds by rounding does not count."""
    left, whole = (sum(float(part.double().sum()) for part in each.images.split(AT_ONCE)) for each in (after, before))
    return min(1.0, left / whole)


def seen(command: str, option: str) -> float | None:
    """By how much training images were moved at most, from the command that trained a model.

    None for a model that was not trained by capsviz.
    """
    words = shlex.split(command)
    if words[1:2] != ["train"]:
        return None
    return float(words[words.index(option) + 1]) if option in words else 0.0


def series(part: dict[str, Any], kind: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of one kind, of one part, by model in the order of the methods, in rising amount.

    Nothing moved belongs to both kinds.
    """
    order = list(METHODS)
    found: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(part["rows"], key=lambda row: (order.index(row["routing"]), row["amount"])):
        if row["kind"] == kind or row["amount"] == 0:
            found.setdefault(row["model"], []).append(row)
    return found


def markdown(result: dict[str, Any]) -> str:
    """Error in percent by model and amount, a table for each part."""
    return tables(result, _markdown, *COUNTS)


def _markdown(result: dict[str, Any]) -> str:
    lines = []
    for kind, unit in (("shift", "px"), ("rotation", "°")):
        rows = series(result, kind)
        amounts = sorted({row["amount"] for each in rows.values() for row in each})
        lines += [f"| {kind} | " + " | ".join(f"{amount} {unit}" for amount in amounts) + " |"]
        lines += ["| --- |" + " ---: |" * len(amounts)]
        for each in rows.values():
            by_amount = {row["amount"]: row for row in each}
            cells = (f"{by_amount[amount]['error']:.2f}" if amount in by_amount else "" for amount in amounts)
            lines.append(f"| {each[0]['model']} | " + " | ".join(cells) + " |")
        ink = {row["amount"]: row["ink"] for each in rows.values() for row in each}
        lines += [f"| ink left, % | {' | '.join(f'{100 * ink[amount]:.0f}' for amount in amounts)} |", ""]
    return "\n".join(lines).rstrip()


def sentences(result: dict[str, Any]) -> list[str]:
    """Who errs least and most where the images moved, and what the models had seen, part by part."""
    return moving.sentences(result, _sentences, *COUNTS)


def _sentences(result: dict[str, Any]) -> list[str]:
    said = []
    for kind, amount, unit in (("shift", 4, "pixels"), ("rotation", 40, "degrees")):
        rows = [row for row in result["rows"] if (row["kind"], row["amount"]) == (kind, amount)]
        if len(rows) < 2:
            continue
        said.append(f"At a {kind} of {amount} {unit} {_compared(rows)}.")
    data, count = (result["rows"][0][name] for name in ("data", "count"))
    images = which(data, f"{count:,}").capitalize()
    unlike = len({METHODS[row["routing"]].has_capsules for row in result["rows"]}) > 1
    encoders = " Networks with and without capsules differ in their encoders as well." * unlike
    said.append(f"{_trained(result)}{encoders} {images} test images, one model each; {chance.MEANT}.")
    return said


def _compared(rows: list[dict[str, Any]]) -> str:
    """Who errs least and most, and who no more than the first but by chance."""
    best, *_ = alike = chance.least(rows)
    worst = max(rows, key=lambda row: row["error"])
    if len(alike) == len(rows):
        return f"all models err alike within chance, on {best['error']:.2f} to {worst['error']:.2f} %"
    who, errors, within = chance.told(alike, [row["model"] for row in alike])
    return f"{who}, on {errors}{within}, {worst['model']} most, on {worst['error']:.2f} %"


def _trained(result: dict[str, Any]) -> str:
    """Which models saw what in training."""
    by_seen: dict[tuple[float, ...], dict[str, None]] = {}
    foreign: dict[str, None] = {}
    for row in result["rows"]:
        told = row["seen_shift"] is not None
        models = by_seen.setdefault(tuple(row[f"seen_{name}"] for name in SEEN), {}) if told else foreign
        models[row["model"]] = None
    said = [f"{_moves(*amounts)} ({', '.join(models)})" for amounts, models in sorted(by_seen.items())]
    said += [f"what is not told here ({', '.join(foreign)})"] if foreign else []
    return f"In training the models saw {'; '.join(said)}."


def _moves(pixels: float, degrees: float, scale: float, shear: float) -> str:
    """What training images were moved by, in words."""
    said = [
        f"shifts of up to {pixels:g} pixels",
        f"turns of up to {degrees:g} degrees" if degrees else "no turns",
        *([f"scaling by up to {100 * scale:g} %"] if scale else []),
        *([f"shears of up to {shear:g} degrees"] if shear else []),
    ]
    return listed(said)
