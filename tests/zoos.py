"""Zoos in folders of their own, made of the shipped one."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from capsviz import zoo
from capsviz.analysis.predictions import path_of
from capsviz.data import load
from capsviz.network import Network

SECOND = "digits-dr-seed1"


def rows(folder: Path | None = None) -> dict[str, dict[str, Any]]:
    """What the manifest in a folder, that of the zoo unless one is given, says of each model, by name."""
    said = json.loads(((folder or zoo.folder()) / "manifest.json").read_text())
    return {row["name"]: row for row in said["models"]}


def state(folder: Path, *models: dict[str, Any]) -> None:
    """Write a manifest that says this of its models."""
    (folder / "manifest.json").write_text(json.dumps({"models": models}))


def copied(folder: Path, *names: str, measured: bool = False) -> Path:
    """A zoo of these shipped models in a folder, with their records where they are asked for; the folder."""
    (folder / zoo.RECORDS if measured else folder).mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(zoo.entry(name).path, folder)
        if measured:
            shutil.copy(path_of(zoo.entry(name)), folder / zoo.RECORDS)
    state(folder, *(rows()[name] for name in names))
    return folder


def saved(network: Network, name: str, **told: Any) -> zoo.Entry:
    """Put a network into the zoo, of whose training is said what is told, and else something that may be."""
    test = load(told.get("data", "digits"), "test")
    command = f"capsviz train --data digits --routing {network.config.routing} --preset tiny"
    usual: dict[str, Any] = {"data": "digits", "classes": test.classes, "preset": "tiny", "command": command}
    usual |= {"test_error": 50.0, "test_count": len(test), "curves": "", "images": test.images, "labels": test.labels}
    return zoo.save(network, name=name, **(usual | told))


def with_second_seed(folder: Path) -> None:
    """A zoo of digits-dr, digits-l2-fc and a second seed of digits-dr, whose record as a control is still missing.

    The second seed is the first with the numbers of its class capsules in another order, its decoder likewise: it reads
    and reconstructs as the first does, and its capsules mean nothing to the first one's decoder, as after a training.
    """
    first, other = rows(copied(folder, "digits-dr", "digits-l2-fc", measured=True)).values()
    tensors = load_file(zoo.entry("digits-dr").path)
    order = torch.arange(16).roll(5)
    for name in ("model.transform", "capsules.exemplars", "capsules.spread"):
        tensors[name] = tensors[name][..., order].contiguous()
    layer = tensors["model.decoder.layers.0.weight"]
    tensors["model.decoder.layers.0.weight"] = layer.unflatten(1, (10, 16))[:, :, order].flatten(1).contiguous()
    file = folder / f"{SECOND}.safetensors"
    save_file(tensors, file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    command = first["command"] + " --seed 1"
    second = first | {"name": SECOND, "file": file.name, "sha256": digest, "command": command}
    state(folder, first, second, other)
