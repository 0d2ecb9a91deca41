"""A shipped model on every test image of its data set, and whose decoder draws it; which records are wanting."""

from __future__ import annotations

from typing import Any, cast

import torch
from jaxtyping import UInt8
from torch import Tensor

from capsviz import device, zoo
from capsviz.analysis.comparison import redraw
from capsviz.analysis.metrics import mean_squared_error, structural_similarity
from capsviz.analysis.predictions import Predictions, PredictionsError, recorded
from capsviz.data import DATASETS, ImageSet, MultiDigits, load, to_float
from capsviz.network import CapsNet, Network, strongest
from capsviz.routing.dynamic import DYNAMIC
from capsviz.waiting import Progress

BATCH = 128
"""On the CPU as in `capsviz evaluate`, so that no sum is taken in another order and the errors are the very same."""


def measure(
    entry: zoo.Entry,
    drawer: zoo.Entry | None = None,
    *,
    images: ImageSet | MultiDigits | None = None,
    progress: Progress | None = None,
) -> Predictions:
    """Run a shipped model over its whole test set; progress is called with the images done and their number.

    drawer: whose decoder draws, `drawer_of` unless given. images: the test set, loaded unless given.
    Of a virtual set of pairs as many images as the manifest's error is of. Raises PredictionsError where the errors are
    not those of the manifest; ZooError and DatasetMissing.
    """
    images = load(entry.data, "test") if images is None else images
    drawer = drawer or drawer_of(entry)
    model = zoo.load_network(entry.name)
    artist = None if drawer is None else zoo.load(drawer.name)
    whole: dict[str, Any] = _all_columns(model, artist, images, entry, progress)
    drawn = (drawer.name, drawer.sha256) if drawer else ("", "")
    found = Predictions(entry.name, entry.data, entry.sha256, *drawn, **whole)
    if (found.error, len(found)) != (entry.test_error, entry.test_count):
        raise PredictionsError(
            f"{entry.name} is wrong on {found.error:.2f} % of {len(found)} images, but the manifest says "
            f"{entry.test_error:.2f} % of {entry.test_count}; {remedy(entry.data, device.of(model))}."
        )
    return found


def remedy(data: str, place: torch.device) -> str:
    """What to do where the error of a model, on the test images of its data, is not that of the manifest."""
    if place != device.CPU:
        return f"{device.title(place)} rounds otherwise, {device.VARIABLE}=cpu measures as the manifest did"
    check = "run `capsviz zoo verify` to check the weights"
    if data not in DATASETS:  # a folder, whose images are nobody's but its owner's
        return f"its images are others now, `capsviz zoo add` the run again, or {check}"
    return check


@device.or_cpu
def _all_columns(
    model: Network,
    artist: CapsNet | None,
    images: ImageSet | MultiDigits,
    entry: zoo.Entry,
    progress: Progress | None,
) -> dict[str, Tensor]:
    """`columns` of all images, taken a batch at a time."""
    count = entry.test_count if isinstance(images, MultiDigits) else len(images)

    def due(part: slice) -> dict[str, Tensor]:
        batch, labels = images.batch(torch.arange(part.start, part.stop))
        return {"labels": labels, **columns(model, artist, batch, entry.objects)}

    parts: list[dict[str, Tensor]] = []
    for part in device.parts(model, count, BATCH, due):
        parts.append(part)
        if progress is not None:
            progress(sum(len(each["predicted"]) for each in parts), count)
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}


@torch.inference_mode()
def columns(
    model: Network, artist: CapsNet | None, images: UInt8[Tensor, "batch channel height width"], objects: int = 1
) -> dict[str, Tensor]:
    """The tensors of `Predictions`, but the labels, for one batch; artist: whose decoder draws, None for no drawing.

    objects: how many each image shows; where it shows one, no column has an axis for them.
    """
    pixels = to_float(images.cpu())

    def of_objects(values: Tensor) -> Tensor:
        return values.squeeze(1) if objects == 1 else values

    if artist is None:
        output = model(pixels.to(device.of(model)), reconstruct=False)
        activations = device.results(output.activations)
        predicted = strongest(activations, objects)
        drawn = {}
    else:
        seen = redraw(cast(CapsNet, model), artist, pixels, objects)  # what has an artist has capsules
        activations, predicted = seen.activations, seen.predicted
        drawn = {
            "capsules": of_objects(seen.capsules).half(),
            "mse": mean_squared_error(seen.drawn, pixels).half(),
            "ssim": structural_similarity(seen.drawn, pixels).half(),
            "reread": of_objects(seen.reread),
        }
    said = {"predicted": predicted, "activations": activations.gather(1, predicted).half()}
    return {name: of_objects(values) for name, values in said.items()} | drawn


def drawers(entry: zoo.Entry) -> list[zoo.Entry | None]:
    """By whom a model is to be drawn, as `measure` takes it: as always (None), and as a control where it is one."""
    control = control_drawer_of(entry)
    return [None] if control is None else [None, control]


def wanting() -> list[tuple[zoo.Entry, zoo.Entry | None]]:
    """The shipped models, each with its drawer, whose record is missing, stale or damaged, in the manifest's order."""

    def wants(entry: zoo.Entry, drawer: zoo.Entry | None) -> bool:
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
