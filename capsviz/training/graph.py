"""A training step's work for a GPU, recorded once and launched as a whole: a CUDA graph.

A step of the papers' network is hundreds of kernels, which Python takes several times as long to launch one by one as a
GPU to compute (docs/speed.md).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import torch

from capsviz.training.feed import Batch

WARM_UPS = 4
"""Steps before the recording, in which libraries choose their kernels and Adam makes its moments."""


class RecordingWarning(UserWarning):
    """A step cannot be recorded, and goes on launched kernel by kernel; one sentence."""


class Recorded:
    """A function of a batch on a GPU, called as it is at first, then played back as its kernels were recorded.

    function: takes a Batch, always of the same shapes, and a number that makes no difference, and returns tensors; what
    else it reads and writes lies in tensors that stay where they are, and nothing in it waits for a number of the GPU.
    Where its kernels cannot be recorded, a warning says why, `undo` is called and the function goes on as it is. What a
    call returns holds until the next one. Source: `torch.cuda.graph`.
    """

    def __init__(self, function: Callable[[Batch, float], Any], undo: Callable[[], None]) -> None:
        self.function, self.undo, self.calls = function, undo, 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._batch: Batch | None = None
        self._returned: Any = None
        self._aside = torch.cuda.Stream()

    def __call__(self, batch: Batch, number: float) -> Any:
        """What the function makes of a batch."""
        self.calls += 1
        if self.calls == WARM_UPS + 1:
            self._record(batch, number)
        if self._graph is None or self._batch is None:
            return self._called(batch, number)
        for field in fields(Batch):
            getattr(self._batch, field.name).copy_(getattr(batch, field.name))
        self._graph.replay()
        return self._returned

    def _called(self, batch: Batch, number: float) -> Any:
        """Away from PyTorch's usual stream, for which no recording may wait."""
        usual = torch.cuda.current_stream()
        self._aside.wait_stream(usual)
        with torch.cuda.stream(self._aside):
            returned = self.function(batch, number)
        usual.wait_stream(self._aside)
        return returned

    def _record(self, batch: Batch, number: float) -> None:
        usual = torch.cuda.current_stream()
        self._batch = replace(batch, **{field.name: getattr(batch, field.name).clone() for field in fields(Batch)})
        graph = torch.cuda.CUDAGraph()
        try:
            # Another thread may use the GPU meanwhile.
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                self._returned = self.function(self._batch, number)
        except RuntimeError as error:
            torch.cuda.set_stream(usual)
            self.undo()
            why = str(error).partition("\n")[0]
            warnings.warn(
                f"The kernels of a step cannot be recorded ({why}); they are launched one by one, which takes longer.",
                RecordingWarning,
                stacklevel=4,
            )
            return
        self._graph = graph
