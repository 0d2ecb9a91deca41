"""From a model of the zoo to its checkpoints: its training once more, of which a few early steps are kept."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from torch import Tensor

from capsviz import zoo
from capsviz.data import load
from capsviz.files import read_tensors
from capsviz.network import CapsNet, assemble
from capsviz.network.assemble import folded
from capsviz.training.config import SettingsError
from capsviz.training.evaluate import evaluate
from capsviz.training.loop import build, kept_at, train
from capsviz.training.publish import exemplar_images
from capsviz.training.recipes import Recipe, recipes
from capsviz.training.runs import check_same_run, holds_run, read_run
from capsviz.zoo import checkpoints
from capsviz.zoo.manifest import changing, check_seen
from capsviz.zoo.storage import unpacked

STEPS = (0, 20, 30, 40, 60, 100, 200)
"""After which a model is kept beside the trained one: where the error of the digits' models falls fastest."""


def recipe_of(name: str) -> Recipe:
    """How a model of the zoo was trained.

    Raises SettingsError where no recipe here did it, or it has no capsules; ZooError as `capsviz.zoo.entry`.
    """
    entry, found = zoo.entry(name), next((recipe for recipe in recipes() if recipe.name == name), None)
    if found is None or not entry.has_capsules:
        raise SettingsError(f"{name} has no recipe here, or no capsules; see `capsviz zoo train --list`.")
    if found.config.command() != entry.command:
        raise SettingsError(
            f"{name} was trained otherwise than its recipe says; train it by `capsviz zoo train {name}` and add it by "
            f"`capsviz zoo add runs/{name}` first."
        )
    return found


def publish_checkpoints(name: str, out: Path, *, threads: int | None = None, quiet: bool = False) -> zoo.Entry:
    """Train a model of the zoo again by its recipe, in a folder below `out`, and ship it as it was after `STEPS`.

    Its weights stay as they are: on another machine the training ends in others, to rounding and what follows from
    that. The errors are those of the rounded networks on the test set. Raises SettingsError, ZooError, and what `train`
    raises.
    """
    config, entry = recipe_of(name).config, zoo.entry(name)
    folder = out / f"{name}-checkpoints"
    if holds_run(folder):  # which `train` would have one name otherwise
        check_same_run(config, read_run(folder), folder)
    outcome = train(config, folder, resume=True, threads=threads, quiet=quiet, keep=STEPS)
    if outcome.stopped:
        raise SettingsError(
            f"The training of {name} stopped at step {outcome.step} ({outcome.stopped}); repeat the command to go on."
        )
    images, labels = exemplar_images(config)
    test = load(config.data, "test")
    held: dict[int, dict[str, Tensor]] = {}
    before: dict[str, Tensor] = {}
    errors = []
    for step in STEPS:
        trained = build(config, entry.network.image, entry.network.classes).eval().requires_grad_(False)
        trained.load_state_dict(read_tensors(kept_at(folder, step))[0])
        rounded = assemble(entry.network, seed=0).eval().requires_grad_(False)
        part = checkpoints.coded(folded(trained), before)
        before = checkpoints.decoded(part, before)
        rounded.load_state_dict(unpacked(before))
        assert isinstance(rounded, CapsNet)
        errors.append(evaluate(rounded, test).error)
        held[step] = part | zoo.packed_capsules(rounded, images, labels)
    content = checkpoints.packed(held)
    file = f"{checkpoints.FOLDER}/{name}.safetensors"
    kept = zoo.Checkpoints(file, hashlib.sha256(content).hexdigest(), STEPS, tuple(errors), outcome.step)
    with changing({file: content}) as (entries, _):
        check_seen(entries, name, entry)
        entries[name] = replace(entries[name], checkpoints=kept)
    return zoo.entry(name)
