"""In convolutional layers the upper capsules at all positions that a lower one votes for compete for its vote."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from capsviz.routing import DenseVotes, Windows, WindowVotes, mixture
from capsviz.routing.attention import attention_routing
from capsviz.routing.connections import Everyone
from capsviz.routing.dynamic import dynamic_routing
from capsviz.routing.em import InverseTemperature, em_routing
from tests.known import known

from . import reference
from .capsules import direction_like
from .em_samples import assert_close_in_low_precision, finite_steps, hard_cases

FLOOR = 1e-4


class Shape(NamedTuple):
    """A grid of lower capsules and the windows over it."""

    grid: tuple[int, int, int]
    kernel: int
    stride: int
    types: int

    @property
    def windows(self) -> Windows:
        return Windows.over(self.grid, self.kernel, self.stride, self.types)

    def seen(self) -> list[list[int]]:
        """The lower capsules in the window of each upper capsule, by loops over places."""
        rows, columns, kinds = self.grid
        found = []
        for top in range(0, rows - self.kernel + 1, self.stride):
            for left in range(0, columns - self.kernel + 1, self.stride):
                window = [
                    ((top + row) * columns + left + column) * kinds + kind
                    for row in range(self.kernel)
                    for column in range(self.kernel)
                    for kind in range(kinds)
                ]
                found += [window] * self.types
        return found

    def connected(self) -> np.ndarray:
        """Who votes for whom, "lower upper"."""
        seen = self.seen()
        table = np.zeros((np.prod(self.grid), len(seen)), dtype=bool)
        for j, window in enumerate(seen):
            table[window, j] = True
        return table


@st.composite
def shapes(draw) -> Shape:
    """Grids and windows of every small kind, also such as leave lower capsules without a parent."""
    kernel = draw(st.integers(1, 3), label="kernel")
    rows, columns = (draw(st.integers(kernel, kernel + 2), label="side") for _ in range(2))
    grid = rows, columns, draw(st.integers(1, 2), label="lower types")
    return Shape(grid, kernel, draw(st.integers(1, 3), label="stride"), draw(st.integers(1, 3), label="upper types"))


seeds = st.integers(0, 10_000)
STRIDED, OVERLAPPING = Shape((6, 5, 2), 3, 2, 3), Shape((4, 5, 2), 3, 1, 3)
EXAMPLES = pytest.mark.parametrize("shape", [STRIDED, OVERLAPPING], ids=["stride 2", "stride 1"])


def votes_of(shape: Shape, seed: int = 0, dim: int = 3, batch: int = 2, scale: float = 1.0):
    """Normal votes "batch window upper dim" in float64, and activations of the lower capsules."""
    random = torch.Generator().manual_seed(seed)
    windows = shape.windows
    votes = scale * torch.randn(batch, windows.window, windows.upper, dim, generator=random, dtype=torch.float64)
    presence = 0.05 + 0.95 * torch.rand(batch, windows.lower, generator=random, dtype=torch.float64)
    return DenseVotes(votes, windows), presence


def betas_of(shape: Shape, seed: int = 0) -> tuple[Tensor, Tensor]:
    """β_u and β_a, one each per upper capsule, of both signs."""
    random = torch.Generator().manual_seed(seed + 1)
    beta_u, beta_a = torch.randn(2, shape.windows.upper, generator=random, dtype=torch.float64)
    return beta_u, beta_a


def route(shape: Shape, iterations: int = 3, seed: int = 0, **options):
    """EM routing of random votes over the windows."""
    votes, presence = votes_of(shape, seed)
    return list(em_routing(votes, presence, *betas_of(shape, seed), iterations, **options))


def spread_out(shape: Shape, pairs: np.ndarray) -> np.ndarray:
    """Numbers "window upper …" as "lower upper …", zero where nobody votes."""
    table = np.zeros((np.prod(shape.grid), *pairs.shape[1:]))
    for j, window in enumerate(shape.seen()):
        for place, i in enumerate(window):
            table[i, j] = pairs[place, j]
    return table


# Who sees whom


@given(shapes())
def test_windows_are_those_of_a_walk_over_the_grid(shape):
    windows = shape.windows
    assert windows.lower_capsules.repeat_interleave(shape.types, dim=0).tolist() == shape.seen()
    assert (windows.lower, windows.upper) == shape.connected().shape
    assert windows.window == shape.kernel**2 * shape.grid[2]


@given(shapes(), seeds)
def test_an_upper_capsule_observes_the_numbers_of_its_window(shape, seed):
    windows = shape.windows
    numbers = torch.rand(2, windows.lower, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(windows.observed(numbers), numbers[:, torch.tensor(shape.seen())])


@given(shapes(), seeds)
def test_the_softmax_is_over_all_parents_of_a_lower_capsule(shape, seed):
    windows = shape.windows
    random = torch.Generator().manual_seed(seed)
    logits = 30 * torch.randn(1, windows.upper, windows.window, generator=random, dtype=torch.float64)
    table = spread_out(shape, logits[0].T.numpy())
    expected = np.zeros_like(table)
    for i, voted in enumerate(shape.connected()):
        if voted.any():
            expected[i, voted] = reference.softmax(table[i, voted])
    found = spread_out(shape, windows.softmax(logits)[0].T.numpy())
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_the_softmax_over_everyone_leaves_the_numbers_of_an_upper_capsule_where_they_lie():
    everyone, linear, plain = Everyone(5, 4), torch.rand(4, 2, 5).transpose(0, 1), torch.rand(2, 4, 5)
    assert everyone.softmax(linear).stride() == linear.stride()
    assert everyone.softmax(plain).stride() == plain.stride()
    for logits in (linear, plain):
        assert torch.equal(everyone.softmax(logits), logits.softmax(1))


@given(shapes(), seeds)
def test_what_a_lower_capsule_gives_is_summed_over_all_its_parents(shape, seed):
    windows = shape.windows
    random = torch.Generator().manual_seed(seed)
    shares = torch.rand(2, windows.window, windows.upper, generator=random, dtype=torch.float64)
    seen = shape.connected().any(axis=1)
    for k in range(2):
        expected = spread_out(shape, shares[k].numpy()).sum(axis=1)[seen]
        np.testing.assert_allclose(windows.given(shares)[k].numpy(), expected, rtol=1e-12)


# Agreement over windows


@given(shapes(), seeds, st.integers(1, 4))
def test_every_step_of_dynamic_routing_agrees_with_the_plain_loops(shape, seed, iterations):
    votes, _ = votes_of(shape, seed)
    steps = list(dynamic_routing(votes, iterations, final_agreement=True))
    for k in range(2):
        loops = reference.dynamic_routing(spread_out(shape, votes.votes[k].numpy()), iterations, shape.connected())
        for step, expected in zip(steps, loops, strict=True):
            for name, value in expected.items():
                actual = known(getattr(step, name))[k].numpy()
                actual = spread_out(shape, actual) if name in ("logits", "couplings", "agreement") else actual
                np.testing.assert_allclose(actual, value, rtol=1e-9, atol=1e-12, err_msg=name)


@given(shapes(), seeds)
def test_couplings_of_attention_sum_to_one_over_all_parents_of_a_lower_capsule(shape, seed):
    votes, _ = votes_of(shape, seed)
    own = torch.randn(3, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    for step in attention_routing(votes, *own):
        total = shape.windows.given(known(step.couplings))
        torch.testing.assert_close(total, torch.ones_like(total))


# EM over windows


@given(shapes(), seeds, st.integers(1, 6))
def test_every_step_agrees_with_the_plain_loops(shape, seed, iterations):
    votes, presence = votes_of(shape, seed)
    beta_u, beta_a = betas_of(shape, seed)
    steps = list(em_routing(votes, presence, beta_u, beta_a, iterations, final_posteriors=True, variance_floor=FLOOR))
    for k in range(2):
        starts = [spread_out(shape, known(step.responsibilities)[k].numpy()) for step in steps]
        loops = reference.em_routing(
            spread_out(shape, votes.votes[k].numpy()),
            presence[k].numpy(),
            beta_u.numpy(),
            beta_a.numpy(),
            [step.inverse_temperature for step in steps],
            FLOOR,
            mixture.EMPTY,
            starts,
            shape.connected(),
        )
        for step, expected in zip(steps, loops, strict=True):
            for name, value in expected.items():
                actual = getattr(step, name)[k].numpy()
                actual = spread_out(shape, actual) if name in ("responsibilities", "posteriors") else actual
                np.testing.assert_allclose(actual, value, rtol=1e-7, atol=1e-9, err_msg=name)


@given(shapes(), seeds)
def test_one_window_over_the_whole_grid_is_the_dense_layer(shape, seed):
    rows = shape.kernel
    whole = Shape((rows, rows, shape.grid[2]), rows, 1, shape.types)
    votes, presence = votes_of(whole, seed)
    betas = betas_of(whole, seed)
    everyone = DenseVotes(votes.votes).connections
    assert isinstance(everyone, Everyone)
    shares = torch.rand(2, 3, 5)
    torch.testing.assert_close(everyone.given(shares), shares.sum(2))
    for step, expected in zip(
        em_routing(votes, presence, *betas), em_routing(DenseVotes(votes.votes), presence, *betas), strict=True
    ):
        torch.testing.assert_close(step.responsibilities, expected.responsibilities)
        torch.testing.assert_close(step.cost, expected.cost)
        torch.testing.assert_close(step.activations, expected.activations)


@EXAMPLES
def test_responsibilities_of_a_lower_capsule_sum_to_one_over_all_its_parents(shape):
    """Over the capsules of one position they sum to one only where no other position sees the lower capsule."""
    voted, alone = shape.connected(), shape.connected().sum(axis=1) == shape.types
    assert alone.any() and not alone.all()
    for step in route(shape, final_posteriors=True):
        for pairs in (step.responsibilities, step.posteriors):
            shares = spread_out(shape, pairs[0].numpy())
            np.testing.assert_allclose(shares.sum(axis=1), voted.any(axis=1), rtol=1e-9)
            at_positions = shares.reshape(len(shares), -1, shape.types).sum(axis=2)
            assert at_positions[~alone].max(axis=1).min() < 0.999, "some capsules must be shared between positions"


def test_a_capsule_that_explains_a_vote_better_takes_it_from_another_position():
    """Four positions share the middle place; with competition within a position only, both would keep it whole."""
    shape = Shape((3, 3, 1), 2, 1, 1)
    votes, presence = votes_of(shape, dim=2, batch=1, scale=0.05)
    middle = 4  # the centre of the grid, seen by all four positions
    table = votes.votes.clone()
    for j, window in enumerate(shape.seen()):
        # Only the first position's window predicts the same for its middle as for the rest.
        table[0, window.index(middle), j] = 0.0 if j == 0 else 3.0
    zeros = torch.zeros(4, dtype=torch.float64)
    *_, step = em_routing(DenseVotes(table, shape.windows), presence, zeros, zeros, final_posteriors=True)
    shares = spread_out(shape, known(step.posteriors)[0].numpy())[middle]
    assert shares[0] > 0.99 and shares.sum() == pytest.approx(1)


@EXAMPLES
@pytest.mark.parametrize("copies", [1, 8, 64])
def test_the_logistic_does_not_saturate_as_lower_types_grow_in_number(shape, copies):
    """Copies of every lower type are the same evidence: the activation does not move."""
    more = Shape((*shape.grid[:2], shape.grid[2] * copies), *shape[1:])
    votes, presence = votes_of(shape)
    slots = (2, shape.kernel**2, shape.grid[2])
    many = votes.votes.unflatten(1, slots[1:]).repeat(1, 1, copies, 1, 1).flatten(1, 2)
    crowd = presence.unflatten(1, (-1, shape.grid[2])).repeat(1, 1, copies).flatten(1)
    zeros = torch.zeros(shape.windows.upper, dtype=torch.float64)
    for step, expected in zip(
        em_routing(DenseVotes(many, more.windows), crowd, zeros, zeros),
        em_routing(votes, presence, zeros, zeros),
        strict=True,
    ):
        torch.testing.assert_close(step.activations, expected.activations)


@EXAMPLES
def test_an_even_split_is_one_unit_of_data_at_the_border_and_inside(shape):
    votes, _ = votes_of(shape)
    upper = shape.windows.upper
    presence = torch.ones(2, shape.windows.lower, dtype=torch.float64)
    first = next(em_routing(votes, presence, torch.ones(upper).double(), torch.zeros(upper).double()))
    torch.testing.assert_close(first.cost, 1 + 0.5 * first.variances.log())


# Where naive versions break


CASES = hard_cases((2, STRIDED.windows.window, STRIDED.windows.upper, 16), (2, STRIDED.windows.lower))


@pytest.mark.parametrize("through", ["last", "all"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("case", CASES)
def test_ten_iterations_stay_finite_and_so_do_their_gradients(case, dtype, through):
    voted = torch.from_numpy(STRIDED.connected().any(axis=1)).double()
    for step in finite_steps(*CASES[case], dtype, through, STRIDED.windows):
        shares = spread_out(STRIDED, known(step.posteriors)[1].detach().double().numpy()).sum(axis=1)
        np.testing.assert_allclose(shares, voted, atol=0.02)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@EXAMPLES
def test_low_precision_is_close(shape, dtype):
    votes, presence = votes_of(shape, dim=16, scale=0.3)
    assert_close_in_low_precision(votes.votes, presence, dtype, shape.windows)


def test_gradient_through_all_iterations_is_the_derivative_of_the_loop():
    shape = Shape((3, 2, 1), 2, 1, 2)
    votes, presence = votes_of(shape, seed=5, dim=2, batch=1)
    inputs = [tensor.requires_grad_() for tensor in (votes.votes, presence, *betas_of(shape))]

    def outcome(values, presence, beta_u, beta_a):
        *_, step = em_routing(DenseVotes(values, shape.windows), presence, beta_u, beta_a, 3, through="all")
        return step.means, step.activations

    assert torch.autograd.gradcheck(outcome, inputs)


# Votes of a convolutional layer


@EXAMPLES
def test_votes_are_matrix_products_with_the_weight_of_the_place_in_the_window(shape):
    windows = shape.windows
    poses = torch.randn(2, windows.lower, 4, 4, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(windows.window, shape.types, 4, 4, dtype=torch.float64, requires_grad=True)
    expected = torch.stack(
        [
            torch.stack([poses[:, i] @ weight[place, j % shape.types] for place, i in enumerate(window)], dim=1)
            for j, window in enumerate(shape.seen())
        ],
        dim=2,
    ).flatten(3)
    votes = WindowVotes(poses, weight, windows)
    assert votes.shape == expected.shape
    torch.testing.assert_close(votes.materialise(), expected)
    for actual, wanted in zip(
        torch.autograd.grad((votes.materialise() * direction_like(expected)).sum(), (poses, weight)),
        torch.autograd.grad((expected * direction_like(expected)).sum(), (poses, weight)),
        strict=True,
    ):
        torch.testing.assert_close(actual, wanted)
    couplings, upper_poses = torch.rand(2, *expected.shape[1:3]).double(), torch.randn(2, windows.upper, 16).double()
    torch.testing.assert_close(votes.weighted_sum(couplings), torch.einsum("bwj,bwjh->bjh", couplings, expected))
    torch.testing.assert_close(votes.agreement(upper_poses), torch.einsum("bwjh,bjh->bwj", expected, upper_poses))
    assert not votes.detach().materialise().requires_grad
    assert (votes.pairs(0.5) == 0.5).all() and votes.pairs(0.5).shape == expected.shape[:3]


def test_the_loop_uses_the_schedule_that_it_is_given():
    schedule = InverseTemperature(final=2.0, decay=0.3, start=0.5)
    for step in route(STRIDED, inverse_temperature=schedule, progress=0.25):
        assert step.inverse_temperature == pytest.approx(schedule.at(step.iteration, 0.25))


def test_what_a_window_sees_is_numbered_where_its_places_lie():
    """And not where new tensors would lie."""
    windows = STRIDED.windows
    with torch.device("meta"):
        seen = windows.lower_capsules
    assert seen.device == windows.children.device
    assert [row for row in seen.tolist() for _ in range(STRIDED.types)] == STRIDED.seen()
