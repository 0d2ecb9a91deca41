"""Means over a stretch of steps, and how fast these were."""

from __future__ import annotations

from types import SimpleNamespace

import torch

from capsviz.training.running_means import RunningMeans


def test_right_after_a_reading_the_speed_is_that_of_the_stretch_that_was_read():
    means, loss = RunningMeans(), torch.tensor(0.5)
    assert means.images_per_second() == 0
    means.add(32, loss, loss, loss)
    read = means.read(SimpleNamespace(all_reduce=lambda value, reduce_op: value))
    assert means.images_per_second() == read["images_per_second"] > 0
