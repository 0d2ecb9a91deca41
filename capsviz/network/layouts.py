"""Public PyTorch layouts of CapsNet: from the state dict of such a network to a network of ours that computes the same.

Only networks that route as Sabour, Frosst & Hinton 2017 do: from zero logits, with a softmax over the upper capsules.
Others are named in `OTHERWISE`, with what differs. Each layout also makes capsules, votes and drawings from its own
numbers in its own order, so that what was adopted is compared with what was given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count, takewhile

import torch
from jaxtyping import Float
from torch import Tensor

from capsviz.errors import CapsvizError
from capsviz.routing import DenseVotes, dynamic_routing, squash
from capsviz.routing.dynamic import DYNAMIC

from .capsnet import CapsNet
from .config import CapsNetConfig
from .finite import check_finite
from .own_numbers import own_numbers

TOLERANCE = 1e-4
"""By how much lengths of capsules and drawn pixels may differ, in float32."""
PLAIN = 0.0, 1.0
"""Mean and deviation of a network that reads images as they are, in 0..1."""
Weights = Mapping[str, Tensor]
Shape = tuple[int | str, ...]
Layers = list[tuple[Tensor, Tensor]]
"""Weight and bias of each."""


class LayoutError(CapsvizError):
    """Weights that are not those of a layout, or a layout that cannot be adopted."""


@dataclass(frozen=True)
class Layout(ABC):
    """How one public network names and orders its weights, and what it computes with them.

    repository: on GitHub. first, votes: the names of its first convolution and of W. reshaped: as of CapsNetConfig.
    normalised: by the channels of its images, the mean and the deviation that it takes off each and divides it by.
    """

    name: str
    repository: str
    first: str
    votes: str
    reshaped: bool = False
    normalised: Mapping[int, tuple[float, float]] = field(default_factory=dict)

    def features(self, weights: Weights, images: Float[Tensor, "batch channel height width"]) -> Tensor:
        """What its first convolution makes of images in 0..1."""
        mean, deviation = self.normalised.get(images.shape[1], PLAIN)
        return torch.nn.functional.conv2d((images - mean) / deviation, *_pair(weights, self.first)).relu()

    def first_layer(self, weights: Weights) -> tuple[Tensor, Tensor]:
        """Weight and bias of our first convolution, which reads images in 0..1."""
        weight, bias = _pair(weights, self.first)
        mean, deviation = self.normalised.get(weight.shape[1], PLAIN)
        return weight / deviation, bias - weight.sum((1, 2, 3)) * mean / deviation

    @abstractmethod
    def shapes(self, weights: Weights) -> dict[str, Shape]:
        """The names and shapes of its weights; a size in letters may be any, the same wherever it stands."""

    @abstractmethod
    def primary(self, weights: Weights) -> tuple[Tensor, Tensor]:
        """Weight and bias of our convolution to the primary capsules."""

    @abstractmethod
    def transform(self, weights: Weights) -> Float[Tensor, "d lower upper dim"]:
        """W of the votes."""

    @abstractmethod
    def decoder(self, weights: Weights) -> Layers:
        """The layers of its decoder."""

    @abstractmethod
    def capsules(
        self, weights: Weights, images: Float[Tensor, "batch channel height width"], iterations: int
    ) -> Float[Tensor, "batch upper dim"]:
        """The class capsules of each image by itself, as the public network computes them."""

    def drawn(self, weights: Weights, poses: Float[Tensor, "batch upper dim"]) -> Float[Tensor, "batch pixel"]:
        """The longest capsule as the public network draws it."""
        kept = poses * torch.nn.functional.one_hot(poses.norm(dim=2).argmax(1), poses.shape[1]).unsqueeze(-1)
        layers = self.decoder(weights)
        found = kept.flatten(1) if layers[0][0].shape[1] == kept[0].numel() else kept.sum(1)
        for number, (weight, bias) in enumerate(layers):
            found = (found.relu() if number else found) @ weight.T + bias
        return found.sigmoid()


@dataclass(frozen=True)
class Reshaped(Layout):
    """The output of one convolution is reshaped to primary capsules as it lies in memory, its channels not moved.

    second: the name of that convolution. leading: the axes of W before "upper lower dim d".
    """

    second: str = ""
    leading: tuple[int, ...] = ()
    reshaped: bool = True

    def shapes(self, weights: Weights) -> dict[str, Shape]:
        """Two convolutions, W and three layers."""
        return {
            **_layer(self.first, "channels", "image channels", "kernel", "kernel"),
            **_layer(self.second, "numbers", "channels", "second kernel", "second kernel"),
            self.votes: (*self.leading, "classes", "lower capsules", "D", "d"),
            **_layer("decoder.0", "first width", "classes × D"),
            **_layer("decoder.2", "second width", "first width"),
            **_layer("decoder.4", "pixels", "second width"),
        }

    def primary(self, weights: Weights) -> tuple[Tensor, Tensor]:
        """As they are."""
        return _pair(weights, self.second)

    def transform(self, weights: Weights) -> Float[Tensor, "d lower upper dim"]:
        """From "upper lower dim d"."""
        return weights[self.votes].flatten(0, -4).permute(3, 1, 0, 2)

    def decoder(self, weights: Weights) -> Layers:
        """Three."""
        return [_pair(weights, f"decoder.{place}") for place in (0, 2, 4)]

    def capsules(self, weights: Weights, images: Tensor, iterations: int) -> Tensor:
        """Every d numbers that follow one another are a primary capsule."""
        numbers = torch.nn.functional.conv2d(self.features(weights, images), *self.primary(weights), stride=2)
        matrices = weights[self.votes].flatten(0, -4)
        lower = squash(numbers.reshape(len(images), -1, matrices.shape[3]))
        return _routed(torch.einsum("jnkd,bnd->bnjk", matrices, lower), iterations)


@dataclass(frozen=True)
class Modules(Layout):
    """A convolution of its own for each type of primary capsules, and a decoder that reads one class capsule."""

    def shapes(self, weights: Weights) -> dict[str, Shape]:
        """As many convolutions as there are types, W and three layers."""
        found = _layer(self.first, "channels", "image channels", "kernel", "kernel")
        for name in self._types(weights) or [TYPE.format(0)]:
            found |= _layer(name, "d", "channels", "second kernel", "second kernel")
        return found | {
            self.votes: (1, "lower capsules", "classes", "d", "D"),
            **_layer("Decoder.fc1", "first width", "D"),
            **_layer("Decoder.fc2", "second width", "first width"),
            **_layer("Decoder.fc3", "pixels", "second width"),
        }

    def primary(self, weights: Weights) -> tuple[Tensor, Tensor]:
        """Channels: number after number, of each all types."""
        kernels, biases = zip(*(_pair(weights, name) for name in self._types(weights)), strict=True)
        return torch.stack(kernels, 1).flatten(0, 1), torch.stack(biases, 1).flatten()

    def transform(self, weights: Weights) -> Float[Tensor, "d lower upper dim"]:
        """From "lower upper d dim"."""
        return weights[self.votes][0].permute(2, 0, 1, 3)

    def decoder(self, weights: Weights) -> Layers:
        """Three."""
        return [_pair(weights, f"Decoder.fc{place}") for place in (1, 2, 3)]

    def capsules(self, weights: Weights, images: Tensor, iterations: int) -> Tensor:
        """Each type has its own map of capsules; position after position, of each all types."""
        features = self.features(weights, images)
        maps = [
            torch.nn.functional.conv2d(features, *_pair(weights, name), stride=2).flatten(2)
            for name in self._types(weights)
        ]
        lower = squash(torch.stack(maps, dim=3).flatten(2).transpose(1, 2))
        return _routed(torch.einsum("njdk,bnd->bnjk", weights[self.votes][0], lower), iterations)

    def _types(self, weights: Weights) -> list[str]:
        return list(takewhile(lambda name: f"{name}.weight" in weights, map(TYPE.format, count())))


TYPE = "PrimaryCaps.capsules.{}"
LAYOUTS: dict[str, Layout] = {
    layout.name: layout
    for layout in (
        Reshaped("xifengguo", "XifengGuo/CapsNet-Pytorch", "conv1", "digitcaps.weight", second="primarycaps.conv2d"),
        Reshaped(
            "danielhavir",
            "danielhavir/capsule-network",
            "conv1",
            "digits.W",
            normalised={1: (0.1307, 0.3081), 3: (0.5, 0.5)},
            second="primary.conv",
            leading=(1,),
        ),
        Modules("laubonghaudoi", "laubonghaudoi/CapsNet_guide_PyTorch", "Conv1", "DigitCaps.W"),
    )
}
"""The layouts that can be adopted, by name."""
_LOWER = "its couplings add up to 1 over the lower capsules, not over the classes"
_VOTES = "record its votes with capsviz.record, which routes them here"
OTHERWISE: dict[str, str] = {
    "gram-ai": f"gram-ai/capsule-networks routes otherwise ({_LOWER}, and its first logits are learned); {_VOTES}.",
    "higgsfield": f"higgsfield/Capsule-Network-Tutorial routes otherwise ({_LOWER}, and its logits are means over the "
    f"batch); {_VOTES}.",
    "cedrickchee": f"cedrickchee/capsule-net-pytorch routes otherwise ({_LOWER}, its logits are means over the batch, "
    f"and its primary capsules are squashed over all of them); {_VOTES}.",
    "adambielski": "adambielski/CapsNet-pytorch routes otherwise (its first logits are learned, where ours are zero); "
    "record its iterations and open them with capsviz.Trace.from_steps.",
}
"""Well-known networks that compute something else, by the names under which somebody might ask for them."""


def adopted(weights: Weights, layout: str, image: tuple[int, int, int], iterations: int = 3) -> CapsNet:
    """The network of ours that computes what a public one does with these weights; it routes by dynamic routing.

    weights: its state dict, in which "module." may stand before every name. layout: a key of LAYOUTS. image: channels,
    height and width of its images. iterations T of its routing. In evaluation mode, and compared with the public
    computation on random images. Raises LayoutError, in one sentence, for a layout that routes otherwise, weights that
    are missing or wrong, and outputs that differ; NotFinite.
    """
    known = _layout(layout)
    if not all(isinstance(name, str) and isinstance(value, Tensor) for name, value in weights.items()):
        raise LayoutError("A state dict has tensors by name; give what the network's state_dict() returns.")
    weights = {name.removeprefix("module."): value.detach().float().cpu() for name, value in weights.items()}
    sizes = _checked(known, weights)
    check_finite(weights, "The network")
    config = CapsNetConfig(
        image=image,
        classes=sizes["classes"],
        conv_channels=sizes["channels"],
        kernel=sizes["kernel"],
        primary_kernel=sizes["second kernel"],
        primary_types=len(known.primary(weights)[1]) // sizes["d"],
        primary_dim=sizes["d"],
        class_dim=sizes["D"],
        routing=DYNAMIC.name,
        iterations=iterations,
        decoder=(sizes["first width"], sizes["second width"]),
        reshaped=known.reshaped,
    )
    pixels = image[0] * image[1] * image[2]
    given = sizes["image channels"], sizes["lower capsules"], sizes["pixels"]
    if given != (image[0], config.lower, pixels):
        raise LayoutError(
            f"The weights are for images of {given[0]} channels and {given[2]} pixels in all with {given[1]} primary "
            f"capsules, the data set's have {image[0]}, {pixels} and {config.lower}; name the data set of its training."
        )
    with own_numbers(0):
        network = CapsNet(config)
    network.load_state_dict(_mapped(known, weights, sizes["classes"]))
    network.eval().requires_grad_(False)
    if (apart := difference(network, weights, layout)) > TOLERANCE:
        raise LayoutError(
            f"On random images the network of {known.repository} and ours differ by {apart:.1e}; its weights lie in "
            "another order than the published code's, which capsviz cannot adopt."
        )
    return network


@torch.inference_mode()
def difference(network: CapsNet, weights: Weights, layout: str, images: int = 4) -> float:
    """The largest difference of capsule lengths and drawn pixels to the public computation, on random images."""
    known, config = _layout(layout), network.config
    shown = torch.rand(images, *config.image, generator=torch.Generator().manual_seed(0))
    poses = known.capsules(weights, shown, config.iterations)
    output = network(shown, poses.norm(dim=2).argmax(1))
    assert output.reconstruction is not None
    lengths = (output.activations - poses.norm(dim=2)).abs().max()
    return float(torch.maximum(lengths, (output.reconstruction.flatten(1) - known.drawn(weights, poses)).abs().max()))


def _layout(name: str) -> Layout:
    if name in OTHERWISE:
        raise LayoutError(OTHERWISE[name])
    if name not in LAYOUTS:
        raise LayoutError(f"No layout is called {name!r}; choose one of {', '.join(LAYOUTS)}.")
    return LAYOUTS[name]


def _checked(layout: Layout, weights: Weights) -> dict[str, int]:
    """The sizes by their letters; raises LayoutError, naming what is missing, too much or of another shape."""
    wanted = layout.shapes(weights)
    for said, names in (("lacks", wanted.keys() - weights.keys()), ("also has", weights.keys() - wanted.keys())):
        if names:
            raise LayoutError(
                f"The file {said} {', '.join(sorted(names)[:3])}{' …' * (len(names) > 3)}, unlike the state dicts of "
                f"{layout.repository}; name another layout ({', '.join(LAYOUTS)}), or give the votes of a network of "
                "your own to capsviz.record."
            )
    sizes: dict[str, int] = {}
    for name, shape in wanted.items():
        found = tuple(weights[name].shape)
        fits = len(found) == len(shape) and min(found, default=0) > 0
        for size, letter in zip(found, shape, strict=True) if fits else ():
            fits &= size == (letter if isinstance(letter, int) else sizes.setdefault(letter, size))
        if not fits:
            asked = " × ".join(str(sizes.get(each, each) if isinstance(each, str) else each) for each in shape)
            raise LayoutError(f"{name} is {' × '.join(map(str, found))}, where {layout.repository} has {asked}.")
    return sizes


def _mapped(layout: Layout, weights: Weights, classes: int) -> dict[str, Tensor]:
    """The weights under our names."""
    layers = layout.decoder(weights)
    first, shift = layers[0]
    if first.shape[1] == layout.transform(weights).shape[3]:
        # It reads one capsule; ours reads all of them, of which all but one are zero.
        layers[0] = first.repeat(1, classes), shift
    named = {"encoder.conv": layout.first_layer(weights), "encoder.primary": layout.primary(weights)}
    named |= {f"decoder.layers.{2 * number}": layer for number, layer in enumerate(layers)}
    found = {f"{name}.{part}": value for name, pair in named.items() for part, value in zip(PARTS, pair, strict=True)}
    return found | {"transform": layout.transform(weights)}


PARTS = "weight", "bias"


def _pair(weights: Weights, name: str) -> tuple[Tensor, Tensor]:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def _layer(name: str, *shape: int | str) -> dict[str, Shape]:
    return {f"{name}.weight": shape, f"{name}.bias": shape[:1]}


def _routed(votes: Float[Tensor, "batch lower upper dim"], iterations: int) -> Float[Tensor, "batch upper dim"]:
    """The votes themselves, routed."""
    return deque(dynamic_routing(DenseVotes(votes), iterations), maxlen=1).pop().poses
