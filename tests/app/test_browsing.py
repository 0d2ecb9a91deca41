"""Data sets as they are browsed: pairs of digits as well, one for each digit of their base."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from app.shared import resources
from app.sources import browsing, images
from capsviz.data import MultiDigits
from tests.known import single_digits


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> Iterator[MultiDigits]:
    """Pairs of embedded digits where the app looks for those of MNIST."""
    made = MultiDigits(single_digits())
    monkeypatch.setattr(browsing, "_loaded", lambda name, split: made)
    browsing._indices_of.clear()
    yield made
    browsing._indices_of.clear()


def test_a_pair_is_browsed_for_each_digit_of_the_base(pairs: MultiDigits):
    assert len(browsing.indices("multi-mnist", "test")) == len(pairs.base) < len(pairs)
    pixels, labels = browsing.image("multi-mnist", "test", 5)
    overlaid, classes = pairs.batch(torch.tensor([5]))
    assert torch.equal(pixels, overlaid[0]) and labels == tuple(classes[0].tolist())


def test_a_class_is_found_in_either_digit_of_a_pair(pairs: MultiDigits):
    _, labels = pairs.batch(torch.arange(len(pairs.base)))
    for label in (0, 9):
        found = browsing.indices_of("multi-mnist", "test", label)
        assert found == tuple(torch.nonzero((labels == label).any(1)).flatten().tolist())


def test_a_pair_on_stage_names_both_classes_and_has_both_labels(pairs: MultiDigits):
    _, (first, second) = browsing.image("multi-mnist", "test", 5)
    picture = images.from_data("multi-mnist", "test", 5, resources.entries()["digits-dr"])
    assert picture.title == f"MultiMNIST test image 5, classes {first} and {second}"
    assert picture.labels == (first, second) and tuple(picture.pixels.shape) == (1, 28, 28)
