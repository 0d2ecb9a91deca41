"""The sidebar: which model, which image."""

from __future__ import annotations

import base64
import io
import random
from dataclasses import replace

import streamlit as st
from PIL import Image

from app import images, resources
from app.components.drawing_pad import drawing_pad
from app.layout import chosen
from app.scene import Scene
from app.session import Choices
from capsviz import data
from capsviz.data import DATASETS
from capsviz.errors import CapsvizError
from capsviz.network import ROUTING_TITLES
from capsviz.zoo import Entry

THUMBNAILS = 15
_SOURCES = {"data": "Data set", "upload": "Upload", "pad": "Draw", "generated": "Generated"}


def show(scene: Scene) -> None:
    """Draw the sidebar for what is on stage."""
    st.html('<p class="brand">capsviz<span>capsules, routed in sight</span></p>')
    _models(scene)
    _source(scene)
    _preview(scene)


def _models(scene: Scene) -> None:
    entries = resources.entries()
    sets = list(dict.fromkeys(entry.data for entry in entries.values()))
    chosen(
        st.selectbox,
        "Model trained on",
        "model",
        scene.entry.data,
        sets,
        key="model_data",
        format_func=images.title_of,
        read=lambda name, choices: _model_changes(_first_of(name, scene.entry.routing), choices),
    )
    chosen(
        st.radio,
        "Algorithm",
        "model",
        scene.entry.name,
        [entry.name for entry in entries.values() if entry.data == scene.entry.data],
        format_func=lambda name: _label(entries[name]),
        read=_model_changes,
    )
    entry = scene.entry
    st.caption(
        f"{entry.name}: {entry.preset}, {entry.parameters / 1e6:.1f} M weights, error on {entry.test_count} images"
    )


def _label(entry: Entry) -> str:
    without = "" if entry.config.decoder else " without decoder"
    return f"{ROUTING_TITLES[entry.routing]}{without} · {entry.test_error:.2f} %"


def _first_of(name: str, routing: str) -> str:
    """A model of another data set, by the same algorithm where there is one."""
    entries = [entry for entry in resources.entries().values() if entry.data == name]
    return next((entry.name for entry in entries if entry.routing == routing), entries[0].name)


def _model_changes(name: str, choices: Choices) -> dict[str, object]:
    """Another model of the same data set keeps the image on stage."""
    entries = resources.entries()
    if entries[name].data != entries[choices.model].data:
        return {"model": name}
    keep = ("source", "data", "split", "only", "image", "upper", "pair", "method", "cell")
    return {"model": name, **{field: getattr(choices, field) for field in keep}}


def _source(scene: Scene) -> None:
    choices, entry = scene.choices, scene.entry
    possible = [name for name in _SOURCES if name != "generated" or entry.config.decoder]
    source = images.source_of(choices, entry)
    chosen(
        st.segmented_control,
        "Image from",
        "source",
        source,
        possible,
        format_func=_SOURCES.get,
        required=True,
        # Asked for by name, a data set is shown even where the model's own is absent.
        read=lambda source, _: {"source": source, "data": "digits" if source == "data" and _absent(scene) else ""},
    )
    if source == "upload":
        _upload()
        return
    if source == "pad":
        drawing_pad(key=images.PAD)
        st.caption("Until something is drawn, the pages show the first image of the data set.")
        return
    if source == "data":
        _data_set(scene)
    else:
        st.caption(f"Drawn by the decoder of {entry.name} from stored class capsules: generated, no photographs.")
        _offer_download(entry.data)
    _browser(scene)


def _upload() -> None:
    def received() -> None:
        file = st.session_state["file"]
        # Kept apart from the widget, which forgets its file as soon as another source is shown.
        st.session_state["upload"] = None if file is None else images.receive(file.name, file.getvalue())

    st.file_uploader(
        "Your picture",
        key="file",
        on_change=received,
        label_visibility="collapsed",
        help="PNG, JPEG, GIF, WebP, TIFF or BMP; it is brought into the form of the model's training images.",
    )
    upload: images.Upload | None = st.session_state.get("upload")
    if upload is None:
        st.caption(
            "Until a picture is here, the pages show the first image of the data set. A picture stays on this "
            "machine and is no part of the link."
        )
    elif upload.problem:
        st.error(upload.problem, icon=":material/broken_image:")


def _data_set(scene: Scene) -> None:
    here = [name for name in resources.BROWSABLE if data.available(name)]
    name = images.data_of(scene.choices, scene.entry)
    if wanted := _absent(scene):
        _offer_download(wanted)
    left, right = st.columns([3, 2])
    with left:
        chosen(
            st.selectbox,
            "Data set",
            "data",
            name,
            here,
            format_func=lambda name: DATASETS[name].title,
            read=lambda name, _: {"source": "data", "data": name, "only": None},
        )
    with right:
        chosen(st.selectbox, "Split", "split", scene.choices.split, ["test", "train"])


def _absent(scene: Scene) -> str:
    """The data set that ought to be on stage and is not on this machine."""
    wanted = scene.choices.data or scene.entry.data
    return "" if data.available(wanted) else wanted


def _offer_download(name: str) -> None:
    info = DATASETS[name]
    if data.available(name):
        return
    place = st.container()
    place.caption(f"{info.title} is not on this machine.")
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
        place.error(str(error), icon=":material/cloud_off:")
    else:
        st.rerun()


def _browser(scene: Scene) -> None:
    choices, entry = scene.choices, scene.entry
    places = images.listing(choices, entry)
    classes = _class_names(scene)
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        chosen(
            st.selectbox,
            "Show class",
            "only",
            -1 if choices.only is None else choices.only,
            range(-1, len(classes)),
            format_func=lambda label: "all" if label < 0 else classes[label],
            read=lambda label, choices: _class_changes(None if label < 0 else label, choices, entry),
        )
    with right:
        if st.button("Random", icon=":material/casino:", width="stretch", key="random"):
            scene.choose(image=random.choice(places))
            st.rerun()
    position = places.index(choices.image) if choices.image in places else 0
    pages = max(1, -(-len(places) // THUMBNAILS))
    page = _page(position // THUMBNAILS, pages, choices)
    shown = list(places[page * THUMBNAILS : (page + 1) * THUMBNAILS])
    chosen(
        st.pills,
        "Images",
        "image",
        choices.image if choices.image in shown else None,
        shown,
        key="image_thumbs",
        format_func=lambda index: _thumbnail(scene, index),
        label_visibility="collapsed",
        read=lambda index, choices: {"image": choices.image if index is None else index},
    )
    st.pagination(pages, max_visible_pages=3, key="thumbs_page")


def _page(default: int, pages: int, choices: Choices) -> int:
    """The page of thumbnails: the one that holds the image, until the visitor leafs on."""
    # What is browsed is no choice that a link must carry, so it lives in the session alone.
    browsed = (choices.model, choices.source, choices.data, choices.split, choices.only, choices.image)
    if st.session_state.get("browsed") != browsed or not 1 <= st.session_state.get("thumbs_page", 0) <= pages:
        st.session_state["browsed"], st.session_state["thumbs_page"] = browsed, default + 1
    return st.session_state["thumbs_page"] - 1


def _class_changes(label: int | None, choices: Choices, entry: Entry) -> dict[str, object]:
    """Another class to browse; the image on stage stays where it is of that class."""
    places = images.listing(replace(choices, only=label), entry)
    return {"only": label, "image": choices.image if choices.image in places else places[0]}


def _class_names(scene: Scene) -> tuple[str, ...]:
    if images.source_of(scene.choices, scene.entry) == "data":
        return DATASETS[images.data_of(scene.choices, scene.entry)].classes
    return scene.entry.classes


def _thumbnail(scene: Scene, index: int) -> str:
    choices, entry = scene.choices, scene.entry
    if images.source_of(choices, entry) == "generated":
        return _as_markdown(*_generated(entry.name, index))
    return _as_markdown(*_data_image(images.data_of(choices, entry), choices.split, index))


@st.cache_data(show_spinner=False, max_entries=2000)
def _data_image(name: str, split: str, index: int) -> tuple[str, bytes]:
    loaded = resources.image_set(name, split)
    return f"image {index}, {loaded.classes[int(loaded.labels[index])]}", _png(loaded.images[index])


@st.cache_data(show_spinner=False, max_entries=500)
def _generated(model: str, index: int) -> tuple[str, bytes]:
    picture = images.generated(resources.entries()[model], index)
    return picture.title, _png(picture.pixels)


def _png(pixels) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels.permute(1, 2, 0).squeeze(-1).numpy()).save(file, format="PNG")
    return file.getvalue()


def _as_markdown(title: str, png: bytes) -> str:
    return f"![{title}](data:image/png;base64,{base64.b64encode(png).decode('ascii')})"


def _preview(scene: Scene) -> None:
    picture = scene.picture
    left, right = st.columns([1, 2], vertical_alignment="center")
    with left, st.container(key="preview"):
        st.image(picture.array, width=80, alt=picture.title)
    right.markdown(f"**On stage:** {picture.title}")
    for sentence in picture.notes:
        st.caption(sentence)
