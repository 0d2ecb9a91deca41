"""Means over a stretch of steps, and how fast these were."""

from __future__ import annotations

from types import SimpleNamespace

import torch

from capsviz.training.running_means import SUMS, RunningMeans
from tests.known import known


def test_right_after_a_reading_the_speed_is_that_of_the_stretch_that_was_read():
    means, loss = RunningMeans(), torch.tensor(0.5)
    assert means.images_per_second() == 0
    means.add(32, loss, loss, loss)
    read = means.read(SimpleNamespace(all_reduce=lambda value, reduce_op: value))
    assert means.images_per_second() == read["images_per_second"] > 0


def test_processes_that_go_on_have_their_own_sums_again_and_another_number_of_them_the_mean():
    def process(rank: int, count: int = 2) -> SimpleNamespace:
        cpu = torch.device("cpu")
        return SimpleNamespace(global_rank=rank, world_size=count, device=cpu, all_reduce=lambda rows, reduce_op: rows)

    means, losses = [RunningMeans(), RunningMeans()], torch.tensor([0.5, 2.5])
    for each, loss in zip(means, losses, strict=True):
        each.add(32, loss, loss, loss)
    first, second = (each.tensors(process(rank)) for rank, each in enumerate(means))
    kept = first | {SUMS: first[SUMS] + second[SUMS]}  # what reducing by "sum" gives to all of them

    def resumed(rank: int, count: int) -> float:
        again = RunningMeans()
        again.restore(kept, process(rank, count))
        return float(known(again.sums)[0]) / again.steps

    assert [resumed(0, 2), resumed(1, 2)] == losses.tolist()
    assert [resumed(0, 1), resumed(2, 3)] == [1.5, 1.5]
