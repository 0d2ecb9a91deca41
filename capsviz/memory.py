"""How much memory a call takes and moves, found without taking any: the call is run on tensors without numbers."""

from __future__ import annotations

import copy
import re
import weakref
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

if TYPE_CHECKING:
    from torch._subclasses.fake_tensor import FakeTensorMode

N = TypeVar("N", bound=nn.Module)
MANY = 1024
"""Images from which on what a pass takes for each of them outweighs what it takes for the weights."""
_per_image: dict[Any, int] = {}


class Watch(TorchDispatchMode):
    """Counts bytes while it is on, of real tensors as of fake ones.

    peak: the most that tensors made meanwhile took at once, gradients and what waits for them included. moved: Σ over
    PyTorch's operations of the bytes of every tensor that is read and of every one that is written; views move none.
    What a library takes for itself while it computes (cuDNN's and oneDNN's workspaces) is in neither.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch says no types here
        self.now = self.peak = self.moved = 0
        self._seen: weakref.WeakSet[Any] = weakref.WeakSet()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run an operation and count what it made and moved."""
        result = func(*args, **(kwargs or {}))
        given, made = list(_tensors((args, kwargs))), list(_tensors(result))
        before = {tensor.untyped_storage()._cdata for tensor in given}
        fresh = [storage for tensor in made if (storage := tensor.untyped_storage())._cdata not in before]
        if fresh or func._schema.is_mutable:
            self.moved += sum(tensor.nbytes for tensor in chain(given, made))
        for storage in fresh:
            self._own(storage)
        return result

    def _own(self, storage: Any) -> None:
        if storage in self._seen:
            return
        self._seen.add(storage)
        size = storage.nbytes()
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._free, size)

    def _free(self, size: int) -> None:
        self.now -= size


def hollow(network: N, mode: FakeTensorMode, device: str = "cpu") -> N:
    """The network with weights that have shape, type and device, but no numbers; it runs under `mode`."""

    def emptied(tensor: Tensor) -> Tensor:
        fake = mode.from_tensor(tensor)
        with mode:
            return fake.to(device)

    return copied(network, emptied)


def copied(network: N, change: Callable[[Tensor], Tensor]) -> N:
    """A copy of a network whose weights are what `change` makes of them, without a further copy on their device."""
    changed: dict[int, Any] = {}
    for tensor in chain(network.parameters(), network.buffers()):
        other = change(tensor.detach())
        changed[id(tensor)] = nn.Parameter(other, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else other
    return copy.deepcopy(network, changed)  # which takes for every tensor what stands here


def of_one_image(network: Any) -> int:
    """Bytes that a GPU needs for each image more in a forward pass of a network, by a pass without numbers."""
    from torch._subclasses.fake_tensor import FakeTensorMode  # takes as long to import as half of torch

    config = network.config
    if config not in _per_image:
        mode = FakeTensorMode()
        empty = hollow(network, mode, "cuda")

        def peak(images: int) -> int:
            with mode, torch.inference_mode():
                batch = torch.empty(images, *config.image, device="cuda")
                return peak_of(lambda: empty(batch, reconstruct=False))

        _per_image[config] = max(1, (peak(2 * MANY) - peak(MANY)) // MANY)
    return _per_image[config]


def peak_of(call: Callable[[], Any]) -> int:
    """Bytes that a call takes at most, at once, beside what was there before."""
    with Watch() as watch:
        kept = call()
    del kept
    return watch.peak


def free() -> int | None:
    """Bytes of main memory that a program may still take, within the limit of its container; None where nobody says."""
    said = [_said(Path("/proc/meminfo"), r"MemAvailable:\s+(\d+) kB", 1024)]
    group = Path("/sys/fs/cgroup")
    limit, used = (_said(group / f"memory.{name}", r"(\d+)", 1) for name in ("max", "current"))
    # What was read of files stays until somebody needs the room.
    kept = _said(group / "memory.stat", r"(?m)^inactive_file (\d+)", 1) or 0
    said.append(None if limit is None or used is None else max(0, limit - max(0, used - kept)))
    return min((each for each in said if each is not None), default=None)


def _said(file: Path, pattern: str, unit: int) -> int | None:
    """A number of bytes that the system states in a file; None where there is no such file, or no number in it."""
    try:
        found = re.search(pattern, file.read_text())
    except OSError:
        return None
    return None if found is None else unit * int(found[1])


def _tensors(values: Any) -> Iterator[Tensor]:
    return (leaf for leaf in tree_leaves(values) if isinstance(leaf, Tensor))
