"""Frames, buttons and slider: an animation that plays in the browser and asks no server."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.graph_objects import Figure

from capsviz.figures.describe import describe
from capsviz.figures.theme import TEXT, TICK, ink

PLAY_MS, SLOW_MS = 900, 2500
"""How long a frame stands, in milliseconds."""

KEYS_SCRIPT = """
(() => {
  const plot = document.getElementById("{plot_id}");
  const names = plot._transitionData._frames.map((frame) => frame.name);
  let timer = null;
  const now = () => Math.max(0, names.indexOf(plot._fullLayout._currentFrame));
  const show = (index) => Plotly.animate(plot, [names[Math.min(names.length - 1, Math.max(0, index))]],
    {mode: "immediate", frame: {duration: 0, redraw: true}, transition: {duration: 0}});
  const stop = () => { clearInterval(timer); timer = null; };
  // Pausing is no error: Plotly rejects, without a reason, the promise of an animation that another one ends.
  window.addEventListener("unhandledrejection", (event) => { if (event.reason === undefined) event.preventDefault(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight") { stop(); show(now() + 1); }
    else if (event.key === "ArrowLeft") { stop(); show(now() - 1); }
    else if (event.key === "Home") { stop(); show(0); }
    else if (event.key === "End") { stop(); show(names.length - 1); }
    else if (event.key === " ") {
      if (timer) { stop(); }
      else {
        if (now() === names.length - 1) { show(0); }
        timer = setInterval(() => { if (now() + 1 < names.length) { show(now() + 1); } else { stop(); } }, FRAME_MS);
      }
    } else { return; }
    event.preventDefault();
  });
})();
""".replace("FRAME_MS", str(PLAY_MS))
"""Space plays and pauses, ← → step, Home and End jump; for a page that holds the plot `{plot_id}`."""


def add_player(
    figure: Figure,
    frames: Sequence[go.Frame | dict[str, Any]],
    *,
    dark: bool,
    what: str = "iteration",
    low: int = 0,
) -> Figure:
    """Give a figure its frames, named "1", "2", …, and below it play, slow motion, pause and one slider for all panels.

    low: pixels between the plotting area and the controls; the figure's lower margin must hold them and 80 more.
    """
    pen = ink(dark)
    figure.frames = frames
    names = [frame["name"] for frame in frames]

    def button(label: str, frame_ms: int | None) -> dict[str, Any]:
        # An animation of [null] in mode immediate ends whatever plays: that is how plotly pauses.
        timing = {"frame": {"duration": frame_ms or 0, "redraw": True}, "transition": {"duration": 0}}
        return {
            "label": label,
            "method": "animate",
            "args": [[None] if frame_ms is None else None, {**timing, "fromcurrent": True, "mode": "immediate"}],
        }

    figure.update_layout(
        updatemenus=[
            {
                "type": "buttons",
                "direction": "left",
                "showactive": False,
                "x": 0,
                "y": 0,
                "xanchor": "left",
                "yanchor": "top",
                "pad": {"t": low + 18, "r": 8},
                "bgcolor": pen.button,
                "bordercolor": pen.muted,
                "font": {"size": TEXT, "color": pen.button_text},
                "buttons": [button("▶ Play", PLAY_MS), button("Slow", SLOW_MS), button("❚❚ Pause", None)],
            }
        ],
        sliders=[
            {
                "active": 0,
                "x": 0.32,
                "len": 0.68,
                "y": 0,
                "xanchor": "left",
                "yanchor": "top",
                "pad": {"t": low},
                "currentvalue": {
                    "prefix": f"{what} ",
                    "suffix": f" of {len(names)}",
                    "font": {"size": TEXT, "color": pen.text},
                    "xanchor": "left",
                },
                "font": {"size": TICK, "color": pen.muted},
                "bgcolor": pen.grid,
                "activebgcolor": pen.accent,
                "bordercolor": pen.muted,
                "tickcolor": pen.muted,
                "minorticklen": 0,
                "transition": {"duration": 0},
                "steps": [
                    {
                        "label": name,
                        "method": "animate",
                        "args": [
                            [name],
                            {
                                "mode": "immediate",
                                "frame": {"duration": 0, "redraw": True},
                                "transition": {"duration": 0},
                            },
                        ],
                    }
                    for name in names
                ],
            }
        ],
    )
    return figure


def standalone_html(figure: Figure) -> str:
    """The figure as one HTML page that needs no network: plotly inside, alt text set, keys bound if it has frames."""
    pen = ink(bool((figure.layout.meta or {}).get("dark")))
    body = figure.to_html(
        full_html=False,
        include_plotlyjs=True,
        auto_play=False,
        post_script=KEYS_SCRIPT if figure.frames else None,
        config={"responsive": True, "displaylogo": False},
    )
    text = html.escape(describe(figure), quote=True)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>capsviz</title></head>'
        f'<body style="margin:16px;background:{pen.ground}">'
        f'<div role="img" aria-label="{text}">{body}</div></body></html>'
    )
