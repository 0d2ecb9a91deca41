"""A page with nothing but the live decoder and what Python heard of it.

One decoder, of the model that `?model` names, or four: `?several` of the zoo, `?several=paper` of the paper's size;
`?hand=cells` or `?hand=walk` instead of sliders, `?to=8,2` for the walk's end, `?unmeasured` without means,
`?worded` with a word for one number.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
import torch

from app.components.live_decoder import live_decoder
from capsviz import zoo
from capsviz.analysis.predictions import recorded
from capsviz.boards import Left, decoder_message, pack_weights
from capsviz.network import CapsNet, preset

st.set_page_config(layout="wide")
ROUTINGS = ("dr", "em", "l2", "l1")


@st.cache_resource
def decoder(name: str, measured: bool) -> bytes:
    """Weights of the zoo, or untrained ones of the paper's decoder: only their number matters to the clock."""
    source = "digits-dr" if name in ROUTINGS else name
    if name not in ROUTINGS:
        model = zoo.load(name)
    else:
        torch.manual_seed(ROUTINGS.index(name))
        model = CapsNet(preset("paper", "mnist", name))
    means = recorded(zoo.entry(source)).class_means(10) if measured else None
    return pack_weights(model, zoo.exemplar_capsules(source), zoo.capsule_spread(source), means)


st.session_state["runs"] = st.session_state.get("runs", 0) + 1
several = st.query_params.get("several")
if several is None:
    names = {"DR": st.query_params.get("model", "digits-dr")}
else:
    names = {name.upper(): name if several == "paper" else f"digits-{name}" for name in ROUTINGS}
poses = {title: zoo.exemplar_capsules("digits-dr" if name in ROUTINGS else name)[:, 0] for title, name in names.items()}
upper = st.sidebar.selectbox("Class", range(10), index=3, key="upper")
wide = st.sidebar.toggle("Wide", key="wide")
label, exemplar = (int(number) for number in st.query_params.get("to", "8,2").split(","))
kept = st.session_state.get("kept", Left(upper, (0.0,) * 16, to=(label, exemplar)))
if st.session_state.get("picked", upper) != upper:
    kept = st.session_state["kept"] = replace(kept, upper=upper)
st.session_state["picked"] = upper
if st.sidebar.button("From Python"):
    kept = st.session_state["kept"] = replace(kept, offsets=(0.0,) * 15 + (0.2,))
if st.sidebar.toggle("Shown", value=True):
    decoders = {title: decoder(name, "unmeasured" not in st.query_params) for title, name in names.items()}
    message = decoder_message(
        decoders,
        poses,
        kept,
        wide=wide,
        hand=st.query_params.get("hand", "sliders"),
        labels=[["", "slant"] + [""] * 14 for _ in range(10)] if "worded" in st.query_params else [],
        dark=st.context.theme.type == "dark",
    )
    live_decoder(message, decoders, key="live", on_change=lambda left: st.session_state.update(kept=left, heard=left))
heard = st.session_state.pop("heard", None)
kept = st.session_state.get("kept")
st.text(f"heard {heard and heard.offsets} kept {kept and kept.offsets} in run {st.session_state['runs']}")
if kept:
    st.text(f"class {kept.upper} to {kept.to} share {kept.share} sphere {kept.sphere}")
