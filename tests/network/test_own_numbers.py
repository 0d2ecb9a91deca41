"""Weights that are drawn from a seed, whoever else draws."""

from __future__ import annotations

from threading import Thread

import pytest
import torch

import capsviz
from capsviz.network import METHODS, CapsNet, assemble, configure, folded, preset

CONFIGS = [configure("tiny", "digits", routing) for routing in METHODS]
CONFIGS += [preset("matrix-tiny", "digits", "em"), preset("residual", "digits", "dr")]


@pytest.mark.parametrize("config", CONFIGS)
def test_a_seed_draws_what_it_draws_of_torch_and_leaves_torchs_own_numbers_alone(config):
    torch.manual_seed(5)
    expected = assemble(config).state_dict()
    before = torch.get_rng_state()
    weights = assemble(config, seed=5).state_dict()
    assert all(torch.equal(weights[name], value) for name, value in expected.items())
    assert torch.equal(torch.get_rng_state(), before)


def test_another_thread_that_draws_meanwhile_neither_changes_nor_is_changed(monkeypatch):
    expected, found = assemble(CONFIGS[0], seed=5).state_dict(), []
    plain = torch.rand(3, generator=torch.Generator().manual_seed(9))
    made = CapsNet._class_layer

    def disturbed(network):
        thread = Thread(target=lambda: found.append(torch.rand(3)))
        thread.start()
        thread.join()
        return made(network)

    monkeypatch.setattr(CapsNet, "_class_layer", disturbed)
    torch.manual_seed(9)
    weights = assemble(CONFIGS[0], seed=5).state_dict()
    assert all(torch.equal(weights[name], value) for name, value in expected.items())
    assert torch.equal(found[0], plain)


def test_weights_of_a_seed_are_drawn_on_the_cpu_whatever_the_default_device():
    expected = assemble(CONFIGS[0], seed=5).state_dict()
    with torch.device("meta"):
        weights = assemble(CONFIGS[0], seed=5).state_dict()
    assert all(torch.equal(weights[name], value) for name, value in expected.items())


def test_what_is_loaded_or_folded_draws_nothing():
    network = assemble(CONFIGS[-1])
    before = torch.get_rng_state()
    capsviz.load("digits-dr")
    folded(network)
    assert torch.equal(torch.get_rng_state(), before)
