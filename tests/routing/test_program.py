"""The numbers that a line of an algorithm gives, held against the formula that stands beside them."""

from __future__ import annotations

from dataclasses import fields

import pytest
import torch
from torch import Tensor

from capsviz.routing import ALGORITHMS
from tests.known import known

from .test_completing import PRESENCE, VOTES, own

UPPER = 1
PLAYED = [name for name, each in ALGORITHMS.items() if each.program]


def reading(routing: str) -> dict[str, Tensor]:
    """The recorded routing of the first image to one upper capsule."""
    told = {}
    for name, value in own(routing).items():
        one = value[:, 0]
        told[name] = one[..., UPPER] if name in ALGORITHMS[routing].pairs else one[:, UPPER]
    told |= {"presence": PRESENCE[0], "vote_lengths": VOTES[0, :, UPPER].norm(dim=-1)}
    if routing == "em":
        told["inverse_temperature"] = torch.tensor([0.5, 0.75, 0.875], dtype=torch.float64)
    return told


def numbers(routing: str) -> list[dict[str, Tensor]]:
    """By line, its numbers by what is written before them."""
    program, told = known(ALGORITHMS[routing].program), reading(routing)
    return [{each.text: each.of(told) for each in line.numbers} for line in program.lines]


def test_lines_of_dynamic_routing():
    told, (share, add, squash, agree) = reading("dr"), numbers("dr")
    assert torch.equal(share["b = "], told["logits"]) and torch.equal(share["  →  c = "], told["couplings"])
    # As long as the sum is what squash makes ‖v‖ of; as long as its weighted vote is what a capsule adds.
    torch.testing.assert_close(add["‖s‖ = "] ** 2 / (1 + add["‖s‖ = "] ** 2), squash["‖v‖ = "])
    weighted = (told["couplings"].unsqueeze(-1) * VOTES[0, :, UPPER]).norm(dim=-1)
    torch.testing.assert_close(add[",  c‖û‖ = "], weighted)
    torch.testing.assert_close(agree["û·v = "], told["poses"] @ VOTES[0, :, UPPER].T)
    torch.testing.assert_close(agree["  →  b = "][:-1], share["b = "][1:])


def test_lines_of_attention_routing():
    told, (share, add, normalise, read, agree) = reading("attention"), numbers("attention")
    assert torch.equal(share["a = "], told["logits"]) and torch.equal(share["  →  r = "], told["couplings"])
    torch.testing.assert_close(add["‖s‖ = "], told["sums"].norm(dim=-1))
    weighted = (told["couplings"].unsqueeze(-1) * VOTES[0, :, UPPER]).norm(dim=-1)
    torch.testing.assert_close(add[",  r‖û‖ = "], weighted)
    torch.testing.assert_close(normalise["‖v‖ = "], told["poses"].norm(dim=-1))
    assert torch.equal(read["w·v = "], told["scores"]) and torch.equal(read["  →  p = "], told["activations"])
    torch.testing.assert_close(agree["a = "][:-1], share["a = "][1:])


def test_lines_of_em_routing():
    told, (fit, switch, share) = reading("em"), numbers("em")
    assert torch.equal(fit["R = "], told["responsibilities"])
    assert fit[",  aᵢ = "].shape == (3, 6) and (fit[",  aᵢ = "] == PRESENCE[0]).all()
    torch.testing.assert_close(fit[",  mean σ = "], torch.stack([v.sqrt().mean() for v in told["variances"]]))
    assert torch.equal(switch["λ = "], told["inverse_temperature"])
    torch.testing.assert_close(switch[",  Σcost = "], torch.stack([cost.sum() for cost in told["cost"]]))
    assert torch.equal(switch["  →  a = "], told["activations"])
    assert torch.equal(share["R = "], fit["R = "]) and torch.equal(share["  →  "], fit["R = "])
    assert [each.following for each in known(ALGORITHMS["em"].program).lines[2].numbers] == [False, True]


@pytest.mark.parametrize("routing", PLAYED)
def test_what_is_known_after_a_line_is_known_after_one_that_there_is(routing):
    algorithm = ALGORITHMS[routing]
    program, step = known(algorithm.program), {each.name for each in fields(algorithm.step)}
    assert all(-1 <= since < len(program.lines) for since in program.since.values())
    assert {tip.field for tip in program.tips} <= step and all(tip.since < len(program.lines) for tip in program.tips)
    assert {algorithm.shares, algorithm.pose, *algorithm.played} <= step
    assert all(0 < number.decimals <= 4 for line in program.lines for number in line.numbers)


@pytest.mark.parametrize("routing", PLAYED)
def test_an_entry_is_known_from_the_line_on_that_gives_its_numbers(routing):
    told, lines = reading(routing), [[*line.values()] for line in numbers(routing)]
    program = known(ALGORITHMS[routing].program)

    def first(value: Tensor) -> int:
        return next(
            k for k, line in enumerate(lines) if any(x.shape == value.shape and x.allclose(value) for x in line)
        )

    assert program.since["lengths"] == first(told["activations"])
    if "agreement" in told:
        assert program.since["agreement"] == first(told["agreement"])
    # Where the last line gives the shares of the next iteration, they are known before its first.
    before = any(number.following for number in program.lines[-1].numbers)
    assert program.since["shares"] == (-1 if before else first(told[ALGORITHMS[routing].shares]))
    if routing != "em":
        assert [tip.since for tip in program.tips] == [first(told[tip.field].norm(dim=-1)) for tip in program.tips]
