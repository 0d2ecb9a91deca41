"""Mean losses and speed over a stretch of steps."""

import time
from typing import Any

import torch
from torch import Tensor

from capsviz.files import CheckpointError

SUMS, STEPS = "window/sums", "window/steps"


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

    @property
    def total(self) -> Tensor:
        """The whole losses since the last line: no number where one of them is none."""
        assert self.sums is not None, "a window has a total after at least one step"
        return self.sums[0]

    def images_per_second(self) -> float:
        """Speed since the last line, or up to it right after; on a GPU, steps may still be under way."""
        if not self.images and self.last:
            return self.last["images_per_second"]
        return self.images / max(1e-9, time.monotonic() - self.began)

    def tensors(self, fabric: Any) -> dict[str, Tensor]:
        """What a checkpoint has to hold, so that the means of a resumed run are those of one that was never cut off.

        The sums of every process, a row for each; to be called by all of them.
        """
        if self.sums is None:
            return {}
        rows = self.sums.new_zeros(fabric.world_size, 3)
        rows[fabric.global_rank] = self.sums
        return {SUMS: fabric.all_reduce(rows, reduce_op="sum"), STEPS: torch.tensor(self.steps)}

    def restore(self, tensors: dict[str, Tensor], fabric: Any) -> None:
        """Take back what `tensors` gave to a checkpoint, where as many processes go on the sums of each its own.

        Raises CheckpointError for what is no sum.
        """
        sums, steps = tensors.get(SUMS), tensors.get(STEPS)
        if sums is None or steps is None:
            return
        whole = sums.shape[-1:] == (3,) and sums.is_floating_point() and bool(sums.isfinite().all())
        if not whole or sums.ndim > 2 or steps.shape != () or steps.dtype != torch.int64 or steps < 1:
            raise CheckpointError("The losses in the checkpoint are no sums over steps; train again without --resume.")
        rows = sums.reshape(-1, 3).to(fabric.device)
        self.sums = rows[fabric.global_rank] if len(rows) == fabric.world_size else rows.mean(0)
        self.steps = int(steps)

    def read(self, fabric: Any) -> dict[str, float]:
        """Means over the window and over all processes, and the speed; starts the next window."""
        assert self.sums is not None, "a window is read after at least one step"
        means = (fabric.all_reduce(self.sums, reduce_op="mean") / self.steps).tolist()
        self.loss = means[0]
        self.last = dict(zip(("loss", "margin", "reconstruction"), (round(mean, 6) for mean in means), strict=True))
        self.last["images_per_second"] = round(self.images_per_second(), 1)
        self._clear()
        return self.last
