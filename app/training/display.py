"""What the page Training shows of a network that is being trained: numbers, the digit on stage, curves."""

from __future__ import annotations

import streamlit as st

from app import scene
from app.page import layout
from app.page.text import plain
from app.scene import Scene
from app.shared import resources
from app.sources import browsing, images, linked_picture
from app.sources.picture import Picture
from app.state import session
from app.state.choices import Choices
from app.training.trainings import CONFIGS, Progress, Training
from capsviz import data
from capsviz.data import DIGITS
from capsviz.experiments.convergence import curve_points, pooled
from capsviz.figures import couplings, discriminative, sankey
from capsviz.figures.experiments import training_curve
from capsviz.figures.objects import in_words
from capsviz.figures.perturb import reconstruction_figure
from capsviz.tensors import written
from capsviz.tracing.recorder import trace as record
from capsviz.tracing.trace import Trace

HEIGHT, TALL = 220, 440
"""Of a picture, and of one that stands beside two, in pixels."""
PRESENTED, TALL_PRESENTED = 160, 350
"""The same in presenter mode, in those of the ordinary page."""
FOREIGN = (
    f"The network that learns here reads grey images of {written(DIGITS.image[1:])} pixels, and the one on stage is "
    "another; choose a model of such images on another page to put its images on stage. Here is a digit instead."
)


def picture(current: Scene) -> Picture:
    """The image on stage where a network of the digits takes it, else a digit."""
    if tuple(current.picture.pixels.shape) == DIGITS.image:
        return current.picture
    place = browsing.start(DIGITS.name, "test")
    pixels, labels = browsing.image(DIGITS.name, "test", place)
    return Picture(pixels, f"{DIGITS.title} test image {place}", labels)


def note(current: Scene) -> None:
    """A sentence where the image on stage is not the one that is looked at."""
    if tuple(current.picture.pixels.shape) != DIGITS.image:
        layout.note(FOREIGN)


def seen(current: Scene, training: Training) -> Trace | None:
    """The image through the network of the last checkpoint; None before the first one."""
    network = training.network()
    if network is None:
        return None
    image = data.to_float(picture(current).pixels)[None]
    return record(network, image, votes="all", name=training.config.name, classes=DIGITS.classes)


def finished(current: Scene, name: str) -> Trace:
    """The image through the visitor's own model of this name."""
    entry = resources.entries()[name]
    return resources.trace(name, picture(current).key, entry.config.iterations if entry.method.iterates else None)


def opened(current: Scene, name: str) -> Choices:
    """The choices under which another page shows the visitor's own model of this name the same image."""
    choices, entry, model = current.choices, current.entry, resources.entries()[name]
    changes = scene.model_changes(name, choices)
    if tuple(current.picture.pixels.shape) == DIGITS.image:
        source, own = images.source_of(choices, entry), images.data_of(choices, entry)
        data = "" if own == model.data else own
        changes |= {"source": source, "data": data, "split": images.split_of(choices, entry), "image": choices.image}
        if source == "data":
            changes["image"] = images.index_of(choices, entry)
        elif source in ("generated", "overlaid") or not resources.has_network(entry):
            # By, or for, the network on stage: a picture like any other.
            changes |= {"source": "upload", "picture": linked_picture.written(current.picture.before)}
    return session.changed(choices, **changes)


def bar(progress: Progress, *, stopping: bool) -> None:
    """How far a training is."""
    errors = [line["validation_error"] for line in progress.lines if line["kind"] == "epoch"]
    if stopping:
        said = "It is being stopped."
    elif progress.total is None or progress.seconds_left is None:
        said = "The process starts."
    elif progress.step < progress.total:
        said = f"Step **{progress.step:,}** of {progress.total:,}, about **{progress.seconds_left:.0f} s** left"
    else:
        said = f"All {progress.total:,} steps are done; the network is tested and put into a file"
    if errors and not stopping:
        said += f"; validation error **{errors[-1]:.2f} %** after epoch {len(errors)}."
    st.progress(progress.step / progress.total if progress.total else 0.0, text=said)


def before(current: Scene) -> None:
    """The image that will be looked at, before there is a network."""
    one, _ = st.columns([1, 3])
    with one:
        _image(current)
    epochs = {config.epochs for config in CONFIGS.values()}
    taken = picture(current) is current.picture
    st.caption(
        f"{plain(picture(current).title)}{': choose another in the sidebar, now or while the network learns' * taken}. "
        f"The network goes {max(epochs)} times through {DIGITS.train_count:,} images of digits; some are held out for "
        "validation."
    )


def show(current: Scene, training: Training, trace: Trace | None, whose: str) -> None:
    """The image, how a network draws it, what its capsules give to its class, and the curves; whose: in words."""
    left, right = st.columns([3, 2])
    with left:
        _drawn(current, trace, whose)
        curves(current, training)
    if trace is not None:
        with right:
            _shares(current, trace, whose)


def _drawn(current: Scene, trace: Trace | None, whose: str) -> None:
    one, two = st.columns(2)
    with one:
        _image(current)
        st.caption(f"On stage: {plain(picture(current).title)}.")
    with two:
        if trace is None or trace.reconstruction is None:
            st.caption("The first drawing comes after the first epoch.")
            return
        figure = reconstruction_figure(trace.reconstruction[0], title="Drawn", dark=current.dark, height=HEIGHT)
        name = f"The image as the network draws it: {picture(current).title}"
        layout.show(figure, "training-drawn", name, height=PRESENTED)
        st.caption(f"As {whose} draws it, which reads {in_words(trace)}.")


def _image(current: Scene) -> None:
    pixels = data.to_float(picture(current).pixels)
    figure = reconstruction_figure(pixels, title="The image", dark=current.dark, height=HEIGHT)
    layout.show(figure, "training-image", f"The image: {picture(current).title}", height=PRESENTED)


def _shares(current: Scene, trace: Trace, whose: str) -> None:
    """What the lower capsules give to the class: couplings over the image, coefficients, or the types' shares."""
    algorithm, shown = trace.config.algorithm, picture(current)
    labels = shown.labels
    # Labels of the image on stage are of the classes of the model on stage; those of a digit that stands in are digits.
    foreign = shown is current.picture and trace.classes != current.entry.classes
    label = labels[0] if labels and not foreign and current.choices.upper is None else current.upper(trace)
    name = f"What the capsules give: {shown.title}"
    if "couplings" in algorithm.pictures:
        figure = couplings.coupling_geometry(trace, 0, label, trace.layer.iterations, dark=current.dark)
        said = f"Couplings under {whose}, over the image: orange is more than the even share, blue less."
    elif "coefficients" in algorithm.pictures:
        b = trace.layer["coefficients"][0]
        figure = discriminative.coefficient_map(b, trace.grid, upper=label, dark=current.dark)
        *numbers, _ = figure.layout.annotations  # the last one, a sentence with counts, is wider than a phone
        figure.layout.annotations = numbers
        name = f"What the capsules give: class {trace.classes[label]}"
        said = f"Coefficients b of {whose} for class {plain(trace.classes[label])}, the same for every image."
    else:
        figure = sankey.type_flow(trace, dark=current.dark)
        said = f"What each type of capsule gives to each class, under {whose}."
    layout.show(figure.update_layout(height=TALL), "training-shares", name, height=TALL_PRESENTED)
    st.caption(said)


def curves(current: Scene, training: Training) -> None:
    """Validation error and loss by step, as far as they go."""
    routing, progress = training.config.routing, training.progress()
    errors, losses = curve_points(progress.lines)
    losses = pooled(losses, [step for step, _ in errors]) or losses
    one, two = st.columns(2)
    for column, key, quantity, points, said in (
        (one, "errors", "validation error, %", errors, "By step: of the images held out."),
        (two, "losses", "loss on the classes", losses, "By step: the mean over the images since the point before."),
    ):
        if points:
            with column:
                figure = training_curve(points, quantity, routing, total=progress.total, dark=current.dark)
                layout.show(
                    figure.update_layout(height=HEIGHT, margin_b=32), f"training-{key}", quantity, height=PRESENTED
                )
                st.caption(said)
