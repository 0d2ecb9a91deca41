"""A page with nothing but the live decoder and what Python heard of it.

One decoder, of the model that `?model` names, or four: `?several` of the zoo, `?several=paper` of the paper's size.
"""

from __future__ import annotations

import streamlit as st
import torch

from app.components.live_decoder import live_decoder, pack_weights
from capsviz import zoo
from capsviz.network import CapsNet, preset

st.set_page_config(layout="wide")
ROUTINGS = ("dr", "em", "l2", "l1")


@st.cache_resource
def decoder(name: str) -> bytes:
    """Weights of the zoo, or untrained ones of the paper's decoder: only their number matters to the clock."""
    if name not in ROUTINGS:
        return pack_weights(zoo.load(name))
    torch.manual_seed(ROUTINGS.index(name))
    return pack_weights(CapsNet(preset("paper", "mnist", name)))


st.session_state["runs"] = st.session_state.get("runs", 0) + 1
several = st.query_params.get("several")
if several is None:
    names = {"DR": st.query_params.get("model", "digits-dr")}
else:
    names = {name.upper(): name if several == "paper" else f"digits-{name}" for name in ROUTINGS}
poses = {title: zoo.exemplars("digits-dr" if name in ROUTINGS else name)[:, 0] for title, name in names.items()}
upper = st.sidebar.selectbox("Class", range(10), index=3, key="upper")
wide = st.sidebar.toggle("Wide", key="wide")
kept = st.session_state.get("kept", (0.0,) * 16)
if st.sidebar.button("From Python"):
    kept = st.session_state["kept"] = (0.0,) * 15 + (0.2,)
heard = None
if st.sidebar.toggle("Shown", value=True):
    heard = live_decoder(
        {title: decoder(name) for title, name in names.items()},
        poses,
        upper,
        kept,
        wide=wide,
        key="live",
        on_change=lambda offsets: st.session_state.update(kept=offsets),
    )
st.text(f"heard {heard} kept {st.session_state.get('kept')} in run {st.session_state['runs']}")
