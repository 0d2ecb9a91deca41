"""Capsule networks: presets as data, and the modules built from them."""

from .capsnet import CapsNet, CapsOutput, Decoder, Encoder, PrimaryCapsules
from .config import PRESETS, ROUTING_TITLES, CapsNetConfig, ConfigError, preset

__all__ = [
    "PRESETS",
    "ROUTING_TITLES",
    "CapsNet",
    "CapsNetConfig",
    "CapsOutput",
    "ConfigError",
    "Decoder",
    "Encoder",
    "PrimaryCapsules",
    "preset",
]
