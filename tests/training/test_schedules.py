"""Learning rates and margins against the papers' words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsviz.training.schedules import SCHEDULES, learning_rate


@pytest.mark.parametrize(
    ("schedule", "factor", "every"),
    [("paper-fashion", 0.96, 1_000), ("paper-mnist-fc", 0.5, 1_000), ("paper-multi-mnist", 0.96, 20_000)],
)
def test_the_papers_schedules_fall_by_their_factor_every_so_many_steps(schedule, factor, every):
    rates = [learning_rate(schedule, 1e-3, step, 100_000) for step in (0, every - 1, every, 3 * every)]
    assert rates == pytest.approx([1e-3, 1e-3, 1e-3 * factor, 1e-3 * factor**3])


def test_one_cycle_rises_to_its_peak_after_a_fifth_and_falls_to_nothing():
    rates = [learning_rate("one-cycle", 1e-3, step, 1_000) for step in range(1_000)]
    assert rates[199] == max(rates) == pytest.approx(1e-3)
    assert rates[0] == pytest.approx(5e-6)
    assert rates[-1] < 1e-8
    assert rates[:200] == sorted(rates[:200]) and rates[200:] == sorted(rates[200:], reverse=True)


@given(schedule=st.sampled_from(SCHEDULES), total=st.integers(1, 10_000), data=st.data())
def test_a_learning_rate_is_never_negative_or_above_its_peak(schedule, total, data):
    step = data.draw(st.integers(0, total - 1))
    assert 0 < learning_rate(schedule, 1e-3, step, total) <= 1e-3
