"""Two records side by side: on which images two models differ most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from capsviz.analysis.comparison import CompareError
from capsviz.analysis.metrics import mean_squared_error
from capsviz.analysis.predictions import Predictions, drawings
from capsviz.network import CapsNet


def difference(
    first: Predictions, second: Predictions, by: str, artists: tuple[CapsNet, CapsNet] | None = None
) -> Float[Tensor, " count"]:
    """How far two models are apart on each image.

    by "mse" or "ssim": the amount by which their figures differ; "drawings": the mean squared difference between what
    they draw, for which `artists` are the two models that draw. Raises CompareError where the records are of other
    images, PredictionsError where nothing was drawn.
    """
    if first.data != second.data or not first.same_images(second):
        raise CompareError(f"{first.name} and {second.name} were measured on different images; choose one data set.")
    if by == "drawings":
        if artists is None:
            raise CompareError("The difference between drawings needs the two models that draw; give them as artists.")
        return mean_squared_error(drawings(first, artists[0]), drawings(second, artists[1]))
    return (first.figures(by) - second.figures(by)).abs()


def most(values: Float[Tensor, " count"], count: int) -> Int64[Tensor, " chosen"]:
    """Where the largest values stand, the largest first, equal ones in the order of the set."""
    return values.argsort(descending=True, stable=True)[:count]


def contested(records: Sequence[Predictions], among: Sequence[int] | None = None) -> int | None:
    """Which image the models disagree about most; None where all name the same classes on each.

    That with the most answers; of these the one whose commonest answer has the fewest models; of these the first.
    among: the images that count, all unless given. Raises CompareError where the records are of other images, or lack
    one of these.
    """
    if not records:
        raise CompareError("There is no record to compare; give some.")
    first = records[0]
    if any(record.data != first.data or not record.same_images(first) for record in records):
        raise CompareError(f"{first.name} and others were measured on different images; choose one data set.")
    named = torch.stack([record.named().sort(dim=1).values for record in records])
    if among is not None:
        if not among or not 0 <= min(among) <= max(among) < len(first):
            raise CompareError(f"The records are of images 0 to {len(first) - 1}; let some of them count.")
        named = named[:, torch.as_tensor(among)]
    _, predicted = named.flatten(0, 1).unique(dim=0, return_inverse=True)
    said = predicted.reshape(len(records), -1).T  # image, model
    given = said.new_zeros(len(said), int(said.max()) + 1).scatter_add_(1, said, torch.ones_like(said))  # image, answer
    answers, commonest = given.gt(0).sum(dim=1), given.amax(dim=1)
    if bool((answers == 1).all()):
        return None
    chosen = int((answers * (len(records) + 1) - commonest).argmax())
    return chosen if among is None else among[chosen]


def classified_right(record: Predictions, count: int, *, wrong_first: bool = False) -> Int64[Tensor, " chosen"]:
    """Up to `count` images classified right, in the order of the set; wrong_first: those drawn as another class first.

    Raises PredictionsError where they are asked for and nothing was drawn.
    """
    right = torch.nonzero(record.right).flatten()
    if wrong_first:
        right = right[(~record.drawn_wrong[right]).to(torch.uint8).argsort(stable=True)]
    return right[:count]


def worst_drawn(records: Sequence[Predictions], by: str, count: int) -> Int64[Tensor, " chosen"]:
    """The images that the models draw worst on average: the largest mean MSE, or the smallest mean SSIM.

    Raises PredictionsError where nothing of a model was drawn or `by` is neither "mse" nor "ssim".
    """
    mean = torch.stack([record.figures(by) for record in records]).mean(dim=0)
    return most(mean if by == "mse" else -mean, count)


def from_on(record: Predictions, start: int, count: int, label: int | None = None) -> Int64[Tensor, " chosen"]:
    """The images from number `start` on, only those of a class where one is given; after the last comes the first."""
    shows = torch.ones(len(record), dtype=torch.bool) if label is None else (record.shown() == label).any(1)
    places = torch.nonzero(shows).flatten()
    first = int((places < start).sum())
    return places.roll(-first)[:count]


def rows(
    drawn: Mapping[str, Float[Tensor, "chosen channel height width"]],
    inputs: Float[Tensor, "chosen channel height width"] | None = None,
) -> dict[str, Float[Tensor, "chosen channel height width"]]:
    """The drawings by method; with inputs, how far they are off: drawing − input, in [-1, 1]."""
    return {name: images if inputs is None else images - inputs for name, images in drawn.items()}
