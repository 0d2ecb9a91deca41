"""Real traces for the figures: seeded, untrained networks that route real handwritten digits."""

from __future__ import annotations

import base64
import io
from typing import Any, Literal

import numpy as np
import pytest
import torch
from numpy import ndarray
from PIL import Image
from sklearn.datasets import load_digits
from torch import Tensor

from capsviz.network import CapsNet, preset
from capsviz.tracing.recorder import trace
from capsviz.tracing.trace import Trace


def record(
    routing: str, *, name: str = "tiny", iterations: int | None = None, votes: bool | Literal["all"] = True, **overrides
) -> Trace:
    """The trace of a seeded network of a preset on three digits."""
    torch.manual_seed(7)
    model = CapsNet(preset(name, "digits", routing, **overrides)).eval()
    return trace(model, digits(), iterations=iterations, votes=votes)


def digits() -> Tensor:
    """Three handwritten digits of scikit-learn, enlarged to 28 × 28, in 0..1."""
    images = torch.from_numpy(load_digits().images[:3]).float().unsqueeze(1) / 16
    return torch.nn.functional.interpolate(images, (28, 28), mode="bilinear")


def opened(trace: Any) -> ndarray:
    """The pixels of a picture that travels as PNG."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(trace.source.partition(",")[2]))))


@pytest.fixture(scope="session")
def dr() -> Trace:
    """Dynamic routing in four iterations."""
    return record("dr", iterations=4)


@pytest.fixture(scope="session")
def em() -> Trace:
    """EM routing in three iterations."""
    return record("em", iterations=3)


@pytest.fixture(scope="session")
def l2() -> Trace:
    """Discriminative routing; its coefficients are the untrained ones."""
    return record("l2")


@pytest.fixture(scope="session")
def l2_fc() -> Trace:
    """Discriminative routing without a decoder."""
    return record("l2", decoder=False)
