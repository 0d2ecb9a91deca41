"""The presets as data, and the configs that they give for a data set and an algorithm."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from capsviz.data import DATASETS, DatasetMissing, data_root, describe, known
from capsviz.routing import InverseTemperature

from .config import MATRIX, CapsNetConfig, CapsuleLayer, ConfigError, Stage, algorithm_of, by_matrices


def _matrix(channels: int, *types: int) -> dict[str, Any]:
    """A channels of a 5 × 5 convolution with stride 2, B primary types, C and D types in the two layers above them."""
    primary, first, second = types
    return {
        "conv_channels": channels,
        "kernel": 5,
        "conv_stride": 2,
        "primary_kernel": 1,
        "primary_stride": 1,
        "primary_types": primary,
        "capsule_layers": (CapsuleLayer(first, 3, 2), CapsuleLayer(second, 3, 1)),
        # A handful of lower capsules is left to each parent, and early on who gets them is chance: gradients through
        # the last iteration alone left 83 % error after 150 steps of 32 MNIST images (matrix-tiny), through all of them
        # 73 % after 100.
        "iterations": 2,
        "through": "all",
        # λ = 0.1 in the second iteration, throughout training: at λ near 1 the logistics of a stack saturate.
        "inverse_temperature": InverseTemperature(final=0.13, start=1.0),
    }


PRESETS: dict[str, dict[str, Any]] = {
    # Yang, Li & Yu 2021, Table I.
    "paper": {"conv_channels": 256, "primary_types": 32, "decoder": (512, 1024)},
    # The same capsules behind a quarter of the convolution: what a laptop trains.
    "compact": {"conv_channels": 64, "primary_types": 32, "decoder": (512, 1024)},
    # For the embedded digits, tests and live training.
    "tiny": {"conv_channels": 32, "primary_types": 8, "decoder": (256, 512)},
    # Ours: residual blocks in place of the two convolutions, half of the types and a small decoder.
    "residual": {"stages": (Stage(32, 0), Stage(64, 1), Stage(128, 2)), "primary_types": 16},
}

MATRIX_PRESETS: dict[str, dict[str, Any]] = {
    # Hinton, Sabour & Frosst 2018, section 4: A = 64, B = 8, C = D = 16, with the decoder of the others.
    "matrix-paper": {**_matrix(64, 8, 16, 16), "decoder": (512, 1024)},
    # A = 32, B = C = D = 8.
    "matrix-compact": {**_matrix(32, 8, 8, 8), "decoder": (512, 1024)},
    "matrix-tiny": {**_matrix(16, 4, 4, 4), "decoder": (256, 512)},
}
"""Convolutional layers of matrix capsules, for the algorithms that route such."""


def preset(
    name: str, data: str, routing: str, *, decoder: bool | Sequence[int] = True, **overrides: Any
) -> CapsNetConfig:
    """The config of a named preset for a data set and a routing algorithm.

    name: "paper", "compact", "tiny" or "residual", or one of the first three with "matrix-" before it for the stack of
    convolutional EM layers; data: a data set's name, or any where `image` is among the overrides; routing: a key of
    ALGORITHMS. decoder: whether to have the preset's, or the hidden widths of another one. But for "residual", CIFAR-10
    doubles the primary types, uses LeakyReLU and, as in the paper, no decoder.
    overrides: any field of CapsNetConfig. Raises ConfigError for an unknown preset or routing, UnknownDataset for a
    data set whose images nobody knows, DatasetMissing for a folder that is not there.
    Source: Yang, Li & Yu 2021, Table I; Hinton, Sabour & Frosst 2018, section 4.
    """
    presets = PRESETS | MATRIX_PRESETS
    if name not in presets:
        raise ConfigError(f"No preset is called {name!r}; choose one of {', '.join(presets)}.")
    matrix = algorithm_of(routing).matrix
    if name in MATRIX_PRESETS and not matrix:
        other = name.removeprefix("matrix-")
        raise ConfigError(f"The preset {name} routes {by_matrices()}, or the preset {other}.")
    values = {**presets[name], "routing": routing, **told_by(data, overrides)}
    if matrix:
        values |= {"primary_dim": MATRIX, "class_dim": MATRIX}
    if data in DATASETS and not DATASETS[data].reconstructed and name != "residual":
        values |= {"primary_types": 2 * values["primary_types"], "leaky": True, "decoder": ()}
    config = replace(CapsNetConfig(), **(values | overrides))
    if decoder is True:
        return replace(config, decoder=small_decoder(config)) if name == "residual" else config
    return replace(config, decoder=tuple(decoder or ()))


def told_by(data: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Image and number of classes of a network's config, as its data set says them; nothing where nobody knows.

    Where no image is asked for, raises UnknownDataset for what is no data set, DatasetMissing for a folder that is not
    there or cannot be used.
    """
    info = known(data) if "image" in overrides else describe(data)
    if info is None or ("image" in overrides and not info.classes):
        return {}
    if not info.classes:
        raise DatasetMissing(info.missing(data_root()))
    return {"image": info.image, "classes": len(info.classes)}


DECODER_WEIGHTS, DECODER_UNIT = 600_000, 8


def small_decoder(config: CapsNetConfig) -> tuple[int, int]:
    """Hidden widths of a decoder of at most 0.6 M weights for a network's classes and pixels.

    A sixth of them reads the class capsules; at most 256 and 512, multiples of 8.
    """
    pixels, capsules = math.prod(config.image), config.classes * config.class_dim

    def width(weights: int, numbers: int, most: int) -> int:
        return max(DECODER_UNIT, min(most, weights // numbers // DECODER_UNIT * DECODER_UNIT))

    first = width(DECODER_WEIGHTS // 6, capsules + 1, 256)
    left = DECODER_WEIGHTS - first * (capsules + 1) - pixels
    return first, width(left, first + 1 + pixels, 512)
