"""Traces of networks that are not ours: bare votes, routed here; or steps that another program took and recorded.

trace = capsviz.record(images, votes, "dr", iterations=3, grid=(6, 6, 32), field=(17, 2))
trace = capsviz.Trace.from_steps("dr", couplings, poses, votes=votes, images=images)
trace.save("mine.safetensors")                    (in traces/ the app offers it as the source Recorded)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from capsviz import device
from capsviz.errors import CapsvizError, line
from capsviz.network import strongest
from capsviz.network.config import CapsNetConfig, ConfigError, Window, algorithm_of
from capsviz.network.own_numbers import own_numbers
from capsviz.network.recorded import RecordedConfig
from capsviz.reading import Name, Names, names_in, understood, whole
from capsviz.routing import ALGORITHMS, Algorithm, DenseVotes, InverseTemperature, LayerSizes
from capsviz.tensors import all_finite, written
from capsviz.tracing.layout import COARSE, step_axes
from capsviz.tracing.pixels import PixelsError, pixels, tensor_of

if TYPE_CHECKING:
    from capsviz.tracing.trace import Trace

ROUNDING = 1e-3
"""By how much the shares of a lower capsule may miss 1."""
Draw = Callable[[Tensor], Tensor]


class AdoptError(CapsvizError):
    """Votes or steps that make no trace."""


def record(
    images: Tensor | None,
    votes: Float[Tensor, "batch lower upper dim"],
    routing: str = next(iter(ALGORITHMS)),
    *,
    iterations: int | None = None,
    weights: Mapping[str, Tensor] | None = None,
    activations: Float[Tensor, "batch lower"] | None = None,
    inverse_temperature: InverseTemperature | None = None,
    lower_poses: Float[Tensor, "batch lower d"] | None = None,
    grid: tuple[int, int, int] | None = None,
    field: tuple[int, int] | None = None,
    decoder: Draw | None = None,
    name: str = "bare votes",
    classes: tuple[str, ...] | None = None,
) -> Trace:
    """Route bare votes and record every iteration, as `capsviz.trace` does for a network of ours.

    images: "batch channel height width" in 0..1, or bytes, for the captions, or None. votes: "batch lower upper dim".
    routing: a key of `ALGORITHMS`; iterations T: 3 unless given, of one that iterates; weights: what that algorithm has
    learned beside the votes, by name ("beta_u", "coefficients", …). activations of the lower capsules: 1 unless given.
    inverse_temperature: EM's λ by iteration, as of `capsviz.trace`; 1 − 0.5ᵗ, from 0.5 on, unless given. The rest as in
    `Trace.from_steps`, whose lower_activations are these activations. Whatever holds numbers may also be an array, or a
    list of tensors. Raises AdoptError, in one sentence, for shapes that do not fit, numbers that are not finite or
    become so, weights that are missing, images out of 0..1, and iterations and λ for an algorithm that has none.
    """
    from capsviz.tracing.trace import stacked

    algorithm = algorithm_of(routing, AdoptError)
    votes = _numbers(votes, "votes", images=None, lower=None, upper=None, dim=None)
    _check_some(votes, "votes")
    batch, lower, upper, dim = votes.shape
    presence = _presence(activations, "activations", batch, lower)
    shown, below = _images(images, batch), _lower_poses(lower_poses, batch, lower)
    if iterations is None:
        iterations = CapsNetConfig.iterations
    elif not algorithm.iterates:
        raise AdoptError(f"{algorithm.title} does not iterate; leave out the iterations.")
    iterations = whole(iterations, f"There are no {iterations!r} iterations; give a whole number.", AdoptError)
    config = _config(algorithm, shown, (lower, upper, dim), below, grid, field, iterations)
    if inverse_temperature is not None:
        if not algorithm.tempered:
            raise AdoptError(f"{algorithm.title} has no λ; leave the inverse temperature out.")
        try:
            config = replace(config, inverse_temperature=inverse_temperature)
        except ConfigError as error:
            raise AdoptError(str(error)) from error
    owner = _owner(algorithm, config, lower, upper, dim, weights)
    with torch.no_grad(), torch.autocast(votes.device.type, enabled=False):
        found = algorithm.route(owner, DenseVotes(votes), presence, config, iterations=iterations, record=True)
        steps = stacked(list(found))
    _check_overflow(steps, votes)
    return _trace(config, shown, steps, votes, presence, below, decoder, name, classes)


def same_votes(trace: Trace, routing: str, *, iterations: int = 3) -> Trace:
    """The votes of a trace, routed by another algorithm, with what that is before any training (`unlearned`).

    A lower capsule that was muted or boosted is so here too: EM has that in its activation, which others do not read,
    so that for them it is in its votes. Raises AdoptError where the trace holds no votes, or has several layers of
    capsules, and where the algorithm says nothing without training.
    """
    algorithm, layer = algorithm_of(routing, AdoptError), trace.layer
    if layer.votes is None or len(trace.layers) > 1:
        raise AdoptError(f"{trace.name} holds no votes of all its capsules for all classes; record them as well.")
    _, lower, upper, _ = layer.votes.shape
    weights = algorithm.unlearned(lower, upper)
    if weights is None:
        raise AdoptError(f"{algorithm.title} reads the classes by what it has learned; choose another algorithm.")
    votes = layer.votes
    if trace.gains is not None and trace.config.algorithm.matrix and not algorithm.matrix:
        votes = votes * trace.gains[:, None, None]
    found = record(
        trace.images,
        votes,
        routing,
        iterations=iterations if algorithm.iterates else None,
        weights=weights,
        activations=trace.primary_activations.clamp(max=1),  # a boosted one may be above
        lower_poses=trace.primary_poses,
        grid=trace.grid,
        name=trace.name,
        classes=trace.classes,
    )
    found = replace(found, objects=trace.objects, gains=trace.gains)
    seen = trace.config.view(0), trace.config.view(1)
    if not all(view.stride for view in seen):  # of one place, which sees the whole image
        return found
    return replace(found, config=replace(cast("RecordedConfig", found.config), seen=seen))


def from_steps(
    routing: str,
    shares: Tensor,
    poses: Float[Tensor, "T batch upper dim"],
    *,
    votes: Float[Tensor, "batch lower upper dim"] | None = None,
    images: Tensor | None = None,
    lower_activations: Float[Tensor, "batch lower"] | None = None,
    lower_poses: Float[Tensor, "batch lower d"] | None = None,
    grid: tuple[int, int, int] | None = None,
    field: tuple[int, int] | None = None,
    decoder: Draw | None = None,
    name: str = "recorded elsewhere",
    classes: tuple[str, ...] | None = None,
    **further: Tensor,
) -> Trace:
    """The trace of a routing that another program ran and recorded, iteration by iteration.

    routing: a key of `ALGORITHMS`. shares: what a lower capsule gives to an upper one in each iteration, couplings c or
    responsibilities R "T batch lower upper", which over the upper capsules add up to 1; of L2 and L1 the coefficients b
    "lower upper". poses: of the upper capsules, "T batch upper dim". votes: without them nothing is there that shows
    single votes. lower_activations: 1 unless given. grid: rows, columns and types of the lower capsules, numbered
    (row · columns + column) · types + type; all at one place unless given. field: side and step, in pixels, of what
    the capsules at one position see; the whole image unless given. decoder: draws "batch channel height width" from
    "batch upper dim", all but one capsule of which are zero; called once. further: other numbers of the
    algorithm's steps by name ("activations" "T batch upper", "logits", EM's "cost", …); those that follow from the
    others are computed. Raises AdoptError, in one sentence, for shapes that do not fit, numbers that are not finite or
    that no routing gives (lengths and activations beyond 0..1, shares that do not add up to 1, variances that are not
    positive), and numbers that are missing.
    """
    algorithm = algorithm_of(routing, AdoptError)
    poses = _numbers(poses, algorithm.pose, iterations=None, images=None, upper=None, dim=None)
    _check_some(poses, algorithm.pose)
    iterations, batch, upper, dim = poses.shape
    shares = _shares(algorithm, shares, (iterations, batch, upper))
    lower = shares.shape[-2]
    votes = None if votes is None else _numbers(votes, "votes", images=batch, lower=lower, upper=upper, dim=dim)
    presence = _presence(lower_activations, "lower_activations", batch, lower)
    shown, below = _images(images, batch), _lower_poses(lower_poses, batch, lower)
    config = _config(algorithm, shown, (lower, upper, dim), below, grid, field, iterations)
    for twice in further.keys() & {algorithm.shares, algorithm.pose}:
        raise AdoptError(f"The {twice} are given twice; give them by their place alone, and leave out {twice}=.")
    given = {name: _numbers(value, name) for name, value in further.items()}
    steps = algorithm.complete({algorithm.shares: shares, algorithm.pose: poses, **given}, votes, presence)
    _check_overflow(steps, votes)
    sizes = {"batch": batch, "lower": lower, "upper": upper, "dim": dim}
    _check_steps(algorithm, steps, sizes, iterations, played=votes is not None)
    return _trace(config, shown, steps, votes, presence, below, decoder, name, classes)


def _trace(
    config: RecordedConfig,
    images: Tensor | None,
    steps: dict[str, Tensor],
    votes: Tensor | None,
    presence: Tensor,
    lower_poses: Tensor | None,
    decoder: Draw | None,
    name: str,
    classes: tuple[str, ...] | None,
) -> Trace:
    from capsviz.tracing.trace import LayerTrace, Trace

    name = understood(Name, name, "The name", "give it as one line of text", AdoptError)
    if classes is not None:
        classes = understood(
            Names, names_in(classes), "The classes", "give one name for each upper capsule", AdoptError
        )
        if len(classes) != config.classes:
            raise AdoptError(f"There are {config.classes} upper capsules and {len(classes)} names; give one for each.")
    poses, activations = steps[config.algorithm.pose][-1], steps["activations"][-1]
    batch = len(poses)
    layer = LayerTrace(config.routing, steps, votes, config.grid, (1, 1, config.classes))
    return Trace(
        config=config,
        name=name,
        classes=classes or tuple(str(number) for number in range(config.classes)),
        images=torch.zeros(batch, *config.image, dtype=torch.float32) if images is None else images,
        primary_poses=torch.zeros(batch, config.lower, 0, dtype=torch.float32) if lower_poses is None else lower_poses,
        primary_activations=presence,
        layers=(layer,),
        poses=poses,
        activations=activations,
        reconstruction=None if decoder is None else _drawn(decoder, poses, activations, config.image),
    )


def _drawn(decoder: Draw, poses: Tensor, activations: Tensor, image: tuple[int, int, int]) -> Tensor:
    """What a decoder draws of the most active capsule of each image, the others set to zero."""
    if not callable(decoder):
        raise AdoptError(line(f"The decoder {decoder!r} draws nothing; give a function that draws the capsules."))
    mask = torch.nn.functional.one_hot(strongest(activations)[:, 0], poses.shape[1]).to(poses.dtype)
    with torch.no_grad():
        drawn = decoder(poses * mask.unsqueeze(-1))
    return _numbers(drawn, "drawings", images=len(poses), channels=image[0], height=image[1], width=image[2])


def _config(
    algorithm: Algorithm,
    images: Tensor | None,
    sizes: tuple[int, int, int],
    lower_poses: Tensor | None,
    grid: tuple[int, int, int] | None,
    field: tuple[int, int] | None,
    iterations: int,
) -> RecordedConfig:
    lower, upper, dim = sizes
    image = (1, 28, 28) if images is None else (images.shape[1], images.shape[2], images.shape[3])
    lattice = (1, 1, lower) if grid is None else _whole(grid)
    if len(lattice) != 3 or min(lattice) < 1 or math.prod(lattice) != lower:
        raise AdoptError(line(f"The grid {grid} is not that of {lower} lower capsules; give rows, columns and types."))
    seen = None
    if field is not None:
        side, step = found if len(found := _whole(field)) == 2 else (0, 0)
        if not (0 < side <= max(image[1:]) and 0 < step <= max(image[1:])):
            within = written(image[1:])
            raise AdoptError(
                line(f"The field {field} is no side and step within {within} pixels; give both, as (9, 2).")
            )
        seen = Window(side, step), Window(side, step)
    try:
        return RecordedConfig(
            image=image,
            classes=upper,
            primary_types=lattice[2],
            primary_dim=0 if lower_poses is None else lower_poses.shape[2],
            class_dim=dim,
            routing=algorithm.name,
            # Where votes of one that does not iterate are routed by one that does, it is as often as any network does.
            iterations=iterations if algorithm.iterates else CapsNetConfig.iterations,
            decoder=(),
            lattice=(lattice[0], lattice[1], lattice[2]),
            seen=seen,
        )
    except ConfigError as error:
        raise AdoptError(str(error)) from error


def _whole(given: object) -> tuple[int, ...]:
    """The whole numbers that are given, none where they are something else."""
    try:
        return tuple(map(operator.index, given))  # type: ignore[call-overload]  # what a user gives may be anything
    except TypeError:
        return ()


def _images(images: Tensor | None, batch: int) -> Tensor | None:
    """Images of any size, checked, as a tensor of its own."""
    if images is None:
        return None
    given = tensor_of(images, "images", AdoptError)
    _check_shape(given, "images", images=batch, channels=None, height=None, width=None)
    _check_some(given, "images")
    if given.shape[1] not in (1, 3):
        raise AdoptError(f"The images have {given.shape[1]} channels; give one (gray) or three (colour).")
    try:
        shown = pixels(given, (given.shape[1], given.shape[2], given.shape[3]))
    except PixelsError as error:
        raise AdoptError(str(error)) from error
    return device.results(shown).clone(memory_format=torch.contiguous_format)


def _lower_poses(poses: Tensor | None, batch: int, lower: int) -> Tensor | None:
    return None if poses is None else _numbers(poses, "lower_poses", images=batch, lower=lower, d=None)


def _presence(given: Tensor | None, name: str, batch: int, lower: int) -> Tensor:
    """The activations of the lower capsules, checked."""
    every = torch.ones(batch, lower, dtype=torch.float32)
    found = every if given is None else _numbers(given, name, images=batch, lower=lower)
    _check_shown(found, name)
    return found


def _owner(
    algorithm: Algorithm,
    config: CapsNetConfig,
    lower: int,
    upper: int,
    dim: int,
    weights: Mapping[str, Tensor] | None,
) -> SimpleNamespace:
    """What owns the weights that an algorithm has beside those of the votes: the given ones, all of them."""
    module = nn.Module()
    sizes = LayerSizes(lower, dim, upper, dim, torch.zeros(lower, 2))
    with own_numbers(0), torch.device("meta"):  # names and shapes: a transform may be many times as large as the votes
        algorithm.add_weights(module, sizes, config)
    saved = {name: value for name, value in module.state_dict().items() if name != "transform"}
    given = {} if weights is None else weights
    if not isinstance(given, Mapping) or saved.keys() != given.keys():
        if not saved:
            raise AdoptError(f"{algorithm.title} learns nothing beside the votes; leave out the weights.")
        wanted = ", ".join(f"{name} {tuple(value.shape)}" for name, value in saved.items())
        raise AdoptError(
            f"{algorithm.title} of bare votes takes weights={{…}} with {wanted}; give those that the network has "
            "learned."
        )
    shaped = {name: _numbers(given[name], name) for name in saved}
    for name, value in saved.items():
        if shaped[name].shape != value.shape:
            raise _misfit(name, shaped[name], written(tuple(value.shape)))
    return SimpleNamespace(**shaped)


def _shares(algorithm: Algorithm, shares: Tensor, sizes: tuple[int, int, int]) -> Tensor:
    """The shares in the shape of a trace, checked."""
    iterations, batch, upper = sizes
    shares = tensor_of(shares, algorithm.shares, AdoptError)
    _check_some(shares, algorithm.shares)
    if algorithm.share is None:
        found = _numbers(shares, algorithm.shares, lower=None, upper=upper)
        if iterations != 1:
            raise AdoptError(f"{algorithm.title} has one iteration, and the poses are of {iterations}; give the last.")
        return found.unsqueeze(0)
    found = _numbers(shares, algorithm.shares, iterations=iterations, images=batch, lower=None, upper=upper)
    if float(found.min()) < -ROUNDING:
        raise AdoptError(f"The {algorithm.shares} are negative somewhere; give shares of 0 to 1.")
    found = found.clamp(min=0)
    # So many numbers of few digits add up to 1 only nearly.
    coarse = shares.is_floating_point() and torch.finfo(shares.dtype).eps > ROUNDING / 10
    total = found.sum(-1, keepdim=True)
    off = float((total - 1).abs().max())
    if coarse and off <= 4 * torch.finfo(shares.dtype).eps:
        return found / total
    if off > ROUNDING:
        raise AdoptError(
            f"The {algorithm.shares} of a lower capsule add up over the upper ones to 1 within {off:.2g}, not "
            f"{ROUNDING:g}; give shares that are normalised over the last axis, the upper capsules."
        )
    return found


def _check_steps(
    algorithm: Algorithm, steps: dict[str, Tensor], sizes: Mapping[str, int], iterations: int, played: bool
) -> None:
    """Raise AdoptError for steps of another shape or that no routing gives, and for those that a board lacks."""
    axes = step_axes(algorithm.step)
    for name, value in steps.items():
        if name not in axes:
            raise AdoptError(f"No number of {algorithm.title} is called {name!r}; choose among {', '.join(axes)}.")
        named = {"images" if axis == "batch" else axis: sizes[axis] for axis in axes[name]}
        _check_shape(value, name, iterations=iterations, **named)
    if "activations" not in steps:
        raise AdoptError(f"{algorithm.title} needs the activations of every iteration; give them by name.")
    missing = [name for name in algorithm.played if name not in steps] if played else []
    if missing:
        raise AdoptError(
            f"{algorithm.title} with votes needs {' and '.join(missing)} of every iteration; give them by name, or "
            "leave out the votes."
        )
    longest = float(steps[algorithm.pose].norm(dim=-1).max()) if algorithm.squashed else 0.0
    if longest > 1 + COARSE:
        raise AdoptError(f"The {algorithm.pose} are up to {longest:.4g} long; give them squashed, to at most 1.")
    _check_shown(steps["activations"], "activations")
    if "variances" in steps and not bool((steps["variances"] > 0).all()):
        raise AdoptError("The variances are not all above 0; give σ² of every Gaussian, with the floor that was used.")


def _numbers(value: Tensor, name: str, **axes: int | None) -> Tensor:
    """A tensor of its own on the CPU in float32, its shape and numbers checked; None for an axis: any size.

    Without axes the shape may be any.
    """
    found = device.results(tensor_of(value, name, AdoptError)).float().clone(memory_format=torch.contiguous_format)
    if axes:
        _check_shape(found, name, **axes)
    if not all_finite(found):
        raise AdoptError(f"The {name} hold numbers that are not finite; record them where they still are.")
    return found


def _check_shape(value: Tensor, name: str, **axes: int | None) -> None:
    sizes = axes.values()
    if value.ndim != len(axes) or any(size not in (None, own) for own, size in zip(value.shape, sizes, strict=True)):
        wanted = (axis if size is None else f"{axis} ({size})" for axis, size in axes.items())
        raise _misfit(name, value, " × ".join(wanted))


def _check_some(value: Tensor, name: str) -> None:
    if not value.numel():
        raise AdoptError(f"There is nothing in the {name}; give at least one image, one capsule and one iteration.")


def _check_overflow(steps: Mapping[str, Tensor], votes: Tensor | None) -> None:
    """Raise AdoptError where what follows from finite numbers is not finite."""
    for name, value in steps.items():
        if not all_finite(value):
            what = "poses" if votes is None else "votes"
            raise AdoptError(f"The {what} are so large that the {name} overflow; scale them down.")


def _check_shown(value: Tensor, name: str) -> None:
    """Raise AdoptError for what says how likely a capsule's entity is there, and is beyond 0..1."""
    if float(value.min()) < -COARSE or float(value.max()) > 1 + COARSE:
        raise AdoptError(f"The {name} are not in 0..1; give how likely each capsule's part or object is there.")


def _misfit(name: str, value: Tensor, wanted: str) -> AdoptError:
    shape = written(tuple(value.shape)).removeprefix("of ")
    return AdoptError(f"The {name} are {shape} and {wanted} is wanted; bring them into that form.")
