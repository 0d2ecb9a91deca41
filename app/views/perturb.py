"""Perturb: what each number of a class capsule means."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st
from numpy import ndarray

from app import scene
from app.components.live_decoder import live_decoder
from app.page import layout, takeaway
from app.page.text import plain
from app.page.widgets import chosen, segments
from app.scene import Scene
from app.shared import resources
from app.state import session
from app.state.choices import Choices
from capsviz.analysis import perturbation
from capsviz.analysis.dimensions import CLEAR, LEAD, QUALITIES
from capsviz.analysis.metrics import summarise
from capsviz.boards import Board, Left, decoder_message
from capsviz.boards.decoder import NARROW, WIDE, walked
from capsviz.figures.perturb import dimension_sheet, meaning_table
from capsviz.zoo import Entry

HANDS = {"sliders": "Sliders", "cells": "All capsules", "walk": "Walk"}
RERUN = ["sliders", "below"]


def wide(choices: Choices) -> bool:
    """The wider range: asked for, or needed for the offsets of the link."""
    return choices.wide or any(abs(offset) > NARROW for offset in choices.offsets)


def narrowed(on: bool, choices: Choices) -> dict[str, object]:
    """What the switch of the range changes: in the narrower one every offset finds its place."""
    if on:
        return {"wide": True}
    return {"wide": False, "offsets": tuple(max(-NARROW, min(NARROW, offset)) for offset in choices.offsets)}


def offsets_of(choices: Choices, dimensions: int) -> tuple[float, ...]:
    """One offset per dimension."""
    return (*choices.offsets[:dimensions], *(0.0,) * (dimensions - len(choices.offsets)))


def models(current: Scene) -> dict[str, Entry]:
    """The models to draw with, by title: the chosen one, or one with a decoder for each algorithm of its data set."""
    chosen, _ = current.drawing()
    if not current.choices.beside:
        return {chosen.name: chosen}
    shown: dict[str, Entry] = {}
    for entry in resources.peers(chosen).values():
        if resources.comparable(entry, chosen) and entry.has_decoder:
            # Of two models by one algorithm the chosen one stands for it, else the first.
            title = entry.method.short
            shown[title] = entry if entry.name == chosen.name else shown.get(title, entry)
    return shown


def keep_left(left: Left) -> None:
    """Keep where the visitor left the component; of the page only what depends on it runs again."""
    stage = scene.current()
    entry, _ = stage.drawing()
    at = stage.upper(stage.trace(entry))
    picked = left.picked and left.upper != at
    if stage.choices.hand == "cells" and left.upper != at and not picked:
        return  # of a row of numbers that is no longer the chosen one
    changes: dict[str, object] = {
        "offsets": left.offsets if any(left.offsets) else (),
        "share": left.share,
        "sphere": left.sphere,
    }
    if picked:
        changes["upper"] = left.upper
    if left.to != target(stage):
        changes["to"] = left.to
    scene.keep(*RERUN, **changes)


def target(current: Scene) -> tuple[int, int]:
    """Where the walk ends: as chosen, else at the surest exemplar of the class that is second likely."""
    entry, _ = current.drawing()
    chosen = current.choices.to
    if chosen is not None and chosen[0] < len(entry.classes):
        return chosen
    summary = summarise(current.trace(entry))
    return summary.predicted if summary.runner_up is None else summary.runner_up, 0


def on_screen(choices: Choices, upper: int, classes: int) -> set[int]:
    """The class capsules whose numbers can be pointed at: the chosen one, and in a grid that shows all of them all."""
    return set(range(classes)) if choices.hand == "cells" and classes <= layout.SIDE_BY_SIDE else {upper}


def words(entry: Entry, measured: set[int]) -> list[tuple[str, ...]]:
    """A word for each number of each class capsule; none of those that are not to be measured."""
    return [
        resources.meanings(entry.name, label).labels if label in measured else () for label in range(len(entry.classes))
    ]


@st.fragment(key="sliders")
@layout.errors_as_sentences()
def sliders() -> None:
    """The capsule in the visitor's hand and the pictures that follow it, in the browser."""
    current = scene.current()
    choices = current.choices
    entry, _ = current.drawing()
    trace = current.trace(entry)
    shown = models(current)
    picker, hand, several = st.columns([12, 8, 5], vertical_alignment="bottom", gap="small")
    with picker:
        upper = layout.class_picker(current, trace, "Class capsule to move", then=RERUN)
    with hand:
        segments("Move it on", "hand", choices.hand, HANDS, then=["sliders"])
    with several:
        chosen(
            st.toggle,
            "All models",
            "beside",
            choices.beside,
            then=RERUN,
            help="Of each algorithm a model with a decoder, its own capsule of the same image, the same offsets.",
        )
        chosen(st.toggle, f"Wide (±{WIDE:g})", "wide", wide(choices), read=narrowed, then=["sliders"])
    offsets = offsets_of(choices, trace.poses.shape[-1])
    decoders = {title: resources.decoder(entry.name) for title, entry in shown.items()}
    poses = {title: current.trace(entry).poses[0] for title, entry in shown.items()}
    left = Left(upper, offsets, target(current), choices.share, choices.sphere)
    message = decoder_message(
        decoders,
        poses,
        left,
        wide=wide(choices),
        hand=choices.hand,
        classes=trace.classes,
        labels=words(entry, on_screen(choices, upper, len(trace.classes))),
        lead=next(title for title, model in shown.items() if model.name == entry.name),
        present={title: current.trace(entry).named[0].tolist() for title, entry in shown.items() if entry.objects > 1},
        dark=current.dark,
    )
    title = f"A class capsule of {entry.name if len(shown) == 1 else f'{len(shown)} models'}, moved"
    whole = f"{title}, {current.picture.title}"

    def numbers() -> dict[str, ndarray]:
        units = {name: resources.unit(entry.name) for name, entry in shown.items()}
        capsules = {f"capsules of {name}": each.numpy() / units[name] for name, each in poses.items()}
        moved = {"class": np.array(upper), "offsets": np.array(offsets)}
        if choices.hand == "walk":
            moved |= {"walk to class and exemplar": np.array(left.to), "share of the walk": np.array(left.share)}
            for name, model in shown.items():
                exemplars = resources.exemplar_capsules(model.name) / units[name]
                way = walked(poses[name] / units[name], exemplars, left)
                moved[f"walked capsules of {name}"] = way.numpy()
        return moved | capsules

    taken = partial(Board, "live-decoder", whole, lambda _: message, first=tuple(decoders.values()), table=numbers)
    takeaway.offer("live", taken, title)
    live_decoder(message, decoders, key="live", on_change=keep_left, of=lambda: session.tied(scene.choices(), "upper"))


@st.fragment(key="below")
@layout.errors_as_sentences()
def below() -> None:
    """What the numbers of the chosen class capsule mean, and what each draws."""
    current = scene.current()
    entry, _ = current.drawing()
    trace = current.trace(entry)
    upper = current.upper(trace)
    name = trace.classes[upper]
    whose = f"class {name} in {entry.name}" if current.choices.beside else f"class {name}"
    st.subheader(f"What the numbers of {plain(whose)} mean", anchor=False)
    layout.say(
        f"Each capsule of {len(resources.exemplar_capsules(entry.name)[upper])} training images, those of which the "
        "network is surest, is moved at random in all its numbers and drawn; then each number is correlated with what "
        "is <b>measured of the pictures</b>."
    )
    layout.show(
        meaning_table(resources.meanings(entry.name, upper), dark=current.dark),
        "meanings",
        f"What the numbers of class {name} mean",
    )
    with st.expander("How the words are found", icon=":material/straighten:"):
        st.markdown(
            f"A number gets a word where it correlates with one quality by at least {CLEAR:g} (a quarter of all that "
            f"varies in it), by {LEAD:g} more than with any other, and where the quality varies enough to be seen. "
            "Around every exemplar all numbers are moved at once, independently, each by its standard deviation over "
            "the training images of the class: moved one at a time, every smooth change would correlate fully. "
            "Measured: "
            + "; ".join(f"**{quality.label}** is {quality.name} ({quality.unit})" for quality in QUALITIES.values())
            + ". A minus (and **up** for **down**, **left** for **right**) says that more of the number is less of it."
        )
    st.subheader(f"Every number of {plain(whose)}, moved by −0.25 to 0.25", anchor=False)
    offsets = [resources.unit(entry.name) * offset for offset in perturbation.OFFSETS]
    images = perturbation.sheet(resources.model(entry.name), trace.poses[0, upper], upper, offsets)
    layout.show(
        dimension_sheet(images, perturbation.OFFSETS, dark=current.dark),
        "sheet",
        f"Every number of class {name}, moved",
    )


current = scene.current()
entry, other = current.drawing()
dimensions = current.trace(entry).poses.shape[-1]
layout.headline(
    "Perturb",
    f"A class capsule is <b>{dimensions} numbers</b>: how its class is drawn. Move one, and the decoder shows what it "
    "stands for.",
)
layout.note(other or layout.untouched(current, entry))
layout.strip(current.trace(entry), entry, "class", current.dark)
sliders()
below()

layout.explain(
    "The decoder sees one class capsule, all others set to zero, and draws the image. An offset is added to one of "
    "the capsule's numbers (rows) in steps of 0.05 (columns; the framed one is the capsule as routing left it), and "
    "the decoder draws again. Routing leaves a capsule shorter than 1, so 0.25 is a lot, and offsets can make it "
    "longer, also where a walk begins; matrix capsules and those of attention have no such bound and are measured in "
    "a unit of about their own length. A walk leads from the capsule v to another one, w: straight on, its length "
    "falls on the way; along the sphere the direction turns evenly by the angle Ω between the two, and the length "
    "goes evenly from that of v to that of w. Between two classes both capsules reach the decoder on the way; they "
    "are orthogonal. In *All capsules*, σ is the standard deviation of a number over the training images of its "
    "class, and its mean is over the test images that are read rightly: the capsule of a class that the image does "
    "not show is short, and thereby far from that mean.",
    r"\begin{aligned}\text{image} &= \operatorname{decoder}\big(v_j + \varepsilon\,e_d\big),\qquad d = 0,\dots,"
    rf"{dimensions - 1},"
    r"\quad\varepsilon=-0.25,-0.20,\dots,0.25\\ \text{straight} &= (1-t)\,v + t\,w,\qquad \text{sphere} = "
    r"\big((1-t)\lVert v\rVert + t\lVert w\rVert\big)\,\frac{\sin((1-t)\Omega)\,\hat v + \sin(t\Omega)\,\hat w}"
    r"{\sin\Omega}\end{aligned}",
    "Sabour, Frosst & Hinton, *Dynamic Routing Between Capsules*, 2017, Figure 4; Shoemake, *Animating "
    "Rotation with Quaternion Curves*, 1985.",
)
