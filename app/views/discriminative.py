"""L2 and L1: couplings learned once, signed by the label, instead of negotiated for every image."""

from __future__ import annotations

import streamlit as st

from app import layout, scene
from capsviz import measures
from capsviz.figures import discriminative
from capsviz.network import ROUTING_TITLES
from capsviz.routing.discriminative import sparsity

current = scene.current()
own = current.entry.routing if current.entry.routing in ("l2", "l1") else "l2"
penalty = current.choices.penalty or own
entry, other = current.sibling(penalty)
trace = current.trace(entry)
summary = measures.summarise(trace)
dynamic_entry, _ = current.sibling("dr", of=entry)
dynamic_trace = current.trace(dynamic_entry)

layout.headline(
    "L2 / L1: discriminative routing",
    "No rounds: one learned coefficient <b>b</b> per capsule pair, free to be <b>negative</b>. A feature may speak "
    "against a class.",
)
layout.note(other)
layout.strip(trace, "routing", current.dark)

left, right = st.columns([3, 1], vertical_alignment="bottom")
with left:
    upper = layout.class_picker(current, trace)
with right:
    layout.chosen(
        st.segmented_control, "Penalty", "penalty", penalty, ["l2", "l1"], format_func=ROUTING_TITLES.get, required=True
    )

coefficients = trace.layer["coefficients"][0]
name = trace.classes[upper]
share, signs = sparsity(coefficients[:, upper]), measures.sign_counts(coefficients[:, upper])
st.subheader(f"b of class {name}, over the primary capsules", anchor=False)
layout.show(discriminative.coefficient_map(coefficients, trace.grid, upper=upper, dark=current.dark), "map")

layout.numbers(
    {
        "Predicted, from one pass": f"{trace.classes[summary.predicted]} (‖v‖ = {summary.activation:.2f})",
        f"b against class {name}": f"{signs.negative} of {signs.total}",
        "Exact zeros": f"{share.exact:.1%}",
        "Near zeros, |b| < 0.001 max |b|": f"{share.near:.1%}",
    }
)

st.subheader("How b is spread, and its signs class by class", anchor=False)
layout.show(discriminative.coefficient_histogram(coefficients, dark=current.dark, classes=trace.classes), "histogram")

st.subheader("The same agreement, kept or spent", anchor=False)
layout.say(
    "<b>û · s is the very agreement that dynamic routing adds to its logits</b>, here signed by "
    "the label, averaged over a batch and kept."
)
truth = current.picture.label if current.picture.label is not None and trace.classes == current.entry.classes else None
label = summary.predicted if truth is None else truth
st.caption(
    f"Sign δ: +1 for {trace.classes[label]}, "
    + ("the label of this image" if truth is not None else "the predicted class, because this image has no label here")
    + f"; −1 for the others. Left {entry.name}, right {dynamic_entry.name}."
)
layout.show(
    discriminative.agreement_side_by_side(
        trace, dynamic_trace, upper=upper, signs=measures.label_signs([label], len(trace.classes)), dark=current.dark
    ),
    "agreement",
)

layout.explain(
    "The class capsule is a sum of votes with fixed coefficients. They climb the objective that asks for long capsules "
    "where the label says so (δ = +1) and short ones elsewhere (δ = −1), less a penalty on *b*. One ascent step per "
    "training step alternates with the margin loss on the weights. There is no softmax, so *b* may be negative, and at "
    "inference no loop. The L1 penalty pulls coefficients to zero; its subgradient never lands there exactly, which is "
    "why near zeros are counted too.",
    r"s_j=\sum_i b_{ij}\hat u_{ij},\quad O_j=\sum_k\delta_{jk}\|s_{jk}\|^2-\lambda\|b_j\|,\quad "
    r"g_{ij}=\sum_k\delta_{jk}\,\hat u_{ijk}\cdot s_{jk},\quad "
    r"b_{ij}\leftarrow b_{ij}+2\gamma\,\big(g_{ij}-\tfrac{\lambda}{2}b_{ij}\big)\ \text{or}\ "
    r"b_{ij}+2\gamma\,\big(g_{ij}-\lambda\operatorname{sign} b_{ij}\big)",
    "seed 003, equations 5 to 15 and Algorithm 1.",
)
