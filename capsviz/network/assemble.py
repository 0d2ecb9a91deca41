"""Every kind of network by its config: the capsule networks, and the baseline without capsules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from capsviz.routing import ALGORITHMS, Method

from .capsnet import CapsNet
from .cnn import BASELINE, CNN, CNNConfig, cnn_preset
from .config import CapsNetConfig, ConfigError, NetworkConfig
from .own_numbers import own_numbers
from .presets import preset
from .residual import Convolution

Network: TypeAlias = CapsNet | CNN

METHODS: dict[str, Method] = {**ALGORITHMS, BASELINE.name: BASELINE}
"""What can be trained and compared, by name: the routing algorithms, and the baseline without capsules; the one order
of every list."""


def configure(
    name: str, data: str, routing: str, *, decoder: bool | Sequence[int] = True, **overrides: Any
) -> NetworkConfig:
    """The config of a named preset for a data set; routing: a key of METHODS.

    decoder: as of `preset`; the baseline has none and ignores it. overrides: any field of the config. Raises as
    `preset`.
    """
    if routing == BASELINE.name:
        return cnn_preset(name, data, **overrides)
    return preset(name, data, routing, decoder=decoder, **overrides)


def config_from_dict(values: dict[str, Any]) -> NetworkConfig:
    """The config whose `to_dict` wrote `values`; raises ConfigError where a field is unknown."""
    if not isinstance(values, dict):
        raise ConfigError("The config must be an object; restore the file.")
    return (CNNConfig if values.get("routing") == BASELINE.name else CapsNetConfig).from_dict(values)


def config_in_file(kind: type, values: Any) -> Any:
    """What `capsviz.reading.understood` calls for the config of a network of whatever kind."""
    if kind is not NetworkConfig:
        raise TypeError(f"no {kind.__name__} stands in a file")
    return config_from_dict(values)


def assemble(config: NetworkConfig, seed: int | None = None) -> Network:
    """The network of a config, its weights drawn from torch's random numbers, or from those of a seed beside them."""
    if seed is not None:
        with own_numbers(seed):
            return assemble(config)
    if isinstance(config, CNNConfig):
        return CNN(config)
    assert isinstance(config, CapsNetConfig)
    return CapsNet(config)


def folded(network: Network) -> Network:
    """The network that does at inference what this one does, its batch normalisations in the weights before them.

    A network without any is given back as it is.
    """
    if not isinstance(network, CapsNet) or not (network.config.stages and network.config.normalised):
        return network
    weights = {name: value for name, value in network.state_dict().items() if ".norm." not in name}
    for name, module in network.named_modules():
        if isinstance(module, Convolution):
            weights |= {f"{name}.conv.{key}": value for key, value in module.folded().items()}
    plain = assemble(replace(network.config, normalised=False), seed=0)
    plain.load_state_dict(weights)
    return plain.to(next(network.parameters()).device).eval()
