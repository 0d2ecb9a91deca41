"""A copy of a data set whose test images stand in another order than those that were measured."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import torch

from app.sources import browsing
from capsviz import data
from capsviz.data.exemplars import exemplars
from tests.app.conftest import Visit
from tests.app.reading import spoken


@pytest.fixture
def reordered(mnist_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> data.ImageSet:
    """MNIST with its test images from the last to the first; its training images are black."""
    test = data.load("mnist", "test", root=mnist_root)
    assert isinstance(test, data.ImageSet)
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    images, labels = (struct.pack(">4i", 2051, 10_000, 28, 28), struct.pack(">2i", 2049, 10_000))
    (raw / "t10k-images-idx3-ubyte").write_bytes(images + bytes(test.images.flip(0).numpy()))
    (raw / "t10k-labels-idx1-ubyte").write_bytes(labels + bytes(test.labels.flip(0).to(torch.uint8).numpy()))
    for name, size in (("train-images-idx3-ubyte", 16 + 60_000 * 784), ("train-labels-idx1-ubyte", 8 + 60_000)):
        with (raw / name).open("wb") as file:
            file.truncate(size)
    monkeypatch.setenv("CAPSVIZ_DATA", str(tmp_path))
    return test


def test_its_first_image_begins_and_nothing_that_was_measured_is_said_of_its_images(visit: Visit, reordered):
    app = visit("compare", model="mnist-dr-residual")
    assert not app.exception and not app.error
    assert browsing.start("mnist", "test") == 0 != exemplars("mnist").start
    assert f"MNIST test image 0, class {reordered.labels[-1]}" in spoken(app)
    assert not any(each.key == "contested" for each in app.button)
    app = visit("compare", model="mnist-dr-residual", view="many")
    assert not app.exception and not app.error
    assert "The test images of MNIST here are not those that were measured, or in another order" in spoken(app)
