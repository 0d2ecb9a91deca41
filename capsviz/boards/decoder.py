"""The live decoder: what draws a class capsule, and the capsules that it draws, as the browser takes them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from capsviz.analysis.perturbation import NO_DECODER, PerturbError, lerp, masked, slerp, unit
from capsviz.boards.checks import is_index, is_number
from capsviz.boards.message import Message, pack, unpack
from capsviz.boards.theme import theme
from capsviz.network import CapsNet

HANDS: tuple[str, ...] = ("sliders", "cells", "walk")
"""How a capsule is moved: number by number, on a grid of all capsules, or on the way to another one."""
OWN = -1
"""Where a walk ends, in place of an exemplar: what this image's own capsule of that class is."""
NARROW, WIDE = 0.25, 1.0
"""How far offsets reach: as in the paper (Sabour, Frosst & Hinton 2017, Figure 4), and four times as far."""
STEP = 0.05
"""What a slider moves by, as in the paper."""


@dataclass(frozen=True)
class Left:
    """What the visitor left the decoder at."""

    upper: int
    """The class capsule that is drawn."""
    offsets: tuple[float, ...]
    """What is added to each of its dimensions, in the decoder's unit."""
    to: tuple[int, int] = (0, 0)
    """Where a walk ends: a class, and the number of one of its exemplars, or `OWN` for this image's own capsule."""
    share: float = 0.0
    """How far the walk is, 0 to 1."""
    sphere: bool = False
    """Along the sphere instead of straight on."""
    picked: bool = False
    """Whether the class was chosen on the decoder itself; else it is as the host said last."""


def pack_weights(
    model: CapsNet,
    exemplars: Float[Tensor, "upper exemplar dim"] | None = None,
    spread: Float[Tensor, "upper dim"] | None = None,
    means: Float[Tensor, "upper dim"] | None = None,
    poses: Float[Tensor, "upper dim"] | None = None,
) -> bytes:
    """The decoder of a model as a packed message, which goes to the browser once.

    exemplars and spread: class capsules of real images and how much they vary (`zoo.exemplar_capsules`,
    `zoo.capsule_spread`), both or none; without them there are sliders only. means: the mean capsule of each class
    (`Predictions.class_means`); without them the cells show numbers instead of standard deviations. poses: class
    capsules that say how long they are where there are no exemplars.
    The one array holds layer by layer the weight, "input output", and the bias, then exemplars, spread and means, in
    float16 where that loses nothing. Capsules that are much longer than 1 are divided by their `perturbation.unit`, by
    which the first weights are multiplied; the fields say it (`header`).
    To be cached by the caller: packing 1.4 million weights takes some tens of milliseconds.
    Raises PerturbError for a model without a decoder.
    """
    if model.decoder is None:
        raise PerturbError(NO_DECODER)
    layers = [layer for layer in model.decoder.layers if isinstance(layer, nn.Linear)]
    # Transposed: an input of zero, and the ReLU leaves many, then skips one run of neighbouring numbers.
    tensors = [tensor for layer in layers for tensor in (layer.weight.T, layer.bias)]
    length = 1.0 if poses is None else unit(poses)
    if exemplars is not None and spread is not None:
        length = unit(exemplars)
        tensors += [exemplars / length, spread / length, *([] if means is None else [means / length])]
    tensors[0] = tensors[0] * length
    numbers = np.concatenate([tensor.detach().cpu().float().numpy().ravel() for tensor in tensors])
    with np.errstate(over="ignore"):
        halves = numbers.astype(np.float16)
    if (halves == numbers).all():
        numbers = halves
    fields = {
        "widths": [layers[0].in_features, *(layer.out_features for layer in layers)],
        "image": list(model.config.image),
        "classes": model.config.classes,
        "dim": model.config.class_dim,
        "exemplars": 0 if exemplars is None or spread is None else exemplars.shape[1],
        "means": exemplars is not None and spread is not None and means is not None,
        "unit": length,
    }
    digest = hashlib.sha256(pack(fields, {"numbers": numbers})).hexdigest()[:32]
    return pack({"weights": {**fields, "digest": digest}}, {"numbers": numbers})


def header(weights: bytes) -> dict[str, Any]:
    """What `pack_weights` says of the weights: widths, image, classes, dim, exemplars, means, unit, digest."""
    return unpack(weights).fields["weights"]


def decoder_message(
    decoders: Mapping[str, bytes],
    poses: Mapping[str, Float[Tensor, "upper dim"]],
    left: Left,
    *,
    wide: bool,
    hand: str = "sliders",
    classes: Sequence[str] | None = None,
    labels: Sequence[Sequence[str]] = (),
    lead: str | None = None,
    present: Mapping[str, Sequence[int]] | None = None,
    dark: bool = False,
) -> Message:
    """A class capsule moved by hand, and what each decoder draws of it, live while it moves.

    decoders: packed weights by title, side by side, which the browser gets as messages of their own; poses: class
    capsules by the same titles, "upper dim"; left: where everything stands, the same for all. hand: one of `HANDS`.
    wide: offsets reach 1 instead of 0.25. classes: their names; labels: for each class a word per dimension, or "";
    lead: whose capsules grid and strips show, the first one's unless given. present: by title the classes of an image
    that shows several objects; while one of them moves, the others stand by, each in the colour of its class.
    Raises PerturbError where titles differ, a decoder takes other capsules, or `left` or `hand` do not fit them.
    """
    headers = {title: header(packed) for title, packed in decoders.items()}
    _check(headers, poses, left, hand)
    first = next(iter(headers.values()))
    fields = {
        "decoders": [
            {
                "title": title,
                "digest": own["digest"],
                "unit": own["unit"],
                "poses": (poses[title] / own["unit"]).tolist(),
                "present": list((present or {}).get(title, ())),
            }
            for title, own in headers.items()
        ],
        "state": {**asdict(left), "offsets": [round(float(offset), 2) for offset in left.offsets]},
        "hand": hand,
        "lead": 0 if lead is None else list(headers).index(lead),
        "classes": list(classes or map(str, range(first["classes"]))),
        "labels": [list(words) for words in labels],
        "reach": WIDE if wide else NARROW,
        "step": STEP,
        "theme": theme(dark, first["classes"]),
    }
    return Message(fields, {})


def _check(headers: Mapping[str, dict[str, Any]], poses: Mapping[str, Tensor], left: Left, hand: str) -> None:
    if not headers or set(headers) != set(poses):
        raise PerturbError("Give one decoder and one set of class capsules for each title.")
    if hand not in HANDS:
        raise PerturbError(f"A capsule is not moved by {hand!r}; choose one of {', '.join(HANDS)}.")
    for title, own in headers.items():
        if tuple(poses[title].shape) != (own["classes"], own["dim"]):
            raise PerturbError(
                f"The decoder of {title} draws {own['classes']} capsules of {own['dim']} numbers; its capsules "
                f"are {tuple(poses[title].shape)}. Give the decoder of the model that they come from."
            )
        if not (0 <= left.upper < own["classes"] and 0 <= left.to[0] < own["classes"]):
            unknown = left.to[0] if 0 <= left.upper < own["classes"] else left.upper
            raise PerturbError(f"{title} has no class {unknown}; choose one from 0 to {own['classes'] - 1}.")
        if len(left.offsets) != own["dim"]:
            raise PerturbError(
                f"The capsule has {own['dim']} dimensions; give as many offsets, not {len(left.offsets)}."
            )
        if hand != "sliders" and not OWN <= left.to[1] < own["exemplars"]:
            raise PerturbError(
                f"{title} was packed with {own['exemplars']} exemplars per class, which {hand} needs; say "
                'hand="sliders", or add the model to the zoo.'
            )


def walked(
    poses: Float[Tensor, "upper dim"], exemplars: Float[Tensor, "upper exemplar dim"], left: Left
) -> Float[Tensor, "upper dim"]:
    """What a decoder draws on the way of a walk: zero but for the classes at its two ends.

    poses: the class capsules of the image; both and the result in the decoder's unit.
    """
    label, number = left.to
    begun = poses[left.upper] + torch.tensor(left.offsets, dtype=poses.dtype)
    ended = poses[label] if number == OWN else exemplars[label, number]
    start, end = masked(begun[None], left.upper, len(poses))[0], masked(ended[None], label, len(poses))[0]
    return (slerp if left.sphere else lerp)(start, end, left.share)


def received(value: Any, own: Mapping[str, Any], reach: float) -> Left | None:
    """What the browser sent, offsets and share to two decimals; None where it is nothing that can be left there.

    own: the `header` of the decoder; reach: how far offsets reach.
    """
    if not isinstance(value, dict):
        return None
    upper, offsets, to, share = (value.get(name) for name in ("upper", "offsets", "to", "share"))
    fits = (
        is_index(upper, own["classes"])
        and isinstance(offsets, list)
        and len(offsets) == own["dim"]
        and all(is_number(offset, -reach - 1e-6, reach + 1e-6) for offset in offsets)
        and isinstance(to, list)
        and len(to) == 2
        and is_index(to[0], own["classes"])
        and type(to[1]) is int
        and OWN <= to[1] < max(1, own["exemplars"])
        and is_number(share, -1e-6, 1 + 1e-6)
    )
    if not fits:
        return None
    rounded = tuple(round(float(offset), 2) for offset in value["offsets"])
    to, share = tuple(value["to"]), round(float(value["share"]), 2)
    return Left(value["upper"], rounded, to, share, value.get("sphere") is True, value.get("picked") is True)
