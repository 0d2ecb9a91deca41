"""Perturb: what each of the 16 numbers of a class capsule means."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app import layout, resources, scene, session
from app.session import NARROW, WIDE, Choices
from capsviz import perturb
from capsviz.figures.compare import error_map
from capsviz.figures.perturb import dimension_sheet, reconstruction_figure

STEP = 0.05


def offsets_of(choices: Choices, dimensions: int) -> tuple[float, ...]:
    """One offset per dimension, within the range of the sliders."""
    reach = WIDE if choices.wide else NARROW
    given = (*choices.offsets[:dimensions], *(0.0,) * (dimensions - len(choices.offsets)))
    return tuple(max(-reach, min(reach, offset)) for offset in given)


def slider(dimension: int, value: float, offsets: tuple[float, ...], wide: bool) -> None:
    """What is added to one dimension; its label says the number that the capsule has there."""
    reach = WIDE if wide else NARROW

    def moved(offset: float, choices: Choices) -> dict[str, Any]:
        others = offsets_of(choices, len(offsets))
        return {"offsets": (*others[:dimension], offset, *others[dimension + 1 :])}

    layout.chosen(
        st.slider,
        f"{dimension}: {value:+.2f}",
        "offsets",
        offsets[dimension],
        -reach,
        reach,
        step=STEP,
        key=f"offset-{dimension}",
        format="%+.2f",
        read=moved,
        then=["links", "sliders"],
    )


def reset() -> None:
    """Put every slider back to zero."""
    session.update(session.parse(st.query_params, scene.catalogue())[0], offsets=())
    st.rerun(["links", "sliders"])


@st.fragment(key="sliders")
def sliders() -> None:
    """The sliders and the reconstruction that follows them; nothing else of the page runs again."""
    current = scene.current()
    entry, _ = current.sibling(current.entry.routing, decoder=True)
    trace = current.trace(entry)
    upper, model = current.upper(trace), resources.model(entry.name)
    pose = trace.poses[0, upper]
    offsets = offsets_of(current.choices, len(pose))
    before = perturb.draw(model, pose[None], upper)[0]
    after = perturb.draw(model, perturb.shift(pose, offsets)[None], upper)[0]

    pictures, controls = st.columns([2, 3], gap="medium")
    with pictures:
        left, right = st.columns(2)
        with left:
            layout.show(reconstruction_figure(before, title="as it is", dark=current.dark, height=230), "before")
        with right:
            layout.show(reconstruction_figure(after, title="moved", dark=current.dark, height=230), "after")
        layout.show(error_map(before, after, dark=current.dark).update_layout(height=190), "difference")
    with controls:
        for row in range(0, len(pose), 4):
            for column, dimension in zip(st.columns(4), range(row, min(row + 4, len(pose))), strict=False):
                with column:
                    slider(dimension, pose[dimension].item(), offsets, current.choices.wide)
        left, right = st.columns(2, vertical_alignment="center")
        with left:
            layout.chosen(
                st.toggle, f"Wider range (±{WIDE:g})", "wide", current.choices.wide, then=["links", "sliders"]
            )
        right.button(
            "All to zero", icon=":material/restart_alt:", on_click=reset, key="reset", disabled=not any(offsets)
        )


current = scene.current()
entry, other = current.sibling(current.entry.routing, decoder=True)
trace = current.trace(entry)

layout.headline(
    "Perturb",
    "A class capsule is <b>16 numbers</b>: not just that a digit is there, but how it is drawn. Move one, and the "
    "decoder shows what it stands for: slant, stroke, width …",
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
