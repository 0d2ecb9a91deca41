"""The embedded set: 1797 real handwritten digits that scikit-learn carries, enlarged to the form of MNIST."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from PIL import Image

from capsviz.data.dataset import TEN_DIGITS, Dataset, check_split
from capsviz.data.images import ImageSet, stratified_split

if TYPE_CHECKING:
    from capsviz.waiting import Progress

GLYPH = 20  # MNIST's makers fitted each digit into 20×20 pixels in the middle of 28×28
SIDE = 28


@dataclass(frozen=True, kw_only=True)
class Digits(Dataset):
    """The embedded digits, 28×28 bytes, white on black; they need no network and no file.

    Source: `sklearn.datasets.load_digits` (UCI optical recognition of handwritten digits, 8×8, 17 levels).
    """

    def available(self, root: Path) -> bool:
        """True."""
        return True

    def load(self, split: str, root: Path) -> ImageSet:
        """A split, in memory."""
        check_split(split)
        rows = _rows()
        labels = torch.from_numpy(rows[:, -1].astype(np.int64))
        chosen = stratified_split(labels, split)
        levels = np.rint(rows[:, :-1].reshape(-1, 8, 8) * (255 / 16)).astype(np.uint8)
        images = np.stack([upscaled(levels[index]) for index in chosen.tolist()])
        return ImageSet(self.name, split, torch.from_numpy(images)[:, None], labels[chosen], self.classes)

    def fetch(self, root: Path, progress: Progress | None = None) -> None:
        """Nothing has to be fetched."""


def _rows() -> np.ndarray:
    """What scikit-learn carries, 64 levels and the digit in a row, read without importing it, which takes seconds."""
    found = find_spec("sklearn")
    file = Path(found.origin).parent / "datasets" / "data" / "digits.csv.gz" if found and found.origin else Path()
    if file.is_file():
        return np.loadtxt(file, delimiter=",")
    from sklearn.datasets import load_digits

    pixels, targets = load_digits(return_X_y=True)
    return np.concatenate([pixels, targets[:, None]], axis=1)


def upscaled(levels: np.ndarray) -> np.ndarray:
    """An 8×8 digit (uint8) as 28×28: bicubic to 20×20, with a margin of 4 on every side.

    Pillow resamples bytes in integer arithmetic, so the result is the same on every machine.
    """
    glyph = Image.fromarray(levels).resize((GLYPH, GLYPH), Image.Resampling.BICUBIC)
    return np.pad(np.asarray(glyph), (SIDE - GLYPH) // 2)


DIGITS = Digits(
    name="digits",
    title="Digits",
    classes=TEN_DIGITS,
    image=(1, SIDE, SIDE),
    train_count=1437,
    test_count=360,
    layout="digit",
    source="Alpaydin & Kaynak 1998, as scikit-learn carries it",
    licence="CC BY 4.0",
    start=189,
)
