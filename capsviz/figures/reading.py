"""Reading a trace as numbers of one image, with a sentence where it does not hold what a figure needs."""

from __future__ import annotations

from jaxtyping import Float
from numpy import ndarray

from capsviz.figures.errors import FigureError
from capsviz.figures.geometry import Geometry
from capsviz.figures.picture import numbers
from capsviz.routing import ALGORITHMS
from capsviz.routing.program import Share
from capsviz.tracing.trace import Trace


def check(trace: Trace, picture: str = "", *, image: int = 0, upper: int = 0, iteration: int | None = None) -> None:
    """Raise FigureError unless the trace's routing has this picture, if any, and it the image, class and iteration."""
    check_kind(trace)
    if picture and picture not in trace.config.algorithm.pictures:
        wanted = " or ".join(each.title for each in ALGORITHMS.values() if picture in each.pictures)
        raise FigureError(
            f"This figure shows {wanted}, but the trace is of {trace.config.algorithm.title}; "
            f"trace a model of {wanted}."
        )
    _within("image", image, 0, len(trace.images) - 1)
    _within("class", upper, 0, len(trace.classes) - 1)
    if iteration is not None:
        _within("iteration", iteration, 1, trace.layer.iterations)


def check_kind(trace: object) -> None:
    """Raise FigureError unless it is a trace."""
    if not isinstance(trace, Trace):
        kind = type(trace).__name__
        raise FigureError(f"A figure shows a trace and this is a {kind}; give what capsviz.trace or its `at` returns.")


def share_of(trace: Trace) -> Share:
    """What a lower capsule gives to an upper one under the trace's routing; raises FigureError where it has none."""
    share = trace.config.algorithm.share
    if share is None:
        raise FigureError(f"{trace.config.algorithm.title} has no shares of an image; trace a model that iterates.")
    return share


def steps(trace: Trace, field: str, image: int) -> Float[ndarray, "T ..."]:
    """A recorded quantity of one image over all iterations.

    Raises FigureError where the trace does not hold it.
    """
    try:
        recorded = trace.layer[field]
    except KeyError as missing:
        title = trace.config.algorithm.title
        raise FigureError(f"The trace of {title} does not hold the {field}; give one that does.") from missing
    return numbers(recorded[:, image])


def votes(trace: Trace, image: int, upper: int) -> Float[ndarray, "lower dim"]:
    """The votes of all lower capsules for one class.

    Raises FigureError where the trace holds none.
    """
    if trace.layer.votes is None:
        raise FigureError(
            "The trace holds no votes; record it again with them (`capsviz trace --votes`, in Python votes=True, of "
            'several layers votes="all"), or give yours to `Trace.from_steps`.'
        )
    return numbers(trace.layer.votes[image, :, upper])


def geometry(trace: Trace) -> Geometry:
    """The grid of the capsules that vote for the classes, or for the upper capsules of `Trace.at`."""
    return Geometry(*trace.layer.lower_grid)


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise FigureError(f"The trace has no {name} {value}; choose one from {low} to {high}.")
