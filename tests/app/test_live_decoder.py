"""What goes to the browser and what comes back from it, without a browser."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from app.components.live_decoder import live_decoder, pack_weights, read_header, received
from capsviz import zoo
from capsviz.network import CapsNet, preset
from capsviz.perturb import PerturbError


def unpack(packed: bytes) -> list[torch.Tensor]:
    """Weight "output input" and bias of each layer, as the layout in `pack_weights` says."""
    header = read_header(packed)
    start = 4 + int.from_bytes(packed[:4], "little")
    assert start % 4 == 0  # where a Float32Array may begin
    numbers = np.frombuffer(packed[start:], {"float16": "<f2", "float32": "<f4"}[header["dtype"]]).astype(np.float32)
    tensors, at = [], 0
    for inputs, outputs in zip(header["widths"][:-1], header["widths"][1:], strict=True):
        tensors.append(torch.from_numpy(numbers[at : at + inputs * outputs].reshape(inputs, outputs).T.copy()))
        tensors.append(torch.from_numpy(numbers[at + inputs * outputs : at + (inputs + 1) * outputs].copy()))
        at += (inputs + 1) * outputs
    assert at == len(numbers)
    return tensors


@pytest.mark.parametrize(("trained", "dtype"), [(True, "float16"), (False, "float32")])
def test_packed_weights_are_the_weights_of_the_decoder_to_the_last_bit(trained: bool, dtype: str):
    model = zoo.load("digits-dr") if trained else CapsNet(preset("tiny", "digits", "l2"))
    packed = pack_weights(model)
    header = read_header(packed)
    assert header["dtype"] == dtype  # the zoo keeps float16, in which nothing of it is lost
    assert header["widths"] == [160, *model.config.decoder, 28 * 28]
    assert (header["image"], header["classes"], header["dim"]) == ([1, 28, 28], 10, 16)
    for ours, theirs in zip(unpack(packed), model.decoder.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_packing_is_a_function_of_the_weights():
    model = CapsNet(preset("tiny", "digits", "dr"))
    before = pack_weights(model)
    assert pack_weights(model) == before
    with torch.no_grad():
        model.decoder.layers[0].bias[0] += 1
    assert read_header(pack_weights(model))["digest"] != read_header(before)["digest"]


def test_a_model_without_a_decoder_says_so():
    with pytest.raises(PerturbError, match="without a decoder"):
        pack_weights(CapsNet(preset("tiny", "digits", "dr", decoder=False)))


def test_offsets_arrive_to_two_decimals():
    assert received([0.05, -0.25000001], 2, 0.25) == (0.05, -0.25)


@pytest.mark.parametrize("value", [None, "0.1", {}, [0.1], [0.1, "0.2"], [0.1, 0.3], [0.1, float("nan")], [0.1, None]])
def test_what_cannot_be_offsets_is_none(value):
    assert received(value, 2, 0.25) is None


@pytest.mark.parametrize(
    ("poses", "upper", "offsets", "sentence"),
    [
        ({}, 0, 16, "for each title"),
        ({"DR": torch.zeros(10, 8)}, 0, 16, "10 capsules of 16 numbers"),
        ({"DR": torch.zeros(10, 16)}, 10, 16, "no class 10"),
        ({"DR": torch.zeros(10, 16)}, 0, 3, "16 dimensions"),
    ],
)
def test_a_capsule_that_does_not_fit_the_decoder_says_so(poses, upper, offsets, sentence):
    packed = pack_weights(CapsNet(preset("tiny", "digits", "dr")))
    with pytest.raises(PerturbError, match=sentence):
        live_decoder({"DR": packed}, poses, upper, (0.0,) * offsets, wide=False, key="live")
