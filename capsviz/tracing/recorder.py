"""One forward pass, recorded; and what a trace and its model give without routing again: votes, fewer iterations."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, SupportsIndex

import numpy as np
import torch
from jaxtyping import Num
from torch import Tensor

from capsviz import zoo
from capsviz.device import of, or_cpu, results
from capsviz.errors import line
from capsviz.network import CNN, CapsNet, CapsNetConfig, NoCapsulesError, PrimaryCapsules
from capsviz.network.finite import check_finite
from capsviz.reading import Name, Names, names_in, understood, whole
from capsviz.routing import InverseTemperature
from capsviz.tracing.intervention import Intervention, intervene
from capsviz.tracing.layout import TraceError, geometry
from capsviz.tracing.pixels import inputs
from capsviz.tracing.trace import LayerTrace, Trace, stacked


@or_cpu
def trace(
    model: CapsNet | str,
    images: Num[Tensor, "batch channel height width"] | Num[np.ndarray, "batch channel height width"],
    *,
    iterations: SupportsIndex | None = None,
    intervention: Intervention | None = None,
    inverse_temperature: InverseTemperature | None = None,
    votes: bool | Literal["all"] = True,
    name: str = "",
    classes: tuple[str, ...] | None = None,
    objects: int | None = None,
) -> Trace:
    """Run a model once, on its device, and record every iteration of its routing.

    model: a network, or the name of a pretrained one, of which name, classes and objects are then taken unless given.
    images: "batch channel height width" of the network's size, at least one, in 0..1, or bytes 0 to 255. iterations T
    and, for EM, the schedule of λ: the model's own unless given. intervention: primary capsules to mute, boost or
    isolate before they vote. votes: also keep the votes for the class capsules, lower × upper × dim numbers an image;
    "all": those of every routed layer (of a matrix network some ten times as many). name, classes: for captions;
    names or whole numbers, numbered unless given. objects: how many an image shows, one unless given: so many of the
    most active capsules count as named and are drawn (two of MultiMNIST).
    Nothing is left on the model: it may serve others at the same time. Raises InterventionError for a capsule that the
    network has not, PixelsError for images that it does not take and for weights that are not float32, NoCapsulesError
    for the CNN baseline, TraceError for what is no network of capsviz, for votes, classes and objects that it cannot
    have and for iterations and λ where its routing has none, ZooError for an unknown name, NotFinite for weights of a
    training that diverged, ModeError for a network with running statistics that are being trained, ConfigError for
    iterations and λ that no routing has.
    """
    if isinstance(model, str):
        entry = zoo.entry(model)
        return trace(
            zoo.load(model),
            images,
            iterations=iterations,
            intervention=intervention,
            inverse_temperature=inverse_temperature,
            votes=votes,
            name=name or model,
            classes=entry.classes if classes is None else classes,
            objects=entry.objects if objects is None else objects,
        )
    if iterations is not None:
        iterations = whole(iterations, f"There are no {iterations!r} iterations; give a whole number.", TraceError)
    if intervention is not None and not isinstance(intervention, Intervention):
        raise TraceError(line(f"{intervention!r} is no intervention; give a capsviz.Intervention."))
    check_asked(model, name, iterations, inverse_temperature)
    name = understood(Name, name, "The name", "give it as one line of text", TraceError)
    objects = _objects(objects, model.config.classes)
    named: tuple[str, ...] = ()
    if classes is not None:
        named = names_in(classes)
        if not (isinstance(named, tuple) and len(named) == model.config.classes):
            raise TraceError(line(f"The classes {classes!r} are not {model.config.classes} names; give one for each."))
        named = understood(Names, named, "The classes", "give one name for each", TraceError)
    if votes not in (True, False, "all"):
        raise TraceError(f'There are no votes={votes!r} to keep; choose True, False or "all".')
    check_finite(model.state_dict(), name or "The network")
    config = model.config
    if inverse_temperature is not None:
        config = replace(config, inverse_temperature=inverse_temperature)
    gains = intervention.gains(config.lower) if intervention else None
    with torch.no_grad():
        shown = inputs(images, model, name)
        primary = model.encode(shown)
        if gains is not None:
            primary = intervene(primary, gains, matrix=config.algorithm.matrix)
        lower, layers = primary, []
        with torch.autocast(shown.device.type, enabled=False):  # as in the network's own pass
            for number in range(model.depth):
                steps = list(
                    model.route(lower, iterations, layer=number, record=True, inverse_temperature=inverse_temperature)
                )
                kept = votes == "all" or (votes and number == model.depth - 1)
                cast = results(model.votes(lower, number).materialise()) if kept else None
                layers.append(LayerTrace(config.routing, stacked(steps), cast, *geometry(config, number)))
                last = steps[-1]
                lower = PrimaryCapsules(last.poses, last.activations)
        reconstruction, drawings = _drawn(model, last.poses, last.activations, objects)
        return Trace(
            config=config,
            name=name,
            classes=named or tuple(map(str, range(config.classes))),
            images=results(shown).clone(),  # the caller's may change
            primary_poses=results(primary.poses),
            primary_activations=results(primary.activations),
            layers=tuple(layers),
            poses=results(last.poses),
            activations=results(last.activations),
            reconstruction=reconstruction,
            gains=gains,
            objects=objects,
            drawings=drawings,
        )


def check_asked(
    model: object, name: str, iterations: int | None, inverse_temperature: InverseTemperature | None = None
) -> None:
    """Raise NoCapsulesError or TraceError for what does not route, or not with iterations or λ where these are asked.

    name: the network's.
    """
    if isinstance(model, CNN):
        raise NoCapsulesError(name)
    if not isinstance(model, CapsNet):
        raise TraceError(
            f"{type(model).__name__} is no capsule network of capsviz; give one, or the name of a pretrained model "
            "(`capsviz.record` takes the votes of any other)."
        )
    algorithm, whose = model.config.algorithm, name or "the network"
    if iterations is not None and not algorithm.iterates:
        raise TraceError(f"The routing of {whose} does not iterate; leave out the iterations.")
    if inverse_temperature is not None and not algorithm.tempered:
        raise TraceError(f"The routing of {whose} has no inverse temperature; leave it out.")


def _objects(asked: object, classes: int) -> int:
    """How many objects an image shows: a whole number of any library's, 1 unless said."""
    said = f"An image cannot show {asked!r} objects; give a number from 1 to {classes}."
    found = 1 if asked is None else whole(asked, said, TraceError)
    if not 1 <= found <= classes:
        raise TraceError(line(said))
    return found


def _drawn(model: CapsNet, poses: Tensor, activations: Tensor, objects: int) -> tuple[Tensor | None, Tensor | None]:
    """`Trace.reconstruction` and `Trace.drawings`."""
    if model.decoder is None:
        return None, None
    drawings = results(model.drawings(poses, activations, objects))
    return drawings.amax(1), drawings if objects > 1 else None


def contains_shorter(config: CapsNetConfig) -> bool:
    """Whether a routing of T iterations begins with those of 1 … T − 1: where no T changes the votes, in one layer."""
    return len(config.grids) == 1


@or_cpu
def shorter(model: CapsNet | None, recorded: Trace, iterations: int) -> Trace:
    """The routing of fewer iterations with which a recorded one begins, as `trace` gives it; only drawing is done anew.

    model: the one that was recorded; None where it is not at hand, and nothing is drawn. Raises TraceError where the
    trace has fewer, or more than one routed layer.
    """
    if not contains_shorter(recorded.config) or not 1 <= iterations <= recorded.layer.iterations:
        raise TraceError(
            f"A routing of {iterations} iterations is no part of this trace; record one with capsviz.trace."
        )
    layer = recorded.layer
    steps = {name: value[:iterations] for name, value in layer.items()}
    poses, activations = steps[layer.algorithm.pose][-1], steps["activations"][-1]
    if model is None:
        reconstruction, drawings = None, None
    else:
        device = of(model)
        with torch.no_grad():
            reconstruction, drawings = _drawn(model, poses.to(device), activations.to(device), recorded.objects)
    return replace(
        recorded,
        layers=(replace(layer, steps=steps),),
        poses=poses,
        activations=activations,
        reconstruction=reconstruction,
        drawings=drawings,
    )


@or_cpu
def with_votes(model: CapsNet, recorded: Trace) -> Trace:
    """A trace with all its votes: those that it was recorded without are cast anew from the capsules in it.

    model: the one that was recorded. Votes are a product of recorded poses and weights, so that nothing is
    routed again.
    """
    device = of(model)
    layers = []
    for number, layer in enumerate(recorded.layers):
        votes = layer.votes
        if votes is None:
            poses = recorded.lower_poses(number).to(device)
            below = PrimaryCapsules(poses, recorded.lower_activations(number).to(device))
            with torch.no_grad(), torch.autocast(device.type, enabled=False):
                votes = results(model.votes(below, number).materialise())
        layers.append(replace(layer, votes=votes))
    return replace(recorded, layers=tuple(layers))
