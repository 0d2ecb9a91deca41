"""The table of meanings says what was measured."""

from __future__ import annotations

import re

import pytest
import torch

from capsviz.analysis.dimensions import QUALITIES, Meanings
from capsviz.figures.describe import describe
from capsviz.figures.perturb import meaning_table
from capsviz.figures.theme import contrast, diverging


@pytest.fixture
def found() -> Meanings:
    correlation = torch.linspace(-0.45, 0.45, 16 * len(QUALITIES)).reshape(16, -1)
    correlation[3] = 0
    correlation[3, 1] = -0.8
    deviation = torch.ones(len(QUALITIES))
    return Meanings(correlation, correlation * 2, deviation)


def test_every_correlation_is_a_cell_and_a_number_and_a_clear_one_is_in_bold(found: Meanings):
    figure = meaning_table(found)
    cells, numbers = figure.data
    assert (cells.zmin, cells.zmax) == (-1, 1)
    written = torch.zeros_like(found.correlation)
    for column, row, text in zip(numbers.x, numbers.y, numbers.text, strict=True):
        written[row, column] = float(re.sub("<.*?>", "", text).replace("−", "-"))
    torch.testing.assert_close(written, found.correlation, atol=5.1e-3, rtol=0)
    assert figure.layout.xaxis.ticktext == ("stroke", "slant", "width", "height", "down", "right", "curve")
    assert all(quality.name in text for quality, text in zip(QUALITIES.values(), cells.text[0], strict=True))
    assert torch.tensor(cells.z).shape == (16, len(QUALITIES))
    torch.testing.assert_close(torch.tensor(cells.z), found.correlation, atol=1e-3, rtol=0)
    assert numbers.text[3 * len(QUALITIES) + 1] == "<b>−0.80</b>"
    assert sum("<b>" in text for text in numbers.text) == 1
    assert "−1.6 columns per row per standard deviation" in cells.text[3][1]


def test_the_word_stands_beside_its_dimension_and_in_the_description(found: Meanings):
    figure = meaning_table(found)
    assert figure.layout.yaxis.ticktext[3] == "−slant  <b>3</b>"
    assert figure.layout.yaxis.ticktext[4] == "<b>4</b>"
    assert describe(figure).endswith("clear are 3 −slant.")


@pytest.mark.parametrize("dark", [False, True])
def test_the_numbers_can_be_read_on_their_cells(dark: bool):
    correlation = torch.tensor([[-1.0, -0.8, -0.4, 0.0, 0.4, 0.8, 1.0]])
    figure = meaning_table(Meanings(correlation, correlation, torch.ones(7)), dark=dark)
    stops = dict(zip((-1.0, 0.0, 1.0), (diverging(dark)[place][1] for place in (0, 3, 6)), strict=True))
    colours = dict(zip(correlation[0].tolist(), figure.data[1].textfont.color, strict=True))
    for value, ground in stops.items():
        assert contrast(colours[value], ground) >= 4.5
