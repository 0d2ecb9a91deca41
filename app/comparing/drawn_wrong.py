"""Classified right, drawn wrong: Yang, Li & Yu 2021, Figure 2, over the whole test set."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import streamlit as st
import torch

from app.comparing import methods
from app.page import layout
from app.page.text import plain, sentence
from app.page.widgets import segments
from app.scene import Scene, trains_one
from app.shared import resources
from app.sources import images
from capsviz.analysis import disagreement
from capsviz.analysis.measuring import control_drawer_of
from capsviz.analysis.predictions import Predictions, PredictionsError
from capsviz.data import title_of
from capsviz.figures.blocks import image_blocks
from capsviz.figures.network import Part
from capsviz.routing.discriminative import L2
from capsviz.routing.dynamic import DYNAMIC

HEADLINE = (
    "Capsules that their network reads rightly: <b>what does a decoder draw</b>, their own or one that never met them?"
)
SUBJECT: Part = "reconstruction"
EXAMPLES = {"wrong": 25, "first": 100}
"""As many as show well; the paper shows 100."""
PRESENTED = 340
"""Height of the figure, in pixels of the ordinary page, that leaves a presented screen room for what is said of it."""
ALIKE = 5.0
"""Shares that differ by fewer percentage points tell no difference between capsules."""


@dataclass(frozen=True)
class Control:
    """The record of a second seed of dynamic routing drawn by the same decoder, and what it says.

    Where there is none, what is missing, and what to do about it.
    """

    record: Predictions | None = None
    said: str = ""
    missing: str = ""
    remedy: str = ""


def show(current: Scene) -> None:
    """What is looked at, its count, and the figure."""
    records = {name: record for name, record in methods.records(current).items() if record.reread is not None}
    if not records:
        name = current.entry.data
        remedy = trains_one(name, DYNAMIC.name) or "choose another view"
        raise methods.NothingMeasured(f"No decoder of {title_of(name)} draws the capsules of any model here; {remedy}.")
    called = methods.titles(records)
    strangers = [name for name, record in records.items() if not record.reconstructs]
    entries = resources.all_entries()
    likely = [current.entry.name, *(name for name in strangers if entries[name].routing == L2.name), *strangers]
    own = current.entry.name if current.entry.name in records else next(iter(records))
    first = next((name for name in likely if name in strangers), own)
    method = current.choices.method if current.choices.method in records else first
    ordered = [*strangers, *(name for name in records if name not in strangers)]
    titles = {name: f"{plain(called[name])} · {int(records[name].drawn_wrong.sum()):,}" for name in ordered}
    segments("Capsules of · classified right, drawn wrong", "method", method, titles)
    control = _control(records[method])
    layout.say(f"{_sentence(records[method], called[method])} {control.said}")
    right, most = int(records[method].right.sum()), EXAMPLES["first"]
    plainly = f"The first {most}, as in the paper" if right >= most else f"All {right}, in their order"
    segments("Images", "sample", current.choices.sample, {"wrong": "Drawn wrong first", "first": plainly}, bare=True)
    place = st.container()
    test = methods.test_images(current, records.values())  # says below the figure why there are none
    with place:
        _figure(current, records, method, called[method], test, control.record)
    if control.missing:
        st.caption(sentence(control.missing + f" {control.remedy}" * (not current.choices.present)))


def _sentence(record: Predictions, called: str) -> str:
    """The count in words, with what the drawing model makes of its own drawings beside it."""
    kind, right, wrong = title_of(record.data), int(record.right.sum()), int(record.drawn_wrong.sum())
    opening = f"<b>{escape(called)}</b> names {right:,} of {len(record):,} {escape(kind)} test images rightly. "
    if record.reconstructs:
        other = "another class" if record.objects == 1 else "other classes"
        drawn = f"<b>{wrong:,}</b> read{'s' * (wrong == 1)} to it as {other} (framed)"
        return opening + f"Of its own reconstructions of these, {drawn}."
    own = resources.predictions(record.drawn_by)
    drawer, theirs = escape(record.drawn_by), int(own.drawn_wrong.sum())
    return (
        opening + f"It was trained without a decoder; drawn by the decoder of <b>{drawer}</b>, which never met "
        f"its capsules, <b>{wrong:,}</b> of these read{'s' * (wrong == 1)} as another class (framed)"
        + f"; of {drawer}'s own reconstructions, {theirs:,} {'does' if theirs == 1 else 'do'}" * own.same_images(record)
        + "."
    )


def _control(record: Predictions) -> Control:
    if record.reconstructs:
        return Control()
    entries = resources.all_entries()
    drawer = entries[record.drawn_by]
    seeds = [entry for entry in entries.values() if control_drawer_of(entry) == drawer]
    if not seeds:
        return Control(
            missing="What is missing is a control: a dynamic routing model of another seed, drawn by the decoder of "
            f"{drawer.name} as well. Without it this figure does not tell whether capsules trained without a decoder "
            "are harder to draw than any others that this decoder never met.",
            remedy=f"`capsviz zoo train {drawer.name} --seeds 2`, `capsviz zoo add runs/{drawer.name}-seed1` and "
            "`capsviz zoo measure` put it here.",
        )
    try:
        control = resources.predictions(seeds[0].name, drawer.name)
    except PredictionsError as error:
        what = f"The control, {seeds[0].name} drawn by the decoder of {drawer.name}, is missing."
        return Control(missing=what, remedy=str(error))
    if not control.same_images(record):
        what = f"The control, {control.name} drawn by the decoder of {drawer.name}, was measured on other images."
        return Control(missing=what, remedy=f"`capsviz zoo measure {control.name}` measures it anew.")
    wrong, right = int(control.drawn_wrong.sum()), int(control.right.sum())
    share, of_these = 100 * wrong / right, 100 * int(record.drawn_wrong.sum()) / int(record.right.sum())
    said = (
        f"The control: <b>{escape(control.name)}</b> learned to be drawn by a decoder of its own; drawn by that of "
        f"{escape(drawer.name)}, <b>{wrong:,}</b> of the {right:,} that it names rightly read as another class: "
        f"{share:.0f} %, beside {of_these:.0f} %. " + _verdict(share, of_these)
    )
    return Control(control, said)


def _verdict(control: float, share: float) -> str:
    """What the control says of the shares, in percent, that a foreign decoder draws wrong."""
    if control > share - ALIKE:
        return "So it is the foreign decoder that cannot draw, whether the capsules were trained with one or not."
    return "So capsules that were trained without a decoder are harder to draw than others that this one never met."


def _figure(
    current: Scene,
    records: dict[str, Predictions],
    method: str,
    called: str,
    test: methods.TestImages | None,
    control: Predictions | None,
) -> None:
    record, sample = records[method], current.choices.sample
    which = disagreement.classified_right(record, EXAMPLES[sample], wrong_first=sample == "wrong")
    if not len(which):
        return
    pictures: dict[str, torch.Tensor] = {} if test is None else {"input": methods.pixels(test, which)}
    drawer = resources.kind(resources.all_entries()[record.drawn_by])
    if not record.reconstructs and resources.predictions(record.drawn_by).same_images(record):
        pictures[f"{drawer}, reconstructed"] = resources.drawn(record.drawn_by, which)
    if control is not None:
        other = resources.kind(resources.all_entries()[control.name])
        drawing = resources.drawn(control.name, which, control.drawn_by)
        pictures[f"control: {other}, drawn by {drawer}"] = drawing
    decoder = "its own decoder" if record.reconstructs else drawer
    pictures[f"{called} capsules, drawn by {decoder}"] = resources.drawn(method, which)
    blocks = {f"({letter}) {title}": drawn for letter, (title, drawn) in zip("abcd", pictures.items(), strict=False)}
    assert record.reread is not None  # records without it are not offered
    read = (methods.names(current, classes[which]) for classes in (record.predicted, record.reread))
    last = "abcd"[len(blocks) - 1]
    texts = [
        f"image {number} is named {named}, its drawing in ({last}) reads as {again}"
        for number, named, again in zip(which.tolist(), *read, strict=True)
    ]
    wrong = record.drawn_wrong[which].tolist()
    figure = image_blocks(blocks, texts, wrong=wrong, chosen=which.tolist(), dark=current.dark)
    layout.show(
        figure,
        f"wrong-{images.index_of(current.choices, current.entry)}",
        f"Classified right, drawn wrong: {method}",
        choose=methods.chooser(current, records.values()),
        height=PRESENTED,
    )
