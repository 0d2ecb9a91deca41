"""Routing algorithms, one a file: a generator that yields a frozen step per iteration, and all that is asked of it."""

from .algorithm import Algorithm, Ascending, LayerSizes, Method, Step
from .algorithms import ALGORITHMS, ASCENDING
from .connections import Connections, Everyone, Windows
from .discriminative import DiscriminativeStep, discriminative_routing
from .dynamic import DynamicStep, dynamic_routing
from .em import EMStep, InverseTemperature, em_routing
from .iterations import Through
from .own import add_own
from .squash import lengths, squash
from .votes import DenseVotes, LinearVotes, MatrixVotes, Votes, WindowVotes

__all__ = [
    "ALGORITHMS",
    "ASCENDING",
    "Algorithm",
    "Ascending",
    "Connections",
    "DenseVotes",
    "DiscriminativeStep",
    "DynamicStep",
    "EMStep",
    "Everyone",
    "InverseTemperature",
    "LayerSizes",
    "LinearVotes",
    "MatrixVotes",
    "Method",
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

add_own()  # last: they import what stands above
