"""MultiMNIST: two digits over one another, made when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Int64, UInt8
from torch import Tensor
from torch.nn import functional

from capsviz.data.dataset import TEN_DIGITS, Dataset
from capsviz.data.images import ImageSet, Indices
from capsviz.data.torchvision_sets import MNIST
from capsviz.data.viewpoint import shift

if TYPE_CHECKING:
    from capsviz.waiting import Progress

REACH = 4
"""Pixels by which a digit is moved at most, along each axis."""
MULTI_PER_DIGIT = 1000  # Sabour et al. (2017): 1000 overlaid images for each digit of the base set


@dataclass(frozen=True)
class MultiDigits:
    """Pairs of digits of different classes on one larger image, a virtual set of 1000 images for each digit of `base`.

    Index i overlays digit i mod len(base) with a digit drawn from all those of other classes; each is first moved by
    up to `reach` pixels along each axis, uniformly, on a canvas `reach` pixels wider on every side (28 becomes 36).
    The two are added and clipped at 255: two pen strokes crossing stay as bright as one, and strokes that are both
    grey add up, as in the generator that Sabour et al. published. Everything follows from (seed, index) alone, in any
    order and batch size.

    Source: Sabour, Frosst & Hinton (2017), section 6. The paper gives 80 % as the mean overlap of the two 20×20
    boxes; its rule of independent uniform shifts yields 85 % along each axis, hence 73 % of their area.
    """

    base: ImageSet
    seed: int = 0
    reach: int = REACH

    @property
    def name(self) -> str:
        """The name of the set: "multi-mnist" over MNIST, "multi-digits" over the embedded digits."""
        return f"multi-{self.base.name}"

    @property
    def split(self) -> str:
        """The split of the base set: no digit of the other split occurs."""
        return self.base.split

    @property
    def classes(self) -> tuple[str, ...]:
        """The class names of the base set; labels hold two of them."""
        return self.base.classes

    @property
    def note(self) -> str:
        """What must be said beside figures measured on this set."""
        return self.base.note

    @property
    def image(self) -> tuple[int, int, int]:
        """The shape of one image: (channels, height, width)."""
        channels, height, width = self.base.image
        return channels, height + 2 * self.reach, width + 2 * self.reach

    def __len__(self) -> int:
        return len(self.base) * MULTI_PER_DIGIT

    def to(self, device: torch.device | str) -> MultiDigits:
        """The same set with its base on another device, where the images are then made."""
        return MultiDigits(self.base.to(device), self.seed, self.reach)

    def batch(self, indices: Indices) -> tuple[UInt8[Tensor, "batch channel height width"], Int64[Tensor, "batch 2"]]:
        """The overlaid images at these indices and the two classes in each; raises `IndexError` beyond the set."""
        parts, labels = self.parts(indices)
        return overlaid(parts), labels

    def parts(self, indices: Indices) -> tuple[UInt8[Tensor, "batch 2 channel height width"], Int64[Tensor, "batch 2"]]:
        """The two moved digits that `batch` overlays, each on its own canvas, with their classes."""
        pairs, moves = self.draw(indices)
        device = self.base.images.device
        chosen = torch.from_numpy(pairs).to(device)
        padded = functional.pad(self.base.images[chosen.flatten()], (self.reach,) * 4)
        shifts = torch.from_numpy(moves).to(device).flatten(0, 1)
        moved = shift(padded, shifts[:, 0], shifts[:, 1])
        return moved.unflatten(0, (len(indices), 2)), self.base.labels[chosen]

    def draw(self, indices: Indices) -> tuple[np.ndarray, np.ndarray]:
        """The two base images of each index (int64 "batch 2") and their moves (int64 "batch 2 xy", pixels).

        Raises IndexError beyond the set, ValueError where a digit of the base set has none of another class.
        """
        index = torch.as_tensor(indices).cpu().numpy()
        if len(index) and (index.min() < 0 or index.max() >= len(self)):
            raise IndexError(f"This set has {len(self)} images: indices run from 0 to {len(self) - 1}.")
        order, labels, starts, counts = self._by_class
        first = index % len(self.base)
        own = labels[first]
        others = len(self.base) - counts[own]
        if len(others) and others.min() < 1:
            raise ValueError("The base set needs digits of at least two classes.")
        place = (_random_bits(self.seed, index, 0) % others.astype(np.uint64)).astype(np.int64)
        place += np.where(place >= starts[own], counts[own], 0)  # step over the digits of the same class
        span = np.uint64(2 * self.reach + 1)
        moves = np.stack([_random_bits(self.seed, index, stream) % span for stream in (1, 2, 3, 4)], axis=1)
        return np.stack([first, order[place]], axis=1), moves.astype(np.int64).reshape(-1, 2, 2) - self.reach

    @cached_property
    def _by_class(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Base indices sorted by class, the labels, and where each class starts and how many digits it has."""
        labels = self.base.labels.cpu().numpy()
        counts = np.bincount(labels, minlength=len(self.base.classes))
        return np.argsort(labels, kind="stable"), labels, np.cumsum(counts) - counts, counts


def looked_at(data: ImageSet | MultiDigits) -> int:
    """How many images of a set are looked at: of a virtual one, one for each digit of its base."""
    return len(data.base) if isinstance(data, MultiDigits) else len(data)


def overlaid(
    parts: UInt8[Tensor, "batch object channel height width"],
) -> UInt8[Tensor, "batch channel height width"]:
    """Images of several objects, each given by itself: their sum, clipped at 255."""
    image, *others = parts.unbind(1)
    for other in others:
        image = image + torch.minimum(other, 255 - image)  # 255 - a is what is still free above a
    return image


def composed(
    under: UInt8[Tensor, "channel height width"],
    over: UInt8[Tensor, "channel height width"],
    right: int,
    down: int,
) -> UInt8[Tensor, "channel high wide"]:
    """Two digits laid over one another on a canvas `REACH` pixels wider on every side, as `MultiDigits` does by chance.

    right, down: where the second stands as seen from the first, in pixels, up to 2 · `REACH` either way; each moves by
    half of it from the middle of the canvas. Raises ValueError for a greater offset.
    """
    if max(abs(right), abs(down)) > 2 * REACH:
        raise ValueError(f"Two digits lie at most {2 * REACH} pixels apart; got {right} and {down}.")
    first = torch.tensor([-(right // 2), -(down // 2)])
    moves = torch.stack([first, torch.tensor([right, down]) + first])
    padded = functional.pad(torch.stack([under, over]), (REACH,) * 4)
    return overlaid(shift(padded, moves[:, 0], moves[:, 1])[None])[0]


def _random_bits(seed: int, index: np.ndarray, stream: int) -> np.ndarray:
    """64 random bits (uint64 "batch") that depend on nothing but seed, index and stream.

    The finaliser of SplitMix64 (Steele, Lea & Flood 2014) over a counter, twice: vectorised, and the same on every
    machine and in every release of NumPy, which its generators do not promise.
    """
    with np.errstate(over="ignore"):  # arithmetic modulo 2**64 is the point
        key = _mix(np.array([(seed * 8 + stream) % 2**64], dtype=np.uint64))
        return _mix(key + index.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))


def _mix(bits: np.ndarray) -> np.ndarray:
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@dataclass(frozen=True, kw_only=True)
class MultiOf(Dataset):
    """Pairs of the digits of another data set, made as they are asked for."""

    base: Dataset

    def available(self, root: Path) -> bool:
        """Whether the digits are there."""
        return self.base.available(root)

    def load(self, split: str, root: Path) -> MultiDigits:
        """Pairs of a split's digits."""
        digits = self.base.load(split, root)
        assert isinstance(digits, ImageSet), "pairs are made of single digits"
        return MultiDigits(digits)

    def fetch(self, root: Path, progress: Progress | None = None) -> None:
        """Fetch the digits."""
        self.base.fetch(root, progress)


MULTI_MNIST = MultiOf(
    name="multi-mnist",
    title="MultiMNIST",
    classes=TEN_DIGITS,
    image=(1, 36, 36),
    train_count=MNIST.train_count * MULTI_PER_DIGIT,
    test_count=MNIST.test_count * MULTI_PER_DIGIT,
    layout="digit",
    source="Sabour, Frosst & Hinton 2017, made here from MNIST",
    licence=MNIST.licence,
    download_bytes=MNIST.download_bytes,
    objects=2,
    base=MNIST,
)
