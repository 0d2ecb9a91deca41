"""Who votes for whom, and hence which upper capsules compete for a vote.

`Everyone`: every lower capsule votes for every upper one. `Windows`: an upper capsule of a convolutional layer sees the
lower capsules in its window; upper capsules at all positions whose window holds a lower capsule compete for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor


@runtime_checkable
class Connections(Protocol):
    """What EM asks of a layer's connections; "observed" counts the lower capsules that one upper capsule sees."""

    @property
    def data_scale(self) -> float | Tensor:
        """1 / the data that a parent receives where every lower capsule is active and shares itself evenly."""
        ...

    def observed(self, numbers: Tensor) -> Tensor:
        """A number per lower capsule, "batch lower", as each upper one sees it: "batch upper observed" or broadcast."""
        ...

    def even(self, pairs: Tensor) -> Tensor:
        """An even split over the upper capsules: fills `pairs`, "batch upper observed"."""
        ...

    def softmax(self, logits: Tensor) -> Tensor:
        """Normalise over the upper capsules that a lower one votes for; "batch upper observed" in and out."""
        ...

    def given(self, shares: Tensor) -> Tensor:
        """What each lower capsule gives to all that it votes for: "batch observed upper" to "batch lower"."""
        ...


@dataclass(frozen=True)
class Everyone:
    """Each of `lower` capsules votes for each of `upper` ones."""

    lower: int
    upper: int

    @property
    def data_scale(self) -> float:
        """J / N."""
        return self.upper / self.lower

    def observed(self, numbers: Float[Tensor, "batch lower"]) -> Float[Tensor, "batch 1 lower"]:
        """Every upper capsule sees the same lower ones."""
        return numbers.unsqueeze(1)

    def even(self, pairs: Float[Tensor, "batch upper lower"]) -> Float[Tensor, "batch upper lower"]:
        """1 / J."""
        return pairs.fill_(1.0 / self.upper)

    def softmax(self, logits: Float[Tensor, "batch upper lower"]) -> Float[Tensor, "batch upper lower"]:
        """Over all upper capsules; where each of them has its numbers together, so it does in what comes out."""
        ahead = logits.transpose(0, 1)
        return ahead.softmax(dim=0).transpose(0, 1) if ahead.is_contiguous() else logits.softmax(dim=1)

    def given(self, shares: Float[Tensor, "batch lower upper"]) -> Float[Tensor, "batch lower"]:
        """The sum over all upper capsules."""
        return shares.sum(-1)


@dataclass(frozen=True)
class Windows:
    """The windows of a convolutional layer of capsules (Hinton, Sabour & Frosst 2018, section 4 and appendix A.1).

    Capsules are numbered (row · columns + column) · types + type, below and above. children: place of the lower grid
    in each slot of each upper position's window, "position slot", slots row by row; parents: for each lower place the
    entries of the flattened `children` that are this place, filled up with position · slot, which is none. An upper
    capsule observes slot · lower_types + type.
    """

    children: Int[Tensor, "position slot"]
    parents: Int[Tensor, "place most"]
    lower_types: int
    upper_types: int

    @classmethod
    def over(cls, grid: tuple[int, int, int], kernel: int, stride: int, upper_types: int) -> Windows:
        """Windows of kernel × kernel places, stride apart, that lie wholly on a grid of rows, columns and types."""
        rows, columns, types = grid
        places = torch.arange(rows * columns).view(rows, columns)
        children = places.unfold(0, kernel, stride).unfold(1, kernel, stride).flatten(2).flatten(0, 1)
        entries: list[list[int]] = [[] for _ in range(rows * columns)]
        for entry, place in enumerate(children.flatten().tolist()):
            entries[place].append(entry)
        most = max(map(len, entries))
        parents = torch.tensor([found + [children.numel()] * (most - len(found)) for found in entries])
        return cls(children.contiguous(), parents, types, upper_types)

    @property
    def lower(self) -> int:
        """Number of lower capsules."""
        return len(self.parents) * self.lower_types

    @property
    def upper(self) -> int:
        """Number of upper capsules."""
        return len(self.children) * self.upper_types

    @property
    def window(self) -> int:
        """Lower capsules that one upper capsule sees."""
        return self.children.shape[1] * self.lower_types

    @cached_property
    def lower_capsules(self) -> Int[Tensor, "position window"]:
        """The lower capsules that the upper ones at each position see, in the order in which they are observed."""
        kinds = torch.arange(self.lower_types, device=self.children.device)
        return (self.children.unsqueeze(-1) * self.lower_types + kinds).flatten(1)

    @property
    def _even(self) -> Float[Tensor, "position window"]:
        """1 / the upper capsules that each observed lower capsule votes for."""
        positions = (self.parents < self.children.numel()).sum(1)
        kind = torch.float32 if positions.device.type == "mps" else torch.float64  # which MPS has not
        shares = 1.0 / (positions[self.children].to(kind) * self.upper_types)
        return shares.repeat_interleave(self.lower_types, dim=1)

    @property
    def data_scale(self) -> Float[Tensor, "upper"]:
        """One number per upper capsule: at a border the lower capsules have fewer parents to share themselves among."""
        return (1.0 / self._even.sum(1)).repeat_interleave(self.upper_types)

    def gather(self, numbers: Float[Tensor, "batch lower *rest"]) -> Float[Tensor, "batch position window *rest"]:
        """Numbers of the lower capsules as each position sees them."""
        places = numbers.unflatten(1, (-1, self.lower_types))
        chosen = places.index_select(1, self.children.flatten())
        return chosen.unflatten(1, self.children.shape).flatten(2, 3)

    def observed(self, numbers: Float[Tensor, "batch lower"]) -> Float[Tensor, "batch upper window"]:
        """The upper capsules of one position see the same lower ones."""
        return self.gather(numbers).repeat_interleave(self.upper_types, dim=1)

    def even(self, pairs: Float[Tensor, "batch upper window"]) -> Float[Tensor, "batch upper window"]:
        """1 / the upper capsules, at all positions, that a lower one votes for."""
        return pairs.copy_(self._even.repeat_interleave(self.upper_types, dim=0))

    def softmax(self, logits: Float[Tensor, "batch upper window"]) -> Float[Tensor, "batch upper window"]:
        """Over the upper capsules of all types at all positions whose window holds the lower capsule.

        First the types at one position, then, for each lower capsule, the positions that see it: both sums as
        log-sum-exp, so that the largest logit of a capsule never overflows and never vanishes.
        """
        here = logits.unflatten(1, (-1, self.upper_types)).logsumexp(2)
        each = here.unflatten(2, (-1, self.lower_types)).flatten(1, 2)
        # What is no position counts for nothing, and is finite so that its gradient is.
        nobody = each.new_full((), torch.finfo(each.dtype).min).expand(len(each), 1, self.lower_types)
        found = torch.cat([each, nobody], 1).index_select(1, self.parents.flatten())
        total = found.unflatten(1, self.parents.shape).logsumexp(2)
        back = total.index_select(1, self.children.flatten()).view(len(each), len(self.children), 1, -1)
        return (logits.unflatten(1, (-1, self.upper_types)) - back).exp().flatten(1, 2)

    def given(self, shares: Float[Tensor, "batch window upper"]) -> Float[Tensor, "batch seen"]:
        """The sum over the upper capsules at all positions, of each lower capsule that stands in any window."""
        whose = self.lower_capsules.repeat_interleave(self.upper_types, dim=0).T.flatten()
        total = shares.new_zeros(len(shares), self.lower).index_add_(1, whose, shares.flatten(1))
        return total[:, whose.unique()]
