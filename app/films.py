"""The films of the discriminative page: where they stand, and what a click on a capsule changes."""

from __future__ import annotations

import streamlit as st

from app import scene
from app.components.capsule_film import capsule_film
from capsviz.boards import Film
from capsviz.zoo import Entry


def selected(capsule: int | None) -> None:
    """Keep the capsule that was clicked; it concerns the film and the links, not the rest of the page."""
    scene.keep("film", capsule=capsule)


def left(frame: int | None) -> None:
    """Keep the frame at which the visitor left the player; as `selected`."""
    scene.keep("film", frame=frame)


@st.fragment(key="film")
def film(shown: Film, entry: Entry, key: str) -> None:
    """A film of a model's capsules, with its player; the selected capsule is that of all pages."""
    current = scene.current()
    capsule_film(
        shown,
        capsule=current.capsule(entry),
        frame=current.choices.frame,
        dark=current.dark,
        key=key,
        on_capsule=selected,
        on_frame=left,
    )
