"""The Sankey diagram gives away exactly what the capsules of each type give."""

from __future__ import annotations

import numpy as np
import pytest

from capsviz.figures.errors import FigureError
from capsviz.figures.flow import type_flow


def test_every_class_receives_what_the_couplings_give_it(dr):
    link = type_flow(dr, image=1, iteration=2).data[0].link
    couplings, lengths = dr.layer["couplings"][1, 1], dr.layer.votes[1].norm(dim=-1)
    expected = (couplings * lengths).sum(0)
    sources = len(set(link.source))
    received = [sum(v for v, t in zip(link.value, link.target, strict=True) if t == sources + j) for j in range(10)]
    np.testing.assert_allclose(received, expected.numpy(), rtol=1e-4)


def test_under_em_the_owned_activation_flows(em):
    link = type_flow(em, image=0).data[0].link
    owned = em.layer["responsibilities"][-1, 0] * em.primary_activations[0].unsqueeze(-1)
    assert sum(link.value) == pytest.approx(float(owned.sum()), rel=1e-4)


def test_discriminative_routing_has_no_such_flow(l2):
    with pytest.raises(FigureError, match="trace a model of"):
        type_flow(l2)
