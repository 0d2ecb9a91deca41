"""Traces of networks that are not ours: bare votes, routed here; or steps that another program took and recorded.

trace = capsviz.record(images, votes, "dr", iterations=3, grid=(6, 6, 32), field=(17, 2))
trace = capsviz.Trace.from_steps("dr", couplings, poses, votes=votes, images=images)
trace.save("mine.safetensors")                    (in traces/ the app offers it as the source Recorded)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from capsviz import device
from capsviz.errors import CapsvizError
from capsviz.network import strongest
from capsviz.network.config import CapsNetConfig, ConfigError, Window
from capsviz.network.recorded import RecordedConfig
from capsviz.routing import ALGORITHMS, Algorithm, DenseVotes, LayerSizes
from capsviz.tracing.layout import step_shapes

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
    iterations: int = 3,
    weights: Mapping[str, Tensor] | None = None,
    activations: Float[Tensor, "batch lower"] | None = None,
    lower_poses: Float[Tensor, "batch lower d"] | None = None,
    grid: tuple[int, int, int] | None = None,
    field: tuple[int, int] | None = None,
    decoder: Draw | None = None,
    name: str = "bare votes",
    classes: tuple[str, ...] | None = None,
) -> Trace:
    """Route bare votes and record every iteration, as `capsviz.trace` does for a network of ours.

    images: "batch channel height width" in 0..1 for the captions, or None. votes: "batch lower upper dim". routing: a
    key of `ALGORITHMS`; weights: what that algorithm has learned beside the votes, by name ("beta_u", "coefficients",
    …). activations of the lower capsules: 1 unless given. The rest as in `Trace.from_steps`. Raises AdoptError, in one
    sentence, for shapes that do not fit, numbers that are not finite, weights that are missing, and images out of 0..1.
    """
    from capsviz.tracing.trace import stacked

    algorithm = _algorithm(routing)
    votes = _numbers(votes, "votes", (None, None, None, None))
    batch, lower, upper, dim = votes.shape
    presence = _numbers(torch.ones(batch, lower) if activations is None else activations, "activations", (batch, lower))
    if bool(((presence < -ROUNDING) | (presence > 1 + ROUNDING)).any()):
        raise AdoptError("The activations are not in 0..1; give how likely each lower capsule is there.")
    _check_some(votes)
    config = _config(algorithm, images, (batch, lower, upper, dim), lower_poses, grid, field, iterations)
    owner = _owner(algorithm, config, lower, upper, dim, weights or {})
    with torch.no_grad():
        found = algorithm.route(owner, DenseVotes(votes), presence, config, iterations=iterations, record=True)
        steps = stacked(list(found))
    return _trace(config, images, steps, votes, presence, lower_poses, decoder, name, classes)


def same_votes(trace: Trace, routing: str, *, iterations: int = 3) -> Trace:
    """The votes of a trace, routed by another algorithm, with what that is before any training (`unlearned`).

    A lower capsule counts as much as it did in the trace. Raises AdoptError where the trace holds no votes, or has
    several layers of capsules, and where the algorithm says nothing without training.
    """
    algorithm, layer = _algorithm(routing), trace.layer
    if layer.votes is None or len(trace.layers) > 1:
        raise AdoptError(f"{trace.name} holds no votes of all its capsules for all classes; record them as well.")
    _, lower, upper, _ = layer.votes.shape
    weights = algorithm.unlearned(lower, upper)
    if weights is None:
        raise AdoptError(f"{algorithm.title} reads the classes by what it has learned; choose another algorithm.")
    found = record(
        trace.images,
        layer.votes,
        routing,
        iterations=iterations,
        weights=weights,
        activations=trace.primary_activations,
        lower_poses=trace.primary_poses,
        grid=trace.grid,
        name=trace.name,
        classes=trace.classes,
    )
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
    others are computed. Raises AdoptError, in one sentence, for shapes that do not fit, numbers that are not finite,
    shares that do not add up to 1, and numbers that are missing.
    """
    algorithm = _algorithm(routing)
    votes = None if votes is None else _numbers(votes, "votes", (None, None, None, None))
    poses = _numbers(poses, "poses", (None, None, None, None))
    _check_some(poses)
    iterations, batch, upper, dim = poses.shape
    shares = _shares(algorithm, shares, (iterations, batch, upper))
    lower = shares.shape[-2]
    if votes is not None and tuple(votes.shape) != (batch, lower, upper, dim):
        raise AdoptError(_misfit("votes", votes.shape, (batch, lower, upper, dim)))
    config = _config(algorithm, images, (batch, lower, upper, dim), lower_poses, grid, field, iterations)
    ones = torch.ones(batch, lower)
    presence = _numbers(ones if lower_activations is None else lower_activations, "lower_activations", (batch, lower))
    given = {name: _numbers(value, name, None) for name, value in further.items()}
    steps = algorithm.complete({algorithm.shares: shares, algorithm.pose: poses, **given}, votes, presence)
    sizes = {"batch": batch, "lower": lower, "upper": upper, "dim": dim}
    _check_steps(algorithm, steps, sizes, iterations, played=votes is not None)
    return _trace(config, images, steps, votes, presence, lower_poses, decoder, name, classes)


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

    if classes is not None and len(classes) != config.classes:
        raise AdoptError(f"There are {config.classes} upper capsules and {len(classes)} names; give one for each.")
    poses, activations = steps[config.algorithm.pose][-1], steps["activations"][-1]
    batch = len(poses)
    shown = torch.zeros(batch, *config.image) if images is None else images
    layer = LayerTrace(config.routing, steps, votes, config.grid, (1, 1, config.classes))
    return Trace(
        config=config,
        name=name,
        classes=classes or tuple(str(number) for number in range(config.classes)),
        images=_numbers(shown, "images", (batch, *config.image)),
        primary_poses=torch.zeros(batch, config.lower, 0) if lower_poses is None else _numbers(lower_poses, "", None),
        primary_activations=presence,
        layers=(layer,),
        poses=poses,
        activations=activations,
        reconstruction=None if decoder is None else _drawn(decoder, poses, activations, config.image),
    )


def _drawn(decoder: Draw, poses: Tensor, activations: Tensor, image: tuple[int, int, int]) -> Tensor:
    """What a decoder draws of the most active capsule of each image, the others set to zero."""
    mask = torch.nn.functional.one_hot(strongest(activations)[:, 0], poses.shape[1]).to(poses.dtype)
    with torch.no_grad():
        drawn = decoder(poses * mask.unsqueeze(-1))
    return _numbers(drawn, "what the decoder draws", (len(poses), *image))


def _algorithm(routing: str) -> Algorithm:
    if routing not in ALGORITHMS:
        raise AdoptError(f"No routing is called {routing!r}; choose one of {', '.join(ALGORITHMS)}.")
    return ALGORITHMS[routing]


def _config(
    algorithm: Algorithm,
    images: Tensor | None,
    sizes: tuple[int, int, int, int],
    lower_poses: Tensor | None,
    grid: tuple[int, int, int] | None,
    field: tuple[int, int] | None,
    iterations: int,
) -> RecordedConfig:
    batch, lower, upper, dim = sizes
    image = (1, 28, 28)
    if images is not None:
        images = _numbers(images, "images", (batch, None, None, None))
        if images.shape[1] not in (1, 3) or float(images.min()) < 0 or float(images.max()) > 1:
            raise AdoptError("The images are not gray or colour in 0..1; give them as the network's pixels, unscaled.")
        image = (images.shape[1], images.shape[2], images.shape[3])
    lattice = grid or (1, 1, lower)
    if len(lattice) != 3 or math.prod(lattice) != lower:
        shape = " × ".join(map(str, lattice))
        raise AdoptError(f"The grid {shape} is not that of {lower} lower capsules; give rows, columns and types.")
    if lower_poses is not None:
        _numbers(lower_poses, "lower_poses", (batch, lower, None))
    seen = None if field is None else (Window(*field), Window(*field))
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
            lattice=lattice,
            seen=seen,
        )
    except ConfigError as error:
        raise AdoptError(str(error)) from error


def _owner(
    algorithm: Algorithm, config: CapsNetConfig, lower: int, upper: int, dim: int, weights: Mapping[str, Tensor]
) -> SimpleNamespace:
    """What owns the weights that an algorithm has beside those of the votes: the given ones, all of them."""
    module = nn.Module()
    with torch.random.fork_rng(devices=[]):
        algorithm.add_weights(module, LayerSizes(lower, dim, upper, dim, torch.zeros(lower, 2)), config)
    saved = {name: value for name, value in module.state_dict().items() if name != "transform"}
    if saved.keys() != set(weights):
        wanted = ", ".join(f"{name} {tuple(value.shape)}" for name, value in saved.items())
        what = f"weights={{…}} with {wanted}" if wanted else "no weights"
        raise AdoptError(f"{algorithm.title} of bare votes takes {what}; give those that the network has learned.")
    shaped = {name: _numbers(weights[name], name, tuple(value.shape)) for name, value in saved.items()}
    return SimpleNamespace(**shaped)


def _shares(algorithm: Algorithm, shares: Tensor, sizes: tuple[int, int, int]) -> Tensor:
    """The shares in the shape of a trace, checked."""
    iterations, batch, upper = sizes
    shares = torch.as_tensor(shares)
    if algorithm.share is None:
        found = _numbers(shares, algorithm.shares, (None, upper))
        if iterations != 1:
            raise AdoptError(f"{algorithm.title} has one iteration, and the poses are of {iterations}; give the last.")
        return found.unsqueeze(0)
    found = _numbers(shares, algorithm.shares, (iterations, batch, None, upper))
    if float(found.min()) < -ROUNDING:
        raise AdoptError(f"The {algorithm.shares} are negative somewhere; give shares of 0 to 1.")
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
    """Raise AdoptError for steps of another shape, and where a board could be played and numbers for it are missing."""
    shapes = step_shapes(algorithm, sizes, iterations)
    for name, value in steps.items():
        if name not in shapes:
            raise AdoptError(f"No number of {algorithm.title} is called {name!r}; choose among {', '.join(shapes)}.")
        if tuple(value.shape) != shapes[name]:
            raise AdoptError(_misfit(name, value.shape, shapes[name]))
    if "activations" not in steps:
        raise AdoptError(f"{algorithm.title} needs the activations of every iteration; give them by name.")
    missing = [name for name in algorithm.played if name not in steps] if played else []
    if missing:
        raise AdoptError(
            f"{algorithm.title} with votes needs {' and '.join(missing)} of every iteration; give them by name, or "
            "leave out the votes."
        )


def _numbers(value: Tensor, name: str, shape: tuple[int | None, ...] | None) -> Tensor:
    """A tensor of its own on the CPU in float32, its shape and numbers checked; None in a shape: any size."""
    found = device.results(torch.as_tensor(value)).float().clone(memory_format=torch.contiguous_format)
    if shape is not None and not (
        found.ndim == len(shape) and all(size in (None, own) for own, size in zip(found.shape, shape, strict=True))
    ):
        raise AdoptError(_misfit(name, found.shape, shape))
    if not bool(found.isfinite().all()):
        raise AdoptError(f"The {name} hold numbers that are not finite; record them where they still are.")
    return found


def _check_some(value: Tensor) -> None:
    if not value.numel():
        raise AdoptError("There is nothing to record; give at least one image and one iteration.")


def _misfit(name: str, shape: tuple[int, ...] | torch.Size, wanted: tuple[int | None, ...]) -> str:
    given, asked = (" × ".join("any" if size is None else str(size) for size in each) for each in (shape, wanted))
    return f"The {name} are {given or 'a single number'} and {asked} is wanted; bring them into that form."
