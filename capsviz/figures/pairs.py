"""Two digits over one another, and what models draw of each."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, UInt8
from numpy import ndarray
from plotly.graph_objects import Figure
from torch import Tensor

from capsviz.data import to_float
from capsviz.experiments.pairs import Drawn, Pairs
from capsviz.figures.picture import in_colours, numbers
from capsviz.figures.reconstructions import method_grid
from capsviz.network import METHODS

INKS = "#ff9433", "#3394ff"
"""Of the first digit and of the second, an orange and a blue; where both are drawn it is white."""

CELL = 92
"""Width of a picture, in pixels on screen: eight fill a page, four rows a projector."""


def drawn_pairs(pairs: Pairs, *, dark: bool = False) -> Figure:
    """The images in a row, and below them a row for each model: the capsules of its two classes, each in its own ink.

    Below each picture stand the two classes that the model named, with a cross where one of them is wrong.
    """
    heads = [" and ".join(map(str, pair)) for pair in pairs.labels.tolist()]
    titles = {_title(one, pairs): one for one in pairs.drawn}
    said = {title: _said(one, pairs) for title, one in titles.items()}
    return method_grid(
        {"Image": numbers(pairs.images[:, 0]) / 255} | {title: inked(one.drawings) for title, one in titles.items()},
        heads=heads,
        chosen=range(len(heads)),
        texts={"Image": [f"test image {number}: {head}" for number, head in enumerate(heads)]}
        | {title: [f"{title}: {words}" for words in said[title]] for title in titles},
        words=said,
        cell=CELL,
        dark=dark,
    )


def inked(drawings: UInt8[Tensor, "image 2 channel height width"]) -> Float[ndarray, "image height width 3"]:
    """Each of two grey drawings in its own ink, as `in_colours`."""
    return np.stack([in_colours(two, INKS) for two in to_float(drawings)])


def _title(one: Drawn, pairs: Pairs) -> str:
    alone = sum(other.by.routing == one.by.routing for other in pairs.drawn) == 1
    return METHODS[one.by.routing].title if alone else one.by.name


def _said(one: Drawn, pairs: Pairs) -> list[str]:
    right = (one.classes.sort(dim=1).values == pairs.labels.sort(dim=1).values).all(dim=1).tolist()
    return [
        f"{first} and {second}{'' if fine else ' ✗'}"
        for (first, second), fine in zip(one.classes.tolist(), right, strict=True)
    ]
