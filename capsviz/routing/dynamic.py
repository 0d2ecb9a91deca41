"""Dynamic routing by agreement (Sabour, Frosst & Hinton 2017; *Encapsulating Capsule Networks*, eq. 7-11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor

from . import completing
from . import parts as in_parts
from .algorithm import Algorithm, Settings
from .iterations import Through, numbered
from .program import Explanation, Line, Number, Program, Share, Tip
from .squash import lengths, squash, unsquash
from .votes import LinearVotes, Votes

PAIRS = 8
"""Numbers of each capsule pair that a training step keeps at once: logits, couplings, agreement, their gradients."""


@dataclass(frozen=True)
class DynamicStep:
    """One iteration of dynamic routing.

    Shapes: logits b, couplings c and agreement û·v "batch lower upper"; sums s and poses v "batch upper dim";
    activations ‖v‖ "batch upper". The logits are those the couplings of this iteration were made from; the
    agreement is what the next iteration adds to them, None where there is no next one and nobody asked. Logits and
    couplings are None where the votes were routed in parts (parts.py).
    """

    iteration: int
    logits: Float[Tensor, "batch lower upper"] | None
    couplings: Float[Tensor, "batch lower upper"] | None
    sums: Float[Tensor, "batch upper dim"]
    poses: Float[Tensor, "batch upper dim"]
    activations: Float[Tensor, "batch upper"]
    agreement: Float[Tensor, "batch lower upper"] | None


def dynamic_routing(
    votes: Votes,
    iterations: int = 3,
    *,
    through: Through = "last",
    final_agreement: bool = False,
) -> Iterator[DynamicStep]:
    """Route by agreement and yield every iteration.

    votes: "batch lower upper dim" as any `Votes`. through: "last" lets gradients flow through the last iteration only
    (the earlier ones run on detached votes), "all" through every one. final_agreement: also û·v of the last
    iteration, which the algorithm does not need and a trace shows. Raises ValueError for fewer than one iteration
    and for another `through`.

    The softmax runs over the UPPER capsules that a lower one votes for: it shares itself out (*Encapsulating Capsule
    Networks*, eq. 8).
    """
    detached = votes.detach() if through == "last" else votes
    logits = votes.pairs(0.0)
    for iteration in numbered(iterations, through):
        last = iteration == iterations
        current = votes if last else detached
        couplings = votes.connections.softmax(logits.mT).mT
        # At first the couplings are those of every image, which is cheaper to sum by.
        shared = iteration == 1 and len(couplings) > 0
        sums = current.weighted_sum(couplings[0] if shared else couplings)
        poses = squash(sums)
        agreement = current.agreement(poses) if not last or final_agreement else None
        yield DynamicStep(iteration, logits, couplings, sums, poses, lengths(poses), agreement)
        if agreement is not None and not last:
            logits = logits + agreement


def dynamic_routing_in_parts(
    votes: LinearVotes, iterations: int = 3, *, through: Through = "last"
) -> Iterator[DynamicStep]:
    """`dynamic_routing` to rounding, in bounded memory: b_ij = û_ij · (the sum of all v_j before) is not kept.

    votes, iterations, through: as there, and so is what is raised.
    """
    detached = votes.detach() if through == "last" else votes
    batch, _, upper, dim = votes.shape
    stood = votes.poses.new_zeros(batch, upper, dim)
    for iteration in numbered(iterations, through):
        current = votes if iteration == iterations else detached
        (sums,) = in_parts.added(_part_of_sums, current, PAIRS, (), stood)
        poses = squash(sums)
        yield DynamicStep(iteration, None, None, sums, poses, lengths(poses), None)
        stood = stood + (poses.detach() if through == "last" else poses)


def _part_of_sums(votes: LinearVotes, stood: Float[Tensor, "batch upper dim"]) -> tuple[Tensor]:
    """What some lower capsules add to s."""
    logits = votes.agreement(stood) if stood.requires_grad else votes.detach().agreement(stood)
    couplings = votes.connections.softmax(logits.mT).mT
    return (votes.weighted_sum(couplings),)


class Dynamic(Algorithm):
    """Dynamic routing: nothing is learned but the weights of the votes."""

    name, title, short = "dr", "Dynamic routing", "DR"
    colour = "#0072b2"
    iterates = True
    step = DynamicStep
    squashed = "sums"
    share = Share("couplings", "c", "Couplings c")
    pairs = ("logits", "couplings", "agreement", "activations")
    played = ("logits", "sums", "agreement")
    program = Program(
        (
            Line(
                "c<sub>ij</sub> = softmax<sub>j</sub>(b<sub>ij</sub>)",
                "Every capsule shares itself out over the classes.",
                (
                    Number("b = ", lambda run: run["logits"]),
                    Number("  →  c = ", lambda run: run["couplings"]),
                ),
                first="All b are 0: every coupling is 1/{upper}, maximum confusion.",
            ),
            Line(
                "s<sub>j</sub> = Σ<sub>i</sub> c<sub>ij</sub> û<sub>ij</sub>",
                "Every class sums up the votes, weighted.",
                (
                    Number("‖s‖ = ", lambda run: lengths(run["sums"])),
                    Number(",  c‖û‖ = ", lambda run: run["couplings"] * run["vote_lengths"], 4),
                ),
            ),
            Line(
                "v<sub>j</sub> = squash(s<sub>j</sub>)",
                "The sum is squashed: its length stays below 1.",
                (Number("‖v‖ = ", lambda run: run["activations"]),),
            ),
            Line(
                "b<sub>ij</sub> ← b<sub>ij</sub> + û<sub>ij</sub>·v<sub>j</sub>",
                "Votes that agree with v gain.",
                (
                    Number("û·v = ", lambda run: run["agreement"]),
                    Number("  →  b = ", lambda run: run["logits"] + run["agreement"]),
                ),
            ),
        ),
        since={"shares": 0, "lengths": 2, "agreement": 3},
        tips=(Tip("s", "sums", 1), Tip("v", "poses", 2)),
    )
    page = "dynamic"
    pictures = frozenset({"board", "flow", "couplings", "agreement"})
    explanation = Explanation(
        "{lower:,} small capsules vote for every class; round by round, they turn to the classes that <b>agree</b> "
        "with their vote.",
        "A primary capsule *i* predicts the pose of every class capsule *j*: its vote û. All logits *b* start at zero, "
        "so each capsule shares itself out equally (maximum confusion). The class capsule is the squashed sum of the "
        "votes, weighted by the couplings *c*; each vote's inner product with it, the **agreement**, is added to its "
        "logit. The softmax runs over the classes: what a capsule gives to one it takes from the others. The length of "
        "*v* is the probability that the class is there.",
        r"c_{i\cdot}=\operatorname{softmax}_j(b_{i\cdot}),\quad s_j=\sum_i c_{ij}\,\hat u_{ij},\quad "
        r"v_j=\frac{\|s_j\|^2}{1+\|s_j\|^2}\frac{s_j}{\|s_j\|},\quad b_{ij}\leftarrow b_{ij}+\hat u_{ij}\cdot v_j",
        "Sabour et al., *Dynamic Routing Between Capsules*, 2017; *Encapsulating Capsule Networks*, equations 7 to 11.",
    )

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
    ) -> Iterator[DynamicStep]:
        """`dynamic_routing`, in parts where pairs are many; the length of its votes is what a capsule is sure of."""
        if isinstance(votes, LinearVotes) and not record and in_parts.too_large(votes, PAIRS):
            return dynamic_routing_in_parts(votes, iterations, through=settings.through)
        return dynamic_routing(votes, iterations, through=settings.through, final_agreement=record)

    def complete(
        self, steps: Mapping[str, Tensor], votes: Float[Tensor, "batch lower upper dim"] | None, presence: Tensor
    ) -> dict[str, Tensor]:
        """‖v‖; with votes s, û·v and the logits, these as the sum of all û·v before where that makes the couplings."""
        couplings, poses = steps["couplings"], steps["poses"]
        found = {"activations": lengths(poses)}
        if votes is not None:
            agreement = completing.agreement(votes, poses)
            found |= {
                "logits": completing.logits(couplings, agreement.cumsum(0) - agreement),
                "sums": completing.sums(couplings, votes),
                "agreement": agreement,
            }
        elif (sums := unsquash(poses)) is not None:
            found["sums"] = sums
        return found | dict(steps)


DYNAMIC = Dynamic()
