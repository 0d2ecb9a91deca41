"""Basics: the parts of a capsule network one at a time, in the hand and on the image on stage."""

from __future__ import annotations

import streamlit as st

from app import scene
from app.boards import exhibits
from app.page import layout
from app.page.widgets import segments

TITLES = {"squash": "Squash", "loss": "Margin loss", "parts": "Part and whole"}
SENTENCES = {
    "squash": "<b>Squash</b> turns a length into a probability: short vectors vanish, long ones end just below 1, "
    "and the direction stays.",
    "loss": "The <b>margin loss</b> wants the class that is there longer than m⁺ and, times λ, all others shorter than "
    "m⁻; then it lets go.",
    "parts": "A <b>whole</b> is made of the <b>parts</b> whose votes agree with it. A line is as wide as what a vote "
    "adds to the length of the class capsule; a dotted one takes away.",
}
SHOWN = {"squash": exhibits.squash, "loss": exhibits.loss, "parts": exhibits.parts}
EXPLAINED = {
    "squash": (
        "The class capsule s is a weighted sum of votes and may have any length; squash shrinks it below 1 along its "
        "own direction, so that its length can be read as the probability that the class is there. Near 0 the "
        "length is squared, so that weak evidence nearly vanishes; a long s comes to 1 − 1/(1 + ‖s‖²).",
        r"v=\frac{\lVert s\rVert^2}{1+\lVert s\rVert^2}\,\frac{s}{\lVert s\rVert}",
        "Sabour, Frosst & Hinton, *Dynamic Routing Between Capsules*, 2017, equation 1; *Encapsulating Capsule "
        "Networks*, equation 10.",
    ),
    "loss": (
        "Every class has a loss of its own, so that an image may show several. An absent class counts λ = 0.5 (the "
        "papers call EM's inverse temperature and the penalty of L2 and L1 λ as well): most classes are absent, and at "
        "the start they would else shrink all capsules. An arrow points against the "
        "gradient: where training would push the length, as far as the gradient is large.",
        r"L_k=T_k\max(0,\,m^+-\lVert v_k\rVert)^2+\lambda\,(1-T_k)\max(0,\,\lVert v_k\rVert-m^-)^2",
        "Sabour, Frosst & Hinton, *Dynamic Routing Between Capsules*, 2017, equation 4; the spread loss: Hinton, "
        "Sabour & Frosst, *Matrix Capsules with EM Routing*, 2018, equation 3.",
    ),
    "parts": (
        "Routing picks for every part the wholes that it belongs to, so that the active capsules of an image form a "
        "parse tree. Below each class capsule that the network names, and the strongest other one, stand the primary "
        "capsules that give most to it: what they see, as the boxes on the image show, and the most that they add to "
        "one ‖s‖, that of the class in whose colour the box is drawn.",
        r"\lVert s_j\rVert=\sum_i c_{ij}\,\hat u_{j|i}\cdot\frac{s_j}{\lVert s_j\rVert}",
        "Sabour, Frosst & Hinton, *Dynamic Routing Between Capsules*, 2017, introduction and equation 2; under L2 and "
        "L1 b takes the place of c (Yang, Li & Yu 2021, equation 6).",
    ),
}


@st.fragment(key=exhibits.FRAGMENT)
def exhibit() -> None:
    """The chosen exhibit, which runs again alone where only it has changed."""
    with layout.errors_as_sentences():
        current = scene.current()
        SHOWN[current.choices.exhibit](current)


current = scene.current()
which = current.choices.exhibit
layout.headline("Basics", SENTENCES[which])
segments("Exhibit", "exhibit", which, TITLES, bare=True)
exhibit()
layout.explain(*EXPLAINED[which])
