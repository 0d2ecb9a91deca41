"""Untrained networks that take milliseconds, and images for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from capsviz.network import CapsNet, preset


def network(routing: str = "dr", name: str = "tiny", **overrides: Any) -> CapsNet:
    """A network of a preset for the digits, of fewer capsules than it has, with weights from a fixed seed."""
    torch.manual_seed(0)
    few: dict[str, Any] = {"decoder": (20,)} | ({} if "matrix" in name else {"conv_channels": 8, "primary_types": 4})
    return CapsNet(replace(preset(name, "digits", routing), **(few | overrides))).eval()


def images_for(model: CapsNet, count: int = 3) -> Tensor:
    """Random images in 0..1 of the size that the model takes."""
    return torch.rand(count, *model.config.image)
