"""What follows from the recorded steps of another program is what our own routing computes."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import torch
from torch import Tensor

from capsviz.routing import ALGORITHMS, DenseVotes, completing, squash
from capsviz.routing.algorithm import Step
from capsviz.routing.attention import attention_routing
from capsviz.routing.discriminative import discriminative_routing
from capsviz.routing.dynamic import dynamic_routing
from capsviz.routing.em import em_routing

from .capsules import draw
from .em_samples import betas_of, presence_of

SAMPLE = draw(batch=2, lower=6, upper=3, dim=4, seed=3)
VOTES, PRESENCE = SAMPLE.votes, presence_of(SAMPLE)
SHARED = torch.tensor([[1.0, 0.5, 2.0, 1.5], [0.1, 0.0, -0.2, 0.3], [0.5, -1.0, 0.7, 0.2]], dtype=torch.float64)


def recorded(steps: Iterable[Step]) -> dict[str, Tensor]:
    """The fields of a routing's steps, the iterations stacked in front, without those that a step lacks."""
    taken = list(steps)
    fields = {name: [getattr(step, name) for step in taken] for name in taken[0].__dataclass_fields__}
    return {name: torch.stack(values) for name, values in fields.items() if isinstance(values[-1], Tensor)}


def own(routing: str) -> dict[str, Tensor]:
    """Everything that our own routing of the sample computes."""
    votes = DenseVotes(VOTES)
    if routing == "dr":
        return recorded(dynamic_routing(votes, 3, final_agreement=True))
    if routing == "em":
        return recorded(em_routing(votes, PRESENCE, *betas_of(SAMPLE), 3))
    if routing == "attention":
        gain, offset, readout = SHARED
        return recorded(attention_routing(votes, gain, offset, readout, 3, final_agreement=True))
    return recorded(discriminative_routing(votes, VOTES[0, :, :, 0], agreement=True))


GIVEN = {
    "dr": ["couplings", "poses"],
    "em": ["responsibilities", "means", "activations", "cost"],
    "attention": ["couplings", "poses", "scores"],
    "l2": ["coefficients", "poses"],
}
"""What another program recorded of each routing, at the least."""


@pytest.mark.parametrize("routing", GIVEN)
def test_with_votes_all_numbers_of_a_step_follow(routing):
    whole = own(routing)
    found = ALGORITHMS[routing].complete({name: whole[name] for name in GIVEN[routing]}, VOTES, PRESENCE)
    assert found.keys() == whole.keys() - {"posteriors"}
    for name, value in found.items():
        torch.testing.assert_close(value, whole[name], msg=f"{name} is another one")


@pytest.mark.parametrize("routing", GIVEN)
def test_without_votes_what_needs_none_follows_and_nothing_else(routing):
    whole = own(routing)
    steps = {name: whole[name] for name in GIVEN[routing]}
    found = ALGORITHMS[routing].complete(steps, None, PRESENCE)
    more = {"dr": {"activations", "sums"}, "em": set(), "attention": {"activations"}, "l2": {"activations", "sums"}}
    assert found.keys() - steps.keys() == more[routing]
    for name, value in found.items():
        torch.testing.assert_close(value, whole[name], msg=f"{name} is another one")


@pytest.mark.parametrize("routing", GIVEN)
def test_what_was_recorded_is_left_as_it_was(routing):
    whole = own(routing)
    odd = {name: value + 0.001 for name, value in whole.items() if name not in GIVEN[routing]}
    steps = {name: whole[name] for name in GIVEN[routing]} | odd
    for votes in (VOTES, None):
        found = ALGORITHMS[routing].complete(steps, votes, PRESENCE)
        assert all(torch.equal(found[name], value) for name, value in odd.items())


@pytest.mark.parametrize("routing", ["dr", "l2"])
def test_a_pose_longer_than_squash_makes_one_has_no_sum(routing):
    whole = own(routing)
    steps = {name: whole[name].clone() for name in GIVEN[routing]}
    steps["poses"][0, 0, 0] = torch.tensor([1.0, 0, 0, 0])
    assert "sums" not in ALGORITHMS[routing].complete(steps, None, PRESENCE)


def test_probabilities_alone_tell_the_scores_up_to_a_constant():
    whole = own("attention")
    steps = {name: whole[name] for name in ("couplings", "poses", "activations")}
    scores = ALGORITHMS["attention"].complete(steps, None, PRESENCE)["scores"]
    apart = (scores - whole["scores"]).diff(dim=-1)
    torch.testing.assert_close(apart, torch.zeros_like(apart))
    assert "scores" not in ALGORITHMS["attention"].complete(
        {"couplings": 1 * whole["couplings"], "poses": whole["poses"]}, None, PRESENCE
    )


def test_logits_are_those_supposed_where_they_make_the_couplings_to_rounding():
    supposed = torch.randn(2, 1, 5, 3) + 7
    couplings = supposed.softmax(-1)
    assert completing.logits(couplings + 0.0009, supposed) is supposed
    assert completing.logits(couplings - 0.0009, supposed) is supposed


def test_other_logits_have_the_mean_of_those_supposed_and_stay_finite():
    couplings, supposed = torch.rand(2, 1, 5, 3).softmax(-1), torch.randn(2, 1, 5, 3)
    couplings[0, 0, 0] = torch.tensor([0.0, 0.25, 0.75])
    found = completing.logits(couplings, supposed)
    torch.testing.assert_close(found.softmax(-1), couplings)
    torch.testing.assert_close((couplings * found).sum(-1), (couplings * supposed).sum(-1))
    assert found.isfinite().all()


def test_a_coupling_too_small_for_its_number_has_the_logit_that_is_supposed():
    supposed = torch.tensor([[9.0, 0.5, -12.0], [9.0, 0.5, -12.0]])
    couplings = supposed.softmax(-1).half().float()
    couplings[1] = torch.tensor([0.8, 0.19999, 1e-5])  # of another rule, which are not too small
    assert couplings[0, 2] == 0
    found = completing.logits(couplings, supposed)
    torch.testing.assert_close(found[0], supposed[0], rtol=0, atol=0.01)
    torch.testing.assert_close(found[1].softmax(-1), couplings[1])


def test_of_many_classes_that_are_nearly_alike_the_scores_are_told():
    scores = 0.1 * torch.randn(1, 1, 1000)
    steps = {
        "couplings": torch.rand(1, 1, 4, 1000),
        "poses": torch.rand(1, 1, 1000, 3),
        "activations": scores.softmax(-1),
    }
    found = ALGORITHMS["attention"].complete(steps, None, PRESENCE)["scores"] - scores
    torch.testing.assert_close(found, found.mean().expand_as(found))


@pytest.mark.parametrize("routing", ["dr", "attention"])
@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_logits_are_as_exact_as_the_numbers_that_were_recorded(routing, kind):
    whole = own(routing)
    few = {name: whole[name].to(kind).double() for name in GIVEN[routing]}
    found = ALGORITHMS[routing].complete(few, VOTES.to(kind).double(), PRESENCE)["logits"]
    largest = float(whole["logits"].abs().max())
    torch.testing.assert_close(found, whole["logits"], rtol=0, atol=4 * torch.finfo(kind).eps * max(1, largest))


def test_sums_and_agreement_are_taken_in_every_iteration():
    couplings, poses = torch.rand(4, 2, 6, 3).double(), squash(torch.randn(4, 2, 3, 4).double())
    sums, agreement = completing.sums(couplings, VOTES), completing.agreement(VOTES, poses)
    for t in range(4):
        votes = DenseVotes(VOTES)
        torch.testing.assert_close(sums[t], votes.weighted_sum(couplings[t]))
        torch.testing.assert_close(agreement[t], votes.agreement(poses[t]))


@pytest.mark.parametrize("off", [0.0015, -0.0015])
def test_couplings_of_which_one_is_further_off_than_rounding_are_those_of_other_logits(off):
    """Whether it is too large or too small; each of the others makes up for half of it."""
    supposed = torch.zeros(1, 1, 5, 3)
    couplings = supposed.softmax(-1) + off * torch.tensor([1.0, -0.5, -0.5])
    found = completing.logits(couplings, supposed)
    torch.testing.assert_close(found.softmax(-1), couplings)
    assert found is not supposed
