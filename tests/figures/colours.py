"""Colours as eyes see them: OKLab distances, and dichromacy simulated by three matrices."""

from __future__ import annotations

import re

import numpy as np
from numpy import ndarray

# Machado, Oliveira & Fernandes 2009, severity 1, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
# Ottosson 2020.
_CONES = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
_LAB = np.array(
    [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.8086757660]]
)  # fmt: skip


def oklab(colour: str, vision: str = "normal") -> ndarray:
    """Lightness, green-red and blue-yellow of "#rrggbb" for an eye."""
    channels = np.array([int(pair, 16) / 255 for pair in re.findall("..", colour[1:])])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    seen = np.clip(VISION[vision] @ linear, 0, 1)
    return _LAB @ np.cbrt(_CONES @ seen)


def distance(first: str, second: str, vision: str = "normal") -> float:
    """OKLab distance; about 0.02 is the least that can be told apart."""
    return float(np.linalg.norm(oklab(first, vision) - oklab(second, vision)))
