"""Which number of a class capsule means what: moved at random, decoded, and compared with measures of the picture."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from capsviz.analysis.metrics import image_moments
from capsviz.analysis.perturbation import draw
from capsviz.network.capsnet import CapsNet

CLEAR = 0.5
"""A label needs a correlation of at least this: a quarter of all that varies in the quality."""
LEAD = 0.1
"""And this much more than the correlation with any other quality."""
SAMPLES = 64
"""Random capsules around each exemplar; a correlation of 512 of them is uncertain by about 0.04."""

TOGETHER = 2**20
"""Numbers of pictures that are measured at once, which a processor holds near: of large ones a few."""


@dataclass(frozen=True)
class Quality:
    """Something measured of a picture: the labels of more and of less of it, its full name, its unit, and the least
    standard deviation seen.
    """

    label: str
    opposite: str
    name: str
    unit: str
    visible: float

    def called(self, correlation: float) -> str:
        """The label of what changes with a dimension that it correlates with so."""
        return self.label if correlation >= 0 else self.opposite


QUALITIES: dict[str, Quality] = {
    "stroke": Quality("stroke", "−stroke", "stroke width", "pixels", 0.1),
    "slant": Quality("slant", "−slant", "slant to the right", "columns per row", 0.02),
    "width": Quality("width", "−width", "width", "pixels", 0.1),
    "height": Quality("height", "−height", "height", "pixels", 0.1),
    "row": Quality("down", "up", "position, downwards", "pixels", 0.1),
    "column": Quality("right", "left", "position, to the right", "pixels", 0.1),
    "curvature": Quality("curve", "−curve", "curvature, opening to the right", "per pixel", 0.005),
}
"""What is measured, by its field of `metrics.ImageMoments`; less than `visible` is no change that anybody sees."""


@dataclass(frozen=True)
class Meanings:
    """What the dimensions of one class capsule mean, quality by quality in the order of `QUALITIES`.

    Shapes: correlation "dim quality", in −1..1, its square the share of the quality's variance that moves with the
    dimension; effect "dim quality", the quality's mean change, in its unit, per standard deviation of the dimension;
    deviation "quality", how much the quality varies in all.
    """

    correlation: Float[Tensor, "dim quality"]
    effect: Float[Tensor, "dim quality"]
    deviation: Float[Tensor, " quality"]

    @property
    def labels(self) -> tuple[str, ...]:
        """What more of each dimension does, in a word where it is clear (`CLEAR`, `LEAD`, can be seen), else ""."""
        qualities = list(QUALITIES.values())
        labels = []
        for row in self.correlation:
            (best, second), (place, _) = (values.tolist() for values in row.abs().topk(2))
            seen = float(self.deviation[place]) >= qualities[place].visible
            clear = best >= CLEAR and best - second >= LEAD and seen
            labels.append(qualities[place].called(float(row[place])) if clear else "")
        return tuple(labels)


def qualities(images: Float[Tensor, "batch channel height width"]) -> Float[Tensor, "batch quality"]:
    """The qualities of pictures, in the order of `QUALITIES`; NaN where there is no ink."""
    each = max(1, TOGETHER // images[0].numel())
    moments = [image_moments(part) for part in images.split(each)]
    return torch.cat([torch.stack([getattr(part, name) for name in QUALITIES], dim=1) for part in moments])


def correlate(moves: Float[Tensor, "batch dim"], measured: Float[Tensor, "batch quality"], groups: int = 1) -> Meanings:
    """Correlation of independent random moves with what was measured, within `groups` equal parts of the batch.

    The parts are the exemplars around which was moved: that one of them is broader than another says nothing about a
    dimension. moves are in standard deviations. Pictures without ink are left out; a quality that never changes, or
    a dimension that never moves, correlates with nothing (0).
    """
    ink = measured.isfinite().all(dim=1)
    weight = ink.double().reshape(groups, -1, 1)
    count = weight.sum(dim=1, keepdim=True).clamp(min=1)

    def centred(values: Tensor) -> Tensor:
        parts = torch.where(ink[:, None], values, 0.0).double().reshape(groups, -1, values.shape[1])
        return ((parts - parts.sum(dim=1, keepdim=True) / count) * weight).flatten(0, 1)

    x, y = centred(moves), centred(measured)
    total = ink.sum().clamp(min=1)
    spread, deviation = (x.square().sum(0) / total).sqrt(), (y.square().sum(0) / total).sqrt()
    covariance = x.T @ y / total
    nothing = (spread[:, None] < 1e-9) | (deviation[None] < 1e-9)
    correlation = torch.where(nothing, 0.0, covariance / (spread[:, None] * deviation[None]).clamp(min=1e-18))
    effect = torch.where(nothing, 0.0, covariance / spread.square()[:, None].clamp(min=1e-18))
    return Meanings(correlation.float(), effect.float(), deviation.float())


@torch.inference_mode()
def meanings(
    model: CapsNet,
    exemplars: Float[Tensor, "exemplar dim"],
    spread: Float[Tensor, " dim"],
    label: int,
    *,
    samples: int = SAMPLES,
) -> Meanings:
    """What each number of class capsule `label` means, by experiment.

    Around every exemplar (class capsules of real images) all numbers are moved at once, each at random and independent
    of the others by as much as it varies over the training images (`spread`, its standard deviation); the decoder draws
    each capsule, and each number's moves are correlated with what is measured of the pictures. Moved one at a time,
    every smooth change would correlate fully, however small it is. Raises PerturbError as `draw` does.
    """
    generator = torch.Generator().manual_seed(0)
    moves = torch.randn(len(exemplars) * samples, len(spread), generator=generator)
    poses = exemplars.repeat_interleave(samples, dim=0) + moves * spread
    return correlate(moves, qualities(draw(model, poses, label)), groups=len(exemplars))
