"""The same weights under another routing: what each algorithm makes of the very same votes."""

from __future__ import annotations

from dataclasses import replace

from capsviz.routing import ALGORITHMS

from .capsnet import CapsNet
from .config import ConfigError


def rerouted(model: CapsNet, routing: str) -> CapsNet:
    """A network that shares encoder, votes and decoder with `model` and routes otherwise, in evaluation mode.

    Its weights were trained for the first routing, so that the answer is a thought experiment; its votes are the same
    to the last bit. Raises ConfigError where the votes of the two differ (EM's and the others'), and towards a routing
    that has learned what the network has not: L2 and L1 their coefficients.
    """
    first, second = model.config.algorithm, ALGORITHMS[routing]
    weights = model.state_dict()
    if first.matrix == second.matrix:
        other = CapsNet(replace(model.config, routing=routing)).to(model.transform.device)
        wanted = other.state_dict().keys()
        if wanted <= weights.keys():
            other.load_state_dict({name: value for name, value in weights.items() if name in wanted})
            return other.eval().requires_grad_(False)
    raise ConfigError(
        f"{second.title} cannot route the votes of a {first.title} network; choose a routing that needs no weights but "
        "those of the votes, or a network that has the others."
    )
