"""The moving average of the weights."""

import copy

import pytest
import torch

from capsviz.files import read_tensors
from capsviz.network import CapsNet, preset
from capsviz.routing.discriminative import sparsity
from capsviz.training import loop
from capsviz.training.config import TrainingConfig
from capsviz.training.journal import read_metrics
from capsviz.training.runs import CHECKPOINT, open_run
from capsviz.training.step import parameter_groups
from capsviz.training.weight_average import WeightAverage


def test_the_average_is_that_of_the_definition_for_weights_coefficients_and_statistics():
    model = CapsNet(preset("residual", "mnist", "l2", primary_types=2))
    average, decay = WeightAverage(model, 0.7), 0.7
    expected = {name: value.clone().double() for name, value in model.state_dict().items()}
    for step in range(1, 6):
        with torch.no_grad():
            for value in model.state_dict().values():
                value += 1 if value.dtype == torch.int64 else torch.randn_like(value)
        average.follow(model, step)
        kept = min(decay, (1 + step) / (10 + step))
        for name, value in model.state_dict().items():
            expected[name] = (
                value.double() if value.dtype == torch.int64 else kept * expected[name] + (1 - kept) * value
            )
    for name, value in average.model.state_dict().items():
        torch.testing.assert_close(value.double(), expected[name].double(), atol=1e-5, rtol=1e-5)
    again = WeightAverage(model, 0.7)
    again.restore(average.tensors())
    assert all(torch.equal(value, average.model.state_dict()[name]) for name, value in again.model.state_dict().items())


def test_without_a_decay_the_average_is_the_network_itself():
    model = CapsNet(preset("tiny", "digits", "dr"))
    average = WeightAverage(model, 0.0)
    before = copy.deepcopy(model.state_dict())
    average.follow(model, 1)
    assert average.model is model and average.tensors() == {}
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_only_matrices_and_kernels_decay():
    model = CapsNet(preset("residual", "mnist", "em", primary_types=2))
    settings = TrainingConfig("mnist", "em", "residual", weight_decay=0.1, decoder_rate=1e-4)
    groups = parameter_groups(settings, model)
    assert sum(len(group["params"]) for group in groups) == len(list(model.parameters()))
    for group in groups:
        for parameter in group["params"]:
            assert group["weight_decay"] == (0.1 if parameter.ndim > 1 else 0.0)
    decoder = {id(parameter) for parameter in model.decoder.parameters()}
    for group in groups:
        share = 0.1 if all(id(parameter) in decoder for parameter in group["params"]) else 1.0
        assert group["share"] == share


@pytest.mark.long
def test_a_run_that_was_cut_off_opens_as_the_average_that_it_validated(tmp_path):
    config = TrainingConfig("digits", "dr", "tiny", steps=3, batch=32, average=0.9)
    loop.train(config, tmp_path, device="cpu", quiet=True, time_limit=1e-6)
    tensors, _ = read_tensors(tmp_path / CHECKPOINT)
    opened = open_run(tmp_path)[0].state_dict()
    assert all(torch.equal(value, tensors[f"average/{name}"]) for name, value in opened.items())
    assert not all(torch.equal(value, tensors[f"model/{name}"]) for name, value in opened.items())


@pytest.mark.long
def test_the_curve_says_how_sparse_the_weights_are_that_are_saved(tmp_path):
    """A soft threshold leaves exact zeros, their moving average next to none."""
    config = TrainingConfig(
        "digits", "l1", "tiny", steps=50, decoder=False, batch=32, proximal=True, regularisation=0.1, average=0.9,
        coefficient_start=0.02,
    )  # fmt: skip
    folder = loop.train(config, tmp_path / "run", device="cpu", quiet=True).folder
    last = [line for line in read_metrics(folder) if line["kind"] == "train"][-1]
    found = sparsity(open_run(folder)[0].get_buffer("coefficients"))
    assert (last["exact_zero_share"], last["near_zero_share"]) == (found.exact, found.near)
    assert found.near < 1
