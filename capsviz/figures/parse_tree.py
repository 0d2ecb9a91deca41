"""Part and whole: which primary capsules' votes made which class capsules, as boxes on the image and as a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray
from plotly.graph_objects import Figure

from capsviz.analysis.metrics import contributions
from capsviz.figures.describe import remember
from capsviz.figures.errors import FigureError
from capsviz.figures.picture import image_axes, in_bytes, numbers, on, picture, pixels, png
from capsviz.figures.reading import check, geometry
from capsviz.figures.text import literal
from capsviz.figures.theme import TICK, Span, caption, class_colours, ink, style
from capsviz.tracing.trace import Trace

_IMAGE: Span = (0.0, 0.3)
_TREE: Span = (0.36, 1.0)
_TOP, _BOTTOM, _HALF = 1.0, 0.0, 0.17
"""Heights of the wholes and of the parts in the tree, and half the side of a part's picture."""
WIDEST, THINNEST = 12.0, 1.0
"""Pixels of the line of the largest contribution; the others are as wide as they are large, but a line at least."""


def wholes(trace: Trace, image: int = 0) -> list[int]:
    """The class capsules that the tree explains: those that the network names, and the most active one after them."""
    named = trace.named[image].tolist()
    order = trace.activations[image].argsort(descending=True, stable=True).tolist()
    return [*named, *[upper for upper in order if upper not in named][:1]]


def parts(given: Float[ndarray, "lower upper"], uppers: list[int], each: int) -> list[int]:
    """The `each` primary capsules that give most to each of the class capsules, none twice, in their order."""
    return list(dict.fromkeys(capsule for upper in uppers for capsule in strongest(given, upper, each)))


def strongest(given: Float[ndarray, "lower upper"], upper: int, each: int) -> list[int]:
    """The `each` primary capsules that give most to a class capsule, the most first."""
    return np.argsort(-given[:, upper], kind="stable")[:each].tolist()


def parse_tree(trace: Trace, *, image: int = 0, each: int = 3, dark: bool = False) -> Figure:
    """The primary capsules that give most to the class capsules, what they see, and what they give to which.

    A line's width is what the vote adds to the length of the class capsule's sum, c_ij û_ij·s_j / ‖s_j‖ (b_ij under
    learned coefficients; `capsviz.analysis.metrics.contributions`), dashed where it takes away; the boxes on the image
    are what these capsules see. The class capsules are those of `wholes`; each: parts of each of them.
    Raises FigureError where the routing squashes no sums, or `each` is below 1.
    """
    check(trace, image=image)
    if not trace.config.algorithm.squashed or len(trace.layers) > 1:
        raise FigureError("Only a routing that squashes a sum of votes has such parts; trace a model by DR, L2 or L1.")
    if each < 1:
        raise FigureError(f"A class capsule cannot be shown with {each} parts; give at least 1.")
    given, uppers = numbers(contributions(trace, image)), wholes(trace, image)
    chosen, colours, pen = parts(given, uppers, each), class_colours(len(trace.classes)), ink(dark)
    of = {capsule: max(uppers, key=lambda upper: given[capsule, upper]) for capsule in chosen}
    across = {capsule: (place + 0.5) / len(chosen) for place, capsule in enumerate(chosen)}
    above = {upper: (place + 0.5) / len(uppers) for place, upper in enumerate(uppers)}
    figure = Figure(
        [
            picture(trace.images[image], "input", place=on(1)),
            *_boxes(trace, of, colours),
            *_lines(given, chosen, uppers, across, above, colours),
            _whole(trace, image, above, colours),
            _part(trace, given, of, across),
        ]
    )
    whole, lengths = pixels(trace.images[image]), [_length(trace, image, upper) for upper in uppers]
    figure.update_layout(
        **image_axes(1, _IMAGE, (0.0, 1.0), size=whole.shape[:2]),
        xaxis2={"domain": list(_TREE), "anchor": "y2", "range": [0, 1], "visible": False, "fixedrange": True},
        yaxis2={"domain": [0.0, 1.0], "anchor": "x2", "range": [-0.42, 1.4], "visible": False, "fixedrange": True},
        images=[_crop(trace, whole, capsule, across[capsule], len(chosen)) for capsule in chosen],
        annotations=[
            caption(f"<b>{literal(trace.called(upper))}</b><br>{length}", 0, 0, dark=dark, xref="x2", yref="y2")
            | {"x": above[upper], "y": _TOP + 0.09, "xanchor": "center", "align": "center"}
            for upper, length in zip(uppers, lengths, strict=True)
        ]
        + [
            caption(str(capsule), 0, 0, dark=dark, size=TICK, xref="x2", yref="y2")
            | {"x": across[capsule], "y": _BOTTOM - _HALF - 0.01, "xanchor": "center", "yanchor": "top"}
            for capsule in chosen
        ],
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=False,
    )
    figure.update_traces(hoverlabel_bgcolor=pen.ground, selector={"mode": "lines"})
    return remember(style(figure, dark=dark, height=400), in_words(trace, image=image, each=each))


def in_words(trace: Trace, *, image: int = 0, each: int = 3) -> str:
    """What the tree says: what the strongest parts of each class capsule add to its sum, and which share of it."""
    given = numbers(contributions(trace, image))
    said = []
    for upper in wholes(trace, image):
        few = strongest(given, upper, each)
        most, total = given[few, upper], float(given[:, upper].sum())
        which, added = ", ".join(map(str, few)), ", ".join(map(_number, most))
        adds = f"capsules {which} add" if len(few) > 1 else f"capsule {which} adds"
        share = f"{100 * float(most.sum()) / total:.1f} % of the net ‖s‖" if total else "‖s‖ = 0"
        parts = f"{adds} {added}: {share}" if total else share
        said.append(f"{trace.called(upper)} ({_length(trace, image, upper)}): {parts}")
    each_part = (
        f"The strongest parts of {len(given):,} primary capsules, each with its number and the most that it adds to "
        "one ‖s‖, that of the class in whose colour its box is drawn"
    )
    return "; ".join([each_part, *said]) + "."


def _view(trace: Trace, capsule: int) -> tuple[int, int, int, int]:
    grid = geometry(trace)
    return trace.config.receptive_field(*divmod(capsule // grid.types, grid.columns))


def _boxes(trace: Trace, of: dict[int, int], colours: list[str]) -> list[go.Scatter]:
    drawn = []
    for number, (capsule, upper) in enumerate(of.items()):
        top, left, bottom, right = _view(trace, capsule)
        inset = 0.35 * (number % 3)  # capsules of one position see the same
        x0, x1, y0, y1 = left - 0.5 + inset, right - 0.5 - inset, top - 0.5 + inset, bottom - 0.5 - inset
        drawn.append(
            go.Scatter(
                x=[x0, x1, x1, x0, x0],
                y=[y0, y0, y1, y1, y0],
                mode="lines",
                line={"color": colours[upper], "width": 3},
                name=f"capsule {capsule}",
                hovertemplate=f"what capsule {capsule} sees<extra></extra>",
                **on(1),
            )
        )
    return drawn


def _lines(
    given: Float[ndarray, "lower upper"],
    chosen: list[int],
    uppers: list[int],
    across: dict[int, float],
    above: dict[int, float],
    colours: list[str],
) -> list[go.Scatter]:
    largest = float(np.abs(given[np.ix_(chosen, uppers)]).max()) or 1.0
    return [
        go.Scatter(
            x=[across[capsule], above[upper]],
            y=[_BOTTOM + _HALF, _TOP],
            mode="lines",
            opacity=0.75,
            line={
                "color": colours[upper],
                "width": max(THINNEST, WIDEST * abs(float(given[capsule, upper])) / largest),
                "dash": "solid" if given[capsule, upper] >= 0 else "dot",
            },
            name=f"capsule {capsule} to {upper}",
            text=[f"{given[capsule, upper]:+.4f}"] * 2,
            hovertemplate=f"capsule {capsule} gives %{{text}}<extra></extra>",
            **on(2),
        )
        for capsule in chosen
        for upper in uppers
    ]


def _length(trace: Trace, image: int, upper: int) -> str:
    return f"‖v‖ = {float(trace.activations[image, upper]):.2f}"


def _whole(trace: Trace, image: int, above: dict[int, float], colours: list[str]) -> go.Scatter:
    return go.Scatter(
        x=list(above.values()),
        y=[_TOP] * len(above),
        mode="markers",
        marker={
            "size": [14 + 26 * float(trace.activations[image, upper]) for upper in above],
            "color": [colours[upper] for upper in above],
        },
        text=[_length(trace, image, upper) for upper in above],
        name="class capsules",
        hovertemplate="%{text}<extra></extra>",
        **on(2),
    )


def _number(added: float) -> str:
    return f"{added:.2f}".replace("-0.00", "0.00")


def _part(
    trace: Trace, given: Float[ndarray, "lower upper"], of: dict[int, int], across: dict[int, float]
) -> go.Scatter:
    return go.Scatter(
        x=list(across.values()),
        y=[_BOTTOM - _HALF - 0.15] * len(across),
        mode="text",
        text=[_number(given[capsule, upper]) for capsule, upper in of.items()],
        customdata=[literal(f"capsule {capsule} to {trace.called(upper)}") for capsule, upper in of.items()],
        textposition="bottom center",
        textfont={"size": TICK},
        name="parts",
        hovertemplate="%{customdata}: %{text}<extra></extra>",
        **on(2),
    )


def _crop(trace: Trace, whole: ndarray, capsule: int, x: float, count: int) -> dict[str, Any]:
    top, left, bottom, right = _view(trace, capsule)
    seen = whole[top:bottom, left:right]
    colour = seen if seen.ndim == 3 else np.repeat(seen[..., None], 3, axis=2)
    return {
        "source": png(in_bytes(colour)),
        "xref": "x2",
        "yref": "y2",
        "x": x,
        "y": _BOTTOM,
        "sizex": 0.9 / count,
        "sizey": 2 * _HALF,
        "xanchor": "center",
        "yanchor": "middle",
        "layer": "above",
    }
