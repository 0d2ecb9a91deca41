"""The whole network as a strip, for the top of every page: where in it are we?"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import plotly.graph_objects as go
from plotly.graph_objects import Figure

from capsviz.figures.describe import active, describe, remember
from capsviz.figures.errors import FigureError
from capsviz.figures.geometry import Geometry
from capsviz.figures.objects import drawn_in_colours, in_words
from capsviz.figures.picture import image_axes, numbers, on, packed, picture, rounded
from capsviz.figures.reading import check, check_kind
from capsviz.figures.text import literal, literals, short
from capsviz.figures.theme import TICK, Span, caption, class_colours, ink, sequential, style, translucent
from capsviz.network.config import CapsNetConfig
from capsviz.network.recorded import RecordedConfig
from capsviz.tracing.trace import Trace

Part = Literal["image", "primary", "routing", "class", "reconstruction"]

_SPANS: dict[str, Span] = {
    "image": (0.0, 0.13),
    "primary": (0.215, 0.479),
    "routing": (0.495, 0.585),
    "class": (0.612, 0.772),
    "reconstruction": (0.865, 0.995),
}
_LOW, _HIGH = 0.0, 0.84
BARS, LISTED = 32, 4
"""Class capsules that are bars beside one another; of more of them so many are listed, the most active first."""
LETTERS = 14
"""Of a name in that list."""


def network_strip(trace: Trace, *, image: int = 0, highlight: Part | None = "routing", dark: bool = False) -> Figure:
    """Image → primary capsules → class capsules → reconstruction, drawn from the numbers of one traced image.

    Primary capsules as tiles, one per type, brightness = activation; class capsules as bars of their activation, of
    more than `BARS` the most active ones with their names.
    highlight: the stage that the page is about, framed; None for none. A model without a decoder ends at its class
    capsules. Raises FigureError for an unknown stage and for one layer of several (`Trace.at`).
    """
    check_kind(trace)
    if len(trace.layers) < trace.config.depth:
        raise FigureError("The strip is of a whole network and this is one layer of it; give the trace of the whole.")
    if highlight is not None and highlight not in get_args(Part):
        raise FigureError(f"The strip has no part {highlight!r}; choose one of {', '.join(get_args(Part))}.")
    check(trace, image=image)
    grid, strength = Geometry(*trace.grid), trace.config.algorithm.strength
    symbol = strength.symbol
    top = 1.0 if strength.whole else max(1e-6, float(trace.activations[image].max()))
    many = len(trace.classes) > BARS
    along = [0, top] if many else [-0.6, len(trace.classes) - 0.4]
    upwards = [LISTED - 0.5, -0.5] if many else [-0.16 * top, 1.3 * top]
    data = [
        picture(trace.images[image], "input", place=on(1)),
        _primary(trace, image, grid, dark),
        *(_strongest(trace, image, symbol, dark) if many else [_class_bars(trace, image, symbol, dark)]),
    ]
    layout: dict[str, Any] = {
        **image_axes(1, _SPANS["image"], (_LOW, _HIGH)),
        **image_axes(2, _SPANS["primary"], (_LOW, _HIGH)),
        "xaxis3": {"domain": list(_SPANS["class"]), "anchor": "y3", "visible": False, "range": along},
        "yaxis3": {"domain": [_LOW, _HIGH], "anchor": "x3", "visible": False, "range": upwards},
        "bargap": 0.2,
        "margin": {"l": 8, "r": 8, "t": 10, "b": 8},
        "showlegend": False,
        "annotations": _words(trace, image, highlight, dark),
    }
    end = "class capsules"
    if trace.reconstruction is not None:
        end = "reconstruction"
        data.append(picture(drawn_in_colours(trace, image), end, place=on(4)))
        layout |= image_axes(4, _SPANS[end], (_LOW, _HIGH))
    if highlight and (trace.reconstruction is not None or highlight != "reconstruction"):
        layout["shapes"] = [_frame(_SPANS[highlight], dark)]
    longest = "no class is active"
    if active(trace, image):
        named = trace.named[image].tolist()
        most = " and ".join(f"{float(trace.activations[image, upper]):.2f}" for upper in named)
        longest = f"{in_words(trace, image)} {'is' if len(named) == 1 else 'are'} the strongest with {symbol} = {most}"
    text = f"The network from image to {end}: {longest}. "
    return remember(style(Figure(data, layout), dark=dark, height=190), text + describe(trace, image=image))


def _words(trace: Trace, image: int, highlight: Part | None, dark: bool) -> list[dict[str, Any]]:
    """Titles of the stages, that of the highlighted one emphasised, and the arrows between them with their words."""
    channels, height, width = trace.config.image
    played = highlight == "routing" and trace.config.algorithm.iterates  # beside it, iteration by iteration
    what, names = (" classes at the end", "at the end") if played else (" class capsules", "class")
    classes = f"{len(trace.classes)}{what}" if _short(trace) else literal(f"{names}: {in_words(trace, image)}")
    titles = {
        "image": f"image {height} × {width}" + (f" × {channels}" if channels > 1 else ""),
        "primary": f"{trace.config.lower:,} primary capsules",
        "class": f"{LISTED} of {len(trace.classes)}{what}" if len(trace.classes) > BARS else classes,
    }
    arrows = [
        ("image", "primary", _convolutions(trace.config)),
        ("primary", "class", trace.config.algorithm.title.replace(" ", "<br>") + _layers(trace)),
    ]
    if trace.reconstruction is not None:
        titles["reconstruction"] = "reconstruction"
        arrows.append(("class", "reconstruction", "decoder"))
    words = [_title(text, _SPANS[stage], stage == highlight, dark) for stage, text in titles.items()]
    for start, end, text in arrows:
        between = _SPANS["routing"] if end == "class" else (_SPANS[start][1], _SPANS[end][0])
        words += _arrow(between, text, highlight == "routing" and end == "class", dark)
    return words


def _convolutions(config: CapsNetConfig) -> str:
    if isinstance(config, RecordedConfig):
        return "not<br>recorded"
    if config.stages:
        return f"{len(config.windows(0))} conv<br>residual"
    first, second = config.kernel, config.primary_kernel or config.kernel
    return f"conv {first}×{first}<br>" + ("twice" if first == second else f"conv {second}×{second}")


def _layers(trace: Trace) -> str:
    return f"<br>{len(trace.layers)} layers" if len(trace.layers) > 1 else ""


def _primary(trace: Trace, image: int, grid: Geometry, dark: bool) -> go.Heatmap:
    tiles = grid.tiles(numbers(trace.primary_activations[image]))
    symbol = trace.config.algorithm.strength.lower
    return go.Heatmap(
        z=packed(tiles),
        text=np.array(grid.tile_labels(), dtype=object),
        zmin=0,
        zmax=max(1e-6, float(trace.primary_activations[image].max())),
        colorscale=sequential(dark),
        showscale=False,
        hoverongaps=False,
        hovertemplate=f"%{{text}}<br>{symbol} = %{{z:.3f}}<extra></extra>",
        **on(2),
    )


def _short(trace: Trace) -> bool:
    """Whether the names of the classes stand over their bars; longer ones would run into their neighbours."""
    return all(len(name) <= 2 for name in trace.classes)


def _class_bars(trace: Trace, image: int, symbol: str, dark: bool) -> go.Bar:
    named = trace.named[image].tolist()
    names = literals(trace.classes)
    return go.Bar(
        x=list(range(len(names))),
        y=rounded(numbers(trace.activations[image])),
        base=0,
        customdata=names,
        text=names if _short(trace) else None,
        textposition="outside",
        textangle=0,
        constraintext="none",
        textfont={"size": TICK, "color": ink(dark).text},
        cliponaxis=False,
        marker={
            "color": class_colours(len(names)),
            "line": {"width": [2.5 if i in named else 0 for i in range(len(names))], "color": ink(dark).text},
        },
        hovertemplate=f"class %{{customdata}}<br>{symbol} = %{{y:.3f}}<extra></extra>",
        **on(3),
    )


def _strongest(trace: Trace, image: int, symbol: str, dark: bool) -> list[go.Bar | go.Scatter]:
    """The most active class capsules, one below the other: a bar each, and its name and number over it."""
    active = trace.activations[image]
    uppers, named = active.argsort(descending=True)[:LISTED].tolist(), trace.named[image].tolist()
    values, rows = rounded(numbers(active[uppers])), list(range(LISTED))
    names = [trace.classes[upper] for upper in uppers]
    cut = [short(name, LETTERS) for name in names]
    written = [f"{name} {value:.2f}" for name, value in zip(literals(cut), values, strict=True)]
    colours = class_colours(len(trace.classes))
    bars = go.Bar(
        x=values,
        y=rows,
        base=0,
        orientation="h",
        width=0.86,
        customdata=literals(names),
        marker={"color": [translucent(colours[upper], 0.4) for upper in uppers], "line": {"width": 0}},
        hovertemplate=f"class %{{customdata}}<br>{symbol} = %{{x:.3f}}<extra></extra>",
        **on(3),
    )
    marked = [f"<b>{text}</b>" if upper in named else text for upper, text in zip(uppers, written, strict=True)]
    words = go.Scatter(
        x=[0] * LISTED,
        y=rows,
        mode="text",
        text=marked,
        textposition="middle right",
        textfont={"size": TICK, "color": ink(dark).text},
        cliponaxis=False,
        hoverinfo="skip",
        **on(3),
    )
    return [bars, words]


def _title(text: str, span: Span, lit: bool, dark: bool) -> dict[str, Any]:
    pen = ink(dark)
    return caption(
        f"<b>{text}</b>" if lit else text,
        sum(span) / 2,
        _HIGH + 0.02,
        dark=dark,
        size=TICK + 1,
        xanchor="center",
        font={"size": TICK + 1, "color": pen.accent if lit else pen.text},
    )


def _frame(span: Span, dark: bool) -> dict[str, Any]:
    x0, x1 = span
    return {
        "type": "rect",
        "xref": "paper",
        "yref": "paper",
        "x0": x0 - 0.006,
        "x1": x1 + 0.006,
        "y0": _LOW - 0.03,
        "y1": 1.06,
        "layer": "below",
        "line": {"color": ink(dark).accent, "width": 3},
        "fillcolor": "rgba(255,178,107,0.10)" if dark else "rgba(179,64,11,0.06)",
    }


def _arrow(between: Span, text: str, lit: bool, dark: bool) -> list[dict[str, Any]]:
    pen = ink(dark)
    colour = pen.accent if lit else pen.muted
    middle, y = sum(between) / 2, (_LOW + _HIGH) / 2
    label = caption(
        f"<b>{text}</b>" if lit else text,
        middle,
        y + 0.05,
        dark=dark,
        xanchor="center",
        align="center",
        font={"size": TICK, "color": colour},
    )
    # Arrows of plotly's annotations start at a distance in pixels; the length of a paper share is not known here.
    head = caption(
        "⟶", middle, y, dark=dark, xanchor="center", yanchor="middle", font={"size": 30, "color": colour}, yshift=-10
    )
    return [label, head]
