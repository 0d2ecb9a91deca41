"""Perturb: what each of the 16 numbers of a class capsule means."""

from __future__ import annotations

import streamlit as st

from app import layout, resources, scene, session
from app.components.live_decoder import live_decoder
from app.session import NARROW, WIDE, Choices
from capsviz import perturb
from capsviz.figures.perturb import dimension_sheet


def offsets_of(choices: Choices, dimensions: int) -> tuple[float, ...]:
    """One offset per dimension, within the range of the sliders."""
    reach = WIDE if choices.wide else NARROW
    given = (*choices.offsets[:dimensions], *(0.0,) * (dimensions - len(choices.offsets)))
    return tuple(max(-reach, min(reach, offset)) for offset in given)


def heard(offsets: tuple[float, ...]) -> None:
    """Keep where the visitor left the sliders; the page itself does not run again."""
    changed = offsets if any(offsets) else ()
    session.update(session.parse(st.query_params, scene.catalogue())[0], offsets=changed)
    st.rerun(["links", "sliders"])


@st.fragment(key="sliders")
def sliders() -> None:
    """The sliders and the reconstruction that follows them, in the browser; nothing else of the page runs again."""
    current = scene.current()
    entry, _ = current.sibling(current.entry.routing, decoder=True)
    trace = current.trace(entry)
    live_decoder(
        {entry.name: resources.decoder(entry.name)},
        {entry.name: trace.poses[0]},
        current.upper(trace),
        offsets_of(current.choices, trace.poses.shape[-1]),
        wide=current.choices.wide,
        key="live",
        on_change=heard,
    )
    layout.chosen(st.toggle, f"Wider range (±{WIDE:g})", "wide", current.choices.wide, then=["links", "sliders"])


current = scene.current()
entry, other = current.sibling(current.entry.routing, decoder=True)
trace = current.trace(entry)

layout.headline(
    "Perturb",
    "A class capsule is <b>16 numbers</b>: how the digit is drawn. Move one, and the decoder shows what it stands for.",
)
layout.note(other)
layout.strip(trace, "class", current.dark)
upper = layout.class_picker(current, trace, "Class capsule to move")
sliders()

st.subheader(f"Every number of class {trace.classes[upper]}, moved by −0.25 to 0.25", anchor=False)
images = perturb.sheet(resources.model(entry.name), trace.poses[0, upper], upper)
layout.show(dimension_sheet(images, perturb.OFFSETS, dark=current.dark), "sheet")

layout.explain(
    "The decoder sees one class capsule, all others set to zero, and draws the image. An offset is added to one of the "
    "capsule's 16 numbers (rows) in steps of 0.05 (columns; the framed one is the capsule as routing left it), and the "
    "decoder draws again. A capsule's length stays below 1, so 0.25 is a lot.",
    r"\text{image} = \operatorname{decoder}\big(v_j + \varepsilon\,e_d\big),\qquad d = 0,\dots,15,\quad "
    r"\varepsilon=-0.25,-0.20,\dots,0.25",
    "Sabour, Frosst & Hinton, *Dynamic Routing Between Capsules*, 2017, Figure 4; seed 001.",
)
