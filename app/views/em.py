"""EM routing: every class capsule is a Gaussian, fitted to the votes that it is responsible for."""

from __future__ import annotations

import streamlit as st

from app import boards, layout, scene
from capsviz import measures
from capsviz.figures import flow

current = scene.current()
entry, other = current.sibling("em")
whole = current.trace(entry, touched=True)

layout.headline(
    "EM routing",
    "Every class capsule is a <b>Gaussian</b> over the votes: it claims those that lie close together, and tightens.",
)
layout.note(other)
layout.strip(whole, "routing", current.dark)

trace = layout.layer_picker(current, whole)
summary = measures.summarise(trace)
upper = boards.pickers(current, entry, trace)
boards.show("em")
boards.answer(current, entry)

spread, steps = measures.gaussian_summary(trace, upper), trace.layer.iterations
layout.numbers(
    {
        "Most active" if trace.kind == "type" else "Predicted": f"{trace.classes[summary.predicted]} "
        f"(a = {summary.activation:.2f})",
        f"Spread σ of {trace.called(upper)}": f"{spread.deviation[0]:.2f} → {spread.deviation[-1]:.2f}",
        f"Cost of {trace.called(upper)}": f"{spread.cost[0]:.2f} → {spread.cost[-1]:.2f}".replace("-", "−"),
        f"Indecision of R, M-step 1 → {steps}": f"{summary.entropy[0]:.1%} → {summary.entropy[-1]:.1%}",
    }
)

st.subheader(f"Which types of capsules speak for which {trace.kind}", anchor=False)
layout.show(flow.type_flow(trace, dark=current.dark), "flow")

layout.explain(
    "Poses are 4 × 4 matrices, votes are poses times a learned matrix. The **M-step** fits each class's Gaussian to "
    "the votes, weighted by the responsibilities *R*: a narrow Gaussian is cheap to describe, and a low cost switches "
    "the class on. The **E-step** gives each vote to the classes whose Gaussian explains it: the *R* of the next "
    "M-step. Every picture here shows the *R* of an M-step, in the end of the last: it made the class's μ and *a*, "
    "and no E-step follows in the network, since nothing would use it. The inverse temperature λ rises from round to "
    "round, so the decision hardens.",
    r"\mu_j^h=\frac{\sum_i R_{ij}V_{ij}^h}{\sum_i R_{ij}},\quad "
    r"\mathrm{cost}_j^h=(\beta_u+\log\sigma_j^h)\sum_i R_{ij},\quad "
    r"a_j=\operatorname{logistic}\!\Big(\lambda\big(\beta_a-\sum_h\mathrm{cost}_j^h\big)\Big),\quad "
    r"R_{ij}\propto a_j\,\mathcal N(V_{ij};\mu_j,\sigma_j^2)",
    "Hinton, Sabour & Frosst, *Matrix Capsules with EM Routing*, 2018; seed 002, equations 20 to 29.",
)
