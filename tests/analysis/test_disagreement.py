"""Two records side by side find the images on which two models differ."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

import capsviz
from capsviz import zoo
from capsviz.analysis.comparison import CompareError
from capsviz.analysis.disagreement import classified_right, contested, difference, from_on, most, rows, worst_drawn
from capsviz.analysis.predictions import PredictionsError, drawings, recorded
from capsviz.data import load, to_float
from tests.analysis.test_predictions import pairs_of_digits, record
from tests.known import known


def test_the_difference_of_a_figure_is_its_amount():
    other = record(mse=torch.tensor([0.02, 0.01, 0.02, 0.03]).half())
    torch.testing.assert_close(
        difference(record(), other, "mse"), torch.tensor([0.01, 0.03, 0.0, 0.0]), rtol=0, atol=1e-4
    )
    assert torch.equal(difference(record(), other, "mse"), difference(other, record(), "mse"))


def test_the_difference_between_drawings_is_that_of_the_pixels():
    names = ("digits-dr", "digits-em")
    first, second = (recorded(zoo.entry(name)) for name in names)
    networks = (zoo.load(names[0]), zoo.load(names[1]))
    apart = difference(first, second, "drawings", networks)
    one, other = drawings(first, networks[0]), drawings(second, networks[1])
    torch.testing.assert_close(apart, (one - other).square().flatten(1).mean(1))
    assert apart.shape == (360,)


def test_the_difference_between_drawings_needs_who_draws():
    with pytest.raises(CompareError, match="needs the two models that draw"):
        difference(record(), record(), "drawings")


def test_records_of_different_data_do_not_compare():
    with pytest.raises(CompareError, match="choose one data set"):
        difference(record(), record(data="mnist"), "mse")
    others = replace(record(), labels=record().labels.roll(1))
    assert not torch.equal(others.labels, record().labels)
    for compare in (lambda one, two: difference(one, two, "mse"), lambda *both: contested(both)):
        with pytest.raises(CompareError, match="choose one data set"):
            compare(record(), others)


def test_an_unknown_figure_is_answered_with_the_known_ones():
    with pytest.raises(PredictionsError, match="choose mse or ssim"):
        difference(record(), record(), "colour")


def test_the_most_different_come_first_and_equal_ones_in_order():
    assert most(torch.tensor([0.1, 0.3, 0.2, 0.3]), 3).tolist() == [1, 3, 2]


def test_the_worst_drawn_have_large_errors_or_little_likeness():
    assert worst_drawn([record(), record()], "mse", 2).tolist() == [1, 3]
    assert worst_drawn([record()], "ssim", 4).tolist() == [1, 3, 2, 0]


def test_the_images_from_one_on_go_round_and_may_be_of_one_class():
    assert from_on(record(), 3, 3).tolist() == [3, 0, 1]
    assert from_on(record(), 0, 9, label=2).tolist() == [2, 3]
    assert from_on(record(), 3, 2, label=2).tolist() == [3, 2]


def test_images_classified_right_may_begin_with_those_drawn_wrong():
    assert classified_right(record(), 5).tolist() == [0, 1]
    assert classified_right(record(), 5, wrong_first=True).tolist() == [1, 0]
    assert classified_right(record(), 1, wrong_first=True).tolist() == [1]


def test_rows_are_drawings_or_how_far_they_are_off():
    drawn, inputs = torch.rand(2, 1, 4, 4), torch.rand(2, 1, 4, 4)
    assert torch.equal(rows({"a": drawn})["a"], drawn)
    torch.testing.assert_close(rows({"a": drawn}, inputs)["a"], drawn - inputs)


def test_the_contested_image_has_the_most_answers_then_the_smallest_majority():
    answers = ([0, 1, 2, 2], [0, 1, 1, 1], [0, 3, 0, 0], [0, 1, 0, 2])
    records = [record(predicted=torch.tensor(each)) for each in answers]
    # By image: one answer; two; three of four votes 2, 1, 1 for 0; three of four votes 2, 1, 1 for 2.
    assert contested(records) == 2
    assert contested(records, (0, 1, 3)) == 3
    assert contested(records, (0, 1)) == 1
    assert contested(records, (0,)) is None
    with pytest.raises(CompareError, match="choose one data set"):
        contested([record(), record(data="mnist")])


def test_the_contested_image_of_the_digits_is_one_that_the_networks_themselves_read_differently():
    names = [entry.name for entry in zoo.models().values() if entry.data == "digits" and entry.has_decoder]
    chosen = known(contested([recorded(zoo.entry(name)) for name in names]))
    image = to_float(load("digits", "test").images[chosen : chosen + 1])
    answers = {int(capsviz.trace(zoo.load(name), image).predicted) for name in names}
    assert len(answers) == 3


def test_two_digits_named_in_another_order_are_the_same_answer():
    first = pairs_of_digits()
    turned = replace(first, predicted=first.predicted.flip(1))
    assert contested([first, turned]) is None
    other = first.predicted.clone()
    other[2] = torch.tensor([1, 2])
    assert contested([first, turned, replace(first, predicted=other)]) == 2
    assert contested([first, replace(first, predicted=other)], [0, 3]) is None


def test_pairs_in_which_either_digit_is_of_a_class_are_found():
    assert from_on(pairs_of_digits(), 1, 3, 2).tolist() == [2, 3]
    assert from_on(pairs_of_digits(), 1, 3, 1).tolist() == [1, 2, 0]
