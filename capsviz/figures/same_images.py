"""How far models are from dynamic routing on the same test images, and how far chance alone may move them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import cycle

import plotly.graph_objects as go
from plotly.graph_objects import Figure

from capsviz.errors import listed
from capsviz.experiments.same_images import Compared, Read, titles
from capsviz.figures.errors import FigureError
from capsviz.figures.panels import finished
from capsviz.figures.text import literal, literals
from capsviz.figures.theme import TEXT, ink
from capsviz.network import METHODS

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "star")
GAP = 1
"""Between the lines of one method and those of the next, in lines."""


def beside_dynamic(found: Sequence[Compared], *, dark: bool = False) -> Figure:
    """Error of each model less that of dynamic routing on the same images, in points, on one scale for all data sets.

    The bar is what chance alone may move it (`Pair.reach`). Filled: McNemar's test sets the two apart, corrected for
    all pairs. Raises FigureError where no data set has dynamic routing beside others.
    """
    held = [
        (title, pairs) for title, each in zip(titles(found), found, strict=True) if (pairs := each.beside_reference())
    ]
    if not held:
        raise FigureError("There is no model to hold to dynamic routing; measure both with `capsviz zoo measure`.")
    lines = _lines([pair.first for _, pairs in held for pair in pairs])
    taken = {called: iter(own) for called, own in lines.items()}
    figure, pen, said = Figure(), ink(dark), []
    for (title, pairs), symbol in zip(held, cycle(SYMBOLS), strict=False):
        figure.add_trace(
            go.Scatter(
                x=[pair.difference for pair in pairs],
                y=[next(taken[pair.first.called]) for pair in pairs],
                error_x={"array": [pair.reach for pair in pairs], "thickness": 2, "width": 0, "color": pen.muted},
                customdata=[
                    [
                        *literals((pair.first.entry.name, pair.second.entry.name)),
                        pair.first_alone,
                        pair.second_alone,
                        pair.p,
                    ]
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
        range=[max(map(max, lines.values())) + 1, -1],
        tickvals=[sum(own) / len(own) for own in lines.values()],
        ticktext=literals(lines),
        showgrid=False,
        zeroline=False,
        automargin=True,
    )
    figure.update_xaxes(title_text="error less that of DR, points", zeroline=False)
    text = f"Error less that of dynamic routing, in points, and who is apart by more than chance: {'; '.join(said)}."
    legend = {"text": "filled: apart by more than chance  ", "font": {"size": TEXT}}
    return finished(figure, text, dark).update_layout(legend_title=legend)


def _lines(models: Sequence[Read]) -> dict[str, list[float]]:
    """Where the points of each method stand, downwards: each on a line of its own, those of a method together."""
    order, found, place = list(METHODS), dict[str, list[float]](), 0.0
    ordered = sorted(models, key=lambda one: (order.index(one.entry.routing), one.called))
    for method, count in Counter(one.called for one in ordered).items():
        found[method] = [place + line for line in range(count)]
        place += count + GAP
    return found
