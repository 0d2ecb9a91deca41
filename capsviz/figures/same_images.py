"""How far models are from dynamic routing on the same test images, and how far chance alone may move them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import plotly.graph_objects as go
from plotly.graph_objects import Figure

from capsviz.data import title_of
from capsviz.errors import listed
from capsviz.experiments.same_images import Compared
from capsviz.figures.errors import FigureError
from capsviz.figures.panels import finished
from capsviz.figures.text import literal
from capsviz.figures.theme import ink, style

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "star")
ROW, ROOM, LEAST = 46, 180, 440
"""Pixels of a method's row, of what stands above and below the rows, and of the whole figure at least."""


def beside_dynamic(found: Sequence[Compared], *, dark: bool = False) -> Figure:
    """Error of each model less that of dynamic routing on the same images, in points, on one scale for all data sets.

    The bar is what chance alone may move it, 1.96 standard errors of the difference. Filled: McNemar's test sets the
    two apart. Raises FigureError where no data set has dynamic routing beside others.
    """
    held = {each.data: each.beside_reference() for each in found if each.beside_reference()}
    if not held:
        raise FigureError("There is no model to hold to dynamic routing; measure both with `capsviz zoo measure`.")
    rows = list(dict.fromkeys(pair.first.called for pairs in held.values() for pair in pairs))
    figure, pen, said = Figure(), ink(dark), []
    for place, ((data, pairs), symbol) in enumerate(zip(held.items(), cycle(SYMBOLS))):
        title = title_of(data)
        figure.add_trace(
            go.Scatter(
                x=[pair.difference for pair in pairs],
                y=[rows.index(pair.first.called) + 0.7 * ((place + 0.5) / len(held) - 0.5) for pair in pairs],
                error_x={"array": [pair.reach for pair in pairs], "thickness": 2, "width": 0, "color": pen.muted},
                customdata=[
                    [pair.first.entry.name, pair.second.entry.name, pair.first_alone, pair.second_alone, pair.p]
                    for pair in pairs
                ],
                mode="markers",
                name=literal(title),
                marker={
                    "size": 11,
                    "color": pen.text,
                    "symbol": [symbol if pair.apart else f"{symbol}-open" for pair in pairs],
                    "line": {"width": 2},
                },
                hovertemplate="%{customdata[0]}: %{x:+.2f} points<br>right alone on %{customdata[2]} images, "
                "%{customdata[1]} on %{customdata[3]}<br>p = %{customdata[4]:.2g}<extra></extra>",
            )
        )
        apart = [f"{pair.first.called} {pair.difference:+.2f}" for pair in pairs if pair.apart]
        said.append(f"{title}: {listed(apart) if apart else 'none apart'}")
    figure.add_vline(0, line={"color": pen.muted, "width": 2, "dash": "dash"})
    figure.update_yaxes(
        range=[len(rows) - 0.5, -0.5], tickvals=list(range(len(rows))), ticktext=[literal(row) for row in rows],
        showgrid=False, zeroline=False,
    )  # fmt: skip
    figure.update_xaxes(title_text="error less that of DR on the same images, points", zeroline=False)
    text = f"Error less that of dynamic routing, in points, and who is apart by more than chance: {'; '.join(said)}."
    return style(finished(figure, text, dark), dark=dark, height=max(LEAST, ROW * len(rows) + ROOM))
