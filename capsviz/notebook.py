"""What a notebook shows of a trace and of a model: the boards of the app, as the output of a cell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, SupportsIndex

from jaxtyping import Float
from torch import Tensor

from capsviz import zoo
from capsviz.errors import needed
from capsviz.network import CapsNet
from capsviz.reading import whole
from capsviz.tracing.layout import TraceError
from capsviz.tracing.pixels import PixelsError, tensor_of
from capsviz.tracing.recorder import trace as record
from capsviz.tracing.trace import Trace
from capsviz.tracing.trace_set import TraceSet

if TYPE_CHECKING:
    from capsviz.boards import Board

_WHAT = "A board in a notebook"


def show(
    trace: Trace | TraceSet,
    *,
    image: SupportsIndex = 0,
    upper: SupportsIndex | None = None,
    model: CapsNet | str | None = None,
    dark: bool | None = None,
) -> Any:
    """The board of one image of a trace or a set as a widget: played where the routing iterates, else coefficients.

    image: from 0, or from the end. upper: the class that a routing that iterates is shown for at first, the most active
    one unless given; another one is chosen on the board. model: the one that was recorded, or its name in the zoo, for
    what a trace does not hold (EM: the logistic of β_a). dark: as the notebook is, unless given.
    Of several routed layers the last is shown; `show(trace.at(0))` shows the first.
    Raises CapsvizError where anywidget or plotly is not installed, FigureError where the trace holds no votes, or lacks
    the image or the class, TraceError where it is of another model, ZooError for an unknown name, IndexError where a
    set lacks the image.
    """
    with needed("notebook", _WHAT):
        from capsviz.boards import drawn_weights, trace_board
        from capsviz.boards.notebook import board_widget

    if isinstance(trace, TraceSet):
        number = whole(image, f"{image!r} is no image of the set; give its number.", TraceError)
        trace, image = trace[number], 0
    if not isinstance(trace, Trace):
        kind = type(trace).__name__
        raise TraceError(f"A board shows a trace and this is a {kind}; give what capsviz.trace or Trace.open returns.")
    if model is not None:
        model = _recorded(trace, model)
    # The weights of the last layer: types of a convolutional one have their own.
    more = None if model is None or trace.kind == "type" else drawn_weights(model, len(trace.classes))
    shown = trace_board(trace, image=image, upper=upper, more=more, dark=bool(dark))
    return board_widget(shown, follows=dark is None)


def _recorded(trace: Trace, model: CapsNet | str) -> CapsNet:
    """The network that was recorded, which may have routed with another T and λ than its config has."""
    network, name = (zoo.load(model), model) if isinstance(model, str) else (model, "")
    whole = trace.config
    if (
        not isinstance(network, CapsNet)
        or replace(network.config, iterations=whole.iterations, inverse_temperature=whole.inverse_temperature) != whole
        or (name and trace.name and name != trace.name)
    ):
        raise TraceError(
            f"The trace is of {trace.name or 'another network'} and the model {name or 'given'} is not that one; give "
            "the model that was recorded."
        )
    return network


def perturb(
    model: CapsNet | str,
    image: Float[Tensor, "channel height width"],
    *,
    upper: SupportsIndex | None = None,
    hand: str = "sliders",
    wide: bool = False,
    dark: bool | None = None,
) -> Any:
    """A class capsule of an image in the reader's hand, and what the decoder draws of it live, as a widget.

    model: a network, or the name of a pretrained one, whose exemplars then let `hand` also be "cells" (all capsules as
    a grid) or "walk" (to the capsule of another image). image: one, as `capsviz.trace` takes them. upper: the capsule
    to move, the most active one unless given. wide: by up to 1 instead of 0.25 (Sabour, Frosst & Hinton 2017, Fig. 4).
    dark: as the notebook is, unless given.
    Raises CapsvizError where anywidget or plotly is not installed, PerturbError where the model has no decoder, lacks
    the class, or has no exemplars for `hand`, PixelsError, ZooError and NoCapsulesError as `capsviz.trace`.
    """
    with needed("notebook", _WHAT):
        from capsviz.boards.notebook import board_widget

    return board_widget(_decoder(model, image, upper, hand, wide, bool(dark)), follows=dark is None)


def _decoder(
    model: CapsNet | str, image: Tensor, upper: SupportsIndex | None, hand: str, wide: bool, dark: bool
) -> Board:
    from capsviz.boards import decoder_board, pack_weights

    images = tensor_of([image], "images", PixelsError)
    if isinstance(model, str):
        entry, network = zoo.entry(model), zoo.load(model)
        recorded = record(network, images, votes=False, name=model, classes=entry.classes, objects=entry.objects)
        weights = pack_weights(network, zoo.exemplar_capsules(model), zoo.capsule_spread(model))
    else:
        recorded = record(model, images, votes=False, name="the model")
        weights = pack_weights(model, poses=recorded.poses[0])
    return decoder_board(recorded, weights, upper=upper, hand=hand, wide=wide, dark=dark)
