"""The papers' experiments, measured here: one question at a time, its answer computed from result files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from plotly.graph_objects import Figure

from app import layout, scene
from app.widgets import chosen
from capsviz.data import DATASETS
from capsviz.experiments import convergence, reports
from capsviz.figures import experiments as figures
from capsviz.figures.pairs import drawn_pairs

FIGURES: dict[str, Callable[..., Figure]] = {
    "table": figures.table_ii,
    "cost": figures.cost,
    "robustness": figures.robustness,
    "iterations": lambda found, **look: figures.iterations(found["trained"], found["shipped"], **look),
    "sparsity": figures.sparsity,
    "ascent": figures.ascent,
    "multi-mnist": lambda found, **look: figures.multi_mnist(found["rows"], **look),
}

DRAWN = (
    "The first {count} test images, and what each model makes of them: the capsule of one digit decoded in orange, "
    "that of the other in blue, white where both put ink."
)


def draw(name: str, measured: Any, dark: bool) -> None:
    """The figures of an experiment; convergence has one for each data set, MultiMNIST also what was drawn."""
    if name == "convergence":
        for data in convergence.data_sets(measured):
            st.subheader(DATASETS[data].title, anchor=False)
            layout.show(figures.convergence(measured, data, dark=dark), f"convergence-{data}")
        return
    if name == "multi-mnist" and (drawn := measured["drawn"]):
        st.markdown(DRAWN.format(count=len(drawn.images)))
        layout.show(drawn_pairs(drawn, dark=dark), f"{name}-drawn")
    layout.show(FIGURES[name](measured, dark=dark), f"{name}-figure")


current = scene.current()
every = {name: reports.report(name) for name in reports.NAMES}
report = every[current.choices.experiment]

chosen(
    st.segmented_control,
    "Experiment",
    "experiment",
    report.name,
    reports.NAMES,
    format_func=lambda name: every[name].title,
    required=True,
    label_visibility="collapsed",
)
layout.headline(report.question, report.sentences[0] if report.measured is not None else "")
if report.measured is None:
    st.info(f"Not measured here yet: `{report.command}` does it.", icon=":material/hourglass_empty:")
else:
    draw(report.name, report.measured, current.dark)
for sentence in report.sentences[report.measured is not None :]:
    st.markdown(sentence)
if report.markdown:
    st.markdown(report.markdown)
st.caption(f"{report.conditions}. Measured by `{report.command}`.")
st.caption(f"Source: {report.source}.")
