"""Points in the plane for Gaussians to explain, drawn by a stated rule from a seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy import ndarray
from numpy.random import Generator

EXTENT, DECIMALS = 1.0, 2
"""How far coordinates go from 0, and their decimals."""
COUNT = 30
"""Points of every preset."""


@dataclass(frozen=True)
class Preset:
    """A rule by which points are drawn.

    gaussians: how many are fitted to them at first; rule: how the points are drawn, note: what to look for, in words;
    draw: `COUNT` points, "point 2", of a generator.
    """

    title: str
    gaussians: int
    rule: str
    note: str
    draw: Callable[[Generator], ndarray]

    def points(self, seed: int) -> list[list[float]]:
        """The points of a seed: drawn, cut at ±`EXTENT` and rounded to `DECIMALS`."""
        drawn = self.draw(np.random.default_rng(seed)).clip(-EXTENT, EXTENT)
        return [[float(x), float(y)] for x, y in drawn.round(DECIMALS) + 0.0]


def _around(generator: Generator, centres: list[list[float]], deviation: float) -> ndarray:
    """As many points around each centre, with one deviation along both axes."""
    return np.repeat(centres, COUNT // len(centres), axis=0) + deviation * generator.normal(size=(COUNT, 2))


def _elongated(generator: Generator) -> ndarray:
    angles = np.repeat([1, 2], COUNT // 2) * math.pi / 3
    along = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    across = np.stack([-along[:, 1], along[:, 0]], axis=-1)
    far, aside = generator.normal(size=(2, COUNT, 1)) * np.array([0.35, 0.05])[:, None, None]
    return np.repeat([[-0.4, 0], [0.4, 0]], COUNT // 2, axis=0) + far * along + aside * across


def _ring(generator: Generator) -> ndarray:
    angles = generator.uniform(0, 2 * math.pi, COUNT)
    radii = 0.7 + 0.05 * generator.normal(size=COUNT)
    return radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def _outlier(generator: Generator) -> ndarray:
    points = _around(generator, [[-0.2, -0.15]], 0.2)
    points[-1] = [0.8, 0.75]
    return points


PRESETS: dict[str, Preset] = {
    "clusters": Preset(
        "Two clusters",
        2,
        "half around (−0.45, −0.3), half around (0.45, 0.3), deviation 0.14",
        "Each Gaussian finds a cluster of its own; hardly a point is shared in the end.",
        lambda generator: _around(generator, [[-0.45, -0.3], [0.45, 0.3]], 0.14),
    ),
    "overlapping": Preset(
        "Overlapping",
        2,
        "half around (−0.22, 0), half around (0.22, 0), deviation 0.22",
        "The points between stay shared: an E-step weighs, it does not cut.",
        lambda generator: _around(generator, [[-0.22, 0.0], [0.22, 0.0]], 0.22),
    ),
    "elongated": Preset(
        "Elongated",
        2,
        "two clouds around (±0.4, 0) that lean towards each other, deviation 0.35 along 60° and 120°, 0.05 across",
        "Full covariances turn along with the points; diagonal ones cannot.",
        _elongated,
    ),
    "ring": Preset(
        "Ring",
        4,
        "angles even over the circle, radius 0.7 with deviation 0.05",
        "No Gaussian is a ring: four of them share it out.",
        _ring,
    ),
    "outlier": Preset(
        "One outlier",
        2,
        "all around (−0.2, −0.15), deviation 0.2, but one at (0.8, 0.75)",
        "The point far away draws a whole Gaussian out: a mixture must explain every point.",
        _outlier,
    ),
}
"""By the name in a link; the first one is shown first."""
