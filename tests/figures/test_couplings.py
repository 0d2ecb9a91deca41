"""The charts of dynamic routing draw what the trace recorded."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import capsviz
from capsviz.data import to_float
from capsviz.figures import FigureError, coupling_entropy_figure, coupling_geometry, lengths_over_iterations
from capsviz.figures.theme import class_colour
from tests.known import single_digits

IMAGE, UPPER = 1, 4


def test_lengths_over_iterations_are_the_trace(dr):
    figure = lengths_over_iterations(dr, IMAGE)
    for index, line in enumerate(figure.data):
        assert line.name == dr.classes[index] and line.line.color == class_colour(index)
        np.testing.assert_allclose(line.y, dr.layer["activations"][:, IMAGE, index], atol=5.1e-5)
        assert list(line.x) == [1, 2, 3, 4]


def test_entropy_starts_at_its_maximum(dr):
    figure = coupling_entropy_figure(dr, IMAGE)
    mean = figure.data[2].y
    assert mean[0] == pytest.approx(1, abs=1e-6)
    couplings = dr.layer["couplings"][-1, IMAGE].double()
    expected = -(couplings * couplings.log()).sum(-1).mean() / np.log(10)
    assert mean[-1] == pytest.approx(float(expected), abs=1e-5)


def test_the_band_of_entropy_holds_the_middle_of_the_capsules():
    trace = capsviz.trace("digits-dr", to_float(single_digits().images[:1]))
    high, low, mean = coupling_entropy_figure(trace).data
    couplings = trace.layer["couplings"][-1, 0].double().numpy()
    ends = np.quantile(-(couplings * np.log(couplings)).sum(-1) / np.log(10), [0.1, 0.9]).tolist()
    assert [low.y[-1], high.y[-1]] == list(mean.customdata[-1]) == pytest.approx(ends, abs=1e-5)


def test_of_many_iterations_the_first_and_the_last_entropy_are_written():
    image = to_float(single_digits().images[:1])
    for count, written in ((3, 3), (10, 2)):
        figure = coupling_entropy_figure(capsviz.trace("digits-dr", image, iterations=count))
        [text] = [trace.text for trace in figure.data if trace.text]
        assert len(text) == count and text[0] and text[-1] and sum(map(bool, text)) == written


def test_the_axis_of_entropy_runs_from_decided_to_maximum_confusion_however_little_it_moves(dr):
    figure = coupling_entropy_figure(dr, IMAGE)
    low, high = figure.layout.yaxis.range
    assert low == 0 and 1 <= high < 1.2
    assert list(figure.data[2].text) == [f"{value:.4f}" for value in figure.data[2].y]


def test_heat_over_the_image_is_the_mean_coupling_of_a_position(dr):
    figure = coupling_geometry(dr, IMAGE, UPPER, 3)
    rows, columns, types = dr.grid
    every = dr.layer["couplings"][:, IMAGE, :, UPPER].reshape(-1, rows, columns, types).mean(-1).numpy()
    heat = figure.data[1]
    np.testing.assert_allclose(heat.z, every[2], atol=5.1e-6)
    top, left, bottom, right = dr.config.receptive_field(*divmod(int(every[2].argmax()), columns))
    [field] = figure.layout.shapes
    assert (field.x0, field.x1, field.y0, field.y1) == (left - 0.5, right - 0.5, top - 0.5, bottom - 0.5)
    # The first cell is the middle of its field, rows and columns 0 to 16; the last of 22 to 27 … 28 pixels.
    assert (heat.x0, heat.dx) == (8, 2)
    assert heat.x0 + heat.dx * (columns - 1) == (10 + 26) / 2
    assert "sees rows 0 to 16, columns 2 to 18" in heat.text[0][1]
    np.testing.assert_allclose(figure.data[0].z, dr.images[IMAGE, 0], atol=5.1e-4)


def test_heat_has_one_scale_around_the_even_share_in_all_iterations():
    trace = capsviz.trace("digits-dr", to_float(single_digits().images[:1]))
    upper = int(trace.predicted[0])
    mean = trace.layer["couplings"][:, 0, :, upper].reshape(-1, *trace.grid).mean(-1)
    reach = float((mean - 0.1).abs().max())
    for iteration in (1, 3):
        heat = coupling_geometry(trace, 0, upper, iteration).data[1]
        assert (heat.zmin, heat.zmax) == pytest.approx((0.1 - reach, 0.1 + reach))


def test_what_cannot_be_drawn_is_said_in_a_sentence(dr):
    with pytest.raises(FigureError, match="no image 3; choose one from 0 to 2"):
        lengths_over_iterations(dr, 3)
    with pytest.raises(FigureError, match="no iteration 5; choose one from 1 to 4"):
        coupling_geometry(dr, 0, 0, 5)


@pytest.mark.parametrize("draw", [lengths_over_iterations, coupling_entropy_figure])
def test_of_many_iterations_some_are_numbered(draw):
    votes = torch.randn(1, 6, 3, 4)
    few, many = (draw(capsviz.record(None, votes, "dr", iterations=count)).layout.xaxis for count in (3, 100))
    assert list(few.tickvals) == [1, 2, 3] and many.tickvals is None and many.nticks == 10
