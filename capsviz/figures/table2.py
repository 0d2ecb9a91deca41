"""Table II as a picture: our test errors beside those of Yang, Li & Yu 2021."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.graph_objects import Figure

from capsviz.data import title_of
from capsviz.experiments.table2 import BASELINE, CALLED, OURS, UNSHIPPED, TableRow
from capsviz.figures.panels import colour_of, finished, seed_range, side_by_side
from capsviz.figures.theme import ink
from capsviz.network import MATRIX_PRESETS


def table_ii(lines: Sequence[TableRow], *, dark: bool = False) -> Figure:
    """Test error of every method on every data set: the paper's as an open diamond, ours as a disc with its range.

    What our own encoder reached stands as a triangle, matrix capsules, which share the column of EM, as squares, what
    has no capsules as a cross; what does not ship is open.
    """
    data = list(dict.fromkeys(line.data for line in lines))
    methods = [method for method in CALLED if any(line.method == method for line in lines)]
    others = {line.data for line in lines if not line.same_images}
    figure = side_by_side([title_of(name) + ", here of JPEGs" * (name in others) for name in data], dark)
    for column, name in enumerate(data, start=1):
        mine = [line for line in lines if line.data == name]
        # One figure of the paper's, however many trainings of ours stand beside it.
        papers = {line.method: line.paper for line in mine if line.paper is not None}
        figure.add_trace(
            go.Scatter(
                x=list(papers),
                y=list(papers.values()),
                name="paper",
                mode="markers",
                marker={"symbol": "diamond-open", "size": 15, "color": ink(dark).text, "line": {"width": 2.5}},
                legendgroup="paper",
                showlegend=column == 1,
                hovertemplate="paper, %{x}: %{y:.2f} %<extra></extra>",
            ),
            1,
            column,
        )
        for (title, symbol, _), group in _by_look(mine).items():
            known = any(trace.name == title for trace in figure.data)
            figure.add_trace(_ours(group, title, symbol, dark).update(showlegend=not known), 1, column)
    figure.update_xaxes(
        type="category",
        categoryorder="array",
        categoryarray=methods,
        tickvals=methods,
        ticktext=[method.replace("/", "<br>") for method in methods],
        tickangle=0,
    )
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title_text="test error, %", col=1)
    said = [f"{line.method} on {title_of(line.data)} {line.ours.mean:.2f} %" for line in lines if line.ours]
    return finished(
        figure, "Test errors beside Yang, Li & Yu 2021, Table II; ours: " + (", ".join(said) or "none") + ".", dark
    )


def _by_look(lines: Sequence[TableRow]) -> dict[tuple[str, str, bool], list[TableRow]]:
    """Our own errors by what the legend calls them, the symbol they stand as, and whether they have a range.

    Plotly draws the caps of a range that is none across the symbol.
    """
    looks: dict[tuple[str, str, bool], list[TableRow]] = {}
    for line in lines:
        if line.ours is None:
            continue
        title, symbol = "capsviz", "circle"
        if line.preset in MATRIX_PRESETS:
            title, symbol = "capsviz, matrix capsules", "square"
        if line.block == OURS:
            title, symbol = f"capsviz, {OURS.lower()}", "triangle-up"
        if line.block == BASELINE:
            title, symbol = f"capsviz, {BASELINE.lower()}", "cross"
        if not line.shipped:
            title, symbol = f"{title}, {UNSHIPPED}", f"{symbol}-open"
        looks.setdefault((title, symbol, line.ours.count > 1), []).append(line)
    return looks


def _ours(lines: Sequence[TableRow], title: str, symbol: str, dark: bool) -> go.Scatter:
    """One look of our own errors in one panel, each with the range of its seeds; every line has `ours`."""
    seed_means = [line.ours for line in lines if line.ours]
    return go.Scatter(
        x=[line.method for line in lines],
        y=[average.mean for average in seed_means],
        error_y=seed_range(seed_means) | {"color": ink(dark).text},
        text=[
            f"{line.preset}, {f'{line.steps:,} steps, ' * bool(line.steps)}seeds: {line.ours.count}"
            for line in lines
            if line.ours
        ],
        name=title,
        mode="markers",
        marker={
            "symbol": symbol,
            "size": 14,
            "line": {"width": 2.5} if "open" in symbol else None,
            "color": [colour_of(line.method, dark) for line in lines],
        },
        legendgroup=title,
        hovertemplate="capsviz, %{x}: %{y:.2f} %<br>%{text}<extra></extra>",
    )
