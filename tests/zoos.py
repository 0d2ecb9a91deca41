"""Zoos in folders of their own, made of the shipped one."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from capsviz import zoo
from capsviz.analysis.predictions import path_of

SECOND = "digits-dr-seed1"


def with_second_seed(folder: Path) -> None:
    """A zoo of digits-dr, digits-l2-fc and a second seed of digits-dr, whose record as a control is still missing.

    The second seed is the first with the numbers of its class capsules in another order, its decoder likewise: it reads
    and reconstructs as the first does, and its capsules mean nothing to the first one's decoder, as after a training.
    """
    rows = {row["name"]: row for row in json.loads((zoo.folder() / "manifest.json").read_text())["models"]}
    (folder / "measured").mkdir(parents=True, exist_ok=True)
    for name in ("digits-dr", "digits-l2-fc"):
        shutil.copy(zoo.entry(name).path, folder)
        shutil.copy(path_of(zoo.entry(name)), folder / "measured")
    tensors = load_file(zoo.entry("digits-dr").path)
    order = torch.arange(16).roll(5)
    for name in ("model.transform", "capsules.exemplars", "capsules.spread"):
        tensors[name] = tensors[name][..., order].contiguous()
    first = tensors["model.decoder.layers.0.weight"]
    tensors["model.decoder.layers.0.weight"] = first.unflatten(1, (10, 16))[:, :, order].flatten(1).contiguous()
    file = folder / f"{SECOND}.safetensors"
    save_file(tensors, file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    command = rows["digits-dr"]["command"] + " --seed 1"
    rows[SECOND] = rows["digits-dr"] | {"name": SECOND, "file": file.name, "sha256": digest, "command": command}
    chosen = [rows[name] for name in ("digits-dr", SECOND, "digits-l2-fc")]
    (folder / "manifest.json").write_text(json.dumps({"models": chosen}))
