"""The exhibits of Basics are given what the network computed, and refuse what has no such numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from capsviz.boards import margin_message, squash_message
from capsviz.boards.basics import MARGINS, margin_table
from capsviz.figures.errors import FigureError
from capsviz.network import METHODS
from capsviz.routing import ALGORITHMS, lengths, squash
from capsviz.routing.losses import margin_loss
from tests.figures.conftest import record


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_that_squashes_says_what_it_squashes_and_is_trained_on_the_margin_loss(name: str):
    trace, algorithm = record(name), ALGORITHMS[name]
    if not algorithm.squashed:
        with pytest.raises(FigureError, match="squashes nothing; trace a model of DR, L2 and L1"):
            squash_message(trace, length=1.0, angle=0)
        return
    poses = squash(trace.layer[algorithm.squashed])
    torch.testing.assert_close(poses, trace.layer.poses)
    torch.testing.assert_close(lengths(poses), trace.layer["activations"])
    targets = torch.rand(3, 10) < 0.3
    torch.testing.assert_close(METHODS[name].loss(trace.activations, targets), margin_loss(trace.activations, targets))


def test_the_class_capsules_stand_on_the_curve_of_squash(dr):
    given = squash_message(dr, length=1.5, angle=-20, image=1, title="an image")
    sums, after = given.arrays["sums"], given.arrays["lengths"]
    np.testing.assert_allclose(after, sums**2 / (1 + sums**2), atol=1e-6)
    np.testing.assert_allclose(after, dr.activations[1], atol=1e-7)
    assert given.fields["vector"] == [1.5, -20] and given.fields["title"] == "an image"
    assert list(given.fields["classes"]) == list(dr.classes)
    with pytest.raises(FigureError, match="no image 3"):
        squash_message(dr, length=1.0, angle=0, image=3)


def test_the_margin_loss_is_told_which_classes_are_there(dr):
    given = margin_message(dr, (2, 7), margins=(0.8, 0.2, 1.0), moved=((2, 0.25),))
    assert [place for place, there in enumerate(given.fields["targets"]) if there] == [2, 7]
    assert given.fields["margins"] == [0.8, 0.2, 1.0] and given.fields["usual"] == list(MARGINS) == [0.9, 0.1, 0.5]
    assert given.fields["moved"] == [[2, 0.25]]
    np.testing.assert_allclose(given.arrays["lengths"], dr.activations[0], atol=1e-7)


def test_the_table_of_the_margin_loss_holds_lengths_as_they_were_moved_and_their_losses(dr):
    table = margin_table(margin_message(dr, (2, 7), margins=(0.8, 0.2, 1.0), moved=((2, 0.25), (4, 0.5))))
    np.testing.assert_array_equal(table["lengths"], dr.activations[0])
    assert (table["lengths as moved"][[2, 4]] == (0.25, 0.5)).all() and table["there"].nonzero()[0].tolist() == [2, 7]
    np.testing.assert_allclose(table["losses"][[2, 4]], (0.55**2, 0.3**2), rtol=1e-5)
