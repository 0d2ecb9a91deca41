"""Boards as the output of a notebook's cell: anywidget shows them in Jupyter, marimo and what else knows widgets."""

from __future__ import annotations

from functools import cache
from typing import Any

from capsviz.boards.board import Board
from capsviz.boards.built import bundle
from capsviz.errors import needed


def board_widget(board: Board) -> Any:
    """The board as a widget, to be the last value of a cell. Raises CapsvizError where anywidget is not installed."""
    return _kind()(board)


@cache
def _kind() -> Any:
    with needed("notebook", "A board in a notebook"):
        import anywidget
        import traitlets

    class BoardWidget(anywidget.AnyWidget):
        """What `frontend/notebook/widget.ts` keeps in step with the browser, which sets `upper` alone."""

        _esm = bundle("widget.js")
        board, name, css = (traitlets.Unicode().tag(sync=True) for _ in range(3))
        first = traitlets.List(traitlets.Bytes()).tag(sync=True)
        message = traitlets.Bytes().tag(sync=True)
        upper = traitlets.Int().tag(sync=True)

        def __init__(self, shown: Board):
            super().__init__(
                board=shown.kind,
                name=shown.file,
                css=bundle("widget.css"),
                first=list(shown.first),
                message=shown.packed(shown.upper),
                upper=shown.upper,
            )
            self.observe(lambda change: setattr(self, "message", shown.packed(change["new"])), "upper")

    return BoardWidget
