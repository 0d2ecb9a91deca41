"""The numbers that the browser's player draws are those of the trace."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import capsviz
from capsviz import Intervention
from capsviz.boards import describe_routing
from capsviz.boards import routing_message as stage
from capsviz.boards.routing import share_reach
from capsviz.figures.errors import FigureError
from capsviz.network import CapsNet, preset
from tests.figures.conftest import digits, record


def test_dynamic_routing_is_on_stage_as_recorded(dr):
    staged, layer = stage(dr, image=1, upper=3), dr.layer
    arrays = staged.arrays
    np.testing.assert_array_equal(arrays["shares"], layer["couplings"][:, 1].numpy())
    np.testing.assert_array_equal(arrays["lengths"], layer["activations"][:, 1].numpy())
    np.testing.assert_array_equal(arrays["votes"], layer.votes[1, :, 3].numpy())
    np.testing.assert_array_equal(arrays["poses"], layer["poses"][:, 1, 3].numpy())
    np.testing.assert_array_equal(arrays["agreement"], layer["agreement"][:, 1].numpy())
    np.testing.assert_allclose(arrays["line1.0"], layer["sums"][:, 1, 3].norm(dim=-1).numpy(), rtol=1e-5)
    assert staged.fields["iterations"] == 4
    assert staged.fields["upper"] == 3


def test_the_lines_of_dynamic_routing_lead_from_every_b_to_the_next(dr):
    arrays, layer = stage(dr, image=1, upper=3).arrays, dr.layer
    agreement = layer["agreement"][:, 1, :, 3].numpy()
    np.testing.assert_allclose(arrays["line0.0"], agreement.cumsum(0) - agreement, atol=1e-6)
    np.testing.assert_array_equal(arrays["line0.1"], layer["couplings"][:, 1, :, 3].numpy())
    np.testing.assert_array_equal(arrays["line3.0"], agreement)
    np.testing.assert_allclose(arrays["line3.1"][:-1], arrays["line0.0"][1:], atol=1e-6)
    given = layer["couplings"][2, 1, 5, 3] * layer.votes[1, 5, 3].norm()
    assert arrays["line1.1"][2, 5] == pytest.approx(float(given), rel=1e-5)
    np.testing.assert_array_equal(arrays["line2.0"], layer["activations"][:, 1, 3].numpy())


def test_the_lines_of_em_say_r_sigma_cost_and_activation(em):
    message, layer = stage(em, image=2, upper=5), em.layer
    arrays, owned = message.arrays, layer["responsibilities"][:, 2, :, 5].numpy()
    np.testing.assert_array_equal(arrays["line0.0"], owned)
    np.testing.assert_allclose(arrays["line0.2"], layer["variances"][:, 2, 5].sqrt().mean(-1).numpy(), rtol=1e-5)
    np.testing.assert_allclose(arrays["line1.1"], layer["cost"][:, 2, 5].sum(-1).numpy(), rtol=1e-5)
    np.testing.assert_array_equal(arrays["line1.2"], layer["activations"][:, 2, 5].numpy())
    np.testing.assert_array_equal(arrays["line2.1"], owned)
    assert message.fields["lines"][2]["numbers"][1]["following"], "after the last M-step there is no other R"
    assert message.fields["share_names"][-1] == "Responsibilities R of M-step 3"


def test_votes_and_poses_lie_in_one_space_whose_distances_are_those_of_the_poses_seen_along_three_axes(dr):
    staged = stage(dr, image=0, upper=2)
    votes = dr.layer.votes[0, :, 2].double().numpy()
    poses = dr.layer["poses"][:, 0, 2].double().numpy()
    apart = np.linalg.norm(votes[:, None] - poses[None], axis=-1)
    seen = np.linalg.norm(staged.arrays["places"][:, None] - staged.arrays["heads"][None], axis=-1)
    assert (seen <= apart + 1e-9).all()
    assert seen.sum() > 0.2 * apart.sum()
    assert list(staged.fields["explained"]) == sorted(staged.fields["explained"], reverse=True)


def test_agreement_has_one_scale_for_all_classes(dr):
    """That of the class with which most is agreed: a class with which nothing is agreed stays pale."""
    scales = [stage(dr, image=1, upper=upper).fields["agreement_reaches"][-1] for upper in range(10)]
    most = np.quantile(dr.layer["agreement"][-1, 1].abs().double().numpy(), 0.99, axis=0).max()
    assert scales == pytest.approx([most] * 10)


def test_em_shows_what_every_m_step_used(em):
    arrays = stage(em, image=2, upper=5).arrays
    layer = em.layer
    np.testing.assert_array_equal(arrays["shares"], layer["responsibilities"][:, 2].numpy())
    np.testing.assert_allclose(arrays["cost"], layer["cost"][:, 2].sum(-1).numpy(), rtol=1e-5)
    assert arrays["covariances"].shape == (3, 3, 3)
    traces = np.trace(arrays["covariances"], axis1=1, axis2=2)
    assert (traces <= layer["variances"][:, 2, 5].sum(-1).numpy() + 1e-6).all()


def test_an_intervention_is_shown_in_the_space_of_the_untouched_run():
    model = capsviz.load("digits-dr")
    plain = capsviz.trace(model, digits())
    touched = capsviz.trace(model, digits(), intervention=Intervention(muted=(0,)))
    before, after = stage(plain, upper=1), stage(touched, upper=1, base=plain)
    np.testing.assert_array_equal(after.arrays["base_shares"], before.arrays["shares"])
    np.testing.assert_allclose(after.arrays["places"][1:], before.arrays["places"][1:])
    np.testing.assert_allclose(after.arrays["places"][0], after.arrays["origin"], atol=1e-12)
    assert after.arrays["gains"][0] == 0
    assert all(after.fields[ends] == before.fields[ends] for ends in ("reaches", "agreement_reaches"))
    assert "base_shares" not in before.arrays


def test_what_cannot_be_drawn_is_said_in_a_sentence(dr, l2):
    with pytest.raises(FigureError, match="trace a model of"):
        stage(l2, upper=0)
    with pytest.raises(FigureError, match="no class 10; choose one from 0 to 9"):
        stage(dr, upper=10)
    with pytest.raises(FigureError, match="holds no votes"):
        stage(record("dr", votes=False), upper=0)


def test_the_description_holds_the_numbers(dr, em):
    text, layer = describe_routing(dr, image=1, upper=3), dr.layer
    assert f"of {dr.config.lower} capsules to 10 in 4 iterations" in text
    assert f"to {layer['couplings'][-1, 1].max():.2f}," in text
    assert f"the length of class 3 goes from {layer['activations'][0, 1, 3]:.2f}" in text
    text, spread = describe_routing(em, image=1, upper=3), em.layer["variances"][:, 1, 3].sqrt().mean(-1)
    assert f"the Gaussian of class 3 goes from a mean σ of {spread[0]:.3f} to {spread[-1]:.3f}" in text
    assert f"to {em.layer['activations'][-1, 1, 3]:.2f}; strongest is class" in text


def test_where_nobody_says_what_capsules_see_nothing_is_laid_over_the_image():
    votes = torch.rand(1, 12, 3, 2)
    assert stage(capsviz.record(None, votes, "dr", grid=(2, 2, 3)), upper=0).fields["field"] is None
    told = capsviz.record(None, votes, "dr", grid=(2, 2, 3), field=(9, 2))
    assert stage(told, upper=0).fields["field"]["stride"] == [2, 2]


def test_single_capsules_do_not_drown_the_others():
    """One coupling near 1 among many near 1/J: the colours are made for the many."""
    shares = np.full((2, 1000, 10), 0.1)
    shares[1] += np.random.default_rng(0).normal(size=(1000, 10)) * 0.01
    shares[1, 0] = [0.91, *[0.01] * 9]
    even = np.full(1000, 0.1)
    assert 0.02 < share_reach(shares[-1], even) < 0.04
    assert share_reach(shares[0], even) == 0.01


def test_a_class_of_1152_capsules_is_sent_in_few_bytes():
    recorded = record("dr", name="compact", iterations=10, conv_channels=4, decoder=False)
    assert recorded.config.lower == 1152
    assert len(stage(recorded, upper=0).packed()) < 2_000_000


def test_each_em_layer_of_a_stack_can_be_staged_by_itself():
    torch.manual_seed(0)
    model = CapsNet(preset("matrix-tiny", "digits", "em")).eval()
    whole = capsviz.trace(model, digits(), votes="all")
    for number, layer in enumerate(whole.layers):
        staged = stage(whole.at(number, 0), upper=1)
        rows, columns, types = staged.fields["grid"]
        assert staged.arrays["presence"].size == rows * columns * types
        assert staged.fields["iterations"] == layer.iterations
        assert staged.fields["field"] is None
        positions = [whole.at(number, position) for position in range(math.prod(layer.upper_grid[:2]))]
        votes = torch.cat([layer.observed(position * layer.upper_grid[2]) for position in range(len(positions))])
        count = votes.bincount() * layer.upper_grid[2]  # upper capsules that each lower one gives to
        for position, here in enumerate(positions):
            expected = 1 / count[layer.observed(position * layer.upper_grid[2])].numpy()
            np.testing.assert_allclose(stage(here, upper=1).arrays["even"], expected, rtol=1e-5)
        assert (len(count.unique()) > 1) == bool(layer.window), "windows overlap"
        assert len(staged.fields["classes"]) == staged.arrays["lengths"].shape[1]
