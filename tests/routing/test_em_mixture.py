"""EM routing is a mixture of Gaussians fitted to votes: scikit-learn's, where all upper capsules see the same votes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from capsviz.routing import mixture
from capsviz.routing.em import InverseTemperature, em_routing
from capsviz.routing.votes import DenseVotes
from tests.known import known

from . import reference
from .capsules import capsules
from .em_samples import route, seeds


def observations(count: int, dim: int, seed: int):
    """Two clusters, so that a mixture has something to find."""
    generator = np.random.default_rng(seed)
    centres = generator.normal(size=(2, dim)) * 2
    return centres[np.arange(count) % 2] + generator.normal(size=(count, dim)) * generator.uniform(0.3, 1.5, size=dim)


def sklearn_mixture(weights, means, variances, **options) -> GaussianMixture:
    """A diagonal Gaussian mixture that starts from the given parameters."""
    return GaussianMixture(
        n_components=len(means),
        covariance_type="diag",
        reg_covar=0,
        weights_init=weights,
        means_init=means,
        precisions_init=1 / variances,
        **options,
    )


def with_parameters(weights, means, variances) -> GaussianMixture:
    """A diagonal Gaussian mixture that is taken as fitted with the given parameters."""
    model = GaussianMixture(n_components=len(means), covariance_type="diag")
    model.weights_, model.means_, model.covariances_ = weights, means, variances
    model.precisions_cholesky_ = 1 / np.sqrt(variances)
    return model


def seen_by_all(x, upper: int):
    """Observations "lower dim" as what each of the upper capsules sees, "1 upper lower dim"."""
    return torch.from_numpy(x)[None, None].expand(1, upper, *x.shape)


mixtures = st.tuples(st.integers(2, 4), st.integers(1, 4), seeds)


def test_a_log_density_is_that_of_independent_normal_numbers():
    values, means = torch.randn(2, 3, 5, 4).double(), torch.randn(2, 3, 4).double()
    variances = torch.rand(2, 3, 4).double() + 0.1
    each = torch.distributions.Normal(means.unsqueeze(2), variances.sqrt().unsqueeze(2)).log_prob(values)
    torch.testing.assert_close(mixture.log_density(values, means, variances), each.sum(-1))


def random_parameters(components: int, dim: int, seed: int):
    """Weights, means and variances of a mixture."""
    generator = np.random.default_rng(seed)
    return (
        generator.dirichlet(np.full(components, 5.0)),
        generator.normal(size=(components, dim)) * 2,
        generator.uniform(0.2, 3.0, size=(components, dim)),
    )


@given(mixtures)
def test_e_step_is_that_of_scikit_learn(drawn):
    components, dim, seed = drawn
    x = observations(20, dim, seed)
    weights, means, variances = random_parameters(components, dim, seed)
    gaussians = torch.tensor(means)[None], torch.tensor(variances)[None]
    densities = mixture.log_density(seen_by_all(x, components), *gaussians)
    # only the ratios of the activations matter, as R is normalised over the upper capsules
    activations = torch.tensor(0.7 * weights)[None]
    owned = mixture.responsibilities(densities, activations.log())
    expected = with_parameters(weights, means, variances).predict_proba(x)
    np.testing.assert_allclose(owned[0].T.numpy(), expected, rtol=1e-8, atol=1e-12)


@given(mixtures, st.floats(0.01, 1))
def test_m_step_is_that_of_scikit_learn(drawn, activation):
    """One E-step and one M-step of a fit; equal activations, whatever they are, cancel in mean and variance."""
    components, dim, seed = drawn
    x = observations(20, dim, seed)
    weights, means, variances = random_parameters(components, dim, seed)
    owned = torch.tensor(with_parameters(weights, means, variances).predict_proba(x)).T[None]
    # scikit-learn adds 10 machine epsilons to the amount of data, which shows where a Gaussian owns next to nothing
    assume(owned.sum(dim=2).min() > 1e-3)
    actual = mixture.weighted_moments(seen_by_all(x, components), activation * owned, variance_floor=1e-12)
    model = sklearn_mixture(weights, means, variances, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(x)
    np.testing.assert_allclose(actual[0][0].numpy(), model.means_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(actual[1][0].numpy(), model.covariances_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(actual[2][0].numpy() / (activation * len(x)), model.weights_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_ten_e_and_m_steps_are_those_of_scikit_learn(seed):
    x = observations(60, 3, seed)
    start = random_parameters(2, 3, seed)
    model = sklearn_mixture(*start, max_iter=10, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(x)
    values = seen_by_all(x, 2)
    weights, means, variances = (torch.tensor(parameter)[None] for parameter in start)
    for _ in range(model.n_iter_):
        owned = mixture.responsibilities(mixture.log_density(values, means, variances), weights.log())
        means, variances, amount = mixture.weighted_moments(values, owned, variance_floor=1e-12)
        weights = amount / len(x)
    np.testing.assert_allclose(means[0].numpy(), model.means_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(variances[0].numpy(), model.covariances_, rtol=1e-6, atol=1e-8)


@given(mixtures, st.floats(0.01, 1))
def test_routing_one_pose_type_is_scikit_learns_mixture_at_every_iteration(drawn, activation):
    """E-step: `predict_proba` with the step's own Gaussians and activations. M-step: the fit of a single Gaussian,
    as uniform responsibilities let every upper capsule see the same data."""
    upper, dim, seed = drawn
    x = observations(20, dim, seed)
    votes = DenseVotes(torch.from_numpy(x)[None, :, None].expand(1, len(x), upper, dim).clone())
    beta_a = torch.linspace(-3, 3, upper, dtype=torch.float64)
    single = GaussianMixture(1, covariance_type="diag", reg_covar=0).fit(x)
    steps = em_routing(
        votes,
        torch.full((1, len(x)), activation, dtype=torch.float64),
        torch.zeros(upper, dtype=torch.float64),
        beta_a,
        inverse_temperature=InverseTemperature(final=1.0),
        final_posteriors=True,
    )
    for step in steps:
        for j in range(upper):
            np.testing.assert_allclose(step.means[0, j].numpy(), single.means_[0], rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(step.variances[0, j].numpy(), single.covariances_[0], rtol=1e-7, atol=1e-9)
        prior = (step.activations[0] / step.activations[0].sum()).numpy()
        model = with_parameters(prior, step.means[0].numpy(), step.variances[0].numpy())
        np.testing.assert_allclose(known(step.posteriors)[0].numpy(), model.predict_proba(x), rtol=1e-7, atol=1e-10)


@given(capsules(min_lower=2), seeds)
def test_routing_weighs_the_density_of_each_capsules_own_votes_like_scikit_learn(sample, seed):
    """Votes that differ from one upper capsule to the next: R_ij ∝ a_j N(V_ij; μ_j, σ_j²), N from `score_samples`."""
    step = next(route(sample, 1, seed=seed, final_posteriors=True))
    one = np.ones(1)
    for k, votes in enumerate(sample.votes.numpy()):
        log_joint = np.stack(
            [
                with_parameters(one, step.means[k, j].numpy()[None], step.variances[k, j].numpy()[None]).score_samples(
                    votes[:, j]
                )
                + np.log(step.activations[k, j].numpy())
                for j in range(votes.shape[1])
            ],
            axis=1,
        )
        expected = np.stack([reference.softmax(row) for row in log_joint])
        np.testing.assert_allclose(step.posteriors[k].numpy(), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("data", "mean"), [(0.0, 0.0), (0.5e-6, 0.5), (1.5e-6, 1.0), (3.0, 1.0)])
def test_a_gaussian_is_drawn_towards_zero_by_what_it_lacks_of_a_millionth_of_a_capsule(data, mean):
    weights = torch.full((1, 1, 4), data / 4, dtype=torch.float64)
    means, _, amount = mixture.weighted_moments(torch.ones(1, 1, 4, 2).double(), weights, variance_floor=1e-4)
    torch.testing.assert_close(means, torch.full_like(means, mean))
    assert float(amount) == pytest.approx(data)
