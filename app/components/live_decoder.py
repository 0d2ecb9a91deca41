"""The decoder, live in the browser: a class capsule moved by hand, and no call to the server while it moves."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import streamlit as st
from jaxtyping import Float
from torch import Tensor, nn

from app.choices import HANDS, NARROW, OWN, WIDE
from app.components.bundle import component, hear, heard
from capsviz.figures.theme import DIVERGING, DIVERGING_DARK
from capsviz.network import CapsNet
from capsviz.perturb import NO_DECODER, PerturbError, unit

SCRIPTS = (
    "shared/canvas.js",
    "shared/mount.js",
    "shared/told.js",
    "shared/transport.js",
    "live/network.js",
    "live/pixels.js",
    "live/sliders.js",
    "live/cells.js",
    "live/walk.js",
    "live_decoder.js",
)
STYLES = ("shared/transport.css", "live_decoder.css")
_HEADER = np.dtype("<u4")
STEP = 0.05
"""What a slider moves by, as in the paper."""


@dataclass(frozen=True)
class Left:
    """What the visitor left the component at."""

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


def pack_weights(
    model: CapsNet,
    exemplars: Float[Tensor, "upper exemplar dim"] | None = None,
    spread: Float[Tensor, "upper dim"] | None = None,
    means: Float[Tensor, "upper dim"] | None = None,
) -> bytes:
    """The decoder of a model as bytes: what `live_decoder` sends to the browser once.

    exemplars and spread: class capsules of real images and how much they vary (`zoo.exemplars`, `zoo.capsule_spread`),
    both or none; without them there are sliders only. means: the mean capsule of each class
    (`Measured.class_means`); without them the cells show numbers instead of standard deviations.
    Layout: the length of the header (4 bytes, little-endian), the header (JSON, padded with spaces to a multiple of
    4), then layer by layer the weight, "input output", and the bias, then exemplars, spread and means, in float16 where
    that loses nothing, else in float32. Capsules that are much longer than 1 are divided by their `perturb.unit`, by
    which the first weights are multiplied; the header says it.
    To be cached by the caller: packing 1.4 million weights takes some tens of milliseconds.
    Raises PerturbError for a model without a decoder.
    """
    if model.decoder is None:
        raise PerturbError(NO_DECODER)
    layers = [layer for layer in model.decoder.layers if isinstance(layer, nn.Linear)]
    # Transposed: an input of zero, and the ReLU leaves many, then skips one run of neighbouring numbers.
    tensors = [tensor for layer in layers for tensor in (layer.weight.T, layer.bias)]
    length = 1.0
    if exemplars is not None and spread is not None:
        length = unit(exemplars)
        tensors += [exemplars / length, spread / length, *([] if means is None else [means / length])]
        tensors[0] = tensors[0] * length
    numbers = np.concatenate([tensor.detach().cpu().float().numpy().ravel() for tensor in tensors])
    with np.errstate(over="ignore"):
        halves = numbers.astype("<f2")
    exact = bool((halves == numbers).all())
    payload = (halves if exact else numbers.astype("<f4")).tobytes()
    header = {
        "widths": [layers[0].in_features, *(layer.out_features for layer in layers)],
        "image": list(model.config.image),
        "classes": model.config.classes,
        "dim": model.config.class_dim,
        "exemplars": 0 if exemplars is None or spread is None else exemplars.shape[1],
        "means": exemplars is not None and spread is not None and means is not None,
        "unit": length,
        "dtype": "float16" if exact else "float32",
    }
    digest = hashlib.sha256(json.dumps(header).encode() + payload).hexdigest()[:32]
    text = json.dumps({**header, "digest": digest}).encode()
    text += b" " * (-len(text) % 4)
    return np.array(len(text), _HEADER).tobytes() + text + payload


def read_header(packed: bytes) -> dict:
    """What `pack_weights` wrote in front of the weights: widths, image, classes, dim, means, unit, dtype, digest."""
    size = int(np.frombuffer(packed, _HEADER, 1)[0])
    return json.loads(packed[_HEADER.itemsize : _HEADER.itemsize + size])


def received(value: Any, header: Mapping[str, Any], reach: float) -> Left | None:
    """What the browser sent, offsets and share to two decimals; None where it is nothing that can be left there."""
    if not isinstance(value, dict):
        return None
    upper, offsets, to, share = (value.get(name) for name in ("upper", "offsets", "to", "share"))
    fits = (
        _place(upper, 0, header["classes"])
        and isinstance(offsets, list)
        and len(offsets) == header["dim"]
        and all(_number(offset, -reach, reach) for offset in offsets)
        and isinstance(to, list)
        and len(to) == 2
        and _place(to[0], 0, header["classes"])
        and _place(to[1], OWN, max(1, header["exemplars"]))
        and _number(share, 0, 1)
    )
    if not fits:
        return None
    rounded = tuple(round(float(offset), 2) for offset in value["offsets"])
    return Left(
        value["upper"], rounded, tuple(value["to"]), round(float(value["share"]), 2), value.get("sphere") is True
    )


def _number(value: object, low: float, high: float) -> bool:
    return isinstance(value, (int, float)) and low - 1e-6 <= value <= high + 1e-6


def _place(value: object, low: int, end: int) -> bool:
    return type(value) is int and low <= value < end


def live_decoder(
    decoders: Mapping[str, bytes],
    poses: Mapping[str, Float[Tensor, "upper dim"]],
    left: Left,
    *,
    wide: bool,
    key: str,
    hand: str = "sliders",
    classes: Sequence[str] | None = None,
    labels: Sequence[Sequence[str]] = (),
    lead: str | None = None,
    on_change: Callable[[Left], None] | None = None,
) -> Left | None:
    """A class capsule moved by hand, and what each decoder draws of it, live while it moves.

    decoders: packed weights by title, side by side; poses: class capsules by the same titles, "upper dim"; left: where
    everything stands, the same for all. hand: `sliders`, `cells` (all capsules as a grid) or `walk` (to another one).
    wide: offsets reach 1 instead of 0.25. classes: their names; labels: for each class a word per dimension, or "";
    lead: whose capsules grid and strips show, the first one's unless given. on_change gets what the visitor left, as a
    callback before the script runs again.
    Returns that in the run that it caused, else None: it lives with the caller, not here.
    Raises PerturbError where titles differ, a decoder takes other capsules, or `left` or `hand` do not fit them.
    """
    reach = WIDE if wide else NARROW
    headers = {title: read_header(packed) for title, packed in decoders.items()}
    _check(headers, poses, left, hand)
    header = next(iter(headers.values()))
    mount = component("capsviz_live_decoder", *SCRIPTS, styles=STYLES)

    def changed() -> None:
        hear(key, "left")
        sent = received(st.session_state[key].get("left"), header, reach)
        if sent is not None and on_change is not None:
            on_change(sent)

    with st.container(gap=None, key=f"{key}-place"):
        # The weights in elements of their own, which stay as they are while a capsule or an offset changes: bytes that
        # the browser has had are not sent again.
        for digest, packed in {headers[title]["digest"]: packed for title, packed in decoders.items()}.items():
            mount(data=packed, key=f"{key}-{digest}")
        result = mount(
            data={
                "decoders": [
                    {"title": title, "digest": header["digest"], "poses": (poses[title] / header["unit"]).tolist()}
                    for title, header in headers.items()
                ],
                "state": {**asdict(left), "offsets": [round(float(offset), 2) for offset in left.offsets]},
                "heard": heard(key, "left"),
                "hand": hand,
                "lead": 0 if lead is None else list(headers).index(lead),
                "classes": list(classes or map(str, range(header["classes"]))),
                "labels": [list(words) for words in labels],
                "reach": reach,
                "step": STEP,
                "scales": {"light": DIVERGING, "dark": DIVERGING_DARK},
            },
            key=key,
            on_left_change=changed,
        )
    return received(result.get("left"), header, reach)


def _check(headers: Mapping[str, dict], poses: Mapping[str, Tensor], left: Left, hand: str) -> None:
    if not headers or set(headers) != set(poses):
        raise PerturbError("Give one decoder and one set of class capsules for each title.")
    if hand not in HANDS:
        raise PerturbError(f"A capsule is not moved by {hand!r}; choose one of {', '.join(HANDS)}.")
    for title, header in headers.items():
        if tuple(poses[title].shape) != (header["classes"], header["dim"]):
            raise PerturbError(
                f"The decoder of {title} draws {header['classes']} capsules of {header['dim']} numbers; its capsules "
                f"are {tuple(poses[title].shape)}. Give the decoder of the model that they come from."
            )
        if not (0 <= left.upper < header["classes"] and 0 <= left.to[0] < header["classes"]):
            unknown = left.to[0] if 0 <= left.upper < header["classes"] else left.upper
            raise PerturbError(f"{title} has no class {unknown}; choose one from 0 to {header['classes'] - 1}.")
        if len(left.offsets) != header["dim"]:
            raise PerturbError(
                f"The capsule has {header['dim']} dimensions; give as many offsets, not {len(left.offsets)}."
            )
        if hand != "sliders" and not OWN <= left.to[1] < header["exemplars"]:
            raise PerturbError(
                f"{title} was packed with {header['exemplars']} exemplars per class, which {hand} needs; give "
                f"`pack_weights` those of the zoo."
            )
