"""What goes to the browser and what comes back from it, without a browser."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import capsviz
from app.shared import resources
from capsviz import zoo
from capsviz.analysis.perturbation import PerturbError, unit
from capsviz.analysis.predictions import recorded
from capsviz.boards import Left, board_csv, decoder_board, decoder_message, pack_weights
from capsviz.boards.decoder import header, received
from capsviz.boards.message import unpack
from capsviz.data import to_float
from capsviz.network import CapsNet, preset
from capsviz.tracing.recorder import trace
from tests.known import first_digit, known, single_digits


def numbers(packed: bytes) -> np.ndarray:
    """All numbers of packed weights, as they are sent."""
    return unpack(packed).arrays["numbers"]


def parameters(packed: bytes) -> list[torch.Tensor]:
    """Weight "output input" and bias of each layer, as `pack_weights` says that they lie."""
    sent, widths = numbers(packed).astype(np.float32), header(packed)["widths"]
    tensors, at = [], 0
    for inputs, outputs in itertools.pairwise(widths):
        tensors.append(torch.from_numpy(sent[at : at + inputs * outputs].reshape(inputs, outputs).T.copy()))
        tensors.append(torch.from_numpy(sent[at + inputs * outputs : at + (inputs + 1) * outputs].copy()))
        at += (inputs + 1) * outputs
    assert at == len(sent)
    return tensors


@pytest.mark.parametrize(("trained", "dtype"), [(True, "float16"), (False, "float32")])
def test_packed_weights_are_the_weights_of_the_decoder_to_the_last_bit(trained: bool, dtype: str):
    model = zoo.load("digits-dr") if trained else CapsNet(preset("tiny", "digits", "l2"))
    packed = pack_weights(model)
    own = header(packed)
    assert numbers(packed).dtype == dtype  # the zoo keeps float16, in which nothing of it is lost
    assert own["widths"] == [160, *model.config.decoder, 28 * 28]
    assert (own["image"], own["classes"], own["dim"]) == ([1, 28, 28], 10, 16)
    for ours, theirs in zip(parameters(packed), model.decoder.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_packing_is_a_function_of_the_weights():
    model = CapsNet(preset("tiny", "digits", "dr"))
    before = pack_weights(model)
    assert pack_weights(model) == before
    with torch.no_grad():
        known(model.decoder).get_parameter("layers.0.bias")[0] += 1
    assert header(pack_weights(model))["digest"] != header(before)["digest"]


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
    model, exemplars, spread = (
        zoo.load("digits-dr"),
        zoo.exemplar_capsules("digits-dr"),
        zoo.capsule_spread("digits-dr"),
    )
    packed, bare = pack_weights(model, exemplars, spread), pack_weights(model)
    assert (header(packed)["exemplars"], header(bare)["exemplars"]) == (8, 0)
    assert numbers(packed).dtype == np.float16
    tail = numbers(packed)[-(1280 + 160) :]
    assert np.array_equal(tail[:1280], exemplars.numpy().ravel())
    assert np.array_equal(tail[1280:], spread.numpy().ravel())


def test_the_means_of_the_classes_follow_last_and_are_those_of_the_record():
    model, exemplars, spread = (
        zoo.load("digits-dr"),
        zoo.exemplar_capsules("digits-dr"),
        zoo.capsule_spread("digits-dr"),
    )
    means = recorded(zoo.entry("digits-dr")).class_means(10)
    packed = pack_weights(model, exemplars, spread, means)
    assert header(packed)["means"] and numbers(packed).dtype == np.float16
    assert not header(pack_weights(model, exemplars, spread))["means"]
    assert np.array_equal(numbers(packed)[-means.numel() :], means.half().numpy().ravel())
    assert torch.equal(known(resources.class_means("digits-dr")), means)


def test_capsules_longer_than_one_are_packed_in_their_unit_and_draw_the_same():
    name = "digits-matrix"
    model, exemplars, spread = zoo.load(name), zoo.exemplar_capsules(name), zoo.capsule_spread(name)
    packed = pack_weights(model, exemplars, spread)
    own, sent = header(packed), torch.from_numpy(numbers(packed).copy())
    assert own["unit"] == unit(exemplars) > 1
    assert (sent.dtype, own["exemplars"]) == (torch.float32, exemplars.shape[1])
    count = exemplars.numel() + spread.numel()
    assert torch.equal(sent[-count:] * own["unit"], torch.cat([exemplars.flatten(), spread.flatten()]).float())
    inputs, outputs = own["widths"][:2]
    first = sent[: inputs * outputs].reshape(inputs, outputs)
    assert torch.equal(first / own["unit"], known(model.decoder).get_parameter("layers.0.weight").T.float())


@pytest.mark.parametrize(
    ("poses", "left", "hand", "sentence"),
    [
        ({}, Left(0, (0.0,) * 16), "sliders", "for each title"),
        ({"DR": torch.zeros(10, 8)}, Left(0, (0.0,) * 16), "sliders", "10 capsules of 16 numbers"),
        ({"DR": torch.zeros(10, 16)}, Left(10, (0.0,) * 16), "sliders", "no class 10"),
        ({"DR": torch.zeros(10, 16)}, Left(0, (0.0,) * 16, to=(11, 0)), "walk", "no class 11"),
        ({"DR": torch.zeros(10, 16)}, Left(0, (0.0,) * 3), "sliders", "16 dimensions"),
        ({"DR": torch.zeros(10, 16)}, Left(0, (0.0,) * 16), "foot", "not moved by 'foot'"),
        (
            {"DR": torch.zeros(10, 16)},
            Left(0, (0.0,) * 16),
            "walk",
            '0 exemplars per class, which walk needs; say hand="sliders"',
        ),
    ],
)
def test_what_does_not_fit_the_decoder_says_so(poses, left: Left, hand: str, sentence: str):
    packed = pack_weights(CapsNet(preset("tiny", "digits", "dr")))
    with pytest.raises(PerturbError, match=sentence):
        decoder_message({"DR": packed}, poses, left, wide=False, hand=hand)


def test_a_board_of_the_decoder_stands_where_the_capsule_was_moved_to_and_its_table_has_the_numbers():
    network, images = zoo.load("digits-dr"), to_float(single_digits().images[:1])
    seen = trace(network, images, name="digits-dr")
    offsets = (0.1, *(0.0,) * 15)
    board = decoder_board(seen, pack_weights(network, zoo.exemplar_capsules("digits-dr")), upper=3, offsets=offsets)
    assert unpack(board.packed(3)).fields["state"]["offsets"] == list(offsets)
    rows = [line.split(",") for line in board_csv(board).splitlines()[1:]]
    assert [float(value) for name, _, value in rows if name == "offsets"] == pytest.approx(list(offsets))
    capsules = [float(value) for name, _, value in rows if name == "capsules"]
    torch.testing.assert_close(torch.tensor(capsules), seen.poses[0].flatten(), rtol=1e-5, atol=1e-6)


def test_a_walk_of_an_image_of_two_objects_ends_at_none_of_them():
    name = "multi-mnist-dr-residual"
    model = capsviz.load(name)
    images = torch.rand(1, *model.config.image, generator=torch.Generator().manual_seed(0))
    trace = capsviz.trace(model, images, objects=2, name=name)
    board = decoder_board(
        trace, pack_weights(model, zoo.exemplar_capsules(name), zoo.capsule_spread(name)), hand="walk"
    )
    assert board.message(0).fields["state"]["to"][0] not in trace.named[0].tolist()


def test_the_table_of_a_decoder_is_in_its_unit():
    name = "digits-matrix"
    model, image = capsviz.load(name), first_digit()
    trace = capsviz.trace(model, image, name=name)
    board = decoder_board(trace, pack_weights(model, zoo.exemplar_capsules(name), zoo.capsule_spread(name)))
    own = board.message(0).fields["decoders"][0]
    assert own["unit"] == unit(zoo.exemplar_capsules(name)) > 1 and board.table
    np.testing.assert_allclose(board.table()["capsules"], own["poses"], rtol=1e-5)
    np.testing.assert_allclose(board.table()["capsules"] * own["unit"], trace.poses[0].numpy(), rtol=1e-5)
