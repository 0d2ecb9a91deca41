"""One palette and one theme for every figure, on a light and on a dark page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from plotly.graph_objects import Figure

from capsviz.routing import ALGORITHMS

CLASS_COLOURS: tuple[str, ...] = (
    "#3762e1",
    "#ec6a13",
    "#147053",
    "#9747a8",
    "#1a979c",
    "#c9245e",
    "#a58f66",
    "#9179fb",
    "#9b4a05",
    "#dc69c7",
)
"""Ten class colours, found by maximising the smallest pairwise OKLab distance in normal, protanope, deuteranope and
tritanope vision (Machado, Oliveira & Fernandes 2009) among colours of contrast 3:1 or more on white and on #0e1117.

The palettes that were looked at first are made for a white page: Okabe & Ito has eight colours, of which yellow
(1.3:1) vanishes on white and black on the dark page; Tol's muted indigo reaches 1.6:1 on the dark page; matplotlib's
tab10 falls to a distance of 0.007 for protanopes. Here the smallest distance is 0.08 in every vision. Colour is never
the only sign: a class also has its name beside it wherever it is drawn.
"""

ROUTING_COLOURS: dict[str, str] = {name: algorithm.colour for name, algorithm in ALGORITHMS.items()}
"""The colour of each routing algorithm, which says its own."""

Scale = tuple[tuple[float, str], ...]
Number = int | float
Span = tuple[Number, Number]
"""Left and right, or lower and upper end, of a panel in shares of the plotting area."""

SEQUENTIAL: Scale = (
    (0.0, "#ffffff"),
    (0.1, "#dbe9f6"),
    (0.3, "#92c1e0"),
    (0.55, "#3d85b8"),
    (0.8, "#12507f"),
    (1.0, "#06203c"),
)
"""From nothing (the page) to much, lightness falling all the way, so that it also reads without colour."""

SEQUENTIAL_DARK: Scale = (
    (0.0, "#0e1117"),
    (0.1, "#15304a"),
    (0.3, "#1f5f8b"),
    (0.55, "#3f9bbd"),
    (0.8, "#9fd8c4"),
    (1.0, "#fdf7c3"),
)
"""The same for the dark page, lightness rising all the way."""

DIVERGING: Scale = (
    (0.0, "#0b3a78"),
    (0.2, "#2f78bd"),
    (0.38, "#9cc6e6"),
    (0.5, "#f7f7f7"),
    (0.62, "#f9bf85"),
    (0.8, "#d9691a"),
    (1.0, "#7a2a02"),
)
"""Blue below zero, orange above (the pair that all three dichromacies keep apart), the page at zero."""

DIVERGING_DARK: Scale = (
    (0.0, "#8fd0ff"),
    (0.2, "#3f93dd"),
    (0.38, "#1c4470"),
    (0.5, "#1a1e26"),
    (0.62, "#6b3410"),
    (0.8, "#e8792a"),
    (1.0, "#ffd3a3"),
)
"""The same for the dark page."""


def sequential(dark: bool) -> list[list[Any]]:
    """The scale for quantities that start at zero, as plotly takes it."""
    return [list(stop) for stop in (SEQUENTIAL_DARK if dark else SEQUENTIAL)]


def diverging(dark: bool) -> list[list[Any]]:
    """The scale for signed quantities, to be centred at zero, as plotly takes it."""
    return [list(stop) for stop in (DIVERGING_DARK if dark else DIVERGING)]


def diverging_colours(values: Float[ndarray, "*shape"], dark: bool) -> Float[ndarray, "*shape 3"]:
    """Signed values in [-1, 1] as red, green and blue in [0, 1] on the diverging scale: for pictures sent as pixels."""
    places, colours = zip(*(DIVERGING_DARK if dark else DIVERGING), strict=True)
    parts = np.array([channels(colour) for colour in colours]) / 255
    at = (np.clip(values, -1, 1) + 1) / 2
    return np.stack([np.interp(at, places, parts[:, part]) for part in range(3)], axis=-1)


@dataclass(frozen=True)
class Ink:
    """What text and lines are drawn in on one kind of page."""

    ground: str
    """The page behind the transparent figure."""
    text: str
    muted: str
    """Text that is read second: contrast still 4.5:1 or more on the page."""
    grid: str
    accent: str
    """Marks the subject of a page."""


LIGHT = Ink("#ffffff", "#16202c", "#465261", "#d7dde5", "#b3400b")
DARK = Ink("#0e1117", "#f2f5f9", "#b7c2cf", "#39434f", "#ffb26b")

FONT = '"Source Sans", "Source Sans 3", "Source Sans Pro", "Segoe UI", "Helvetica Neue", Arial, sans-serif'
TEXT, TICK = 16, 14
"""Type sizes in pixels: read from the back of a hall at 1280 × 720."""


def ink(dark: bool) -> Ink:
    """The colours of text and lines for a light or a dark page."""
    return DARK if dark else LIGHT


def class_colour(index: int) -> str:
    """Colour of class `index`; an eleventh class starts again at the first colour."""
    return CLASS_COLOURS[index % len(CLASS_COLOURS)]


def class_colours(count: int) -> list[str]:
    """Colours of the first `count` classes."""
    return [class_colour(index) for index in range(count)]


TINT = 0.3
"""How far a class colour goes towards white where it draws on black, as images are: the darkest would vanish."""


def class_inks(count: int) -> list[str]:
    """Colours of the first `count` classes for drawings on black."""
    return [
        "#" + "".join(f"{round(part + TINT * (255 - part)):02x}" for part in channels(colour))
        for colour in class_colours(count)
    ]


def style(figure: Figure, *, dark: bool = False, height: int | None = None) -> Figure:
    """Give a figure the theme: large type, transparent background, text of contrast 4.5:1 or more; returns it.

    height in pixels, None for what the figure says itself.
    """
    pen, layout = ink(dark), figure.layout
    theme: dict[str, Any] = {
        "template": "none",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": TEXT, "color": pen.text},
        "hoverlabel": {
            "bgcolor": pen.ground,
            "bordercolor": pen.muted,
            "font": {"family": FONT, "size": TEXT, "color": pen.text},
            "align": "left",
        },
        "legend": {"font": {"size": TICK, "color": pen.text}, "bgcolor": "rgba(0,0,0,0)"},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": pen.muted, "activecolor": pen.accent},
        "dragmode": layout.dragmode or "pan",
        "bargap": layout.bargap if layout.bargap is not None else 0.25,
    }
    axis = {
        "gridcolor": pen.grid,
        "linecolor": pen.grid,
        "zerolinecolor": pen.muted,
        "tickcolor": pen.muted,
        "tickfont": {"color": pen.muted},
        "title": {"font": {"color": pen.text, "size": TEXT}},
    }
    theme |= {each.plotly_name: axis for each in (*figure.select_xaxes(), *figure.select_yaxes())}
    if height is not None:
        theme["height"] = height
    # Part by part and each of them whole: plotly's own update looks at every property and takes six times as long.
    for name, value in theme.items():
        layout[name] = _merged(layout[name].to_plotly_json(), value) if isinstance(value, dict) else value
    layout.meta = {**(layout.meta or {}), "dark": dark}
    return figure


def _merged(held: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """The second laid over the first, dictionaries within them likewise."""
    new = {
        name: _merged(held.get(name) or {}, value) if isinstance(value, dict) else value for name, value in more.items()
    }
    return {**held, **new}


def contrast(first: str, second: str) -> float:
    """Contrast of two colours "#rrggbb" as WCAG 2 defines it, from 1 (none) to 21."""
    high, low = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def colourbar(title: str, *, dark: bool, **placing: object) -> dict[str, Any]:
    """A slim colour bar with its quantity written above it."""
    pen = ink(dark)
    return {
        "title": {"text": title, "side": "top", "font": {"size": TICK, "color": pen.text}},
        "tickfont": {"size": TICK, "color": pen.muted},
        "thickness": 14,
        "outlinewidth": 0,
        **placing,
    }


def colourbar_below(title: str, *, dark: bool, **more: object) -> dict[str, Any]:
    """A colour bar under a single panel: it stays beside its picture however wide the page is."""
    place = {"orientation": "h", "x": 0.5, "y": 0, "yanchor": "top", "len": 0.8, "ypad": 8, "nticks": 7}
    return colourbar(title, dark=dark, **{**place, **more})


def typical_reach(values: Float[ndarray, "..."], *, share: float = 0.99, flat: float = 1.0) -> float:
    """How far a share of the values gets from zero at most: what the strongest colour stands for; `flat` if none do.

    In a trained network single capsules reach ten times as far as the others. A scale up to them would show nothing
    else; beyond the reach the colour stays the same, which `end_ticks` says, and the pointer tells the number.
    """
    return float(typical_reaches(values.ravel(), share=share)) or flat


def typical_reaches(values: Float[ndarray, "... count"], *, share: float = 0.99) -> Float[ndarray, "..."]:
    """`typical_reach` of each row, 0 where a row has zeros alone."""
    far = np.abs(values)
    reach = np.quantile(far, share, axis=-1)
    return np.where(reach > 0, reach, far.max(axis=-1))


def end_ticks(reach: Number, values: Float[ndarray, "..."]) -> dict[str, Any]:
    """Ticks of a colour bar at zero and near its ends; an end beyond which there are values says ≤ or ≥.

    The lower end is left out where no value is below zero.
    """
    ticks: dict[Number, str] = {0: "0"}
    for sign, beyond in ((-1, values.min() < -reach), (1, values.max() > reach)):
        if sign < 0 <= values.min():
            continue
        end = sign * reach
        text = f"{end:.2f}" if reach >= 0.01 else f"{end:.1e}"
        ticks[0.95 * end] = ("≤ " if sign < 0 else "≥ ") * bool(beyond) + text.replace("-", "−")
    return {"tickmode": "array", "tickvals": list(ticks), "ticktext": list(ticks.values())}


def caption(text: str, x: Number, y: Number, *, dark: bool, size: int = TEXT, **more: object) -> dict[str, Any]:
    """A line of text placed in shares of the figure's plotting area, (0, 0) at its lower left."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "align": "left",
        "font": {"size": size, "color": ink(dark).text},
        **more,
    }


def channels(colour: str) -> list[int]:
    """Red, green and blue, 0 to 255, of "#rrggbb"."""
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


def translucent(colour: str, opacity: float) -> str:
    """A colour "#rrggbb" through which what lies below is seen."""
    return f"rgba({','.join(map(str, channels(colour)))},{opacity:g})"


def _luminance(colour: str) -> float:
    shares = [channel / 255 for channel in channels(colour)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
