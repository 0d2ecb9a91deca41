"""Where the image on stage comes from, chosen in the sidebar."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.components.drawing_pad import brought_back, drawing_pad, drawn
from app.page.text import plain, sentence
from app.page.widgets import chosen, segments
from app.scene import Scene
from app.scene import choices as choices_now
from app.shared import resources
from app.sidebar import overlaying, thumbnails
from app.sources import browsing, images, linked_picture, trace_sets, uploads
from app.state import session
from app.state.choices import Choices
from capsviz import data
from capsviz.data import DIGITS, ImageError
from capsviz.errors import CapsvizError
from capsviz.tracing.layout import TraceError
from capsviz.zoo import Entry

_SOURCES = {
    "data": "Data set",
    "upload": "Upload",
    "camera": "Camera",
    "pad": "Draw",
    "generated": "Generated",
    "recorded": "Recorded",
    "overlaid": "Two overlaid",
}
BEFORE = "recording-before"
"""Key of the recording that the visitor looked at last."""


def show(scene: Scene) -> None:
    """Choose the source, and what belongs to it: the image of a data set, a file, the camera, the pad, a recording."""
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
        read=_source_changes,
    )
    if source in uploads.GIVEN:
        {"upload": _upload, "camera": _camera, uploads.PAD: _pad}[source]()
        _received(source, scene)
        return
    if source == "overlaid":
        _offer_download(images.data_of(choices, entry))
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


def _recorded(name: str, choices: Choices) -> dict[str, object]:
    try:
        changes = trace_sets.choices_with(name)
    except TraceError:  # the page says what is wrong with it
        changes = {"source": "recorded", "recording": name, "only": None}
    return trace_sets.left(choices.source, choices.recording) | changes


def _source_changes(source: str, choices: Choices) -> dict[str, object]:
    if source == "recorded":
        before = st.session_state.get(BEFORE)
        return _recorded(before if before in trace_sets.names() else trace_sets.chosen(choices.recording), choices)
    entry = resources.entries()[choices.model]  # what is on stage may be the network of a recording
    picture = uploads.link(uploads.kept(source), entry) if source in uploads.GIVEN else ""
    missing = source == "data" and not browsing.here(_wanted(choices, entry))
    only = None if source == "overlaid" else choices.only  # there nothing shows which class keys would leaf through
    changes = {"source": source, "picture": picture, "data": DIGITS.name if missing else choices.data, "only": only}
    return trace_sets.left(choices.source, choices.recording) | changes


def _recording(scene: Scene) -> None:
    """Which recording, and how it was made."""
    name = st.session_state[BEFORE] = trace_sets.chosen(scene.choices.recording)
    chosen(
        st.selectbox,
        "Recording",
        "recording",
        name,
        trace_sets.names(),
        read=_recorded,
    )
    for damage in trace_sets.damaged().values():
        st.caption(f"Left out: {sentence(damage)}")
    made, total = trace_sets.opened(name).recorded, len(trace_sets.opened(name))
    if scene.replays(scene.entry):
        cast = made["votes"] or not resources.has_network(scene.entry)
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
        max_upload_size=uploads.LARGEST,
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
    _keep(source, None if file is None else uploads.receive(name, file.getvalue()))


def _pad() -> None:
    drawing_pad(key=uploads.PAD, on_change=_drawn)


def _drawn() -> None:
    """Keep what was drawn; what a pad only brings back, after a reload, does not displace the picture of a link."""
    try:
        ink = drawn(uploads.PAD)
        upload = None if ink is None else uploads.receive("drawing", ink)
    except ImageError as error:
        upload = uploads.Upload("drawing", None, str(error))
    _keep(uploads.PAD, upload, hesitant=brought_back(uploads.PAD))


def _keep(source: str, upload: uploads.Upload | None, *, hesitant: bool = False) -> None:
    """Keep what the visitor gave: as it is in the session, and as the model sees it in the link.

    hesitant: a picture that is in the link already stays there.
    """
    uploads.keep(source, upload)
    choices = choices_now()
    picture = uploads.link(upload, resources.entries()[choices.model])
    if choices.source == source and not (hesitant and choices.picture):
        session.update(choices, picture=picture)


def _received(source: str, scene: Scene) -> None:
    upload, coarser = uploads.kept(source), linked_picture.coarser(scene.entry.config.image)
    given, *_ = uploads.originals().get(scene.choices.picture, (None,))
    if source == uploads.PAD and given is not upload and not (upload and upload.problem):  # after Back, or by a link
        st.caption("What is on stage is the link's, not what the pad holds; a stroke, Undo or Clear puts that there.")
    small = f"with {linked_picture.LARGEST} pixels a side" if coarser else "as small as the model sees it"
    if not scene.choices.picture and upload is not None and upload.problem:
        st.error(sentence(upload.problem), icon=":material/broken_image:")
    elif not scene.choices.picture:
        st.caption(
            "Until a picture is here, the pages show an image of the data set. A picture stays on the "
            f"machine that runs the app; only {small}, it becomes part of the link."
        )
    elif not coarser:  # that is said of the picture itself
        st.caption(f"The link holds the picture {small}: whoever opens the link sees it too.")


def _data_set(scene: Scene) -> None:
    here = [name for name in browsing.names() if browsing.here(name)]
    name = images.data_of(scene.choices, scene.entry)
    _offer_download(_wanted(scene.choices, scene.entry))
    left, right = st.columns([3, 2])
    with left:
        chosen(
            st.selectbox,
            "Data set",
            "data",
            name,
            here,
            format_func=data.title_of,
            read=lambda name, _: {"source": "data", "data": name, "only": None},
        )
    with right:
        chosen(st.selectbox, "Split", "split", images.split_of(scene.choices, scene.entry), browsing.splits(name))


def _wanted(choices: Choices, entry: Entry) -> str:
    """The data set that ought to be on stage."""
    return choices.data or entry.data


def _offer_download(name: str) -> None:
    info = data.known(name)
    if info is None or browsing.whole(name):
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
