"""EM routing (Hinton, Sabour & Frosst 2018; *Encapsulating Capsule Networks*, eq. 20-29)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from jaxtyping import Bool, Float
from msgspec import Meta
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from . import mixture
from . import parts as in_parts
from .algorithm import Algorithm, LayerSizes, Settings
from .iterations import Through, numbered
from .losses import spread_loss
from .program import ACTIVATION, Explanation, Line, Number, Program, Share, Tip
from .votes import MatrixVotes, Votes

SPREAD_MARGIN_START, SPREAD_MARGIN_END = 0.2, 0.9
FLOOR = 1e-4
"""Of a variance."""


@dataclass(frozen=True)
class InverseTemperature:
    """The schedule of λ, which makes the logistic stricter as routing and training go on.

    In iteration t (1-based) λ = final · (1 − decay^t); in training that is multiplied by progress, which rises from
    `start` to 1 over the warm-up. Hinton, Sabour & Frosst give no numbers; these are ours.
    """

    final: Annotated[float, Meta(ge=0, le=1e6)] = 1.0
    decay: Annotated[float, Meta(ge=0, le=1)] = 0.5
    start: Annotated[float, Meta(ge=0, le=1)] = 0.2

    def at(self, iteration: int, progress: float = 1.0) -> float:
        """λ of an iteration; progress 0 is the first training step, 1 a trained network."""
        ramp = self.start + (1.0 - self.start) * min(max(progress, 0.0), 1.0)
        return self.final * (1.0 - self.decay**iteration) * ramp


@dataclass(frozen=True)
class EMStep:
    """One iteration of EM routing: an M-step, then an E-step.

    Shapes: responsibilities R (those this M-step used, before they are multiplied by a_i) and posteriors (R after this
    E-step; None in the last iteration unless asked for) "batch lower upper", both None where the votes were routed in
    parts (parts.py); means μ, variances σ² and cost_j^h
    "batch upper dim"; activations a_j "batch upper". inverse_temperature is λ. In a convolutional layer "lower" counts
    the capsules in the window of an upper capsule.
    """

    iteration: int
    inverse_temperature: float
    responsibilities: Float[Tensor, "batch lower upper"] | None
    means: Float[Tensor, "batch upper dim"]
    variances: Float[Tensor, "batch upper dim"]
    cost: Float[Tensor, "batch upper dim"]
    activations: Float[Tensor, "batch upper"]
    posteriors: Float[Tensor, "batch lower upper"] | None

    @property
    def poses(self) -> Float[Tensor, "batch upper dim"]:
        """The pose of an upper capsule is the mean of its Gaussian."""
        return self.means


def em_routing(
    votes: Votes,
    activations: Float[Tensor, "batch lower"],
    beta_u: Float[Tensor, "upper"],
    beta_a: Float[Tensor, "upper"],
    iterations: int = 3,
    *,
    inverse_temperature: InverseTemperature = InverseTemperature(),
    progress: float = 1.0,
    through: Through = "last",
    responsibilities: Float[Tensor, "batch lower upper"] | None = None,
    final_posteriors: bool = False,
    variance_floor: float = FLOOR,
) -> Iterator[EMStep]:
    """Fit one Gaussian per upper capsule to the votes and yield every iteration.

    votes "batch lower upper dim" as any `Votes`; activations a_i of all lower capsules "batch lower", in 0..1;
    beta_u and beta_a "upper", learned. through: as in dynamic routing, the responsibilities of the last M-step are
    constants ("last") or carry gradients ("all"). responsibilities: R of the first M-step, an even split unless given.
    Raises ValueError for fewer than one iteration and for another `through`.

    The cost follows eq. 26 with the amount of data that a parent receives measured as a share of an even split,
    Σ_i R_ij a_i · J / N: eq. 26 as printed grows with N / J and drives the logistic of eq. 27 into saturation.
    Who competes for a vote is up to `votes.connections`: in a convolutional layer the upper capsules at all positions
    that a lower one votes for, and an even split is over these.
    Below single precision the moments and the E-step are computed in float32, and the step is returned in the
    votes' precision.
    """
    connections = votes.connections
    result_type = votes.pairs(0.0).dtype
    work_type = torch.promote_types(result_type, torch.float32)
    values = votes.materialise().transpose(1, 2).to(work_type)
    presence = connections.observed(activations.to(work_type))
    beta_u, beta_a = beta_u.to(work_type), beta_a.to(work_type)
    given = connections.even(votes.pairs(0.0).transpose(1, 2)) if responsibilities is None else responsibilities.mT
    owned = given.to(work_type)
    data_scale = connections.data_scale
    if isinstance(data_scale, Tensor):
        data_scale = data_scale.to(work_type)

    def m_step(values: Tensor, presence: Tensor, owned: Tensor, strictness: float) -> tuple[Tensor, ...]:
        means, variances, amount = mixture.weighted_moments(values, owned * presence, variance_floor=variance_floor)
        received = (amount * data_scale).unsqueeze(-1)
        cost = (beta_u.unsqueeze(-1) + 0.5 * variances.log()) * received
        return means, variances, cost, strictness * (beta_a - cost.sum(-1))

    for iteration in numbered(iterations, through):
        last = iteration == iterations
        strictness = inverse_temperature.at(iteration, progress)
        with torch.set_grad_enabled(torch.is_grad_enabled() and (last or through == "all")):
            means, variances, cost, strength = m_step(values, presence, owned, strictness)
            posteriors = None
            if not last or final_posteriors:
                densities = mixture.log_density(values, means, variances)
                posteriors = mixture.responsibilities(densities, logsigmoid(strength), connections.softmax)
        yield EMStep(
            iteration,
            strictness,
            owned.transpose(1, 2).to(result_type),
            means.to(result_type),
            variances.to(result_type),
            cost.to(result_type),
            strength.sigmoid().to(result_type),
            None if posteriors is None else posteriors.transpose(1, 2).to(result_type),
        )
        if posteriors is not None:
            owned = posteriors


def em_routing_in_parts(
    votes: MatrixVotes,
    activations: Float[Tensor, "batch lower"],
    beta_u: Float[Tensor, "upper"],
    beta_a: Float[Tensor, "upper"],
    iterations: int = 3,
    *,
    inverse_temperature: InverseTemperature = InverseTemperature(),
    progress: float = 1.0,
    through: Through = "last",
) -> Iterator[EMStep]:
    """`em_routing` to rounding, in bounded memory: votes and R are made anew for some lower capsules at a time.

    Everything is as there, also what is raised, in the votes' precision; the steps hold no R.
    """
    scale = votes.connections.data_scale
    gaussians: tuple[Tensor, ...] = ()
    for iteration in numbered(iterations, through):
        last = iteration == iterations
        strictness = inverse_temperature.at(iteration, progress)
        with torch.set_grad_enabled(torch.is_grad_enabled() and (last or through == "all")):
            amount, first = in_parts.added(_part_of_means, votes, votes.shape[3], [activations], *gaussians)
            data = amount.clamp_min(mixture.EMPTY).unsqueeze(-1)
            means = first / data
            (second,) = in_parts.added(_part_of_variances, votes, votes.shape[3], [activations], means, *gaussians)
            variances = (second / data).clamp_min(FLOOR)
            cost = (beta_u.unsqueeze(-1) + 0.5 * variances.log()) * (amount * scale).unsqueeze(-1)
            strength = strictness * (beta_a - cost.sum(-1))
        yield EMStep(iteration, strictness, None, means, variances, cost, strength.sigmoid(), None)
        gaussians = (means, variances, logsigmoid(strength))


def _owned(values: Float[Tensor, "batch upper lower dim"], *gaussians: Tensor) -> Tensor:
    """R of some lower capsules "batch upper lower", by where the Gaussians stood; even where they stood nowhere yet.

    gaussians: means, variances and ln a. Where no gradients flow to these, none flow through R.
    """
    if not gaussians:
        return torch.full_like(values[..., 0], 1 / values.shape[1])
    means, variances, priors = gaussians
    seen = values if any(each.requires_grad for each in gaussians) else values.detach()
    return mixture.responsibilities(mixture.log_density(seen, means, variances), priors)


def _part_of_means(
    votes: MatrixVotes, presence: Float[Tensor, "batch lower"], *gaussians: Tensor
) -> tuple[Tensor, Tensor]:
    values = votes.materialise().transpose(1, 2)
    weights = _owned(values, *gaussians) * presence.unsqueeze(1)
    return weights.sum(-1), (weights.unsqueeze(-2) @ values).squeeze(-2)


def _part_of_variances(
    votes: MatrixVotes, presence: Float[Tensor, "batch lower"], means: Tensor, *gaussians: Tensor
) -> tuple[Tensor]:
    values = votes.materialise().transpose(1, 2)
    weights = _owned(values, *gaussians) * presence.unsqueeze(1)
    return ((weights.unsqueeze(-2) @ (values - means.unsqueeze(-2)).square()).squeeze(-2),)


def spread_margin(progress: float) -> float:
    """The spread loss's margin: a line from 0.2 to 0.9 while progress rises from 0 to 1."""
    return SPREAD_MARGIN_START + (SPREAD_MARGIN_END - SPREAD_MARGIN_START) * min(1.0, progress)


BETA_A = -2.0
"""β_a at the start, where all lower capsules vote for all upper ones."""


def initial_betas(upper: int, active: float = BETA_A) -> tuple[nn.Parameter, nn.Parameter]:
    """β_u and β_a at the start, each "upper".

    active: β_a. A parent that receives nothing costs nothing and, at −2, is off: logistic(λ β_a) below one half, the
    further the higher λ.
    """
    return nn.Parameter(torch.zeros(upper)), nn.Parameter(torch.full((upper,), active))


class ExpectationMaximisation(Algorithm):
    """EM routing: 4 × 4 matrices, β_u and β_a are learned; the spread loss's margin and λ rise while training warms up.

    Convolutional layers of matrix capsules are routed by it too (Hinton, Sabour & Frosst 2018, section 4).
    """

    name, title, short = "em", "EM routing", "EM"
    colour = "#d55e00"
    iterates = matrix = tempered = True
    step = EMStep
    pose = "means"
    share = Share("responsibilities", "R", "Responsibilities R", of="M-step")
    pairs = ("responsibilities", "posteriors", "activations")
    played = ("variances", "cost", "inverse_temperature")
    strength = ACTIVATION
    assumed = f"β_u = 0 and β_a = {BETA_A:g} for every class".replace("-", "−")
    program = Program(
        (
            Line(
                "μ<sub>j</sub>, σ<sub>j</sub> from R<sub>ij</sub> a<sub>i</sub>",
                "M-step: each Gaussian is fitted to the votes that it owns.",
                (
                    Number("R = ", lambda run: run["responsibilities"]),
                    Number(",  aᵢ = ", lambda run: run["presence"].expand_as(run["responsibilities"])),
                    Number(",  mean σ = ", lambda run: run["variances"].sqrt().mean(-1)),
                ),
            ),
            Line(
                "a<sub>j</sub> = logistic(λ(β<sub>a</sub> − Σ<sub>h</sub>cost<sub>j</sub><sup>h</sup>))",
                "A narrow Gaussian is cheap, and switches its capsule on.",
                (
                    Number("λ = ", lambda run: run["inverse_temperature"], 2),
                    Number(",  Σcost = ", lambda run: run["cost"].sum(-1), 2),
                    Number("  →  a = ", lambda run: run["activations"]),
                ),
            ),
            Line(
                "R<sub>ij</sub> ∝ a<sub>j</sub> N(û<sub>ij</sub>; μ<sub>j</sub>, σ<sub>j</sub>²)",
                "E-step: each capsule goes to the classes its votes fit.",
                (
                    Number("R = ", lambda run: run["responsibilities"]),
                    Number("  →  ", lambda run: run["responsibilities"], following=True),
                ),
                last="The last M-step has the last word: R stays the one that made μ and a.",
            ),
        ),
        # An E-step gives the R of the next M-step.
        since={"shares": -1, "lengths": 1, "covariances": 0},
        tips=(Tip("μ", "means", 0),),
        area=7.0,
        far=0.04,  # a Gaussian claims the middle of a wide cloud
        fenced=True,
    )
    page = "em"
    pictures = frozenset({"board", "flow", "gaussians"})
    explanation = Explanation(
        "Every class capsule is a <b>Gaussian</b> over the votes.",
        "Poses are 4 × 4 matrices, votes are poses times a learned matrix. The **M-step** fits each class's Gaussian "
        "to the votes, weighted by the responsibilities *R*: a narrow Gaussian is cheap to describe, and a low cost "
        "switches the class on. The **E-step** gives each capsule to the classes whose Gaussian explains its vote: the "
        "*R* of the next M-step. Every picture here shows the *R* that an M-step used, at the end that of the last "
        "one, which made the class's μ and *a*; no E-step follows in the network, since nothing would use it. The "
        "inverse temperature λ rises from round to round, so the decision hardens.",
        r"\mu_j^h=\frac{\sum_i R_{ij}a_iV_{ij}^h}{\sum_i R_{ij}a_i},\quad "
        r"\mathrm{cost}_j^h=(\beta_u+\log\sigma_j^h)\tfrac JN\sum_i R_{ij}a_i,\quad "
        r"a_j=\operatorname{logistic}\!\Big(\lambda\big(\beta_a-\sum_h\mathrm{cost}_j^h\big)\Big),\quad "
        r"R_{ij}\propto a_j\,\mathcal N(V_{ij};\mu_j,\sigma_j^2)",
        "Hinton et al., *Matrix Capsules with EM Routing*, 2018; *Encapsulating Capsule Networks*, equations 20 to 29.",
    )

    def add_weights(self, owner: nn.Module, sizes: LayerSizes, settings: Settings) -> None:
        """`transform` "lower upper 4 4", or "types upper 4 4" where positions share it, the betas, the coordinates."""
        if sizes.types is None:
            owner.transform = nn.Parameter(torch.randn(sizes.lower, sizes.upper, 4, 4) * 0.5)
            owner.beta_u, owner.beta_a = initial_betas(sizes.upper)
        else:
            owner.transform = nn.Parameter(torch.randn(sizes.types, sizes.upper, 4, 4))
            owner.beta_u, owner.beta_a = initial_betas(sizes.upper, active=0.0)
        # Where a lower capsule sits is added to two numbers of its votes (Hinton, Sabour & Frosst 2018, 4.1).
        coordinates = torch.zeros(sizes.lower, 4, 4)
        coordinates[:, :2, 3] = sizes.centres
        owner.register_buffer("coordinates", coordinates, persistent=False)

    def votes(self, owner: Any, poses: Float[Tensor, "batch lower d"]) -> MatrixVotes:
        """V_ij = M_i W_ij, the same W at all positions where they share it."""
        matrices, places = owner.transform, poses.shape[1] // len(owner.transform)
        if places > 1:  # a copy, as large as all weights
            matrices = matrices.repeat(places, 1, 1, 1)
        return MatrixVotes(poses.unflatten(2, (4, 4)), matrices, owner.coordinates)

    def betas(self, owner: Any, upper: int) -> tuple[Float[Tensor, " upper"], Float[Tensor, " upper"]]:
        """β_u and β_a of every upper capsule, position by position where they belong to its type."""
        return owner.beta_u.repeat(upper // len(owner.beta_u)), owner.beta_a.repeat(upper // len(owner.beta_a))

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
    ) -> Iterator[EMStep]:
        """`em_routing`, in parts where the votes of everyone for everyone are many."""
        told: dict[str, Any] = {
            "inverse_temperature": settings.inverse_temperature,
            "progress": progress,
            "through": settings.through,
        }
        betas = self.betas(owner, votes.shape[2])
        if isinstance(votes, MatrixVotes) and not record and in_parts.too_large(votes, votes.shape[3]):
            return em_routing_in_parts(votes, activations, *betas, iterations, **told)
        return em_routing(votes, activations, *betas, iterations, **told, final_posteriors=record)

    def complete(
        self, steps: Mapping[str, Tensor], votes: Float[Tensor, "batch lower upper dim"] | None, presence: Tensor
    ) -> dict[str, Tensor]:
        """With votes σ², of the votes weighted by R and by what their capsules are sure of."""
        if votes is None:
            return dict(steps)
        values, weights = votes.transpose(1, 2), presence.unsqueeze(1)
        variances = [
            mixture.weighted_moments(values, owned.transpose(1, 2) * weights, variance_floor=FLOOR)[1]
            for owned in steps["responsibilities"]
        ]
        return {"variances": torch.stack(variances), **steps}

    def unlearned(self, lower: int, upper: int) -> dict[str, Tensor]:
        """Both betas."""
        return dict(zip(("beta_u", "beta_a"), (each.detach() for each in initial_betas(upper)), strict=True))

    def unfitted(self, steps: Mapping[str, Tensor]) -> str:
        """Where every activation is above one half: the σ, the costs and the logits that make them so."""
        active, cost = steps["activations"][-1, 0], steps["cost"][-1, 0].sum(-1)
        if active.min() <= 0.5:
            return ""
        strength = steps["inverse_temperature"][-1] * (BETA_A - cost)
        sigma, least = steps["variances"][-1, 0].sqrt(), min(0.99, math.floor(100 * active.min()) / 100)
        return (
            f"{self.title} is sure of every class (a ≥ {least:.2f}) because of β: at β_u = 0 each of {sigma.shape[-1]} "
            "numbers costs log σ times a class's share of the data; these votes have "
            f"σ from {_ends(sigma, 3)}, so that the costs are negative, from {_ends(cost, 1)}, and λ(β_a − Σcost) is "
            f"{_ends(strength, 1)}. That is the scale of the votes, to which training fits β_u and β_a, and not their "
            "agreement."
        )

    def drawn_weights(self, owner: Any, upper: slice) -> dict[str, Tensor]:
        """`beta_a`, the cost at which a capsule is half on."""
        return {"beta_a": self.betas(owner, upper.stop)[1][upper]}

    def loss(
        self, scores: Float[Tensor, "batch upper"], targets: Bool[Tensor, "batch upper"], progress: float = 1.0
    ) -> Float[Tensor, ""]:
        """Spread loss, its margin as far as training is."""
        return spread_loss(scores, targets, spread_margin(progress))


def _ends(values: Tensor, places: int) -> str:
    """The least and the greatest, in words."""
    return " to ".join(f"{float(end):.{places}f}".replace("-", "−") for end in (values.min(), values.max()))


EM = ExpectationMaximisation()
