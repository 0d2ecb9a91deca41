"""The papers' experiments, measured here: one question at a time, its answer computed from result files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from plotly.graph_objects import Figure

from app import layout, scene
from app.widgets import segments
from capsviz.data import describe
from capsviz.experiments import convergence, reports
from capsviz.experiments.pairs import shipping
from capsviz.figures import experiments as figures
from capsviz.figures.pairs import drawn_pairs
from capsviz.figures.viewpoint import recovery

FIGURES: dict[str, Callable[..., Figure]] = {
    "table": figures.table_ii,
    "cost": figures.cost,
    "robustness": figures.robustness,
    "viewpoint": recovery,
    "iterations": lambda found, **look: figures.iterations(found["trained"], found["shipped"], **look),
    "sparsity": figures.sparsity,
    "ascent": figures.ascent,
    "multi-mnist": lambda found, **look: figures.multi_mnist(found["rows"], **look),
}

DRAWN = (
    "The first {count} test images, and what each model makes of them: the capsule of one digit decoded in orange, "
    "that of the other in blue, white where both put ink."
)


@dataclass(frozen=True)
class Drawing:
    """A figure of an experiment, made when it is shown.

    key: its own on the page. title, said: above it, where it needs any.
    """

    key: str
    made: Callable[[], Figure]
    title: str = ""
    said: str = ""

    def show(self) -> None:
        """The figure below its title."""
        if self.title:
            st.subheader(self.title, anchor=False)
        if self.said:
            st.markdown(self.said)
        layout.show(self.made(), self.key)


def drawings(name: str, measured: Any, dark: bool) -> list[Drawing]:
    """The figures of an experiment; convergence has one for each data set, MultiMNIST also what was drawn."""
    if name == "convergence":
        return [
            Drawing(
                f"convergence-{data}", partial(figures.convergence, measured, data, dark=dark), describe(data).title
            )
            for data in convergence.data_sets(measured)
        ]
    found = [Drawing(f"{name}-figure", partial(FIGURES[name], measured, dark=dark))]
    if name == "multi-mnist" and (drawn := measured["drawn"]):
        said = DRAWN.format(count=len(drawn.images))
        return [Drawing(f"{name}-drawn", partial(drawn_pairs, shipping(drawn), dark=dark), said=said), *found]
    return found


current = scene.current()
every = {name: reports.report(name) for name in reports.NAMES}
report = every[current.choices.experiment]

segments("Experiment", "experiment", report.name, {name: each.title for name, each in every.items()}, bare=True)
layout.headline(report.question, report.sentences[0] if report.measured is not None else "")
shown = drawings(report.name, report.measured, current.dark) if report.measured is not None else []
if not shown:
    st.info(f"Not measured here yet: `{report.command}` does it.", icon=":material/hourglass_empty:")
for drawing in shown[:1]:
    drawing.show()
rest = report.sentences[bool(shown) :]
if rest or report.markdown or shown[1:]:
    with st.expander("Details", icon=":material/table_rows:", key=f"details-{report.name}"):
        for sentence in rest:
            st.markdown(sentence)
        for drawing in shown[1:]:
            drawing.show()
        if report.markdown:
            st.markdown(report.markdown)
st.caption(f"{report.conditions}. Measured by `{report.command}`.")
st.caption(f"Source: {report.source}.")
