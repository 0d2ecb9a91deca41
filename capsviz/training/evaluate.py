"""How many images a network gets wrong."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from capsviz.data import ImageSet, MultiDigits, to_float
from capsviz.network import METHODS, Network
from capsviz.training.feed import multi_hot


@dataclass(frozen=True)
class Evaluation:
    """What a network does on a whole set.

    error  share of images answered wrongly, in percent; an image with two digits counts as wrong unless both are found
    count  images looked at
    loss   mean loss on what the network says of the classes, its method's own at the end of training
    confusion  images of a class (row) that were taken for a class (column), "upper upper"; an image with two
           digits adds one count for each digit found, and one from each missed digit to each wrongly found one
    """

    error: float
    count: int
    loss: float
    confusion: Int64[Tensor, "upper upper"]


@torch.inference_mode()
def evaluate(model: Network, data: ImageSet | MultiDigits, batch: int = 128) -> Evaluation:
    """Classify every image of a set by the most active class, in float32 and in order: the same answer each time.

    model: left in the mode it came in. data: an ImageSet on the model's device.
    """
    was_training = model.training
    model.eval()
    classes = model.config.classes
    wrong, count, loss = 0, 0, 0.0
    confusion = torch.zeros(classes, classes, dtype=torch.int64)
    try:
        for images, labels in batches(data, batch):
            output = model(to_float(images), reconstruct=False)
            targets = multi_hot(labels.unsqueeze(1) if labels.ndim == 1 else labels, classes)
            found = most_active(output.activations.float(), targets)
            wrong += int((found != targets).any(dim=1).sum())
            count += len(targets)
            mean = METHODS[model.config.routing].loss(output.scores.float(), targets)
            loss += float(mean) * len(targets)
            confusion += confusions(found, targets).cpu()
    finally:
        model.train(was_training)
    return Evaluation(100 * wrong / count, count, loss / count, confusion)


def batches(data: ImageSet | MultiDigits, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Images and labels of a whole set in order; of a virtual set of pairs, one image for each digit of its base."""
    count = len(data.base) if isinstance(data, MultiDigits) else len(data)
    for indices in torch.arange(count).split(size):
        yield data.batch(indices)


def most_active(
    activations: Float[Tensor, "batch upper"], targets: Bool[Tensor, "batch upper"]
) -> Bool[Tensor, "batch upper"]:
    """The classes a network names: as many of the most active capsules as the image has labels."""
    ranks = activations.argsort(dim=1, descending=True, stable=True).argsort(dim=1, stable=True)
    return ranks < targets.sum(dim=1, keepdim=True)


def confusions(
    found: Bool[Tensor, "batch upper"], targets: Bool[Tensor, "batch upper"]
) -> Int64[Tensor, "upper upper"]:
    """Counts of (class shown, class named) over a batch."""
    right = (found & targets).sum(dim=0).diag()
    missed, invented = (targets & ~found).double(), (found & ~targets).double()
    return (right.double() + missed.T @ invented).round().long()
