"""Figures of the experiments: every number on them stands in a result."""

from __future__ import annotations

import pytest

from capsviz.experiments import convergence, cost, reports
from capsviz.figures import FigureError, describe
from capsviz.figures import experiments as figures
from capsviz.figures.table2 import table_ii
from capsviz.routing.dynamic import DYNAMIC


def row(setting: dict, error: float) -> dict:
    part = {"error": error, "loss": error / 10, "count": 360}
    b = {"exact_zero_share": 0.25, "near_zero_share": 0.5, "deviation": 0.1, "negative_share": 0.25}
    usual = {"iterations": 3, "ascent_step": 0.005, "coefficient_start": 0.1, "regularisation": 0.1, "proximal": False}
    return {"training": {**usual, **setting}, "train": part, "test": part, "coefficients": b}


def test_convergence_draws_the_curves_of_one_data_set():
    curves = convergence.curves()
    figure = figures.convergence(curves, "mnist")
    dr = next(curve for curve in curves if (curve.data, curve.routing) == ("mnist", "dr"))
    assert list(figure.data[0].y) == [error for _, error in dr.validation]
    assert f"DR {dr.validation[-1][1]:.2f} %" in describe(figure)
    with pytest.raises(FigureError, match="no curves of cifar10"):
        figures.convergence([], "cifar10")


@pytest.mark.parametrize("data", sorted({curve.data for curve in convergence.curves()}))
def test_every_panel_of_convergence_has_numbers_to_read_it_by(data):
    figure = figures.convergence(convergence.curves(), data)
    for panel, axis in (("y", figure.layout.yaxis), ("y2", figure.layout.yaxis2)):
        values = [value for curve in figure.data if curve.yaxis == panel for value in curve.y]
        if min(values) == 0:
            assert (axis.type, axis.rangemode) == (None, "tozero"), "zero has no place on a logarithmic axis"
            continue
        assert axis.type == "log"
        assert sum(min(values) <= tick <= max(values) for tick in axis.tickvals) > 2
        assert [float(text) for text in axis.ticktext] == pytest.approx(axis.tickvals)


def test_an_error_of_zero_is_drawn():
    """The digits' validation images come to be named rightly, all of them: that is the end of their curves."""
    figure = figures.convergence(convergence.curves(), "digits")
    assert 0 in figure.data[0].y
    assert (figure.layout.yaxis.type, figure.layout.yaxis2.type) == (None, "log")


def test_cost_draws_a_bar_for_each_method():
    found = cost.Cost("CPU", "paper", 128, {"dr": 3.0, "l2": 2.0, "l1": 1.0}, {"dr": 0.3, "l2": 0.2, "l1": 0.1})
    step, routing = figures.cost([found]).data
    assert [round(y, 1) for y in step.y] == [100, 66.7, 33.3] == [round(y, 1) for y in routing.y]
    assert (
        list(step.text) == ["100", "67", "33"]
        and step.name == "paper, CPU (DR 3 s)"
        and list(routing.customdata) == [0.3, 0.2, 0.1]
    )


def test_the_cost_on_many_devices_is_told_apart_by_patterns():
    times = {"dr": 3.0, "l2": 2.0, "l1": 1.0}
    found = [cost.Cost(f"device {number}", "paper", 128, times, times) for number in range(7)]
    shapes = [bars.marker.pattern.shape for bars in figures.cost(found).data[::2]]
    assert len(shapes) == 7 and len(set(shapes[:6])) == 6


def test_robustness_shades_what_training_had_seen():
    usual = {
        "model": "mnist-dr",
        "data": "mnist",
        "routing": "dr",
        "seen_shift": 2,
        "seen_rotation": 15,
        "seen_scale": 0.15,
        "seen_shear": 10,
        "count": 100,
        "ink": 1.0,
    }
    rows = [{**usual, "kind": "shift", "amount": amount, "error": 10.0 * amount} for amount in (2, 0, 1)]
    rows += [{**usual, "kind": "rotation", "amount": 40, "error": 50.0, "ink": 0.5}]
    figure = figures.robustness({"rows": rows})
    assert list(figure.data[0].x) == [0, 1, 2] and list(figure.data[0].y) == [0, 10, 20]
    assert (list(figure.data[1].x), list(figure.data[1].y)) == ([0, 40], [0, 50])
    assert [ink for _, ink in figure.data[1].customdata] == [100, 50]
    assert figure.data[0].error_y.array[1] == pytest.approx(3.0)
    assert [(shape.xref, shape.x0, shape.x1) for shape in figure.layout.shapes] == [("x", 0, 2), ("x2", 0, 15)]
    assert [(each.text, each.xref, each.x) for each in figure.layout.annotations if "seen" in each.text] == [
        ("seen in<br>training", "x", 2),
        ("seen in<br>training", "x2", 15),
    ]


def test_iterations_draws_means_with_the_range_of_the_seeds():
    rows = [row({"iterations": 1}, 2.0), row({"iterations": 1}, 4.0), row({"iterations": 2}, 1.0)]
    rows = [{**each, "train": {"error": each["test"]["error"] / 2, "loss": each["test"]["loss"] / 4}} for each in rows]
    shipped = {"rows": [{"model": name, "iterations": 1, "error": 7.0} for name in "mnopq"]}
    figure = figures.iterations({"rows": rows}, shipped)
    error = next(trace for trace in figure.data if trace.name == "test" and trace.xaxis == "x2")
    drawn = {(trace.name, trace.xaxis): pytest.approx(trace.y) for trace in figure.data if trace.xaxis != "x3"}
    assert drawn == {
        ("test", "x"): (0.3, 0.1), ("train", "x"): (0.075, 0.025), ("test", "x2"): (3, 1), ("train", "x2"): (1.5, 0.5)
    }  # fmt: skip
    assert list(error.y) == [3.0, 1.0] and error.error_y.array[0] == 1.0
    asked = [trace for trace in figure.data if trace.xaxis == "x3"]
    assert [list(trace.y) for trace in asked] == [[7.0]] * 5
    assert len({trace.marker.symbol for trace in asked}) == 5, "told apart though they share a colour"
    assert figure.layout.yaxis3.type == "log" and figure.layout.yaxis2.type != "log"


def test_sparsity_and_ascent_draw_what_was_averaged():
    rows = [row({"regularisation": 0.0}, 1.0), row({}, 2.0), row({"proximal": True}, 3.0)]
    zeros = figures.sparsity({"rows": rows}).data
    assert list(zeros[0].y) == [25.0, 25.0] and list(zeros[5].y) == [1.0, 3.0]
    assert [list(each.y) for each in zeros[1:3]] == [[50, 50], [1, 2]]
    second = row({}, 2.0) | {"coefficients": {"exact_zero_share": 0.65, "near_zero_share": 0.7}}
    mean, *_ = figures.sparsity({"rows": [*rows, second]}).data
    assert (mean.y[1], mean.error_y.array[1], mean.error_y.arrayminus[1]) == pytest.approx((45, 20, 20))
    assert list(zeros[0].marker.symbol) == ["circle", "circle"]
    assert list(zeros[3].marker.symbol) == ["circle", "circle-open"], "3 % where it is 1 % without λ"
    assert zeros[6].name == "error more than 1 point above that without λ"
    assert "in networks that still work: subgradient up to 25.0 %" in describe(figures.sparsity({"rows": rows}))
    rows = [row({}, 1.0), row({"ascent_step": 0.5}, 30.0), row({"coefficient_start": 0.2}, 4.0)]
    by_step, by_start, *_ = figures.ascent({"rows": rows}).data
    assert list(by_step.x) == ["0.005", "0.5"] and list(by_step.y) == [1.0, 30.0]
    assert list(by_start.x) == ["0.1", "0.2"] and list(by_start.y) == [1.0, 4.0]


def test_multi_mnist_draws_the_papers_figures_as_lines():
    rows = [{"model": "multi-mnist-dr", "routing": "dr", "error": 9.5}]
    figure = figures.multi_mnist(rows)
    assert list(figure.data[0].y) == [9.5]
    lines = {shape.name: shape.y0 for shape in figure.layout.shapes}
    assert lines == {"paper, DR: 7.47 %": 7.47, "paper, its own routing: 7.54 %": 7.54}


def test_what_is_measured_in_the_repository_can_be_drawn():
    assert describe(table_ii(reports.report("table").measured)).startswith("Test errors beside Yang, Li & Yu 2021")
    assert "mnist" in convergence.data_sets(reports.report("convergence").measured)


def test_the_curve_of_a_training_is_logarithmic_from_its_first_point_on_unless_something_is_zero():
    with pytest.raises(FigureError, match="nothing to draw of this training yet"):
        figures.training_curve([], "loss", DYNAMIC.name)
    first = figures.training_curve([(41, 5.0)], "loss", DYNAMIC.name, total=82)
    assert (
        first.layout.yaxis.type == "log" and 10 ** first.layout.yaxis.range[0] < 5 < 10 ** first.layout.yaxis.range[1]
    )
    assert first.layout.xaxis.range[1] >= 82 and list(first.data[0].y) == [5.0]
    assert figures.training_curve([(41, 5.0), (82, 0.0)], "loss", DYNAMIC.name).layout.yaxis.type != "log"
    assert "5 at step 41, 2 at step 82" in describe(
        figures.training_curve([(41, 5.0), (82, 2.0)], "loss", DYNAMIC.name)
    )


def test_no_two_models_of_the_iterations_are_drawn_alike():
    found = reports.report("iterations").measured
    shipped = [trace for trace in figures.iterations(found["trained"], found["shipped"]).data if trace.marker.symbol]
    assert len(shipped) > 5
    assert len({(trace.line.dash, trace.marker.symbol) for trace in shipped}) == len(shipped)
