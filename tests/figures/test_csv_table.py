"""A figure's numbers come out as they went in, whatever holds them."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest

from capsviz.figures import coupling_geometry, lengths_over_iterations, network_strip
from capsviz.figures.csv_table import figure_csv
from capsviz.figures.picture import mosaic, mosaic_traces
from capsviz.tracing.trace import Trace


def read(figure: go.Figure) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(figure_csv(figure))))


def test_lengths_read_back_class_by_class_and_iteration_by_iteration(dr: Trace):
    rows = read(lengths_over_iterations(dr))
    lengths = dr.layer["activations"][:, 0]
    assert len(rows) == lengths.numel()
    for row in rows:
        assert float(row["y"]) == pytest.approx(float(lengths[int(row["x"]) - 1, int(row["name"])]), abs=5e-5)
    assert rows[0]["reads"] == "class 0; iteration x; ‖v‖ = y"


def test_numbers_that_plotly_packed_in_base64_are_unpacked():
    plain = go.Figure([go.Heatmap(z=np.arange(6.0).reshape(2, 3)), go.Scatter(x=np.arange(4), y=np.arange(4) ** 2)])
    packed = plotly.io.from_json(plotly.io.to_json(plain))
    assert "bdata" in json.dumps(packed.to_plotly_json())
    assert figure_csv(packed) == figure_csv(plain)
    cells = ["".join(row[axis] for axis in "xyz") for row in read(packed) if row["kind"] == "heatmap"]
    assert cells == ["000.0", "101.0", "202.0", "013.0", "114.0", "215.0"]


def test_gaps_of_a_heat_map_are_no_rows(dr: Trace):
    figure = coupling_geometry(dr, 0, 1, 1)
    cells = [z for trace in figure.data for line in trace.z for z in line]
    assert len(read(figure)) == sum(cell is not None for cell in cells)


def test_pixels_of_a_mosaic_read_back_and_its_gaps_are_left_out():
    images = np.linspace(0, 1, 2 * 3 * 4 * 4).reshape(2, 3, 1, 4, 4)
    canvas, pitch = mosaic(images)
    rows = [row for row in read(go.Figure(mosaic_traces(canvas, pitch, [[""] * 3] * 2))) if row["kind"] == "image"]
    assert len(rows) == images.size
    for row in rows:
        assert canvas[int(row["y"]), int(row["x"]), 0] == int(row["red"])


def test_links_of_a_sankey_are_named():
    figure = go.Figure(
        go.Sankey(node={"label": ["type 0", "class 1"]}, link={"source": [0], "target": [1], "value": [2.5]})
    )
    assert [(row["source"], row["target"], row["value"]) for row in read(figure)] == [("type 0", "class 1", "2.5")]


def test_the_strip_holds_image_activations_and_reconstruction(dr: Trace):
    rows = read(network_strip(dr))
    pixels = [float(row["z"]) for row in rows if row["reads"].startswith("input")]
    assert pixels == pytest.approx(dr.images[0].flatten().tolist(), abs=5.1e-4)
    assert max(len(row["z"]) for row in rows if row["kind"] == "heatmap") <= len("0.123"), "numbers as short as drawn"
    bars = [float(row["y"]) for row in rows if row["kind"] == "bar"]
    assert bars == pytest.approx(dr.activations[0].tolist(), abs=5e-5)


def test_error_bars_stand_beside_their_points():
    bars = {"array": [0.5, 0.25], "arrayminus": [0.1, 0.2]}
    figure = go.Figure([go.Scatter(y=[1, 2], error_y=bars), go.Scatter(y=[3, 4], error_x={"array": [7, 8]})])
    rows = read(figure)
    assert [(row["error_y"], row["error_yminus"]) for row in rows[:2]] == [("0.5", "0.1"), ("0.25", "0.2")]
    assert [(row["error_x"], row["error_y"]) for row in rows[2:]] == [("7", ""), ("8", "")]


@pytest.mark.parametrize("separator", ",;\t")
def test_no_text_is_a_formula_whatever_separates_the_columns(separator: str):
    names = ["=1+2", "cat;=cmd|' /C calc'!A0;", "a\t-1", "x,@y", 'x;"=1+1"', "plain, - and; + too"]
    table = figure_csv(go.Figure([go.Bar(name=name, x=[1], y=[2]) for name in names]))
    cells = [cell for row in csv.reader(io.StringIO(table), delimiter=separator) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    assert names[-1] in table


def test_numbers_in_float32_are_as_short_as_they_were_drawn():
    assert [row["x"] for row in read(go.Figure(go.Violin(x=np.array([0.1, 0.002345], np.float32))))] == [
        "0.1",
        "0.002345",
    ]
