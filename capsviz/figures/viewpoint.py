"""What a change of viewpoint does to networks, as figures."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from plotly.graph_objects import Figure

from capsviz.data.viewpoint import CHANGES
from capsviz.experiments import viewpoint
from capsviz.figures.describe import remember
from capsviz.figures.theme import TEXT, ink, style
from capsviz.network import METHODS


def recovery(result: dict[str, Any], *, dark: bool = False) -> Figure:
    """R² of each change of viewpoint as a linear map recovers it, by what it reads; below 0 is worse than the mean."""
    figure, said = Figure(), []
    for title, rows in viewpoint.table(result).items():
        first = next(iter(rows.values()))
        method, reduced = METHODS[first["routing"]], first["numbers"] < first["of"]
        colour = method.colour or ink(dark).text
        figure.add_trace(
            go.Bar(
                x=[CHANGES[name].title for name in rows],
                y=[row["r2"] for row in rows.values()],
                name=f"{method.short}, {first['numbers']:,}{' components' if reduced else ''}",
                marker={"color": colour, "pattern": {"shape": "/" if reduced else ""}},
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
    figure.update_yaxes(title_text="R², numbers beside the name")
    style(figure, dark=dark, height=440).update_layout(legend_font_size=TEXT)
    return remember(figure, f"R² of the viewpoint that a linear map recovers. {'; '.join(said)}.")
