"""A page with nothing but the toy and what Python heard of it."""

from __future__ import annotations

import streamlit as st

from app.boards.toy import presets
from app.components.routing_toy import nested, routing_toy, toy_message

st.set_page_config(layout="wide")
known = presets()
votes = st.session_state.get("kept") or next(iter(known.values()))["votes"]
message = toy_message(
    nested(votes) if isinstance(votes, tuple) else votes,
    st.session_state.get("iterations", 3),
    known,
    most=10,
    frame=st.session_state.get("frame"),
    dark=st.context.theme.type == "dark",
)
routing_toy(
    message,
    key="toy",
    on_votes=lambda votes: st.session_state.update(kept=votes),
    on_iterations=lambda iterations: st.session_state.update(iterations=iterations),
    on_frame=lambda frame: st.session_state.update(frame=frame),
)
st.text(f"heard {st.session_state.get('kept')} T {st.session_state.get('iterations')}")
