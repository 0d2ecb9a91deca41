"""Every figure says in a sentence what it shows, and every word in it can be read."""

from __future__ import annotations

import json
import re

import plotly.graph_objects as go
import pytest
import torch

import capsviz
from capsviz import figures
from capsviz.figures import FigureError, describe
from capsviz.figures.theme import contrast
from tests.figures.conftest import digits, record


@pytest.fixture(scope="module")
def everything(dr, em, l2):
    """Every figure of the package, by name, for a light and a dark page."""
    torch.manual_seed(0)
    b, images = l2.layer["coefficients"][0] - 0.1, torch.rand(16, 3, 28, 28)
    drawn = {"dr": dr.reconstruction[0], "em": em.reconstruction[0], "l2": l2.reconstruction[0], "l1": dr.images[0]}
    counts = torch.tensor([[90, 0, 3], [1, 80, 0], [0, 0, 70]])
    make = {
        "lengths": lambda dark: figures.lengths_over_iterations(dr, dark=dark),
        "entropy": lambda dark: figures.coupling_entropy_figure(dr, dark=dark),
        "geometry": lambda dark: figures.coupling_geometry(dr, 0, 3, 2, dark),
        "coefficient_map": lambda dark: figures.coefficient_map(b, l2.grid, upper=3, dark=dark),
        "coefficient_histogram": lambda dark: figures.coefficient_histogram(b, dark=dark),
        "sheet": lambda dark: figures.dimension_sheet(images, (-0.1, 0, 0.1), dark=dark),
        "reconstruction": lambda dark: figures.reconstruction_figure(images[0, 0], title="moved", dark=dark),
        "grid": lambda dark: figures.reconstruction_grid(dr.images[0], drawn, captions={"dr": "MSE 0.1"}, dark=dark),
        "error": lambda dark: figures.error_map(dr.images[0], dr.reconstruction[0], dark=dark),
        "blocks": lambda dark: figures.image_blocks(
            {"(a) input": dr.images, "(b) drawn": dr.reconstruction}, ["", "", ""], wrong=[True, False, True], dark=dark
        ),
        "methods": lambda dark: figures.method_grid(
            {"Input": dr.images, "off": dr.reconstruction - dr.images},
            heads=["0", "1", "2"],
            chosen=[0, 1, 2],
            texts={"Input": ["", "", ""], "off": ["", "", ""]},
            words={"off": ["0.1"] * 3},
            signed=["off"],
            dark=dark,
        ),
        "violins": lambda dark: figures.distribution_violins(
            {"DR": torch.rand(9)}, "MSE", colours={}, marked={"DR": 0.5}, dark=dark
        ),
        "steps": lambda dark: figures.distribution_steps({"DR": torch.rand(9)}, "MSE", colours={}, dark=dark),
        "confusion": lambda dark: figures.confusion_matrix(counts, ("a", "b", "c"), cell=(0, 1), dark=dark),
        "confusions": lambda dark: figures.confusion_matrices({"DR": counts}, ("a", "b", "c"), dark=dark),
        "strip": lambda dark: figures.network_strip(dr, dark=dark),
    }
    return {(name, dark): draw(dark) for name, draw in make.items() for dark in (False, True)}


def test_every_figure_describes_itself_with_numbers(everything):
    for name, figure in everything.items():
        text = describe(figure)
        assert text.endswith("."), name
        assert re.search(r"\d", text), name
        assert "nan" not in text, name


def test_a_trace_is_described_in_a_sentence(dr, em, l2):
    best = int(dr.activations[0].argmax())
    assert describe(dr).startswith(
        "Dynamic routing joins 288 primary capsules (6 × 6 positions, 8 types) to 10 classes"
    )
    assert f"in 4 iterations; image 0 is read as {best} with length {dr.activations[0].max():.2f}" in describe(dr)
    assert "; the image is read as " in describe(capsviz.trace("digits-dr", digits()[1:2]))
    assert "with activation" in describe(em, image=2)
    assert "in one pass" in describe(l2)


def test_an_image_that_a_trace_has_not_is_not_described(dr):
    with pytest.raises(FigureError, match="The trace has no image 99"):
        describe(dr, image=99)


def test_a_layer_of_a_stack_is_described_by_its_own_capsules():
    whole = record("em", name="matrix-tiny", votes="all")
    assert "joins 576 primary capsules (12 × 12 positions, 4 types) to 10 classes through 2 conv" in describe(whole)
    assert "joins 36 lower capsules (3 × 3 positions, 4 types) to 4 types in" in describe(whole.at(0))
    assert "joins 36 lower capsules (3 × 3 positions, 4 types) to 10 classes in" in describe(whole.at(-1))


def test_a_foreign_figure_has_no_description():
    with pytest.raises(FigureError, match="carries no description"):
        describe(go.Figure())


def test_every_figure_is_valid_json_without_nan(everything):
    for figure in everything.values():
        json.loads(figure.to_json(), parse_constant=pytest.fail)  # a number that JSON has not: NaN, Infinity


def text_colours(node, path=()):
    """Every colour that text is drawn in, with its path in the figure."""
    if isinstance(node, dict):
        for key, value in node.items():
            fonts = [part for part in path if "font" in part.lower()]
            if key == "color" and fonts and isinstance(value, str):
                yield value, path
            yield from text_colours(value, (*path, key))
    elif isinstance(node, list):
        for value in node:
            yield from text_colours(value, path)
    elif isinstance(node, str):
        for colour, words in re.findall(r'<span style="color:(#\w+)">([^<]*)', node):
            if words != "■":
                yield colour, path


def test_text_has_a_contrast_of_four_and_a_half(everything):
    for (name, dark), figure in everything.items():
        page = "#0e1117" if dark else "#ffffff"
        found = list(text_colours(json.loads(figure.to_json())))
        assert found, name
        for colour, path in found:
            if "updatemenus" in path:  # on buttons, which have a ground of their own
                continue
            assert contrast(colour, page) >= 4.5, (name, dark, colour, path)


def test_type_is_large_enough_for_a_hall(everything):
    for (name, _), figure in everything.items():
        sizes = [
            int(size)
            for size in re.findall(r'"size":(\d+)', json.dumps(figure.to_plotly_json()["layout"], default=str))
        ]
        assert all(size >= 12 for size in sizes), name
