"""How well each method draws over the whole test set: distributions, and a table of all images to sort."""

from __future__ import annotations

from functools import partial
from operator import attrgetter

import streamlit as st

from app.comparing import methods
from app.page import layout
from app.page.text import plain
from app.page.widgets import segments
from app.scene import Scene
from app.shared import resources
from capsviz.analysis.comparison import Drawing
from capsviz.analysis.predictions import Predictions
from capsviz.figures.distributions import distribution_steps, distribution_violins
from capsviz.figures.network import Part

HEADLINE = "How well each method draws the <b>whole test set</b>; the diamond is the image on stage."
SUBJECT: Part = "reconstruction"
SHORT = 9
"""Letters of a method's name that a narrow column holds."""
_TITLES = {"mse": "MSE", "ssim": "SSIM"}


def show(current: Scene) -> None:
    """The controls, the distributions, and beside them every image in a table."""
    records, choices = methods.records(current, drawing=True), current.choices
    measure = choices.measure if choices.measure in _TITLES else "mse"
    _controls(current, measure)
    names = list(records)
    if choices.sort == "median":
        names.sort(key=lambda name: records[name].median(measure), reverse=measure == "ssim")
    called = methods.titles(names)
    picture = distribution_violins if choices.chart == "violin" else distribution_steps
    left, right = st.columns(2)
    with left:
        figure = picture(
            {called[name]: records[name].figures(measure) for name in names},
            _TITLES[measure],
            colours=methods.colours(names),
            marked=marks(current, records, measure),
            mark=current.picture.title,
            dark=current.dark,
        )
        layout.show(figure, "distributions", f"Distributions of {_TITLES[measure]}", height=layout.BELOW_STRIP)
        entries = resources.all_entries()
        presets = {name: entries[name].preset for name in names}
        if len({*presets.values()}) > 1:
            said = ", ".join(f"{plain(called[name])}: {plain(preset)}" for name, preset in presets.items())
            st.caption(f"The networks differ in encoder and decoder as well, by their presets ({said}).")
    with right:
        table(current, records, names, measure)


def _controls(current: Scene, measure: str) -> None:
    choices = current.choices
    first, second, third = st.columns(3, vertical_alignment="bottom")
    with first:
        segments("Figure", "measure", measure, _TITLES)
    with second:
        segments("Drawn as", "chart", choices.chart, {"violin": "Violins", "ecdf": "Cumulative"})
    with third:
        segments("Order", "sort", choices.sort, {"method": "By method", "median": "Best median first"})


def marks(current: Scene, records: dict[str, Predictions], measure: str) -> dict[str, float]:
    """The figure of the image on stage by method's title: from the record, or measured now where it is another."""
    called, index = methods.titles(records), methods.on_stage(current, records.values())
    if index is not None:
        return {called[name]: float(record.figures(measure)[index]) for name, record in records.items()}
    comparison = resources.comparison(tuple((name, name) for name in records), current.picture.key)
    drawings: dict[str, Drawing] = comparison.drawings
    return {called[name]: float(getattr(drawing, measure)[0]) for name, drawing in drawings.items()}


def table(current: Scene, records: dict[str, Predictions], names: list[str], measure: str) -> None:
    """Every test image with each method's figure; a click on a head sorts, a row puts its image on stage."""
    first = next(iter(records.values()))
    called = methods.titles(names)
    heads = {called[name]: head for name, head in methods.titles(names, attrgetter("short")).items()}
    rows = {"Image": list(range(len(first))), "Class": methods.names(current, first.labels)}
    rows |= {called[name]: records[name].figures(measure).tolist() for name in names}
    # Another image, another table: a row stays marked in the old one only.
    key = f"images-{measure}-{current.choices.image}"
    shown = methods.chooser(current, records.values()) is not None
    form = "%.4f" if measure == "mse" else "%.3f"
    st.dataframe(
        rows,
        key=key,
        hide_index=True,
        width="stretch",
        height=430,
        selection_mode="single-row",
        on_select=partial(_picked, key) if shown else "ignore",
        column_config={
            title: st.column_config.NumberColumn(
                head, format=form, width="small" if len(head) <= SHORT else None, help=plain(title)
            )
            for title, head in heads.items()
        },
    )
    st.caption("A click on a head sorts" + "; a click before a row puts its image on stage" * shown + ".")


def _picked(key: str) -> None:
    chosen_rows = st.session_state[key]["selection"]["rows"]
    if chosen_rows:
        methods.put_on_stage(chosen_rows[0])
