"""What max pooling keeps and discards, held against plain loops."""

from __future__ import annotations

import pytest
import torch

from capsviz.analysis.pooling import pooling
from capsviz.network import CNN, CNNConfig


def own(kernel: float = 1.0) -> CNN:
    """A CNN whose first map is the image itself, times a number."""
    network = CNN(CNNConfig(image=(1, 8, 8), classes=2, channels=(1, 1), kernel=1, hidden=2))
    with torch.no_grad():
        for name, value in (("weight", kernel), ("bias", 0.0)):
            getattr(network.convolutions[0], name).fill_(value)
    return network


def test_a_number_at_the_left_of_its_square_stays_and_its_place_is_lost_one_at_the_right_leaves():
    image = torch.zeros(1, 8, 8, dtype=torch.uint8)
    image[0, 0, 0] = 200  # at the left of its square: after one pixel at its right
    image[0, 2, 3] = 100  # at the right of its square: after one pixel in the next one
    found = pooling(own(), image)
    assert found.busy.nonzero().tolist() == [[0, 0], [1, 1], [1, 2]]
    assert found.same.nonzero().tolist() == found.moved.nonzero().tolist() == [[0, 0]]
    assert found.places[:, 0, 0].tolist() == [0, 1] and int(found.places[0, 1, 1]) == 19
    back = pooling(own(), image, right=-1)
    assert back.same.nonzero().tolist() == [[1, 1]]


def test_kept_numbers_are_the_largest_of_their_squares():
    image = torch.randint(0, 255, (1, 8, 8), generator=torch.Generator().manual_seed(0)).to(torch.uint8)
    found = pooling(own(0.5), image)
    for row in range(4):
        for column in range(4):
            square = found.maps[0, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            assert found.kept[0, row, column] == square.max()
            assert found.maps[0].flatten()[found.places[0, row, column]] == square.max()
            assert found.busy[row, column] == (square.min() < square.max())
    assert float(found.maps[0].max()) == pytest.approx(0.5 * float(image.max()) / 255)
