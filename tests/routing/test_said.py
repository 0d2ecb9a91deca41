"""What the routing says of itself to pages and callers: words in their places, and what counts where nobody says."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest
import torch

from capsviz.routing import ALGORITHMS, ASCENDING
from capsviz.routing.algorithm import Algorithm, Ascending, Method
from capsviz.routing.attention import attention_routing
from capsviz.routing.discriminative import COEFFICIENT_START
from capsviz.routing.dynamic import dynamic_routing, dynamic_routing_in_parts
from capsviz.routing.em import EM, InverseTemperature, em_routing, em_routing_in_parts
from tests.known import known

PLAYED = [name for name, each in ALGORITHMS.items() if each.program]


@pytest.mark.parametrize("routing", PLAYED)
def test_a_line_is_a_formula_beside_a_sentence(routing):
    for line in known(ALGORITHMS[routing].program).lines:
        assert "<sub>j</sub>" in line.math and not line.math.endswith(".")
        for sentence in filter(None, (line.says, line.first, line.last)):
            assert sentence.endswith(".") and "<sub>" not in sentence and sentence[0].isupper()


def test_each_line_names_its_numbers_and_the_first_or_the_last_iteration_has_its_own_sentence():
    programs = {name: known(ALGORITHMS[name].program).lines for name in PLAYED}
    texts = {
        name: [[each.text.strip(", →") for each in line.numbers] for line in lines] for name, lines in programs.items()
    }
    assert texts == {
        "dr": [["b =", "c ="], ["‖s‖ =", "c‖û‖ ="], ["‖v‖ ="], ["û·v =", "b ="]],
        "em": [["R =", "aᵢ =", "mean σ ="], ["λ =", "Σcost =", "a ="], ["R =", ""]],
        "attention": [["a =", "r ="], ["‖s‖ =", "r‖û‖ ="], ["‖v‖ ="], ["w·v =", "p ="], ["a ="]],
    }
    assert all(callable(each.of) for lines in programs.values() for line in lines for each in line.numbers)
    first = {name: [place for place, line in enumerate(lines) if line.first] for name, lines in programs.items()}
    last = {name: [place for place, line in enumerate(lines) if line.last] for name, lines in programs.items()}
    assert first == {"dr": [0], "attention": [0], "em": []} and last == {"dr": [], "attention": [4], "em": [2]}


def test_numbers_have_three_decimals_but_small_shares_four_and_large_sums_two():
    others = {
        name: {each.text: each.decimals for line in known(ALGORITHMS[name].program).lines for each in line.numbers}
        for name in PLAYED
    }
    others = {name: {text: count for text, count in each.items() if count != 3} for name, each in others.items()}
    assert others == {
        "dr": {",  c‖û‖ = ": 4},
        "attention": {",  r‖û‖ = ": 4},
        "em": {"λ = ": 2, ",  Σcost = ": 2},
    }


@pytest.mark.parametrize("routing", PLAYED)
def test_tips_and_shares_name_fields_of_a_step_and_have_symbols(routing):
    algorithm = ALGORITHMS[routing]
    step = {field.name for field in fields(algorithm.step)}
    for tip in known(algorithm.program).tips:
        assert tip.field in step and len(tip.name) == 1
    share = known(algorithm.share)
    assert share.field in step and len(share.symbol) == 1
    assert share.name == f"{share.field.capitalize()} {share.symbol}"


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=list(ALGORITHMS))
def test_an_explanation_has_each_part_in_its_place(algorithm):
    said = algorithm.explanation
    assert "<b>" in said.headline and len(said.headline) < len(said.text) and "<b>" not in said.text
    assert said.formulas.count("\\") > 5 and "\\" not in said.text
    assert ", 20" in said.source and said.source.endswith(".")
    strength = algorithm.strength
    assert strength.title == f"{strength.word.capitalize()} {strength.symbol}" and len(strength.symbol) <= 3


def test_what_em_assumes_before_training_is_written_with_a_true_minus():
    assert ALGORITHMS["em"].assumed == "β_u = 0 and β_a = −2 for every class"


def told(least: float = 0.8567) -> str:
    """What EM says of three iterations of two images, of which the last iteration of the first counts."""
    active, sigma, cost = torch.zeros(3, 2, 3), torch.zeros(3, 2, 3, 4), torch.full((3, 2, 3, 4), 99.0)
    active[-1, 0] = torch.tensor([1.0, least, 1.0])
    sigma[-1, 0] = torch.linspace(0.0312, 0.4568, 12).view(3, 4)
    cost[-1, 0] = torch.tensor([[-1.0, -1.5, -2.0, -1.04], [-2.5, -2.5, -1.0, -2.0], [-3.0, -1.0, -1.0, -1.0]])
    lambdas = torch.tensor([9.0, 7.0, 0.5])
    steps = {"activations": active, "variances": sigma.square(), "cost": cost, "inverse_temperature": lambdas}
    return EM.unfitted(steps)


def test_em_that_is_sure_of_every_class_says_by_which_numbers():
    said = told()
    assert said.startswith("EM routing is sure of every class (a ≥ 0.85) because of β: at β_u = 0 each of 4 numbers ")
    assert "σ from 0.031 to 0.457, so that the costs are negative, from −8.0 to −5.5, and λ(β_a − Σcost)" in said
    assert "Σcost) is 1.8 to 3.0. That is" in said
    assert "(a ≥ 0.99)" in told(least=1.0)
    assert told(least=0.5) == "" and told(least=0.25) == "" and told(least=0.51)


def test_em_begins_with_betas_that_nothing_learned():
    found = EM.unlearned(7, 3)
    assert {name: each.tolist() for name, each in found.items()} == {"beta_u": [0.0] * 3, "beta_a": [-2.0] * 3}
    assert not any(each.requires_grad for each in found.values())


def test_a_wide_cloud_of_matrices_is_drawn_smaller_and_fenced():
    programs = {name: known(ALGORITHMS[name].program) for name in PLAYED}
    assert {name: (each.area, each.far, each.fenced) for name, each in programs.items()} == {
        "dr": (13.0, 0.01, False),
        "attention": (13.0, 0.01, False),
        "em": (7.0, 0.04, True),
    }
    # The M-step, the first line of an iteration, gives its covariances and with them its means.
    assert programs["em"].since["covariances"] == 0 and [tip.since for tip in programs["em"].tips] == [0]


def test_the_penalties_differ_by_the_proximal_step_that_one_of_them_has():
    steps = {name: sorted(each.updates) for name, each in ASCENDING.items()}
    assert steps == {"l2": [False], "l1": [False, True]}
    assert [each.proximal for each in ASCENDING.values()] == [False, True]
    for each in ASCENDING.values():
        assert all(f"{'soft' if proximal else 'b<sub>ij</sub> +'}" in said for proximal, said in each.updates.items())
        assert each.size.startswith("‖b") and each.ascends and each.plain == f"{each.title}/FC"


def test_those_that_go_over_their_votes_again_say_so():
    assert [name for name, each in ALGORITHMS.items() if each.iterates] == ["dr", "em", "attention"]


def test_a_method_does_not_iterate_and_has_capsules_unless_it_says_so():
    assert (Method.iterates, Method.ascends, Method.has_capsules, Method.plain) == (False, False, True, "")


@pytest.mark.parametrize("algorithm", [Algorithm, *ALGORITHMS.values()], ids=["any", *ALGORITHMS])
def test_unasked_a_routing_records_nothing_more_and_is_a_trained_one(algorithm):
    asked = inspect.signature(algorithm.route).parameters
    assert (asked["record"].default, asked["progress"].default) == (False, 1.0)
    assert inspect.signature(algorithm.loss).parameters["progress"].default == 1.0


@pytest.mark.parametrize("algorithm", [Ascending, *ASCENDING.values()], ids=["any", *ASCENDING])
def test_unasked_an_ascent_takes_the_subgradient(algorithm):
    assert inspect.signature(algorithm.ascend).parameters["proximal"].default is False


def test_only_activations_may_all_be_small_and_only_em_shares_by_an_m_step():
    assert {name: each.strength.whole for name, each in ALGORITHMS.items()} == {
        name: name != "em" for name in ALGORITHMS
    }
    shares = {name: known(ALGORITHMS[name].share).of for name in PLAYED}
    assert shares == {"dr": "iteration", "em": "M-step", "attention": "iteration"}


@pytest.mark.parametrize("algorithm", ASCENDING.values(), ids=list(ASCENDING))
def test_coefficients_begin_with_one_number_for_every_pair(algorithm):
    found = algorithm.unlearned(7, 3)
    assert found.keys() == {"coefficients"} and found["coefficients"].shape == (7, 3)
    assert (found["coefficients"] == COEFFICIENT_START).all()


@pytest.mark.parametrize(
    "routing",
    [dynamic_routing, dynamic_routing_in_parts, em_routing, em_routing_in_parts, attention_routing],
)
def test_unasked_a_routing_takes_the_three_iterations_of_the_papers(routing):
    asked = inspect.signature(routing).parameters
    assert asked["iterations"].default == 3
    assert "progress" not in asked or asked["progress"].default == 1.0


def test_constants_are_those_that_the_documents_state():
    schedule = InverseTemperature()
    assert (schedule.final, schedule.decay, schedule.start) == (1.0, 0.5, 0.2)
    assert schedule.at(1) == schedule.at(1, 1.0) == 0.5
    assert COEFFICIENT_START == 0.1
