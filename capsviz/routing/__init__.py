"""Routing algorithms, each written once, as a generator that yields one frozen step per iteration."""

from .connections import Connections, Everyone, Windows
from .discriminative import DiscriminativeStep, discriminative_routing
from .dynamic import DynamicStep, dynamic_routing
from .em import EMStep, InverseTemperature, em_routing
from .gradients import Through
from .squash import lengths, squash
from .votes import DenseVotes, LinearVotes, MatrixVotes, Votes, WindowVotes

Step = DynamicStep | EMStep | DiscriminativeStep

__all__ = [
    "Connections",
    "DenseVotes",
    "DiscriminativeStep",
    "DynamicStep",
    "EMStep",
    "Everyone",
    "InverseTemperature",
    "LinearVotes",
    "MatrixVotes",
    "Step",
    "Through",
    "Votes",
    "WindowVotes",
    "Windows",
    "discriminative_routing",
    "dynamic_routing",
    "em_routing",
    "lengths",
    "squash",
]
