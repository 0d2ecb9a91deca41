"""Configs as data: they survive JSON, and what cannot be built is refused with advice."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest

from capsviz.data import DATASETS
from capsviz.errors import CapsvizError
from capsviz.network import PRESETS, CapsNetConfig, ConfigError, preset

ROUTINGS = ["dr", "em", "l2", "l1"]


@pytest.mark.parametrize("name", list(PRESETS))
@pytest.mark.parametrize("data", DATASETS)
@pytest.mark.parametrize("routing", ROUTINGS)
def test_a_config_survives_json(name, data, routing):
    for decoder in (True, False):
        config = preset(name, data, routing, decoder=decoder)
        assert CapsNetConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_a_config_cannot_be_changed_under_a_network():
    with pytest.raises(FrozenInstanceError):
        preset("tiny", "digits", "dr").iterations = 5  # type: ignore[misc]  # what is refused here


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"routing": "dynamic"}, ["dynamic", "dr", "em", "l2", "l1"]),
        ({"classes": 0}, ["classes", "0"]),
        ({"iterations": 0}, ["iterations", "0"]),
        ({"through": "lst"}, ["through is 'lst'; choose one of last, all"]),
        ({"primary_types": -3}, ["primary_types", "-3"]),
        ({"kernel": 0}, ["kernel", "0"]),
        ({"image": (1, 16, 16)}, ["16", "image", "`--size`", "`--preset residual`"]),
        ({"image": (1, 28, 12)}, ["12", "image"]),
        ({"routing": "em", "primary_dim": 8}, ["primary_dim", "16"]),
    ],
)
def test_a_network_that_cannot_be_built_is_refused_in_a_sentence(fields, names, unchecked_types):
    with pytest.raises(ConfigError) as raised:
        CapsNetConfig(**fields)
    sentence = str(raised.value)
    assert isinstance(raised.value, CapsvizError)
    assert all(name in sentence for name in names), sentence
    assert sentence.endswith(".") and "\n" not in sentence


def test_the_smallest_image_that_leaves_a_capsule():
    assert CapsNetConfig(image=(1, 17, 17)).grid == (1, 1, 32)


def test_a_field_of_another_version_is_named():
    with pytest.raises(ConfigError, match="attention_heads"):
        CapsNetConfig.from_dict(preset("tiny", "digits", "dr").to_dict() | {"attention_heads": 4})
