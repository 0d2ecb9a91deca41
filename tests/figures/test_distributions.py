"""Distributions over a test set, and confusion matrices."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from capsviz.figures import (
    FigureError,
    confusion_matrices,
    confusion_matrix,
    describe,
    distribution_steps,
    distribution_violins,
)

VALUES = {"DR": torch.linspace(0.0, 1.0, 101), "L2": torch.linspace(0.5, 0.9, 101)}
COLOURS = {"DR": "#0072b2"}
MATRIX = torch.tensor([[90, 0, 3], [1, 80, 0], [0, 0, 70]])


def test_a_violin_holds_every_number_of_its_method():
    figure = distribution_violins(VALUES, "MSE", colours=COLOURS)
    assert [trace.name for trace in figure.data] == ["DR", "L2"]
    np.testing.assert_allclose(figure.data[1].x, VALUES["L2"], atol=1e-6)
    assert figure.data[0].fillcolor == "#0072b2"
    assert list(figure.layout.yaxis.categoryarray) == ["L2", "DR"]  # plotly counts from below
    assert "over 101 test images; median: DR 0.5000, L2 0.7000" in describe(figure)


def test_a_cumulative_curve_rises_through_the_median():
    figure = distribution_steps(VALUES, "MSE", colours=COLOURS)
    for trace, name in zip(figure.data, VALUES, strict=True):
        x, y = np.array(trace.x), np.array(trace.y)
        assert (np.diff(x) >= 0).all() and (np.diff(y) >= 0).all()
        assert (y[0], y[-1]) == (0, 100)
        assert np.interp(float(VALUES[name].median()), x, y) == pytest.approx(50, abs=0.5)


@pytest.mark.parametrize("draw", [distribution_violins, distribution_steps])
def test_the_image_on_stage_is_on_the_axis_wherever_it_stands(draw):
    """A drawing, or a digit turned far, may be worse than every image of the test set, or better."""
    for mark in (3.0, -0.5):
        figure = draw(VALUES, "MSE", colours=COLOURS, marked={"DR": mark}, mark="a drawing")
        low, high = figure.layout.xaxis.range
        assert low < min(mark, 0.0) and max(mark, 1.0) < high


def test_of_few_images_each_has_its_step():
    [curve] = distribution_steps({"DR": torch.tensor([4.0, 1.0, 3.0, 2.0])}, "MSE", colours={}).data
    assert (list(curve.x), list(curve.y)) == ([1, 1, 2, 3, 4], [0, 25, 50, 75, 100])
    assert curve.line.shape == "hv"


def test_cumulative_curves_of_one_colour_are_told_apart_by_their_dashes():
    values = {"DR, paper": VALUES["DR"], "L2": VALUES["L2"], "DR, residual": VALUES["DR"]}
    colours = {"DR, paper": "#0072b2", "DR, residual": "#0072b2", "L2": "#009e73"}
    drawn = distribution_steps(values, "MSE", colours=colours).data
    assert [each.line.dash for each in drawn] == ["solid", "solid", "dash"]


@pytest.mark.parametrize("picture", [distribution_violins, distribution_steps])
def test_the_image_on_stage_is_marked_at_its_own_numbers(picture):
    figure = picture(VALUES, "MSE", colours=COLOURS, marked={"DR": 0.25, "L2": 0.9}, mark="image 7")
    mark = figure.data[-1]
    assert (mark.name, list(mark.x), list(mark.text)) == ("image 7", [0.25, 0.9], ["DR", "L2"])
    if picture is distribution_steps:
        assert mark.y[0] == pytest.approx(100 * 26 / 101)
        assert mark.y[1] == 100


def test_nothing_to_distribute_is_said_so():
    with pytest.raises(FigureError, match="at least one method"):
        distribution_violins({}, "MSE", colours={})


def test_errors_are_coloured_and_right_answers_are_not():
    figure = confusion_matrix(MATRIX, ("a", "b", "c"))
    right, errors, _ = figure.data
    assert [[value is not None for value in row] for row in right.z] == np.eye(3, dtype=bool).tolist()
    assert list(errors.z[0]) == [None, None, pytest.approx(np.log1p(3), abs=1e-3)]
    assert errors.zmax == pytest.approx(np.log1p(3))
    assert errors.colorbar.tickvals == pytest.approx(np.log1p([int(text) for text in errors.colorbar.ticktext]))
    assert (figure.layout.yaxis.title.text, figure.layout.xaxis.title.text) == ("shown", "named")
    assert "4 of 244 images named wrongly, most often a taken for c (3 times)" in describe(figure)
    once = confusion_matrix(torch.tensor([[9, 1], [0, 9]]), ("a", "b"))
    assert describe(once).endswith("1 of 19 images named wrongly, most often a taken for b (1 time).")


def test_a_long_title_of_the_image_on_stage_is_cut_in_the_legend_and_whole_at_the_pointer():
    mark = "alpine plants test image 0, class Arctostaphylos uva-ursi"
    for picture in (distribution_violins, distribution_steps):
        diamond = picture(VALUES, "MSE", colours={}, marked={"DR": 1.0}, mark=mark).data[-1]
        assert diamond.name == "alpine plants test image 0, class Arctostap…" and mark in diamond.hovertemplate


def test_every_count_is_written_in_its_cell():
    right, errors, _ = confusion_matrix(MATRIX, ("a", "b", "c")).data
    assert [list(row) for row in right.text] == [["90", "", ""], ["", "80", ""], ["", "", "70"]]
    assert [list(row) for row in errors.text] == [["", "", "3"], ["1", "", ""], ["", "", ""]]
    assert right.texttemplate == errors.texttemplate == "%{text}"


def test_a_click_on_a_cell_stands_for_the_class_shown_and_the_class_named():
    points = confusion_matrix(MATRIX, ("a", "b", "c"), cell=(0, 2)).data[-1]
    place = [list(cell) for cell in points.customdata].index([0, 2])
    assert (points.y[place], points.x[place]) == (0, 2)
    assert points.text[place] == "3 of 93 images of a taken for c"
    pairs = confusion_matrix(MATRIX, ("a", "b", "c"), wrong=3).data[-1]  # where an image may count twice in a row
    assert pairs.text[place] == "3 times a taken for c" and "1 time b taken for a" in pairs.text
    (frame,) = confusion_matrix(MATRIX, ("a", "b", "c"), cell=(0, 2)).layout.shapes
    assert (frame.x0, frame.y0) == (1.5, -0.5)


def test_several_matrices_share_one_scale_and_a_click_names_the_method():
    figure = confusion_matrices({"DR": MATRIX, "L2": MATRIX.T * 10}, ("a", "b", "c"))
    scales = [trace.zmax for trace in figure.data if trace.type == "heatmap"][1::2]
    assert scales == [pytest.approx(np.log1p(30))] * 2
    assert list(figure.data[-1].customdata[1]) == ["L2", 0, 1]
    assert "<b>L2</b><br>40 wrong" in [note.text for note in figure.layout.annotations]


def test_a_method_without_errors_has_a_matrix_too():
    figure = confusion_matrix(torch.eye(3, dtype=torch.long), ("a", "b", "c"))
    assert "all 3 images named rightly" in describe(figure)


def test_of_many_classes_some_have_a_row_and_a_column_and_a_click_names_them_by_their_own_numbers():
    right, errors, points = confusion_matrix(MATRIX, ("a", "b", "c"), only=(0, 2), cell=(0, 2)).data
    assert [list(row) for row in errors.text] == [["", "3"], ["", ""]] and [row[0] for row in right.text] == ["90", ""]
    place = [list(cell) for cell in points.customdata].index([0, 2])
    assert (points.y[place], points.x[place]) == (0, 1)
    assert points.text[place] == "3 of 93 images of a taken for c"
    figure = confusion_matrix(MATRIX, ("a", "b", "c"), only=(0, 2), cell=(0, 2))
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.y0) == (0.5, -0.5) and list(figure.layout.xaxis.ticktext) == ["a", "c"]
    assert "4 of 244 images named wrongly" in describe(figure)
    several = confusion_matrices({"DR": MATRIX, "L2": MATRIX.T}, ("a", "b", "c"), only=(0, 2))
    assert list(several.data[-1].customdata[1]) == ["L2", 0, 2]


def test_a_matrix_needs_a_name_per_class():
    with pytest.raises(FigureError, match="as many names"):
        confusion_matrix(MATRIX, ("a", "b"))


def test_a_long_name_of_a_class_leaves_the_matrix_its_room():
    classes = ("Arctostaphylos uva-ursi", "oak", "c")
    figure = confusion_matrix(MATRIX, classes)
    assert figure.layout.xaxis.ticktext == figure.layout.yaxis.ticktext == ("Arctostaphylo…", "oak", "c")
    assert classes[0] in str(figure.data[-1])


def test_numbers_of_a_violin_have_six_digits():
    figure = distribution_violins({"DR": torch.tensor([0.0012345678, 0.7])}, "MSE", colours={}, marked={"DR": 1 / 3})
    assert [str(value) for value in figure.data[0].x] == ["0.001235", "0.7"]
    assert list(figure.data[-1].x) == [0.333333]


def test_a_curve_of_small_numbers_is_as_fine_as_they_are():
    [curve] = distribution_steps({"DR": torch.linspace(1e-5, 3e-4, 1000)}, "MSE", colours={}).data
    assert len(set(curve.x)) > 280
