"""The loss of reconstructions against a number worked out by hand."""

import pytest
import torch

from capsviz.training.losses import RECONSTRUCTION_WEIGHT, reconstruction_loss


def test_reconstruction_loss_is_the_sum_over_pixels_and_the_mean_over_images():
    images = torch.zeros(2, 1, 2, 2)
    reconstruction = torch.stack([torch.full((1, 2, 2), 0.5), torch.zeros(1, 2, 2)])
    assert reconstruction_loss(reconstruction, images).item() == pytest.approx((4 * 0.25 + 0) / 2)


def test_what_is_drawn_as_it_is_costs_nothing_and_the_weight_is_that_of_the_papers():
    images = torch.rand(3, 1, 4, 4)
    assert reconstruction_loss(images, images).item() == 0
    assert RECONSTRUCTION_WEIGHT == 0.0005  # Sabour, Frosst & Hinton 2017, section 4.1
