"""Models as they were early in their training: a few checkpoints of one in a small file.

Of each weight a checkpoint holds how far it is from the checkpoint before, rounded to whole numbers of a share of the
weight's standard deviation; the whole of a checkpoint is compressed by LZMA. What is shown and measured is the rounded
network.
"""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from typing import NoReturn

import torch
from safetensors.torch import save as save_tensors
from torch import Tensor

from capsviz.files import safetensors_bytes
from capsviz.network import Network, NetworkConfig
from capsviz.reading import refused
from capsviz.tensors import tensor_bytes, tensor_file
from capsviz.zoo.manifest import AtStep, ZooError
from capsviz.zoo.storage import SCALES, WEIGHTS, large

FOLDER = "checkpoints"
"""Below `pretrained/`."""
SPACING, DRAWING = 0.25, 0.8
"""Between the numbers to which a weight is rounded, in its standard deviations; of the decoder's."""
REMEDY = "restore it with git"


def coded(network: Network, before: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What a checkpoint holds of a network, after one whose weights were `before`; none before the first.

    Large weights are whole numbers, in int8, on a float32 scale of their own; all else is float16.
    """
    learned = large(network)
    found: dict[str, Tensor] = {}
    for name, value in network.state_dict().items():
        if name not in learned:
            found[WEIGHTS + name] = value.half().contiguous()
            continue
        scale = (value.std() * (DRAWING if name.startswith("decoder.") else SPACING)).reshape(1)
        change = value - before[WEIGHTS + name] if before else value
        codes = (change / scale.clamp_min(torch.finfo(torch.float32).tiny)).round().clamp(-127, 127)
        found[WEIGHTS + name], found[SCALES + name] = codes.to(torch.int8).contiguous(), scale
    return found


def decoded(held: Mapping[str, Tensor], before: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a model at a checkpoint, in float, by what it holds and by those of the one before.

    Raises KeyError or RuntimeError where the two do not fit.
    """
    found = {}
    for name, value in held.items():
        if name.startswith(SCALES):
            continue
        scale = held.get(SCALES + name.removeprefix(WEIGHTS))
        change = value.float() if scale is None else value.float() * scale
        found[name] = change if scale is None or not before else before[name] + change
    return found


def packed(checkpoints: Mapping[int, Mapping[str, Tensor]]) -> bytes:
    """The file of what `coded` made of each step, in their order."""
    streams = {
        str(step): torch.frombuffer(bytearray(lzma.compress(save_tensors(dict(held)), preset=9)), dtype=torch.uint8)
        for step, held in checkpoints.items()
    }
    return safetensors_bytes(streams, {})


def read(model: AtStep) -> dict[str, Tensor]:
    """The tensors of a model at a step, as the file of a whole model holds them, from a file that was verified.

    Raises ZooError, in one sentence, where it is damaged or not of this model.
    """
    tensors: dict[str, Tensor] = {}
    with tensor_file(model.path, REMEDY, ZooError, name=model.file) as file:
        for step in model.until:
            if str(step) not in file.names:
                file.refuse(str(step), "is missing")
            stream = file.get(str(step)).numpy().tobytes()
            held = _held(stream, f"{model.file}, step {step},", model.network)
            try:
                tensors = decoded(held, tensors)
            except (KeyError, RuntimeError, TypeError) as error:
                file.refuse(str(step), f"does not fit the step before ({error})")
    return tensors


def _held(stream: bytes, name: str, network: NetworkConfig) -> dict[str, Tensor]:
    """What a compressed checkpoint holds; never more than such a network has numbers."""

    def sentence(what: str) -> NoReturn:
        refused(name, "", what, REMEDY, ZooError)

    opened = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=128 * 2**20)
    try:
        content = opened.decompress(stream, max_length=4 * network.weights + 2**20)
    except lzma.LZMAError as error:
        sentence(f"cannot be read ({error})")
    if not opened.eof:
        sentence("is longer than such a network, or was cut short")
    return tensor_bytes(content, REMEDY, ZooError, name=name).whole()
