"""Capsule networks and the baseline beside them: presets as data, and the modules built from them."""

from .assemble import (
    METHODS,
    Network,
    assemble,
    config_from_dict,
    config_in_file,
    configure,
    folded,
)
from .capsnet import CapsNet, CapsOutput, Decoder
from .capsules import ConvolutionalCapsules, PrimaryCapsules, strongest
from .cnn import CNN, CNN_PRESETS, CNNConfig, CNNOutput, NoCapsulesError, cnn_preset
from .config import MOST_ITERATIONS, CapsNetConfig, CapsuleLayer, ConfigError, NetworkConfig, Stage
from .presets import MATRIX_PRESETS, PRESETS, preset

__all__ = [
    "CNN",
    "CNN_PRESETS",
    "MATRIX_PRESETS",
    "METHODS",
    "MOST_ITERATIONS",
    "PRESETS",
    "CNNConfig",
    "CNNOutput",
    "CapsNet",
    "CapsNetConfig",
    "CapsOutput",
    "CapsuleLayer",
    "ConfigError",
    "ConvolutionalCapsules",
    "Decoder",
    "Network",
    "NetworkConfig",
    "NoCapsulesError",
    "PrimaryCapsules",
    "Stage",
    "assemble",
    "cnn_preset",
    "config_from_dict",
    "config_in_file",
    "configure",
    "folded",
    "preset",
    "strongest",
]
