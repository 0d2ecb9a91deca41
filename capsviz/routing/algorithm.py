"""What the rest of the library asks of a routing algorithm; each answers in its own file (dynamic.py, em.py, …)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from .iterations import Through
from .losses import margin_loss
from .program import LENGTH, Explanation, Program, Share, Strength
from .votes import LinearVotes, Votes


@runtime_checkable
class Step(Protocol):
    """One iteration, as a frozen dataclass: what every algorithm's step has, beside the numbers of its own."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def iteration(self) -> int:
        """Counted from 1."""
        ...

    @property
    def poses(self) -> Tensor:
        """Of the upper capsules, "batch upper dim"."""
        ...

    @property
    def activations(self) -> Tensor:
        """Of the upper capsules, "batch upper", in 0..1."""
        ...


@runtime_checkable
class Settings(Protocol):
    """What a network's config says of its routing; an algorithm reads what concerns it."""

    @property
    def through(self) -> Through:
        """The iterations through which gradients flow."""
        ...

    @property
    def inverse_temperature(self) -> Any:
        """The schedule of EM's λ."""
        ...

    @property
    def coefficient_start(self) -> float:
        """Around which learned coefficients b are drawn."""
        ...


@dataclass(frozen=True)
class LayerSizes:
    """A layer of fully connected upper capsules, of which an algorithm makes the weights.

    centres: rows and columns, in shares of the image, of what each lower capsule sees. types: where the weights are
    shared by the lower capsules at all positions, how many there are at one; else None.
    """

    lower: int
    lower_dim: int
    upper: int
    upper_dim: int
    centres: Float[Tensor, "lower 2"]
    types: int | None = None


class Method:
    """One of the methods that are compared: what it is called, in which colour, and on what its network is trained.

    A routing algorithm is one; a network without capsules is another.
    """

    name: str
    """In configs, manifests, links and on the command line."""
    title: str
    short: str
    """The title in tables."""
    colour: str
    """In every figure; empty for that of the text."""
    iterates: bool = False
    """Whether it goes over the same votes several times."""
    ascends: bool = False
    """Whether it owns coefficients that climb an objective of their own in training (`Ascending`)."""
    has_capsules: bool = True
    plain: str = ""
    """What the papers call it where it is trained without a decoder; empty where they have no name for that."""

    def loss(
        self, scores: Float[Tensor, "batch upper"], targets: Bool[Tensor, "batch upper"], progress: float = 1.0
    ) -> Float[Tensor, ""]:
        """The loss on the classes, a mean over the batch; progress 0..1: how far training is."""
        return margin_loss(scores, targets)

    def called(self, *, decoder: bool) -> str:
        """The title in tables of a model with or without a decoder."""
        return self.plain if self.plain and not decoder else self.short


class Algorithm(Method, ABC):
    """A routing algorithm: the weights that its layer owns, and the steps that it takes over the votes.

    An object without state: what is learned belongs to the module that owns the layer.
    """

    matrix: bool = False
    """Whether poses are 4 × 4 matrices beside which a capsule has an activation of its own; else vectors, whose length
    is the activation of a lower capsule."""
    tempered: bool = False
    """Whether an inverse temperature λ, on a schedule of its own, makes its decisions stricter."""
    step: type[Step]
    """One of its iterations: the names and shapes of its numbers."""
    pose: str = "poses"
    """The field of its steps that has the poses of the upper capsules."""
    squashed: str = ""
    """The field of its steps that `squash` makes the poses of, whose length the margin loss reads; empty for none."""
    pairs: tuple[str, ...] = ()
    """The fields of its steps whose last axis is the upper capsules."""
    share: Share | None = None
    """What a lower capsule gives to an upper one, where every image has its own; of all that it votes for the sum is
    1."""
    played: tuple[str, ...] = ()
    """The fields of its steps that a board reads beside poses, activations and shares."""
    strength: Strength = LENGTH
    program: Program | None = None
    """Its lines, where a board can play them."""
    page: str
    """The page of the app that is about it."""
    explanation: Explanation
    assumed: str = ""
    """What `unlearned` gives, in words; empty where it learns nothing beside the votes."""
    pictures: frozenset[str] = frozenset()
    """Which pictures of a trace there are: board, flow, couplings, agreement, gaussians, coefficients."""

    def add_weights(self, owner: nn.Module, sizes: LayerSizes, settings: Settings) -> None:
        """Give the module that owns a layer its parameters and buffers, drawn from torch's random numbers."""
        # d before lower, as encoders lay out the poses.
        shape = sizes.lower_dim, sizes.lower, sizes.upper, sizes.upper_dim
        owner.transform = nn.Parameter(torch.randn(shape) * 0.1)

    def votes(self, owner: Any, poses: Float[Tensor, "batch lower d"]) -> Votes:
        """What every lower capsule predicts for every upper one, by the weights of the layer's owner."""
        return LinearVotes(poses, owner.transform.transpose(0, 1))

    @abstractmethod
    def route(
        self,
        owner: Any,
        votes: Votes,
        activations: Float[Tensor, "batch lower"],
        settings: Settings,
        *,
        iterations: int,
        record: bool = False,
        progress: float = 1.0,
    ) -> Iterator[Step]:
        """The steps of one layer, one per iteration.

        activations: of the lower capsules. record: also what the algorithm does not need and a trace shows. progress:
        0..1, how far training is.
        """

    @property
    def shares(self) -> str:
        """The field of its steps that says what a lower capsule gives to an upper one."""
        return self.share.field if self.share else "coefficients"

    def complete(
        self, steps: Mapping[str, Tensor], votes: Float[Tensor, "batch lower upper dim"] | None, presence: Tensor
    ) -> dict[str, Tensor]:
        """Steps that another program took, with the numbers of a step that follow from those that it recorded.

        steps: fields of this algorithm's step, the iterations stacked in front, `shares` and `pose` among them. votes:
        None where they were not recorded; presence: activations of the lower capsules, "batch lower".
        """
        return dict(steps)

    def unlearned(self, lower: int, upper: int) -> dict[str, Tensor] | None:
        """What it has before any training beside the votes, by name; None where it then says nothing of a class."""
        return {}

    def unfitted(self, steps: Mapping[str, Tensor]) -> str:
        """Why it is sure of all classes where it routes votes that it was not trained with; empty where it is not.

        steps: its recorded numbers of one image, each "iteration 1 …" as in its step.
        """
        return ""

    def drawn_weights(self, owner: Any, upper: slice) -> dict[str, Tensor]:
        """Weights that a board draws beside the steps, of these upper capsules, by what they are called."""
        return {}

    def scores(self, step: Any) -> Float[Tensor, "batch upper"]:
        """What the loss reads of a step: the activations, unless an algorithm has logits."""
        return step.activations


class Ascending(Algorithm):
    """An algorithm that owns a buffer `coefficients` which no optimiser touches: it climbs beside the weights."""

    ascends = True
    proximal: bool
    """Whether its penalty has a proximal step beside the subgradient."""
    updates: dict[bool, str]
    """The step of ascent as a formula in HTML, by whether it is the proximal one."""
    size: str
    """What the penalty measures, as a formula in HTML."""

    @abstractmethod
    def gradient(self, owner: Any, poses: Tensor, sums: Tensor, targets: Bool[Tensor, "batch upper"]) -> Tensor:
        """The direction of ascent in float32, averaged over a batch, from one forward pass with the present weights."""

    @abstractmethod
    def objective(
        self, sums: Tensor, signs: Tensor, coefficients: Tensor, regularisation: float
    ) -> Float[Tensor, "upper"]:
        """What the coefficients of each upper capsule climb; signs: +1 where it is a label of the image, else −1."""

    @abstractmethod
    def ascend(
        self, coefficients: Tensor, gradient: Tensor, *, step: float, regularisation: float, proximal: bool = False
    ) -> Tensor:
        """The coefficients after one step of ascent."""
