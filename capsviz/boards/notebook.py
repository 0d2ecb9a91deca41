"""Boards as the output of a notebook's cell: anywidget shows them in Jupyter, marimo and what else knows widgets."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from capsviz.boards.board import Board
from capsviz.boards.built import bundle
from capsviz.boards.message import unpack
from capsviz.boards.theme import theme
from capsviz.errors import needed
from capsviz.figures.errors import FigureError

TOGETHER = 20
"""Classes whose numbers come at once."""


def board_widget(board: Board, *, follows: bool = False) -> Any:
    """The board as a widget, to be the last value of a cell; follows: it is as light or dark as the page around it.

    Raises CapsvizError where anywidget is not installed.
    """
    return _kind()(board, follows)


@cache
def _kind() -> Any:
    with needed("notebook", "A board in a notebook"):
        import anywidget
        import traitlets

    class BoardWidget(anywidget.AnyWidget):
        """What `frontend/notebook/widget.ts` keeps in step with the browser, which sets `upper` alone.

        Of up to `TOGETHER` classes it holds the numbers of all, so that it needs no kernel when it is looked at again.
        """

        _esm = bundle("widget.js")
        board, name, css = (traitlets.Unicode().tag(sync=True) for _ in range(3))
        first, messages = (traitlets.List(traitlets.Bytes()).tag(sync=True) for _ in range(2))
        shared = traitlets.Bytes().tag(sync=True)
        themes: Any = traitlets.List().tag(sync=True)
        count, upper = (traitlets.Int().tag(sync=True) for _ in range(2))

        def __init__(self, shown: Board, follows: bool):
            together = shown.count <= TOGETHER
            classes = len(shown.message(shown.upper).fields["theme"]["classes"])
            self._title = shown.title
            super().__init__(
                board=shown.kind,
                name=shown.file,
                css=bundle("widget.css"),
                first=list(shown.first),
                shared=shown.packed_shared(),
                messages=[
                    shown.packed(upper, without=shown.shared)
                    for upper in (range(shown.count) if together else (shown.upper,))
                ],
                themes=[theme(dark, classes) for dark in (False, True)] if follows else [],
                count=shown.count,
                upper=shown.upper,
            )
            if not together:
                answer = partial(shown.packed, without=shown.shared)
                self.observe(lambda change: setattr(self, "messages", [answer(change["new"])]), "upper")

        @traitlets.validate("upper")
        def _a_class(self, proposal: Any) -> int:
            if not 0 <= proposal["value"] < self.count:
                raise FigureError(f"There is no class {proposal['value']}; choose one from 0 to {self.count - 1}.")
            return int(proposal["value"])

        def __repr__(self) -> str:
            shown = unpack(self.messages[self.upper if len(self.messages) > 1 else 0])
            return f"<{self._title}: {shown.fields.get('alt', 'a board')}>"

    return BoardWidget
