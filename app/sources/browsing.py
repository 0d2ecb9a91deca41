"""The data sets on this machine, image by image, as the pages browse them."""

from __future__ import annotations

import streamlit as st
import torch
from jaxtyping import Int64, UInt8
from torch import Tensor

from app.shared import resources
from app.shared.caching import once_a_run
from app.state.choices import SPLITS
from capsviz import data
from capsviz.data import DATASETS, Dataset, ImageSet, MultiDigits, exemplars
from capsviz.data.exemplars import Exemplars


def names() -> tuple[str, ...]:
    """The data sets that can be asked for: all that are known, and the folders of images of models here."""
    return tuple(dict.fromkeys([*DATASETS, *(entry.data for entry in resources.entries().values())]))


def labelled(name: str) -> bool:
    """Whether a data set has one labelled object an image."""
    info = data.known(name)
    return info is not None and info.objects == 1


def classes(name: str) -> tuple[str, ...]:
    """What the classes of a data set are called; none where nothing is known of it."""
    info: Dataset | None = data.known(name)
    return info.classes if info else ()


@once_a_run
def whole(name: str) -> bool:
    """Whether all images of a data set are on this machine; not where nothing is known of it."""
    return data.known(name) is not None and data.available(name)


def here(name: str) -> bool:
    """Whether images of a data set can be shown: all of them, or those that come with capsviz."""
    return whole(name) or name in exemplars.names()


@once_a_run
def state(name: str) -> tuple[int, ...]:
    """What the images of a data set are known by as long as they are the same: of a folder they may be others later."""
    return info.state if (info := data.known(name)) else ()


def splits(name: str) -> tuple[str, ...]:
    """The splits of a data set that can be browsed: of the images that come with capsviz, the test images."""
    return SPLITS if whole(name) else ("test",)


def start(name: str, split: str) -> int:
    """The image to begin with: of the test images, one that every model of the data set reads rightly.

    The first one of a copy whose images stand in another order, such as CIFAR-10 as published.
    """
    if split != "test" or name not in data.DATASETS:
        return 0
    if name not in exemplars.names():
        return data.DATASETS[name].start
    return exemplars.exemplars(name).start if not whole(name) or _in_order(name, known_by(name)) else 0


@st.cache_resource(show_spinner=False, max_entries=8)
def _in_order(name: str, known_by: tuple[int, ...]) -> bool:
    """Whether the image to begin with stands in the whole test set where it stands among the exemplars."""
    first = exemplars.exemplars(name)
    return torch.equal(image(name, "test", first.start)[0], first.images[first.place(first.start)])


def image_set(name: str, split: str) -> ImageSet:
    """A data set of one labelled object an image. Raises DatasetMissing."""
    loaded = whole_set(name, split)
    assert isinstance(loaded, ImageSet)  # no generated set is `labelled`
    return loaded


def whole_set(name: str, split: str) -> ImageSet | MultiDigits:
    """All images of a data set. Raises DatasetMissing."""
    return _whole(name, split, state(name))


def labels(name: str, split: str) -> Int64[Tensor, "count *object"]:
    """The classes of every browsed image, of each of its objects where it shows several. Raises DatasetMissing."""
    loaded = _loaded(name, split)
    if isinstance(loaded, MultiDigits):
        pairs, _ = loaded.draw(torch.arange(len(loaded.base)))
        return loaded.base.labels[torch.from_numpy(pairs)]
    return loaded.labels


def indices(name: str, split: str) -> range | tuple[int, ...]:
    """The images that are browsed: all, or of MultiMNIST one pair for each digit of MNIST. Raises DatasetMissing."""
    loaded = _loaded(name, split)
    if isinstance(loaded, Exemplars):
        return loaded.indices
    return range(len(loaded.base if isinstance(loaded, MultiDigits) else loaded))


def image(name: str, split: str, index: int) -> tuple[UInt8[Tensor, "channel height width"], tuple[int, ...]]:
    """An image, and its class, or its two classes. Raises DatasetMissing."""
    loaded = _loaded(name, split)
    if isinstance(loaded, Exemplars):
        place = loaded.place(index)
        return loaded.images[place], tuple(loaded.labels[place].tolist())
    images, labels = loaded.batch(torch.tensor([index]))
    return images[0], tuple(labels[0].reshape(-1).tolist())


def note(name: str, split: str) -> str:
    """What must be said beside figures measured on a data set. Raises DatasetMissing."""
    return _loaded(name, split).note


def indices_of(name: str, split: str, label: int) -> tuple[int, ...]:
    """Where the browsed images of a class stand, or the pairs in which one digit is of it. Raises DatasetMissing."""
    return _indices_of(name, split, label, known_by(name))


def known_by(name: str) -> tuple[int, ...]:
    """What is remembered of the browsed images by: they are others once all are here, or of a folder that changed."""
    return (whole(name), *state(name))


@st.cache_resource(show_spinner=False, max_entries=8)
def _indices_of(name: str, split: str, label: int, known_by: tuple[int, ...]) -> tuple[int, ...]:
    every = indices(name, split)
    shown = labels(name, split).reshape(len(every), -1)
    return tuple(every[place] for place in torch.nonzero((shown == label).any(1)).flatten().tolist())


def _loaded(name: str, split: str) -> ImageSet | MultiDigits | Exemplars:
    if split == "test" and not whole(name) and here(name):
        return exemplars.exemplars(name)
    return whole_set(name, split)


@st.cache_resource(show_spinner="Reading the images …", max_entries=6)
def _whole(name: str, split: str, state: tuple[int, ...]) -> ImageSet | MultiDigits:
    return data.load(name, split)
