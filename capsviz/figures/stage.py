"""The numbers of one routing as the browser's player draws them: all iterations, one class, one image.

What `figures.dynamic.routing_player` and `figures.em.em_player` are for a notebook, this is for the app: the picture is
drawn in the browser, line by line of the algorithm, and nothing is asked of a server while it plays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray

from capsviz.figures.geometry import Geometry, view_of
from capsviz.figures.panels import share_reach
from capsviz.figures.picture import numbers
from capsviz.figures.plane import Plane, fit_plane
from capsviz.figures.reading import check, geometry, steps, votes
from capsviz.figures.theme import class_colours, diverging, ink, sequential, typical_reach
from capsviz.trace import Trace

SEEN = 3
"""Axes of the space that the votes are looked at in: two on the page, a third to turn it by."""


@dataclass(frozen=True)
class Stage:
    """Fields (what JSON can hold) and arrays (float, sent flat) of one routing.

    Arrays of both routings: image "channel height width"; presence a_i "lower"; gains "lower"; for the chosen class
    votes "lower dim", their lengths vote_lengths "lower", poses (v or μ) "T dim", and both as seen along three axes:
    places "lower 3", heads "T 3", origin "3"; lengths (‖v‖, or a under EM) "T upper"; shares "T lower upper". "dr" adds
    agreement "T lower upper", sums ‖s‖ "T upper", sum_heads "T 3"; under "em" the shares are the R
    of each M-step, the last those that made the class capsules, and it adds covariances "T 3 3" and variances "T dim",
    cost Σ_h cost_j^h "T upper", and temperature λ "T".
    base_shares and base_lengths: the same of the run that this one is held against.
    """

    fields: dict[str, Any]
    arrays: dict[str, ndarray]


def stage(trace: Trace, *, image: int = 0, upper: int, base: Trace | None = None, dark: bool = False) -> Stage:
    """Dynamic or EM routing of one image to one class, with another run to hold it against.

    base: the untouched run where `trace` has an intervention; votes of both then lie in one space.
    Raises FigureError where the trace is of another routing, holds no votes, or lacks the image or the class.
    """
    check(trace, ("dr", "em"), image=image, upper=upper)
    routing, grid = trace.config.routing, geometry(trace)
    cast = votes(trace, image, upper)
    plane = fit_plane(*_points(base or trace, image, upper), seen=SEEN)
    arrays = _common(trace, image, plane, cast)
    arrays |= _dynamic(trace, image, upper, plane) if routing == "dr" else _em(trace, image, upper, plane)
    if base is not None:
        check(base, (routing,), image=image, upper=upper)
        arrays |= {"base_shares": _shares(base, image), "base_lengths": steps(base, "activations", image)}
    fields = _fields(trace, upper, grid, plane, dark)
    # One scale for all iterations and all classes; both runs share it, so that they can be compared by eye.
    fields["reach"] = share_reach(_shares(base or trace, image))
    if routing == "dr":
        agreement = steps(base or trace, "agreement", image)[-1]
        fields["agreement_reach"] = max(typical_reach(to_one, flat=0.0) for to_one in agreement.T) or 1.0
    return Stage(fields, arrays)


def _points(trace: Trace, image: int, upper: int) -> tuple[ndarray, ndarray]:
    """The votes for a class, and where it stands in every iteration."""
    field = "poses" if trace.config.routing == "dr" else "means"
    return votes(trace, image, upper), steps(trace, field, image)[:, upper]


def _fields(trace: Trace, upper: int, grid: Geometry, plane: Plane, dark: bool) -> dict[str, Any]:
    pen = ink(dark)
    channels, height, width = trace.config.image
    return {
        "routing": trace.config.routing,
        "classes": list(trace.classes),
        "kind": trace.kind,
        "upper": upper,
        "iterations": trace.layer.iterations,
        "grid": [grid.rows, grid.columns, grid.types],
        "image_shape": [channels, height, width],
        # Drawn where the capsules below are the primary ones, not those of a routed layer.
        "field": None if trace.config.capsule_layers else view_of(trace.config),
        "explained": [float(share) for share in plane.explained],
        "ink": {"text": pen.text, "muted": pen.muted, "grid": pen.grid, "accent": pen.accent, "ground": pen.ground},
        "class_colours": class_colours(len(trace.classes)),
        "diverging": diverging(dark),
        "sequential": sequential(dark),
    }


def _common(trace: Trace, image: int, plane: Plane, cast: ndarray) -> dict[str, ndarray]:
    gains = trace.gains
    return {
        "image": numbers(trace.images[image]),
        "presence": numbers(trace.primary_activations[image]),
        "gains": np.ones(len(cast)) if gains is None else numbers(gains),
        "votes": cast,
        "vote_lengths": np.linalg.norm(cast, axis=1),
        "places": plane.project(cast),
        "origin": plane.project(np.zeros(cast.shape[1])),
        "lengths": steps(trace, "activations", image),
        "shares": _shares(trace, image),
    }


def _shares(trace: Trace, image: int) -> ndarray:
    """Couplings, or under EM the responsibilities that each M-step used, "T lower upper"."""
    return steps(trace, "couplings" if trace.config.routing == "dr" else "responsibilities", image)


def _dynamic(trace: Trace, image: int, upper: int, plane: Plane) -> dict[str, ndarray]:
    sums = steps(trace, "sums", image)
    poses = steps(trace, "poses", image)[:, upper]
    return {
        "agreement": steps(trace, "agreement", image),
        "sums": np.linalg.norm(sums, axis=-1),
        "sum_heads": plane.project(sums[:, upper]),
        "poses": poses,
        "heads": plane.project(poses),
    }


def _em(trace: Trace, image: int, upper: int, plane: Plane) -> dict[str, ndarray]:
    means, variances = (steps(trace, field, image)[:, upper] for field in ("means", "variances"))
    return {
        "heads": plane.project(means),
        "covariances": plane.covariance(variances),
        "poses": means,
        "variances": variances,
        "cost": steps(trace, "cost", image).sum(axis=-1),
        "temperature": numbers(trace.layer["inverse_temperature"]),
    }
