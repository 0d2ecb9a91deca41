"""Whichever copy of a test set is read, its images are counted in the order in which they were recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from capsviz import data
from capsviz.data import order
from capsviz.data.exemplars import exemplars
from tests.known import single_digits


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """Forty images whose order is written, two of them twice the same."""
    monkeypatch.setattr(order, "FOLDER", tmp_path)
    digits = single_digits()
    images, labels = digits.images[:40].clone(), digits.labels[:40].clone()
    images[7], labels[7] = images[3], labels[3]
    order.write("mine", images, labels)
    return images, labels


def test_another_copy_is_put_into_the_order_that_is_known(known):
    images, labels = known
    shuffled = torch.randperm(40)
    found, named = order.in_order("mine", images[shuffled], labels[shuffled])
    assert torch.equal(found, images) and torch.equal(named, labels)


def test_other_images_and_a_set_without_an_order_stay_as_they_are(known):
    images, labels = known
    others = ("mine", 255 - images, labels), ("mine", images, (labels + 1) % 10), ("other", images, labels)
    for name, pictures, names in others:
        shuffled = torch.randperm(40)
        found, named = order.in_order(name, pictures[shuffled], names[shuffled])
        assert torch.equal(found, pictures[shuffled]) and torch.equal(named, names[shuffled])


def test_fashion_mnist_is_counted_as_its_exemplars_are(mnist_root):
    test = data.load("fashion-mnist", "test", root=mnist_root)
    assert b"".join(order.digests(test.images, test.labels)) == (order.FOLDER / "fashion-mnist.order").read_bytes()
    shown = exemplars("fashion-mnist")
    assert torch.equal(test.images[list(shown.indices)], shown.images)
