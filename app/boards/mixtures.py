"""The mixture of the link: what is laid on its board, and how scikit-learn answers to it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise

import sklearn
import streamlit as st

from app import scene
from app.state.choices import Choices
from capsviz.analysis.mixtures import begin, half_steps, off_scikit_learn
from capsviz.boards.mixture import FRAMES, ROUNDS, Laid
from capsviz.data.points import PRESETS

OWN_TEMPERATURE = Laid.temperature
ROUNDING = 1e-9
"""A log-likelihood that falls by less has not fallen."""


def laid(choices: Choices) -> Laid:
    """What the choices say lies on the board; a point that is not there is none."""
    found = Laid(
        preset=choices.preset,
        seed=choices.seed,
        points=choices.points,
        gaussians=choices.gaussians or PRESETS[choices.preset].gaussians,
        covariance="diag" if choices.covariance == "diag" else "full",
        turn=choices.turn,
        votes=choices.voting,
        temperature=choices.temperature or OWN_TEMPERATURE,
        beta_u=choices.beta_u,
        beta_a=choices.beta_a,
        even=choices.even,
        point=choices.point,
    )
    missing = found.point is not None and found.point >= len(found.tensor())
    return replace(found, point=None) if missing else found


def left(now: Laid) -> None:
    """Keep what the visitor left; it concerns the mixture and the links, not the rest of the page."""
    own, before = now.gaussians == PRESETS[now.preset].gaussians, scene.choices()
    # λ is one choice with that of EM's page, where another value is a network's own: what was not moved here stays.
    mine = None if now.temperature == OWN_TEMPERATURE else now.temperature
    kept = before.temperature if laid(before).temperature == now.temperature else mine
    scene.keep(
        "mixture",
        preset=now.preset,
        seed=now.seed,
        points=now.points,
        gaussians=None if own else now.gaussians,
        covariance=now.covariance,
        turn=now.turn,
        voting=now.votes,
        temperature=kept,
        beta_u=now.beta_u,
        beta_a=now.beta_a,
        even=now.even,
        point=now.point,
    )


@st.cache_data(show_spinner="Asking scikit-learn …", max_entries=32)
def held(now: Laid) -> str:
    """How scikit-learn answers to the points that are laid, in Markdown. Raises MixtureError."""
    points, start = now.tensor()[:, :2], begin(now.gaussians, now.turn)
    most = max(off_scikit_learn(points, start, ROUNDS, now.covariance))
    steps = islice(half_steps(points, start, now.covariance), FRAMES)
    falls = [before.log_likelihood - after.log_likelihood for before, after in pairwise(steps)]
    fallen = [fall for fall in falls if fall > ROUNDING]
    return (
        f"**scikit-learn {sklearn.__version__}**, from the same start and with the same floor (`reg_covar`), fitted "
        f"anew with 1, 2, … {ROUNDS} iterations: no weight, mean, covariance or log-likelihood per point differs from "
        f"ours by more than **{most:.1e}**. "
        + (
            f"The log-likelihood fell in {len(fallen)} of {ROUNDS} M-steps, by {max(fallen):.1e} at most: what the "
            "floor costs."
            if fallen
            else "The log-likelihood fell in no half step."
        )
    )
