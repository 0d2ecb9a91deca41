"""Which class each method takes for which, and the images of a cell."""

from __future__ import annotations

from itertools import product
from operator import attrgetter

import streamlit as st
import torch

from app.comparing import methods
from app.page import layout
from app.page.text import plain
from app.page.widgets import chosen, segments
from app.scene import Scene, choices
from app.shared import resources
from app.sources import images
from app.state import session
from capsviz.analysis.predictions import Predictions, most_confused
from capsviz.figures.blocks import image_blocks
from capsviz.figures.confusions import confusion_matrices, confusion_matrix
from capsviz.figures.network import Part

HEADLINE = (
    "Rows are the classes <b>shown</b>, columns the classes <b>named</b>; right answers are grey. <b>Click</b> a cell."
)
SUBJECT: Part = "class"
SEVERAL = (
    "An image counts for each of its digits that is found, and, where one is missed, for the digit that was named "
    "instead; where both are missed, for each of the two with each that was named."
)
ALL = ""
COMMONEST, IMAGES = 5, 16
MOST = 20
"""Classes that have a row and a column; of more of them those that are confused most."""
ROOM = 20
"""Letters of a title that stand above a matrix of many, on a telephone as well."""


def show(current: Scene) -> None:
    """All matrices, or one with the images of a cell."""
    records = methods.records(current)
    called = methods.titles(records)
    method = current.choices.method if current.choices.method in records else ALL
    titles = {ALL: "All"} | {name: f"{plain(called[name])} · {each.error:.2f} %" for name, each in records.items()}
    segments("Method", "method", method, titles, bare=True, read=lambda name, _: {"method": name, "cell": None})
    classes = current.entry.classes
    several = current.entry.objects > 1
    if several:
        st.caption(SEVERAL)
    if method == ALL:
        shorter = methods.titles(records, attrgetter("short"))
        called |= {name: shorter[name] for name, title in called.items() if len(title) > ROOM}
        matrices = {called[name]: record.confusion(len(classes)) for name, record in records.items()}
        wrong = {called[name]: record.wrong for name, record in records.items()} if several else None
        by_title = {title: name for name, title in called.items()}
        only = _only(list(records.values()), classes)
        figure = confusion_matrices(matrices, classes, only=only, wrong=wrong, dark=current.dark)
        # As tall as it is where it is presented too: pressed together, its titles would lie over the rows above them.
        own = figure.layout.height
        layout.show(
            figure,
            "confusions",
            "Confusions",
            choose=lambda cell: choose(by_title[cell[0]], cell[1], cell[2]),
            height=own,
        )
        return
    _one(current, records[method])


def _only(records: list[Predictions], classes: tuple[str, ...], cell: tuple[int, ...] = ()) -> list[int] | None:
    """The classes that can be drawn, those of a cell among them, and a sentence where they are not all."""
    if len(classes) <= MOST:
        return None
    only = sorted({*most_confused(records, len(classes), MOST), *cell})
    st.caption(f"{len(only)} of {len(classes)} classes are shown: those between which the commonest errors are.")
    return only


def choose(method: str, label: int, named: int) -> None:
    """Look at the images of a cell; for a widget's callback."""
    session.update(choices(), method=method, cell=(int(label), int(named)))


def _one(current: Scene, record: Predictions) -> None:
    """One matrix, its commonest errors, and the images of the chosen cell, else of the commonest error."""
    classes = current.entry.classes
    counts = record.confusion(len(classes))
    common = [(label, named) for label, named, _ in record.largest_confusions(len(classes), COMMONEST)]
    cell = current.choices.cell
    if cell is None or max(cell) >= len(classes):  # another model of such images has that many
        cell = common[0] if common else (0, 0)
    left, right = st.columns([11, 9])
    with left:
        only = _only([record], classes, cell)
        wrong = record.wrong if record.objects > 1 else None
        figure = confusion_matrix(counts, classes, cell=cell, only=only, wrong=wrong, dark=current.dark)
        framed = "-".join(map(str, cell))
        layout.show(
            figure,
            f"matrix-{record.name}-{framed}",
            f"Confusions of {record.name}",
            choose=lambda at: choose(record.name, at[0], at[1]),
        )
    with right:
        drawn = range(len(classes)) if only is None else only
        every = [at for at in product(drawn, repeat=2) if counts[at] or at == cell]
        titles = {at: f"{classes[at[0]]} → {classes[at[1]]} · {counts[at]:,}" for at in every}
        chosen(
            st.pills, "Commonest errors: shown → named · images", "cell", cell if cell in common else None, common,
            format_func=lambda at: plain(titles[at]), read=lambda cell, choices: {"cell": cell or choices.cell},
        )  # fmt: skip
        _images(current, record, cell)
        # Read and chosen without a pointer.
        chosen(
            st.selectbox,
            "Every cell: shown → named · images",
            "cell",
            cell,
            every,
            key="every-cell",
            format_func=titles.get,
        )


def _images(current: Scene, record: Predictions, cell: tuple[int, int]) -> None:
    shown, named = (current.entry.classes[index] for index in cell)
    found = record.taken(*cell)
    what = f"of {shown} named rightly" if shown == named else f"of {shown} taken for {named}"
    st.markdown(
        f"**{images.counted(len(found))} {plain(what)}**" + (f", the first {IMAGES}" if len(found) > IMAGES else "")
    )
    test = methods.test_images(current, [record])
    which = found[:IMAGES]
    blocks: dict[str, torch.Tensor] = {} if test is None else {"input": methods.pixels(test, which)}
    if record.reconstructs:
        blocks["as this method draws it"] = resources.drawn(record.name, which)
    if not len(which) or not blocks:
        return
    said = methods.named(current, record, which)
    texts = [f"image {number}, named {each}" for number, each in zip(which.tolist(), said, strict=True)]
    figure = image_blocks(blocks, texts, chosen=which.tolist(), dark=current.dark, height=90 + 330 // len(blocks))
    layout.show(
        figure,
        f"cell-{images.index_of(current.choices, current.entry)}",
        f"Images {what}, {record.name}",
        choose=methods.chooser(current, [record]),
    )
