"""Test images that come with capsviz, twenty of each class, so that every data set can be shown without a download.

`pretrained/exemplars` holds one PNG for each set, its images in rows, and index.json, which says which test images
they are; `python -m tools.exemplars` makes them.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from jaxtyping import Int64, UInt8
from msgspec import Meta
from PIL import Image
from torch import Tensor

from capsviz.data.datasets import describe
from capsviz.data.errors import DatasetMissing
from capsviz.data.images import ImageSet
from capsviz.data.multi import MultiDigits, overlaid
from capsviz.data.order import FOLDER
from capsviz.files import make_folder, write_together
from capsviz.reading import Inside, Number, Text, read_json, understood

PER_CLASS = 20
ACROSS = 20
"""Images in a row of a PNG."""


@dataclass(frozen=True)
class Exemplars:
    """Some test images of a data set, known by their places in the whole set.

    indices "count", rising; parts "count object channel height width": the objects of each image, each by itself;
    labels "count object"; `note` as in `ImageSet`; `start` the index of the image to begin with.
    """

    name: str
    indices: tuple[int, ...]
    parts: UInt8[Tensor, "count object channel height width"]
    labels: Int64[Tensor, "count object"]
    note: str
    start: int

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def images(self) -> UInt8[Tensor, "count channel height width"]:
        """The images, objects laid over one another."""
        return overlaid(self.parts)

    def place(self, index: int) -> int:
        """Where image `index` of the whole test set stands among these; raises DatasetMissing where it does not."""
        if index not in self.indices:
            title = describe(self.name).title
            raise DatasetMissing(
                f"Image {index} of {title} is not among the {len(self)} that come with capsviz; download {title} for "
                "the others."
            )
        return self.indices.index(index)


def names() -> tuple[str, ...]:
    """The data sets of which there are exemplars."""
    return tuple(_index())


@cache
def exemplars(name: str) -> Exemplars:
    """The exemplars of a data set; raises DatasetMissing where there are none."""
    if name not in _index():
        raise DatasetMissing(f"No images of {name!r} come with capsviz; choose one of {', '.join(names())}.")
    row, info = _index()[name], describe(name)
    channels, height, width = info.image
    with Image.open(FOLDER / f"{name}.png", formats=("PNG",)) as sheet:
        pixels = torch.from_numpy(np.array(sheet)).reshape(-1, height, ACROSS, width, channels)
    images = pixels.permute(0, 2, 4, 1, 3).flatten(0, 1).contiguous()
    labels = torch.tensor(row.labels).reshape(len(row.indices), info.objects)
    parts = images.reshape(len(labels), info.objects, channels, height, width)
    return Exemplars(name, row.indices, parts, labels, row.note, row.start)


def chosen(data: ImageSet | MultiDigits, wanted: int | None = None) -> Int64[Tensor, "count"]:
    """Which test images become exemplars: of each class (of pairs: of the first digit) the first ones.

    wanted: an image that is to be among them, if need be in the place of the last of its class.
    """
    labels = data.base.labels if isinstance(data, MultiDigits) else data.labels
    first = torch.stack([torch.nonzero(labels == label).flatten()[:PER_CLASS] for label in range(len(data.classes))])
    if wanted is not None and wanted not in first:
        first[labels[wanted], -1] = wanted
    return first.flatten().sort().values


def write(
    name: str, data: ImageSet | MultiDigits, start: int, folder: Path = FOLDER, *, wanted: int | None = None
) -> Path:
    """Write the exemplars of a whole test set, and their line in index.json; the PNG's path.

    start: the index of the image to begin with; raises ValueError where it is not among them. wanted: as in `chosen`.
    """
    indices = chosen(data, wanted)
    if start not in indices.tolist():
        raise ValueError(f"image {start} is no exemplar of {name}; choose one of {indices.tolist()}")
    if isinstance(data, MultiDigits):
        parts, labels = data.parts(indices)
    else:
        images, each = data.batch(indices)
        parts, labels = images[:, None], each[:, None]
    flat = parts.flatten(0, 1)
    rows = flat.unflatten(0, (-1, ACROSS)).permute(0, 3, 1, 4, 2).flatten(0, 1).flatten(1, 2)
    make_folder(folder)
    path, picture = folder / f"{name}.png", io.BytesIO()
    Image.fromarray(rows.squeeze(-1).numpy()).save(picture, "PNG", optimize=True)
    file = folder / "index.json"
    index = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    index[name] = {"start": start, "note": data.note, "indices": indices.tolist(), "labels": labels.tolist()}
    write_together({path: picture.getvalue(), file: json.dumps(index) + "\n"})
    return path


@dataclass(frozen=True)
class _Row:
    """What index.json says of a set; labels by image and object."""

    start: Number
    note: Text
    indices: Annotated[tuple[Number, ...], Meta(min_length=1, max_length=10_000)]
    labels: Annotated[tuple[tuple[Number, ...], ...], Meta(max_length=10_000)]


@cache
def _index() -> dict[str, _Row]:
    file = FOLDER / "index.json"
    if not file.is_file():
        return {}
    remedy = "restore it with git, or run `python -m tools.exemplars`"
    found: dict[str, _Row] = understood(
        dict[Inside, _Row], read_json(file, remedy, DatasetMissing), file, remedy, DatasetMissing
    )
    return found
