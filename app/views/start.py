"""Start: what a vote is and what agreement does, in one moving picture, and the ways on."""

from __future__ import annotations

import streamlit as st

from app import scene
from app.boards import toy
from app.comparing import this_image
from app.page import layout, navigation
from app.state import session

current = scene.current()
NUMERALS = {2: "two ", 3: "three ", 4: "four ", 5: "five ", 6: "six "}
try:
    METHODS, CONTESTED = len(this_image.methods(current)), this_image.contested(current)
except scene.SceneError:  # no model here takes the image on stage, as Compare says
    METHODS, CONTESTED = 0, None
WAYS: tuple[tuple[str, str, str, dict[str, object]], ...] = (
    # page, what one does there, what there is to be seen, and the choices that the link makes
    ("dynamic", "Watch it route", "one image, every vote, round by round", {"lab": "network"}),
    ("perturb", "Move a number", "of a capsule, and see what it draws", {}),
    (
        "compare",
        f"Compare {NUMERALS.get(METHODS, '')}algorithms",
        "on the same image" if CONTESTED is None else "on an image about which they disagree",
        {"view": "image"} if CONTESTED is None else {"view": "image", "image": CONTESTED, "only": None},
    ),
    ("tours", "Give a talk", "step by step, by one key", {}),
)


@st.fragment(key=toy.WAYS)
def ways() -> None:
    """Large links; all choices go along but where a player stands."""
    pages, now = navigation.named(), scene.choices()
    with st.container(key="ways"):
        layout.say(f"Now {current.entry.config.lower:,} of these.")
        for name, deed, sight, choices in WAYS:
            query = session.to_query(session.changed(now, frame=None, **choices))
            st.page_link(pages[name], label=f"**{deed}** :small[{sight}]", query_params=query, width="stretch")


with st.container(key="opening"):
    st.header("Parts vote, agreement decides", anchor=False)
    layout.say(
        "A <b>capsule</b> is a few neurons read as one arrow: its length says <b>whether</b> a thing is there, its "
        "direction <b>how</b> it looks. Five, each for a part of an image, <b>vote</b> on how either of two wholes, "
        "their <b>parents</b>, would look. Votes that <b>agree</b> add up, and that parent's own arrow <b>v</b> grows; "
        "votes that disagree cancel."
    )
picture, onward = st.columns([5, 2], gap="large", vertical_alignment="center")
with picture:
    toy.by_itself()
with onward:
    ways()
