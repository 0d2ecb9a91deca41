"""The data sets, in the order in which every list, table and page has them."""

from __future__ import annotations

from pathlib import Path

import torch
from jaxtyping import Int64
from PIL.Image import Image
from torch import Tensor

from capsviz.data.dataset import FOLDER_PREFIX, Dataset
from capsviz.data.digits import DIGITS
from capsviz.data.errors import DatasetMissing, UnknownDataset
from capsviz.data.folder import Form, folder, unlisted
from capsviz.data.multi import MULTI_MNIST
from capsviz.data.torchvision_sets import CIFAR10, FASHION_MNIST, MNIST, data_root
from capsviz.data.visitor import Prepared, VisitorImage, prepare
from capsviz.errors import line

DATASETS: dict[str, Dataset] = {each.name: each for each in (MNIST, FASHION_MNIST, CIFAR10, MULTI_MNIST, DIGITS)}
"""By name."""


def describe(name: str, *, root: Path | str | None = None, image: Form | None = None) -> Dataset:
    """The data set of a name: one of `DATASETS`, or a folder of images, "folder:PATH".

    root: overrides `CAPSVIZ_DATA`; image: the form (channels, height, width) of a folder whose name says none. Raises
    `UnknownDataset`, and `DatasetMissing` for a folder that is there and cannot be used.
    """
    if not isinstance(name, str):
        raise UnknownDataset(line(f"{name!r} is no name of a data set; give it as text, as digits or folder:PATH."))
    if name.startswith(FOLDER_PREFIX):
        return folder(name, data_root(root), image)
    if name not in DATASETS:
        raise UnknownDataset(f"There is no data set {name!r}: choose one of {', '.join(DATASETS)}, or folder:PATH.")
    return DATASETS[name]


def known(name: str) -> Dataset | None:
    """As `describe`, and a folder that cannot be used like one that is not there; None where nothing is known."""
    try:
        return describe(name)
    except UnknownDataset:
        return None
    except DatasetMissing:
        return unlisted(name)


def same(one: str, other: str) -> bool:
    """Whether two names are of the same images: a folder is the same wherever a name says it is, in whatever form."""
    if one == other or not all(name.startswith(FOLDER_PREFIX) for name in (one, other)):
        return one == other
    first, second = (unlisted(name).found(data_root()) for name in (one, other))
    return first is not None and second is not None and first.samefile(second)


def in_class_order(name: str) -> bool:
    """Whether the images of a set lie class after class, as those of a folder do."""
    return name.startswith(FOLDER_PREFIX)


def sample(name: str, available: int, count: int) -> Int64[Tensor, " count"]:
    """The places of so many of a set's images: the first, or evenly spread ones where it lies in class order."""
    number = torch.arange(count)
    return (2 * number + 1) * available // (2 * count) if in_class_order(name) else number


def prepare_for(name: str, picture: VisitorImage | Image, form: Form, *, invert: bool | None = None) -> Prepared:
    """A picture in a form, brought to it by `prepare` as the images of a data set were, as far as that is known.

    Raises `ImageError` as `prepare` does.
    """
    info = known(name)
    layout, levels = (info.layout, info.levels(data_root())) if info else (None, None)
    return prepare(picture, form, layout=layout, invert=invert, levels=levels)


def title_of(name: str) -> str:
    """What a data set is called on screen and in tables; its name where nothing is known of it."""
    return info.title if (info := known(name)) else name
