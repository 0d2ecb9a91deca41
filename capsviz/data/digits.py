"""The embedded set: 1797 real handwritten digits that scikit-learn carries, enlarged to the form of MNIST."""

from __future__ import annotations

import numpy as np
import torch
from PIL import Image

from capsviz.data.images import ImageSet, stratified_split
from capsviz.data.info import DATASETS, check_split

GLYPH = 20  # MNIST's makers fitted each digit into 20×20 pixels in the middle of 28×28
SIDE = 28


def load_digits(split: str) -> ImageSet:
    """The embedded digits, 1437 to train and 360 to test, 28×28 bytes, white on black; needs no network and no file.

    Source: `sklearn.datasets.load_digits` (UCI optical recognition of handwritten digits, 8×8, 17 levels).
    """
    from sklearn.datasets import load_digits as source  # imported here: it takes most of a second

    check_split(split)
    pixels, targets = source(return_X_y=True)
    labels = torch.from_numpy(targets.astype(np.int64))
    chosen = stratified_split(labels, split)
    levels = np.rint(pixels.reshape(-1, 8, 8) * (255 / 16)).astype(np.uint8)
    images = np.stack([enlarge(levels[index]) for index in chosen.tolist()])
    return ImageSet("digits", split, torch.from_numpy(images)[:, None], labels[chosen], DATASETS["digits"].classes)


def enlarge(levels: np.ndarray) -> np.ndarray:
    """An 8×8 digit (uint8) as 28×28: bicubic to 20×20, with a margin of 4 on every side.

    Pillow resamples bytes in integer arithmetic, so the result is the same on every machine.
    """
    canvas = np.zeros((SIDE, SIDE), dtype=np.uint8)
    margin = (SIDE - GLYPH) // 2
    glyph = Image.fromarray(levels).resize((GLYPH, GLYPH), Image.Resampling.BICUBIC)
    canvas[margin : margin + GLYPH, margin : margin + GLYPH] = np.asarray(glyph)
    return canvas
