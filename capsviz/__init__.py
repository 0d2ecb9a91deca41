"""capsviz: see capsule networks think.

>>> import capsviz
>>> images, labels = capsviz.data.load("digits", "test").batch(torch.arange(1))
>>> trace = capsviz.trace("digits-dr", images)
>>> trace.layer["couplings"].shape  # iterations, images, lower capsules, upper capsules
torch.Size([3, 1, 288, 10])
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import data
    from .errors import CapsvizError
    from .network import CapsNet, CapsNetConfig, preset
    from .notebook import perturb, show
    from .tracing.adopting import record
    from .tracing.intervention import Intervention
    from .tracing.recorder import trace
    from .tracing.trace import LayerTrace, Trace
    from .tracing.trace_set import TraceSet
    from .training.adopt import adopt
    from .zoo import load, models

__all__ = [
    "CapsNet",
    "CapsNetConfig",
    "CapsvizError",
    "Intervention",
    "LayerTrace",
    "Trace",
    "TraceSet",
    "adopt",
    "data",
    "load",
    "models",
    "perturb",
    "preset",
    "record",
    "show",
    "trace",
]

_PLACES = {
    "CapsNet": "network",
    "CapsNetConfig": "network",
    "CapsvizError": "errors",
    "Intervention": "tracing.intervention",
    "LayerTrace": "tracing.trace",
    "Trace": "tracing.trace",
    "TraceSet": "tracing.trace_set",
    "adopt": "training.adopt",
    "load": "zoo",
    "models": "zoo",
    "perturb": "notebook",
    "preset": "network",
    "record": "tracing.adopting",
    "show": "notebook",
    "trace": "tracing.recorder",
}
"""Where each name is, looked up when it is first asked for: importing capsviz does not wait for torch."""


def __getattr__(name: str) -> Any:
    if name == "data":
        return importlib.import_module(".data", __name__)
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, getattr(importlib.import_module(f".{_PLACES[name]}", __name__), name))
