"""Numbers that screens, figures and tests share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int, Num
from torch import Tensor

from capsviz.data.images import to_float
from capsviz.routing.discriminative import signs
from capsviz.routing.squash import NOTHING
from capsviz.tensors import written
from capsviz.tracing.pixels import PixelsError
from capsviz.tracing.trace import NotRecorded, Trace


def contributions(trace: Trace, image: int = 0) -> Float[Tensor, "lower upper"]:
    """What each vote adds to the length of the sum that it goes into: c_ij û_ij·s_j / ‖s_j‖, with b_ij where learned.

    Over the lower capsules they sum to ‖s_j‖ (Sabour, Frosst & Hinton 2017, eq. 2; Yang, Li & Yu 2021, eq. 6), whose
    direction squash keeps; where nothing is squashed, the votes say û·s. Raises KeyError for a routing without sums,
    and for votes that are wanted and were not recorded.
    """
    layer = trace.layer
    if "coefficients" in layer:
        weights, towards = layer["coefficients"][-1], layer["sums"]
    else:
        weights, towards = layer["couplings"][-1, image], layer["poses" if layer.algorithm.squashed else "sums"]
    towards = towards[-1, image]
    if layer.algorithm.squashed:
        agreement = layer["agreement"][-1, image]
    elif layer.votes is not None:
        agreement = (layer.votes[image] * towards).sum(-1)
    else:
        raise NotRecorded("The trace does not hold the votes; record them as well.")
    return weights * agreement / towards.norm(dim=-1).clamp_min(torch.finfo(torch.float32).tiny)


def label_signs(
    labels: Sequence[int] | Sequence[Sequence[int]] | Int[Tensor, "batch *object"], classes: int
) -> Float[Tensor, "batch upper"]:
    """δ of Yang, Li & Yu 2021, eq. 5b: +1 for the class of the label, or of each label, −1 for every other class."""
    each = torch.as_tensor(labels).long()
    return signs(torch.nn.functional.one_hot(each.reshape(len(each), -1), classes).amax(1).bool())


def coupling_entropy(couplings: Float[Tensor, "*batch upper"]) -> Float[Tensor, "*batch"]:
    """Entropy of how a lower capsule shares itself out over the upper ones, as a share of ln J.

    1 is maximum confusion (all couplings equal, as at the first iteration of dynamic routing), 0 a capsule that
    sends everything to one class. Zero couplings count as 0 · ln 0 = 0. Raises ValueError for numbers below 0, which
    share nothing out, as the coefficients of L2 and L1.
    """
    if bool((couplings < 0).any()):
        raise ValueError("couplings share a capsule out and are never negative; coefficients b have no entropy")
    upper = couplings.shape[-1]
    if upper == 1:
        return torch.zeros(couplings.shape[:-1], dtype=couplings.dtype, device=couplings.device)
    return torch.special.entr(couplings).sum(dim=-1) / math.log(upper)


def mean_squared_error(
    reconstructions: Num[Tensor, "batch channel height width"], images: Num[Tensor, "batch channel height width"]
) -> Float[Tensor, " batch"]:
    """Mean over pixels and channels of the squared error, one number per image.

    Images are bytes, or floats in [0, 1]. Raises PixelsError where both are not of one size.
    """
    first, second = _alike(reconstructions, images)
    return (first - second).square().mean(dim=(1, 2, 3))


def _alike(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """Both as floats in 0..1; raises PixelsError where they are not of one size."""
    if first.shape != second.shape:
        sizes = " and ".join(written(tuple(each.shape)) for each in (first, second))
        raise PixelsError(f"Images of {sizes} do not compare; give as many of one size.")
    one, other = (to_float(each) if each.dtype == torch.uint8 else each for each in (first, second))
    return one, other


def structural_similarity(
    reconstructions: Num[Tensor, "batch channel height width"], images: Num[Tensor, "batch channel height width"]
) -> Float[Tensor, " batch"]:
    """SSIM of every image pair (torchmetrics; Gaussian window of 11 pixels, σ = 1.5, data range 1); 1 is identical.

    As of `mean_squared_error`.
    """
    # Imported here: torchmetrics is heavy, and routing or training never needs it.
    from torchmetrics.functional.image import structural_similarity_index_measure

    if not len(images):
        return torch.zeros(0)
    values = structural_similarity_index_measure(*_alike(reconstructions, images), data_range=1.0, reduction="none")
    assert isinstance(values, Tensor)  # the tuple is returned only with return_full_image
    return values.reshape(images.shape[0])


@dataclass(frozen=True)
class ImageMoments:
    """Size, position and shape of the ink of each image, in pixels unless said otherwise; NaN where there is no ink.

    Rows count downwards and columns to the right, both from the first pixel's centre.
    """

    row: Float[Tensor, " batch"]
    column: Float[Tensor, " batch"]
    height: Float[Tensor, " batch"]
    """Standard deviation of the ink along the rows."""
    width: Float[Tensor, " batch"]
    """Standard deviation of the ink along the columns."""
    slant: Float[Tensor, " batch"]
    """Columns to the right per row upwards: the shear that would set the digit upright, positive leaning right; 0 for
    ink in one row."""
    stroke: Float[Tensor, " batch"]
    """Stroke width: twice the ink over its total variation (width w and length L make ink wL and edges 2L)."""
    curvature: Float[Tensor, " batch"]
    """Curvature, per pixel, of the parabola column(row) that fits the ink best: 1 / radius of an upright arc, positive
    where it opens to the right, like a bracket (; 0 for ink in fewer than three rows."""


ONE_ROW = 1e-9
"""Variance along the rows, in pixels², up to which all ink is in one row: rounding leaves a little."""


def image_moments(images: Float[Tensor, "batch channel height width"]) -> ImageMoments:
    """Image moments of the mean over channels, ink being what is bright: up to the second order, curvature up to the
    fourth along the rows."""
    ink = images.double().mean(dim=1)
    rows = torch.arange(ink.shape[1], dtype=ink.dtype, device=ink.device)[None, :, None]
    columns = torch.arange(ink.shape[2], dtype=ink.dtype, device=ink.device)[None, None, :]
    mass = ink.sum(dim=(1, 2))

    def mean(values: Tensor) -> Tensor:
        return (ink * values).sum(dim=(1, 2)) / mass  # 0 / 0 = NaN is the documented answer for an empty image

    row, column = mean(rows), mean(columns)
    down, right = rows - row[:, None, None], columns - column[:, None, None]
    variance_down, variance_right, covariance = mean(down.square()), mean(right.square()), mean(down * right)
    # Bright pixels at the border have an edge there too, hence the frame of zeros.
    framed = torch.nn.functional.pad(ink, (1, 1, 1, 1))
    step_down, step_right = framed.diff(dim=1)[:, :, 1:], framed.diff(dim=2)[:, 1:, :]
    variation = torch.sqrt(step_down.square() + step_right.square()).sum(dim=(1, 2))
    fields = (
        row,
        column,
        variance_down.sqrt(),
        variance_right.sqrt(),
        torch.where(variance_down <= ONE_ROW, 0.0, -covariance / variance_down),
        2 * mass / variation,
        _curvature(mean, down, right),
    )
    return ImageMoments(*(field.float() for field in fields))


def _curvature(mean: Callable[[Tensor], Tensor], down: Tensor, right: Tensor) -> Tensor:
    """Twice the coefficient of row² in the least-squares fit column ≈ a + b row + c row², weighted by the ink."""
    second, third, fourth = mean(down.square()), mean(down**3), mean(down**4)
    # row², freed of what a constant and row say already: what is left of it decides on c alone.
    spread = fourth - second.square() - third.square() / second
    slope = mean(down.square() * right) - third / second * mean(down * right)
    # Ink in one or two rows: every parabola through them fits.
    flat = (second <= ONE_ROW) | (spread <= 1e-9 * fourth)
    return torch.where(flat, 0.0, 2 * slope / spread)


@dataclass(frozen=True)
class RoutingSummary:
    """What routing made of one image, in a handful of numbers."""

    predicted: int
    """The class of the most active capsule."""
    activation: float
    """Length (EM: activation) of the predicted class capsule after the last iteration."""
    first_activation: float
    """The same after the first iteration."""
    runner_up: int | None
    """The most active capsule of those that are not named: as many are as an image shows objects; None: all are."""
    runner_up_activation: float | None
    entropy: tuple[float, ...]
    """Mean coupling entropy over the lower capsules, as a share of ln J, per iteration; empty for L2 and L1."""
    largest_share: tuple[float, ...]
    """The largest coupling (EM: responsibility) of any capsule pair, per iteration; empty for L2 and L1."""


def summarise(trace: Trace, image: int = 0) -> RoutingSummary:
    """The numbers that stand beside a picture of one image's routing; entropy is that of c, or of R under EM."""
    activations = trace.layer["activations"][:, image]
    order = activations[-1].argsort(descending=True).tolist()
    runner_up = order[trace.objects] if trace.objects < len(order) else None
    share = trace.layer.algorithm.share
    iterations = trace.layer[share.field][:, image] if share else torch.empty(0, 1, trace.activations.shape[1])
    return RoutingSummary(
        predicted=order[0],
        activation=float(activations[-1, order[0]]),
        first_activation=float(activations[0, order[0]]),
        runner_up=runner_up,
        runner_up_activation=None if runner_up is None else float(activations[-1, runner_up]),
        entropy=tuple(coupling_entropy(iterations).mean(dim=-1).tolist()),
        largest_share=tuple(iterations.flatten(1).max(dim=1).values.tolist()),
    )


@dataclass(frozen=True)
class GaussianSummary:
    """One class's Gaussian under EM routing, iteration by iteration."""

    deviation: tuple[float, ...]
    """Geometric mean of σ over the pose components."""
    cost: tuple[float, ...]
    """Σ_h cost_j^h, normalised data."""


@dataclass(frozen=True)
class Held:
    """How many lower capsules the most active upper one holds: its shares of the last iteration, summed over them.

    predicted: which it is; lower: how many capsules are shared out; rank: 1 holds the most of all `upper` ones.
    """

    predicted: int
    amount: float
    lower: int
    rank: int
    upper: int


def held(trace: Trace, image: int = 0) -> Held | None:
    """What the most active upper capsule holds of the lower ones; None where none is active, or all hold as much.

    Raises ValueError for a routing without shares.
    """
    share = trace.layer.algorithm.share
    if share is None:
        raise ValueError("nothing is shared out where capsules have no shares; give a trace of a routing that iterates")
    shares, activations = trace.layer[share.field][-1, image], trace.activations[image]
    amounts, predicted = shares.sum(dim=0), int(activations.argmax())
    if float(activations.max()) <= NOTHING or torch.allclose(amounts, amounts[predicted]):
        return None
    rank = 1 + int((amounts > amounts[predicted]).sum())
    return Held(predicted, float(amounts[predicted]), len(shares), rank, len(amounts))


def gaussian_summary(trace: Trace, upper: int, image: int = 0) -> GaussianSummary:
    """How wide and how costly the Gaussian of class `upper` is in each iteration.

    Source: *Encapsulating Capsule Networks*, eq. 20-29.
    """
    deviation = (trace.layer["variances"][:, image, upper].log().mean(dim=-1) / 2).exp()
    cost = trace.layer["cost"][:, image, upper].sum(dim=-1)
    return GaussianSummary(tuple(deviation.tolist()), tuple(cost.tolist()))
