"""How many images a network gets wrong."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from capsviz import device
from capsviz.analysis.confusion import matrix
from capsviz.data import ImageSet, MultiDigits, to_float
from capsviz.data.multi import looked_at
from capsviz.network import METHODS, Network
from capsviz.training.feed import multi_hot
from capsviz.waiting import Progress

BATCH = 128
T = TypeVar("T")


@dataclass(frozen=True)
class Evaluation:
    """What a network does on a whole set.

    error: share of images answered wrongly, in percent; an image with two digits counts as wrong unless both are found.
    count: images looked at. loss: mean loss on what the network says of the classes, its method's own at the end of
    training. confusion: images of a class (row) that were taken for a class (column); an image with two digits adds one
    count for each digit found, and one from each missed digit to each wrongly found one.
    """

    error: float
    count: int
    loss: float
    confusion: Int64[Tensor, "upper upper"]


@device.or_cpu
@torch.inference_mode()
def evaluate(
    model: Network, data: ImageSet | MultiDigits, batch: int = BATCH, *, progress: Progress | None = None
) -> Evaluation:
    """Classify every image of a set by the most active class, in order: the same answer each time.

    model: its weights may have any precision, in which it reads the images then; each of its modules is left in the
    mode it came in, and on its device. batch: images at a time on the CPU; on a GPU as many as `capsviz.device` finds
    room for. progress: called with the images that are done, and their number.
    """
    training = [each for each in model.modules() if each.training]
    model.eval()
    wrong, count, loss = 0, 0, 0.0
    confusion = torch.zeros(model.config.classes, model.config.classes, dtype=torch.int64)
    try:
        for part in batches(model, data, batch, lambda images, labels: _part(model, images, labels)):
            wrong, count, loss = wrong + part[0], count + part[1], loss + part[2]
            confusion += part[3]
            if progress:
                progress(count, looked_at(data))
    finally:
        for each in training:
            each.training = True
    return Evaluation(100 * wrong / count, count, loss / count, confusion)


def _part(model: Network, images: Tensor, labels: Tensor) -> tuple[int, int, float, Tensor]:
    """Of a batch: images answered wrongly, images, summed loss, confusion."""
    output = model(images, reconstruct=False)
    shown = labels.reshape(len(labels), -1)
    targets = multi_hot(shown, model.config.classes)
    found = most_active(output.activations.float(), targets)
    wrong = int((found != targets).any(dim=1).sum())
    mean = METHODS[model.config.routing].loss(output.scores.float(), targets)
    counts = matrix(shown, found.long().topk(shown.shape[1]).indices, model.config.classes)
    return wrong, len(targets), float(mean) * len(targets), counts.cpu()


def batches(
    model: Network, data: ImageSet | MultiDigits, size: int, work: Callable[[Tensor, Tensor], T], *, most: int = 0
) -> Iterator[T]:
    """Do work on the images of a whole set in order, and their labels, on the model's device.

    work: called with images in 0..1 and labels, again with fewer where memory runs out. size: images at a time on the
    CPU. most: the first so many, all unless given; of a virtual set of pairs, one image for each digit of its base.
    """
    like, count = next(model.parameters()), looked_at(data)

    def due(part: slice) -> T:
        images, labels = data.batch(torch.arange(part.start, part.stop))
        return work(to_float(images.to(like.device)).to(like.dtype), labels.to(like.device))

    return device.parts(model, min(most or count, count), size, due)


def most_active(
    activations: Float[Tensor, "batch upper"], targets: Bool[Tensor, "batch upper"]
) -> Bool[Tensor, "batch upper"]:
    """The classes a network names: as many of the most active capsules as the image has labels."""
    ranks = activations.argsort(dim=1, descending=True, stable=True).argsort(dim=1, stable=True)
    return ranks < targets.sum(dim=1, keepdim=True)
