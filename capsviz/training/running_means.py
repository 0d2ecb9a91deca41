"""Mean losses and speed over a stretch of steps."""

import time
from typing import Any

import torch
from torch import Tensor


class RunningMeans:
    """Losses since the last line of metrics; the sums stay on the device until they are read."""

    def __init__(self) -> None:
        self.loss: float | None = None
        self.last: dict[str, float] = {}
        self._clear()

    def _clear(self) -> None:
        self.sums: Tensor | None = None
        self.steps, self.images, self.began = 0, 0, time.monotonic()

    def add(self, images: int, loss: Tensor, routing_loss: Tensor, reconstruction: Tensor) -> None:
        """Count one step: its whole loss, that on the class capsules, and that of the reconstruction, unweighted."""
        step = torch.stack([loss, routing_loss, reconstruction]).detach()
        self.sums = step if self.sums is None else self.sums + step
        self.steps, self.images = self.steps + 1, self.images + images

    def images_per_second(self) -> float:
        """Speed since the last line; on a GPU, steps may still be under way."""
        return self.images / max(1e-9, time.monotonic() - self.began)

    def read(self, fabric: Any) -> dict[str, float]:
        """Means over the window and over all processes, and the speed; starts the next window."""
        assert self.sums is not None, "a window is read after at least one step"
        means = (fabric.all_reduce(self.sums, reduce_op="mean") / self.steps).tolist()
        self.loss = means[0]
        self.last = dict(zip(("loss", "margin", "reconstruction"), (round(mean, 6) for mean in means), strict=True))
        self.last["images_per_second"] = round(self.images_per_second(), 1)
        self._clear()
        return self.last
