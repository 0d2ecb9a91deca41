"""Mixtures: points in the plane shared out by EM, and the same points as votes under EM routing."""

from __future__ import annotations

import streamlit as st

from app import scene
from app.boards import mixtures
from app.components.mixture_board import show_mixture_board
from app.page import layout, takeaway
from app.page.widgets import chosen
from capsviz.analysis.mixtures import FLOOR
from capsviz.boards.mixture import mixture_board
from capsviz.data.points import DECIMALS, PRESETS

READINGS = {
    False: "Two half steps, over and over: <b>whose is each point</b> (E), and <b>where is each Gaussian</b> (M).",
    True: "The same half steps, but a parent <b>switches on</b> only where its votes lie close together.",
}


@st.fragment(key="mixture")
def mixture() -> None:
    """The board with all that depends on what lies there."""
    current = scene.current()
    laid = mixtures.laid(current.choices)
    layout.headline("Mixtures of Gaussians", READINGS[laid.votes])
    title = "Points as votes" if laid.votes else "A mixture of Gaussians"
    frame = current.choices.frame
    takeaway.offer("mixture", lambda: mixture_board(laid, title, dark=current.dark).standing(frame=frame), title)
    show_mixture_board(
        laid,
        frame=frame,
        dark=current.dark,
        key="mixture-board",
        on_laid=mixtures.left,
        on_frame=lambda frame: scene.keep("mixture", frame=frame),
    )
    chosen(
        st.toggle,
        "Hold the mixture against scikit-learn",
        "held",
        current.choices.held,
        then=["mixture"],
        help="GaussianMixture from the same start, on the points as they lie now.",
    )
    if current.choices.held:
        with layout.errors_as_sentences():
            st.markdown(mixtures.held(laid))


mixture()

rules = "; ".join(f"*{preset.title}*: {preset.rule}" for preset in PRESETS.values())
layout.explain(
    "**A mixture** explains every point by one of K Gaussians, and does not know by which. The **E-step** weighs, for "
    "each point, how likely each Gaussian is to have made it: the responsibilities r, which add up to 1 over the "
    "Gaussians. The **M-step** fits each Gaussian to the points, weighted by r. Neither half step lowers the "
    "log-likelihood: an E-step lifts a bound (dashed) up to it, an M-step lifts the bound and the log-likelihood with "
    f"it. To every variance the floor ε = {FLOOR:g} is added, the square of the points' precision: a Gaussian on a "
    "single point would otherwise become ever narrower, and the likelihood has no limit. The floor itself may cost an "
    "M-step a little. EM starts with equal round Gaussians (deviation 0.4) evenly on a circle of radius 0.5, which "
    "*Another start* turns by the golden angle.\n\n"
    "**As votes** the points are lower capsules' votes for K parents. In a network every parent gets its own vote "
    "V_ij = M_i W_ij, through its own matrix; here all get the same one, so that the picture stays. R begins with the "
    "mixture's first E-step. A network begins with R = 1 / J: its votes differ from parent to parent, and that tells "
    "the parents apart; votes that all share would leave them one and the same, as the button shows. Variances are "
    "diagonal (never below ε), each vote counts by its activation a_i, and in place of π stands the activation a_j. "
    "**λ** makes the logistic strict: high, and a_j is 0 or 1. **β_u** is what each vote received costs: high, and a "
    "parent is off unless its votes lie very close together. **β_a** is the cost up to which a parent is on. The data "
    "that a parent receives is measured as a share of an even split, as in the networks here, and λ rises from round "
    "to round: λ (1 − ½ᵗ).\n\n"
    f"**The points** are drawn by numpy's `default_rng(seed)`, cut at ±1 and rounded to {DECIMALS} decimals. {rules}.",
    r"\begin{aligned}\ell&=\sum_i\log\sum_k\pi_k\,\mathcal N(x_i;\mu_k,\Sigma_k)\;\ge\;"
    r"\sum_{ik}r_{ik}\log\frac{\pi_k\,\mathcal N(x_i;\mu_k,\Sigma_k)}{r_{ik}}\\"
    r"\mathrm{cost}_j^h&=(\beta_u+\log\sigma_j^h)\,\tfrac JN\sum_i R_{ij}a_i,\qquad "
    r"a_j=\operatorname{logistic}\!\Big(\lambda\big(\beta_a-\sum_h\mathrm{cost}_j^h\big)\Big)\end{aligned}",
    "*Encapsulating Capsule Networks*, equations 12 to 29; Dempster, Laird & Rubin, *Maximum Likelihood from "
    "Incomplete Data via the EM Algorithm*, 1977; Hinton, Sabour & Frosst, *Matrix Capsules with EM Routing*, 2018.",
)
