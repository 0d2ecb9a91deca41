"""Classified right, drawn wrong: seed 003, Figure 2, over the whole test set."""

from __future__ import annotations

import streamlit as st
import torch

from app import images, layout, resources
from app.comparing import methods
from app.scene import Scene
from app.widgets import chosen
from capsviz import differences
from capsviz.data import ImageSet
from capsviz.figures.blocks import image_blocks
from capsviz.figures.network import Stage
from capsviz.measured import Measured

HEADLINE = (
    "A capsule can be <b>right without being drawable</b>: read rightly by its network, read wrongly once it is drawn."
)
SUBJECT: Stage = "reconstruction"
EXAMPLES = {"wrong": 25, "first": 100}
"""As many as show well; the paper shows 100."""
_SAMPLES = {"wrong": "Drawn wrong first", "first": "The first 100, as in the paper"}


def show(current: Scene) -> None:
    """What is looked at, its count, and the figure."""
    records = {name: record for name, record in methods.records(current).items() if record.reread is not None}
    if not records:
        raise methods.NothingMeasured(
            f"No decoder of {images.title_of(current.entry.data)} draws the capsules of any model here; "
            f"`capsviz train --data {current.entry.data} --routing dr` trains one."
        )
    called = methods.titles(records)
    strangers = [name for name, record in records.items() if not record.reconstructs]
    likely = [current.entry.name, *(name for name in strangers if called[name].startswith("L2")), *strangers]
    first = next((name for name in likely if name in strangers), next(iter(records)))
    method = current.choices.method if current.choices.method in records else first
    chosen(
        st.segmented_control, "Capsules of · classified right, drawn wrong", "method", method,
        [*strangers, *(name for name in records if name not in strangers)], required=True,
        format_func=lambda name: f"{called[name]} · {int(records[name].drawn_wrong.sum())}",
    )  # fmt: skip
    layout.say(_sentence(records[method], called[method]))
    chosen(
        st.segmented_control, "Images", "sample", current.choices.sample, list(_SAMPLES), format_func=_SAMPLES.get,
        required=True, label_visibility="collapsed",
    )  # fmt: skip
    _figure(current, records, method, called[method], methods.test_images(current))


def _sentence(record: Measured, called: str) -> str:
    """The count in words, with what the drawing model makes of its own drawings beside it."""
    kind, right, wrong = images.title_of(record.data), int(record.right.sum()), int(record.drawn_wrong.sum())
    opening = f"<b>{called}</b> names {right} of {len(record)} {kind} test images rightly. "
    if record.reconstructs:
        return opening + f"Of its own reconstructions of these, <b>{wrong}</b> read to it as another class (framed)."
    own = resources.measured(record.drawn_by)
    return (
        opening
        + f"It was trained without a decoder; drawn by the decoder of <b>{record.drawn_by}</b>, which never met "
        f"its capsules, <b>{wrong}</b> of these read as another class (framed); of {record.drawn_by}'s own "
        f"reconstructions, {int(own.drawn_wrong.sum())} do."
    )


def _figure(current: Scene, records: dict[str, Measured], method: str, called: str, test: ImageSet | None) -> None:
    record, sample, classes = records[method], current.choices.sample, current.entry.classes
    which = differences.classified_right(record, EXAMPLES[sample], wrong_first=sample == "wrong")
    if not len(which):
        return
    blocks: dict[str, torch.Tensor] = {} if test is None else {"(a) input": methods.pixels(test, which)}
    drawer = methods.title(resources.measurable()[record.drawn_by])
    if not record.reconstructs:
        blocks[f"(b) {drawer}, reconstructed"] = resources.drawn(record.drawn_by, which)
    decoder = "its own decoder" if record.reconstructs else f"the decoder of {drawer}"
    blocks[f"({'abc'[len(blocks)]}) {called} capsules, drawn by {decoder}"] = resources.drawn(method, which)
    assert record.reread is not None  # records without it are not offered
    texts = [
        f"image {number} is named {classes[named]}, its drawing reads as {classes[again]}"
        for number, named, again in zip(
            which.tolist(), record.predicted[which].tolist(), record.reread[which].tolist(), strict=True
        )
    ]
    wrong = record.drawn_wrong[which].tolist()
    figure = image_blocks(blocks, texts, wrong=wrong, chosen=which.tolist(), dark=current.dark)
    layout.show(
        figure,
        f"wrong-{current.choices.image}",
        choose=methods.put_on_stage if test else None,
        height=layout.BELOW_STRIP,
    )
