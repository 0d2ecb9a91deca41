"""A page with nothing but maps of an ascent on the digits, or of b as it is (`?still`), and what Python heard."""

from __future__ import annotations

import streamlit as st

from app.components.capsule_maps import capsule_maps
from capsviz import data, trace, zoo
from capsviz.analysis import ascent
from capsviz.boards import CapsuleMaps, ascent_maps, coefficient_maps
from capsviz.figures.geometry import Geometry

st.set_page_config(layout="wide")
CLASS, STEPS = 3, 12


def shown(still: bool) -> CapsuleMaps:
    """The maps that the tests rebuild."""
    model, train = zoo.load("digits-l2"), data.load("digits", "train")
    images, names = data.to_float(train.images[:16]), tuple(str(number) for number in range(10))
    if still:
        return coefficient_maps(trace(model, images[:1]), upper=CLASS)
    fixed = ascent.fix(model, images, train.labels[:16])
    start = ascent.starting_point(model, "fresh")
    record = ascent.climb(fixed, start, step=0.05, regularisation=0.001, penalty="l2", steps=STEPS)
    return ascent_maps(record, Geometry(*model.config.grid), upper=CLASS, classes=names)


if __name__ == "__main__":
    capsule_maps(
        shown("still" in st.query_params),
        capsule=st.session_state.get("capsule"),
        frame=st.session_state.get("frame"),
        dark=st.context.theme.type == "dark",
        key="maps",
        on_capsule=lambda capsule: st.session_state.update(capsule=capsule),
        on_frame=lambda frame: st.session_state.update(frame=frame),
    )
    st.text(f"heard {st.session_state.get('capsule')}")
