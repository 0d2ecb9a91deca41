"""Names that are not ours in figures and their tables."""

from __future__ import annotations

import csv
from dataclasses import replace

from capsviz.figures import couplings, network
from capsviz.figures.csv_table import figure_csv
from capsviz.figures.text import literal, unmarked

MARKED = '<a href="http://host">3</a>'


def test_marks_are_shown_and_come_back():
    assert literal("T-shirt / top") == "T-shirt / top"
    assert "<" not in literal(MARKED) and "%{" not in literal("%{x}")
    for text in (MARKED, "%{x}", "a &amp; b", "<b>"):
        assert unmarked(literal(text)) == text


def test_a_figure_shows_the_name_of_a_class_as_it_is_written(dr):
    trace = replace(dr, classes=(MARKED, *dr.classes[1:]))
    for figure in (couplings.lengths_over_iterations(trace), network.network_strip(trace)):
        assert "<a" not in figure.to_json().replace("\\u003c", "<")


def test_no_cell_of_a_table_is_a_formula(dr):
    trace = replace(dr, classes=("=1+1", MARKED, *dr.classes[2:]))
    rows = list(csv.DictReader(figure_csv(couplings.lengths_over_iterations(trace)).splitlines()))
    names = {row["name"] for row in rows}
    assert {"'=1+1", MARKED} <= names
    numbers = [row["y"] for row in csv.DictReader(figure_csv(couplings.coupling_entropy_figure(trace)).splitlines())]
    assert all(not number.startswith("'") for number in numbers)
