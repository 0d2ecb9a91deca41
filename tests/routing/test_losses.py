"""Losses against numbers worked out by hand."""

import math

import pytest
import torch

from capsviz.network import METHODS
from capsviz.routing.em import spread_margin
from capsviz.routing.losses import cross_entropy, margin_loss, margin_losses, spread_loss


def test_margin_loss_of_one_image_is_that_worked_out_by_hand():
    lengths = torch.tensor([[0.5, 0.3, 0.05]])
    targets = torch.tensor([[True, False, False]])
    # (0.9 - 0.5)² + 0.5 (0.3 - 0.1)² + 0
    assert margin_loss(lengths, targets).item() == pytest.approx(0.16 + 0.5 * 0.04)


def test_margin_loss_sums_over_classes_and_averages_over_images():
    lengths = torch.tensor([[0.9, 0.1], [0.0, 0.6]])
    targets = torch.tensor([[True, False], [True, False]])
    assert margin_loss(lengths, targets).item() == pytest.approx((0 + 0.81 + 0.5 * 0.25) / 2)


def test_margin_loss_wants_every_class_that_is_present():
    lengths = torch.tensor([[0.95, 0.4, 0.0]])
    targets = torch.tensor([[True, True, False]])
    assert margin_loss(lengths, targets).item() == pytest.approx(0.25)


def test_margin_loss_leaves_alone_what_is_beyond_its_margins():
    lengths = torch.tensor([[0.95, 0.05]], requires_grad=True)
    margin_loss(lengths, torch.tensor([[True, False]])).backward()
    assert lengths.grad is not None and not lengths.grad.any()


def test_the_losses_of_the_classes_are_those_that_margin_loss_sums():
    lengths, targets = torch.rand(5, 10), torch.rand(5, 10) < 0.2
    each = margin_losses(lengths, targets)
    assert each.shape == (5, 10)
    torch.testing.assert_close(each.sum(1).mean(), margin_loss(lengths, targets))


def test_margins_and_weight_are_those_that_are_asked_for():
    lengths, targets = torch.tensor([[0.5, 0.5]]), torch.tensor([[True, False]])
    found = margin_losses(lengths, targets, present=0.7, absent=0.2, weight=0.25)
    torch.testing.assert_close(found, torch.tensor([[0.04, 0.25 * 0.09]]))


def test_spread_loss_of_one_image_is_that_worked_out_by_hand():
    activations = torch.tensor([[0.7, 0.6, 0.1]])
    targets = torch.tensor([[True, False, False]])
    # margin 0.5: gaps of 0.1 and 0.6 to the label
    assert spread_loss(activations, targets, 0.5).item() == pytest.approx(0.4**2)


def test_spread_loss_compares_each_present_class_with_the_absent_ones_only():
    activations = torch.tensor([[0.9, 0.5, 0.3]])
    targets = torch.tensor([[True, True, False]])
    # margin 0.9: gaps 0.6 and 0.2; the two present classes do not compete
    assert spread_loss(activations, targets, 0.9).item() == pytest.approx(0.3**2 + 0.7**2)


def test_cross_entropy_of_two_images_is_that_worked_out_by_hand():
    logits = torch.tensor([[0.0, 0.0, 0.0, 0.0], [2.0, 2.0, -50.0, -50.0]])
    targets = torch.tensor([[True, False, False, False], [True, True, False, False]])
    # log 4 for an even guess among four; log 2, the least there is, where two classes share the probability
    assert cross_entropy(logits, targets).item() == pytest.approx((math.log(4) + math.log(2)) / 2)


def test_cross_entropy_keeps_its_gradient_where_the_probability_has_vanished():
    logits = torch.tensor([[-200.0, 200.0]], requires_grad=True)
    cross_entropy(logits, torch.tensor([[True, False]])).backward()
    assert logits.grad is not None
    torch.testing.assert_close(logits.grad, torch.tensor([[-1.0, 1.0]]))


def test_every_method_is_trained_on_its_own_loss():
    scores, targets = torch.tensor([[0.7, 0.6, 0.1]]), torch.tensor([[True, False, False]])
    own = {name: method.loss(scores, targets, 3 / 7) for name, method in METHODS.items()}
    assert own.pop("em") == spread_loss(scores, targets, 0.5)
    assert own.pop("attention") == own.pop("cnn") == cross_entropy(scores, targets)
    assert own == dict.fromkeys(own, margin_loss(scores, targets))


def test_the_spread_margin_rises_along_a_line_from_a_fifth_to_nine_tenths():
    assert [spread_margin(progress) for progress in (0.0, 0.5, 1.0, 2.0)] == pytest.approx([0.2, 0.55, 0.9, 0.9])


def test_spread_loss_of_a_batch_is_the_mean_over_its_images():
    scores = torch.tensor([[0.7, 0.6, 0.1], [0.2, 0.9, 0.4]])
    targets = torch.tensor([[True, False, False], [False, False, True]])
    each = [spread_loss(scores[k : k + 1], targets[k : k + 1], 0.5).item() for k in range(2)]
    # margin 0.5: gaps of 0.1 and 0.6, then of 0.2 and −0.5
    assert each == pytest.approx([0.4**2, 0.3**2 + 1.0**2])
    assert spread_loss(scores, targets, 0.5).item() == pytest.approx(sum(each) / 2)
