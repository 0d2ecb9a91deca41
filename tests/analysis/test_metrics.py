"""Measures against pictures and couplings whose numbers are known."""

from __future__ import annotations

import math

import pytest
import torch

from capsviz import record, trace
from capsviz.analysis import metrics
from capsviz.network import CapsNet, preset
from tests.known import known


def test_signs_are_plus_one_for_the_labels_only():
    assert metrics.label_signs(torch.tensor([2, 0]), 3).tolist() == [[-1, -1, 1], [1, -1, -1]]
    assert metrics.label_signs([(2, 0)], 3).tolist() == [[1, -1, 1]]


def test_equal_couplings_are_maximum_confusion_and_a_single_one_is_none():
    entropy = metrics.coupling_entropy(torch.tensor([[0.25] * 4, [0, 0, 1.0, 0]]))
    assert entropy.tolist() == pytest.approx([1.0, 0.0], abs=1e-6)


def test_coupling_entropy_of_two_equal_couplings_among_four_is_half():
    assert metrics.coupling_entropy(torch.tensor([0.5, 0.5, 0.0, 0.0])).item() == pytest.approx(0.5)


def test_identical_images_have_no_error_and_full_similarity():
    images = torch.rand(3, 1, 28, 28)
    assert metrics.mean_squared_error(images, images).tolist() == [0, 0, 0]
    assert metrics.structural_similarity(images, images).tolist() == pytest.approx([1, 1, 1], abs=1e-5)


def test_bytes_are_images_as_they_are_read():
    images = torch.randint(256, (2, 1, 28, 28), dtype=torch.uint8)
    for measure in (metrics.mean_squared_error, metrics.structural_similarity):
        assert torch.equal(measure(images / 510, images), measure(images / 510, images / 255))


def test_coefficients_have_no_entropy():
    with pytest.raises(ValueError, match="coefficients b have no entropy"):
        metrics.coupling_entropy(torch.tensor([0.5, -0.5, 1.0]))


def test_similarity_falls_with_noise_image_by_image():
    torch.manual_seed(0)
    images = torch.rand(1, 1, 28, 28).repeat(2, 1, 1, 1)
    noisy = (images + torch.tensor([0.05, 0.5])[:, None, None, None] * torch.randn_like(images)).clamp(0, 1)
    little, much = metrics.structural_similarity(noisy, images).tolist()
    assert 0 < much < little < 1


def test_similarity_of_one_image_keeps_its_batch_axis():
    image = torch.rand(1, 3, 32, 32)
    assert metrics.structural_similarity(image, image).shape == (1,)
    assert metrics.structural_similarity(image[:0], image[:0]).shape == (0,)


def test_moments_of_an_upright_bar():
    image = torch.zeros(1, 1, 28, 28)
    image[0, 0, 4:24, 10:13] = 1
    moments = metrics.image_moments(image)
    assert (moments.row.item(), moments.column.item()) == pytest.approx((13.5, 11))
    assert moments.height.item() == pytest.approx(math.sqrt((20**2 - 1) / 12), rel=1e-5)
    assert moments.width.item() == pytest.approx(math.sqrt((3**2 - 1) / 12), rel=1e-5)
    assert moments.slant.item() == pytest.approx(0, abs=1e-6)
    # Twice the ink over an outline of 46 pixels: 2.6, a little under 3 because a short bar has ends.
    assert moments.stroke.item() == pytest.approx(3, rel=0.15)


@pytest.mark.parametrize("shear", [-1, 0, 1])
def test_slant_is_the_shear_to_the_right_going_up(shear: int):
    image = torch.zeros(1, 1, 28, 28)
    for row in range(8, 20):
        image[0, 0, row, 14 - shear * (row - 14)] = 1
    assert metrics.image_moments(image).slant.item() == pytest.approx(shear, abs=1e-5)


def test_a_thicker_stroke_measures_thicker():
    thin, thick = torch.zeros(1, 1, 28, 28), torch.zeros(1, 1, 28, 28)
    thin[..., 4:24, 12:14] = 1
    thick[..., 4:24, 11:17] = 1
    widths = metrics.image_moments(torch.cat([thin, thick])).stroke
    assert widths[0] * 2 < widths[1]


def bar(angle: float, *, thickness: float = 3.0, size: int = 28) -> torch.Tensor:
    """A bar of 16 pixels through the middle, leaning right by `angle` degrees, drawn with soft edges."""
    rows, columns = torch.meshgrid(torch.arange(size) - 13.5, torch.arange(size) - 13.5, indexing="ij")
    lean = math.radians(angle)
    along = columns * math.sin(lean) - rows * math.cos(lean)
    across = columns * math.cos(lean) + rows * math.sin(lean)
    ink = (thickness / 2 + 0.5 - across.abs()).clamp(0, 1) * (8.5 - along.abs()).clamp(0, 1)
    return ink[None, None]


@pytest.mark.parametrize("angle", [-30, -10, 0, 20, 35])
def test_slant_is_the_tangent_of_the_angle_at_which_a_bar_was_drawn(angle: float):
    slant = metrics.image_moments(bar(angle)).slant.item()
    assert slant == pytest.approx(math.tan(math.radians(angle)), abs=0.05)


@pytest.mark.parametrize("thickness", [2, 3, 4])
def test_the_stroke_of_a_drawn_bar_is_its_thickness_less_what_its_ends_take(thickness: float):
    # w L over an outline of 2 (w + L), times two.
    expected = thickness * 17 / (thickness + 17)
    assert metrics.image_moments(bar(0, thickness=thickness)).stroke.item() == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("radius", [-20, -12, 12, 20])
def test_curvature_is_one_over_the_radius_of_a_drawn_arc(radius: float):
    rows, columns = torch.meshgrid(torch.arange(28) - 13.5, torch.arange(28) - 13.5, indexing="ij")
    distance = ((columns - radius).square() + rows.square()).sqrt()  # an arc through the middle, centre on the right
    ink = (2 - (distance - abs(radius)).abs()).clamp(0, 1) * (rows.abs() < 6)
    curvature = metrics.image_moments(ink[None, None]).curvature.item()
    assert curvature == pytest.approx(1 / radius, rel=0.15)


def test_a_straight_bar_has_no_curvature_however_it_leans():
    images = torch.cat([bar(angle) for angle in (-30, 0, 30)])
    assert metrics.image_moments(images).curvature.abs().max() < 1e-3
    flat = torch.zeros(1, 1, 28, 28)
    flat[0, 0, 13:15, 5:20] = 1
    assert metrics.image_moments(flat).curvature.item() == 0


@pytest.mark.parametrize("rows", [[3], [27], [3, 4], [0, 27]])
def test_ink_in_one_or_two_rows_has_all_its_moments(rows: list[int]):
    image = torch.zeros(1, 1, 28, 28)
    image[0, 0, rows] = torch.linspace(0.1, 0.7, 28)
    moments = metrics.image_moments(image)
    assert all(math.isfinite(value.item()) for value in vars(moments).values())
    assert moments.slant.item() == pytest.approx(0, abs=1e-6) and moments.curvature.item() == 0


def test_an_empty_image_has_no_position():
    moments = metrics.image_moments(torch.zeros(1, 1, 28, 28))
    assert all(math.isnan(value.item()) for value in vars(moments).values())


@pytest.mark.parametrize("routing", ["dr", "l2", "l1", "attention"])
def test_contributions_are_what_the_votes_add_to_the_length_of_their_sum(routing: str):
    recorded = trace(CapsNet(preset("tiny", "digits", routing)).eval(), torch.rand(2, 1, 28, 28), votes=True)
    layer, votes = recorded.layer, known(recorded.layer.votes)[1]
    weights = layer["coefficients"][-1] if "coefficients" in layer else layer["couplings"][-1, 1]
    sums = (weights.unsqueeze(-1) * votes).sum(0)
    given = metrics.contributions(recorded, 1)
    torch.testing.assert_close(given, weights * (votes * sums).sum(-1) / sums.norm(dim=-1), rtol=1e-3, atol=1e-6)
    torch.testing.assert_close(given.sum(0), sums.norm(dim=-1), rtol=1e-4, atol=1e-6)


def test_contributions_by_attention_are_not_told_without_votes():
    model = CapsNet(preset("tiny", "digits", "attention")).eval()
    with pytest.raises(KeyError, match="does not hold the votes; record them as well"):
        metrics.contributions(trace(model, torch.rand(1, 1, 28, 28), votes=False))


@pytest.mark.parametrize("routing", ["dr", "em", "l2"])
def test_a_summary_repeats_what_the_trace_holds(routing: str):
    recorded = trace(CapsNet(preset("tiny", "digits", routing)).eval(), torch.rand(2, 1, 28, 28))
    summary = metrics.summarise(recorded, image=1)
    lengths = recorded.activations[1]
    assert summary.predicted == int(lengths.argmax())
    assert summary.activation == pytest.approx(float(lengths.max()))
    assert summary.runner_up_activation == pytest.approx(float(lengths.sort().values[-2]))
    assert len(summary.entropy) == len(summary.largest_share) == (0 if routing == "l2" else 3)


def test_what_the_most_active_capsule_holds_is_the_sum_of_its_shares_and_has_a_rank():
    model, images = CapsNet(preset("tiny", "digits", "em")).eval(), torch.rand(2, 1, 28, 28)
    recorded = trace(model, images)
    held = known(metrics.held(recorded, image=1))
    shares = recorded.layer["responsibilities"][-1, 1]
    amounts = [sum(float(row[upper]) for row in shares) for upper in range(10)]
    assert held.predicted == int(recorded.activations[1].argmax())
    assert held.amount == pytest.approx(amounts[held.predicted], rel=1e-4)
    assert (held.lower, held.upper) == tuple(shares.shape)
    assert held.rank == 1 + sum(amount > amounts[held.predicted] for amount in amounts)
    assert metrics.held(trace(model, images, iterations=1)) is None, "none holds more than another before the E-step"
    with pytest.raises(ValueError, match="no shares"):
        metrics.held(trace(CapsNet(preset("tiny", "digits", "l2")).eval(), torch.rand(1, 1, 28, 28)))


def test_dynamic_routing_starts_in_maximum_confusion():
    model = CapsNet(preset("tiny", "digits", "dr")).eval()
    model.transform.data *= 10  # votes loud enough to agree about something without training
    summary = metrics.summarise(trace(model, torch.rand(1, 1, 28, 28)))
    assert summary.entropy[0] == pytest.approx(1, abs=1e-5)
    assert summary.entropy[-1] < summary.entropy[0]
    assert summary.largest_share[0] == pytest.approx(0.1)
    assert summary.largest_share[-1] > 0.1


def test_the_width_of_a_gaussian_is_the_geometric_mean_of_its_deviations():
    recorded = trace(CapsNet(preset("tiny", "digits", "em")).eval(), torch.rand(1, 1, 28, 28))
    summary = metrics.gaussian_summary(recorded, upper=4)
    variances = recorded.layer["variances"][1, 0, 4].double()
    assert summary.deviation[1] == pytest.approx(float(variances.prod() ** (1 / 32)), rel=1e-4)
    assert summary.cost[2] == pytest.approx(float(recorded.layer["cost"][2, 0, 4].sum()), rel=1e-5)


@pytest.mark.parametrize(("upper", "second"), [(1, False), (2, True)])
def test_second_is_a_class_that_is_not_named(upper, second):
    summary = metrics.summarise(record(None, torch.randn(1, 6, upper, 4), "dr"))
    assert (summary.runner_up is not None) == (summary.runner_up_activation is not None) == second
    assert summary.runner_up != summary.predicted
