"""Perturb moves one number of a capsule and nothing else, and draws what the decoder draws."""

from __future__ import annotations

import math

import pytest
import torch

from capsviz.analysis.perturbation import (
    OFFSETS,
    PerturbError,
    draw,
    lerp,
    masked,
    perturb,
    sheet,
    slerp,
    unit,
)
from capsviz.network import CapsNet, preset


@pytest.fixture(scope="module")
def model() -> CapsNet:
    torch.manual_seed(0)
    return CapsNet(preset("tiny", "digits", "l2")).eval()


def test_the_offsets_are_those_of_the_paper():
    assert OFFSETS == (-0.25, -0.2, -0.15, -0.1, -0.05, 0.0, 0.05, 0.1, 0.15, 0.2, 0.25)


def test_perturbing_moves_one_dimension_and_leaves_the_pose_itself_alone():
    pose = torch.randn(16)
    before = pose.clone()
    moved = perturb(pose, 3, 0.2)
    assert torch.equal(pose, before)
    assert (moved - pose).nonzero().flatten().tolist() == [3]
    assert (moved - pose)[3].item() == pytest.approx(0.2, abs=1e-6)


@pytest.mark.parametrize(("length", "expected"), [(0.0, 1), (0.2, 1), (0.9, 1), (1.3, 1), (6.0, 8), (280.0, 256)])
def test_an_offset_is_measured_by_the_length_of_capsules_that_are_longer_than_one(length: float, expected: float):
    capsules = torch.nn.functional.normalize(torch.randn(10, 8, 16), dim=-1) * length
    assert unit(capsules) == expected


@pytest.mark.parametrize("dimension", [-1, 16])
def test_a_dimension_that_is_not_there_is_named(dimension: int):
    with pytest.raises(PerturbError, match=f"no dimension {dimension}; choose one from 0 to 15"):
        perturb(torch.zeros(16), dimension, 0.1)


def test_drawing_the_predicted_capsule_is_the_models_own_reconstruction(model: CapsNet):
    images = torch.rand(1, 1, 28, 28)
    with torch.inference_mode():
        output = model(images)
    label = int(output.activations.argmax())
    torch.testing.assert_close(draw(model, output.poses[:, label], label), output.reconstruction)


def test_poses_of_any_type_are_drawn_alike(model: CapsNet):
    poses = torch.randn(2, model.config.class_dim)
    torch.testing.assert_close(draw(model, poses.double(), 3), draw(model, poses, 3))


def test_the_sheet_has_a_row_per_dimension_and_the_plain_drawing_in_its_middle(model: CapsNet):
    pose = torch.randn(16) * 0.2
    images = sheet(model, pose, 7)
    assert images.shape == (16, 11, 1, 28, 28)
    plain = draw(model, pose[None], 7)[0]
    for row in images:
        torch.testing.assert_close(row[5], plain)
    torch.testing.assert_close(images[4, 10], draw(model, perturb(pose, 4, 0.25)[None], 7)[0])


def test_both_walks_begin_and_end_at_the_two_capsules():
    start, end = torch.randn(16), torch.randn(16)
    for way in (lerp, slerp):
        torch.testing.assert_close(way(start, end, 0.0), start)
        torch.testing.assert_close(way(start, end, 1.0), end)


def test_the_sphere_keeps_the_length_that_the_straight_line_loses():
    start, end = torch.tensor([0.9, 0.0]), torch.tensor([0.0, 0.9])
    assert lerp(start, end, 0.5).norm().item() == pytest.approx(0.9 * math.cos(math.pi / 4), abs=1e-6)
    assert slerp(start, end, 0.5).norm().item() == pytest.approx(0.9, abs=1e-6)


def test_along_the_sphere_the_angle_and_the_length_change_evenly():
    start, end = torch.tensor([0.5, 0.0, 0.0]), torch.tensor([0.5, 0.0, 0.8])
    whole = math.atan2(0.8, 0.5)
    for share in (0.25, 0.5, 0.75):
        point = slerp(start, end, share)
        assert math.atan2(point[2], point[0]) == pytest.approx(share * whole, abs=1e-5)
        assert point.norm().item() == pytest.approx(0.5 + share * (end.norm().item() - 0.5), abs=1e-5)


@pytest.mark.parametrize("end", [[0.0, 0.0], [0.4, 0.0], [-0.4, 0.0]])
def test_without_a_great_circle_the_walk_is_straight(end: list[float]):
    start, goal = torch.tensor([0.8, 0.0]), torch.tensor(end)
    torch.testing.assert_close(slerp(start, goal, 0.3), lerp(start, goal, 0.3))


def test_a_walk_between_classes_along_the_sphere_has_both_capsules_on_the_way():
    four, seven = torch.randn(2, 16) * 0.3
    halfway = slerp(masked(four[None], 4, 10)[0], masked(seven[None], 7, 10)[0], 0.5)
    assert halfway[4].abs().min() > 0 and halfway[7].abs().min() > 0 and halfway.count_nonzero() == 32


def test_a_model_without_decoder_is_refused():
    with pytest.raises(PerturbError, match="without a decoder"):
        draw(CapsNet(preset("tiny", "digits", "l2", decoder=False)), torch.zeros(1, 16), 0)


def test_a_class_that_is_not_there_is_refused(model: CapsNet):
    with pytest.raises(PerturbError, match="no class 10; choose one from 0 to 9"):
        draw(model, torch.zeros(1, 16), 10)
