"""Training: a small network learns the digits in front of the visitor, and is theirs afterwards."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app import scene
from app.page import layout, navigation, takeaway
from app.page.text import plain
from app.page.widgets import segments
from app.shared import own_models, resources
from app.sidebar import own_files
from app.state import session
from app.training import display, trainings
from app.training.trainings import CONFIGS, Training, TrainingError
from capsviz.routing import ALGORITHMS
from capsviz.training.losses import RECONSTRUCTION_WEIGHT

PLACE, PROBLEM, TAKEN = "training", "training-problem", "training-taken"
EVERY = 2.0  # seconds after which the page looks again


def begin() -> None:
    """Begin a training for this visitor, or keep why it has to wait."""
    context = get_script_run_ctx()
    assert context is not None
    session.say(PROBLEM, "")
    try:
        st.session_state[PLACE] = trainings.server.begin(context.session_id, scene.choices().trained)
    except TrainingError as error:
        session.say(PROBLEM, str(error))


def controls(training: Training | None) -> None:
    """The algorithm, and the button that begins or ends."""
    busy = training is not None and not training.over
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    with left:
        segments(
            "Algorithm of the network",
            "trained",
            training.config.routing if training and busy else scene.current().choices.trained,
            {name: ALGORITHMS[name].title for name in CONFIGS},
            key="train",
            disabled=busy,
        )
    with right:
        if training and busy:
            st.button("Stop", icon=":material/stop:", key="stop", on_click=training.stop, disabled=training.stopping)
        else:
            st.button("Train", icon=":material/play_arrow:", key="begin_training", type="primary", on_click=begin)


def under_way(training: Training) -> None:
    """What is seen of a training while it runs; once it is over, the whole page anew."""
    if training.over:
        st.rerun()
    current = scene.current()
    with layout.errors_as_sentences():
        display.bar(training.progress(), stopping=training.stopping)
        display.show(current, training, display.seen(current, training), "the last checkpoint")


def arrived(training: Training) -> None:
    """Make a model that is ready one of the visitor's own, once: they may remove it."""
    if training.content and st.session_state.get(TAKEN) is not training:
        receive = partial(own_models.receive, training.file, training.content)
        _, choices = own_files.received(lambda now: receive(now.models))
        session.update(choices)
        st.session_state[TAKEN] = training


def ended(training: Training) -> None:
    """What a training has left."""
    current = scene.current()
    name = training.file
    if training.said:
        st.warning(training.said, icon=":material/info:")
    elif not own_models.holds(name, training.content):
        if st.session_state.get(TAKEN) is training:  # else it was refused, as is said above
            removed = f"{plain(name)} was removed from this session; train again to have it back."
            st.info(removed, icon=":material/info:")
    else:
        entry = resources.entries()[name]
        page = navigation.named()[entry.config.algorithm.page]
        query = session.to_query(display.opened(current, name))
        st.success(
            f"The model is yours for this session: **{plain(name)}**, wrong on {entry.test_error:.2f} % of "
            f"{entry.test_count:,} test images; every page can show it.",
            icon=":material/check:",
        )
        st.page_link(
            page,
            label=f"Open it on the page {page.title}",
            query_params=query,
            icon=":material/arrow_forward:",
        )
        display.show(current, training, display.finished(current, name), "the trained network")
        return
    display.curves(current, training)


layout.headline(
    "Training",
    "A network begins with random numbers and <b>learns the ten digits</b> in front of you: what it draws, and whom it "
    "believes.",
)
takeaway.of_many()
now: Training | None = st.session_state.get(PLACE)
if now is not None and now.over:
    with layout.errors_as_sentences():
        arrived(now)
with st.container(key="training_controls"):
    controls(now)
display.note(scene.current())
if problem := session.said(PROBLEM):
    st.warning(problem, icon=":material/hourglass:")
if now is None:
    display.before(scene.current())
elif now.over:
    ended(now)
else:
    st.fragment(under_way, run_every=EVERY)(now)

layout.explain(
    "Each step shows the network a few images and moves its weights a little so that the loss falls: the loss on the "
    "classes, and a small part of how far the drawing is from the image. After each epoch, once through all training "
    "images, it is asked for images that it does not learn from: that is the **validation error**. L2 and L1 learn "
    "their coefficients b beside the weights, by steps of ascent; the other algorithms learn no couplings, which form "
    "anew for every image, from the votes that the weights cast. Training goes on while you look at other pages, and "
    "ends when you close this one.",
    r"L = L_\text{classes} + " + f"{RECONSTRUCTION_WEIGHT:g}" + r"\,\lVert x - \hat x\rVert^2",
    "Sabour, Frosst & Hinton 2017, section 4; Yang, Li & Yu 2021, Algorithm 1, for b.",
)
