"""Images through several models: what each says, what each one's decoder draws (Yang, Li & Yu 2021, Figure 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import SupportsIndex

import torch
from jaxtyping import Float, Int, Num
from torch import Tensor

from capsviz import device, zoo
from capsviz.analysis.metrics import mean_squared_error, structural_similarity
from capsviz.errors import CapsvizError, line
from capsviz.network import CapsNet, strongest
from capsviz.reading import whole
from capsviz.tensors import written
from capsviz.tracing.pixels import PixelsError, inputs, pixels, tensor_of


class CompareError(CapsvizError):
    """The models cannot be compared on these images."""


@dataclass(frozen=True)
class Drawing:
    """What one model's decoder draws of every image, and how close it comes."""

    reconstruction: Float[Tensor, "batch channel height width"]
    mse: Float[Tensor, " batch"]
    ssim: Float[Tensor, " batch"]
    each: Float[Tensor, "batch object channel height width"]
    """What each of the capsules draws by itself; `reconstruction` has the brighter of their pixels."""


@dataclass(frozen=True)
class Answer:
    """What one model says of every image; no drawing where it has no decoder."""

    named: Int[Tensor, "batch object"]
    """The classes of its most active capsules, the most active first, one for each object in the image."""
    activations: Float[Tensor, "batch upper"]
    """Capsule lengths, or EM's activations."""
    drawing: Drawing | None

    @property
    def predicted(self) -> Int[Tensor, " batch"]:
        """The class of the most active capsule."""
        return self.named[:, 0]


@dataclass(frozen=True)
class Comparison:
    """The images and the answer of each model, by name, in the order in which the models were given."""

    images: Float[Tensor, "batch channel height width"]
    answers: Mapping[str, Answer]

    @property
    def drawings(self) -> dict[str, Drawing]:
        """The drawings of the models that have a decoder."""
        return {name: answer.drawing for name, answer in self.answers.items() if answer.drawing is not None}


def compare(
    models: Mapping[str, CapsNet | str] | Sequence[str],
    images: Num[Tensor, "batch channel height width"],
    objects: SupportsIndex = 1,
) -> Comparison:
    """Classify and reconstruct images with every model, each decoding its own longest capsules.

    models: networks, or names of pretrained ones, by title; or names alone. images: in 0..1, or bytes 0 to 255.
    objects: how many an image shows, and capsules are decoded.
    Raises CompareError where a model has no capsules or takes images of another shape, or titles are missing,
    NoCapsulesError where the name is of one without, PixelsError, ModeError and ZooError as `capsviz.trace`.
    """
    count, given = _count(objects), tensor_of(images, "images", PixelsError)
    if not isinstance(models, Mapping):
        if (
            not isinstance(models, Sequence)
            or isinstance(models, str)
            or not all(isinstance(name, str) for name in models)
        ):
            raise CompareError("Models come by title, or as a list of names; give {title: model, …}.")
        models = {name: name for name in models}
    answers = {name: _answer(_fitting(name, model, given), given, count) for name, model in models.items()}
    return Comparison(device.results(pixels(given, tuple(given.shape[1:]))), answers)


@device.or_cpu
@torch.no_grad()
def _answer(model: CapsNet, images: Tensor, objects: int) -> Answer:
    shown = inputs(images, model)
    output = model(shown, reconstruct=False)
    activations = device.results(output.activations)
    named = strongest(activations, objects)
    if model.decoder is None:
        return Answer(named, activations, None)
    each = device.results(model.drawings(output.poses, output.activations, objects))
    drawn, shown = each.amax(1), device.results(shown)
    mse, ssim = mean_squared_error(drawn, shown), structural_similarity(drawn, shown)
    return Answer(named, activations, Drawing(drawn, mse, ssim, each))


@dataclass(frozen=True)
class Redrawing:
    """Capsules of one model drawn by a decoder, and what the drawing model then reads in its own drawing."""

    predicted: Int[Tensor, "batch object"]
    """The classes that the model whose capsules are drawn gives to the image, the most active first."""
    activations: Float[Tensor, "batch upper"]
    capsules: Float[Tensor, "batch object dim"]
    """Poses of the predicted class capsules: what is drawn."""
    drawn: Float[Tensor, "batch channel height width"]
    reread: Int[Tensor, "batch object"]
    """The classes that the drawing model gives to its drawing."""


def redraw(
    encoder: CapsNet | str,
    decoder: CapsNet | str,
    images: Num[Tensor, "batch channel height width"],
    objects: SupportsIndex = 1,
) -> Redrawing:
    """Give the longest class capsules of `encoder` to the decoder of `decoder`, which then classifies its own drawing.

    encoder, decoder, images: as for `compare`. objects: how many an image shows, and capsules are drawn.

    Yang, Li & Yu 2021, section IV-B: the encoder was trained without a decoder, the decoder with dynamic routing, so
    nothing ever asked the former's capsules to be drawable by the latter. Both may be the same model: then it reads its
    own reconstructions.

    Raises CompareError where the second model has no decoder or the two do not fit each other or the images,
    NoCapsulesError, PixelsError, ModeError and ZooError as `compare`.
    """
    count, given = _count(objects), tensor_of(images, "images", PixelsError)
    encoder = _fitting("The classifying model", encoder, given)
    decoder = _fitting("The drawing model", decoder, given)
    if not decoder.config.decoder:
        raise CompareError(
            "The drawing model was trained without a decoder; choose one whose name does not end in -fc."
        )
    if (encoder.config.classes, encoder.config.class_dim) != (decoder.config.classes, decoder.config.class_dim):
        raise CompareError(
            "The class capsules of the two models differ in number or size; choose models of one data set."
        )
    return _redrawn(encoder, decoder, given, count)


@device.or_cpu
@torch.no_grad()
def _redrawn(encoder: CapsNet, decoder: CapsNet, given: Tensor, count: int) -> Redrawing:
    output = encoder(inputs(given, encoder), reconstruct=False)
    poses, activations = device.results(output.poses), device.results(output.activations)
    predicted, place = strongest(activations, count), device.of(decoder)
    drawn = decoder.reconstruct(poses.to(place), activations.to(place), count)
    reread = strongest(device.results(decoder(drawn, reconstruct=False).activations), count)
    capsules = poses[torch.arange(len(predicted))[:, None], predicted]
    return Redrawing(predicted, activations, capsules, device.results(drawn), reread)


def _count(objects: SupportsIndex) -> int:
    said = f"An image cannot show {objects!r} objects; give a number of at least 1."
    found = whole(objects, said, CompareError)
    if found < 1:
        raise CompareError(said)
    return found


def _fitting(name: str, model: CapsNet | str, images: Tensor) -> CapsNet:
    network = zoo.load(model) if isinstance(model, str) else model
    if not isinstance(network, CapsNet):
        raise CompareError(line(f"{name} has no capsules; give a capsule network."))
    if tuple(images.shape[1:]) != tuple(network.config.image):
        wanted, given = map(written, (network.config.image, images.shape[1:]))
        raise CompareError(line(f"{name} takes images of {wanted}, not {given}; prepare the images for it first."))
    return network
