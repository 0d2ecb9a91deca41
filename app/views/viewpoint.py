"""Viewpoint: the image on stage over a whole change of viewpoint, and what every method makes of it on the way."""

from __future__ import annotations

import streamlit as st

from app import scene
from app.boards import sweeping
from app.components.sweep_board import show_sweep_board
from app.page import layout, takeaway
from app.page.details import details
from app.page.text import plain
from app.page.widgets import segments
from app.shared import resources
from capsviz.boards.sweep import sweep_board
from capsviz.data.viewpoint import CHANGES
from capsviz.experiments import results
from capsviz.figures.viewpoint import pooling_figures

current = scene.current()
entry, notice = current.drawing()
change = CHANGES[current.choices.change]
layout.headline(
    "Viewpoint", "Another viewpoint, the same thing: <b>who still names it</b>, and <b>whose numbers go along</b>?"
)
pickers = st.container(horizontal=True, vertical_alignment="center")
with pickers:
    titles = {name: each.title for name, each in CHANGES.items()}
    segments("Change of viewpoint", "change", change.name, titles, bare=True, width="content")
layout.note(notice or layout.untouched(current, entry))
swing, place = sweeping.swing(current, entry)
label, *beside = (plain(swing.classes[each]) for each in swing.labels)
if beside:
    with pickers:
        segments(
            "Of the classes in the image, the one that is followed",
            "upper",
            swing.labels[0],
            {each: f"Follow the {plain(swing.classes[each])}" for each in sorted(swing.labels)},
            bare=True,
            key="followed",
            width="content",
        )
title = f"{change.title} of {current.picture.title}"
takeaway.offer("sweep", lambda: sweep_board(swing, title, frame=place, dark=current.dark), title)
show_sweep_board(
    swing,
    frame=place,
    dark=current.dark,
    key=f"sweep-{len(swing.networks)}",
    on_amount=lambda amount: sweeping.left(change.name, amount),
    of=lambda: scene.choices().change,
)
other = "strongest other class" + " not shown" * bool(beside)
quantity = "‖v‖, a or the CNN's probability" if swing.pooled else "‖v‖ or a"
shows = "The image shows" if current.labels(entry.classes) else "The network names"
sentences = [
    f"{shows} **{label}** and **{', '.join(beside)}**, and the page follows the **{label}**." if beside else "",
    f"Solid: the activation of **{label}**, {quantity}; dashed: the {other}; "
    f"grey: **{label}** is lost{f', none of the {len(swing.labels)} most active' * bool(beside)}.",
    "Rows of colours: numbers along the change, each picture on its own scale, the strongest colour its largest "
    "number.",
    "" if swing.pooled else "No CNN with max pooling here reads these images.",
]
st.caption(" ".join(filter(None, sentences)))
if swing.pooled:
    st.subheader("Max pooling", anchor=False)
    layout.say("It keeps the <b>largest</b> number of each 2 × 2 square, and discards <b>where</b> it stood.")
    found = resources.pooled(swing.pooled.name, current.picture.key)
    figures = pooling_figures(found, dark=current.dark)
    for column, (name, figure) in zip(st.columns(len(figures)), figures.items(), strict=True):
        with column:
            called = f"Max pooling of {swing.pooled.name}, {name}"
            layout.show(figure, f"pooling-{name}", called, height=300, of_others=True)
    busy, same, moved = (int(each.sum()) for each in (found.busy, found.same, found.moved))
    st.markdown(
        f"Of {found.busy.numel()} squares {busy} hold different numbers, now or after the step: pooling keeps {busy} "
        f"of {4 * busy}, dotted on the feature map, and of none its place in the square. One pixel to the right, "
        f"**{same} of {busy}** kept numbers are the same (orange): **{moved}** of them (rings) now come from another "
        f"place, which is lost; the other {busy - same} have changed. The feature map is that of "
        f"{plain(swing.pooled.name)}'s first layer which varies most over the image on stage; all three pictures are "
        "on one scale."
    )
measured = resources.found_by("viewpoint", results.version("viewpoint"))
others = [f"{other.title}: R²" for other in CHANGES.values() if other is not change]
said = [sentence for sentence in measured.sentences if not any(words in sentence for words in others)]
details(
    current,
    f"**{measured.question}** {' '.join(said)}",
    measured.markdown,
    f"{measured.conditions}. Measured by `{measured.command}`.",
)

layout.explain(
    "**Invariant** is what stays as it is when the viewpoint changes, **equivariant** what changes along with it. Max "
    "pooling makes a network a little more invariant: of each 2 × 2 square it keeps the largest number, not where it "
    "stood. A capsule is to do both: its activation stays, its pose goes along. The pooled features still tell much of "
    "the viewpoint: they are a map with many channels, and pooling forgets a place only within its square. The sweep "
    "changes one amount over its whole range; all other changes stay as they are on stage. A class is lost where it is "
    "none of the most active ones, as many as the image shows. In the formulas *T* is the change of the image, *T′* "
    "that of the network's numbers which goes with it.",
    r"\text{invariant: } f(Tx)=f(x)\qquad \text{equivariant: } f(Tx)=T'f(x)",
    "Hinton, Sabour & Frosst 2018; *Encapsulating Capsule Networks*, invariance against equivariance.",
)
