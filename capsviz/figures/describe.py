"""What a picture shows, in one sentence with its numbers, for those who do not see it."""

from __future__ import annotations

import torch
from plotly.graph_objects import Figure

from capsviz.figures.errors import FigureError
from capsviz.figures.reading import check
from capsviz.routing.squash import NOTHING
from capsviz.tracing.trace import Trace


def describe(subject: Figure | Trace, *, image: int = 0) -> str:
    """The alt text of a figure of this package, or a sentence about one image of a trace.

    Raises FigureError for a figure that was not made here, and for an image that the trace has not.
    """
    if not isinstance(subject, Figure):
        return _describe_trace(subject, image)
    text = (subject.layout.meta or {}).get("alt")
    if not text:
        raise FigureError("This figure carries no description; describe the trace that it was drawn from.")
    return text


def remember(figure: Figure, text: str) -> Figure:
    """Write the sentence that `describe` returns into the figure; returns the figure."""
    figure.layout.meta = {**(figure.layout.meta or {}), "alt": text}
    return figure


def active(trace: Trace, image: int) -> bool:
    """Whether any class capsule is: where nothing votes, none is."""
    return float(trace.activations[image].max()) > NOTHING


def iterations(count: int) -> str:
    """ "1 iteration", "3 iterations"."""
    return f"{count} iteration" + ("s" if count != 1 else "")


def _describe_trace(trace: Trace, image: int) -> str:
    check(trace, image=image)
    algorithm = trace.config.algorithm
    rows, columns, types = trace.layers[0].lower_grid
    below = "primary" if trace.layers[0].lower_grid == trace.grid else "lower"
    lengths = trace.activations[image]
    order = torch.argsort(lengths, descending=True).tolist()
    named = trace.named[image].tolist()
    rest = [upper for upper in order if upper not in named]
    runner = f", ahead of {trace.classes[rest[0]]} with {lengths[rest[0]]:.2f}" if rest else ""
    names = " and ".join(trace.classes[upper] for upper in named)
    strengths = " and ".join(f"{lengths[upper]:.2f}" for upper in named)
    read = "read as no class"
    if active(trace, image):
        read = f"read as {names} with {algorithm.strength.word} {strengths}{runner}"
    pace = f" in {iterations(trace.layer.iterations)}" if algorithm.iterates else " in one pass"
    between = len(trace.layers) - 1
    seen = f"image {image}" if len(trace.activations) > 1 else "the image"
    through = f" through {between} convolutional layers of capsules" if between else ""
    return (
        f"{algorithm.title} joins {rows * columns * types:,} {below} capsules ({rows} × {columns} positions, "
        f"{types} types) to {len(trace.classes)} {'classes' if trace.kind == 'class' else 'types'}{through}{pace}; "
        f"{seen} is {read}."
    )
