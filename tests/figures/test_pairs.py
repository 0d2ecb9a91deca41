"""Two digits over one another, as pictures."""

from __future__ import annotations

import numpy as np
import torch

from capsviz.experiments.pairs import Drawer, Drawn, Pairs
from capsviz.figures.describe import describe
from capsviz.figures.pairs import INKS, drawn_pairs, inked
from capsviz.figures.theme import channels


def a_drawing(name: str, routing: str, classes: list[list[int]]) -> Drawn:
    return Drawn(Drawer(name, routing, 10, "command"), torch.tensor(classes), torch.zeros(2, 2, 1, 36, 36).byte())


def test_each_digit_has_its_ink_and_both_are_white():
    drawings = torch.zeros(1, 2, 1, 2, 2, dtype=torch.uint8)
    drawings[0, 0, 0, 0, 0] = drawings[0, 1, 0, 1, 1] = 255
    drawings[0, :, 0, 0, 1] = 255
    picture = inked(drawings)[0]
    first, second = (np.array(channels(each)) / 255 for each in INKS)
    assert np.allclose(picture[0, 0], first) and np.allclose(picture[1, 1], second)
    assert np.allclose(picture[0, 1], 1) and np.allclose(picture[1, 0], 0)


def test_a_row_for_each_model_says_what_it_named_and_where_that_is_wrong():
    labels = torch.tensor([[7, 1], [2, 3]])
    models = (a_drawing("a", "dr", [[7, 1], [2, 5]]), a_drawing("b", "l2", [[1, 7], [2, 3]]))
    figure = drawn_pairs(Pairs(torch.zeros(2, 1, 36, 36).byte(), labels, models))
    assert [note.text for note in figure.layout.annotations] == ["7 and 1", "2 and 5 ✗", "1 and 7", "2 and 3"]
    assert list(figure.layout.xaxis.ticktext) == ["7 and 1", "2 and 3"]
    assert list(figure.layout.yaxis.ticktext) == ["Image", "Dynamic routing", "L2"]
    assert describe(figure) == "2 images in columns (0, 1), in rows: Image, Dynamic routing, L2."


def test_two_models_of_one_routing_are_called_by_their_names():
    models = (a_drawing("a", "dr", [[7, 1], [2, 3]]), a_drawing("b", "dr", [[7, 1], [2, 3]]))
    labels = torch.tensor([[7, 1], [2, 3]])
    figure = drawn_pairs(Pairs(torch.zeros(2, 1, 36, 36).byte(), labels, models))
    assert list(figure.layout.yaxis.ticktext) == ["Image", "a", "b"]
