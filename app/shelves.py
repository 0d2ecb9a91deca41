"""The data sets on this machine, image by image, as the pages browse them."""

from __future__ import annotations

import streamlit as st
import torch
from jaxtyping import UInt8
from torch import Tensor

from capsviz import data
from capsviz.data import DATASETS, ImageSet, MultiDigits

BROWSABLE = tuple(DATASETS)
LABELLED = tuple(name for name, info in DATASETS.items() if info.objects == 1)
"""Data sets of one labelled object an image."""


def image_set(name: str, split: str) -> ImageSet:
    """A data set of one labelled object an image. Raises DatasetMissing."""
    loaded = _loaded(name, split)
    assert isinstance(loaded, ImageSet)  # LABELLED holds no generated set
    return loaded


def count(name: str, split: str) -> int:
    """How many images are browsed: all, or of MultiMNIST one pair for each digit of MNIST. Raises DatasetMissing."""
    loaded = _loaded(name, split)
    return len(loaded.base if isinstance(loaded, MultiDigits) else loaded)


def image(name: str, split: str, index: int) -> tuple[UInt8[Tensor, "channel height width"], tuple[int, ...]]:
    """An image, and its class, or its two classes. Raises DatasetMissing."""
    images, labels = _loaded(name, split).batch(torch.tensor([index]))
    return images[0], tuple(labels[0].reshape(-1).tolist())


def note(name: str, split: str) -> str:
    """What must be said beside figures measured on a data set. Raises DatasetMissing."""
    return _loaded(name, split).note


@st.cache_resource(show_spinner=False, max_entries=8)
def indices_of(name: str, split: str, label: int) -> tuple[int, ...]:
    """Where the browsed images of a class stand, or the pairs in which one digit is of it. Raises DatasetMissing."""
    loaded = _loaded(name, split)
    if isinstance(loaded, MultiDigits):
        pairs, _ = loaded.draw(torch.arange(count(name, split)))
        labels = loaded.base.labels[torch.from_numpy(pairs)]
    else:
        labels = loaded.labels[:, None]
    return tuple(torch.nonzero((labels == label).any(1)).flatten().tolist())


@st.cache_resource(show_spinner="Reading the images …", max_entries=6)
def _loaded(name: str, split: str) -> ImageSet | MultiDigits:
    return data.load(name, split)
