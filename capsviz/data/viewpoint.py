"""Moving, turning and scaling images: what a change of viewpoint does to the input."""

from __future__ import annotations

import math

import torch
from jaxtyping import Shaped
from torch import Tensor
from torch.nn import functional


def shift(
    images: Shaped[Tensor, "batch channel height width"], dx: int | Tensor, dy: int | Tensor
) -> Shaped[Tensor, "batch channel height width"]:
    """Images moved by whole pixels, zeros where nothing moved in.

    `dx` pixels to the right and `dy` down, each one integer for all images or an integer tensor "batch"; any dtype,
    which is kept; gradients pass. Raises `TypeError` for a fractional shift.
    """
    batch, _, height, width = images.shape
    rows = torch.arange(height, device=images.device) - _per_image(dy, batch, images.device)[:, None]
    columns = torch.arange(width, device=images.device) - _per_image(dx, batch, images.device)[:, None]
    inside = ((rows >= 0) & (rows < height))[:, None, :, None] & ((columns >= 0) & (columns < width))[:, None, None, :]
    every = torch.arange(batch, device=images.device)[:, None, None]
    rows, columns = rows.clamp(0, height - 1)[:, :, None], columns.clamp(0, width - 1)[:, None]
    moved = images.permute(0, 2, 3, 1)[every, rows, columns]
    return moved.permute(0, 3, 1, 2).contiguous() * inside


def affine(
    images: Shaped[Tensor, "batch channel height width"],
    *,
    degrees: float | Tensor = 0.0,
    factor: float | Tensor = 1.0,
    shear: float | Tensor = 0.0,
) -> Shaped[Tensor, "batch channel height width"]:
    """Images sheared, enlarged and turned about their centre in one resampling, bilinear, zeros outside.

    degrees: anticlockwise; factor: above 1 enlarges; shear: by how many degrees upright lines lean to the left. Each is
    one number or a tensor "batch"; uint8 or floating images, the dtype is kept. Raises `ValueError` for a factor that
    is not above 0. As `torchvision.transforms.v2.functional.affine` with angle −degrees, but each image for itself.
    """
    batch, _, height, width = images.shape

    def each(value: float | Tensor) -> Tensor:
        return torch.as_tensor(value, dtype=torch.float32, device=images.device).expand(batch)

    factors, angle, lean = each(factor), each(degrees) * (math.pi / 180), torch.tan(each(shear) * (math.pi / 180))
    if not bool((factors > 0).all()):
        raise ValueError("A scale factor must be above 0: 1 leaves an image as it is.")
    cosine, sine = torch.cos(angle) / factors, torch.sin(angle) / factors
    # The grid runs from -1 to 1 along both axes whatever their lengths, hence the ratios.
    return _resample(
        images,
        cosine + sine * lean,
        (cosine * lean - sine) * (height / width),
        sine * (width / height),
        cosine,
    )


def rotate(
    images: Shaped[Tensor, "batch channel height width"], degrees: float | Tensor
) -> Shaped[Tensor, "batch channel height width"]:
    """Images turned anticlockwise about their centre; see `affine`."""
    return affine(images, degrees=degrees)


def scale(
    images: Shaped[Tensor, "batch channel height width"], factor: float | Tensor
) -> Shaped[Tensor, "batch channel height width"]:
    """Images enlarged (factor above 1) or shrunk about their centre on the same canvas; see `affine`."""
    return affine(images, factor=factor)


def _per_image(move: int | Tensor, batch: int, device: torch.device) -> Tensor:
    """A move as an integer tensor "batch"."""
    moves = torch.as_tensor(move, device=device)
    if moves.is_floating_point():
        raise TypeError("Images are shifted by whole pixels: give integers.")
    return moves.expand(batch)


def _resample(images: Tensor, xx: Tensor, xy: Tensor, yx: Tensor, yy: Tensor) -> Tensor:
    """Images read at the points that a linear map (from output to input, one per image) sends each pixel to."""
    nothing = torch.zeros_like(xx)
    maps = torch.stack([torch.stack([xx, xy, nothing], 1), torch.stack([yx, yy, nothing], 1)], 1)
    working = images if images.is_floating_point() else images.to(torch.float32)
    grid = functional.affine_grid(maps, list(images.shape), align_corners=False).to(working.dtype)
    moved = functional.grid_sample(working, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
    return moved if images.is_floating_point() else moved.round().clamp(0, 255).to(images.dtype)
