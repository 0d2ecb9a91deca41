"""The curves of EM routing are the Gaussians that it fitted, over the votes that it fitted them to."""

from __future__ import annotations

import numpy as np
import pytest

from capsviz.figures import FigureError, describe, em_curves

IMAGE, UPPER = 2, 3


def test_curves_are_the_densities_over_the_weighted_votes(em):
    figure = em_curves(em, image=IMAGE, upper=UPPER, iteration=2)
    assert len(figure.data) == 3 * 16
    cast = em.layer.votes[IMAGE, :, UPPER].double().numpy()
    weights = (em.layer["responsibilities"][1, IMAGE, :, UPPER] * em.primary_activations[IMAGE]).double().numpy()
    for h in range(16):
        plain, weighted, curve = figure.data[3 * h : 3 * h + 3]
        mean = float(em.layer["means"][1, IMAGE, UPPER, h])
        deviation = float(em.layer["variances"][1, IMAGE, UPPER, h].sqrt())
        assert max(curve.y) == pytest.approx(1 / (deviation * np.sqrt(2 * np.pi)), rel=0.01)
        assert curve.x[int(np.argmax(curve.y))] == pytest.approx(mean, abs=0.06 * deviation + 1e-6)
        # Bars are a density: width times height adds up to the share of the weight between the edges.
        edge = weighted.width / 2
        inside = (cast[:, h] >= weighted.x[0] - edge) & (cast[:, h] <= weighted.x[-1] + edge)
        assert sum(weighted.y) * weighted.width == pytest.approx(weights[inside].sum() / weights.sum(), abs=2e-3)
        assert sum(plain.y) * plain.width == pytest.approx(inside.mean(), abs=2e-3)


def test_curves_show_the_last_iteration_unless_told(em):
    assert "iteration 3" in describe(em_curves(em, upper=0))


def test_what_cannot_be_drawn_is_said_in_a_sentence(em):
    with pytest.raises(FigureError, match="no iteration 0"):
        em_curves(em, upper=0, iteration=0)
