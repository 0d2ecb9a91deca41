"""The history of b over a training run."""

import dataclasses

import pytest
import torch

from capsviz.files import read_tensors
from capsviz.training import loop
from capsviz.training.config import TrainingConfig
from capsviz.zoo.coefficient_history import HISTORY, read_history

pytestmark = pytest.mark.long

CONFIG = TrainingConfig("digits", "l2", "tiny", steps=12, batch=64)


@pytest.mark.parametrize("average", [0.0, 0.9])
def test_history_starts_with_the_drawn_coefficients_and_ends_with_the_trained_ones(tmp_path, average):
    loop.train(dataclasses.replace(CONFIG, average=average), tmp_path / "run", device="cpu", quiet=True)
    steps, coefficients = read_history(tmp_path / "run" / HISTORY)
    weights, _ = read_tensors(tmp_path / "run" / "model.safetensors")
    assert steps[0] == 0 and steps[-1] == 12 and steps == sorted(set(steps))
    assert coefficients.shape == (len(steps), 288, 10)
    assert torch.equal(coefficients[-1], weights["coefficients"].half())
    assert abs(float(coefficients[0].float().mean()) - 0.1) < 1e-3
    assert not torch.equal(coefficients[0], coefficients[-1])


def test_a_resumed_run_has_the_history_of_one_that_was_never_cut_off(tmp_path):
    loop.train(CONFIG, tmp_path / "whole", device="cpu", quiet=True, threads=1)
    cut = loop.train(CONFIG, tmp_path / "cut", device="cpu", quiet=True, threads=1, time_limit=1e-6)
    assert cut.stopped and 0 < cut.step < 12
    loop.train(CONFIG, tmp_path / "cut", device="cpu", quiet=True, threads=1, resume=True)
    whole, resumed = (read_history(tmp_path / name / HISTORY) for name in ("whole", "cut"))
    assert whole.steps == resumed.steps
    assert torch.equal(whole.coefficients, resumed.coefficients)


def test_dynamic_routing_learns_no_coefficients_and_leaves_no_history(tmp_path):
    loop.train(TrainingConfig("digits", "dr", "tiny", steps=2), tmp_path / "run", device="cpu", quiet=True)
    assert not (tmp_path / "run" / HISTORY).exists()
