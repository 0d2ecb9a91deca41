"""CapsNet: convolution, primary capsules, routed class capsules, decoder (seed 003, Table I; seed 001).

Matrix capsules (Hinton, Sabour & Frosst 2018) have convolutional layers of capsules in between, each routed by EM.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from capsviz.routing import (
    InverseTemperature,
    LinearVotes,
    MatrixVotes,
    Step,
    Votes,
    discriminative_routing,
    dynamic_routing,
    em_routing,
)
from capsviz.routing.discriminative import initial_coefficients

from .capsules import ConvolutionalCapsules, PrimaryCapsules, initial_betas, strongest
from .config import CapsNetConfig
from .residual import ResidualEncoder
from .table1 import ConvolutionalEncoder


@dataclass(frozen=True)
class CapsOutput:
    """What one forward pass leaves behind.

    Shapes: poses "batch upper dim"; activations "batch upper"; reconstruction "batch channel height width" or None.
    """

    primary: PrimaryCapsules
    step: Step
    reconstruction: Float[Tensor, "batch channel height width"] | None

    @property
    def poses(self) -> Float[Tensor, "batch upper dim"]:
        """v_j, or μ_j under EM."""
        return self.step.poses

    @property
    def activations(self) -> Float[Tensor, "batch upper"]:
        """‖v_j‖, or a_j under EM."""
        return self.step.activations

    @property
    def scores(self) -> Float[Tensor, "batch upper"]:
        """What the classification loss reads: the activations."""
        return self.step.activations


class Decoder(nn.Module):
    """Class capsules, all but one masked, to an image (seed 001, "Regularization by reconstruction")."""

    def __init__(self, config: CapsNetConfig) -> None:
        super().__init__()
        self.image = config.image
        channels, height, width = config.image
        widths = (config.classes * config.class_dim, *config.decoder, channels * height * width)
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise(widths):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.layers = nn.Sequential(*layers[:-1], nn.Sigmoid())

    def forward(
        self, poses: Float[Tensor, "batch upper dim"], classes: Int[Tensor, "batch"]
    ) -> Float[Tensor, "batch channel height width"]:
        """The image that the capsule of the given class draws."""
        mask = torch.nn.functional.one_hot(classes.long(), poses.shape[1]).to(poses.dtype)
        return self.layers((poses * mask.unsqueeze(-1)).flatten(1)).float().unflatten(1, self.image)


class CapsNet(nn.Module):
    """A capsule network, assembled from a config; its last routed layer holds the class capsules.

    The routing of the config decides what that layer owns: "dr" the weight W; "l2" and "l1" W and the buffer of
    coefficients b, which no optimiser touches; "em" 4 × 4 matrices and β_u, β_a. Matrix capsules have further EM layers
    below it (`capsules`), and their class capsules share the 4 × 4 matrices over the positions.
    """

    coefficients: Tensor
    coordinates: Tensor

    def __init__(self, config: CapsNetConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = ResidualEncoder(config) if config.stages else ConvolutionalEncoder(config)
        self.decoder = Decoder(config) if config.decoder else None
        self.capsules = nn.ModuleList(map(ConvolutionalCapsules, config.grids, config.capsule_layers))
        lower, upper = config.lower, config.classes
        if config.routing == "em":
            if config.capsule_layers:
                self.transform = nn.Parameter(torch.randn(config.capsule_layers[-1].types, upper, 4, 4))
                self.beta_u, self.beta_a = initial_betas(upper, active=0.0)
            else:
                self.transform = nn.Parameter(torch.randn(lower, upper, 4, 4) * 0.5)
                self.beta_u, self.beta_a = initial_betas(upper)
            self.register_buffer("coordinates", self._coordinates(), persistent=False)
        else:
            # d before lower, as the encoder lays out the poses.
            self.transform = nn.Parameter(torch.randn(config.primary_dim, lower, upper, config.class_dim) * 0.1)
        if config.routing in ("l2", "l1"):
            self.register_buffer("coefficients", initial_coefficients(lower, upper, config.coefficient_start))

    @property
    def weight(self) -> Float[Tensor, "lower d upper dim"]:
        """W of the vote transform û_ij = u_i W_ij; EM networks have `transform`, "lower upper 4 4", instead."""
        return self.transform.transpose(0, 1)

    def encode(self, images: Float[Tensor, "batch channel height width"]) -> PrimaryCapsules:
        """Images in 0..1 to primary capsules."""
        return self.encoder(images)

    @property
    def depth(self) -> int:
        """Number of routed layers; the last one holds the class capsules."""
        return self.config.depth

    def votes(self, lower: PrimaryCapsules, layer: int = 0) -> Votes:
        """What every capsule below a routed layer predicts for the capsules in it, in float32."""
        if layer < len(self.capsules):
            return self._convolutional(layer).votes(lower)
        if self.config.routing == "em":
            matrices = self.transform.repeat(lower.poses.shape[1] // len(self.transform), 1, 1, 1)
            return MatrixVotes(lower.poses.unflatten(2, (4, 4)), matrices, self.coordinates)
        return LinearVotes(lower.poses, self.weight)

    def route(
        self,
        lower: PrimaryCapsules,
        iterations: int | None = None,
        *,
        layer: int = 0,
        record: bool = False,
        progress: float = 1.0,
        inverse_temperature: InverseTemperature | None = None,
    ) -> Iterator[Step]:
        """The steps of one layer's routing, one per iteration.

        lower: the capsules below it, of which the primary ones are below layer 0. iterations T: the config's unless
        given. record: also what the algorithm does not need and a trace shows, the last iteration's agreement or
        posteriors. progress 0..1: how far training is, for EM's λ, whose schedule is the config's unless given.
        """
        config, votes = self.config, self.votes(lower, layer)
        iterations = config.iterations if iterations is None else iterations
        if config.routing == "dr":
            return dynamic_routing(votes, iterations, through=config.through, final_agreement=record)
        if config.routing == "em":
            return em_routing(
                votes,
                lower.activations,
                *self.betas(layer),
                iterations,
                inverse_temperature=inverse_temperature or config.inverse_temperature,
                progress=progress,
                through=config.through,
                final_posteriors=record,
            )
        return discriminative_routing(votes, self.coefficients, agreement=record)

    def _convolutional(self, layer: int) -> ConvolutionalCapsules:
        found = self.capsules[layer]
        assert isinstance(found, ConvolutionalCapsules)
        return found

    def betas(self, layer: int) -> tuple[Tensor, Tensor]:
        """β_u and β_a of every capsule of a layer, each "upper"."""
        return self._convolutional(layer).betas() if layer < len(self.capsules) else (self.beta_u, self.beta_a)

    def decode(
        self, poses: Float[Tensor, "batch upper dim"], classes: Int[Tensor, "batch"]
    ) -> Float[Tensor, "batch channel height width"]:
        """The image drawn from one class capsule; raises ValueError for a network trained without a decoder."""
        if self.decoder is None:
            raise ValueError("this network was trained without a decoder; decode its capsules with another model's")
        return self.decoder(poses, classes)

    def reconstruct(
        self, poses: Float[Tensor, "batch upper dim"], activations: Float[Tensor, "batch upper"], objects: int = 1
    ) -> Float[Tensor, "batch channel height width"]:
        """The images drawn from their most active class capsules, one capsule for each object that an image shows.

        Each capsule is decoded for itself; of several drawings a pixel takes the brightest. Raises ValueError as
        `decode`.
        """
        drawings = [self.decode(poses, classes) for classes in strongest(activations, objects).unbind(1)]
        return torch.stack(drawings).amax(0)

    def forward(
        self,
        images: Float[Tensor, "batch channel height width"],
        classes: Int[Tensor, "batch"] | None = None,
        *,
        progress: float = 1.0,
        reconstruct: bool = True,
    ) -> CapsOutput:
        """Images in 0..1 to class capsules and a reconstruction.

        classes: whose capsule the decoder sees, "batch"; the most active one unless given. progress: see `route`.
        """
        primary = self.encode(images)
        # Routing and its votes stay in float32 under autocast: their sums run over a thousand capsules.
        with torch.autocast(images.device.type, enabled=False):
            lower = primary
            for layer in range(self.depth):
                step = deque(self.route(lower, layer=layer, progress=progress), maxlen=1).pop()
                lower = PrimaryCapsules(step.poses, step.activations)
        reconstruction = None
        if self.decoder is not None and reconstruct:
            reconstruction = (
                self.reconstruct(step.poses, step.activations) if classes is None else self.decoder(step.poses, classes)
            )
        return CapsOutput(primary, step, reconstruction)

    def receptive_field(self, capsule: int, layer: int = 0) -> tuple[int, int, int, int]:
        """Top, left, bottom and right (exclusive) of the input pixels that a capsule below a routed layer sees."""
        _, columns, types = self.config.grids[layer]
        return self.config.receptive_field(*divmod(capsule // types, columns), layer)

    def _coordinates(self) -> Tensor:
        """Where each capsule below the class capsules sits, added to two numbers of its votes (Hinton, Sabour & Frosst
        2018, 4.1).
        """
        _, height, width = self.config.image
        below = len(self.config.capsule_layers)
        rows, columns, types = self.config.grids[below]
        coordinates = torch.zeros(rows * columns * types, 4, 4)
        for capsule in range(len(coordinates)):
            top, left, bottom, right = self.receptive_field(capsule, below)
            coordinates[capsule, 0, 3] = (top + bottom) / 2 / height
            coordinates[capsule, 1, 3] = (left + right) / 2 / width
        return coordinates
