"""Votes û_ij, the prediction of lower capsule i for upper capsule j, as what routing does with them.

Routing only ever asks votes three things: their weighted sum over the lower capsules, their scalar product with the
upper poses, and, rarely, themselves. `LinearVotes` and `MatrixVotes` answer from the poses and the weights;
`DenseVotes` holds the numbers. Dynamic and discriminative routing over `LinearVotes` never write the
batch × lower × upper × dim votes to memory. In a convolutional layer (`WindowVotes`) an upper capsule sees a window of
the lower ones, and "lower" counts the capsules in the window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from .connections import Connections, Everyone, Windows

MANY = 16
"""Images from which on it pays to lay out the weights of matrix capsules for all rows of a pose at once."""


@runtime_checkable
class Votes(Protocol):
    """What a routing algorithm may ask of the votes of one layer."""

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Batch, lower, upper, dim."""
        ...

    @property
    def connections(self) -> Connections:
        """Who votes for whom."""
        ...

    def weighted_sum(self, weights: Tensor) -> Tensor:
        """Σ_i weights_ij û_ij; weights "batch lower upper" or "lower upper", returns "batch upper dim"."""
        ...

    def agreement(self, poses: Tensor) -> Tensor:
        """û_ij · poses_j; poses "batch upper dim", returns "batch lower upper"."""
        ...

    def materialise(self) -> Tensor:
        """The votes themselves, "batch lower upper dim"."""
        ...

    def detach(self) -> Votes:
        """The same votes, through which no gradient flows."""
        ...

    def pairs(self, value: float) -> Tensor:
        """A number for every capsule pair, "batch lower upper", in the votes' precision and on their device."""
        ...


def _pairs(votes: Votes, like: Tensor, value: float) -> Tensor:
    batch, lower, upper, _ = votes.shape
    # Each upper capsule's numbers lie side by side: that is how every sum over the lower capsules reads them.
    return torch.full((batch, upper, lower), value, dtype=like.dtype, device=like.device).transpose(1, 2)


@dataclass(frozen=True)
class DenseVotes:
    """Votes that are at hand as numbers.

    Shapes: votes "batch lower upper dim"; with windows "batch window upper dim".
    """

    votes: Float[Tensor, "batch lower upper dim"]
    windows: Windows | None = None

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Batch, lower, upper, dim."""
        batch, lower, upper, dim = self.votes.shape
        return batch, lower, upper, dim

    @property
    def connections(self) -> Connections:
        """The windows, or everyone with everyone."""
        return self.windows or Everyone(*self.votes.shape[1:3])

    def weighted_sum(self, weights: Float[Tensor, "*batch lower upper"]) -> Float[Tensor, "images upper dim"]:
        """Σ_i weights_ij û_ij (*Encapsulating Capsule Networks*, eq. 9)."""
        return (weights.transpose(-1, -2).unsqueeze(-2) @ self.votes.transpose(1, 2)).squeeze(-2)

    def agreement(self, poses: Float[Tensor, "batch upper dim"]) -> Float[Tensor, "batch lower upper"]:
        """û_ij · poses_j (*Encapsulating Capsule Networks*, eq. 11)."""
        return (self.votes.transpose(1, 2) @ poses.unsqueeze(-1)).squeeze(-1).transpose(1, 2)

    def materialise(self) -> Float[Tensor, "batch lower upper dim"]:
        """The votes themselves."""
        return self.votes

    def detach(self) -> DenseVotes:
        """The same votes, through which no gradient flows."""
        return DenseVotes(self.votes.detach(), self.windows)

    def pairs(self, value: float) -> Float[Tensor, "batch lower upper"]:
        """A number for every capsule pair."""
        return _pairs(self, self.votes, value)


@dataclass(frozen=True)
class LinearVotes:
    """Votes û_ij = u_i W_ij that are applied, not stored (*Encapsulating Capsule Networks*, eq. 7).

    Shapes: poses u "batch lower d", weight W "lower d upper dim". Fastest where the memory of both runs over d
    before lower, as CapsNet lays them out: every sum over (i, d) is then one matrix product.
    """

    poses: Float[Tensor, "batch lower d"]
    weight: Float[Tensor, "lower d upper dim"]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Batch, lower, upper, dim."""
        lower, _, upper, dim = self.weight.shape
        return self.poses.shape[0], lower, upper, dim

    @property
    def connections(self) -> Everyone:
        """Everyone votes for everyone."""
        return Everyone(*self.shape[1:3])

    def weighted_sum(self, weights: Float[Tensor, "*batch lower upper"]) -> Float[Tensor, "images upper dim"]:
        """Σ_i weights_ij û_ij (*Encapsulating Capsule Networks*, eq. 9), as Σ_(i,d) (weights_ij u_id) W_(i,d),j.

        Weights that all images share are folded into W, and one matrix product does it all.
        """
        _, _, upper, dim = self.shape
        poses, weight = self.poses.transpose(1, 2), self.weight.transpose(0, 1)
        if weights.ndim == 2:
            folded = (weight * weights.unsqueeze(-1)).flatten(0, 1).flatten(1)
            return (poses.flatten(1) @ folded).unflatten(1, (upper, dim))
        # One upper capsule at a time keeps the weighted poses of a batch inside the cache of a CPU.
        each = zip(weights.unsqueeze(1).unbind(3), weight.flatten(0, 1).unbind(1), strict=True)
        return torch.stack([(poses * own).flatten(1) @ matrix for own, matrix in each], dim=1)

    def agreement(self, poses: Float[Tensor, "batch upper dim"]) -> Float[Tensor, "batch lower upper"]:
        """û_ij · poses_j (*Encapsulating Capsule Networks*, eq. 11), as Σ_d u_id (W_id,j · poses_j).

        One number of the lower poses at a time: what is summed is then no larger than the sum.
        """
        upper_poses, agreement = poses.transpose(0, 1), self.pairs(0.0).permute(2, 0, 1)
        for number, weight in zip(self.poses.unbind(2), self.weight.unbind(1), strict=True):
            agreement.addcmul_(upper_poses @ weight.permute(1, 2, 0), number)
        return agreement.permute(1, 2, 0)

    def materialise(self) -> Float[Tensor, "batch lower upper dim"]:
        """The votes themselves: batch × lower × upper × dim numbers."""
        return torch.einsum("bid,idjh->bijh", self.poses, self.weight)

    def split(self, size: int) -> list[LinearVotes]:
        """The votes of so many lower capsules at a time."""
        parts = zip(self.poses.split(size, dim=1), self.weight.split(size), strict=True)
        return [LinearVotes(poses, weight) for poses, weight in parts]

    def detach(self) -> LinearVotes:
        """The same votes, through which no gradient flows."""
        return LinearVotes(self.poses.detach(), self.weight.detach())

    def pairs(self, value: float) -> Float[Tensor, "batch lower upper"]:
        """A number for every capsule pair; each upper capsule's numbers lie together, as `agreement` makes them."""
        batch, lower, upper, _ = self.shape
        return self.poses.new_full((upper, batch, lower), value).permute(1, 2, 0)


@dataclass(frozen=True)
class MatrixVotes:
    """Votes V_ij = M_i W_ij of matrix capsules, plus the coordinates of capsule i.

    Source: *Encapsulating Capsule Networks*, "Predictions".

    Shapes: poses M "batch lower rows inner", weight W "lower upper inner columns", coordinates "lower rows columns",
    which are added to the votes of each lower capsule (Hinton, Sabour & Frosst 2018, "Coordinate Addition"); the
    votes have dim = rows × columns numbers, row by row.
    """

    poses: Float[Tensor, "batch lower rows inner"]
    weight: Float[Tensor, "lower upper inner columns"]
    coordinates: Float[Tensor, "lower rows columns"]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Batch, lower, upper, dim."""
        batch, lower, rows, _ = self.poses.shape
        return batch, lower, self.weight.shape[1], rows * self.weight.shape[3]

    @property
    def connections(self) -> Everyone:
        """Everyone votes for everyone."""
        return Everyone(*self.shape[1:3])

    def weighted_sum(self, weights: Float[Tensor, "*batch lower upper"]) -> Float[Tensor, "images upper dim"]:
        """Σ_i weights_ij V_ij (*Encapsulating Capsule Networks*, the numerator of eq. 22)."""
        return DenseVotes(self.materialise()).weighted_sum(weights)

    def agreement(self, poses: Float[Tensor, "batch upper dim"]) -> Float[Tensor, "batch lower upper"]:
        """V_ij · poses_j."""
        return DenseVotes(self.materialise()).agreement(poses)

    def materialise(self) -> Float[Tensor, "batch lower upper dim"]:
        """The votes themselves; their memory runs over batch, upper, lower, dim, which is how EM walks them."""
        if self.poses.shape[0] < MANY:
            votes = torch.einsum("birk,ijkc->bjirc", self.poses, self.weight)
            return (votes + self.coordinates.to(votes.dtype)).flatten(3).transpose(1, 2)
        return self._all_rows_at_once()

    def _all_rows_at_once(self) -> Float[Tensor, "batch lower upper dim"]:
        """W stands once for each row of M, and coordinates are what a number that is always 1 contributes: four times
        the multiplications, but one matrix product, whose every vote comes out in one piece.
        """
        batch, lower, upper, dim = self.shape
        rows, inner = self.poses.shape[2:]
        weight = self.weight.new_zeros(lower, rows, inner, upper, rows, dim // rows)
        for row in range(rows):
            weight[:, row, :, :, row] = self.weight.transpose(1, 2)
        shift = self.coordinates.flatten(1).unsqueeze(1).repeat(1, 1, upper).to(weight.dtype)
        weight = torch.cat([weight.flatten(1, 2).flatten(2), shift], dim=1)
        poses = torch.cat([self.poses.flatten(2), self.poses.new_ones(batch, lower, 1)], dim=2)
        votes = (poses.transpose(0, 1) @ weight).unflatten(2, (upper, dim))
        return votes.permute(1, 2, 0, 3).contiguous().transpose(1, 2)

    def split(self, size: int) -> list[MatrixVotes]:
        """The votes of so many lower capsules at a time."""
        parts = zip(self.poses.split(size, dim=1), self.weight.split(size), self.coordinates.split(size), strict=True)
        return [MatrixVotes(*each) for each in parts]

    def detach(self) -> MatrixVotes:
        """The same votes, through which no gradient flows."""
        return MatrixVotes(self.poses.detach(), self.weight.detach(), self.coordinates.detach())

    def pairs(self, value: float) -> Float[Tensor, "batch lower upper"]:
        """A number for every capsule pair."""
        return _pairs(self, self.poses, value)


@dataclass(frozen=True)
class WindowVotes:
    """Votes V_ij = M_i W_ij of a convolutional layer of matrix capsules: W belongs to a place in the window, not to a
    position (Hinton, Sabour & Frosst 2018, section 4).

    Shapes: poses M "batch lower rows inner", weight W "window types inner columns"; the votes are
    "batch window upper dim", upper capsules numbered position · types + type, dim = rows × columns.
    """

    poses: Float[Tensor, "batch lower rows inner"]
    weight: Float[Tensor, "window types inner columns"]
    windows: Windows

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Batch, window, upper, dim."""
        return self.poses.shape[0], self.windows.window, self.windows.upper, self.poses.shape[2] * self.weight.shape[3]

    @property
    def connections(self) -> Windows:
        """The windows."""
        return self.windows

    def weighted_sum(self, weights: Float[Tensor, "*batch window upper"]) -> Float[Tensor, "images upper dim"]:
        """Σ_i weights_ij V_ij over the window of each upper capsule."""
        return DenseVotes(self.materialise()).weighted_sum(weights)

    def agreement(self, poses: Float[Tensor, "batch upper dim"]) -> Float[Tensor, "batch window upper"]:
        """V_ij · poses_j."""
        return DenseVotes(self.materialise()).agreement(poses)

    def materialise(self) -> Float[Tensor, "batch window upper dim"]:
        """The votes themselves; their memory runs over batch, upper, window, dim, which is how EM walks them."""
        seen = self.windows.gather(self.poses)
        votes = torch.einsum("bpwrk,wjkc->bpjwrc", seen, self.weight)
        return votes.flatten(4).flatten(1, 2).transpose(1, 2)

    def detach(self) -> WindowVotes:
        """The same votes, through which no gradient flows."""
        return WindowVotes(self.poses.detach(), self.weight.detach(), self.windows)

    def pairs(self, value: float) -> Float[Tensor, "batch window upper"]:
        """A number for every upper capsule and every capsule in its window."""
        return _pairs(self, self.poses, value)
