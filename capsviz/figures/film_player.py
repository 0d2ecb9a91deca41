"""A film as a plotly figure with its player: for a notebook, and as a page that needs no app."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.graph_objects import Figure

from capsviz.boards.film import Film
from capsviz.figures.describe import remember
from capsviz.figures.discriminative import tile_map
from capsviz.figures.picture import image_axes, on, rounded, without_nan
from capsviz.figures.player import add_player
from capsviz.figures.theme import TICK, Span, caption, end_ticks, ink, style

_GAP = 0.03


def film_player(film: Film, *, dark: bool = False) -> Figure:
    """The maps of a film with its curves beside them, one frame of the player per frame of the film.

    Of two maps the second plays where the first stands still. A film of one frame has no player.
    """
    spans = _spans(len(film.maps), 0.6 if film.curves else 1.0)
    figure = Figure(layout={"margin": {"l": 8, "r": 16, "t": 96, "b": 190 if len(film.frames) > 1 else 96}})
    layout: dict[str, Any] = {}
    notes = []
    for number, (shown, span) in enumerate(zip(film.maps, spans, strict=True)):
        reach = film.reach(number)
        picture = tile_map(shown.values[0], film.grid, number + 1, shown.symbol, span, dark=dark)
        picture.update(zmin=-reach, zmax=reach)
        picture.colorbar.update(end_ticks(0, reach, shown.values))
        figure.add_trace(picture)
        layout |= image_axes(number + 1, span, (0, 1), towards="bottom")
        notes.append(caption(f"<b>{shown.title}</b><br>{shown.note}", span[0], 1, dark=dark, yshift=26))
    cursors = _add_curves(figure, film, dark)
    figure.update_layout(**layout, annotations=[*figure.layout.annotations, *notes])
    if len(film.frames) > 1:
        traces = [*range(len(film.maps)), *cursors]
        frames = [_frame(film, number, traces) for number in range(len(film.frames))]
        add_player(figure, frames, dark=dark, what="", low=80)
    return remember(style(figure, dark=dark, height=620), film.alt)


def _spans(count: int, right: float) -> list[Span]:
    wide = (right - _GAP * (count - 1)) / count
    return [(number * (wide + _GAP), number * (wide + _GAP) + wide) for number in range(count)]


def _add_curves(figure: Figure, film: Film, dark: bool) -> list[int]:
    """Small charts one below the other, each with a line at the frame that is shown; the numbers of those lines."""
    cursors, each = [], 1 / max(1, len(film.curves))
    for number, curve in enumerate(film.curves):
        place = len(film.maps) + number + 1
        for name, (colour, values) in curve.lines.items():
            figure.add_trace(
                go.Scatter(
                    x=list(film.steps),
                    y=rounded(np.asarray(values), 6),
                    mode="lines",
                    name=name,
                    line={"color": colour, "width": 2.5},
                    hovertemplate=f"{curve.title}, {name}: %{{y}}<extra></extra>",
                    showlegend=False,
                    **on(place),
                )
            )
        cursors.append(len(figure.data))
        low, high = _limits([v for _, values in curve.lines.values() for v in values], curve.percent)
        figure.add_trace(_cursor(film.steps[0], low, high, place, dark))
        top = 1 - number * each
        names = ", ".join(f'<span style="color:{colour}">■</span> {name}' for name, (colour, _) in curve.lines.items())
        figure.add_annotation(
            caption(f"<b>{curve.title}</b>  {names}", 0.67, top - 0.01, dark=dark, size=TICK, yanchor="top", yshift=22)
        )
        figure.update_layout(
            {
                f"xaxis{place}": {
                    "domain": [0.67, 1],
                    "anchor": f"y{place}",
                    "showticklabels": place == len(film.curves) + len(film.maps),
                },
                f"yaxis{place}": {
                    "domain": [top - each * 0.72, top - 0.01],
                    "anchor": f"x{place}",
                    "range": [low, high],
                    "tickformat": ".1%" if curve.percent else None,
                    "nticks": 4,
                },
            }
        )
    return cursors


def _limits(values: list[float], percent: bool) -> tuple[float, float]:
    low, high = min(values), max(values)
    air = 0.06 * (high - low) or 0.06 * abs(high) or 0.01
    return (0.0 if percent else low - air), high + air


def _cursor(step: float, low: float, high: float, place: int, dark: bool) -> go.Scatter:
    line = {"color": ink(dark).accent, "width": 2}
    return go.Scatter(
        x=[step, step], y=[low, high], mode="lines", line=line, hoverinfo="skip", showlegend=False, **on(place)
    )


def _frame(film: Film, number: int, traces: list[int]) -> dict[str, Any]:
    data: list[dict[str, Any]] = []
    for shown in film.maps:
        values = shown.values[min(number, len(shown.values) - 1)]
        data.append({"type": "heatmap", "z": without_nan(film.grid.tiles(values), 5)})
    data += [{"type": "scatter", "x": [film.steps[number]] * 2} for _ in film.curves]
    return {"name": film.frames[number], "data": data, "traces": traces}
