"""CapsNet: convolution, primary and routed class capsules, decoder (Sabour et al. 2017; Yang et al. 2021, Table I).

Matrix capsules (Hinton, Sabour & Frosst 2018) have convolutional layers of capsules in between, each routed by EM.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from capsviz.routing import InverseTemperature, LayerSizes, Step, Votes

from .capsules import ConvolutionalCapsules, PrimaryCapsules, strongest
from .config import CapsNetConfig, ConfigError
from .recorded import RecordedConfig
from .residual import ResidualEncoder
from .table1 import ConvolutionalEncoder


@dataclass(frozen=True)
class CapsOutput:
    """What one forward pass leaves behind.

    Shapes: poses "batch upper dim"; activations and scores, what the loss on the classes reads, "batch upper";
    reconstruction "batch channel height width" or None.
    """

    primary: PrimaryCapsules
    step: Step
    scores: Float[Tensor, "batch upper"]
    reconstruction: Float[Tensor, "batch channel height width"] | None

    @property
    def poses(self) -> Float[Tensor, "batch upper dim"]:
        """v_j, or μ_j under EM."""
        return self.step.poses

    @property
    def activations(self) -> Float[Tensor, "batch upper"]:
        """‖v_j‖, or a_j under EM."""
        return self.step.activations


class Decoder(nn.Module):
    """Class capsules, all but one masked, to an image (Sabour, Frosst & Hinton 2017, section 4.1)."""

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
        return self.layers((poses * mask.unsqueeze(-1)).flatten(1)).to(poses.dtype).unflatten(1, self.image)


class CapsNet(nn.Module):
    """A capsule network, assembled from a config; its last routed layer holds the class capsules.

    The algorithm of the config decides what that layer owns and how it votes and routes. Matrix capsules have further
    layers below it (`capsules`), and their class capsules share the 4 × 4 matrices over the positions.
    """

    transform: nn.Parameter
    coefficients: Tensor

    def __init__(self, config: CapsNetConfig) -> None:
        super().__init__()
        if isinstance(config, RecordedConfig):
            raise ConfigError(
                "A network that another program ran cannot be built; load its weights by what wrote them."
            )
        self.config = config
        self.encoder = ResidualEncoder(config) if config.stages else ConvolutionalEncoder(config)
        self.decoder = Decoder(config) if config.decoder else None
        self.capsules = nn.ModuleList(map(ConvolutionalCapsules, config.grids, config.capsule_layers))
        config.algorithm.add_weights(self, self._class_layer(), config)

    @property
    def weight(self) -> Float[Tensor, "lower d upper dim"]:
        """W of the vote transform û_ij = u_i W_ij; matrix capsules have `transform`, "lower upper 4 4", instead."""
        return self.transform.transpose(0, 1)

    def encode(self, images: Float[Tensor, "batch channel height width"]) -> PrimaryCapsules:
        """Images in 0..1, in the precision of the weights, to primary capsules."""
        return self.encoder(images)

    @property
    def depth(self) -> int:
        """Number of routed layers; the last one holds the class capsules."""
        return self.config.depth

    def votes(self, lower: PrimaryCapsules, layer: int = 0) -> Votes:
        """What every capsule below a routed layer predicts for the capsules in it, in float32."""
        found = self.owner(layer)
        if isinstance(found, ConvolutionalCapsules):
            return found.votes(lower)
        return self.config.algorithm.votes(self, lower.poses)

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
        posteriors. progress 0..1: how far training is, for EM's λ, whose schedule is the config's unless given. Raises
        ConfigError for a number of iterations below 1 or above MOST_ITERATIONS.
        """
        config = self.config if iterations is None else replace(self.config, iterations=iterations)
        if inverse_temperature is not None:
            config = replace(config, inverse_temperature=inverse_temperature)
        return config.algorithm.route(
            self.owner(layer),
            self.votes(lower, layer),
            lower.activations,
            config,
            iterations=config.iterations,
            record=record,
            progress=progress,
        )

    def routed(self, lower: PrimaryCapsules, *, progress: float = 1.0) -> Step:
        """The last step of the last layer, where the capsules below the first are given; progress: see `route`."""
        for layer in range(self.depth):
            step = deque(self.route(lower, layer=layer, progress=progress), maxlen=1).pop()
            lower = PrimaryCapsules(step.poses, step.activations)
        return step

    def owner(self, layer: int = 0) -> nn.Module:
        """The module that has the weights of a routed layer: a convolutional one's own, else the network."""
        return self.capsules[layer] if layer < len(self.capsules) else self

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

        Of the several drawings of `drawings` a pixel takes the brightest. Raises ValueError as `decode`.
        """
        return self.drawings(poses, activations, objects).amax(1)

    def drawings(
        self, poses: Float[Tensor, "batch upper dim"], activations: Float[Tensor, "batch upper"], objects: int = 1
    ) -> Float[Tensor, "batch object channel height width"]:
        """What each of the most active class capsules draws by itself, the most active first; raises as `decode`."""
        classes = strongest(activations, objects)
        return torch.stack([self.decode(poses, each) for each in classes.unbind(1)], dim=1)

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
            step = self.routed(primary, progress=progress)
        reconstruction = None
        if self.decoder is not None and reconstruct:
            reconstruction = (
                self.reconstruct(step.poses, step.activations) if classes is None else self.decoder(step.poses, classes)
            )
        return CapsOutput(primary, step, self.config.algorithm.scores(step), reconstruction)

    def receptive_field(self, capsule: int, layer: int = 0) -> tuple[int, int, int, int]:
        """Top, left, bottom and right (exclusive) of the input pixels that a capsule below a routed layer sees.

        Raises ConfigError for a capsule that is not there.
        """
        rows, columns, types = self.config.grids[layer]
        if not 0 <= capsule < rows * columns * types:
            raise ConfigError(f"There is no capsule {capsule}; name one from 0 to {rows * columns * types - 1}.")
        return self.config.receptive_field(*divmod(capsule // types, columns), layer)

    def _class_layer(self) -> LayerSizes:
        """What the layer of class capsules is made over: the primary capsules, or the last convolutional layer."""
        config, below = self.config, len(self.config.capsule_layers)
        rows, columns, types = config.grids[below]
        _, height, width = config.image
        centres = []
        for capsule in range(rows * columns * types):
            top, left, bottom, right = self.receptive_field(capsule, below)
            centres.append(((top + bottom) / 2 / height, (left + right) / 2 / width))
        return LayerSizes(
            len(centres),
            config.primary_dim,
            config.classes,
            config.class_dim,
            torch.tensor(centres),
            types if below else None,
        )
