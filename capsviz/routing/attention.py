"""Inverted dot-product attention routing (Tsai, Srivastava, Goh & Salakhutdinov 2020, procedure 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from . import completing
from .algorithm import Algorithm, LayerSizes, Settings
from .iterations import Through, numbered
from .losses import cross_entropy
from .program import Explanation, Line, Number, Program, Share, Strength, Tip
from .squash import lengths
from .votes import Votes


@dataclass(frozen=True)
class AttentionStep:
    """One iteration of attention routing.

    Shapes: logits a, couplings r and agreement û·v "batch lower upper"; sums s and poses v "batch upper dim"; scores
    w·v and activations, their softmax over the upper capsules, "batch upper". The logits are the agreement with the
    poses of the iteration before, which the couplings of this one were made from; the agreement is that with the poses
    of this one, None where there is no next one and nobody asked.
    """

    iteration: int
    logits: Float[Tensor, "batch lower upper"]
    couplings: Float[Tensor, "batch lower upper"]
    sums: Float[Tensor, "batch upper dim"]
    poses: Float[Tensor, "batch upper dim"]
    scores: Float[Tensor, "batch upper"]
    activations: Float[Tensor, "batch upper"]
    agreement: Float[Tensor, "batch lower upper"] | None


def attention_routing(
    votes: Votes,
    gain: Float[Tensor, "dim"],
    offset: Float[Tensor, "dim"],
    readout: Float[Tensor, "dim"],
    iterations: int = 3,
    *,
    through: Through = "all",
    final_agreement: bool = False,
) -> Iterator[AttentionStep]:
    """Route by attention and yield every iteration.

    votes: "batch lower upper dim" as any `Votes`. gain, offset: of the layer normalisation, which all upper capsules
    share, as they do the readout w. through: "all" lets gradients flow through every iteration, "last" through the last
    one only. final_agreement: also û·v of the last iteration, which the algorithm does not need and a trace shows.
    Raises ValueError for fewer than one iteration and for another `through`.

    Inverted: the softmax runs over the UPPER capsules, which compete for each lower one. Upper poses start at 0, so
    that the first couplings are even.
    """
    detached = votes.detach() if through == "last" else votes
    logits = votes.pairs(0.0)
    for iteration in numbered(iterations, through):
        last = iteration == iterations
        current = votes if last else detached
        couplings = votes.connections.softmax(logits.mT).mT
        sums = current.weighted_sum(couplings)
        poses = layer_norm(sums, gain.shape, gain, offset)
        scores = poses @ readout
        agreement = current.agreement(poses) if not last or final_agreement else None
        yield AttentionStep(iteration, logits, couplings, sums, poses, scores, scores.softmax(dim=1), agreement)
        if agreement is not None:
            logits = agreement.detach() if through == "last" else agreement


class Attention(Algorithm):
    """Attention routing: beside the votes' weights, a layer normalisation and a linear readout that the classes share.

    Poses have no length that counts, so that a class's probability is read off its pose. The primary capsules stay the
    squashed ones of the other networks; the paper normalises these too.
    """

    name, title, short = "attention", "Attention routing", "Attention"
    colour = "#9669ff"
    iterates = True
    step = AttentionStep
    share = Share("couplings", "r", "Couplings r")
    pairs = ("logits", "couplings", "agreement", "scores", "activations")
    played = ("logits", "sums", "agreement", "scores")
    strength = Strength("probability", "p", "Probability p")
    program = Program(
        (
            Line(
                "r<sub>ij</sub> = softmax<sub>j</sub>(a<sub>ij</sub>)",
                "The classes compete for every capsule.",
                (
                    Number("a = ", lambda run: run["logits"]),
                    Number("  →  r = ", lambda run: run["couplings"]),
                ),
                first="All v were 0, so all a are: every coupling is 1/{upper}.",
            ),
            Line(
                "s<sub>j</sub> = Σ<sub>i</sub> r<sub>ij</sub> û<sub>ij</sub>",
                "Every class sums up the votes, weighted.",
                (
                    Number("‖s‖ = ", lambda run: lengths(run["sums"])),
                    Number(",  r‖û‖ = ", lambda run: run["couplings"] * run["vote_lengths"], 4),
                ),
            ),
            Line(
                "v<sub>j</sub> = LayerNorm(s<sub>j</sub>)",
                "No squash: the sum is centred and scaled, and how long it was is lost.",
                (Number("‖v‖ = ", lambda run: lengths(run["poses"])),),
            ),
            Line(
                "p<sub>j</sub> = softmax<sub>j</sub>(w·v<sub>j</sub>)",
                "One w for all classes reads each pose.",
                (
                    Number("w·v = ", lambda run: run["scores"]),
                    Number("  →  p = ", lambda run: run["activations"]),
                ),
            ),
            Line(
                "a<sub>ij</sub> = û<sub>ij</sub>·v<sub>j</sub>",
                "The agreement is taken anew: nothing is added up.",
                (Number("a = ", lambda run: run["agreement"]),),
                last="No further iteration uses this agreement.",
            ),
        ),
        since={"shares": 0, "lengths": 3, "agreement": 4},
        tips=(Tip("s", "sums", 1), Tip("v", "poses", 2)),
    )
    page = "dynamic"
    pictures = frozenset({"board", "flow", "couplings", "agreement"})
    explanation = Explanation(
        "The classes compete for {lower:,} small capsules by <b>attention</b>; what a class becomes is normalised, not "
        "squashed.",
        "The pose of a class capsule is a query that every vote û answers: their inner product *a* is the agreement, "
        "and a softmax over the classes makes couplings *r* of it. Attention sums over what it attends to; "
        "here it is inverted, since the upper capsules compete for each lower one. Agreement is taken anew in each "
        "iteration instead of being added up, and layer normalisation takes the place of squash: lengths no longer say "
        "whether a class is there, so one linear readout *w*, shared by all classes, turns each pose into a logit. "
        "Trained on cross-entropy, by its authors with gradients through every iteration.",
        r"a_{ij}=\hat u_{ij}\cdot v_j,\quad r_{i\cdot}=\operatorname{softmax}_j(a_{i\cdot}),\quad "
        r"s_j=\sum_i r_{ij}\,\hat u_{ij},\quad v_j=\operatorname{LayerNorm}(s_j),\quad "
        r"p=\operatorname{softmax}_j(w\cdot v_j)",
        "Tsai, Srivastava, Goh & Salakhutdinov, *Capsules with Inverted Dot-Product Attention Routing*, 2020, "
        "procedures 1 and 2. There the primary capsules are normalised too; here they are squashed as below the other "
        "routings.",
    )

    def add_weights(self, owner: nn.Module, sizes: LayerSizes, settings: Settings) -> None:
        """`transform` as of any votes u W; `gain` and `offset` of the normalisation and `readout`, each "dim"."""
        super().add_weights(owner, sizes, settings)
        owner.gain = nn.Parameter(torch.ones(sizes.upper_dim))
        owner.offset = nn.Parameter(torch.zeros(sizes.upper_dim))
        owner.readout = nn.Parameter(torch.randn(sizes.upper_dim) * sizes.upper_dim**-0.5)

    def unlearned(self, lower: int, upper: int) -> None:
        """Its readout, which names the class, is learned."""

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
    ) -> Iterator[AttentionStep]:
        """`attention_routing`; what a lower capsule is sure of is the length of its votes."""
        return attention_routing(
            votes,
            owner.gain,
            owner.offset,
            owner.readout,
            iterations,
            through=settings.through,
            final_agreement=record,
        )

    def complete(
        self, steps: Mapping[str, Tensor], votes: Float[Tensor, "batch lower upper dim"] | None, presence: Tensor
    ) -> dict[str, Tensor]:
        """p from w·v, or w·v up to a constant from p; with votes s, û·v, and the logits as the û·v before."""
        couplings, poses = steps["couplings"], steps["poses"]
        found: dict[str, Tensor] = {}
        if "scores" in steps:
            found["activations"] = steps["scores"].softmax(-1)
        elif "activations" in steps:
            found["scores"] = completing.logs(steps["activations"], torch.zeros_like(steps["activations"]))
        if votes is not None:
            agreement = completing.agreement(votes, poses)
            before = torch.cat([torch.zeros_like(agreement[:1]), agreement[:-1]])
            found |= {
                "logits": completing.logits(couplings, before),
                "sums": completing.sums(couplings, votes),
                "agreement": agreement,
            }
        return found | dict(steps)

    def scores(self, step: AttentionStep) -> Float[Tensor, "batch upper"]:
        """The logits of the classes."""
        return step.scores

    def loss(
        self, scores: Float[Tensor, "batch upper"], targets: Bool[Tensor, "batch upper"], progress: float = 1.0
    ) -> Float[Tensor, ""]:
        """Cross-entropy on the logits of the classes."""
        return cross_entropy(scores, targets)


ATTENTION = Attention()
