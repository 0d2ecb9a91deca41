"""The sidebar: which model, which image."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app import overlaying, own_files, resources, thumbnails, viewpoint
from app.components.drawing_pad import brought_back, drawing_pad, drawn
from app.scene import Scene, SceneError, catalogue, keep
from app.sources import browsing, images, trace_sets
from app.state import session
from app.state.choices import Choices
from app.text import plain, sentence
from app.tours import talk
from app.widgets import chosen, segments
from capsviz import data, device
from capsviz.data import DIGITS, ImageError
from capsviz.errors import CapsvizError
from capsviz.routing import ALGORITHMS
from capsviz.zoo import AtStep, Entry

_SOURCES = {
    "data": "Data set",
    "upload": "Upload",
    "camera": "Camera",
    "pad": "Draw",
    "generated": "Generated",
    "recorded": "Recorded",
    "overlaid": "Two overlaid",
}


TOURS, TRAINING = "tours", "training"
STILL = {
    "results": "Models and images are chosen on the other pages; what was measured is the same for all of them.",
    "mixtures": "Models and images are chosen on the other pages; here are points in the plane, and no network.",
    TOURS: "Models and images are chosen on the other pages, and each step of a tour brings its own.",
}
"""The pages that show no model and no image of the visitor's choice, and what the sidebar says there."""


def begin() -> None:
    """Its first line, sent ahead of the page, which then has its width from the start."""
    st.sidebar.html('<p class="brand">capsviz<span>capsules, routed in sight</span></p>')


def show(scene: Scene, here: str, pages: Mapping[str, StreamlitPage]) -> bool:
    """Draw the sidebar for what is on stage; whether the visitor asks to take something away.

    here: the page on which it stands, by its name in the link. pages: all of them.
    """
    wanted = here != TOURS and _actions(scene, here, pages)
    if here in STILL:
        st.caption(STILL[here])
        return wanted
    if here == TRAINING:
        st.caption("The network is the one that learns here; the image is of your choice.")
    else:
        _models(scene, here)
    own_files.show()
    _source(scene)
    _preview(scene)
    viewpoint.sliders(scene)
    return wanted


def _actions(scene: Scene, here: str, pages: Mapping[str, StreamlitPage]) -> bool:
    with st.container(horizontal=True, key="actions"):
        st.button(
            "Present",
            icon=":material/slideshow:",
            key="present",
            on_click=lambda: keep(present=True),  # the boards may have told the link more since the sidebar ran
            help="Presenter mode: no sidebar, large type, keys (p; ? shows all keys).",
            width="stretch",
        )
        wanted = st.button(
            "Take away",
            icon=":material/download:",
            key="take_away",
            help="The page's figures as SVG, PNG, HTML and CSV, the trace, and the Python that records it again.",
            width="stretch",
        )
    st.button(
        "Add this view",
        icon=":material/playlist_add:",
        key="add_view",
        on_click=partial(talk.add, here, f"{pages[here].title}: {scene.picture.title}"),
        help="What is on screen becomes a step of your own talk, which the page Tours edits, saves and presents.",
        width="stretch",
    )
    if collected := talk.own(scene.choices):
        label = f"Your own talk: {len(collected.steps)} views"
        st.page_link(pages[TOURS], label=label, query_params=session.to_query(scene.choices))
    return wanted


def _models(scene: Scene, here: str) -> None:
    """Which model; the algorithm is the one that the page runs, and another leads to the page that is about it."""
    entries = resources.entries()
    entry = scene.entry
    if entry.name not in entries:
        st.caption(
            f"{resources.ABSENT.format(name=plain(entry.name))}: {entry.method.title}, {entry.config.lower:,} capsules."
        )
        return
    with suppress(SceneError):  # the page says that it has no model
        running, _ = scene.on_page(here)
        entry = running if running.data == entry.data else entry
    about = {algorithm.page for algorithm in ALGORITHMS.values()}

    def leads(name: str) -> str | None:
        own = entries[name].config.algorithm.page
        return own if here in about and own != here else None

    offered = [other for other in resources.peers(entry).values() if other.data == entry.data]
    kinds = [_kind(other) for other in offered]
    sets = list(dict.fromkeys(entry.data for entry in entries.values()))
    chosen(
        st.selectbox,
        "Model trained on",
        "model",
        scene.entry.data,
        sets,
        key="model_data",
        format_func=images.title_of,
        read=lambda name, choices: model_changes(_first_of(name, scene.entry.routing), choices),
    )
    chosen(
        st.radio,
        "Algorithm",
        "model",
        entry.name,
        [other.name for other in offered],
        format_func=lambda name: _label(entries[name], twin=kinds.count(_kind(entries[name])) > 1),
        read=model_changes,
        leads=leads,
        help="Another algorithm leads to the page that is about it." if here in about else None,
    )
    if steps := resources.steps(entry):
        chosen(
            st.select_slider,
            "Training so far",
            "model",
            entry.name,
            list(steps),
            key="so_far",
            format_func=lambda name: f"step {steps[name]}" if steps[name] < max(steps.values()) else "trained",
            read=model_changes,
            help=f"The network as it was early in the {max(steps.values()):,} steps of its training.",
        )
    st.caption(
        f"{plain(entry.name)}: {plain(entry.preset)}, {entry.parameters / 1e6:.1f} M weights, "
        f"error on {entry.test_count:,} images; runs on {device.title(device.chosen())}"
    )
    if device.gave_up():
        st.caption(sentence(device.gave_up()))


def _kind(entry: Entry) -> str:
    return resources.kind(entry) + ("" if entry.has_decoder else " without decoder")


def _label(entry: Entry, *, twin: bool) -> str:
    """What a model is offered as; a twin by the same algorithm is told by its preset."""
    return f"{_kind(entry)}{f', {plain(entry.preset)}' if twin else ''} · {entry.test_error:.2f} %"


def _first_of(name: str, routing: str) -> str:
    """A model of another data set, by the same algorithm where there is one."""
    entries = [entry for entry in resources.entries().values() if entry.data == name and not isinstance(entry, AtStep)]
    return next((entry.name for entry in entries if entry.routing == routing), entries[0].name)


def model_changes(name: str, choices: Choices) -> dict[str, object]:
    """Another model of the same data set keeps the image on stage."""
    entries = resources.entries()
    if entries[name].data != entries[choices.model].data:
        return {"model": name, "picture": images.again(choices.picture, entries[name])}
    keep = ("source", "picture", "data", "split", "recording", "only", "image", "upper", "pair", "method", "cell")
    return {"model": name, **{field: getattr(choices, field) for field in keep}}


def _source(scene: Scene) -> None:
    choices, entry = scene.choices, scene.entry
    absent = {"generated"} if not entry.has_decoder else set()
    absent |= {"recorded"} if not trace_sets.names() else set()
    absent |= {"overlaid"} if images.parts_of(entry) is None else set()
    possible = {name: title for name, title in _SOURCES.items() if name not in absent}
    source = images.source_of(choices, entry)
    segments(
        "Image from",
        "source",
        source,
        possible,
        # Asked for by name, a data set is shown even where the model's own is absent.
        read=lambda source, choices: _source_changes(source, choices, scene),
    )
    if source in images.GIVEN:
        {"upload": _upload, "camera": _camera, images.PAD: _pad}[source]()
        _received(source, choices)
        return
    if source == "overlaid":
        overlaying.show(scene)
        return
    if source == "data":
        _data_set(scene)
    elif source == "recorded":
        _recording(scene)
    else:
        st.caption(
            f"Drawn by the decoder of {plain(entry.name)} from stored class capsules: generated, no photographs."
        )
        _offer_download(entry.data)
    thumbnails.show(scene)


def _source_changes(source: str, choices: Choices, scene: Scene) -> dict[str, object]:
    if source == "recorded":
        return trace_sets.choices_with(images.recorded_of(choices))
    picture = images.link(images.kept(source), scene.entry) if source in images.GIVEN else ""
    return {
        "source": source,
        "picture": picture,
        "data": DIGITS.name if source == "data" and not _is_here(scene) else "",
    }


def _recording(scene: Scene) -> None:
    """Which recording, and how it was made."""
    name = images.recorded_of(scene.choices)
    chosen(
        st.selectbox,
        "Recording",
        "recording",
        name,
        trace_sets.names(),
        read=lambda name, _: trace_sets.choices_with(name),
    )
    made, total = trace_sets.opened(name).recorded, len(trace_sets.opened(name))
    if scene.replays(scene.entry):
        cast = made["votes"] or scene.entry.name not in resources.entries()
        kept = "as they were recorded" if cast else "as they were recorded; votes are cast anew from them"
        st.caption(f"{images.counted(total)} through {plain(made['model'])}. The pages show the numbers {kept}.")
    else:
        st.caption(
            f"{images.counted(total)} through {plain(made['model'])}; "
            f"what the pages show of {plain(scene.entry.name)} is routed now."
        )


def _upload() -> None:
    st.file_uploader(
        "Your picture",
        key="file",
        on_change=lambda: _sent("upload", st.session_state["file"]),
        help="PNG, JPEG, GIF, WebP, TIFF or BMP; it is brought into the form of the model's training images.",
    )


def _camera() -> None:
    st.camera_input(
        "Your picture",
        key="photo",
        on_change=lambda: _sent("camera", st.session_state["photo"]),
        help="One thing, large and alone, is read best: a digit written thickly on white paper.",
    )


def _sent(source: str, file: Any) -> None:
    name = "photograph" if source == "camera" or file is None else f"picture {file.name}"
    _keep(source, None if file is None else images.receive(name, file.getvalue()))


def _pad() -> None:
    drawing_pad(key=images.PAD, on_change=_drawn)


def _drawn() -> None:
    """Keep what was drawn; what a pad only brings back, after a reload, does not displace the picture of a link."""
    try:
        ink = drawn(images.PAD)
        upload = None if ink is None else images.receive("drawing", ink)
    except ImageError as error:
        upload = images.Upload("drawing", None, str(error))
    _keep(images.PAD, upload, hesitant=brought_back(images.PAD))


def _keep(source: str, upload: images.Upload | None, *, hesitant: bool = False) -> None:
    """Keep what the visitor gave: as it is in the session, and as the model sees it in the link.

    hesitant: a picture that is in the link already stays there.
    """
    images.keep(source, upload)
    choices, _ = session.parse(session.here(), catalogue())
    picture = images.link(upload, resources.entries()[choices.model])
    if choices.source == source and not (hesitant and choices.picture):
        session.update(choices, picture=picture)


def _received(source: str, choices: Choices) -> None:
    upload = images.kept(source)
    if upload is not None and upload.problem:
        st.error(sentence(upload.problem), icon=":material/broken_image:")
    elif choices.picture:
        st.caption("The link holds the picture as small as the model sees it: whoever opens the link sees it too.")
    else:
        st.caption(
            "Until a picture is here, the pages show an image of the data set. A picture stays on this "
            "machine; only as small as the model sees it, it becomes part of the link."
        )


def _data_set(scene: Scene) -> None:
    here = [name for name in browsing.names() if browsing.here(name)]
    name = images.data_of(scene.choices, scene.entry)
    _offer_download(_wanted(scene))
    left, right = st.columns([3, 2])
    with left:
        chosen(
            st.selectbox,
            "Data set",
            "data",
            name,
            here,
            format_func=images.title_of,
            read=lambda name, _: {"source": "data", "data": name, "only": None},
        )
    with right:
        chosen(st.selectbox, "Split", "split", images.split_of(scene.choices, scene.entry), browsing.splits(name))


def _is_here(scene: Scene) -> bool:
    return browsing.here(_wanted(scene))


def _wanted(scene: Scene) -> str:
    """The data set that ought to be on stage."""
    return scene.choices.data or scene.entry.data


def _offer_download(name: str) -> None:
    info = data.known(name)
    if info is None or data.available(name):
        return
    place = st.container()
    if browsing.here(name):
        place.caption(f"{len(browsing.indices(name, 'test')):,} test images of {info.title} come with capsviz.")
    else:
        place.caption(sentence(info.missing(data.data_root())))
    if not info.download_bytes:
        return
    label = f"Download {info.title} ({info.download_bytes / 1e6:.1f} MB)"
    if not place.button(label, icon=":material/download:", key=f"download-{name}", width="stretch"):
        return
    bar = place.progress(0.0, f"Downloading {info.title} …")

    def progress(done: int, total: int) -> None:
        bar.progress(min(done / total, 1.0), f"{info.title}: {done / 1e6:.1f} of {total / 1e6:.1f} MB")

    try:
        data.download(name, progress)
    except CapsvizError as error:
        bar.empty()
        place.error(sentence(str(error)), icon=":material/cloud_off:")
    else:
        st.rerun()


def _preview(scene: Scene) -> None:
    picture = scene.picture
    left, right = st.columns([1, 2], vertical_alignment="center")
    with left, st.container(key="preview"):
        st.image(picture.address, width=80, alt=picture.title)
    right.markdown(f"**On stage:** {plain(picture.title)}")
    for note in picture.notes:
        st.caption(sentence(note))
