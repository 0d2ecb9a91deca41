"""Routing in bounded memory: some lower capsules at a time, whose votes and shares are made anew where they are needed.

Nothing of the size batch × lower × upper is kept: what a lower capsule gives follows from its votes and from where the
upper capsules stood before, and the backward pass computes it again, part by part. The sums are those of the ordinary
path in another order, so that results agree to rounding. An algorithm takes this way where what it would store of a
batch is more than `LIMIT`, which no shipped model's training comes near.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .votes import LinearVotes, MatrixVotes, Votes

LIMIT = 2**29
"""Bytes of votes, or of all that is as large as the capsule pairs, above which a batch is routed in parts."""
PART, LARGE_PART = 2**22, 2**26
"""Bytes of the same that a part has: on a CPU, whose cache then holds what is made of it, and elsewhere."""
Whole = LinearVotes | MatrixVotes
_few: ContextVar[bool] = ContextVar("few", default=False)


@contextmanager
def few() -> Iterator[None]:
    """Meanwhile two parts stand for all, in this thread: for whoever asks what a pass takes, and not what it gives."""
    token = _few.set(True)
    try:
        yield
    finally:
        _few.reset(token)


def too_large(votes: Votes, numbers: int) -> bool:
    """Whether votes are better routed in parts: the algorithm keeps `numbers` of each capsule pair."""
    batch, lower, upper, _ = votes.shape
    return isinstance(votes, Whole) and _bytes(votes, batch * lower * upper * numbers) > LIMIT


@dataclass(frozen=True)
class Cut:
    """How votes, and what there is of every lower capsule beside them, are cut: `size` lower capsules a part.

    kind: of the votes, whose tensors come first, then so many "batch lower" ones as there are beside.
    """

    kind: type[Whole]
    size: int

    @classmethod
    def of(cls, votes: Whole, numbers: int) -> Cut:
        """As many lower capsules a part as `PART` holds `numbers` of each capsule pair of."""
        batch, lower, upper, _ = votes.shape
        most = PART if votes.poses.device.type == "cpu" else LARGE_PART
        return cls(type(votes), max(1, lower * most // max(1, _bytes(votes, batch * lower * upper * numbers))))

    def parts(self, tensors: Sequence[Tensor]) -> Iterator[tuple[Tensor, ...]]:
        """The tensors of each part, which share the memory of the whole ones."""
        held = len(fields(self.kind))
        votes = self.kind(*tensors[:held]).split(self.size)
        beside = (each.split(self.size, dim=1) for each in tensors[held:])
        found = ((*_tensors(part), *more) for part, *more in zip(votes, *beside, strict=True))
        return islice(found, 2) if _few.get() else found

    def called(self, function: Callable[..., Sequence[Tensor]], part: Sequence[Tensor], more: Sequence[Tensor]) -> Any:
        """What a function makes of the votes of a part, what is beside them, and what all parts share."""
        held = len(fields(self.kind))
        return function(self.kind(*part[:held]), *part[held:], *more)


def added(
    function: Callable[..., Sequence[Tensor]], votes: Whole, numbers: int, beside: Sequence[Tensor], *more: Tensor
) -> tuple[Tensor, ...]:
    """What a function makes of every part, added up; its backward pass runs it again.

    It is called with the votes of some lower capsules, as many as `PART` holds `numbers` of each capsule pair of, with
    their share of the "batch lower" tensors `beside`, and with `more`, whole; it returns new tensors. Gradients flow
    to all of these, and cannot be differentiated again.
    """
    split = (*_tensors(votes), *beside)
    return _Added.apply(function, Cut.of(votes, numbers), len(split), *split, *more)


class _Added(torch.autograd.Function):
    """Nothing small outlives a part: where it lay between two parts' large tensors, the allocator could not use the
    room of the first for the second, and a process would hold many times of what its tensors take.
    """

    @staticmethod
    def forward(
        function: Callable[..., Sequence[Tensor]], cut: Cut, split: int, *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        total: list[Tensor] = []
        for part in cut.parts(tensors[:split]):
            made = cut.called(function, part, tensors[split:])
            total = [old.add_(new) for old, new in zip(total, made, strict=True)] if total else list(made)
            del made
        return tuple(total)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.function, ctx.cut, ctx.split, *tensors = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *incoming: Tensor) -> tuple[Tensor | None, ...]:
        tensors, needed = ctx.saved_tensors, ctx.needs_input_grad[3:]
        found = [torch.zeros_like(tensor) for tensor in tensors]
        own, shared = found[: ctx.split], found[ctx.split :]
        for part, into in zip(ctx.cut.parts(tensors[: ctx.split]), ctx.cut.parts(own), strict=True):
            _add_gradients(ctx, (*part, *tensors[ctx.split :]), (*into, *shared), incoming)
        return None, None, None, *(each if need else None for each, need in zip(found, needed, strict=True))


def _add_gradients(
    ctx: Any, tensors: Sequence[Tensor], gradients: Sequence[Tensor], incoming: Sequence[Tensor]
) -> None:
    """Of one part, to where the gradients of its tensors are gathered."""
    needed = ctx.needs_input_grad[3:]
    leaves = [tensor.detach().requires_grad_(need) for tensor, need in zip(tensors, needed, strict=True)]
    wanted = [place for place, need in enumerate(needed) if need]
    # In float32, as forwards, whatever the backward pass runs under.
    with torch.enable_grad(), torch.autocast(tensors[0].device.type, enabled=False):
        made = ctx.cut.called(ctx.function, leaves[: ctx.split], leaves[ctx.split :])
        outputs, given = zip(
            *((each, to) for each, to in zip(made, incoming, strict=True) if each.requires_grad), strict=True
        )
        own = torch.autograd.grad(outputs, [leaves[place] for place in wanted], given, allow_unused=True)
    for place, gradient in zip(wanted, own, strict=True):
        if gradient is not None:
            gradients[place].add_(gradient)


def _tensors(votes: Whole) -> tuple[Tensor, ...]:
    return tuple(getattr(votes, field.name) for field in fields(votes))


def _bytes(votes: Whole, count: int) -> int:
    return count * votes.poses.element_size()
