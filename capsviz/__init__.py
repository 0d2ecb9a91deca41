"""capsviz: see capsule networks think.

>>> import capsviz
>>> model = capsviz.load("digits-dr")
>>> images, labels = capsviz.data.load("digits", "test").batch(torch.arange(1))
>>> trace = capsviz.trace(model, capsviz.data.to_float(images))
>>> trace.layer["couplings"].shape  # iterations, images, lower capsules, upper capsules
torch.Size([3, 1, 288, 10])
"""

from . import data
from .errors import CapsvizError
from .intervene import Intervention
from .network import CapsNet, CapsNetConfig, preset
from .notebook import perturb, show
from .trace import LayerTrace, Trace, trace
from .traceset import TraceSet
from .zoo import load, models

__all__ = [
    "CapsNet",
    "CapsNetConfig",
    "CapsvizError",
    "Intervention",
    "LayerTrace",
    "Trace",
    "TraceSet",
    "data",
    "load",
    "models",
    "perturb",
    "preset",
    "show",
    "trace",
]
