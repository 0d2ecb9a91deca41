"""Blanking a part of an image, so that a network cannot rely on any one spot."""

from __future__ import annotations

import torch
from jaxtyping import Int64, Shaped
from torch import Tensor


def blank(
    images: Shaped[Tensor, "batch channel height width"], centres: Int64[Tensor, "batch 2"], side: int
) -> Shaped[Tensor, "batch channel height width"]:
    """Images of which a square of `side` pixels is set to zero (DeVries & Taylor 2017, "Cutout").

    centres: row and column of each image's square; where it reaches beyond the border, only its part within is blanked.
    A square of an even side has its centre right of and below the middle. Any dtype, which is kept; gradients pass.
    """
    height, width = images.shape[-2:]

    def blanked(centre: Tensor, length: int) -> Tensor:
        offset = torch.arange(length, device=images.device) - centre[:, None] + side // 2
        return (offset >= 0) & (offset < side)

    square = blanked(centres[:, 0], height)[:, :, None] & blanked(centres[:, 1], width)[:, None, :]
    return images * ~square[:, None]
