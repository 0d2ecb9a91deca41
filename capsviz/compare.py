"""The same images through several models: what each says, and what each one's decoder draws (seed 003, Figure 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor

from capsviz.errors import CapsvizError
from capsviz.measures import mean_squared_error, structural_similarity
from capsviz.network.capsnet import CapsNet


class CompareError(CapsvizError):
    """The models cannot be compared on these images."""


@dataclass(frozen=True)
class Drawing:
    """What one model's decoder draws of every image, and how close it comes."""

    reconstruction: Float[Tensor, "batch channel height width"]
    mse: Float[Tensor, " batch"]
    ssim: Float[Tensor, " batch"]


@dataclass(frozen=True)
class Answer:
    """What one model says of every image; no drawing where it has no decoder."""

    predicted: Int[Tensor, " batch"]
    activations: Float[Tensor, "batch upper"]
    """Capsule lengths, or EM's activations."""
    drawing: Drawing | None


@dataclass(frozen=True)
class Comparison:
    """The images and the answer of each model, by name, in the order in which the models were given."""

    images: Float[Tensor, "batch channel height width"]
    labels: Int[Tensor, " batch"] | None
    answers: Mapping[str, Answer]

    @property
    def drawings(self) -> dict[str, Drawing]:
        """The drawings of the models that have a decoder."""
        return {name: answer.drawing for name, answer in self.answers.items() if answer.drawing is not None}


@torch.inference_mode()
def compare(
    models: Mapping[str, CapsNet],
    images: Float[Tensor, "batch channel height width"],
    labels: Int[Tensor, " batch"] | None = None,
) -> Comparison:
    """Classify and reconstruct the images (float, in [0, 1]) with every model, each decoding its own longest capsule.

    Raises CompareError where a model takes images of another shape.
    """
    return Comparison(images, labels, {name: _answer(name, model, images) for name, model in models.items()})


def _answer(name: str, model: CapsNet, images: Tensor) -> Answer:
    _check_shape(name, model, images)
    output = model(images)
    predicted = output.activations.argmax(dim=1)
    drawn = output.reconstruction
    if drawn is None:
        return Answer(predicted, output.activations, None)
    mse, ssim = mean_squared_error(drawn, images), structural_similarity(drawn, images)
    return Answer(predicted, output.activations, Drawing(drawn, mse, ssim))


@dataclass(frozen=True)
class Redrawing:
    """Capsules of one model drawn by the decoder of another, and what the latter then reads in its own drawing."""

    images: Float[Tensor, "batch channel height width"]
    labels: Int[Tensor, " batch"] | None
    predicted: Int[Tensor, " batch"]
    """Class that the model whose capsules are drawn gives to the image."""
    activations: Float[Tensor, "batch upper"]
    drawn: Float[Tensor, "batch channel height width"]
    reread: Int[Tensor, " batch"]
    """Class that the drawing model gives to its drawing."""

    @property
    def right(self) -> Bool[Tensor, " batch"]:
        """Images classified right. Raises CompareError where the labels are unknown."""
        if self.labels is None:
            raise CompareError("Right and wrong need labels; take images of a data set.")
        return self.predicted == self.labels

    @property
    def right_but_redrawn_wrong(self) -> Bool[Tensor, " batch"]:
        """Images classified right whose drawing reads as another class: the cases of seed 003, Figure 2 (c).

        Raises CompareError where the labels are unknown.
        """
        return self.right & (self.reread != self.predicted)

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many images there are, how many are classified right, and how many of those are redrawn wrong."""
        return len(self.images), int(self.right.sum()), int(self.right_but_redrawn_wrong.sum())

    def examples(self, count: int) -> Redrawing:
        """Up to `count` images classified right, those redrawn wrong first, each group in the order of the set."""
        right = torch.nonzero(self.right).flatten()
        order = right[(~self.right_but_redrawn_wrong[right]).to(torch.uint8).argsort(stable=True)][:count]
        return Redrawing(**{field.name: getattr(self, field.name)[order] for field in fields(Redrawing)})


@torch.inference_mode()
def redraw(
    encoder: CapsNet,
    decoder: CapsNet,
    images: Float[Tensor, "batch channel height width"],
    labels: Int[Tensor, " batch"] | None = None,
) -> Redrawing:
    """Give the longest class capsule of `encoder` to the decoder of `decoder`, which then classifies its own drawing.

    Seed 003, section IV-B: the encoder was trained without a decoder, the decoder with dynamic routing, so nothing
    ever asked the former's capsules to be drawable by the latter.

    Raises CompareError where the second model has no decoder or the two do not fit each other or the images.
    """
    _check_shape("The classifying model", encoder, images)
    _check_shape("The drawing model", decoder, images)
    if not decoder.config.decoder:
        raise CompareError(
            "The drawing model was trained without a decoder; choose one whose name does not end in -fc."
        )
    if (encoder.config.classes, encoder.config.class_dim) != (decoder.config.classes, decoder.config.class_dim):
        raise CompareError(
            "The class capsules of the two models differ in number or size; choose models of one data set."
        )
    output = encoder(images, reconstruct=False)
    predicted = output.activations.argmax(dim=1)
    drawn = decoder.decode(output.poses, predicted)
    reread = decoder(drawn, reconstruct=False).activations.argmax(dim=1)
    return Redrawing(images, labels, predicted, output.activations, drawn, reread)


def redraw_all(
    encoder: CapsNet,
    decoder: CapsNet,
    images: UInt8[Tensor, "count channel height width"],
    labels: Int[Tensor, " count"],
    *,
    batch_size: int = 100,
    progress: Callable[[int, int], None] | None = None,
) -> Redrawing:
    """`redraw` over many byte images, a batch at a time; progress is called with the images done and their number.

    Raises CompareError as `redraw` does.
    """
    parts = []
    for start in range(0, len(images), batch_size):
        batch = slice(start, start + batch_size)
        parts.append(redraw(encoder, decoder, images[batch].float() / 255, labels[batch]))
        if progress is not None:
            progress(min(start + batch_size, len(images)), len(images))
    columns = {field.name: torch.cat([getattr(part, field.name) for part in parts]) for field in fields(Redrawing)}
    return Redrawing(**columns)


def _check_shape(name: str, model: CapsNet, images: Tensor) -> None:
    if tuple(images.shape[1:]) != tuple(model.config.image):
        wanted, given = (" × ".join(str(size) for size in shape) for shape in (model.config.image, images.shape[1:]))
        raise CompareError(f"{name} takes images of {wanted}, not {given}; prepare the images for it first.")
