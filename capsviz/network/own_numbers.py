"""Random numbers for weights, drawn beside torch's own stream, which belongs to all threads together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_DRAWING = {torch.rand, torch.randn, Tensor.normal_, Tensor.uniform_}


@contextmanager
def own_numbers(seed: int) -> Iterator[None]:
    """Meanwhile this thread draws what torch draws on the CPU after `manual_seed(seed)`, from a stream of its own.

    What other threads draw meanwhile, and what is drawn afterwards, stays as it would be without it. On the CPU
    whatever the default device; of torch's functions only those that weights are drawn with.
    """
    with torch.device("cpu"), _OwnNumbers(seed):
        yield


class _OwnNumbers(TorchFunctionMode):
    def __init__(self, seed: int) -> None:
        super().__init__()
        self.numbers = torch.Generator().manual_seed(seed)

    def __torch_function__(self, called: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        """The call, its generator ours unless it has one: what draws takes one, and torch.nn.init hands one on."""
        given = dict(kwargs or {})
        if (called in _DRAWING or "generator" in given) and given.get("generator") is None:
            given["generator"] = self.numbers
        return called(*args, **given)
