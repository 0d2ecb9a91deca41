"""Reading a trace as numbers of one image, with a sentence where it does not hold what a figure needs."""

from __future__ import annotations

from collections.abc import Collection

from jaxtyping import Float
from numpy import ndarray

from capsviz.figures.errors import FigureError
from capsviz.figures.geometry import Geometry
from capsviz.figures.picture import numbers
from capsviz.routing import ALGORITHMS
from capsviz.trace import Trace


def check(
    trace: Trace, routings: Collection[str], *, image: int = 0, upper: int = 0, iteration: int | None = None
) -> None:
    """Raise FigureError unless the trace is of one of these routings and has the image, the class, the iteration."""
    if trace.config.routing not in routings:
        wanted = " or ".join(ALGORITHMS[name].title for name in routings)
        raise FigureError(
            f"This figure shows {wanted}, but the trace is of {trace.config.algorithm.title}; "
            f"trace a model of {wanted}."
        )
    _within("image", image, 0, len(trace.images) - 1)
    _within("class", upper, 0, len(trace.classes) - 1)
    if iteration is not None:
        _within("iteration", iteration, 1, trace.layer.iterations)


def steps(trace: Trace, field: str, image: int) -> Float[ndarray, "T ..."]:
    """A recorded quantity of one image over all iterations.

    Raises FigureError where the trace does not hold it.
    """
    try:
        recorded = trace.layer[field]
    except KeyError as missing:
        raise FigureError(f"The trace does not hold the {field}; trace the image again.") from missing
    return numbers(recorded[:, image])


def votes(trace: Trace, image: int, upper: int) -> Float[ndarray, "lower dim"]:
    """The votes of all lower capsules for one class.

    Raises FigureError where the trace was recorded without votes.
    """
    if trace.layer.votes is None:
        raise FigureError("The trace was recorded without votes; trace the image again with votes=True.")
    return numbers(trace.layer.votes[image, :, upper])


def geometry(trace: Trace) -> Geometry:
    """The grid of the capsules that vote for the classes, or for the upper capsules of `Trace.at`."""
    return Geometry(*trace.layer.lower_grid)


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise FigureError(f"The trace has no {name} {value}; choose one from {low} to {high}.")
