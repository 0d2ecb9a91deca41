"""What networks say of images seen differently, and how well a linear map of it tells how differently."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from torch import Tensor

from capsviz import device
from capsviz.network import CNN, Network

STRENGTHS = tuple(10.0**power for power in range(-5, 6))
"""Of the ridge, from which one is chosen for each map."""


@dataclass(frozen=True)
class Seen:
    """Images under one change of viewpoint, as a network has them: its numbers, the amounts and the classes."""

    numbers: Float[Tensor, "batch number"]
    amounts: Float[Tensor, " batch"]
    labels: Int[Tensor, " batch"]


@device.or_cpu
@torch.inference_mode()
def numbers(
    network: Network, images: Float[Tensor, "batch channel height width"], labels: Int[Tensor, " batch"]
) -> Float[Tensor, "batch number"]:
    """The class capsule of each image's class (v or μ), or of a network without capsules what its last pooling keeps.

    images: in [0, 1].
    """
    there = images.to(device.of(network))
    if isinstance(network, CNN):
        return device.results(network.convolutions(there).flatten(1))
    poses = network(there, reconstruct=False).poses
    return device.results(poses[torch.arange(len(images)), labels.to(poses.device)])


def recovered(fitted: Seen, held: Seen, components: int | None = None) -> float:
    """R² of the amounts of `held` as a linear map tells them that was fitted on `fitted`, one map for each class.

    1: every amount is told; 0: no better than always the mean. The map is a ridge regression, its strength that of
    `STRENGTHS` with the smallest leave-one-out error among the fitted. components: of the numbers
    only so many principal components, by the fitted images of the class.
    """
    guessed = np.empty(len(held.amounts))
    for label in held.labels.unique():
        mine, theirs = fitted.labels == label, held.labels == label
        ridge = make_pipeline(*([PCA(components, svd_solver="full")] if components else []), RidgeCV(STRENGTHS))
        ridge.fit(fitted.numbers[mine].double().numpy(), fitted.amounts[mine].double().numpy())
        guessed[theirs.numpy()] = ridge.predict(held.numbers[theirs].double().numpy())
    return float(r2_score(held.amounts.double().numpy(), guessed))
