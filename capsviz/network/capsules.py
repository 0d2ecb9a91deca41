"""Capsules below a routed layer, and convolutional layers of them (Hinton, Sabour & Frosst 2018, section 4)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from capsviz.routing import Windows, WindowVotes, lengths, squash
from capsviz.routing.em import initial_betas

from .config import CapsuleLayer


@dataclass(frozen=True)
class PrimaryCapsules:
    """The lower capsules of an image: the primary ones, or those that a routed layer has made for the next.

    Shapes: poses u "batch lower d"; activations "batch lower", the length of u, or a logistic of its own under EM.
    """

    poses: Float[Tensor, "batch lower d"]
    activations: Float[Tensor, "batch lower"]


def primary_capsules(
    features: Float[Tensor, "batch number row column"], types: int, *, matrix: bool, dtype: torch.dtype = torch.float32
) -> PrimaryCapsules:
    """The capsules that a convolution's channels are: number after number, of each all types; squashed.

    matrix: for EM, whose poses are not squashed; the last number is then the logit of the activation. dtype: of the
    weights above, in which capsules are under autocast as well.
    """
    # Memory runs over d, then capsules: every sum over (d, i) in the votes is then one matrix product.
    numbers = features.to(dtype).unflatten(1, (-1, types)).permute(0, 1, 3, 4, 2).flatten(2)
    if matrix:
        return PrimaryCapsules(numbers[:, :-1].transpose(1, 2), numbers[:, -1].sigmoid())
    poses = squash(numbers.transpose(1, 2))
    return PrimaryCapsules(poses, lengths(poses))


def strongest(activations: Float[Tensor, "batch capsule"], count: int = 1) -> Int[Tensor, "batch count"]:
    """The most active capsules of each image, the strongest first; of equals, the first."""
    return activations.argsort(dim=1, descending=True, stable=True)[:, :count]


@torch.no_grad()
def start_wide(conv: nn.Conv2d, primary: nn.Conv2d, types: int) -> None:
    """Give the primary poses of a stack of EM layers a spread of about one at the start.

    With PyTorch's own first weights the poses shrink from layer to layer, σ falls to a fiftieth, log σ makes every
    capsule so cheap that all are on, and the spread loss has no gradient: 90 % error after 150 steps on MNIST.
    """
    nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
    nn.init.xavier_normal_(primary.weight)
    primary.weight[:-types] *= 4


class ConvolutionalCapsules(nn.Module):
    """A layer of matrix capsules of which each sees a window of the capsules below; its weights, one 4 × 4 matrix for
    each place in the window and each pair of types, and its β_u and β_a are those of its type at every position.
    """

    seen: Tensor
    seen_by: Tensor

    def __init__(self, below: tuple[int, int, int], layer: CapsuleLayer) -> None:
        super().__init__()
        windows = Windows.over(below, layer.kernel, layer.stride, layer.types)
        self.lower_types, self.types = below[2], layer.types
        self.register_buffer("seen", windows.children, persistent=False)
        self.register_buffer("seen_by", windows.parents, persistent=False)
        # At the start the same matrix at every place of the window: neighbours that see the same then predict the same,
        # so that agreement means something from the first step on.
        matrices = torch.randn(self.lower_types, layer.types, 4, 4)
        self.transform = nn.Parameter(matrices.repeat(layer.kernel**2, 1, 1, 1))
        self.beta_u, self.beta_a = initial_betas(layer.types, active=0.0)

    @property
    def windows(self) -> Windows:
        """Who votes for whom."""
        return Windows(self.seen, self.seen_by, self.lower_types, self.types)

    def votes(self, lower: PrimaryCapsules) -> WindowVotes:
        """What the capsules in each window predict for the capsule that sees it."""
        return WindowVotes(lower.poses.unflatten(2, (4, 4)), self.transform, self.windows)
