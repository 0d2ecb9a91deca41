"""Counting mistakes."""

from copy import deepcopy

import pytest
import torch

from capsviz.data import MultiDigits, load
from capsviz.network import CapsNet, preset
from capsviz.training.evaluate import batches, evaluate, most_active
from capsviz.zoo import load as load_model
from tests.known import single_digits


def test_an_image_with_two_digits_is_right_only_when_both_are_found():
    activations = torch.tensor([[0.9, 0.8, 0.1], [0.9, 0.1, 0.8]])
    targets = torch.tensor([[True, True, False], [True, True, False]])
    found = most_active(activations, targets)
    assert (found == targets).all(dim=1).tolist() == [True, False]


def test_equal_activations_still_name_exactly_one_class():
    found = most_active(torch.full((1, 4), 0.5), torch.tensor([[False, False, True, False]]))
    assert found.sum() == 1


def test_an_evaluation_is_the_same_twice_and_counts_every_image_once():
    model = CapsNet(preset("tiny", "digits", "dr"))
    digits = load("digits", "test")
    model.train()
    first, second = evaluate(model, digits, 64), evaluate(model, digits, 64)
    assert model.training
    assert first.error == second.error and first.loss == second.loss
    assert first.count == len(digits) == int(first.confusion.sum())
    assert first.confusion.sum(dim=1).tolist() == torch.bincount(digits.labels).tolist()
    assert first.error == 100 * (first.count - int(first.confusion.diag().sum())) / first.count


@pytest.mark.parametrize("name", ["digits-dr", "digits-em", "digits-l2", "digits-matrix"])
def test_weights_of_any_precision_read_the_images_in_theirs(name: str):
    model, digits = load_model(name), load("digits", "test")
    usual, finer = evaluate(model, digits), evaluate(deepcopy(model).double(), digits)
    assert finer.error == usual.error and finer.loss == pytest.approx(usual.loss, rel=1e-4)
    coarse = evaluate(deepcopy(model).bfloat16(), digits)
    assert coarse.error == pytest.approx(usual.error, abs=1) and coarse.loss == pytest.approx(usual.loss, rel=0.2)
    assert len({usual.loss, finer.loss, coarse.loss}) == 3


def test_a_part_that_is_held_still_stays_so():
    model = CapsNet(preset("residual", "digits", "dr")).train()
    model.encoder.eval()
    before = [each.training for each in model.modules()]
    evaluate(model, single_digits())
    assert [each.training for each in model.modules()] == before and len({*before}) == 2


def test_a_virtual_set_is_measured_on_one_pair_for_each_digit_of_its_base():
    pairs = MultiDigits(single_digits())
    model = CapsNet(preset("tiny", "multi-mnist", "dr"))
    counts = list(batches(model, pairs, 50, lambda images, labels: (len(images), len(labels))))
    assert counts == [(50, 50)] * 7 + [(10, 10)]
    assert sum(batches(model, pairs, 50, lambda images, _: len(images), most=70)) == 70
