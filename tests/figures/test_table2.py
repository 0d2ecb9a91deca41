"""Table II as a picture: every mark on it stands in a row."""

from __future__ import annotations

import pytest

from capsviz.experiments.seed_means import SeedMean
from capsviz.experiments.table2 import TableRow, markdown
from capsviz.figures.table2 import table_ii
from capsviz.figures.theme import ROUTING_COLOURS, ink


@pytest.mark.parametrize("dark", [False, True])
def test_table_ii_draws_paper_and_ours_with_their_range(dark):
    ours = SeedMean(0.5, 0.4, 0.7, 3)
    lines = [
        TableRow("mnist", "DR", 0.34, ours, 10_000, "compact", 10),
        TableRow("mnist", "L2", 0.35, None),
    ]
    paper, mine = table_ii(lines, dark=dark).data
    assert mine.error_y.color == paper.marker.color == ink(dark).text
    assert list(paper.y) == [0.34, 0.35] and list(mine.y) == [0.5]
    assert mine.error_y.visible
    assert mine.error_y.array[0] == pytest.approx(0.2) and mine.error_y.arrayminus[0] == pytest.approx(0.1)
    assert mine.marker.color[0] == ROUTING_COLOURS["dr"]


@pytest.mark.parametrize(
    ("method", "preset", "symbol", "called"),
    [
        ("DR", "matrix-compact", "square", "matrix capsules"),
        ("DR", "residual", "triangle-up", "our encoder"),
        ("CNN", "compact", "cross", "without capsules"),
    ],
)
def test_table_ii_marks_apart_what_is_not_the_papers_network(method, preset, symbol, called):
    ours = SeedMean(0.4, 0.4, 0.4, 1)
    pairs = ("DR", "compact"), (method, preset)
    _, theirs, other = table_ii([TableRow("mnist", name, None, ours, 10_000, of, 10) for name, of in pairs]).data
    assert (theirs.marker.symbol, other.marker.symbol) == ("circle", symbol)
    assert (theirs.marker.color == other.marker.color) == (method == "DR")
    assert other.name == f"capsviz, {called}" and other.text[0].startswith(f"{preset}, 10 steps") and other.showlegend


def test_table_ii_says_no_steps_of_a_training_that_nobody_counted():
    ours = SeedMean(0.4, 0.4, 0.4, 1)
    rows = [
        TableRow("mnist", method, None, ours, 10_000, "paper", count) for method, count in (("DR", 0), ("EM", 1000))
    ]
    (mine,) = (trace for trace in table_ii(rows).data if trace.text)
    assert list(mine.text) == ["paper, seeds: 1", "paper, 1,000 steps, seeds: 1"]
    assert "| 1 | – | paper |" in markdown(rows) and "| 1 | 1,000 | paper |" in markdown(rows)


def test_table_ii_leaves_open_what_does_not_ship():
    ours = SeedMean(8.3, 8.3, 8.3, 1)
    lines = [
        TableRow(data, "L2", 7.01, ours, shipped=shipped)
        for data in ("fashion-mnist", "cifar10")
        for shipped in (True, False)
    ]
    drawn = table_ii(lines).data
    assert [list(mark.y) for mark in drawn if mark.name == "paper"] == [[7.01], [7.01]], "once for both trainings"
    marks = [mark for mark in drawn if mark.name != "paper"]
    assert [mark.marker.symbol for mark in marks] == ["circle", "circle-open"] * 2
    assert not any(mark.error_y.visible for mark in marks), "one training has no range"
    assert [mark.showlegend for mark in marks] == [True, True, False, False]


def test_table_ii_draws_no_range_of_one_training_beside_those_of_three():
    lines = [
        TableRow("cifar10", "DR", 15.3, SeedMean(34.5, 34.5, 34.5, 1), shipped=False, same_images=False),
        TableRow("cifar10", "L1/FC", 14.04, SeedMean(38.5, 36.2, 41.6, 3), shipped=False),
    ]
    figure = table_ii(lines)
    _, one, three = figure.data
    assert figure.layout.annotations[0].text == "CIFAR-10, here of JPEGs"
    assert (list(one.x), one.error_y.visible) == (["DR"], False)
    assert (list(three.x), three.error_y.visible) == (["L1/FC"], True)
    assert one.name == three.name and (one.showlegend, three.showlegend) == (True, False)
