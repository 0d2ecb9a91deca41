"""What networks make of an image seen differently, and how well a linear map of their numbers tells how differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Num, UInt8
from torch import Tensor

from capsviz import device
from capsviz.data.images import to_float
from capsviz.data.viewpoint import CHANGES, Change, Viewpoint, transformed
from capsviz.errors import CapsvizError
from capsviz.network import CNN, Network
from capsviz.tracing.pixels import check_mode, inputs

MOST = 31
"""Amounts of a sweep."""
STRENGTHS = tuple(10.0**power for power in range(-5, 6))
"""Of the ridge, from which one is chosen for each map."""
RESAMPLED = 1000
"""Drawings of held images, with replacement."""


class ViewpointError(CapsvizError):
    """What no linear map was fitted to."""


@dataclass(frozen=True)
class Seen:
    """Images under one change of viewpoint, as a network has them: its numbers, the amounts and the classes."""

    numbers: Float[Tensor, "batch number"]
    amounts: Float[Tensor, " batch"]
    labels: Int[Tensor, " batch"]


@dataclass(frozen=True)
class Sweep:
    """One image through one network, seen by one amount of a change after the other.

    activations: lengths, EM's activations or the CNN's probabilities; numbers: as `numbers`, of one class; drawn: what
    the decoder makes of the most active capsule, or of that class where several are shown; None without a decoder.
    """

    activations: Float[Tensor, "amount upper"]
    numbers: Float[Tensor, "amount number"]
    drawn: Float[Tensor, "amount channel height width"] | None

    def inserted(self, other: Sweep, at: int) -> Sweep:
        """With the amounts of another sweep before the one at a place."""

        def joined(mine: Tensor, theirs: Tensor) -> Tensor:
            return torch.cat([mine[:at], theirs, mine[at:]])

        drawn = None if self.drawn is None or other.drawn is None else joined(self.drawn, other.drawn)
        return Sweep(joined(self.activations, other.activations), joined(self.numbers, other.numbers), drawn)


def amounts(change: Change) -> tuple[float, ...]:
    """The steps of a change over its whole range, as many as are evenly spread and no more than `MOST`."""
    every = next(by for by in range(1, change.steps + 1) if change.steps % by == 0 and change.steps // by < MOST)
    return tuple(round(change.low + change.step * step, 2) for step in range(0, change.steps + 1, every))


def seen_by(
    image: UInt8[Tensor, "channel height width"], others: Viewpoint, change: str, along: Sequence[float]
) -> UInt8[Tensor, "amount channel height width"]:
    """An image under a viewpoint of which one change has one amount after the other."""
    neutral = CHANGES[change].neutral
    still, moved = replace(others, **{change: neutral}), [amount for amount in along if amount != neutral]
    found = still(image).repeat(len(along), 1, 1, 1)
    if moved:  # all at once; what stays as it is, is not resampled
        places = torch.tensor([amount != neutral for amount in along])
        changes = still.changes | {change: torch.tensor(moved)}
        found[places] = transformed(image.expand(len(moved), *image.shape), changes)
    return found


@device.or_cpu
@torch.no_grad()
def sweep(
    network: Network, images: UInt8[Tensor, "amount channel height width"], label: int, objects: int = 1
) -> Sweep:
    """What a network makes of the images of `seen_by`, which show so many objects; label: whose class capsule is read.

    Of several objects that of the label is drawn. Raises ModeError as `capsviz.trace`.
    """
    check_mode(network)
    there = to_float(images).to(device.of(network))
    if isinstance(network, CNN):
        kept = network.convolutions(there).flatten(1)
        return Sweep(device.results(network.classifier(kept).softmax(1)), device.results(kept), None)
    several = objects > 1 and network.decoder is not None
    output = network(there, there.new_full((len(there),), label, dtype=torch.long) if several else None)
    drawn = None if output.reconstruction is None else device.results(output.reconstruction)
    return Sweep(device.results(output.activations), device.results(output.poses[:, label]), drawn)


def lost(activations: Float[Tensor, "amount upper"], label: int, objects: int = 1) -> Bool[Tensor, " amount"]:
    """Where a class is none of the so many most active ones that the images show."""
    return (activations > activations[:, label, None]).sum(1) >= objects


def rivals(activations: Float[Tensor, "amount upper"], labels: Sequence[int]) -> Int[Tensor, " amount"]:
    """At each amount the most active class that the image does not show."""
    others = activations.clone()
    others[:, list(labels)] = -1
    return others.argmax(1)


def most_moved(values: Float[Tensor, "amount number"], count: int) -> Int[Tensor, " count"]:
    """Which numbers vary most over the amounts, by their standard deviation, in rising place."""
    return values.std(0).topk(min(count, values.shape[1])).indices.sort().values


@device.or_cpu
@torch.no_grad()
def numbers(
    network: Network, images: Num[Tensor, "batch channel height width"], labels: Int[Tensor, " batch"]
) -> Float[Tensor, "batch number"]:
    """The class capsule of each image's class (v or μ), or of a network without capsules what its last pooling keeps.

    images: in 0..1, or bytes 0 to 255. Raises PixelsError and ModeError as `capsviz.trace`.
    """
    there = inputs(images, network)
    if isinstance(network, CNN):
        return device.results(network.convolutions(there).flatten(1))
    poses = network(there, reconstruct=False).poses
    return device.results(poses[torch.arange(len(images)), labels.to(poses.device)])


@dataclass(frozen=True)
class Recovery:
    """How well a linear map tells amounts: 1, every one; 0, no better than always the mean.

    error: the standard error of R² over the images that were judged, of `RESAMPLED` drawings of as many of them.
    """

    r2: float
    error: float


def recovered(fitted: Seen, held: Seen, components: int | None = None) -> Recovery:
    """R² of the amounts of `held` as a linear map tells them that was fitted on `fitted`, one map for each class.

    The map is a ridge regression, its strength that of
    `STRENGTHS` with the smallest leave-one-out error among the fitted. components: of the numbers
    only so many principal components, by the fitted images of the class. Raises ViewpointError for a class of which no
    image was fitted, and for fewer than two held images, of which there is no R².
    """
    # Imported here: they take longer than all else of an experiment that is only told.
    from sklearn.decomposition import PCA
    from sklearn.linear_model import RidgeCV
    from sklearn.metrics import r2_score
    from sklearn.pipeline import make_pipeline

    if len(held.amounts) < 2:
        raise ViewpointError(f"R² is of two images at least and {len(held.amounts)} is held; add images to judge by.")
    guessed = np.empty(len(held.amounts))
    for label in held.labels.unique():
        mine, theirs = fitted.labels == label, held.labels == label
        if not mine.any():
            raise ViewpointError(f"Of class {int(label)} nothing was fitted; fit images of every class that is held.")
        ridge = make_pipeline(*([PCA(components, svd_solver="full")] if components else []), RidgeCV(STRENGTHS))
        ridge.fit(fitted.numbers[mine].double().numpy(), fitted.amounts[mine].double().numpy())
        guessed[theirs.numpy()] = ridge.predict(held.numbers[theirs].double().numpy())
    amounts = held.amounts.double().numpy()
    drawn = np.random.default_rng(0).integers(len(amounts), size=(RESAMPLED, len(amounts)))
    again = r2_score(amounts[drawn].T, guessed[drawn].T, multioutput="raw_values")
    return Recovery(float(r2_score(amounts, guessed)), float(again.std()))
