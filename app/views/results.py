"""The papers' experiments, measured here: one question at a time, its answer computed from result files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st
from plotly.graph_objects import Figure

from app import scene
from app.page import layout, takeaway
from app.page.details import Detail, Part, details
from app.page.widgets import segments
from app.shared import resources
from capsviz.data import title_of
from capsviz.experiments import convergence, results
from capsviz.experiments.pairs import shipping
from capsviz.experiments.reports import NAMES
from capsviz.figures import experiments as figures
from capsviz.figures.pairs import drawn_pairs
from capsviz.figures.same_images import beside_dynamic
from capsviz.figures.table2 import table_ii
from capsviz.figures.viewpoint import recovery

FIGURES: dict[str, Callable[..., Figure]] = {
    "table": table_ii,
    "same-images": beside_dynamic,
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


def drawings(name: str, question: str, measured: Any, dark: bool) -> list[Detail]:
    """The figures of an experiment; convergence has one for each data set, MultiMNIST also what was drawn."""
    if name == "convergence":
        return [
            Detail(
                f"convergence-{data}",
                partial(figures.convergence, measured, data, dark=dark),
                title_of(data),
                called=f"{question} {title_of(data)}",
            )
            for data in convergence.data_sets(measured)
        ]
    found = [Detail(f"{name}-figure", partial(FIGURES[name], measured, dark=dark), called=question)]
    if name == "multi-mnist" and (drawn := measured["drawn"]):
        said = DRAWN.format(count=len(drawn.images))
        pictures = partial(drawn_pairs, shipping(drawn), dark=dark)
        return [Detail(f"{name}-drawn", pictures, said=said, called=f"{question} What they draw"), *found]
    return found


current = scene.current()
takeaway.of_many()
version = results.version()
every = {name: resources.found_by(name, version) for name in NAMES}
report = every[current.choices.experiment]

segments("Experiment", "experiment", report.name, {name: each.title for name, each in every.items()}, bare=True)
layout.headline(report.question, report.sentences[0] if report.measured is not None else "")
shown = drawings(report.name, report.question, report.measured, current.dark) if report.measured is not None else []
if report.measured is None:
    st.info(report.sentences[0], icon=":material/hourglass_empty:")
for drawing in shown[:1]:
    drawing.show()
rest: list[Part] = [*report.sentences[1:], *shown[1:], *filter(None, [report.markdown])]
if rest:
    details(current, *rest)
st.caption(f"{report.conditions}. Measured by `{report.command}`.")
st.caption(f"Source: {report.source}.")
