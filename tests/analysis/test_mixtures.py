"""EM for a mixture: scikit-learn's, step by step; its likelihood; and the same points as votes."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from capsviz.analysis.mixtures import (
    FLOOR,
    Covariance,
    Gaussians,
    MixtureError,
    begin,
    expectation,
    floor_cost,
    half_steps,
    maximisation,
    off_scikit_learn,
)
from capsviz.data.points import COUNT, EXTENT, PRESETS
from capsviz.routing import InverseTemperature
from tests.as_votes import as_votes
from tests.known import known

ROUNDS = 15


@st.composite
def laid(draw: st.DrawFn) -> tuple[Tensor, int, int, str]:
    """Points to two decimals, some on each other; a number of Gaussians, a start, and a form of covariances."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(4, 40))
    points = generator.normal(size=(count, 2)) * draw(st.sampled_from([0.05, 0.2, 0.4]))
    points += generator.integers(0, 2, size=(count, 1)) * 0.5
    points[: draw(st.integers(0, 3))] = points[0]
    rounded = torch.from_numpy(points.clip(-1, 1).round(2))
    return rounded, draw(st.integers(2, 4)), draw(st.integers(0, 7)), draw(st.sampled_from(["full", "diag"]))


@pytest.mark.long
@given(laid())
@settings(max_examples=30)  # scikit-learn takes its time
def test_every_round_is_that_of_scikit_learn(drawn):
    points, gaussians, turn, covariance = drawn
    states = [
        step.gaussians for step in islice(half_steps(points, begin(gaussians, turn), covariance), 0, 2 * ROUNDS + 1, 2)
    ]
    # Each round by itself: where a Gaussian has hardly a point of its own, differences of rounding grow with each.
    for before, after in pairwise(states):
        [difference] = off_scikit_learn(points, before, 1, covariance)
        # scikit-learn adds ten roundings to how many points each Gaussian owns, before it divides by that; ten times so
        # much is allowed.
        owned = float(after.weights.min()) * len(points)
        assert difference < 1e-9 + 100 * torch.finfo(torch.float64).eps / owned


@pytest.mark.parametrize("covariance", ["full", "diag"])
@pytest.mark.parametrize("preset", PRESETS)
def test_all_rounds_one_after_the_other_are_those_of_scikit_learn(preset, covariance):
    points = torch.tensor(PRESETS[preset].points(0), dtype=torch.float64)
    differences = off_scikit_learn(points, begin(2), ROUNDS, covariance)
    assert len(differences) == ROUNDS and max(differences) < 1e-9


def test_points_in_float32_are_fitted_too():
    points = torch.rand(30, 2, dtype=torch.float64).round(decimals=2)
    assert max(off_scikit_learn(points.float(), begin(3), 5)) < 1e-5
    *_, one = islice(half_steps(points, begin(3)), 9)
    *_, other = islice(half_steps(points.float(), begin(3)), 9)
    torch.testing.assert_close(other.gaussians.means, one.gaussians.means, atol=1e-6, rtol=0)


def test_a_difference_would_be_seen():
    points = torch.tensor(PRESETS["clusters"].points(0), dtype=torch.float64)
    elsewhere = begin(2)
    own = list(islice(half_steps(points, elsewhere, floor=2 * FLOOR), 3))[2].gaussians
    theirs = list(islice(half_steps(points, elsewhere), 3))[2].gaussians
    assert float((own.covariances - theirs.covariances).abs().max()) == pytest.approx(FLOOR)


def test_points_that_scikit_learn_cannot_fit_are_a_sentence():
    with pytest.raises(MixtureError, match="add points or move some"):
        off_scikit_learn(torch.zeros(2, 2, dtype=torch.float64), begin(4), 1)


def test_a_gaussian_that_owns_nothing_and_has_no_width_costs_nothing():
    points = torch.tensor(PRESETS["ring"].points(1), dtype=torch.float64)
    step = list(islice(half_steps(points, begin(2)), 5))[-1]
    of, owned = step.gaussians, known(step.responsibilities)
    weights, means = torch.cat([of.weights, torch.zeros(1)]), torch.cat([of.means, torch.zeros(1, 2)])
    covariances = torch.cat([of.covariances, FLOOR * torch.eye(2, dtype=torch.float64)[None]])
    beside = torch.cat([owned, torch.zeros(len(points), 1)], dim=1)
    more = replace(step, gaussians=Gaussians(weights, means, covariances), responsibilities=beside)
    assert 0 < floor_cost(step) == pytest.approx(floor_cost(more))


@given(laid())
def test_the_log_likelihood_falls_by_no_more_than_the_floor_costs(drawn):
    points, gaussians, turn, covariance = drawn
    steps = list(islice(half_steps(points, begin(gaussians, turn), covariance), 2 * ROUNDS + 1))
    for before, after in pairwise(steps):
        assert after.log_likelihood >= before.log_likelihood - floor_cost(after) - 1e-9


@given(st.integers(0, 2**32), st.integers(2, 4), st.sampled_from(["full", "diag"]))
def test_without_a_floor_that_counts_neither_half_step_lowers_likelihood_or_bound(seed, gaussians, covariance):
    points = torch.from_numpy(np.random.default_rng(seed).normal(size=(40, 2)) * 0.4)
    steps = list(islice(half_steps(points, begin(gaussians, seed % 8), covariance, floor=1e-9), 13))
    for before, after in pairwise(steps):
        assert after.log_likelihood >= before.log_likelihood - 1e-7
        bound = known(after.bound)
        assert before.bound is None or bound >= before.bound - 1e-7
        assert bound <= after.log_likelihood + 1e-9


def test_an_e_step_lifts_the_bound_to_the_log_likelihood():
    points = torch.tensor(PRESETS["ring"].points(1), dtype=torch.float64)
    steps = list(islice(half_steps(points, begin(4)), 9))
    assert steps[0].responsibilities is None and steps[0].bound is None
    for before, after in zip(steps[:-1:2], steps[1::2], strict=True):
        assert after.log_likelihood == before.log_likelihood == pytest.approx(after.bound, abs=1e-10)


@given(laid())
def test_responsibilities_of_a_point_sum_to_one_and_weights_too(drawn):
    points, gaussians, turn, covariance = drawn
    owned = expectation(points, begin(gaussians, turn))
    fitted = maximisation(points, owned, covariance)
    assert torch.allclose(owned.sum(1), torch.ones(len(points), dtype=torch.float64))
    assert float(fitted.weights.sum()) == pytest.approx(1)
    assert float(torch.linalg.eigvalsh(fitted.covariances).min()) >= FLOOR * (1 - 1e-6)
    if covariance == "diag":
        assert not fitted.covariances[:, 0, 1].any()


def votes(preset: str, **options) -> tuple:
    """The points of a preset as votes, R from the first E-step unless given."""
    points = torch.tensor(PRESETS[preset].points(0), dtype=torch.float64)
    start, given_ = begin(PRESETS[preset].gaussians), options.pop("activations", None)
    activations = torch.ones(len(points), dtype=torch.float64) if given_ is None else given_
    owned = None if options.pop("even", False) else expectation(points, start)
    chosen = {"beta_u": 0.0, "beta_a": -2.0, "inverse_temperature": InverseTemperature(), **options}
    return as_votes(points, activations, owned, len(start.weights), ROUNDS, **chosen)


def test_from_an_even_split_parents_that_share_their_votes_stay_one_and_the_same():
    for step in votes("clusters", even=True):
        assert torch.allclose(step.means[0, 0], step.means[0, 1]) and step.activations[0].unique().numel() == 1
        assert torch.allclose(step.posteriors, torch.full_like(step.posteriors, 0.5))


def test_the_parent_that_the_outlier_is_left_with_switches_off():
    last = votes("outlier")[-1]
    owner = int(last.posteriors[0, -1].argmax())
    assert float(last.activations[0, owner]) < 0.25 and float(last.activations[0, 1 - owner]) > 0.95


def test_what_the_sliders_say_holds_at_the_first_m_step():
    strict, loose = (votes("ring", inverse_temperature=InverseTemperature(final))[0] for final in (10.0, 1.0))
    assert ((strict.activations - 0.5).abs() >= (loose.activations - 0.5).abs()).all()
    for name, less in (("beta_u", 1.0), ("beta_a", -3.0)):
        assert (votes("ring", **{name: less})[0].activations < loose.activations).all()


def test_a_vote_with_no_activation_has_no_say():
    muted = torch.ones(COUNT, dtype=torch.float64)
    muted[-1] = 0
    alone = votes("outlier", activations=muted)[0]
    assert float(alone.means.max()) < float(votes("outlier")[0].means.max())
    silent = votes("outlier", activations=torch.zeros(COUNT, dtype=torch.float64))[-1]
    assert all(torch.isfinite(value).all() for value in (silent.means, silent.posteriors, silent.activations))


def fitted(preset: str, seed: int = 0, covariance: Covariance = "full"):
    points = torch.tensor(PRESETS[preset].points(seed), dtype=torch.float64)
    return points, list(islice(half_steps(points, begin(PRESETS[preset].gaussians), covariance), 31))[-1]


def test_the_presets_show_what_their_sentences_say():
    for name in ("clusters", "elongated"):
        assert (fitted(name)[1].responsibilities.max(1).values > 0.9).all()
    assert (fitted("overlapping")[1].responsibilities.max(1).values < 0.9).sum() >= 5
    full, diagonal = (fitted("elongated", covariance=kind)[1].log_likelihood for kind in ("full", "diag"))
    assert full > diagonal + 10
    assert (fitted("ring")[1].responsibilities.sum(0) > 3).all()
    outlier = fitted("outlier")[1]
    owner = int(outlier.responsibilities[-1].argmax())
    assert float(outlier.responsibilities[:, owner].sum()) < 6
    assert float(torch.linalg.eigvalsh(outlier.gaussians.covariances[owner]).max().sqrt()) > 0.5


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_draws_the_same_points_of_the_same_seed(name: str):
    points = PRESETS[name].points(3)
    assert points == PRESETS[name].points(3) != PRESETS[name].points(4)
    assert len(points) == COUNT and np.abs(points).max() <= EXTENT
    assert points == np.round(points, 2).tolist()
