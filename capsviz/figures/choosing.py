"""What a pointer says of each picture in a mosaic, and what a click on it chooses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from capsviz.figures.theme import Number

_UNSEEN = {"marker": {"opacity": 0}}


def targets(
    x: Sequence[Number],
    y: Sequence[Number],
    chosen: Sequence[object],
    texts: Sequence[str],
    *,
    size: Number = 60,
    place: dict[str, Any] | None = None,
) -> go.Scatter:
    """Unseen points over pictures or cells, one each: `texts` at the pointer, `chosen` as what a click stands for.

    x, y: the middles; size: in pixels, about that of a picture. A click reports `chosen` as the point's customdata.
    """
    return go.Scatter(
        x=list(x),
        y=list(y),
        mode="markers",
        marker={"symbol": "square", "size": size, "opacity": 0},
        selected=_UNSEEN,
        unselected=_UNSEEN,
        customdata=list(chosen),
        text=list(texts),
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
        **(place or {}),
    )
