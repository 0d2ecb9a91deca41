"""The same votes under another routing."""

from __future__ import annotations

import pytest
import torch

from capsviz import zoo
from capsviz.network import ConfigError, rerouted
from capsviz.routing import dynamic_routing
from capsviz.tracing.trace import trace
from tests.known import known


def test_dynamic_routing_takes_the_very_votes_of_the_l2_network():
    model, images = zoo.load("digits-l2"), torch.rand(2, 1, 28, 28)
    other = rerouted(model, "dr")
    own, theirs = trace(model, images), trace(other, images, iterations=4)
    assert torch.equal(own.primary_poses, theirs.primary_poses)
    assert torch.equal(known(own.layer.votes), known(theirs.layer.votes))
    last = list(dynamic_routing(model.votes(model.encode(images)), 4))[-1]
    torch.testing.assert_close(theirs.poses, last.poses)
    assert theirs.config.routing == "dr" and model.config.routing == "l2"


def test_l2_and_l1_share_coefficients_and_others_say_what_they_lack():
    l2, dr = zoo.load("digits-l2"), zoo.load("digits-dr")
    assert torch.equal(rerouted(l2, "l1").coefficients, l2.coefficients)
    with pytest.raises(ConfigError, match="L2 cannot route the votes of a Dynamic routing network"):
        rerouted(dr, "l2")
    with pytest.raises(ConfigError, match="EM routing cannot route the votes of a L2 network"):
        rerouted(l2, "em")
