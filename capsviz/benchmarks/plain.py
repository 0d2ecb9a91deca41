"""The yardstick: routing as it is usually written, with stored votes and gradients through every iteration."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Generic, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from capsviz.network import CapsNet, PrimaryCapsules
from capsviz.network.capsules import ConvolutionalCapsules
from capsviz.routing import lengths
from capsviz.routing.connections import Connections
from capsviz.routing.em import EM, FLOOR
from capsviz.routing.mixture import EMPTY

Capsules = TypeVar("Capsules")


def plain_squash(sums: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch dim"]:
    """Squash by torch's own norm (*Encapsulating Capsule Networks*, eq. 10)."""
    length = torch.linalg.vector_norm(sums, dim=-1, keepdim=True)
    return sums * length / (1 + length**2)


class Plain(torch.nn.Module, Generic[Capsules]):
    """The weights of a network in a copy of their own, as PyTorch lays them out where nobody asks for more."""

    encode: Callable[[Tensor], Capsules]
    """Images to primary capsules."""
    route: Callable[[Capsules], Capsules]
    """Primary capsules to class capsules."""
    scores: Callable[[Capsules], Tensor]
    """What the loss is of, "batch upper"."""

    def __init__(self, network: CapsNet) -> None:
        super().__init__()
        copy = CapsNet(network.config).to(network.transform.device)
        copy.load_state_dict(network.state_dict())
        self.config, self.network = network.config, copy.to(memory_format=torch.contiguous_format)


class PlainCapsNet(Plain[Tensor]):
    """The weights of a dynamic-routing CapsNet behind a plain formulation of the same mathematics.

    Single precision, default memory layout, votes of "batch lower upper dim" written to memory, couplings that
    autograd follows through all iterations. Its capsules equal those of the network that it was made from.
    """

    def __init__(self, network: CapsNet) -> None:
        super().__init__(network)
        self.weight = torch.nn.Parameter(network.weight.detach().clone(memory_format=torch.contiguous_format))

    def encode(self, images: Float[Tensor, "batch channel height width"]) -> Float[Tensor, "batch lower d"]:
        """Primary capsules, one after the other in memory."""
        features = self.network.encoder.features(images)
        capsules = features.unflatten(1, (-1, self.config.primary_types)).permute(0, 3, 4, 2, 1)
        return plain_squash(capsules.flatten(1, 3).contiguous())

    def route(self, primary: Float[Tensor, "batch lower d"]) -> Float[Tensor, "batch upper dim"]:
        """Votes and all iterations of dynamic routing (*Encapsulating Capsule Networks*, eq. 7-11)."""
        votes = torch.einsum("bid,idjh->bijh", primary, self.weight)
        logits = votes.new_zeros(votes.shape[:3])
        for iteration in range(self.config.iterations):
            couplings = logits.softmax(dim=2)
            poses = plain_squash((couplings.unsqueeze(-1) * votes).sum(dim=1))
            if iteration + 1 < self.config.iterations:
                logits = logits + (votes * poses.unsqueeze(1)).sum(dim=-1)
        return poses

    def forward(
        self, images: Float[Tensor, "batch channel height width"], classes: Int[Tensor, " batch"] | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Class capsules and, where classes are given, the reconstruction."""
        poses = self.route(self.encode(images))
        return poses, None if classes is None else self.network.decode(poses, classes)

    def scores(self, poses: Float[Tensor, "batch upper dim"]) -> Float[Tensor, "batch upper"]:
        """What the loss is of."""
        return lengths(poses)


class PlainMatrixCapsNet(Plain[PrimaryCapsules]):
    """The weights of a CapsNet of matrix capsules behind a plain formulation of EM routing.

    Single precision, default memory layout, votes and R of every pair "batch upper observed" written to memory, moments
    and densities as their formulas read, competition by adding up what each lower capsule is claimed for. Its capsules
    equal those of the network that it was made from.
    """

    def encode(self, images: Float[Tensor, "batch channel height width"]) -> PrimaryCapsules:
        """The primary capsules."""
        return self.network.encode(images)

    def route(self, lower: PrimaryCapsules) -> PrimaryCapsules:
        """Votes and all iterations of EM routing of every layer (*Encapsulating Capsule Networks*, eq. 20-29)."""
        for layer in range(self.config.depth):
            lower = self._layer(lower, layer)
        return lower

    def _layer(self, lower: PrimaryCapsules, layer: int) -> PrimaryCapsules:
        owner, matrices = self.network.owner(layer), lower.poses.unflatten(2, (4, 4))
        connections: Connections
        if isinstance(owner, ConvolutionalCapsules):
            connections = windows = owner.windows
            seen = windows.lower_capsules
            votes = torch.einsum("bpwij,wtjk->bptwik", matrices[:, seen], owner.transform).flatten(1, 2)
            observed = seen.repeat_interleave(owner.types, dim=0)
        else:
            dense = EM.votes(owner, lower.poses)
            connections, upper = dense.connections, dense.shape[2]
            votes = torch.einsum("blij,lujk->bulik", matrices, dense.weight) + dense.coordinates
            observed = torch.arange(matrices.shape[1], device=matrices.device).expand(upper, -1)
        votes = votes.flatten(3)
        beta_u, beta_a = EM.betas(owner, votes.shape[1])
        scale = torch.as_tensor(connections.data_scale).to(votes)
        presence, owned = lower.activations[:, observed], connections.even(votes.new_empty(votes.shape[:3]))
        for iteration in range(1, self.config.iterations + 1):
            weights = owned * presence
            amount = weights.sum(2)
            share = (weights / amount.clamp_min(EMPTY).unsqueeze(2)).unsqueeze(3)
            means = (share * votes).sum(2)
            variances = (share * (votes - means.unsqueeze(2)) ** 2).sum(2).clamp_min(FLOOR)
            cost = (beta_u.unsqueeze(1) + 0.5 * variances.log()) * (amount * scale).unsqueeze(2)
            activations = torch.sigmoid(self.config.inverse_temperature.at(iteration) * (beta_a - cost.sum(2)))
            if iteration < self.config.iterations:
                distance = ((votes - means.unsqueeze(2)) ** 2 / variances.unsqueeze(2)).sum(3)
                volume = (2 * math.pi * variances).log().sum(2).unsqueeze(2)
                owned = _claimed(
                    activations.log().unsqueeze(2) - 0.5 * (distance + volume), observed, matrices.shape[1]
                )
        return PrimaryCapsules(means, activations)

    def forward(
        self, images: Float[Tensor, "batch channel height width"], classes: Int[Tensor, " batch"] | None = None
    ) -> tuple[PrimaryCapsules, Tensor | None]:
        """Class capsules and, where classes are given, the reconstruction."""
        upper = self.route(self.encode(images))
        return upper, None if classes is None else self.network.decode(upper.poses, classes)

    def scores(self, upper: PrimaryCapsules) -> Float[Tensor, "batch upper"]:
        """What the loss is of."""
        return upper.activations


def _claimed(
    logits: Float[Tensor, "batch upper observed"], observed: Int[Tensor, "upper observed"], lower: int
) -> Float[Tensor, "batch upper observed"]:
    """R: a softmax over all pairs in which the same lower capsule stands."""
    pairs, whose = logits.flatten(1), observed.flatten().expand(len(logits), -1)
    largest = pairs.new_zeros(len(pairs), lower).scatter_reduce(1, whose, pairs.detach(), "amax", include_self=False)
    claims = (pairs - largest.gather(1, whose)).exp()
    total = claims.new_zeros(len(pairs), lower).scatter_add(1, whose, claims)
    return (claims / total.gather(1, whose)).view_as(logits)
