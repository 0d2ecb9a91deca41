"""The order in which the images of a test set are counted here, whichever copy of it is read.

Copies of one data set may hold its images in different orders. Records, exemplars and links name an image by its place,
so `pretrained/exemplars/NAME.order` holds, of every image in our order, a digest of its pixels and its label.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from pathlib import Path

import torch
from jaxtyping import Int64, UInt8
from torch import Tensor

from capsviz import files, places

FOLDER = places.root() / "pretrained" / "exemplars"
BYTES = 5
"""Of each digest: two of 10,000 different images share one with a chance of one in 20,000."""


def digests(images: UInt8[Tensor, "count channel height width"], labels: Int64[Tensor, "count"]) -> list[bytes]:
    """Of each image with its label `BYTES` bytes."""
    pairs = zip(images.flatten(1).numpy(), labels.tolist(), strict=True)
    return [hashlib.blake2b(bytes(pixels) + bytes([label]), digest_size=BYTES).digest() for pixels, label in pairs]


def write(name: str, images: UInt8[Tensor, "count channel height width"], labels: Int64[Tensor, "count"]) -> Path:
    """Make the order of these images that in which a test set is counted from now on; the file."""
    path = FOLDER / f"{name}.order"
    files.write(path, b"".join(digests(images, labels)))
    return path


def in_order(
    name: str, images: UInt8[Tensor, "count channel height width"], labels: Int64[Tensor, "count"]
) -> tuple[UInt8[Tensor, "count channel height width"], Int64[Tensor, "count"]]:
    """The images of a test set and their labels in our order; as they are where none is known, or others are here."""
    path = FOLDER / f"{name}.order"
    if not path.is_file():
        return images, labels
    said = path.read_bytes()
    known = [said[at : at + BYTES] for at in range(0, len(said), BYTES)]
    here = digests(images, labels)
    if here == known or sorted(here) != sorted(known):
        return images, labels
    places_of = defaultdict(list)
    for place, digest in enumerate(here):
        places_of[digest].append(place)
    order = torch.tensor([places_of[digest].pop(0) for digest in known])
    return images[order], labels[order]
