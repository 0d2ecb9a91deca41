"""A visitor's picture as a part of the link: the pixels that the model sees, as PNG, in letters of a link."""

from __future__ import annotations

import base64
import binascii
import io
import struct
from functools import lru_cache

import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from capsviz import data
from capsviz.data import ImageError

LARGEST = 64
"""Pixels of a side: shipped models take 28 or 32, and a link is to stay one that can be sent."""
_HEADER = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
"""How every PNG begins; width and height follow."""
LONGEST = 24_000
"""Letters: more than 64 × 64 pixels in colour ever need."""
_DAMAGED = "The picture in the link is damaged"


def form(image: tuple[int, int, int]) -> tuple[int, int, int]:
    """The form (channels, height, width) in which a link holds a picture for a model of images of the form `image`."""
    channels, *sides = image
    share = min(1, LARGEST / max(sides))
    height, width = (max(1, round(side * share)) for side in sides)
    return channels, height, width


def coarser(image: tuple[int, int, int]) -> bool:
    """Whether a link holds a picture with fewer pixels than a model of images of the form `image` takes."""
    return form(image) != tuple(image)


def written(pixels: UInt8[Tensor, "channel height width"]) -> str:
    """The picture as a link holds it; a drawn digit takes about 500 letters."""
    file = io.BytesIO()
    as_image(pixels).save(file, "PNG", optimize=True)
    return base64.urlsafe_b64encode(file.getvalue()).decode().rstrip("=")


def read(text: str) -> UInt8[Tensor, "channel height width"]:
    """The picture that `written` gave, pixel by pixel; raises ValueError where the text is none.

    Nothing but a PNG whose header says a size that `written` could have given is decoded.
    """
    found = _read(text) if len(text) <= LONGEST and text.isascii() else _DAMAGED
    if isinstance(found, str):
        raise ValueError(found)
    return found


@lru_cache(maxsize=256)
def _read(text: str) -> Tensor | str:
    """The picture, or what is wrong with it: a link that is opened again and again is read once, whatever it holds."""
    try:
        png = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        return _DAMAGED
    if len(png) < len(_HEADER) + 8 or not png.startswith(_HEADER):
        return _DAMAGED
    if max(struct.unpack_from(">II", png, len(_HEADER))) > LARGEST:
        return f"The picture in the link has more than {LARGEST} pixels a side"
    try:
        picture = data.read_image(png).image
    except ImageError:
        return _DAMAGED
    width, height = picture.size
    flat = torch.frombuffer(bytearray(picture.tobytes()), dtype=torch.uint8)
    return flat.view(height, width, -1).permute(2, 0, 1).contiguous()


def as_image(pixels: UInt8[Tensor, "channel height width"]) -> Image.Image:
    """Grey or colour, as Pillow has it."""
    return Image.fromarray(pixels.permute(1, 2, 0).squeeze(-1).numpy())
