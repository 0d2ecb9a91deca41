"""What several routings say of one image: how sure each is of every class, and how much of the votes it gives to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jaxtyping import Float
from numpy import ndarray
from plotly.graph_objects import Figure

from capsviz.figures.describe import remember
from capsviz.figures.errors import FigureError
from capsviz.figures.picture import rounded
from capsviz.figures.reading import share_of, steps
from capsviz.figures.text import literal, literals
from capsviz.figures.theme import ink, style
from capsviz.tracing.trace import Trace

Traces = Mapping[str, Trace]
"""By what each routing is called."""


def certainty(traces: Traces, *, colours: Mapping[str, str], image: int = 0, dark: bool = False) -> Figure:
    """Bars over the classes, a colour for each routing: the activations at the end, from 0 to 1.

    Raises FigureError where there is none, or the classes differ.
    """
    return _bars(
        traces, "how sure it is of each class", lambda trace: steps(trace, "activations", image), colours, dark
    )


def shares(traces: Traces, *, colours: Mapping[str, str], image: int = 0, dark: bool = False) -> Figure:
    """As `certainty`, of the routings that share out votes: which part of a capsule each class gets, on the average.

    The dotted line is the share that every class has where nothing is decided.
    """
    sharing = {name: trace for name, trace in traces.items() if trace.config.algorithm.share}

    def mean(trace: Trace) -> Float[ndarray, "T upper"]:
        return steps(trace, share_of(trace).field, image).mean(1)

    figure = _bars(sharing, "mean share of a capsule that each class gets", mean, colours, dark)
    count = len(next(iter(sharing.values())).classes)
    return figure.add_hline(1 / count, line={"dash": "dot", "width": 2, "color": ink(dark).text})


def _bars(
    traces: Traces,
    title: str,
    read: Callable[[Trace], Float[ndarray, "T upper"]],
    colours: Mapping[str, str],
    dark: bool,
) -> Figure:
    named = {trace.classes for trace in traces.values()}
    if len(named) != 1:
        raise FigureError("Routings of the same classes compare; give traces of one data set.")
    [classes] = named
    figure, said = Figure(), []
    for name, trace in traces.items():
        last = read(trace)[-1]
        figure.add_bar(
            name=literal(name),
            x=literals(classes),
            y=rounded(last),
            marker={"color": colours[name]},
            hovertemplate=f"{literal(name)}, %{{x}}: %{{y:.3f}}<extra></extra>",
        )
        most = ", ".join(f"{classes[place]} {last[place]:.2f}" for place in last.argsort()[::-1][:2])
        said.append(f"{name}: {most}")
    figure.update_layout(
        barmode="group",
        title={"text": title, "x": 0.5, "xanchor": "center", "y": 0.97, "yanchor": "top", "font": {"size": 15}},
        xaxis={"type": "category", "automargin": True},
        yaxis={"range": [0, 1.02]},
        # Above: below the axis long names of classes, which are turned, would lie over it.
        legend={"orientation": "h", "x": 0.5, "xanchor": "center", "y": 1.01, "yanchor": "bottom"},
        margin={"l": 48, "r": 16, "t": 76, "b": 44},
    )
    return remember(style(figure, dark=dark, height=330), f"{title.capitalize()}, the two largest. {'; '.join(said)}.")
