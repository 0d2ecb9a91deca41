"""What goes to the browser and what comes back from it, without a browser."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from app import resources
from app.components.live_decoder import Left, live_decoder, pack_weights, read_header, received
from capsviz import zoo
from capsviz.measured import recorded
from capsviz.network import CapsNet, preset
from capsviz.perturb import PerturbError, unit


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


HEADER = {"classes": 3, "dim": 2, "exemplars": 8}
SENT = {"upper": 2, "offsets": [0.05, -0.25000001], "to": [1, 7], "share": 0.3333, "sphere": True}


def test_offsets_and_share_arrive_to_two_decimals():
    assert received(SENT, HEADER, 0.25) == Left(2, (0.05, -0.25), to=(1, 7), share=0.33, sphere=True)


def test_a_walk_may_end_at_the_images_own_capsule():
    assert received({**SENT, "to": [0, -1]}, HEADER, 0.25).to == (0, -1)


@pytest.mark.parametrize("value", [None, "0.1", {}, [0.1], 3])
def test_what_is_nothing_that_can_be_left_there_is_none(value):
    assert received(value, HEADER, 0.25) is None


@pytest.mark.parametrize(
    "part",
    [
        {"offsets": [0.1]},
        {"offsets": [0.1, "0.2"]},
        {"offsets": [0.1, 0.3]},
        {"offsets": [0.1, float("nan")]},
        {"offsets": [0.1, None]},
        {"upper": 3},
        {"upper": "1"},
        {"upper": True},
        {"to": [3, 0]},
        {"to": [0, 8]},
        {"to": [0]},
        {"to": None},
        {"share": 1.1},
        {"share": -0.1},
        {"share": None},
    ],
)
def test_one_part_that_does_not_fit_makes_it_none(part: dict):
    assert received({**SENT, **part}, HEADER, 0.25) is None


def test_exemplars_and_spread_follow_the_weights():
    model, exemplars, spread = zoo.load("digits-dr"), zoo.exemplars("digits-dr"), zoo.capsule_spread("digits-dr")
    packed, bare = pack_weights(model, exemplars, spread), pack_weights(model)
    assert (read_header(packed)["exemplars"], read_header(bare)["exemplars"]) == (8, 0)
    assert read_header(packed)["dtype"] == "float16"
    tail = np.frombuffer(packed, "<f2", exemplars.numel() + spread.numel(), len(packed) - 2 * (1280 + 160))
    assert np.array_equal(tail[:1280], exemplars.numpy().ravel())
    assert np.array_equal(tail[1280:], spread.numpy().ravel())


def test_the_means_of_the_classes_follow_last_and_are_those_of_the_record():
    model, exemplars, spread = zoo.load("digits-dr"), zoo.exemplars("digits-dr"), zoo.capsule_spread("digits-dr")
    means = recorded(zoo.entry("digits-dr")).class_means(10)
    packed = pack_weights(model, exemplars, spread, means)
    assert read_header(packed)["means"] and read_header(packed)["dtype"] == "float16"
    assert not read_header(pack_weights(model, exemplars, spread))["means"]
    tail = np.frombuffer(packed, "<f2", means.numel(), len(packed) - 2 * means.numel())
    assert np.array_equal(tail, means.half().numpy().ravel())
    assert torch.equal(resources.class_means("digits-dr"), means)


def test_capsules_longer_than_one_are_packed_in_their_unit_and_draw_the_same():
    model, exemplars, spread = (of("digits-matrix") for of in (zoo.load, zoo.exemplars, zoo.capsule_spread))
    packed = pack_weights(model, exemplars, spread)
    header = read_header(packed)
    assert header["unit"] == unit(exemplars) > 1
    assert (header["dtype"], header["exemplars"]) == ("float32", exemplars.shape[1])
    count = exemplars.numel() + spread.numel()
    tail = torch.from_numpy(np.frombuffer(packed, "<f4", count, len(packed) - 4 * count).copy())
    assert torch.equal(tail * header["unit"], torch.cat([exemplars.flatten(), spread.flatten()]).float())
    inputs, outputs = header["widths"][:2]
    start = 4 + int.from_bytes(packed[:4], "little")
    first = torch.from_numpy(np.frombuffer(packed, "<f4", inputs * outputs, start).copy()).reshape(inputs, outputs)
    assert torch.equal(first / header["unit"], model.decoder.layers[0].weight.T.float())


@pytest.mark.parametrize(
    ("poses", "left", "hand", "sentence"),
    [
        ({}, Left(0, (0.0,) * 16), "sliders", "for each title"),
        ({"DR": torch.zeros(10, 8)}, Left(0, (0.0,) * 16), "sliders", "10 capsules of 16 numbers"),
        ({"DR": torch.zeros(10, 16)}, Left(10, (0.0,) * 16), "sliders", "no class 10"),
        ({"DR": torch.zeros(10, 16)}, Left(0, (0.0,) * 16, to=(11, 0)), "walk", "no class 11"),
        ({"DR": torch.zeros(10, 16)}, Left(0, (0.0,) * 3), "sliders", "16 dimensions"),
        ({"DR": torch.zeros(10, 16)}, Left(0, (0.0,) * 16), "foot", "not moved by 'foot'"),
        ({"DR": torch.zeros(10, 16)}, Left(0, (0.0,) * 16), "walk", "0 exemplars per class, which walk needs"),
    ],
)
def test_what_does_not_fit_the_decoder_says_so(poses, left: Left, hand: str, sentence: str):
    packed = pack_weights(CapsNet(preset("tiny", "digits", "dr")))
    with pytest.raises(PerturbError, match=sentence):
        live_decoder({"DR": packed}, poses, left, wide=False, key="live", hand=hand)
