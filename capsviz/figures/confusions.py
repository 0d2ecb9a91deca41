"""Which class is taken for which: confusion matrices in which the errors, not the diagonal, can be seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Int
from numpy import ndarray
from plotly.graph_objects import Figure
from torch import Tensor

from capsviz.figures.choosing import targets
from capsviz.figures.describe import remember
from capsviz.figures.errors import FigureError
from capsviz.figures.picture import numbers, on, without_nan
from capsviz.figures.text import literal, literals, short
from capsviz.figures.theme import TEXT, TICK, caption, colourbar, ink, sequential, style

Counts = Int[Tensor, "classes classes"] | Int[ndarray, "classes classes"]
LETTERS = 14
"""Of a name at an axis; the pointer says the whole one."""
ACROSS = 4
"""Matrices side by side in the overview."""


def confusion_matrix(
    counts: Counts,
    classes: Sequence[str],
    *,
    cell: tuple[int, int] | None = None,
    only: Sequence[int] | None = None,
    wrong: int | None = None,
    dark: bool = False,
) -> Figure:
    """One matrix with its counts: rows are the classes shown, columns the classes named, `cell` framed.

    only: the classes that have a row and a column, all of them unless given; `cell` is of these. wrong: how many images
    are named wrongly where one that shows several objects counts more than once in the matrix. Colour is the number
    of errors on a logarithmic scale; the diagonal, right answers, is grey. A click on a cell stands for [row, column],
    by the numbers of the classes. Raises FigureError unless the matrix has a row and a column per class, and for a
    `cell` that is not drawn.
    """
    whole, pen = _checked(counts, classes), ink(dark)
    drawn = _drawn(classes, only)
    matrix = _part(whole, drawn)
    figure = Figure(
        [
            *_cells(matrix, _largest([matrix]), 1, dark, bar=True),
            _targets(whole, classes, drawn, "", 1, once=wrong is None),
        ]
    )
    figure.update_layout(**_axes([classes[each] for each in drawn], 1, (0, 1), (0, 1), names=True))
    figure.update_xaxes(title={"text": "named", "standoff": 4})
    figure.update_yaxes(title={"text": "shown", "standoff": 4})
    # Written by the heatmaps, so that plotly chooses black or white against each cell's own colour.
    for trace, size in zip(figure.data[:2], (TICK - 2, TEXT), strict=True):
        rows = zip(trace.z, matrix, strict=True)
        words = [["" if z is None else str(n) for z, n in zip(*row, strict=True)] for row in rows]
        trace.update(text=words, texttemplate="%{text}", textfont={"size": size})
    shapes = []
    if cell is not None:
        if not {*cell} <= {*drawn}:
            raise FigureError(f"The matrix has no cell {tuple(cell)}; frame one of classes that are drawn.")
        row, column = map(drawn.index, cell)
        edges = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
        shapes = [{"type": "rect", **edges, "line": {"color": pen.accent, "width": 4}}]
    figure.update_layout(shapes=shapes, margin={"l": 60, "r": 8, "t": 44, "b": 8}, hoverdistance=40)
    return remember(style(figure, dark=dark, height=540), f"Confusion matrix: {_in_words(whole, classes, wrong)}.")


def confusion_matrices(
    matrices: Mapping[str, Counts],
    classes: Sequence[str],
    *,
    only: Sequence[int] | None = None,
    wrong: Mapping[str, int] | None = None,
    dark: bool = False,
) -> Figure:
    """A small matrix per method, all on one colour scale; a click stands for [method, row, column].

    matrices: by title, and so is `wrong`. only, wrong, and the colours: as in `confusion_matrix`. Raises FigureError as
    that does, and where there is none.
    """
    drawn = _drawn(classes, only)
    checked = {title: _checked(counts, classes) for title, counts in matrices.items()}
    if not checked:
        raise FigureError("There is no confusion matrix to show; give at least one.")
    across = min(ACROSS, len(checked))
    down = math.ceil(len(checked) / across)
    parts = {title: _part(matrix, drawn) for title, matrix in checked.items()}
    largest = _largest(list(parts.values()))
    figure, layout, titles = Figure(), dict[str, Any](), []
    names = [classes[each] for each in drawn]
    gap, named = 0.27 / down, max(map(len, names)) <= 2
    for place, (title, matrix) in enumerate(checked.items()):
        row, column = divmod(place, across)
        x = (column / across + 0.035, (column + 1) / across - 0.005)
        y = (1 - (row + 1) / down, 1 - row / down - gap)
        figure.add_traces(_cells(parts[title], largest, place + 1, dark, bar=not place))
        figure.add_trace(_targets(matrix, classes, drawn, title, place + 1, once=wrong is None))
        layout |= _axes(names, place + 1, x, y, names=named)
        words = f"<b>{literal(title)}</b><br>{_wrong(matrix) if wrong is None else wrong[title]:,} wrong"
        # The names of the classes stand between the title and its matrix.
        titles.append(caption(words, x[0], y[1], dark=dark, size=TEXT, yshift=24 if named else 4))
    figure.update_layout(**layout, annotations=titles, margin={"l": 8, "r": 8, "t": 8, "b": 8}, hoverdistance=30)
    said = {
        name: _in_words(matrix, classes, None if wrong is None else wrong[name]) for name, matrix in checked.items()
    }
    text = "Confusion matrices: " + "; ".join(f"{name}: {words}" for name, words in said.items()) + "."
    return remember(style(figure, dark=dark, height=270 * down + 10), text)


def _checked(counts: Counts, classes: Sequence[str]) -> ndarray:
    given = numbers(counts)
    if not np.array_equal(given, np.rint(given)):
        raise FigureError("A confusion matrix holds counts of images; give whole numbers, not shares.")
    matrix = given.astype(int)
    if matrix.shape != (len(classes), len(classes)):
        raise FigureError("A confusion matrix has one row and one column per class; give as many names.")
    return matrix


def _drawn(classes: Sequence[str], only: Sequence[int] | None) -> list[int]:
    """The classes that have a row and a column."""
    drawn = list(range(len(classes)) if only is None else only)
    if not drawn or not 0 <= min(drawn) <= max(drawn) < len(classes):
        raise FigureError(f"A confusion matrix has classes 0 to {len(classes) - 1}; draw some of them.")
    return drawn


def _part(matrix: ndarray, drawn: Sequence[int]) -> ndarray:
    """The rows and columns of these classes."""
    return matrix[np.ix_(drawn, drawn)]


def _largest(matrices: Sequence[ndarray]) -> int:
    """The largest number of errors in one cell; at least one."""
    return max(1, *(int((matrix - np.diag(matrix.diagonal())).max()) for matrix in matrices))


def _cells(matrix: ndarray, largest: int, axes: int, dark: bool, *, bar: bool) -> list[go.Heatmap]:
    """Errors in colour, right answers in grey, where there is nothing the page."""
    off = ~np.eye(len(matrix), dtype=bool)
    errors = np.where(off & (matrix > 0), np.log1p(matrix), np.nan)
    right = np.where(off, np.nan, 1.0)
    ticks = [count for count in (1, 3, 10, 30, 100, 300, 1000) if count < 0.8 * largest] + [largest]
    grey = ink(dark).grid
    beside = colourbar(
        "images", dark=dark, tickvals=np.log1p(ticks).tolist(), ticktext=[str(c) for c in ticks], len=0.6
    )
    # The pointer reads the targets; what is said here of z is for the table of the figure's numbers.
    common = {"hoverinfo": "skip", "xgap": 1, "ygap": 1, **on(axes)}
    return [
        go.Heatmap(
            z=without_nan(right, 3),
            zmin=0,
            zmax=1,
            colorscale=[[0, grey], [1, grey]],
            showscale=False,
            hovertemplate="named rightly",
            **common,
        ),
        go.Heatmap(
            z=without_nan(errors, 3),
            zmin=0,
            zmax=math.log1p(largest),
            colorscale=sequential(dark),
            showscale=bar,
            colorbar=beside,
            hovertemplate="ln(1 + images) = %{z}",
            **common,
        ),
    ]


def _targets(
    matrix: ndarray, classes: Sequence[str], drawn: Sequence[int], title: str, axes: int, *, once: bool
) -> go.Scatter:
    """once: every image counts once in the matrix, so that a row adds up to images."""
    cells = [(row, column) for row in drawn for column in drawn]
    opening = f"{literal(title)}<br>" if title else ""
    texts = [
        f"{opening}{matrix[row, column]} "
        + (f"of {matrix[row].sum()} images of " if once else "time " if matrix[row, column] == 1 else "times ")
        + f"{literal(classes[row])} "
        + ("named rightly" if row == column else f"taken for {literal(classes[column])}")
        for row, column in cells
    ]
    chosen = [[title, row, column] if title else [row, column] for row, column in cells]
    size = 20 if title else 40
    places = range(len(drawn))
    x, y = [column for _ in places for column in places], [row for row in places for _ in places]
    return targets(x, y, chosen, texts, size=size, place=on(axes))


def _axes(
    classes: Sequence[str], number: int, x: tuple[Any, ...], y: tuple[Any, ...], *, names: bool
) -> dict[str, dict[str, Any]]:
    suffix = "" if number == 1 else str(number)
    span, ticks = [-0.5, len(classes) - 0.5], list(range(len(classes)))
    written = [short(name, LETTERS) for name in classes]
    common = {"showgrid": False, "zeroline": False, "showline": False, "ticks": "", "tickfont": {"size": TICK}} | {
        "tickmode": "array",
        "tickvals": ticks if names else [],
        "ticktext": literals(written),
        "constrain": "domain",
    }
    return {
        f"xaxis{suffix}": {
            **common, "range": span, "domain": list(x), "anchor": f"y{suffix}", "side": "top",
            "constraintoward": "left", "tickangle": 0 if max(map(len, classes)) <= 3 else -45, "automargin": True,
        },
        f"yaxis{suffix}": {
            **common, "range": span[::-1], "domain": list(y), "anchor": f"x{suffix}", "scaleanchor": f"x{suffix}",
            "constraintoward": "top", "automargin": True,
        },
    }  # fmt: skip


def _wrong(matrix: ndarray) -> int:
    return int(matrix.sum() - matrix.trace())


def _in_words(matrix: ndarray, classes: Sequence[str], wrong: int | None) -> str:
    if not _wrong(matrix):
        some = f"all {matrix.sum():,} images" if matrix.sum() != 1 else "the one image"
        return f"{some if wrong is None else 'all images'} named rightly"
    off = matrix - np.diag(matrix.diagonal())
    (row, column), most = divmod(int(off.argmax()), len(off)), int(off.max())
    of_all = f"{_wrong(matrix):,} of {matrix.sum():,}" if wrong is None else f"{wrong:,}"
    return (
        f"{of_all} images named wrongly, most often {classes[row]} taken for {classes[column]} "
        f"({most} time{'s' * (most != 1)})"
    )
