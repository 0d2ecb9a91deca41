"""Weights in float16 and in eight bits: what is lost, and what is not."""

from __future__ import annotations

import pytest
import torch

from capsviz.network import CapsNet, preset
from capsviz.zoo import storage


@pytest.fixture(scope="module")
def network() -> CapsNet:
    """A small network with coefficients b, of which half are zero."""
    torch.manual_seed(0)
    network = CapsNet(preset("tiny", "digits", "l1"))
    b = network.get_buffer("coefficients")
    b[::2] = 0.0
    return network


def test_sixteen_bits_are_float16_of_everything(network):
    found = storage.unpacked(storage.packed(network))
    assert found.keys() == network.state_dict().keys()
    for name, value in network.state_dict().items():
        assert torch.equal(found[name], value.half().float())


def test_eight_bits_are_off_by_half_a_step_of_their_run_at_most(network):
    tensors = storage.packed(network, 8)
    found = storage.unpacked(tensors)
    assert found.keys() == network.state_dict().keys()
    for name, value in network.state_dict().items():
        assert found[name].shape == value.shape
        if value.numel() < storage.FEW or name == "coefficients":
            assert torch.equal(found[name], value.half().float())
            continue
        assert tensors["model." + name].dtype == torch.int8
        runs, differences = (each.flatten().split(storage.RUN) for each in (value, found[name] - value))
        for run, difference in zip(runs, differences, strict=True):
            assert difference.abs().max() <= run.abs().max() / 127 * 0.501
    assert sum(each.nbytes for each in tensors.values()) < 0.55 * sum(
        each.nbytes for each in storage.packed(network).values()
    )


def test_a_run_of_zeros_stays_zero_and_the_last_run_may_be_short():
    numbers = torch.zeros(storage.RUN * 2 + 5)
    numbers[-5:] = torch.tensor([1.0, -1.0, 0.5, 0.0, 1e-9])
    codes, scales = storage._to_codes(numbers)
    assert codes.shape == numbers.shape and scales.shape == (3,)
    assert codes[-5:].tolist() == [127, -127, 64, 0, 0]
    found = storage._from_codes(codes, scales)
    assert (found[:-5] == 0).all() and torch.isfinite(found).all()
    torch.testing.assert_close(found[-5:-3], numbers[-5:-3])


def test_other_than_sixteen_and_eight_bits_are_refused(network):
    with pytest.raises(ValueError, match="16 or 8 bits; got bits=4"):
        storage.packed(network, 4)
