"""Which class was taken for which."""

import torch

from capsviz.analysis.confusion import matrix, taken


def test_of_two_digits_one_that_is_missed_was_taken_for_the_one_that_is_wrong():
    shown, named = torch.tensor([[0, 1], [0, 1]]), torch.tensor([[1, 0], [2, 0]])
    assert taken(shown, named).long().tolist() == [[[0, 1], [1, 0]], [[0, 1], [1, 0]]]
    # 0 is found twice, 1 once and once taken for 2
    assert matrix(shown, named, 3).tolist() == [[2, 0, 0], [0, 1, 1], [0, 0, 0]]


def test_where_both_digits_are_missed_each_counts_for_both_that_were_named():
    counts = matrix(torch.tensor([[0, 1]]), torch.tensor([[2, 3]]), 4)
    assert counts.nonzero().tolist() == [[0, 2], [0, 3], [1, 2], [1, 3]] and int(counts.sum()) == 4
