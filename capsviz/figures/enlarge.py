"""A figure for the last row: everything that is measured in pixels made larger, the numbers left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plotly.graph_objects import Figure

from capsviz.figures.theme import Number

# Lengths in pixels wherever plotly has them; "len", "x" and "domain" are shares and stay.
_LENGTHS = (
    "arrowwidth",
    "ay",
    "borderpad",
    "borderwidth",
    "outlinewidth",
    "sizemin",
    "standoff",
    "thickness",
    "ticklen",
    "tickwidth",
    "xpad",
    "xshift",
    "ypad",
    "yshift",
)


def enlarge(figure: Figure, factor: Number, *, height: Number | None = None) -> Figure:
    """A copy with type, lines, markers and margins `factor` times as large; the figure itself stays as it is.

    height: of the copy, in pixels; None makes it `factor` times the figure's own.
    """
    content = figure.to_plotly_json()
    larger = {key: _larger(part, factor) for key, part in content.items()}
    layout = larger["layout"]
    if height is not None or "height" in layout:
        layout["height"] = round(height if height is not None else layout["height"] * factor)
    return Figure(larger)


def _larger(node: Any, factor: Number) -> Any:
    if isinstance(node, Mapping):
        return {key: _entry(key, value, factor) for key, value in node.items()}
    if isinstance(node, (list, tuple)) and node and isinstance(node[0], Mapping):
        return [_larger(part, factor) for part in node]
    return node


def _entry(key: str, value: Any, factor: Number) -> Any:
    if isinstance(value, Mapping):
        if key in ("margin", "pad"):
            return _scaled(value, tuple(value), factor)
        inner = {name: _entry(name, part, factor) for name, part in value.items()}
        if key.endswith("font"):
            return _scaled(inner, ("size",), factor)
        if key == "line":
            return _scaled(inner, ("width",), factor)
        if key == "marker":
            return _marker(inner, factor)
        return inner
    if key in _LENGTHS and isinstance(value, (int, float)):
        return value * factor
    return _larger(value, factor)


def _marker(marker: dict[str, Any], factor: Number) -> dict[str, Any]:
    # A list of sizes is data, a number pixels.
    return _scaled(marker, ("size",), factor) if isinstance(marker.get("size"), (int, float)) else marker


def _scaled(node: Mapping[str, Any], keys: Sequence[str], factor: Number) -> dict[str, Any]:
    return {key: _times(value, factor) if key in keys else value for key, value in node.items()}


def _times(value: Any, factor: Number) -> Any:
    if isinstance(value, (list, tuple)):
        return [_times(part, factor) for part in value]
    return value * factor if isinstance(value, (int, float)) and not isinstance(value, bool) else value
