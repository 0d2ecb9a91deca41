"""A set of images in memory, and the fixed split of sets that come without one."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int64, UInt8
from torch import Tensor

from .errors import ImageError

Indices = Int64[Tensor, "batch"] | Int64[np.ndarray, "batch"] | Sequence[int]


@dataclass(frozen=True)
class ImageSet:
    """Images with their labels, as bytes.

    images "count channel height width" (0 to 255), labels "count" (index into `classes`), `note` a sentence to print
    wherever a figure measured on this set stands (empty where nothing needs saying).
    """

    name: str
    split: str
    images: UInt8[Tensor, "count channel height width"]
    labels: Int64[Tensor, "count"]
    classes: tuple[str, ...]
    note: str = ""

    def __len__(self) -> int:
        return len(self.images)

    @property
    def image(self) -> tuple[int, int, int]:
        """The shape of one image: (channels, height, width)."""
        channels, height, width = self.images.shape[1:]
        return channels, height, width

    def batch(self, indices: Indices) -> tuple[UInt8[Tensor, "batch channel height width"], Int64[Tensor, "batch"]]:
        """The images and labels at these indices, a list of them too, on the set's own device wherever they lie."""
        indices = torch.as_tensor(indices, device=self.images.device)
        return self.images[indices], self.labels[indices]

    def checksum(self) -> str:
        """The same of the same images, labels and classes, and of hardly any others."""
        found = zlib.crc32("\n".join(self.classes).encode())
        for part in (self.images, self.labels):
            found = zlib.crc32(part.cpu().contiguous().numpy().data, found)
        return f"crc32:{found:08x}"

    def to(self, device: torch.device | str) -> ImageSet:
        """The same set with its images and labels on another device."""
        return replace(self, images=self.images.to(device), labels=self.labels.to(device))


def to_float(images: UInt8[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Bytes 0 to 255 as float32 0 to 1, any shape, on the same device. Raises ImageError for what is no bytes."""
    if images.dtype != torch.uint8:
        raise ImageError(f"Bytes 0 to 255 are wanted here and not {str(images.dtype)[6:]}; give the images as loaded.")
    return images.to(torch.float32) / 255


def to_bytes(images: Float[Tensor, "*shape"]) -> UInt8[Tensor, "*shape"]:
    """0 to 1 as bytes 0 to 255, any shape, on the same device."""
    return (images * 255).round().to(torch.uint8)


def stratified_split(labels: Int64[Tensor, "count"], split: str) -> Int64[Tensor, "chosen"]:
    """Indices of a fixed split: every fifth image, counted class by class, is a test image.

    No random numbers, so no library's generator can change it; class shares of the two parts differ by at most one
    image, and what lies together in the source (one writer's digits, say) is spread over both. Returned in the
    source's order.
    """
    by_class = torch.argsort(labels, stable=True)
    test = torch.zeros(len(labels), dtype=torch.bool)
    test[by_class[1::5]] = True  # from the second on, so that a class of one image is not always lost to the test part
    return torch.nonzero(test if split == "test" else ~test).flatten()
