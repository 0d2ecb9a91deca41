"""What a training config accepts, and the command it stands for."""

import shlex

import numpy as np
import pytest

from capsviz.errors import CapsvizError
from capsviz.network import METHODS
from capsviz.training.config import SettingsError, TrainingConfig


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"routing": "magic"}, ", ".join(METHODS)),
        ({"schedule": "fast"}, "one-cycle"),
        ({"precision": "8"}, "bf16-mixed"),
        ({"epochs": 0}, "at least 1"),
        ({"epochs": 1.5}, r"^epochs must be int and is float; got 1\.5\.$"),
        ({"batch": "32"}, r"^batch must be int and is str; got '32'\.$"),
        ({"batch": 0}, "at least 1"),
        ({"steps": 0}, "at least 1"),
        ({"shift": -1}, "at least 0"),
        ({"cutout": -1}, "at least 0"),
        ({"seed": -1}, "at least 0"),
        ({"learning_rate": 0.0}, "above 0"),
        ({"learning_rate": float("nan")}, "above 0"),
        ({"ascent_step": -0.1}, "above 0"),
        ({"decoder_rate": 0.0}, "above 0"),
        ({"decoder_rate": 0.001, "decoder": False}, "leave out its learning rate"),
        ({"regularisation": -1.0}, "at least 0"),
        ({"validation_share": 1.0}, "between 0 and 1"),
        ({"proximal": True}, "routing l1"),
        ({"iterations": 0}, "at least 1"),
        ({"iterations": 3, "routing": "l2"}, "leave out --iterations"),
        ({"through": "some"}, "last, all"),
        ({"through": "all", "routing": "l1"}, "leave out --through"),
        ({"coefficient_start": 0.5}, "leave out --coefficient-start"),
        ({"ascent_step": 0.1}, "Only L2 and L1 learn b and the routing is dr; leave out --gamma"),
        ({"regularisation": 0.0, "routing": "cnn"}, "the routing is cnn; leave out --regularisation"),
        ({"warm_up_steps": 9}, "belongs to EM and the routing is dr; leave out --warm-up-steps"),
        ({"warm_up_steps": 9, "routing": "l2"}, "leave out --warm-up-steps"),
        ({"seed": 2**63}, "less than 2"),
        ({"iterations": 10**6}, "at most"),
        ({"rotate": 180.0}, "less than 180"),
        ({"average": float("nan")}, "less than 1"),
        ({"routing": "cnn", "decoder": False}, "drop --no-decoder"),
    ],
)
def test_a_wrong_setting_gets_one_sentence_that_says_what_to_do(wrong, says, unchecked_types):
    with pytest.raises(SettingsError, match=says) as caught:
        TrainingConfig(**({"data": "digits", "routing": "dr"} | wrong))
    assert isinstance(caught.value, CapsvizError)
    assert "\n" not in str(caught.value) and str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("routing", "settings"),
    [
        ("em", {"warm_up_steps": 9, "iterations": 2, "through": "all"}),
        ("l2", {"ascent_step": 0.1, "regularisation": 0.0, "coefficient_start": 0.5}),
        ("l1", {"ascent_step": 0.1, "proximal": True}),
    ],
)
def test_what_is_for_one_kind_of_method_is_taken_for_that(routing, settings):
    assert TrainingConfig("digits", routing, **settings).to_dict().items() >= settings.items()


def test_numbers_of_numpy_are_plain_numbers():
    config = TrainingConfig(data="digits", routing="dr", learning_rate=np.float64(0.01))
    assert config == TrainingConfig(data="digits", routing="dr", learning_rate=0.01)
    assert type(config.learning_rate) is float


def test_a_config_survives_json():
    config = TrainingConfig("mnist", "l1", decoder=False, proximal=True, steps=7, shift=2)
    assert TrainingConfig.from_dict(config.to_dict()) == config


def test_a_setting_of_another_version_is_named():
    with pytest.raises(SettingsError, match="momentum"):
        TrainingConfig.from_dict({"data": "digits", "routing": "dr", "momentum": 0.9})


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (TrainingConfig("mnist", "dr"), "mnist-dr"),
        (TrainingConfig("digits", "l2", decoder=False), "digits-l2-fc"),
        (TrainingConfig("folder:/home/me/leaves/", "em"), "leaves-em"),
        (TrainingConfig("mnist", "l1", "paper", decoder=False), "mnist-l1-fc-paper"),
    ],
)
def test_a_model_is_named_after_data_and_routing(config, name):
    assert config.name == name


def test_the_command_of_a_config_names_what_differs_from_the_defaults_and_nothing_else():
    config = TrainingConfig("mnist", "l1", "tiny", decoder=False, epochs=3, shift=2, ascent_step=0.01, proximal=True)
    assert shlex.split(config.command()) == [
        "capsviz", "train", "--data", "mnist", "--routing", "l1", "--preset", "tiny", "--epochs", "3",
        "--no-decoder", "--shift", "2", "--gamma", "0.01", "--proximal",
    ]  # fmt: skip
    assert TrainingConfig("digits", "dr", steps=9).command().endswith("--steps 9")


def test_networks_with_convolutional_em_layers_have_a_name_of_their_own():
    assert TrainingConfig("mnist", "em", "matrix-compact").name == "mnist-matrix"
    assert TrainingConfig("mnist", "em", "matrix-paper", decoder=False).name == "mnist-matrix-fc-paper"
    assert TrainingConfig("mnist", "em", "compact").name == "mnist-em"


def test_the_command_of_a_folder_says_the_batch_that_its_size_would_choose_otherwise():
    config = TrainingConfig("folder:leaves@3x64x64", "dr", "residual", batch=128)
    assert "--batch 128" in config.command()
