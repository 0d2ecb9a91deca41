"""Dynamic routing: primary capsules vote, and turn to the classes that agree with them."""

from __future__ import annotations

import streamlit as st

from app import boards, layout, scene, toy
from app.choices import LABS
from app.widgets import chosen
from capsviz import measures
from capsviz.figures import couplings, flow

current = scene.current()
entry, other = current.sibling("dr")
trace = current.trace(entry, touched=True)

layout.headline(
    "Dynamic routing",
    "A few votes for two parents: round by round, a capsule turns to the parent that <b>agrees</b> with it."
    if current.choices.lab == "toy"
    else f"{entry.config.lower} small capsules vote for every class; round by round, they turn to the classes that "
    "<b>agree</b> with their vote.",
)
TITLES = {"network": "The network", "toy": "Two parents, by hand"}
chosen(
    st.segmented_control,
    "Laboratory",
    "lab",
    current.choices.lab,
    LABS,
    format_func=TITLES.get,
    required=True,
    label_visibility="collapsed",
)
layout.note(other)
layout.strip(trace, "routing", current.dark)
if current.choices.lab == "toy":
    toy.toy()
else:
    upper = boards.pickers(current, entry, trace)
    boards.show("dr")
    boards.answer(current, entry)

    summary = measures.summarise(trace)
    layout.numbers(
        {
            "Predicted": trace.classes[summary.predicted],
            "Length ‖v‖, first → last": f"{summary.first_activation:.2f} → {summary.activation:.2f}",
            "Runner-up": f"{trace.classes[summary.runner_up]} ({summary.runner_up_activation:.2f})",
            "Largest coupling, first → last": f"{summary.largest_share[0]:.2f} → {summary.largest_share[-1]:.2f}",
        }
    )

    left, right = st.columns(2)
    with left:
        st.subheader("Length of every class capsule", anchor=False)
        layout.show(couplings.lengths_over_iterations(trace, dark=current.dark), "lengths")
    with right:
        st.subheader("Indecision of the primary capsules", anchor=False)
        layout.show(couplings.coupling_entropy(trace, dark=current.dark), "entropy")

    st.subheader("Which types of capsules speak for which class", anchor=False)
    layout.show(flow.type_flow(trace, dark=current.dark), "flow")

layout.explain(
    "A primary capsule *i* predicts the pose of every class capsule *j*: its vote û. All logits *b* start at zero, so "
    "each capsule shares itself out equally (maximum confusion). The class capsule is the squashed sum of the votes, "
    "weighted by the couplings *c*; each vote's inner product with it, the **agreement**, is added to its logit. The "
    "softmax runs over the classes: what a capsule gives to one it takes from the others. The length of *v* is the "
    "probability that the class is there.",
    r"c_{i\cdot}=\operatorname{softmax}_j(b_{i\cdot}),\quad s_j=\sum_i c_{ij}\,\hat u_{ij},\quad "
    r"v_j=\frac{\|s_j\|^2}{1+\|s_j\|^2}\frac{s_j}{\|s_j\|},\quad b_{ij}\leftarrow b_{ij}+\hat u_{ij}\cdot v_j",
    "Sabour, Frosst & Hinton, *Dynamic Routing Between Capsules*, 2017; seed 000, and seed 002, equations 7 to 11.",
)
