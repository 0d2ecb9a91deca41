"""The numbers of a board as a table, so that any other program can go on with them."""

from __future__ import annotations

import csv
import io

import numpy as np

from capsviz.boards.board import Board
from capsviz.figures.csv_table import no_formula


def board_csv(board: Board) -> str:
    """All numbers of the class that a board shows first as CSV, one row a number.

    Columns: array (as the board's message calls it, or its `table`), index (0 2 17: the number's place along each of
    the array's axes, as `routing_message` and `CapsuleMaps` state them), value.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("array", "index", "value"))
    arrays = board.table() if board.table else board.message(board.upper).arrays
    for name, array in arrays.items():
        for index, value in np.ndenumerate(np.asarray(array, np.float32)):
            writer.writerow((no_formula(name), " ".join(map(str, index)), float(f"{value:.7g}")))
    return file.getvalue()
