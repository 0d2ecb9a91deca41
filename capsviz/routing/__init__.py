"""Routing algorithms, each written once, as a generator that yields one frozen step per iteration."""

from .discriminative import DiscriminativeStep, discriminative_routing
from .dynamic import DynamicStep, dynamic_routing
from .em import EMStep, InverseTemperature, em_routing
from .squash import lengths, squash
from .votes import DenseVotes, LinearVotes, MatrixVotes, Votes

Step = DynamicStep | EMStep | DiscriminativeStep

__all__ = [
    "DenseVotes",
    "DiscriminativeStep",
    "DynamicStep",
    "EMStep",
    "InverseTemperature",
    "LinearVotes",
    "MatrixVotes",
    "Step",
    "Votes",
    "discriminative_routing",
    "dynamic_routing",
    "em_routing",
    "lengths",
    "squash",
]
