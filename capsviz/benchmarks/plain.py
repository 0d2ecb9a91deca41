"""The yardstick: dynamic routing as it is usually written, with stored votes and gradients through every iteration."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from capsviz.network import CapsNet


def plain_squash(sums: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch dim"]:
    """Squash by torch's own norm (*Encapsulating Capsule Networks*, eq. 10)."""
    length = torch.linalg.vector_norm(sums, dim=-1, keepdim=True)
    return sums * length / (1 + length**2)


class PlainCapsNet(torch.nn.Module):
    """The weights of a dynamic-routing CapsNet behind a plain formulation of the same mathematics.

    Single precision, default memory layout, votes of "batch lower upper dim" written to memory, couplings that
    autograd follows through all iterations. Its capsules equal those of the network that it was made from.
    """

    def __init__(self, network: CapsNet) -> None:
        super().__init__()
        copy = CapsNet(network.config).to(network.transform.device)
        copy.load_state_dict(network.state_dict())
        self.config, self.network = network.config, copy.to(memory_format=torch.contiguous_format)
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
