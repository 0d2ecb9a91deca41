"""A shipped model on every test image of its data set, and whose decoder draws it; which records are wanting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from jaxtyping import UInt8
from torch import Tensor

from capsviz import device, zoo
from capsviz.analysis.comparison import redraw
from capsviz.analysis.metrics import mean_squared_error, structural_similarity
from capsviz.analysis.predictions import Predictions, PredictionsError, recorded
from capsviz.data import DATASETS, ImageSet, load, to_float
from capsviz.network import CapsNet, Network
from capsviz.routing.dynamic import DYNAMIC

BATCH = 128
"""On the CPU as in `capsviz evaluate`, so that no sum is taken in another order and the errors are the very same."""


def measure(
    entry: zoo.Entry, drawer: zoo.Entry | None = None, *, progress: Callable[[int, int], None] | None = None
) -> Predictions:
    """Run a shipped model over its whole test set; progress is called with the images done and their number.

    drawer: whose decoder draws, `drawer_of` unless given.
    Raises PredictionsError where the images show more than one class each, or the errors are not those of the manifest;
    ZooError and DatasetMissing.
    """
    images = load(entry.data, "test")
    if not isinstance(images, ImageSet):
        raise PredictionsError(
            f"{entry.name} finds two classes in each image; `capsviz evaluate` measures such models."
        )
    drawer = drawer or drawer_of(entry)
    model = zoo.load_network(entry.name)
    artist = None if drawer is None else zoo.load(drawer.name)
    whole: dict[str, Any] = _all_columns(model, artist, images.images, progress)
    drawn = (drawer.name, drawer.sha256) if drawer else ("", "")
    labels = _classes(images.labels, entry.network.classes)
    found = Predictions(entry.name, entry.data, entry.sha256, *drawn, labels, **whole)
    if (found.error, len(found)) != (entry.test_error, entry.test_count):
        remedy = "run `capsviz zoo verify` to check the weights"
        if entry.data not in DATASETS:  # a folder, whose images are nobody's but its owner's
            remedy = "its images are others now, `capsviz zoo add` the run again, or " + remedy
        if (place := device.of(model)) != device.CPU:
            remedy = f"{device.title(place)} rounds otherwise, {device.VARIABLE}=cpu measures as the manifest did"
        raise PredictionsError(
            f"{entry.name} is wrong on {found.error:.2f} % of {len(found)} images, but the manifest says "
            f"{entry.test_error:.2f} % of {entry.test_count}; {remedy}."
        )
    return found


def _classes(found: Tensor, count: int) -> Tensor:
    """Classes as a record keeps them: in a byte each where that tells them apart."""
    return found.to(torch.uint8 if count <= 256 else torch.int16)


@device.or_cpu
def _all_columns(
    model: Network, artist: CapsNet | None, images: Tensor, progress: Callable[[int, int], None] | None
) -> dict[str, Tensor]:
    """`columns` of all images, taken a batch at a time."""
    parts: list[dict[str, Tensor]] = []
    for part in device.parts(model, len(images), BATCH, lambda due: columns(model, artist, images[due])):
        parts.append(part)
        if progress is not None:
            progress(sum(len(each["predicted"]) for each in parts), len(images))
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}


@torch.inference_mode()
def columns(
    model: Network, artist: CapsNet | None, images: UInt8[Tensor, "batch channel height width"]
) -> dict[str, Tensor]:
    """The tensors of `Predictions`, but the labels, for one batch; artist: whose decoder draws, None for no drawing."""
    pixels = to_float(images)
    if artist is None:
        output = model(pixels.to(device.of(model)), reconstruct=False)
        surest, predicted = device.results(output.activations).max(dim=1)
        return {"predicted": _classes(predicted, model.config.classes), "activations": surest.half()}
    seen = redraw(cast(CapsNet, model), artist, pixels)  # what has an artist has capsules
    return {
        "predicted": _classes(seen.predicted, model.config.classes),
        "activations": seen.activations.amax(dim=1).half(),
        "capsules": seen.capsules.half(),
        "mse": mean_squared_error(seen.drawn, pixels).half(),
        "ssim": structural_similarity(seen.drawn, pixels).half(),
        "reread": _classes(seen.reread, model.config.classes),
    }


def drawers(entry: zoo.Entry) -> list[zoo.Entry | None]:
    """By whom a model is to be drawn, as `measure` takes it: as always (None), and as a control where it is one."""
    control = control_drawer_of(entry)
    return [None] if control is None else [None, control]


def wanting() -> list[tuple[zoo.Entry, zoo.Entry | None]]:
    """The shipped models, each with its drawer, whose record is missing, stale or damaged, in the manifest's order.

    Without those that find several objects in each image: a record is of images that show one.
    """

    def wants(entry: zoo.Entry, drawer: zoo.Entry | None) -> bool:
        if entry.objects > 1:
            return False
        try:
            recorded(entry, drawer)
        except PredictionsError:
            return True
        return False

    every = [(entry, drawer) for entry in zoo.models().values() for drawer in drawers(entry)]
    return [(entry, drawer) for entry, drawer in every if wants(entry, drawer)]


def drawer_of(entry: zoo.Entry) -> zoo.Entry | None:
    """The model that draws a model's capsules: itself, else dynamic routing's of the same data set.

    None where there is none whose decoder takes such capsules, or no capsules to draw.
    """
    if not entry.has_capsules or entry.has_decoder:
        return entry if entry.has_capsules else None
    return _by_dynamic_routing(entry)


def control_drawer_of(entry: zoo.Entry) -> zoo.Entry | None:
    """Whose decoder also draws a model as a control: that which draws the capsules of models without a decoder.

    A control is dynamic routing of another seed, otherwise trained alike: its capsules learned to be drawn, by their
    own decoder, and the one that draws them as a control never met them either. None for every other model.
    """
    if not entry.has_capsules or entry.routing != DYNAMIC.name or not entry.has_decoder:
        return None
    drawer = _by_dynamic_routing(entry)
    other_seed = drawer is not None and drawer.preset == entry.preset and drawer.seed != entry.seed
    return drawer if other_seed else None


def _by_dynamic_routing(entry: zoo.Entry) -> zoo.Entry | None:
    """Dynamic routing whose decoder takes a model's capsules: of the same preset first, then of the first seed."""
    size = (entry.config.classes, entry.config.class_dim)
    able = [
        other
        for other in zoo.models().values()
        if (other.data, other.routing) == (entry.data, DYNAMIC.name)
        and other.has_decoder
        and (other.config.classes, other.config.class_dim) == size
    ]
    return min(able, key=lambda other: (other.preset != entry.preset, other.seed), default=None)
