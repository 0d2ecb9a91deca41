"""What a change of viewpoint does to networks, as figures."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import plotly.graph_objects as go
import torch
from plotly.graph_objects import Figure
from torch import Tensor

from capsviz.analysis.pooling import Pooling
from capsviz.data.viewpoint import CHANGES
from capsviz.experiments import moving, viewpoint
from capsviz.figures.describe import remember
from capsviz.figures.picture import image_axes, numbers, packed
from capsviz.figures.theme import TEXT, TICK, caption, ink, sequential, style
from capsviz.network import METHODS

SHAPES = ("", "x", ".", "-")
"""Of the bars of several models of one routing."""


def recovery(result: dict[str, Any], *, dark: bool = False) -> Figure:
    """R² of each change of viewpoint as a linear map recovers it, by what it reads; below 0 is worse than the mean."""
    figure, said, kin = Figure(), [], defaultdict[str, list[str]](list)
    read = viewpoint.table(result)
    for model, routing in {row["model"]: row["routing"] for rows in read.values() for row in rows.values()}.items():
        kin[routing].append(model)
    for title, rows in read.items():
        first = next(iter(rows.values()))
        method, reduced = METHODS[first["routing"]], first["numbers"] < first["of"]
        colour, models = method.colour or ink(dark).text, kin[first["routing"]]
        shape = "/" if reduced else SHAPES[models.index(first["model"]) % len(SHAPES)]
        name = method.short if len(models) == 1 else first["model"]
        figure.add_trace(
            go.Bar(
                x=[CHANGES[name].title for name in rows],
                y=[row["r2"] for row in rows.values()],
                name=f"{name} ({first['numbers']:,}{' components' if reduced else ''})",
                marker={"color": colour, "pattern": {"shape": shape}},
                hovertemplate=f"{title}<br>%{{x}}: R² %{{y:.3f}}<extra></extra>",
            )
        )
        said.append(
            f"{title}: " + ", ".join(f"{CHANGES[name].title.lower()} {row['r2']:.2f}" for name, row in rows.items())
        )
    figure.update_layout(
        barmode="group",
        legend={"orientation": "h", "x": 0, "y": 1.04, "yanchor": "bottom"},
        margin={"l": 64, "r": 16, "t": 76, "b": 40},
    )
    figure.update_yaxes(title_text="R² (from so many numbers)")
    style(figure, dark=dark, height=440).update_layout(legend_font_size=TEXT)
    part = next(iter(moving.parts(result, *viewpoint.COUNTS)), None)
    on = f" ({moving.called(part, *viewpoint.COUNTS)})" if part else ""
    return remember(figure, f"R² of the viewpoint that a linear map recovers{on}. {'; '.join(said)}.")


def pooling_figures(found: Pooling, *, dark: bool = False) -> dict[str, Figure]:
    """By name a feature map with its kept numbers marked, what pooling keeps, and that of the image a pixel on.

    All on one scale. On the last, a kept number that is the same stands as a disc, as a ring where it comes from
    another place of its square.
    """
    width, places = found.maps.shape[2], found.places[0][found.busy]
    low, high = float(found.maps.min()), float(found.maps.max())
    stood = torch.stack([places // width, places % width], 1)
    still, elsewhere = torch.nonzero(found.same & ~found.moved), torch.nonzero(found.moved)
    same = (
        f"{len(still) + len(elsewhere)} of {int(found.busy.sum())} are as before, {len(elsewhere)} from another place"
    )
    parts: dict[str, tuple[str, Tensor, list[tuple[Tensor, str]], str]] = {
        "before": (f"feature map {found.channel}", found.maps[0], [(stood, "circle")], "kept numbers dotted"),
        "pooled": ("pooled", found.kept[0], [], "the largest of each square"),
        "shifted": ("pooled, 1 pixel on", found.kept[1], [(still, "circle"), (elsewhere, "circle-open")], same),
    }
    return {
        name: _grid(title, values, marks, (low, high), said, dark)
        for name, (title, values, marks, said) in parts.items()
    }


def _grid(
    title: str, values: Tensor, marks: list[tuple[Tensor, str]], ends: tuple[float, float], said: str, dark: bool
) -> Figure:
    """Numbers as a picture, and marks at rows and columns on it."""
    height, width = values.shape
    cells = go.Heatmap(
        z=packed(numbers(values), 4),
        zmin=ends[0],
        zmax=ends[1],
        colorscale=sequential(dark),
        showscale=False,
        hovertemplate=f"{title}<br>row %{{y}} column %{{x}}: %{{z:.3f}}<extra></extra>",
    )
    points = [
        go.Scatter(
            x=at[:, 1].tolist(),
            y=at[:, 0].tolist(),
            mode="markers",
            marker={
                "symbol": symbol,
                "size": 140 / width,
                "color": ink(dark).accent,
                "line": {"width": 2} if "open" in symbol else {"width": 1, "color": ink(dark).ground},
            },
            showlegend=False,
            hoverinfo="skip",
        )
        for at, symbol in marks
    ]
    axes = image_axes(1, (0, 1), (0, 1))
    axes["xaxis"]["range"] = [-0.5, width - 0.5]
    axes["yaxis"] |= {"range": [height - 0.5, -0.5], "autorange": False}
    layout = {
        **axes,
        "margin": {"l": 4, "r": 4, "t": 30, "b": 4},
        "annotations": [caption(title, 0.5, 1.01, dark=dark, size=TICK, xanchor="center")],
    }
    text = f"{title}: {height} × {width} numbers from {float(values.min()):.2f} to {float(values.max()):.2f}; {said}."
    return remember(style(Figure([cells, *points], layout), dark=dark, height=300), text)
