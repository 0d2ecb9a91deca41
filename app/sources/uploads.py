"""What a visitor gives: a picture uploaded, photographed or drawn, kept whole in the session."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import streamlit as st

from app.sources import linked_picture
from capsviz import data, zoo
from capsviz.data import ImageError, VisitorImage

PAD = "pad"
"""The drawing pad's key."""
GIVEN = {"upload": "picture", "camera": "photograph", PAD: "drawing"}
"""Sources whose picture the visitor gives, and what it is called. The link holds it as the model sees it; the session
keeps the `Upload` that it was made from, under `given-` and the source's name."""
LARGEST = 5
"""MB of a picture's file."""
MOST_ORIGINALS = 20
"""Uploads that a session keeps, so that another model, or the way back, finds the picture as it was given."""
_decoding = threading.BoundedSemaphore(2)
"""Pictures that are decoded at a time, of all visitors: each may take 64 MB."""


@dataclass(frozen=True)
class Upload:
    """What the visitor sent: the picture, or the one sentence that says why it is none."""

    name: str
    """What it is called after “your”."""
    image: VisitorImage | None
    problem: str = ""


def receive(name: str, content: bytes) -> Upload:
    """What has been uploaded, as a picture or as the sentence that says what is wrong with it."""
    if len(content) > LARGEST * 2**20:
        return Upload(name, None, f"The file has more than {LARGEST} MB: make the picture smaller and upload it again.")
    try:
        with _decoding:
            return Upload(name, data.read_image(content))
    except ImageError as error:
        return Upload(name, None, str(error))


def originals() -> dict[str, tuple[Upload, tuple[str, ...]]]:
    """By picture as the link holds it: what the visitor gave, and what was said of bringing it into that form."""
    return st.session_state.setdefault("originals", {})


def link(upload: Upload | None, entry: zoo.Entry) -> str:
    """The picture in the form that a model takes, as the link holds it; empty where there is none."""
    if upload is None or upload.image is None:
        return ""
    prepared = data.prepare_for(entry.data, upload.image, linked_picture.form(entry.config.image))
    text, kept = linked_picture.written(prepared.pixels), originals()
    kept.pop(text, None)
    kept[text] = (upload, prepared.notes)
    while len(kept) > MOST_ORIGINALS:
        del kept[next(iter(kept))]
    return text


def keep(source: str, upload: Upload | None) -> None:
    """Keep what the visitor gave by a source, since a widget forgets its file as soon as another source is shown."""
    st.session_state[f"given-{source}"] = upload


def kept(source: str) -> Upload | None:
    """What the visitor gave last by a source."""
    return st.session_state.get(f"given-{source}")


def again(picture: str, entry: zoo.Entry) -> str:
    """The picture of the link in the form of another model, from what was given where this session knows it."""
    original = originals().get(picture)
    return picture if original is None else link(original[0], entry)
