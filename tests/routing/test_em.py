"""EM routing (seed 002 eq. 20-29): a mixture of Gaussians fitted to votes, also where naive versions break."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from capsviz.routing import mixture
from capsviz.routing.em import InverseTemperature, em_routing
from capsviz.routing.votes import DenseVotes, LinearVotes, MatrixVotes

from . import reference
from .capsules import Capsules, capsules, direction_like, draw, permutation

FLOOR = 1e-4
seeds = st.integers(0, 10_000)
iteration_counts = st.integers(1, 10)


def last(steps):
    """The last step of a routing loop."""
    *_, step = steps
    return step


def presence_of(sample: Capsules, seed: int = 0):
    """Activations a_i of the lower capsules, between 0.05 and 1."""
    generator = torch.Generator().manual_seed(seed)
    return 0.05 + 0.95 * torch.rand(sample.votes.shape[:2], generator=generator, dtype=torch.float64)


def betas_of(sample: Capsules, seed: int = 0):
    """β_u and β_a, one each per upper capsule, of both signs."""
    generator = torch.Generator().manual_seed(seed + 1)
    upper = sample.votes.shape[2]
    return torch.randn(2, upper, generator=generator, dtype=torch.float64).unbind()


def along_a_direction(*outcomes):
    """One number that depends on every entry, to take gradients of."""
    return sum((outcome * direction_like(outcome)).sum() for outcome in outcomes)


def route(sample: Capsules, iterations: int = 3, *, seed: int = 0, **options):
    """EM routing of a sample with activations and betas from a seed."""
    presence, betas = presence_of(sample, seed), betas_of(sample, seed)
    return em_routing(DenseVotes(sample.votes), presence, *betas, iterations, **options)


# What a step is


@pytest.mark.parametrize("kind", ["dense", "linear"])
@given(sample=capsules(), seed=seeds, iterations=iteration_counts)
def test_every_step_agrees_with_the_plain_loops(kind, sample, seed, iterations):
    votes = DenseVotes(sample.votes) if kind == "dense" else LinearVotes(sample.poses, sample.weight)
    presence, (beta_u, beta_a) = presence_of(sample, seed), betas_of(sample, seed)
    steps = list(em_routing(votes, presence, beta_u, beta_a, iterations, final_posteriors=True, variance_floor=FLOOR))
    temperatures = [step.inverse_temperature for step in steps]
    for before, after in pairwise(steps):
        assert torch.equal(before.posteriors, after.responsibilities)
    for k, sample_votes in enumerate(sample.votes.numpy()):
        starts = [step.responsibilities[k].numpy() for step in steps]
        betas = beta_u.numpy(), beta_a.numpy()
        loops = reference.em_routing(
            sample_votes, presence[k].numpy(), *betas, temperatures, FLOOR, mixture.EMPTY, starts
        )
        for step, expected in zip(steps, loops, strict=True):
            for name, value in expected.items():
                actual = getattr(step, name)[k].numpy()
                np.testing.assert_allclose(actual, value, rtol=1e-7, atol=1e-9, err_msg=name)


@given(capsules(), seeds, iteration_counts)
def test_responsibilities_of_a_lower_capsule_sum_to_one(sample, seed, iterations):
    for step in route(sample, iterations, seed=seed, final_posteriors=True):
        for shares in (step.responsibilities, step.posteriors):
            assert (shares >= 0).all()
            torch.testing.assert_close(shares.sum(dim=2), torch.ones_like(shares[..., 0]))


@given(capsules(), seeds)
def test_first_responsibilities_are_uniform_over_the_upper_capsules(sample, seed):
    shares = next(route(sample, seed=seed)).responsibilities
    torch.testing.assert_close(shares, torch.full_like(shares, 1 / sample.votes.shape[2]))


@given(capsules(), seeds, iteration_counts)
def test_what_one_iteration_concludes_the_next_one_starts_from(sample, seed, iterations):
    steps = list(route(sample, iterations, seed=seed))
    assert [step.iteration for step in steps] == list(range(1, iterations + 1))
    assert steps[-1].posteriors is None, "nobody asked for the posteriors after the last iteration"
    for step, following in pairwise(steps):
        assert (step.posteriors == following.responsibilities).all()


@given(capsules(), seeds)
def test_activations_are_the_logistic_of_the_cost(sample, seed):
    _, beta_a = betas_of(sample, seed)
    for step in route(sample, seed=seed):
        expected = torch.sigmoid(step.inverse_temperature * (beta_a - step.cost.sum(dim=-1)))
        torch.testing.assert_close(step.activations, expected)


@given(capsules(), seeds)
def test_the_pose_of_an_upper_capsule_is_its_mean(sample, seed):
    step = last(route(sample, seed=seed))
    assert (step.poses == step.means).all()


@pytest.mark.parametrize("iterations", [0, -1])
def test_fewer_than_one_iteration_is_refused(iterations):
    with pytest.raises(ValueError, match="at least one iteration"):
        next(route(draw(batch=1, lower=2, upper=2, dim=2), iterations))


# The schedule of λ


def test_lambda_rises_with_the_iteration_and_with_training():
    schedule = InverseTemperature()
    for progress in (0.0, 0.3, 1.0):
        values = [schedule.at(iteration, progress) for iteration in range(1, 11)]
        assert all(earlier < later for earlier, later in pairwise(values))
        assert values[0] > 0 and values[-1] <= schedule.final
    for iteration in (1, 3, 10):
        assert schedule.at(iteration, 0.0) < schedule.at(iteration, 0.5) < schedule.at(iteration, 1.0)
        assert schedule.at(iteration, 1.0) == schedule.at(iteration, 7.0), "progress ends at 1"
        expected = schedule.final * (1 - schedule.decay**iteration)
        assert schedule.at(iteration) == pytest.approx(expected), "a model that is not being trained uses the full λ"


def test_the_loop_uses_the_schedule_that_it_is_given():
    sample, schedule = draw(batch=1, lower=4, upper=2, dim=2), InverseTemperature(final=2.0, decay=0.3, start=0.5)
    for step in route(sample, 5, inverse_temperature=schedule, progress=0.25):
        assert step.inverse_temperature == pytest.approx(schedule.at(step.iteration, 0.25))


# Agreement with scikit-learn: equal activations, one pose type (every upper capsule sees the same votes)


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
        np.testing.assert_allclose(step.posteriors[0].numpy(), model.predict_proba(x), rtol=1e-7, atol=1e-10)


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


# Symmetry


@given(capsules(), seeds, iteration_counts)
def test_permuting_lower_capsules_changes_nothing(sample, seed, iterations):
    order = permutation(sample.votes.shape[1], seed)
    presence, (beta_u, beta_a) = presence_of(sample, seed), betas_of(sample, seed)
    steps = em_routing(DenseVotes(sample.votes), presence, beta_u, beta_a, iterations)
    permuted_steps = em_routing(DenseVotes(sample.votes[:, order]), presence[:, order], beta_u, beta_a, iterations)
    for step, permuted in zip(steps, permuted_steps, strict=True):
        for name in ("means", "variances", "cost", "activations"):
            torch.testing.assert_close(getattr(permuted, name), getattr(step, name), rtol=1e-7, atol=1e-9)
        torch.testing.assert_close(permuted.responsibilities, step.responsibilities[:, order], rtol=1e-7, atol=1e-9)


@given(capsules(), seeds)
def test_permuting_upper_capsules_permutes_their_gaussians(sample, seed):
    order = permutation(sample.votes.shape[2], seed)
    presence, (beta_u, beta_a) = presence_of(sample, seed), betas_of(sample, seed)
    step = last(em_routing(DenseVotes(sample.votes), presence, beta_u, beta_a))
    permuted = last(em_routing(DenseVotes(sample.votes[:, :, order]), presence, beta_u[order], beta_a[order]))
    for name in ("means", "variances", "activations"):
        torch.testing.assert_close(getattr(permuted, name), getattr(step, name)[:, order], rtol=1e-7, atol=1e-9)


@given(capsules(), seeds)
def test_an_absent_lower_capsule_has_no_say_in_the_gaussians(sample, seed):
    presence, (beta_u, beta_a) = presence_of(sample, seed), betas_of(sample, seed)
    presence[:, 0] = 0
    presence[:, -1] = 1
    disturbed = sample.votes.clone()
    disturbed[:, 0] += 5
    here, there = (last(em_routing(DenseVotes(votes), presence, beta_u, beta_a)) for votes in (sample.votes, disturbed))
    if sample.votes.shape[1] > 1:
        torch.testing.assert_close(here.means, there.means)
        torch.testing.assert_close(here.variances, there.variances)


# What routing is for


def agreeing_on_capsule_0(scatter: float = 3.0):
    """Thirty lower capsules whose votes for upper capsule 0 agree but for the last, and scatter for capsule 1."""
    votes = scatter * torch.randn(1, 30, 2, 4, dtype=torch.float64)
    votes[0, :, 0] = 1 + 0.1 * torch.randn(30, 4, dtype=torch.float64)
    votes[0, 29, 0] = -4
    return DenseVotes(votes), torch.ones(1, 30, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)


def test_votes_that_agree_activate_their_capsule_and_draw_the_others():
    votes, presence, beta = agreeing_on_capsule_0()
    steps = list(em_routing(votes, presence, beta, beta, 5, inverse_temperature=InverseTemperature(final=1.0)))
    assert (steps[-1].activations[0, 0] > steps[-1].activations[0, 1]).item()
    assert (steps[-1].responsibilities[0, :29, 0] > 0.9).all()
    assert steps[-1].responsibilities[0, 29, 0] < 0.1, "the outlier belongs to the wide Gaussian"
    torch.testing.assert_close(steps[-1].means[0, 0], torch.ones(4, dtype=torch.float64), rtol=0, atol=0.1)
    assert (steps[-1].variances[0, 0] < steps[0].variances[0, 0]).all()


@pytest.mark.parametrize("lower", [32, 256, 2048])
def test_the_logistic_does_not_saturate_as_lower_capsules_grow_in_number(lower):
    """Sixty-four copies of every capsule are the same evidence: the activation does not move, let alone saturate."""
    sample = draw(batch=2, lower=32, upper=10, dim=16, d=8, scale=0.3, seed=4)
    copies = lower // 32
    votes, presence = sample.votes.repeat(1, copies, 1, 1), presence_of(sample).repeat(1, copies)
    zeros = torch.zeros(10, dtype=torch.float64)
    mild = InverseTemperature(final=0.1)
    few = em_routing(DenseVotes(sample.votes), presence_of(sample), zeros, zeros, inverse_temperature=mild)
    many = em_routing(DenseVotes(votes), presence, zeros, zeros, inverse_temperature=mild)
    for expected, step in zip(few, many, strict=True):
        torch.testing.assert_close(step.activations, expected.activations)
        assert ((step.activations > 0.01) & (step.activations < 0.99)).all()


@pytest.mark.parametrize("upper", [2, 10, 100])
def test_the_logistic_does_not_saturate_with_the_number_of_upper_capsules(upper):
    sample = draw(batch=1, lower=64, upper=upper, dim=16, d=8, scale=0.3, seed=4)
    zeros = torch.zeros(upper, dtype=torch.float64)
    first = next(em_routing(DenseVotes(sample.votes), presence_of(sample), zeros, zeros))
    assert ((first.activations > 0.01) & (first.activations < 0.99)).all()


# Where naive versions break


def hard_cases():
    """Votes "2 lower 5 16" and activations at which a naive version divides by zero, overflows or underflows."""
    random = torch.randn(2, 24, 5, 16)
    clusters = random.sign() * 2
    return {
        "coincident votes": (torch.full((2, 24, 5, 16), 0.7), torch.full((2, 24), 0.5)),
        "coincident votes at zero": (torch.zeros(2, 24, 5, 16), torch.full((2, 24), 0.5)),
        "two points": (clusters, torch.ones(2, 24)),
        "no activation": (random, torch.zeros(2, 24)),
        "no activation, far votes": (30 * random, torch.zeros(2, 24)),
        "no activation, coincident votes": (torch.ones(2, 24, 5, 16), torch.zeros(2, 24)),
        "a trace of activation": (random, torch.full((2, 24), 1e-30)),
        "one image without activation": (random, torch.tensor([[0.0], [1.0]]).expand(2, 24)),
        "one lower capsule": (random[:, :1], torch.ones(2, 1)),
        "far votes": (300 * random, torch.ones(2, 24)),
        "outlier": (torch.full((2, 24, 5, 16), 0.7).index_fill(1, torch.tensor([23]), 50.0), torch.ones(2, 24)),
    }


@pytest.mark.parametrize("through", ["last", "all"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("case", list(hard_cases()))
def test_ten_iterations_stay_finite_and_so_do_their_gradients(case, dtype, through):
    values, presence = (tensor.to(dtype).clone().requires_grad_() for tensor in hard_cases()[case])
    betas = torch.zeros(2, 5, dtype=dtype, requires_grad=True)
    steps = list(em_routing(DenseVotes(values), presence, *betas, 10, through=through, final_posteriors=True))
    for step in steps:
        for name in ("responsibilities", "means", "variances", "cost", "activations", "posteriors"):
            assert getattr(step, name).isfinite().all(), f"{name} in iteration {step.iteration}"
            assert getattr(step, name).dtype == dtype
        assert (step.variances > 0).all()
        shares = step.posteriors.double().sum(dim=2)
        torch.testing.assert_close(shares, torch.ones_like(shares), rtol=0, atol=0.02)
    step = steps[-1]
    outcome = along_a_direction(step.means, step.activations)
    for name, gradient in zip(
        ("votes", "activations", "betas"), torch.autograd.grad(outcome, (values, presence, betas)), strict=True
    ):
        assert gradient.isfinite().all(), f"gradient of the {name}"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_low_precision_is_close(dtype):
    sample = draw(batch=2, lower=64, upper=10, dim=16, d=8, scale=0.3, seed=3)
    values, presence = sample.votes.to(dtype), presence_of(sample).to(dtype)
    zeros = torch.zeros(10)
    low = em_routing(DenseVotes(values), presence, zeros.to(dtype), zeros.to(dtype))
    exact = em_routing(DenseVotes(values.double()), presence.double(), zeros.double(), zeros.double())
    for step, expected in zip(low, exact, strict=True):
        torch.testing.assert_close(step.activations.double(), expected.activations, rtol=0, atol=0.01)
        torch.testing.assert_close(step.means.double(), expected.means, rtol=0.01, atol=0.02)
        torch.testing.assert_close(step.responsibilities.double(), expected.responsibilities, rtol=0, atol=0.02)


def test_without_evidence_an_upper_capsule_is_as_active_as_its_beta_says():
    sample = draw(batch=2, lower=6, upper=3, dim=4)
    beta_a = torch.tensor([-2.0, 0.0, 2.0], dtype=torch.float64)
    absent = torch.zeros(2, 6, dtype=torch.float64)
    for step in em_routing(DenseVotes(sample.votes), absent, torch.ones_like(beta_a), beta_a, variance_floor=FLOOR):
        assert (step.means == 0).all() and (step.variances == FLOOR).all() and (step.cost == 0).all()
        expected = torch.sigmoid(step.inverse_temperature * beta_a).expand(2, 3)
        torch.testing.assert_close(step.activations, expected)


def test_the_floor_on_the_variance_is_where_it_is_set():
    sample = Capsules(None, None, torch.ones(1, 4, 2, 3, dtype=torch.float64))
    for floor in (1e-6, 1e-2):
        for step in route(sample, variance_floor=floor):
            torch.testing.assert_close(step.variances, torch.full_like(step.variances, floor))


# Gradients


@given(capsules(min_lower=2), seeds, st.integers(1, 4))
def test_gradient_through_the_last_iteration_takes_responsibilities_for_constants(sample, seed, iterations):
    values, presence = sample.votes.requires_grad_(), presence_of(sample, seed).requires_grad_()
    beta_u, beta_a = (beta.requires_grad_() for beta in betas_of(sample, seed))
    step = last(em_routing(DenseVotes(values), presence, beta_u, beta_a, iterations, through="last"))
    outcome = along_a_direction(step.means, step.activations)
    actual = torch.autograd.grad(outcome, (values, presence, beta_u, beta_a))

    lower, upper = values.shape[1:3]
    owned = step.responsibilities.detach() * presence[..., None]
    received = owned.sum(dim=1)[..., None]
    assume(received.min() > 10 * mixture.EMPTY)
    means = (owned[..., None] * values).sum(dim=1) / received
    variances = (owned[..., None] * (values - means[:, None]) ** 2).sum(dim=1) / received
    cost = (beta_u[:, None] + variances.clamp_min(1e-4).log() / 2) * received * upper / lower
    activations = torch.sigmoid(step.inverse_temperature * (beta_a - cost.sum(dim=-1)))
    outcome = along_a_direction(means, activations)
    for a, expected in zip(actual, torch.autograd.grad(outcome, (values, presence, beta_u, beta_a)), strict=True):
        torch.testing.assert_close(a, expected, rtol=1e-6, atol=1e-8)


def test_gradient_through_all_iterations_is_the_derivative_of_the_loop():
    sample = draw(batch=1, lower=4, upper=2, dim=2, seed=5)
    inputs = [tensor.requires_grad_() for tensor in (sample.votes, presence_of(sample), *betas_of(sample))]

    def outcome(values, presence, beta_u, beta_a):
        step = last(em_routing(DenseVotes(values), presence, beta_u, beta_a, 3, through="all"))
        return step.means, step.activations

    assert torch.autograd.gradcheck(outcome, inputs)


@pytest.mark.parametrize("through", ["last", "all"])
def test_a_loop_that_is_watched_or_left_early_leaves_gradients_switched_on(through):
    sample = draw(batch=1, lower=3, upper=2, dim=2)
    presence, betas = presence_of(sample).requires_grad_(), betas_of(sample)
    steps = em_routing(DenseVotes(sample.votes.requires_grad_()), presence, *betas, 3, through=through)
    for step in steps:
        assert torch.is_grad_enabled(), f"gradients are off after iteration {step.iteration}"
        break
    assert torch.is_grad_enabled()


def test_matrix_votes_route_like_the_votes_they_stand_for():
    """4×4 poses times 4×4 weights with coordinate addition, values and gradients."""
    poses = torch.randn(2, 6, 4, 4, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(6, 3, 4, 4, dtype=torch.float64, requires_grad=True)
    coordinates = torch.rand(6, 4, 4, dtype=torch.float64)
    presence, beta = torch.rand(2, 6, dtype=torch.float64), torch.zeros(3, dtype=torch.float64)
    matrix = MatrixVotes(poses, weight, coordinates)
    expected = (poses[:, :, None] @ weight[None] + coordinates[:, None]).flatten(3)
    applied, stored = (last(em_routing(votes, presence, beta, beta)) for votes in (matrix, DenseVotes(expected)))
    torch.testing.assert_close(applied.means, stored.means)
    torch.testing.assert_close(applied.activations, stored.activations)
    for a, b in zip(
        torch.autograd.grad(along_a_direction(applied.means, applied.activations), (poses, weight)),
        torch.autograd.grad(along_a_direction(stored.means, stored.activations), (poses, weight)),
        strict=True,
    ):
        torch.testing.assert_close(a, b)
