"""Numbers of an image seen differently, and the linear map that tells how differently."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import capsviz
from capsviz import zoo
from capsviz.analysis.viewpoint import Seen, ViewpointError, numbers, recovered
from capsviz.data import to_float
from capsviz.network import CNN
from tests.known import single_digits


def drawn(count: int, seed: int, tell: float) -> Seen:
    """Numbers of two classes that hold the amount times `tell`, with another sign in each class, and noise."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(count, 5, generator=generator)
    amounts, labels = torch.randn(count, generator=generator), torch.arange(count) % 2
    values[:, 0] = tell * amounts * (1 - 2 * labels)
    return Seen(values, amounts, labels)


def test_a_map_for_each_class_recovers_what_is_there_and_nothing_where_nothing_is():
    assert recovered(drawn(200, 0, 1.0), drawn(100, 1, 1.0)).r2 > 0.999
    assert recovered(drawn(200, 0, 0.0), drawn(100, 1, 0.0)).r2 == pytest.approx(0, abs=0.1)


def test_the_error_of_r2_is_how_far_it_lies_apart_over_images_drawn_anew():
    fitted = drawn(200, 0, 1.5)
    found = [recovered(fitted, drawn(100, seed, 1.5), 1) for seed in range(1, 41)]
    apart = float(np.std([each.r2 for each in found]))
    assert apart == pytest.approx(np.mean([each.error for each in found]), rel=0.3) and apart > 0.001


def test_a_class_of_which_nothing_was_fitted_is_named():
    fitted, held = drawn(200, 0, 1.0), drawn(100, 1, 1.0)
    with pytest.raises(ViewpointError, match=r"^Of class 7 nothing was fitted; fit images of every class that is held"):
        recovered(fitted, replace(held, labels=torch.full((100,), 7)))


def test_one_held_image_has_no_r2():
    fitted, held = drawn(200, 0, 1.0), drawn(1, 1, 1.0)
    with pytest.raises(ViewpointError, match=r"^R² is of two images at least and 1 is held; add images to judge by\.$"):
        recovered(fitted, held)


def test_components_are_those_of_the_fitted_images():
    fitted, held = drawn(200, 0, 10.0), drawn(100, 1, 10.0)
    assert recovered(fitted, held, 1).r2 > 0.99, "the amount varies most"
    assert recovered(drawn(200, 0, 0.01), drawn(100, 1, 0.01), 4).r2 < 0.2, "the amount varies least, and is left out"


def test_the_numbers_are_the_class_capsule_or_what_the_last_pooling_keeps():
    digits = single_digits()
    images, labels = to_float(digits.images[:6]), digits.labels[:6]
    model = capsviz.load("digits-dr")
    read = numbers(model, images, labels)
    assert torch.equal(numbers(model, images.double(), labels), read)
    assert torch.equal(numbers(model, digits.images[:6], labels), read)
    assert torch.equal(read[3], model(images, reconstruct=False).poses[3, labels[3]])
    cnn = zoo.load_network("mnist-cnn")
    assert isinstance(cnn, CNN)
    pooled = numbers(cnn, images, labels)
    assert pooled.shape == (6, cnn.config.features)
    assert torch.equal(cnn.classifier(pooled), cnn(images).logits)
