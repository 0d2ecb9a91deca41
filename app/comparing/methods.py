"""The models of one data set beside one another, and their records over its test set."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable

import streamlit as st
import torch

from app import scene
from app.page.text import plain
from app.scene import Scene
from app.shared import own_models, resources
from app.sources import browsing, images
from app.state import session
from capsviz import data, zoo
from capsviz.analysis.predictions import Predictions, PredictionsError
from capsviz.data import ImageSet, MultiDigits
from capsviz.errors import CapsvizError
from capsviz.network import METHODS
from capsviz.zoo import AtStep, Entry

TestImages = ImageSet | MultiDigits


class NothingMeasured(CapsvizError):
    """No model of the data set has a record that suits the view."""


def titles(names: Iterable[str], form: Callable[[Entry], str] = resources.kind) -> dict[str, str]:
    """Titles by the models' names; the preset, or else the name, is said where two would be called alike."""
    entries = [resources.all_entries()[name] for name in names]
    return {entry.name: called for entry, called in zip(entries, zoo.told_apart(entries, form), strict=True)}


def colours(names: Iterable[str]) -> dict[str, str]:
    """The colour of each method's routing, by its title."""
    return {
        called: colour
        for name, called in titles(names).items()
        if (colour := resources.all_entries()[name].method.colour)
    }


def records(current: Scene, *, drawing: bool = False) -> dict[str, Predictions]:
    """The records of the chosen model's data set, by model, in the order of all pages.

    drawing: only models that reconstruct. Raises NothingMeasured where there is none.
    """
    found: dict[str, Predictions] = {}
    missing: list[str] = []
    for entry in sorted((e for e in _trained().values() if resources.comparable(e, current.entry)), key=_place):
        try:
            record = resources.predictions(entry.name)
        except PredictionsError:
            missing.append(entry.name)
        else:
            if record.reconstructs or not drawing:
                found[entry.name] = record
    if not found:
        if not resources.has_network(current.entry):
            absent = resources.ABSENT.format(name=current.entry.name)
            raise NothingMeasured(f"{absent}; choose another source of images for this view.")
        if missing and set(missing) <= own_models.models().keys():
            resources.predictions(missing[0])  # raises the sentence on what its file lacks
        what = " that reconstructs" if drawing else ""
        remedy = f"`capsviz zoo measure {' '.join(missing)}` does that" if missing else "choose another view"
        raise NothingMeasured(
            f"No {data.title_of(current.entry.data)} model{what} has been measured image by image yet; {remedy}."
        )
    own = found.get(current.entry.name) or next(iter(found.values()))
    if others := [name for name, record in found.items() if not record.same_images(own)]:
        for name in others:
            del found[name]
        both = [name for name in (own.name, *others) if name not in own_models.models()]
        st.caption(
            f":material/difference: Measured on other images than {plain(own.name)} and left out: "
            f"{', '.join(map(plain, others))}; `capsviz zoo measure {shlex.join(both)}` takes those that are here."
        )
    if current.picture.viewpoint:
        turned = current.picture.viewpoint
        st.caption(f":material/3d_rotation: The test images are shown and measured as they are, without {turned}.")
    if isinstance(current.entry, AtStep):
        st.caption(":material/history: The test images are measured with the trained networks, whatever step is shown.")
    if missing:
        st.caption(f"Not measured yet: {plain(', '.join(missing))} (`capsviz zoo measure`).")
    return found


def _trained() -> dict[str, Entry]:
    return {name: each for name, each in resources.all_entries().items() if not isinstance(each, AtStep)}


def _place(entry: Entry) -> tuple[bool, int, str]:
    return not entry.has_decoder, list(METHODS).index(entry.routing), entry.name


def test_images(current: Scene, records: Iterable[Predictions]) -> TestImages | None:
    """The test images of the chosen model's data set; None, and one sentence, where they are not on this machine, or
    not those of the records.
    """
    name = current.entry.data
    if as_measured(current, records):
        return browsing.whole_set(name, "test")
    called = plain(data.title_of(name))
    if browsing.whole(name):
        absent = (
            f"The test images of {called} here are not those that were measured, or in another order, so they are not "
            "shown"
        )
    elif browsing.here(name):
        few = len(browsing.indices(name, "test"))
        absent = f"Only {few:,} test images of {called} are on this machine, so inputs are not shown"
    else:
        absent = f"{called} is not on this machine, so its images cannot be shown"
    st.caption(
        f":material/image_not_supported: {absent}; figures and drawings come from what was recorded when "
        "the models were measured."
    )
    return None


def as_measured(current: Scene, records: Iterable[Predictions]) -> bool:
    """Whether the test images here are those of the records, as far as their number and classes say: a folder of images
    may have changed since.
    """
    if not browsing.whole(current.entry.data):
        return False
    same = browsing.whole_set(current.entry.data, "test").classes == current.entry.classes
    return same and all(torch.equal(browsing.labels(record.data, "test"), record.labels) for record in records)


def pixels(test: TestImages, chosen: torch.Tensor) -> torch.Tensor:
    """The chosen images in [0, 1]."""
    return data.to_float(test.batch(chosen)[0])


def names(current: Scene, classes: torch.Tensor) -> list[str]:
    """The classes of each image in words, "count *object": “7”, or “7 and 2”."""
    return [images.names(each, current.entry.classes) for each in classes.reshape(len(classes), -1).tolist()]


def named(current: Scene, record: Predictions, chosen: torch.Tensor) -> list[str]:
    """What a model names in each of the chosen images, in words, with their strengths: “7 and 2 (0.91, 0.88)”."""
    sure = record.activations.reshape(len(record), -1)[chosen].tolist()
    said = names(current, record.predicted[chosen])
    return [f"{name} ({', '.join(f'{one:.2f}' for one in each)})" for name, each in zip(said, sure, strict=True)]


def on_stage(current: Scene, records: Iterable[Predictions]) -> int | None:
    """Which test image of the records is on stage as it was recorded; None for any other picture."""
    return None if current.picture.viewpoint else test_image(current, records)


def test_image(current: Scene, records: Iterable[Predictions]) -> int | None:
    """Which test image of the records is on stage, whatever its viewpoint; None where it is none."""
    choices, entry = current.choices, current.entry
    if not images.of_test_set(choices, entry, entry.data):
        return None
    if browsing.whole(entry.data) and not as_measured(current, records):
        return None
    return images.index_of(choices, entry)


def chooser(current: Scene, records: Iterable[Predictions]) -> Callable[[int], None] | None:
    """What a click on a test image does; None where the images on this machine are not those of the records."""
    able = as_measured(current, records) if browsing.whole(current.entry.data) else browsing.here(current.entry.data)
    return put_on_stage if able else None


def put_on_stage(index: int) -> None:
    """Make a test image of the chosen model's data set the image of all pages; for a widget's callback."""
    choices = scene.choices()
    name = resources.all_entries()[choices.model].data
    if browsing.here(name) and index in browsing.indices(name, "test"):
        session.update(choices, source="data", data="", split="test", only=None, image=int(index))
    else:
        st.toast(f"Test image {index:,} is not on this machine; the sidebar has those that are.")
