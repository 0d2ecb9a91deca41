"""The routing boards of the dynamic routing and EM pages: what is on them, and what a visitor's action changes."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app import resources, scene, session
from app.components.routing_board import routing_board
from capsviz.figures import dynamic, em
from capsviz.figures.describe import describe
from capsviz.figures.stage import stage


def acted(changes: dict[str, Any]) -> None:
    """Keep what the visitor chose on a board; a capsule alone concerns the board and the links, the rest the page."""
    session.update(session.parse(st.query_params, scene.catalogue())[0], **changes)
    if set(changes) == {"capsule"}:
        st.rerun(["links", "board"])


@st.fragment(key="board")
def board(routing: str) -> None:
    """The board of the image on stage under a routing, "dr" or "em"."""
    current = scene.current()
    entry, _ = current.sibling(routing)
    trace, touched = current.trace(entry, touched=True), current.intervention(entry)
    upper = current.upper(trace)
    player = dynamic.routing_player if routing == "dr" else em.em_player
    routing_board(
        stage(trace, upper=upper, base=current.trace(entry) if touched else None, dark=current.dark),
        capsule=current.capsule(entry),
        key=f"board-{routing}",
        alt=describe(player(trace, upper=upper, dark=current.dark)),
        more=resources.em_threshold(entry.name) if routing == "em" else None,
        touched=touched,
        on_action=acted,
    )
