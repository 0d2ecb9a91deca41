"""Colours that every eye tells apart, and text that can be read on both pages."""

from __future__ import annotations

import itertools

import numpy as np
import plotly.graph_objects as go
import pytest

from capsviz.figures import theme
from capsviz.routing import ALGORITHMS

from .colours import VISION, distance, oklab

PAGES = {False: ("#ffffff", "#f0f2f6"), True: ("#0e1117", "#262730")}


@pytest.mark.parametrize("vision", VISION)
def test_class_colours_differ_for_every_eye(vision):
    assert len(set(theme.CLASS_COLOURS)) == 10
    assert min(distance(a, b, vision) for a, b in itertools.combinations(theme.CLASS_COLOURS, 2)) > 0.08


@pytest.mark.parametrize("vision", VISION)
def test_routing_colours_differ_for_every_eye(vision):
    assert list(theme.ROUTING_COLOURS) == list(ALGORITHMS)
    assert min(distance(a, b, vision) for a, b in itertools.combinations(theme.ROUTING_COLOURS.values(), 2)) > 0.07


def test_the_simulation_confuses_what_dichromats_confuse():
    """tab10's green and red: far apart for most, close for a deuteranope."""
    assert distance("#2ca02c", "#d62728") > 0.3
    assert distance("#2ca02c", "#d62728", "deuteranopia") < 0.15


@pytest.mark.parametrize("colour", [*theme.CLASS_COLOURS, *theme.ROUTING_COLOURS.values()])
def test_colours_stand_out_from_both_pages(colour):
    assert theme.contrast(colour, "#ffffff") >= 3
    assert theme.contrast(colour, "#0e1117") >= 3


@pytest.mark.parametrize("dark", [False, True])
def test_text_reads_on_its_page(dark):
    pen = theme.ink(dark)
    for page in PAGES[dark]:
        for colour in (pen.text, pen.muted, pen.accent):
            assert theme.contrast(colour, page) >= 4.5


@pytest.mark.parametrize(("scale", "falls"), [(theme.SEQUENTIAL, True), (theme.SEQUENTIAL_DARK, False)])
def test_sequential_scales_change_lightness_in_one_direction(scale, falls):
    lightness = [oklab(colour)[0] for _, colour in scale]
    assert lightness == sorted(lightness, reverse=falls)
    assert lightness[0] == pytest.approx(oklab("#ffffff" if falls else "#0e1117")[0])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("scale", [theme.DIVERGING, theme.DIVERGING_DARK])
def test_both_sides_of_the_diverging_scales_differ_for_every_eye(scale, vision):
    for (_, below), (_, above) in zip(scale[:3], scale[:3:-1], strict=True):
        assert distance(below, above, vision) > 0.1


@pytest.mark.parametrize(("scale", "page"), [(theme.DIVERGING, "#ffffff"), (theme.DIVERGING_DARK, "#0e1117")])
def test_the_middle_of_the_diverging_scales_is_nearly_the_page(scale, page):
    assert scale[3][0] == 0.5
    assert distance(scale[3][1], page) < 0.08


@pytest.mark.parametrize("dark", [False, True])
def test_style_gives_transparent_ground_and_large_type(dark):
    figure = theme.style(go.Figure(go.Scatter(x=[1], y=[1])), dark=dark, height=333)
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.font.size >= 16
    assert figure.layout.height == 333
    assert figure.layout.font.color == theme.ink(dark).text


def test_ends_of_a_colour_bar_say_when_there_is_more_beyond():
    many = np.concatenate([np.linspace(-0.1, 0.1, 999), [5.0]])
    reach = theme.typical_reach(many)
    assert 0.09 < reach < 0.11
    assert theme.end_ticks(reach, many)["ticktext"] == ["0", f"≤ −{reach:.2f}", f"≥ {reach:.2f}"]
    assert theme.end_ticks(0.2, many[:-1])["ticktext"] == ["0", "−0.20", "0.20"]
    # Shares do not go below zero, so that a scale does not either.
    assert theme.end_ticks(1.0, np.array([0.0, 1.0]))["ticktext"] == ["0", "1.00"]
    assert theme.typical_reach(np.zeros(4)) == 1


def test_the_reach_of_each_row_is_that_of_the_row_by_itself():
    rows = np.random.default_rng(0).normal(size=(3, 4, 200))
    rows[1, 2], rows[2, 0, :-1] = 0, 0
    reaches = theme.typical_reaches(rows)
    alone = [[theme.typical_reach(row, flat=0.0) for row in part] for part in rows]
    assert reaches.tolist() == alone
    assert reaches[1, 2] == 0 and reaches[2, 0] == abs(rows[2, 0, -1])
