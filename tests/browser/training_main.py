"""The app as app/main.py serves it, whose trainings on the page Training go through the images twice and no more."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app import main
from app.training import trainings
from capsviz.training.config import TrainingConfig

EPOCHS = 2


def shortened(config: TrainingConfig) -> TrainingConfig:
    """The same recipe with fewer steps."""
    return replace(config, epochs=EPOCHS)


trainings.server = trainings.Trainings(adapt=shortened)
app = st.App(main.ROOT / "app" / "script.py", **main.SERVED)
