"""Capsules muted, boosted and isolated: what routing makes of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import capsviz
from capsviz import Intervention, Trace
from capsviz.routing import InverseTemperature
from capsviz.tracing.intervention import InterventionError
from tests.known import known
from tests.networks import network
from tests.tracing.test_trace import images

VOTING = ("dr", "l2", "l1")


@pytest.mark.parametrize("routing", VOTING)
def test_a_muted_capsule_votes_zero_and_all_others_vote_as_before(routing):
    model = network(routing)
    plain, touched = (capsviz.trace(model, images(), intervention=i) for i in (None, Intervention(muted=(3, 7))))
    before, votes = known(plain.layer.votes), known(touched.layer.votes)
    assert (votes[:, [3, 7]] == 0).all()
    others = [i for i in range(model.config.lower) if i not in (3, 7)]
    assert torch.equal(votes[:, others], before[:, others])
    assert not torch.equal(touched.poses, plain.poses)


def test_the_weighted_sum_of_the_first_iteration_loses_what_the_muted_capsules_said():
    model = network("dr")
    plain, touched = (capsviz.trace(model, images(), intervention=i) for i in (None, Intervention(muted=(3,))))
    lost = known(plain.layer.votes)[:, 3] / model.config.classes
    torch.testing.assert_close(plain.layer["sums"][0] - touched.layer["sums"][0], lost, atol=1e-6, rtol=1e-5)


def test_boosting_doubles_the_votes_of_a_capsule():
    model = network("dr")
    plain, touched = (capsviz.trace(model, images(), intervention=i) for i in (None, Intervention(boosted=(5,))))
    torch.testing.assert_close(known(touched.layer.votes)[:, 5], 2 * known(plain.layer.votes)[:, 5])


def test_isolating_capsules_is_muting_all_others():
    model = network("dr")
    alone = Intervention(isolated=(1, 2))
    rest = Intervention(muted=tuple(i for i in range(model.config.lower) if i not in (1, 2)))
    a, b = (capsviz.trace(model, images(), intervention=i) for i in (alone, rest))
    assert torch.equal(a.poses, b.poses)


def test_under_em_the_activation_is_turned_and_the_votes_stay():
    model = network("em")
    plain, touched = (
        capsviz.trace(model, images(), intervention=i) for i in (None, Intervention(muted=(3,), boosted=(4,)))
    )
    assert torch.equal(known(touched.layer.votes), known(plain.layer.votes))
    assert (touched.primary_activations[:, 3] == 0).all()
    assert torch.equal(touched.primary_activations[:, 4], (2 * plain.primary_activations[:, 4]).clamp(max=1))
    assert not torch.equal(touched.poses, plain.poses)


def test_a_trace_keeps_its_intervention_in_the_file(tmp_path):
    trace = capsviz.trace(network("dr"), images(), intervention=Intervention(muted=(0,), boosted=(1,)))
    trace.save(tmp_path / "trace.safetensors")
    gains = Trace.open(tmp_path / "trace.safetensors").gains
    assert gains is not None and gains[:3].tolist() == [0.0, 2.0, 1.0]


def test_nothing_touched_is_no_intervention():
    assert capsviz.trace(network("dr"), images(), intervention=Intervention()).gains is None


def test_capsules_join_and_leave_an_intervention():
    touched = Intervention().with_("muted", [4, 2]).with_("muted", [2, 9]).with_("boosted", [1])
    assert touched == Intervention(muted=(2, 4, 9), boosted=(1,))
    assert touched.without([1, 4]) == Intervention(muted=(2, 9))


@pytest.mark.parametrize("capsule", [-1, 144])
def test_a_capsule_that_is_not_there_is_said_so(capsule):
    with pytest.raises(InterventionError, match=f"no primary capsule {capsule}; name capsules from 0 to 143"):
        capsviz.trace(network("dr"), images(), intervention=Intervention(muted=(capsule,)))


@pytest.mark.parametrize("wrong", [(1.7,), ("1",), 3])
def test_what_is_no_number_of_a_capsule_is_said_so(wrong, unchecked_types):
    with pytest.raises(InterventionError, match=r"^Intervention\(muted=.* names no capsules; give tuples of whole num"):
        capsviz.trace(network("dr"), images(), intervention=Intervention(muted=wrong))


@pytest.mark.parametrize("several", [[3, 4], torch.tensor([3, 4]), np.array([3, 4])], ids=["list", "tensor", "array"])
def test_numbers_of_capsules_may_come_in_what_holds_numbers(several, unchecked_types):
    found = capsviz.trace(network("dr"), images(), intervention=Intervention(isolated=several))
    assert known(found.gains).nonzero().flatten().tolist() == [3, 4]
    assert not Intervention(muted=[])  # type: ignore[arg-type]


def test_another_schedule_of_the_inverse_temperature_is_used_and_written_down():
    model, hot = network("em"), InverseTemperature(final=4.0)
    trace = capsviz.trace(model, images(), inverse_temperature=hot)
    assert trace.config.inverse_temperature == hot
    assert trace.layer["inverse_temperature"].tolist() == [hot.at(t) for t in (1, 2, 3)]
