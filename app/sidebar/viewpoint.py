"""The viewpoint of the image on stage, by sliders in the sidebar."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app import scene
from app.page.widgets import chosen
from app.scene import Scene
from app.state.choices import Choices
from capsviz.data.viewpoint import CHANGES, Change, Viewpoint

_OPEN = "viewpoint-open"


def sliders(current: Scene) -> None:
    """A slider for each change, folded away until the visitor or a link wants it, and the way back."""
    # Said once for the session: a panel that folds itself at the last step back to neutral would leave the hand.
    opened = st.session_state.setdefault(_OPEN, bool(current.choices.viewpoint))
    with st.expander("Viewpoint", icon=":material/3d_rotation:", key="viewpoint", expanded=opened):
        for change in CHANGES.values():
            _slider(current, change)
        st.button(
            "As it is",
            icon=":material/restart_alt:",
            key="viewpoint_reset",
            on_click=lambda: scene.keep(viewpoint=Viewpoint()),
            disabled=not current.choices.viewpoint,
            help="Back to the image as it is.",
            width="stretch",
        )


def _slider(current: Scene, change: Change) -> None:
    def read(amount: float, choices: Choices) -> dict[str, object]:
        return {"viewpoint": replace(choices.viewpoint, **{change.name: float(amount)})}

    chosen(
        st.slider,
        change.title,
        "viewpoint",
        getattr(current.choices.viewpoint, change.name),
        change.low,
        change.high,
        key=f"viewpoint_{change.name}",
        step=change.step,
        format="%g" if change.unit == "×" else f"%g{'' if change.unit == '°' else ' '}{change.unit}",
        read=read,
        help=change.does,
    )
