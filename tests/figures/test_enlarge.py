"""For the last row: larger type, the same numbers."""

from __future__ import annotations

import plotly.graph_objects as go

from capsviz.figures import describe, network_strip
from capsviz.figures.csv_table import figure_csv
from capsviz.figures.enlarge import enlarge
from capsviz.tracing.trace import Trace


def fonts(figure: go.Figure) -> list[float]:
    """All type sizes of a figure, from small to large."""

    def walk(node: object) -> list[float]:
        if isinstance(node, dict):
            own = [part["size"] for key, part in node.items() if key.endswith("font") and "size" in part]
            return own + [size for part in node.values() for size in walk(part)]
        return [size for part in node for size in walk(part)] if isinstance(node, (list, tuple)) else []

    return sorted(walk(figure.to_plotly_json()))


def test_every_type_size_grows_and_the_figure_itself_stays(dr: Trace):
    figure = network_strip(dr)
    before = fonts(figure)
    larger = enlarge(figure, 1.5)
    assert len(before) > 10
    assert fonts(larger) == [1.5 * size for size in before]
    assert fonts(figure) == before


def test_numbers_and_description_stay_the_same(dr: Trace):
    figure = network_strip(dr)
    larger = enlarge(figure, 1.7)
    assert figure_csv(larger) == figure_csv(figure)
    assert describe(larger) == describe(figure)


def test_margins_and_height_grow_unless_a_height_is_asked_for(dr: Trace):
    figure = network_strip(dr)
    assert enlarge(figure, 2).layout.height == 2 * figure.layout.height
    assert enlarge(figure, 2, height=300).layout.height == 300
    assert enlarge(figure, 2).layout.margin.t == 2 * figure.layout.margin.t


def test_a_marker_grows_whose_size_is_pixels_and_not_data():
    sizes = {number: go.Figure(go.Scatter(y=[1, 2], marker={"size": number})) for number in (6, (1, 4))}
    assert [enlarge(figure, 2).data[0].marker.size for figure in sizes.values()] == [12, (1, 4)]


def test_a_bar_keeps_the_width_that_is_data():
    figure = go.Figure(go.Bar(y=[1], width=[0.5], marker={"line": {"width": [2]}}))
    assert enlarge(figure, 3).data[0].width == (0.5,)
    assert enlarge(figure, 3).data[0].marker.line.width == (6,)
