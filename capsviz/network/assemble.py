"""Every kind of network by its config: the capsule networks, and the baseline without capsules."""

from __future__ import annotations

from typing import Any, TypeAlias

from .capsnet import CapsNet
from .cnn import CNN, CNN_TITLE, CNNConfig, cnn_preset
from .config import ROUTING_TITLES, CapsNetConfig, preset

Network: TypeAlias = CapsNet | CNN
NetworkConfig: TypeAlias = CapsNetConfig | CNNConfig

NETWORK_TITLES: dict[str, str] = {**ROUTING_TITLES, "cnn": CNN_TITLE}
"""What can be trained, by the name that the command line gives it."""


def configure(name: str, data: str, routing: str, *, decoder: bool = True, **overrides: Any) -> NetworkConfig:
    """The config of a named preset for a data set; routing: a key of NETWORK_TITLES, "cnn" for the baseline.

    decoder: the baseline has none and ignores it. overrides: any field of the config. Raises ConfigError.
    """
    if routing == "cnn":
        return cnn_preset(name, data, **overrides)
    return preset(name, data, routing, decoder=decoder, **overrides)


def config_from_dict(values: dict[str, Any]) -> NetworkConfig:
    """The config whose `to_dict` wrote `values`; raises ConfigError where a field is unknown."""
    return CNNConfig.from_dict(values) if values.get("routing") == "cnn" else CapsNetConfig.from_dict(values)


def assemble(config: NetworkConfig) -> Network:
    """The network of a config, its weights drawn from torch's random numbers."""
    return CNN(config) if isinstance(config, CNNConfig) else CapsNet(config)
