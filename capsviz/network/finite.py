"""Weights that are numbers: what a training that diverged leaves behind is refused wherever it would be used."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from capsviz.errors import CapsvizError
from capsviz.tensors import all_finite


class NotFinite(CapsvizError):
    """Weights hold NaN or infinity."""


def check_finite(tensors: Mapping[str, Tensor], whose: str) -> None:
    """Raise NotFinite, naming the first tensor, where one of any shape holds a number that is not finite.

    whose: what the sentence begins with, such as "The checkpoint of mnist-dr".
    """
    for name, tensor in tensors.items():
        if not all_finite(tensor):
            raise NotFinite(
                f"{whose} has numbers that are not finite in {name}: the training diverged; train again with a smaller "
                "learning rate (--lr)."
            )
