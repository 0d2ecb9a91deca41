"""Moving, turning, scaling, shearing and brightening images: what a change of viewpoint does to the input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

import torch
from jaxtyping import Shaped
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True)
class Change:
    """What one number of a viewpoint does, and how far it goes: from low to high in steps; neutral changes nothing."""

    name: str
    title: str
    does: str
    unit: str
    low: float
    high: float
    step: float
    neutral: float = 0.0

    @property
    def steps(self) -> int:
        """How many lead from low to high."""
        return round((self.high - self.low) / self.step)

    def written(self, amount: float) -> str:
        """An amount with its unit, as screens say it: "−30°", "2 px", "× 1.2"."""
        number = f"{amount:g}".replace("-", "−")
        return f"{self.unit} {number}" if self.unit == "×" else f"{number}{'' if self.unit == '°' else ' '}{self.unit}"


CHANGES = {
    change.name: change
    for change in (
        Change("rotation", "Rotation", "Degrees anticlockwise about the centre.", "°", -60.0, 60.0, 1.0),
        Change("right", "Shift right", "Pixels to the right; below 0 to the left.", "px", -8.0, 8.0, 1.0),
        Change("down", "Shift down", "Pixels down; below 0 up.", "px", -8.0, 8.0, 1.0),
        Change("scale", "Scale", "Above 1 enlarges, about the centre.", "×", 0.6, 1.6, 0.05, 1.0),
        Change("shear", "Shear", "Degrees by which upright lines lean to the left.", "°", -30.0, 30.0, 1.0),
        Change("brightness", "Brightness", "What every pixel is multiplied by, up to white.", "×", 0.3, 1.7, 0.05, 1.0),
    )
}
"""The changes of viewpoint that are shown and measured, and their ranges, by name."""


@dataclass(frozen=True, repr=False)
class Viewpoint:
    """A transformation T of images, as in f(Tx): the amount of each of `CHANGES`; true where anything is changed."""

    rotation: float = 0.0
    right: float = 0.0
    down: float = 0.0
    scale: float = 1.0
    shear: float = 0.0
    brightness: float = 1.0

    @property
    def changes(self) -> dict[str, float]:
        """The amounts that change anything, by name."""
        amounts = {field.name: float(getattr(self, field.name)) for field in fields(self)}
        return {name: amount for name, amount in amounts.items() if amount != CHANGES[name].neutral}

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __repr__(self) -> str:
        return f"Viewpoint({', '.join(f'{name}={amount!r}' for name, amount in self.changes.items())})"

    def __str__(self) -> str:
        """In words: "rotation −30°, scale × 1.2"."""
        return ", ".join(
            f"{CHANGES[name].title.lower()} {CHANGES[name].written(x)}" for name, x in self.changes.items()
        )

    def __call__(
        self, images: Shaped[Tensor, "*batch channel height width"]
    ) -> Shaped[Tensor, "*batch channel height width"]:
        """Tx in one resampling, as `transformed`, of uint8 or floating images in 0..1; x itself where T is identity."""
        if not self:
            return images
        return transformed(images.reshape(-1, *images.shape[-3:]), self.changes).reshape(images.shape)


def transformed(
    images: Shaped[Tensor, "batch channel height width"], amounts: Mapping[str, float | Tensor]
) -> Shaped[Tensor, "batch channel height width"]:
    """Images under changes of viewpoint: in one resampling as `affine`, then as `brighten`; the dtype is kept.

    amounts: by name of `CHANGES`, one number or a tensor "batch" each; what is not named changes nothing.
    """
    rest = dict(amounts)
    brightness = rest.pop("brightness", 1.0)
    named = {{"rotation": "degrees", "scale": "factor"}.get(name, name): amount for name, amount in rest.items()}
    return brighten(affine(images, **named) if named else images, brightness)


def brighten(
    images: Shaped[Tensor, "batch channel height width"], factor: float | Tensor
) -> Shaped[Tensor, "batch channel height width"]:
    """Images whose pixels are multiplied by a factor, up to white: 255, or 1 where they are floating.

    factor: one number of at least 0, or a tensor "batch"; the dtype is kept. As `v2.functional.adjust_brightness` of
    torchvision, but each image for itself. Raises `ValueError` for a factor below 0.
    """
    factors = torch.as_tensor(factor, dtype=torch.float32, device=images.device).expand(len(images))
    if bool((factors < 0).any()):
        raise ValueError("Brightness must be at least 0: 1 leaves an image as it is.")
    brighter = images * factors[:, None, None, None]
    return brighter.clamp(0, 1 if images.is_floating_point() else 255).to(images.dtype)


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
    right: float | Tensor = 0.0,
    down: float | Tensor = 0.0,
) -> Shaped[Tensor, "batch channel height width"]:
    """Images sheared, enlarged and turned about their centre, then moved, in one resampling, bilinear, zeros outside.

    degrees: anticlockwise; factor: above 1 enlarges; shear: by how many degrees upright lines lean to the left; right,
    down: by how many pixels. Each is one number or a tensor "batch"; uint8 or floating images, the dtype is kept.
    Raises `ValueError` for a factor that is not above 0. As `torchvision.transforms.v2.functional.affine` with angle
    −degrees, but each image for itself.
    """
    batch, _, height, width = images.shape

    def each(value: float | Tensor) -> Tensor:
        return torch.as_tensor(value, dtype=torch.float32, device=images.device).expand(batch)

    factors, angle, lean = each(factor), each(degrees) * (math.pi / 180), torch.tan(each(shear) * (math.pi / 180))
    if not bool((factors > 0).all()):
        raise ValueError("A scale factor must be above 0: 1 leaves an image as it is.")
    cosine, sine = torch.cos(angle) / factors, torch.sin(angle) / factors
    # The grid runs from -1 to 1 along both axes whatever their lengths, hence the ratios.
    linear = (
        cosine + sine * lean,
        (cosine * lean - sine) * (height / width),
        sine * (width / height),
        cosine,
    )
    return _resample(images, linear, (each(right) * (2 / width), each(down) * (2 / height)))


def _per_image(move: int | Tensor, batch: int, device: torch.device) -> Tensor:
    """A move as an integer tensor "batch"."""
    moves = torch.as_tensor(move, device=device)
    if moves.is_floating_point():
        raise TypeError("Images are shifted by whole pixels: give integers.")
    return moves.expand(batch)


def _resample(images: Tensor, linear: tuple[Tensor, ...], move: tuple[Tensor, Tensor]) -> Tensor:
    """Images read where a linear map (from output to input, one per image) sends each pixel after its move back."""
    if not len(images):
        return images
    (xx, xy, yx, yy), (x, y) = linear, move
    maps = torch.stack([torch.stack([xx, xy, -xx * x - xy * y], 1), torch.stack([yx, yy, -yx * x - yy * y], 1)], 1)
    # In half precision the grid would be off by parts of a pixel, and some pixels NaN.
    working = images.to(torch.promote_types(images.dtype, torch.float32))
    grid = functional.affine_grid(maps, list(images.shape), align_corners=False).to(working.dtype)
    moved = functional.grid_sample(working, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
    return (moved if images.is_floating_point() else moved.round().clamp(0, 255)).to(images.dtype)
