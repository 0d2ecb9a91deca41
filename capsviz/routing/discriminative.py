"""Routing towards discriminative quality, L2 and L1 (Yang, Li & Yu 2021, eq. 5-15, Algorithm 1).

One coefficient b_ij per capsule pair, shared by all images, without softmax, free to be negative. The weights are
trained with b fixed, then b climbs its own objective with the weights fixed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from . import completing
from .algorithm import Ascending, LayerSizes, Settings
from .program import Explanation
from .squash import lengths, squash, unsquash
from .votes import Votes


@dataclass(frozen=True)
class DiscriminativeStep:
    """The one step of discriminative routing: at inference b is fixed, and there is no loop per image.

    Shapes: coefficients b "lower upper"; sums s and poses v "batch upper dim"; activations ‖v‖ "batch upper";
    agreement û·s "batch lower upper", None unless asked for.
    """

    iteration: int
    coefficients: Float[Tensor, "lower upper"]
    sums: Float[Tensor, "batch upper dim"]
    poses: Float[Tensor, "batch upper dim"]
    activations: Float[Tensor, "batch upper"]
    agreement: Float[Tensor, "batch lower upper"] | None


def discriminative_routing(
    votes: Votes, coefficients: Float[Tensor, "lower upper"], *, agreement: bool = False
) -> Iterator[DiscriminativeStep]:
    """Sum votes by the learned coefficients and squash: s_j = Σ_i b_ij û_ij, v_j = squash(s_j) (Yang et al., eq. 6).

    votes "batch lower upper dim" as any `Votes`; coefficients b "lower upper". agreement: also û_ij · s_j, the
    quantity whose signed mean over a batch is the ascent direction of b.
    """
    sums = votes.weighted_sum(coefficients)
    poses = squash(sums)
    activations = lengths(poses)
    yield DiscriminativeStep(1, coefficients, sums, poses, activations, votes.agreement(sums) if agreement else None)


COEFFICIENT_START = 0.1
"""Around which b begins: what dynamic routing's softmax over ten classes starts with."""


def initial_coefficients(
    lower: int, upper: int, start: float = COEFFICIENT_START, generator: torch.Generator | None = None
) -> Float[Tensor, "lower upper"]:
    """b before any training, start + N(0, 0.01²), from the generator or from torch's own.

    Yang, Li & Yu 2021 give no start; the noise breaks the tie.
    """
    return start + 0.01 * torch.randn(lower, upper, generator=generator)


def signs(targets: Tensor) -> Tensor:
    """δ_jk: +1 where upper capsule j is a label of image k, −1 elsewhere (Yang, Li & Yu 2021, eq. 5b).

    targets: Bool "batch upper". Returns the same shape in float32.
    """
    return targets.to(torch.float32) * 2 - 1


def ascent_gradient(
    poses: Float[Tensor, "batch lower d"],
    weight: Float[Tensor, "lower d upper dim"],
    sums: Float[Tensor, "batch upper dim"],
    signs: Float[Tensor, "batch upper"],
) -> Float[Tensor, "lower upper"]:
    """g_ij = Σ_k δ_jk û_ijk · s_jk without a single vote: Σ_(d,h) W ⊙ (uᵀ (δ ⊙ s)) (Yang, Li & Yu 2021, eq. 13).

    Shapes: u "batch lower d", W "lower d upper dim", s "batch upper dim", δ "batch upper"; returns "lower upper",
    summed over the batch.
    """
    signed = (sums * signs.to(sums.dtype).unsqueeze(-1)).flatten(1)
    correlation = poses.transpose(1, 2).flatten(1).T @ signed
    _, d, upper, dim = weight.shape
    return (weight.transpose(0, 1) * correlation.view(d, -1, upper, dim)).sum(dim=(0, 3))


@dataclass(frozen=True)
class Sparsity:
    """Shares, 0..1, of the coefficients that are exactly zero and that are below a thousandth of the largest."""

    exact: float
    near: float


def sparsity(coefficients: Tensor) -> Sparsity:
    """How much of b, of any shape, is zero, exactly and nearly (|b| < 1e-3 max |b|)."""
    size = coefficients.abs()
    near = (size < 1e-3 * size.max()) | (size == 0)
    return Sparsity(float((size == 0).float().mean()), float(near.float().mean()))


@dataclass(frozen=True, eq=False, kw_only=True)
class Discriminative(Ascending):
    """Discriminative routing: W, and the buffer of coefficients b "lower upper", which climbs its own objective."""

    name: str
    title: str
    short: str
    plain: str
    colour: str
    proximal: bool
    """Whether the penalty is |b|, which has a proximal step beside the subgradient; else b²."""
    step = DiscriminativeStep
    squashed = "sums"
    pairs = ("agreement", "coefficients", "activations")
    page = "discriminative"
    assumed = f"every b = {COEFFICIENT_START:g}"
    pictures = frozenset({"coefficients"})
    explanation = Explanation(
        "No rounds: one coefficient <b>b</b> per capsule pair, learned, and free to be <b>negative</b>.",
        "The class capsule is a sum of votes with fixed coefficients. They climb the objective that asks for long "
        "capsules where the label says so (δ = +1) and short ones elsewhere (δ = −1), less a penalty on *b*. One "
        "ascent step per training step alternates with the margin loss on the weights. There is no softmax, so *b* may "
        "be negative, and at inference no loop. Dynamic routing cannot reverse a vote: its couplings are a softmax, "
        "never below zero (Assumption 1 of the paper). The L1 penalty pulls coefficients to zero; its subgradient "
        "never lands there exactly, which is why near zeros are counted too; the proximal step does land there.",
        r"s_j=\sum_i b_{ij}\hat u_{ij},\quad O_j=\sum_k\delta_{jk}\|s_{jk}\|^2-\lambda\|b_j\|_2^2"
        r"\ \text{or}\ -\lambda\|b_j\|_1,\quad "
        r"g_{ij}=\langle\delta_{jk}\,\hat u_{ijk}\cdot s_{jk}\rangle_k,\quad "
        r"b_{ij}\leftarrow b_{ij}+2\gamma\,\big(g_{ij}-\tfrac{\lambda}{2}b_{ij}\big)\ \text{or}\ "
        r"b_{ij}+2\gamma\,\big(g_{ij}-\lambda\operatorname{sign} b_{ij}\big)",
        "Yang, Li & Yu, *Routing Towards Discriminative Power of Class Capsules*, 2021, eq. 5 to 15, Algorithm 1.",
    )
    updates: dict[bool, str]
    size: str

    def add_weights(self, owner: nn.Module, sizes: LayerSizes, settings: Settings) -> None:
        """`transform` as of any votes u W, and `coefficients`, around the start that the settings give."""
        super().add_weights(owner, sizes, settings)
        b = initial_coefficients(sizes.lower, sizes.upper, settings.coefficient_start)
        owner.register_buffer("coefficients", b)

    def unlearned(self, lower: int, upper: int) -> dict[str, Tensor]:
        """Every b at its start."""
        return {"coefficients": torch.full((lower, upper), COEFFICIENT_START)}

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
    ) -> Iterator[DiscriminativeStep]:
        """`discriminative_routing`, one step whatever `iterations` says."""
        return discriminative_routing(votes, owner.coefficients, agreement=record)

    def complete(
        self, steps: Mapping[str, Tensor], votes: Float[Tensor, "batch lower upper dim"] | None, presence: Tensor
    ) -> dict[str, Tensor]:
        """‖v‖ and s; with votes û·s."""
        poses, found = steps["poses"], {"activations": lengths(steps["poses"])}
        if votes is not None:
            found["sums"] = torch.einsum("tij,bijh->tbjh", steps["coefficients"], votes)
        elif (sums := unsquash(poses)) is not None:
            found["sums"] = sums
        found |= steps
        if votes is not None:
            found.setdefault("agreement", completing.agreement(votes, found["sums"]))
        return found

    def gradient(
        self,
        owner: Any,
        poses: Float[Tensor, "batch lower d"],
        sums: Float[Tensor, "batch upper dim"],
        targets: Bool[Tensor, "batch upper"],
    ) -> Float[Tensor, "lower upper"]:
        """g of Yang, Li & Yu 2021, eq. 13, from u and s of one forward pass, in float32 and averaged over the batch."""
        weight = owner.transform.transpose(0, 1).float()
        return ascent_gradient(poses.float(), weight, sums.float(), signs(targets)) / len(targets)

    def objective(
        self,
        sums: Float[Tensor, "batch upper dim"],
        signs: Float[Tensor, "batch upper"],
        coefficients: Float[Tensor, "lower upper"],
        regularisation: float,
    ) -> Float[Tensor, "upper"]:
        """O_j = Σ_k δ_jk ‖s_jk‖² − λ ‖b_j‖² (L2, Yang, Li & Yu 2021, eq. 10) or − λ ‖b_j‖₁ (L1, eq. 14).

        Shapes: s "batch upper dim", δ "batch upper", b "lower upper"; returns "upper".
        """
        size = coefficients.abs().sum(0) if self.proximal else coefficients.square().sum(0)
        return (signs * sums.square().sum(-1)).sum(0) - regularisation * size

    def ascend(
        self,
        coefficients: Float[Tensor, "lower upper"],
        gradient: Float[Tensor, "lower upper"],
        *,
        step: float,
        regularisation: float,
        proximal: bool = False,
    ) -> Float[Tensor, "lower upper"]:
        """One ascent step of b (Yang, Li & Yu 2021, eq. 13 and 15, Algorithm 1 line 8), as it is printed.

        Of `objective` it climbs the data term with γ, and the penalty with λ/2 for λ under L2, with 2λ under L1.

        coefficients b and gradient g "lower upper"; step γ; regularisation λ. L2: b + 2γ (g − λ/2 b).
        L1: b + 2γ (g − λ sign b) with sign(0) = 0, the paper's subgradient, which never lands on zero; with proximal
        the data term is climbed first and the penalty applied as a soft threshold of 2γλ, which does. Raises ValueError
        for a proximal step of L2, which has none.
        """
        if proximal and not self.proximal:
            raise ValueError("the proximal step belongs to the l1 penalty; leave it out for l2")
        if not self.proximal:
            return coefficients + 2 * step * (gradient - regularisation / 2 * coefficients)
        if not proximal:
            return coefficients + 2 * step * (gradient - regularisation * coefficients.sign())
        return torch.nn.functional.softshrink(coefficients + 2 * step * gradient, 2 * step * regularisation)


L2 = Discriminative(
    name="l2",
    title="L2",
    short="L2",
    plain="L2/FC",
    colour="#009e73",
    proximal=False,
    updates={False: "b<sub>ij</sub> ← b<sub>ij</sub> + 2γ (g<sub>ij</sub> − <sup>λ</sup>⁄<sub>2</sub> b<sub>ij</sub>)"},
    size="‖b<sub>j</sub>‖²",
)
L1 = Discriminative(
    name="l1",
    title="L1",
    short="L1",
    plain="L1/FC",
    colour="#cc79a7",
    proximal=True,
    updates={
        False: "b<sub>ij</sub> ← b<sub>ij</sub> + 2γ (g<sub>ij</sub> − λ sign b<sub>ij</sub>)",
        True: "b<sub>ij</sub> ← soft(b<sub>ij</sub> + 2γ g<sub>ij</sub>, 2γλ)",
    },
    size="‖b<sub>j</sub>‖₁",
)
