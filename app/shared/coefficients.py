"""What the discriminative page computes once for all its visitors: ascents of b, and its histories."""

from __future__ import annotations

import torch

from app.shared import own_models, resources
from app.shared.caching import of_zoo
from app.sources import browsing
from app.state.choices import CLIMBS
from capsviz import data, zoo
from capsviz.analysis import ascent
from capsviz.zoo.coefficient_history import CoefficientHistory


@of_zoo(spinner="Looking at the batch …", most=8)
def fixed(name: str, images: str, state: tuple[int, ...], count: int, draw: int) -> ascent.FixedVotes:
    """What stays as it is while b of a model climbs on `count` training images of a data set, drawn by a seed.

    state: `browsing.state` of the data set.
    """
    loaded = browsing.image_set(images, "train")
    order = torch.randperm(len(loaded), generator=torch.Generator().manual_seed(draw))[:count]
    chosen, labels = loaded.batch(order)
    return ascent.fix(resources.model(name), data.to_float(chosen), labels)


def batch_of(images: str, wanted: int) -> tuple[int, int]:
    """How many images a batch of so many has, since there may be fewer, and how many training images there are."""
    every = len(browsing.image_set(images, "train"))
    return min(wanted, every), every


@of_zoo(spinner="Climbing …", most=16)
def climbed(
    name: str,
    images: str,
    state: tuple[int, ...],
    count: int,
    draw: int,
    start: str,
    climb: str,
    step: float,
    regularisation: float,
    steps: int,
) -> ascent.Ascent:
    """An ascent of b, recorded; state: as in `fixed`; climb: a key of `CLIMBS`. Raises AscentError."""
    penalty, proximal = CLIMBS[climb]
    return ascent.climb(
        fixed(name, images, state, count, draw),
        ascent.starting_point(resources.model(name), "trained" if start == "trained" else "fresh", draw),
        step=step,
        regularisation=regularisation,
        penalty=penalty,
        proximal=proximal,
        steps=steps,
    )


@of_zoo(spinner="Reading the history of b …", most=4)
def history(name: str) -> CoefficientHistory | None:
    """b of a model while it was trained, None where that was not kept. Raises ZooError."""
    return None if name in own_models.models() else zoo.history(name)
