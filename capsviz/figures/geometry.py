"""Where a primary capsule sits: capsule i = (row · columns + column) · types + type."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from capsviz.figures.errors import FigureError
from capsviz.network.config import CapsNetConfig
from capsviz.tensors import written


@dataclass(frozen=True)
class Geometry:
    """The grid of the primary capsules, and the small multiples in which a number per capsule is drawn."""

    rows: int
    columns: int
    types: int

    @property
    def lower(self) -> int:
        """Number of capsules."""
        return self.rows * self.columns * self.types

    @property
    def places(self) -> int:
        """Number of positions, which is the number of capsules of one type."""
        return self.rows * self.columns

    def place(self, capsule: int) -> tuple[int, int, int]:
        """Row, column and type of a capsule, all counted from zero."""
        position, kind = divmod(capsule, self.types)
        return *divmod(position, self.columns), kind

    def label(self, capsule: int) -> str:
        """The capsule in words: "capsule 417: row 2 column 1 type 1"."""
        row, column, kind = self.place(capsule)
        return f"capsule {capsule}: row {row} column {column} type {kind}"

    @cached_property
    def labels(self) -> list[str]:
        """`label` of every capsule, in the order of their numbers."""
        return [self.label(capsule) for capsule in range(self.lower)]

    @cached_property
    def across(self) -> int:
        """Small multiples side by side: about twice as many as one below the other, more where that fills all lines."""
        least = math.ceil(math.sqrt(2 * self.types))
        whole = (count for count in range(least, 3 * least // 2 + 1) if self.types % count == 0)
        return min(self.types, next(whole, least))

    @cached_property
    def down(self) -> int:
        """Small multiples one below the other."""
        return math.ceil(self.types / self.across)

    @cached_property
    def cells(self) -> Int[ndarray, "height width"]:
        """Number of the capsule in each cell of the small multiples, −1 in the gaps between them.

        One tile of rows × columns per type, tiles in reading order, one cell of gap.
        """
        canvas = np.full((self.down * (self.rows + 1) - 1, self.across * (self.columns + 1) - 1), -1)
        for capsule in range(self.lower):
            row, column, kind = self.place(capsule)
            top, left = self.tile_corner(kind)
            canvas[top + row, left + column] = capsule
        return canvas

    def tiles(self, values: Float[ndarray, " lower"]) -> Float[ndarray, "height width"]:
        """A number per capsule laid out in the small multiples, NaN in the gaps.

        Raises FigureError unless there is one number per capsule.
        """
        if values.shape != (self.lower,):
            raise FigureError(
                f"The grid {self.rows} × {self.columns} × {self.types} has {self.lower} capsules, but "
                f"{written(values.shape)} numbers were given; give a number for each, and the grid of their model."
            )
        return np.where(self.cells >= 0, values[self.cells], np.nan)

    def tile_labels(self) -> list[list[str]]:
        """`label` of the capsule in each cell of the small multiples, empty in the gaps."""
        return [[self.labels[capsule] if capsule >= 0 else "" for capsule in line] for line in self.cells.tolist()]

    def tile_corner(self, kind: int) -> tuple[int, int]:
        """Row and column of the first cell of a type's tile."""
        tile_row, tile_column = divmod(kind, self.across)
        return tile_row * (self.rows + 1), tile_column * (self.columns + 1)


def view_of(config: CapsNetConfig) -> dict[str, list[int]]:
    """What the primary capsules at one position see, along rows and columns, for the browser: `CapsNetConfig.view`.

    The position at row r sees the rows from stride · r − beyond on, as many as size says, clipped at the border.
    """
    down, across = config.view(0), config.view(1)
    return {
        "size": [down.kernel, across.kernel],
        "stride": [down.stride, across.stride],
        "beyond": [down.padding, across.padding],
    }
