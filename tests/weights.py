"""What two trainings end in, one beside the other."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import torch

from capsviz.training.runs import open_run


def assert_same(first: Path, second: Path, within: float = 0) -> None:
    """The runs in two folders have the same weights, up to a difference."""
    one, other = (open_run(folder)[0].state_dict() for folder in (first, second))
    assert one.keys() == other.keys()
    for name, value in one.items():
        torch.testing.assert_close(other[name], value, rtol=0, atol=within, msg=partial("{}: {}".format, name))
