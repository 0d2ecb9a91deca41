"""The decoder, live in the browser: sixteen sliders, and no call to the server while one of them moves."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import streamlit as st
from jaxtyping import Float
from torch import Tensor, nn

from app.session import NARROW, WIDE
from capsviz.figures.theme import DIVERGING, DIVERGING_DARK
from capsviz.network import CapsNet
from capsviz.perturb import PerturbError

_FILES = Path(__file__).with_suffix("")
_HEADER = np.dtype("<u4")
STEP = 0.05
"""What a slider moves by, as in the paper."""


def pack_weights(model: CapsNet) -> bytes:
    """The decoder of a model as bytes: what `live_decoder` sends to the browser once.

    Layout: the length of the header (4 bytes, little-endian), the header (JSON, padded with spaces to a multiple of 4),
    then layer by layer the weight, "input output", and the bias, in float16 where that loses nothing, else in float32.
    To be cached by the caller: packing 1.4 million weights takes some tens of milliseconds.
    Raises PerturbError for a model without a decoder.
    """
    if model.decoder is None:
        raise PerturbError("This model was trained without a decoder; choose one whose name does not end in -fc.")
    layers = [layer for layer in model.decoder.layers if isinstance(layer, nn.Linear)]
    # Transposed: an input of zero, and the ReLU leaves many, then skips one run of neighbouring numbers.
    tensors = [tensor for layer in layers for tensor in (layer.weight.T, layer.bias)]
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
        "dtype": "float16" if exact else "float32",
    }
    digest = hashlib.sha256(json.dumps(header).encode() + payload).hexdigest()[:32]
    text = json.dumps({**header, "digest": digest}).encode()
    text += b" " * (-len(text) % 4)
    return np.array(len(text), _HEADER).tobytes() + text + payload


def read_header(packed: bytes) -> dict:
    """What `pack_weights` wrote in front of the weights: widths, image, classes, dim, dtype, digest."""
    size = int(np.frombuffer(packed, _HEADER, 1)[0])
    return json.loads(packed[_HEADER.itemsize : _HEADER.itemsize + size])


def received(value: object, dimensions: int, reach: float) -> tuple[float, ...] | None:
    """The offsets that the browser sent, to two decimals; None where it sent nothing, or nothing that can be one."""
    if not isinstance(value, list) or len(value) != dimensions:
        return None
    if not all(isinstance(number, (int, float)) and abs(number) <= reach + 1e-6 for number in value):
        return None
    return tuple(round(float(number), 2) for number in value)


def live_decoder(
    decoders: Mapping[str, bytes],
    poses: Mapping[str, Float[Tensor, "upper dim"]],
    upper: int,
    offsets: Sequence[float],
    *,
    wide: bool,
    key: str,
    on_change: Callable[[tuple[float, ...]], None] | None = None,
) -> tuple[float, ...] | None:
    """Sliders for the dimensions of class capsule `upper`, and what each decoder draws of it, live while they move.

    decoders: packed weights by title, side by side; poses: class capsules by the same titles, "upper dim"; offsets:
    what is added to each dimension, the same for all; wide: the sliders reach 1 instead of 0.25. on_change gets the
    offsets that the visitor left the sliders at, as a callback before the script runs again.
    Returns these offsets in the run that they caused, else None: they live with the caller, not here.
    Raises PerturbError where titles differ, a decoder takes other capsules, or the offsets do not fit them.
    """
    reach = WIDE if wide else NARROW
    headers = {title: read_header(packed) for title, packed in decoders.items()}
    _check(headers, poses, upper, offsets)
    mount = st.components.v2.component(  # the same definition each time, so that a new runtime knows it as well
        "capsviz_live_decoder",
        js=_FILES.with_suffix(".js").read_text(encoding="utf-8"),
        css=_FILES.with_suffix(".css").read_text(encoding="utf-8"),
    )

    def changed() -> None:
        sent = received(st.session_state[key].get("offsets"), len(offsets), reach)
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
                    {"title": title, "digest": header["digest"], "pose": poses[title][upper].tolist()}
                    for title, header in headers.items()
                ],
                "upper": upper,
                "offsets": [round(float(offset), 2) for offset in offsets],
                "reach": reach,
                "step": STEP,
                "scales": {"light": DIVERGING, "dark": DIVERGING_DARK},
            },
            key=key,
            on_offsets_change=changed,
        )
    return received(result.get("offsets"), len(offsets), reach)


def _check(headers: Mapping[str, dict], poses: Mapping[str, Tensor], upper: int, offsets: Sequence[float]) -> None:
    if not headers or set(headers) != set(poses):
        raise PerturbError("Give one decoder and one set of class capsules for each title.")
    for title, header in headers.items():
        if tuple(poses[title].shape) != (header["classes"], header["dim"]):
            raise PerturbError(
                f"The decoder of {title} draws {header['classes']} capsules of {header['dim']} numbers; its capsules "
                f"are {tuple(poses[title].shape)}. Give the decoder of the model that they come from."
            )
        if not 0 <= upper < header["classes"]:
            raise PerturbError(f"{title} has no class {upper}; choose one from 0 to {header['classes'] - 1}.")
        if len(offsets) != header["dim"]:
            raise PerturbError(f"The capsule has {header['dim']} dimensions; give as many offsets, not {len(offsets)}.")
