"""An image that shows several objects: each drawn by itself in the colour of its class, and what routing gave it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray
from plotly.graph_objects import Figure
from torch import Tensor

from capsviz.analysis.metrics import contributions
from capsviz.figures.describe import active, remember
from capsviz.figures.errors import FigureError
from capsviz.figures.picture import image_axes, in_colours, numbers, on, picture, rounded
from capsviz.figures.reading import check, geometry, steps
from capsviz.figures.text import literal
from capsviz.figures.theme import TEXT, TICK, Span, caption, class_inks, colourbar, diverging, style
from capsviz.tracing.trace import Trace


def drawn_in_colours(trace: Trace, image: int = 0) -> Tensor | ndarray:
    """The reconstruction; of several objects each in the colour of its class (Sabour, Frosst & Hinton 2017, Figure 5).

    Raises FigureError for the trace of a network without a decoder.
    """
    if trace.reconstruction is None:
        raise FigureError("This network was trained without a decoder; trace one that has a decoder.")
    if trace.drawings is None:
        return trace.reconstruction[image]
    return inked(trace.drawings[image], trace.named[image].tolist(), len(trace.classes))


def inked(
    drawings: Float[Tensor, "object channel height width"], named: Sequence[int], classes: int
) -> Float[ndarray, "height width 3"]:
    """Drawings of class capsules over one another, each in the colour of its class; named: the classes."""
    inks = class_inks(classes)
    return in_colours(drawings, [inks[upper] for upper in named])


def in_words(trace: Trace, image: int = 0) -> str:
    """ "7", or “7 and 2”: the classes that the network names; where no class capsule is active, none."""
    if not active(trace, image):
        return "none, all are 0"
    return " and ".join(trace.classes[upper] for upper in trace.named[image].tolist())


def objects_apart(trace: Trace, image: int = 0, *, dark: bool = False) -> Figure:
    """The image and all that was drawn of it, then object by object its drawing and what each position gave to it.

    Below a drawing stands, over the grid of the primary capsules and averaged over their types, the share that goes to
    its class (c, R) of the last iteration against the even share, or, under learned coefficients, what the votes add
    to ‖s‖ (`metrics.contributions`). One scale for all objects. Raises FigureError where an image shows one object, or
    nothing is reconstructed.
    """
    check(trace, image=image)
    if trace.drawings is None:
        raise FigureError("This trace is of one object an image, or has no drawings; trace a model of several objects.")
    named, grid = trace.named[image].tolist(), geometry(trace)
    maps, symbol, middle = _maps(trace, image)
    reach = max(float(np.abs(maps[..., upper] - middle).max()) for upper in named) or 1e-6
    columns = 1 + len(named)
    figure, layout = Figure(), dict[str, Any]()
    panels = [
        (0, True, picture(trace.images[image], "input", place=on(1)), "<b>Image</b>"),
        (0, False, picture(drawn_in_colours(trace, image), "both", place=on(2)), "<b>All drawings</b>"),
    ]
    for column, upper in enumerate(named, start=1):
        name, number = literal(trace.classes[upper]), 2 * column + 1
        drawing = inked(trace.drawings[image, column - 1, None], [upper], len(trace.classes))
        strength = f"{trace.config.algorithm.strength.symbol} {float(trace.activations[image, upper]):.2f}"
        panels.append((column, True, picture(drawing, name, place=on(number)), f"<b>{name}</b>, {strength}"))
        heat = go.Heatmap(
            z=rounded(maps[..., upper], 5),
            zmin=middle - reach,
            zmax=middle + reach,
            colorscale=diverging(dark),
            showscale=column == 1,
            colorbar=colourbar(symbol, dark=dark, len=0.4, y=0.22, tickformat=".3f", nticks=5),
            xgap=1,
            ygap=1,
            hovertemplate=f"row %{{y}} column %{{x}}<br>{symbol} to {name} = %{{z:.4f}}<extra></extra>",
            **on(number + 1),
        )
        panels.append((column, False, heat, f"{symbol} to {name}, by position"))
    notes = []
    for number, (column, upper_row, drawn, title) in enumerate(panels, start=1):
        x, y = _panel(column, columns, upper_row)
        figure.add_trace(drawn)
        layout |= image_axes(number, x, y)
        size = TEXT if upper_row else TICK
        notes.append(caption(title, sum(x) / 2, y[1] + 0.01, dark=dark, size=size, xanchor="center"))
    figure.update_layout(**layout, annotations=notes, margin={"l": 8, "r": 84, "t": 12, "b": 8})
    each = "; ".join(
        f"{trace.classes[upper]}: most {symbol} from row {row} column {column}"
        for upper in named
        for row, column in [divmod(int(maps[..., upper].argmax()), grid.columns)]
    )
    text = f"The network names {in_words(trace, image)}, each drawn by itself in the colour of its class; {each}."
    return remember(style(figure, dark=dark, height=520), text)


def _panel(column: int, columns: int, upper_row: bool) -> tuple[Span, Span]:
    x = column / columns + 0.01, (column + 1) / columns - 0.01
    return x, (0.52, 0.94) if upper_row else (0.0, 0.43)


def _maps(trace: Trace, image: int) -> tuple[Float[ndarray, "row column upper"], str, float]:
    """What each position gives to each class, averaged over the types, what that is called, and its neutral value."""
    grid, share = geometry(trace), trace.config.algorithm.share
    if share is None:
        values, symbol, middle = numbers(contributions(trace, image)), "b û·s / ‖s‖", 0.0
    else:
        values, symbol, middle = steps(trace, share.field, image)[-1], f"mean {share.symbol}", 1 / len(trace.classes)
    return values.reshape(grid.rows, grid.columns, grid.types, -1).mean(axis=2), symbol, middle
