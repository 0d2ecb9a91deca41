"""Meanings are found where they were put: a decoder that draws bars of a known slant, width and place."""

from __future__ import annotations

import math
from unittest.mock import Mock

import pytest
import torch
from torch import Tensor, nn

from capsviz import zoo
from capsviz.analysis import dimensions
from capsviz.analysis.dimensions import QUALITIES, Meanings, correlate, meanings, qualities
from capsviz.analysis.metrics import image_moments
from capsviz.network import CapsNet, preset

QUALITY = list(QUALITIES)


class Bars(nn.Module):
    """Draws one bar a capsule: number 0 leans it, 1 thickens it, 2 shifts it to the right, 3 makes it longer."""

    def forward(self, poses: Tensor, classes: Tensor) -> Tensor:
        numbers = poses[torch.arange(len(poses)), classes][:, :, None, None]
        rows, columns = torch.meshgrid(torch.arange(28) - 13.5, torch.arange(28) - 13.5, indexing="ij")
        columns = columns - 3 * numbers[:, 2]
        across = columns * torch.cos(numbers[:, 0]) + rows * torch.sin(numbers[:, 0])
        along = columns * torch.sin(numbers[:, 0]) - rows * torch.cos(numbers[:, 0])
        ink = (1.5 + numbers[:, 1] - across.abs()).clamp(0, 1) * (7 + 2 * numbers[:, 3] - along.abs()).clamp(0, 1)
        return ink[:, None]


@pytest.fixture(scope="module")
def found() -> Meanings:
    model = CapsNet(preset("tiny", "digits", "l2")).eval()
    model.register_module("decoder", Bars())
    spread = torch.tensor([0.2, 0.4, 0.4, 0.4] + [0.3] * 12)
    return meanings(model, torch.zeros(4, 16), spread, label=6, samples=256)


def test_a_decoder_of_bars_gets_the_labels_it_was_built_with(found: Meanings):
    # Leaning also widens and shortens a bar, but slant follows it most.
    assert found.labels == ("slant", "stroke", "right", "height", *[""] * 12)


def test_numbers_that_draw_nothing_correlate_with_nothing(found: Meanings):
    assert found.correlation[4:].abs().max() < 0.15
    assert found.correlation[0, QUALITY.index("slant")] > 0.9


def test_the_effect_is_the_change_per_standard_deviation(found: Meanings):
    # 0.4 standard deviations of 3 pixels each; a lean of 0.2 is a slant of about its tangent.
    assert found.effect[2, QUALITY.index("column")].item() == pytest.approx(1.2, rel=0.05)
    assert found.effect[0, QUALITY.index("slant")].item() == pytest.approx(math.tan(0.2), rel=0.1)


def test_a_label_needs_a_clear_correlation_a_lead_and_a_change_that_can_be_seen():
    correlation = torch.zeros(4, len(QUALITY))
    correlation[0, 1] = -0.5
    correlation[1, 1] = 0.49
    correlation[2, 0], correlation[2, 1] = 0.8, 0.75
    correlation[3, 2] = 0.9
    deviation = torch.tensor([quality.visible for quality in QUALITIES.values()])
    assert Meanings(correlation, correlation, deviation * 1.1).labels == ("−slant", "", "", "width")
    assert Meanings(-correlation, correlation, deviation * 1.1).labels == ("slant", "", "", "−width")
    place = torch.zeros(2, len(QUALITY))
    place[0, QUALITY.index("row")], place[1, QUALITY.index("column")] = -0.9, -0.9
    assert Meanings(place, place, deviation * 1.1).labels == ("up", "left")
    assert Meanings(correlation, correlation, deviation * 0.9).labels == ("", "", "", "")


def test_differences_between_the_exemplars_say_nothing_about_a_dimension():
    torch.manual_seed(1)
    moves = torch.randn(400, 2)
    measured = torch.zeros(400, len(QUALITY))
    measured[:, 0] = moves[:, 0]
    found = correlate(moves, measured, groups=2)
    measured[200:, 0] += 50
    torch.testing.assert_close(correlate(moves, measured, groups=2).correlation, found.correlation)
    assert found.correlation[0, 0].item() == pytest.approx(1)


def test_pictures_without_ink_are_left_out():
    moves = torch.randn(100, 3)
    measured = moves[:, :1].expand(-1, len(QUALITY)).clone()
    whole = correlate(moves[:60], measured[:60])
    measured[60:] = float("nan")
    torch.testing.assert_close(correlate(moves, measured).correlation, whole.correlation)
    assert correlate(moves, torch.full_like(measured, float("nan"))).correlation.abs().max() == 0


def test_qualities_come_in_their_order():
    image = torch.zeros(1, 1, 28, 28)
    image[0, 0, 4:24, 10:13] = 1
    measured = dict(zip(QUALITY, qualities(image)[0].tolist(), strict=True))
    assert (measured["row"], measured["column"]) == (pytest.approx(13.5), pytest.approx(11))
    assert measured["height"] > measured["width"] and abs(measured["slant"]) < 1e-6


def test_the_same_experiment_gives_the_same_numbers_on_a_real_model():
    model, examples, spread = zoo.load("digits-dr"), zoo.exemplar_capsules("digits-dr"), zoo.capsule_spread("digits-dr")
    first, second = (meanings(model, examples[3], spread[3], 3) for _ in range(2))
    assert torch.equal(first.correlation, second.correlation)
    assert first.correlation.shape == (16, len(QUALITY)) and first.correlation.abs().max() <= 1
    assert any(first.labels)


def test_large_pictures_are_measured_a_few_at_a_time(monkeypatch):
    images, moments = torch.rand(30, 3, 224, 224), Mock(wraps=image_moments)
    whole = image_moments(images)
    monkeypatch.setattr(dimensions, "image_moments", moments)
    torch.testing.assert_close(qualities(images)[:, 0], whole.stroke, rtol=1e-6, atol=0)
    seen = [len(call.args[0]) for call in moments.call_args_list]
    assert sum(seen) == 30 and max(seen) * images[0].numel() <= dimensions.TOGETHER
