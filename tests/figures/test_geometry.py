"""Capsules and their places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsviz.figures.errors import FigureError
from capsviz.figures.geometry import Geometry
from capsviz.network import CapsNet, preset

grids = st.builds(Geometry, st.integers(1, 7), st.integers(1, 7), st.integers(1, 40))


def test_a_capsule_is_called_by_its_row_column_and_type():
    assert Geometry(6, 6, 32).label(417) == "capsule 417: row 2 column 1 type 1"


@given(grids)
def test_places_and_numbers_agree(grid):
    for capsule in range(grid.lower):
        row, column, kind = grid.place(capsule)
        assert (row * grid.columns + column) * grid.types + kind == capsule


@given(grids)
def test_every_capsule_has_one_cell_among_the_tiles(grid):
    cells = grid.cells
    assert sorted(cells[cells >= 0].tolist()) == list(range(grid.lower))
    tiles = grid.tiles(np.arange(grid.lower, dtype=float))
    assert np.array_equal(np.isnan(tiles), cells < 0)
    assert np.array_equal(tiles[cells >= 0], cells[cells >= 0])


@pytest.mark.parametrize(
    ("types", "lines"), [(1, (1, 1)), (8, (2, 4)), (14, (2, 7)), (11, (3, 5)), (16, (2, 8)), (32, (4, 8))]
)
def test_tiles_are_wider_than_high_and_fill_their_lines_where_they_can(types: int, lines: tuple[int, int]):
    grid = Geometry(6, 6, types)
    assert (grid.down, grid.across) == lines


def test_a_tile_holds_the_positions_of_one_type():
    grid = Geometry(2, 3, 4)
    top, left = grid.tile_corner(2)
    tile = grid.cells[top : top + 2, left : left + 3]
    assert [grid.place(capsule) for capsule in tile.ravel().tolist()] == [(r, c, 2) for r in range(2) for c in range(3)]


def test_a_wrong_number_of_values_is_said_so():
    with pytest.raises(FigureError, match="2 × 2 × 3 has 12 capsules, but 5 numbers"):
        Geometry(2, 2, 3).tiles(np.zeros(5))


def test_receptive_fields_are_those_of_the_network():
    model = CapsNet(preset("tiny", "digits", "dr"))
    grid = Geometry(*model.config.grid)
    for capsule in range(0, grid.lower, 17):
        row, column, _ = grid.place(capsule)
        assert model.config.receptive_field(row, column) == model.receptive_field(capsule)
