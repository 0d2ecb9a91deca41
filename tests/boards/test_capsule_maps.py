"""Capsule maps: what the browser is given to play is what was recorded, frame by frame."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from capsviz.analysis.ascent import climb, fix, starting_point
from capsviz.boards import agreement_maps, ascent_maps, coefficient_maps, history_maps
from capsviz.figures import FigureError
from capsviz.figures.geometry import Geometry
from capsviz.network import CapsNet, preset
from tests.figures.conftest import digits, record

UPPER = 6


@pytest.fixture(scope="module")
def ascended():
    torch.manual_seed(7)
    model = CapsNet(preset("tiny", "digits", "l1")).eval()
    fixed = fix(model, digits(), torch.tensor([0, 1, 2]))
    return climb(
        fixed, starting_point(model, "trained"), step=0.01, regularisation=0.5, penalty="l1", proximal=True, steps=7
    )


@pytest.fixture(scope="module")
def grid(l2) -> Geometry:
    return Geometry(*l2.grid)


def test_the_map_of_b_holds_every_coefficient_of_its_class_and_all_classes_of_each_capsule(l2):
    maps = coefficient_maps(l2, upper=UPPER, image=1)
    b = l2.layer["coefficients"][0].numpy()
    np.testing.assert_array_equal(maps.arrays()["map0"], b[None, :, UPPER])
    np.testing.assert_array_equal(maps.arrays()["per_class"], b)
    np.testing.assert_allclose(maps.arrays()["pixels"], l2.images[1].numpy())
    assert maps.frames == ("",)


def test_a_maps_field_of_view_is_that_of_the_network(l2):
    network = CapsNet(l2.config)
    fields, (_, columns, types) = coefficient_maps(l2, upper=0).fields(dark=False), l2.grid
    for capsule in (0, 100, 287):
        row, column = divmod(capsule // types, columns)
        stride, size, beyond = (fields["field"][name] for name in ("stride", "size", "beyond"))
        top, left = row * stride[0] - beyond[0], column * stride[1] - beyond[1]
        assert (top, left, top + size[0], left + size[1]) == network.receptive_field(capsule)


@pytest.mark.parametrize("delta", [1.0, -1.0])
def test_signed_agreement_stands_still_while_agreement_plays(l2, dr, delta):
    signs = torch.full((10,), -delta)
    signs[UPPER] = delta
    maps = agreement_maps(l2, dr, image=1, upper=UPPER, signs=signs)
    kept, spent = maps.arrays()["map0"], maps.arrays()["map1"]
    np.testing.assert_allclose(kept, delta * l2.layer["agreement"][0, 1, :, UPPER].numpy()[None])
    np.testing.assert_allclose(spent, dr.layer["agreement"][:, 1, :, UPPER].numpy())
    assert maps.frames == tuple(f"iteration {number} of 4" for number in (1, 2, 3, 4))
    assert ("δ = +1" if delta > 0 else "δ = −1") in maps.maps[0].title
    assert f"{int((kept > 0).sum())} of {maps.grid.lower} capsules positive" in maps.alt


def test_an_ascent_is_played_from_its_start_to_its_last_step(ascended, grid):
    maps = ascent_maps(ascended, grid, upper=UPPER, classes=[str(c) for c in range(10)])
    arrays, (objective, lengths, error, share) = maps.arrays(), maps.curves
    np.testing.assert_allclose(arrays["map0"], ascended.coefficients[:, :, UPPER].numpy())
    assert maps.frames[0] == "step 0 of 7" and maps.frames[-1] == "step 7 of 7"
    np.testing.assert_allclose(arrays["curve0.0"], ascended.objective[:, UPPER].numpy())
    np.testing.assert_allclose(arrays["curve0.1"], ascended.objective.mean(1).numpy(), rtol=1e-5)
    assert [list(curve.lines) for curve in (objective, lengths, error, share)] == [
        [f"class {UPPER}", "mean"],
        ["label", "others"],
        ["wrong"],
        ["negative", "near zero", "zero"],
    ]
    for name, key in (("true_length", "1.0"), ("other_length", "1.1"), ("error", "2.0"), ("negative", "3.0")):
        np.testing.assert_allclose(arrays[f"curve{key}"], getattr(ascended, name).numpy(), rtol=1e-6)
    np.testing.assert_allclose(arrays["curve3.1"], ascended.near.numpy(), rtol=1e-6)
    np.testing.assert_allclose(arrays["curve3.2"], ascended.exact.numpy(), rtol=1e-6)
    assert f"{float(ascended.error[-1]):.1%}" in maps.alt


def test_the_history_counts_negatives_and_zeros_snapshot_by_snapshot(grid):
    b = torch.randn(3, grid.lower, 10)
    b[0, :5] = 0
    b[1, :7] = 1e-4
    b[2] = b[2].abs()
    maps = history_maps(b.half(), [0, 10, 40], grid, upper=2, classes=[str(c) for c in range(10)], penalty="l2")
    arrays = maps.arrays()
    np.testing.assert_array_equal(arrays["steps"], [0, 10, 40])
    np.testing.assert_allclose(arrays["curve0.0"], (b[:, :, 2] < 0).float().mean(1).numpy(), rtol=1e-6)
    np.testing.assert_allclose(arrays["curve0.1"], (b < 0).float().mean((1, 2)).numpy(), rtol=1e-6)
    size = b.half().float().abs()
    near = [(each < 1e-3 * each.max()).float().mean() for each in size]
    np.testing.assert_allclose(arrays["curve1.0"], near, rtol=1e-6)
    np.testing.assert_allclose(arrays["curve1.1"], [5 / grid.lower, 0, 0], rtol=1e-6)
    np.testing.assert_allclose(arrays["curve2.0"], size[:, :, 2].mean(1), rtol=1e-6)
    assert maps.frames[1] == "step 10 of 40"
    assert f"{int((b[0, :, 2] < 0).sum())} of {grid.lower} coefficients negative at first, 0 at the end" in maps.alt


def test_the_lines_of_an_ascent_lead_from_every_b_to_the_next(ascended, grid):
    maps = ascent_maps(ascended, grid, upper=UPPER, classes=[str(c) for c in range(10)])
    arrays, (sums, _, climbed, value) = maps.arrays(), maps.lines
    assert list(sums.numbers.values()) == [1] and list(climbed.numbers.values()) == [1, 0]
    assert "soft(" in climbed.math and "‖b<sub>j</sub>‖₁" in value.math
    b, g = arrays["map0"], arrays["line1.0"]
    assert np.isnan(g[0]).all()
    for step in range(1, 8):
        climbed_by = b[step - 1] + 2 * 0.01 * g[step]
        soft = np.sign(climbed_by) * np.maximum(np.abs(climbed_by) - 2 * 0.01 * 0.5, 0)
        np.testing.assert_allclose(b[step], soft, atol=1e-6)
    np.testing.assert_array_equal(arrays["line3.0"], arrays["curve0.0"])


def test_the_lines_beside_agreement_are_a_round_of_dynamic_routing(l2, dr):
    maps = agreement_maps(l2, dr, image=1, upper=UPPER, signs=torch.ones(10))
    arrays, (kept, *looped) = maps.arrays(), maps.lines
    assert not kept.looped and all(line.looped for line in looped)
    agreement = dr.layer["agreement"][:, 1]
    logits = agreement.cumsum(0) - agreement
    np.testing.assert_allclose(arrays["line1.0"], logits[:, :, UPPER].numpy(), atol=1e-6)
    np.testing.assert_allclose(arrays["line1.1"], logits.softmax(-1)[:, :, UPPER].numpy(), atol=1e-6)
    np.testing.assert_allclose(arrays["line2.0"], dr.layer["activations"][:, 1, UPPER].numpy())
    np.testing.assert_allclose(arrays["line3.0"], agreement[:, :, UPPER].numpy())
    np.testing.assert_allclose(arrays["line3.1"][:-1], arrays["line1.0"][1:], atol=1e-6)
    np.testing.assert_allclose(arrays["line0.1"][2], l2.layer["coefficients"][0, :, UPPER].numpy())


def test_the_lines_of_a_still_say_what_a_capsule_adds(l2):
    arrays = coefficient_maps(l2, upper=UPPER, image=1).arrays()
    sizes = l2.layer.votes[1, :, UPPER].norm(dim=-1).numpy()
    np.testing.assert_allclose(arrays["line0.1"][0], sizes, rtol=1e-6)
    np.testing.assert_allclose(arrays["line0.2"][0], arrays["map0"][0] * sizes, rtol=1e-6)
    np.testing.assert_allclose(arrays["line1.0"], [l2.activations[1, UPPER]], rtol=1e-6)
    bare = dataclasses.replace(l2, layers=(dataclasses.replace(l2.layer, votes=None),))
    assert list(coefficient_maps(bare, upper=UPPER).lines[0].numbers) == ["b = "]


@pytest.mark.parametrize("dark", [False, True])
def test_what_goes_to_the_browser_describes_the_arrays_that_go_with_it(ascended, grid, dark):
    maps = ascent_maps(ascended, grid, upper=0, classes=[str(c) for c in range(10)])
    fields, arrays = maps.fields(dark=dark), maps.arrays()
    assert arrays["cells"].size == np.prod(fields["shape"])
    assert sorted(arrays["cells"][arrays["cells"] >= 0]) == list(range(grid.lower))
    for number, shown in enumerate(fields["maps"]):
        assert arrays[f"map{number}"].shape == (shown["frames"], grid.lower)
        assert shown["low"] == arrays[f"map{number}"].min() and shown["reach"] > 0
    for number, curve in enumerate(fields["curves"]):
        for line in range(len(curve["lines"])):
            assert arrays[f"curve{number}.{line}"].shape == (len(fields["frames"]),)


def test_what_cannot_be_played_is_said_in_a_sentence(l2, dr, ascended, grid):
    names = [str(c) for c in range(10)]
    with pytest.raises(FigureError, match="trace a model of L2 or L1"):
        coefficient_maps(dr, upper=0)
    with pytest.raises(FigureError, match="trace a model of Dynamic routing"):
        agreement_maps(l2, l2, upper=0, signs=torch.ones(10))
    with pytest.raises(FigureError, match="two models of one preset"):
        agreement_maps(l2, record("dr", primary_types=4), upper=0, signs=torch.ones(10))
    with pytest.raises(FigureError, match="288 numbers; give the grid of the model"):
        ascent_maps(ascended, Geometry(6, 6, 4), upper=0, classes=names)
    with pytest.raises(FigureError, match="3 snapshots and 2 steps"):
        history_maps(torch.zeros(3, 288, 10), [0, 1], grid, upper=0, classes=names, penalty="l1")
    maps = ascent_maps(ascended, grid, upper=0, classes=names)
    with pytest.raises(FigureError, match="8 frames and the maps 3"):
        dataclasses.replace(maps, frames=("a", "b", "c"))
