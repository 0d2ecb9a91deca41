"""The toy's presets keep what their sentences promise, and its votes travel in the link."""

from __future__ import annotations

import pytest
import torch

from app.boards.toy import presets
from app.components.routing_toy import nested, received_votes
from app.state import session
from app.state.choices import Catalogue, Choices
from capsviz.routing import DenseVotes, DynamicStep, dynamic_routing
from tests.known import known


def routed(name: str) -> tuple[DynamicStep, ...]:
    votes = torch.tensor(presets()[name]["votes"], dtype=torch.float64)[None]
    return tuple(dynamic_routing(DenseVotes(votes), 3, final_agreement=True))


def test_in_opposition_the_first_capsule_leaves_the_parent_it_votes_against():
    first, _, last = routed("Opposition")
    assert known(first.agreement)[0, 0, 0] < 0 < known(first.agreement)[0, 0, 1]
    assert known(last.couplings)[0, 0, 0] < 0.1


def test_in_agreement_all_capsules_move_to_the_parent_on_which_they_agree():
    first, _, last = routed("Agreement")
    assert (known(last.couplings)[0, :, 0] > 0.75).all()
    assert first.activations[0, 1] < 0.02  # the votes for parent 2 cancel
    assert last.activations[0, 0] > 0.9


def test_each_of_two_clusters_finds_its_own_parent():
    *_, last = routed("Two clusters")
    assert (known(last.couplings)[0, :3, 0] > 0.55).all()
    assert (known(last.couplings)[0, 3:, 1] > 0.55).all()


def test_the_outlier_is_left_to_the_other_parent_which_turns_to_it():
    *_, last = routed("An outlier")
    assert (known(last.couplings)[0, :4, 0] > 0.7).all() and known(last.couplings)[0, 4, 1] > 0.6
    votes = torch.tensor(presets()["An outlier"]["votes"], dtype=torch.float64)
    pose, own = last.poses[0, 1], votes[4, 1]
    assert float(torch.nn.functional.cosine_similarity(pose, own, dim=0)) > 0.8


@pytest.mark.parametrize("name", list(presets()))
def test_a_preset_travels_through_the_link(name: str):
    votes = presets()[name]["votes"]
    flat = received_votes(votes)
    assert flat is not None and nested(flat) == votes
    catalogue = Catalogue("digits-dr", {"digits-dr": 10}, ("digits",))
    choices = Choices("digits-dr", toy=flat)
    assert session.parse(session.to_query(choices), catalogue) == (choices, ())


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        [[[0, 0], [0, 0]]],
        [[[0, 0], [0]]] * 2,
        [[[0, 9], [0, 0]]] * 2,
        [[["a", 0], [0, 0]]] * 2,
        [1, 2],
        [[[float("nan"), 0], [0, 0]]] * 2,
        [[[0, 0], [0, 0]]] * 7,
    ],
)
def test_what_cannot_be_votes_is_none(value: object):
    assert received_votes(value) is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0,0,1,x", "not numbers"),
        ("0,0,1,1", "four numbers for each of 2 to 6 capsules"),
        ("0,0,1,1,0,0,1", "four numbers for each"),
        ("0,0,1,1,0,0,1,1.3", "from −1.2 to 1.2"),
        ("0,0,1,1,0,0,1,nan", "from −1.2 to 1.2"),
    ],
)
def test_votes_that_no_toy_can_hold_are_a_sentence(text: str, sentence: str):
    catalogue = Catalogue("digits-dr", {"digits-dr": 10}, ("digits",))
    choices, notices = session.parse({"model": "digits-dr", "toy": text}, catalogue)
    assert choices.toy == ()
    assert sentence in notices[0] and "the votes that it begins with" in notices[0]
