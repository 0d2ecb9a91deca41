"""Coefficients, their signs, and signed agreement beside agreement."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from capsviz.figures import (
    FigureError,
    coefficient_histogram,
    coefficient_map,
    describe,
)
from capsviz.figures.geometry import Geometry

UPPER = 6


@pytest.fixture(scope="module")
def coefficients(l2):
    """The network's coefficients, moved so that both signs, zeros and near zeros occur."""
    b = l2.layer["coefficients"][0] - 0.1
    b[:5] = 0
    b[5:9] = 1e-6
    return b


def drawn(heatmap):
    return np.array([[np.nan if value is None else value for value in line] for line in heatmap.z], dtype=float)


def test_the_map_holds_every_coefficient_at_its_place(coefficients, l2):
    figure = coefficient_map(coefficients, l2.grid, upper=UPPER)
    cells = Geometry(*l2.grid).cells
    picture = drawn(figure.data[0])
    np.testing.assert_allclose(picture[cells >= 0], coefficients[cells[cells >= 0], UPPER], atol=5.1e-6)
    assert np.isnan(picture[cells < 0]).all()
    row, column = np.argwhere(cells == 100)[0]
    assert figure.data[0].text[row][column].startswith("capsule 100: row")


def test_zero_is_the_middle_of_the_colours(coefficients, l2):
    heatmap = coefficient_map(coefficients, l2.grid, upper=UPPER).data[0]
    assert heatmap.zmin == -heatmap.zmax
    assert heatmap.zmax == pytest.approx(float(coefficients[:, UPPER].abs().double().quantile(0.99)))
    low, high = heatmap.colorbar.ticktext[1:]
    assert low.startswith("≤") == bool(coefficients[:, UPPER].min() < heatmap.zmin)
    assert high.startswith("≥") == bool(coefficients[:, UPPER].max() > heatmap.zmax)


def test_negative_coefficients_are_counted(coefficients, l2):
    negative = int((coefficients[:, UPPER] < 0).sum())
    figure = coefficient_map(coefficients, l2.grid, upper=UPPER)
    assert 0 < negative < len(coefficients)
    assert f"<b>{negative}</b> of {len(coefficients)}" in figure.layout.annotations[-1].text
    assert f"{negative} of {len(coefficients)} negative" in describe(figure)


def test_the_histogram_counts_every_coefficient_once_and_no_bar_holds_both_signs(coefficients):
    figure = coefficient_histogram(coefficients)
    bars = figure.data[0]
    assert sum(bars.y) == int((coefficients != 0).sum())
    assert list(figure.data[1].y) == [int((coefficients == 0).sum())]
    below = sum(count for middle, count in zip(bars.x, bars.y, strict=True) if middle < 0)
    assert below == int((coefficients < 0).sum())
    assert all(abs(middle) >= bars.width / 2 - 1e-6 for middle in bars.x)


def test_of_many_classes_those_with_most_negative_coefficients_are_counted():
    b = torch.randn(30, 100, generator=torch.Generator().manual_seed(0))
    figure = coefficient_histogram(b)
    counts = (b < 0).sum(0)
    drawn = [int(name) for name in figure.data[-1].y]
    assert len(drawn) == 12 and drawn == sorted(drawn)
    assert min(counts[drawn]) >= sorted(counts.tolist())[-12] and list(figure.data[-3].x) == counts[drawn].tolist()
    assert figure.layout.xaxis2.title.text == "those of 12 of 100 classes"


def test_signs_are_counted_per_class(coefficients):
    negative, positive, words = coefficient_histogram(coefficients).data[2:]
    np.testing.assert_array_equal(negative.x, (coefficients < 0).sum(0))
    np.testing.assert_array_equal(positive.x, (coefficients > 0).sum(0))
    assert [int(word.split()[0]) for word in words.text] == (coefficients < 0).sum(0).tolist()


def test_near_and_exact_zeros_are_said(coefficients):
    text = coefficient_histogram(coefficients).layout.annotations[0].text
    size = coefficients.abs()
    near, exact = float((size < 1e-3 * size.max()).float().mean()), float((size == 0).float().mean())
    assert exact > 0
    assert f"near zero {100 * near:.2f} %, exactly zero {100 * exact:.2f} %" in text


def test_one_class_has_a_histogram_of_its_own(coefficients):
    figure = coefficient_histogram(coefficients[:, 2])
    assert sum(sum(bars.y) for bars in figure.data) == len(coefficients)


def test_what_cannot_be_drawn_is_said_in_a_sentence(l2, coefficients):
    with pytest.raises(FigureError, match="no class 10"):
        coefficient_map(coefficients, l2.grid, upper=10)
    with pytest.raises(FigureError, match="capsules, but"):
        coefficient_map(coefficients, (6, 6, 9), upper=0)


def test_coefficients_that_are_zero_are_neither_negative_nor_positive():
    b = torch.cat([torch.zeros(60, 2), -torch.linspace(0.01, 1, 80).view(40, 2)])
    figure = coefficient_histogram(b)
    bars, zero = figure.data[:2]
    assert sum(bars.y) == 80 and all(x < 0 for x, y in zip(bars.x, bars.y, strict=True) if y)
    assert (list(zero.x), list(zero.y)) == ([0], [120]) and zero.hovertemplate.startswith("b exactly 0")
    assert sum(coefficient_histogram(torch.zeros(4, 2)).data[1].y) == 8
