"""The baseline without capsules: its size, its config, and what it answers where capsules are asked for."""

from __future__ import annotations

import json

import pytest
import torch

from capsviz.network import (
    CNN,
    CNN_PRESETS,
    CapsNet,
    CNNConfig,
    ConfigError,
    NoCapsulesError,
    assemble,
    cnn_preset,
    config_from_dict,
    configure,
    preset,
)
from capsviz.tracing.recorder import trace


def parameters(network: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


@pytest.mark.parametrize("name", list(CNN_PRESETS))
def test_the_cnn_has_the_parameters_of_the_dr_network_of_its_preset(name):
    """Within one percent, decoder included: neither side wins by size."""
    capsules = parameters(CapsNet(preset(name, "mnist", "dr")))
    assert abs(parameters(CNN(cnn_preset(name, "mnist"))) / capsules - 1) < 0.01


@pytest.mark.parametrize("data", ["mnist", "cifar10", "multi-mnist"])
def test_a_cnn_gives_one_probability_per_class_of_any_set(data):
    network = CNN(cnn_preset("tiny", data, classes=7))
    output = network(torch.rand(3, *network.config.image))
    assert output.logits.shape == (3, 7)
    torch.testing.assert_close(output.activations.sum(dim=1), torch.ones(3))
    assert torch.equal(output.activations.argmax(dim=1), output.scores.argmax(dim=1))


def test_max_pooling_hides_where_in_its_square_the_largest_number_lies():
    """Invariance, where capsules are equivariant: a shift within the pooled square changes nothing after it."""
    network = CNN(cnn_preset("tiny", "digits"))
    first_pool = network.convolutions[2]
    spot, shifted = torch.zeros(1, 1, 4, 4), torch.zeros(1, 1, 4, 4)
    spot[0, 0, 2, 2] = shifted[0, 0, 3, 3] = 1
    assert torch.equal(first_pool(spot), first_pool(shifted))


def test_a_config_survives_json_and_names_its_kind():
    config = cnn_preset("compact", "cifar10", classes=5)
    again = config_from_dict(json.loads(json.dumps(config.to_dict())))
    assert again == config and again.routing == "cnn"
    assert isinstance(assemble(again), CNN)
    capsules = preset("tiny", "digits", "l2")
    assert config_from_dict(json.loads(json.dumps(capsules.to_dict()))) == capsules


def test_configure_makes_the_network_that_a_routing_names():
    assert configure("tiny", "digits", "cnn", classes=4) == cnn_preset("tiny", "digits", classes=4)
    assert configure("tiny", "digits", "em", decoder=False) == preset("tiny", "digits", "em", decoder=False)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"image": (1, 3, 28)}, "larger"),
        ({"kernel": 4}, "odd"),
        ({"hidden": 0}, "hidden must be at least 1"),
        ({"channels": (0, 8)}, r"channels\[0\] must be at least 1"),
        ({"classes": 0}, "classes must be at least 1"),
    ],
)
def test_a_cnn_that_cannot_be_built_gets_one_sentence(wrong, says):
    with pytest.raises(ConfigError, match=says):
        CNNConfig(**wrong)


def test_an_unknown_preset_or_field_is_named():
    with pytest.raises(ConfigError, match="compact"):
        cnn_preset("huge", "mnist")
    with pytest.raises(ConfigError, match="dropout"):
        config_from_dict({"routing": "cnn", "dropout": 0.5})


def test_a_cnn_has_no_trace_and_says_so_in_one_sentence(unchecked_types):
    network = CNN(cnn_preset("tiny", "digits"))
    with pytest.raises(NoCapsulesError, match="digits-cnn is a CNN without capsules or routing") as caught:
        trace(network, torch.rand(1, 1, 28, 28), name="digits-cnn")  # type: ignore[arg-type]  # what is refused here
    assert "\n" not in str(caught.value)
