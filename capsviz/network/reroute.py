"""The same weights under another routing: what each algorithm makes of the very same votes."""

from __future__ import annotations

from dataclasses import replace

from .capsnet import CapsNet
from .config import ROUTING_TITLES, ConfigError, RoutingName


def rerouted(model: CapsNet, routing: RoutingName) -> CapsNet:
    """A network that shares encoder, votes and decoder with `model` and routes otherwise, in evaluation mode.

    Its weights were trained for the first routing, so that the answer is a thought experiment; its votes are the same
    to the last bit. Raises ConfigError between EM and the others, whose votes differ, and towards L2 or L1 from a
    network that has no coefficients.
    """
    has = "coefficients" in dict(model.named_buffers())
    if "em" in (model.config.routing, routing) or (routing in ("l2", "l1") and not has):
        raise ConfigError(
            f"{ROUTING_TITLES[routing]} cannot route the votes of a {ROUTING_TITLES[model.config.routing]} network; "
            "choose dynamic routing of an L2 or L1 network."
        )
    other = CapsNet(replace(model.config, routing=routing))
    wanted = other.state_dict()
    other.load_state_dict({name: value for name, value in model.state_dict().items() if name in wanted})
    return other.eval().requires_grad_(False)
