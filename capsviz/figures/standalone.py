"""A figure as a page of its own."""

from __future__ import annotations

import html

from plotly.graph_objects import Figure

from capsviz.figures.describe import describe
from capsviz.figures.theme import ink

APART = 980
"""CSS pixels at which the words of a row of panels stand apart; a narrower window scrolls sideways."""


def standalone_html(figure: Figure, title: str = "") -> str:
    """The figure as one HTML page that needs no network: plotly inside, alt text set.

    title: of the page and above the figure, in plain text.
    """
    pen = ink(bool((figure.layout.meta or {}).get("dark")))
    body = figure.to_html(full_html=False, include_plotlyjs=True, config={"responsive": True, "displaylogo": False})
    text = html.escape(describe(figure), quote=True)
    called = html.escape(title)
    panels = {axis.domain for axis in figure.select_xaxes()}
    width = f' style="min-width:{APART}px"' if len(panels) > 1 else ""
    heading = f'<h1 style="font:600 20px sans-serif;color:{pen.text}">{called}</h1>' if title else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{called or "capsviz"}</title></head>'
        f'<body style="margin:16px;background:{pen.ground}">'
        f'{heading}<div role="img" aria-label="{text}"{width}>{body}</div></body></html>'
    )
