"""The baseline that capsules are measured against: two convolutions with max pooling, then fully connected layers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from capsviz.errors import CapsvizError
from capsviz.reading import Count, Name, Side, check
from capsviz.routing import Method
from capsviz.routing.losses import cross_entropy

from .config import ConfigError, Image, NetworkConfig
from .presets import told_by

POOL = 2
"""Side of the square of which each pooling keeps the largest number."""


class Baseline(Method):
    """The method of a network without capsules, trained by cross-entropy on its logits."""

    name, title, short = "cnn", "CNN, max pooling", "CNN"
    colour = ""
    has_capsules = False

    def loss(
        self, scores: Float[Tensor, "batch upper"], targets: Bool[Tensor, "batch upper"], progress: float = 1.0
    ) -> Float[Tensor, ""]:
        """Cross-entropy."""
        return cross_entropy(scores, targets)


BASELINE = Baseline()


class NoCapsulesError(CapsvizError):
    """Capsules or routing were asked of a network that has none."""

    def __init__(self, name: str = "") -> None:
        what = f"{name} is a" if name else "This is a"
        super().__init__(f"{what} CNN without capsules or routing; choose a capsule network, such as digits-dr.")


@dataclass(frozen=True)
class CNNConfig(NetworkConfig):
    """A convolutional network with max pooling, its sizes named.

    image: channels, height, width. channels: of the two convolutions, which keep height and width and are each followed
    by ReLU and max pooling over 2 × 2. kernel: of both, in pixels, odd. hidden: width of the fully connected layer.
    Raises ConfigError. Source: the baseline of Sabour, Frosst & Hinton 2017 (section 5), which has three convolutions
    and 35 M parameters; this one is cut to the size of the capsule networks that it stands beside.
    """

    image: Image = (1, 28, 28)
    classes: Count = 10
    channels: tuple[Count, Count] = (64, 128)
    kernel: Side = 5
    hidden: Count = 640
    routing: Name = BASELINE.name

    def __post_init__(self) -> None:
        if self.routing != BASELINE.name:
            raise ConfigError(f"A CNN has no routing {self.routing!r}; leave the field out.")
        check(self, ConfigError)
        if self.kernel % 2 == 0:
            raise ConfigError(f"kernel must be odd, so that a convolution keeps the image's size; got {self.kernel}.")
        if min(self.image[1:]) < POOL**2:
            raise ConfigError(
                f"Two poolings leave nothing of a {self.image[1]}×{self.image[2]} image; use larger ones."
            )

    @property
    def features(self) -> int:
        """Numbers that the fully connected layer reads."""
        height, width = (side // POOL**2 for side in self.image[1:])
        return self.channels[1] * height * width

    @property
    def weights(self) -> int:
        """Numbers of its kernels and matrices: a file of its weights holds so many at least."""
        channels, width = pairwise((self.image[0], *self.channels)), self.features + self.classes
        return sum(a * b for a, b in channels) * self.kernel**2 + width * self.hidden


# Sizes that come within 1 % of the parameters of the DR network of the same preset on 28 × 28 images, decoder included.
CNN_PRESETS: dict[str, dict[str, Any]] = {
    "paper": {"channels": (128, 256), "hidden": 588},
    "compact": {"channels": (64, 128), "hidden": 640},
    "tiny": {"channels": (32, 64), "hidden": 336},
}


def cnn_preset(name: str, data: str, **overrides: Any) -> CNNConfig:
    """The config of a named preset ("paper", "compact" or "tiny") for a data set; overrides: any field of CNNConfig.

    Raises ConfigError for an unknown preset, UnknownDataset where neither data set nor overrides know the image.
    """
    if name not in CNN_PRESETS:
        raise ConfigError(f"No preset is called {name!r}; choose one of {', '.join(CNN_PRESETS)}.")
    return CNNConfig(**(told_by(data, overrides) | CNN_PRESETS[name] | overrides))


@dataclass(frozen=True)
class CNNOutput:
    """What one forward pass leaves behind: logits "batch upper", one for each class."""

    logits: Float[Tensor, "batch upper"]

    @property
    def activations(self) -> Float[Tensor, "batch upper"]:
        """The probability of each class: softmax over the classes."""
        return self.logits.softmax(dim=1)

    @property
    def scores(self) -> Float[Tensor, "batch upper"]:
        """What the classification loss reads: the logits."""
        return self.logits


class CNN(nn.Module):
    """A convolutional network with max pooling, assembled from a config; no capsules, no routing, no decoder."""

    def __init__(self, config: CNNConfig) -> None:
        super().__init__()
        self.config = config
        first, second = config.channels
        self.convolutions = nn.Sequential(
            nn.Conv2d(config.image[0], first, config.kernel, padding="same"),
            nn.ReLU(),
            nn.MaxPool2d(POOL),
            nn.Conv2d(first, second, config.kernel, padding="same"),
            nn.ReLU(),
            nn.MaxPool2d(POOL),
        )
        self.classifier = nn.Sequential(
            nn.Linear(config.features, config.hidden), nn.ReLU(), nn.Linear(config.hidden, config.classes)
        )
        self.decoder = None
        self.to(memory_format=torch.channels_last)

    def forward(
        self, images: Float[Tensor, "batch channel height width"], *, progress: float = 1.0, reconstruct: bool = False
    ) -> CNNOutput:
        """Images in 0..1 to one logit for each class.

        progress, reconstruct: a capsule network's, without meaning here; training and evaluation call both alike.
        """
        return CNNOutput(self.classifier(self.convolutions(images).flatten(1)).float())
