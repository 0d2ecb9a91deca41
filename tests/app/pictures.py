"""Files that visitors upload: good, strange and bad."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
from PIL import Image


def digit(mode: str = "L", size: int = 84) -> Image.Image:
    """A thick white bar on black, slightly off the middle: something that every model reads as some digit."""
    pixels = np.zeros((size, size), dtype=np.uint8)
    pixels[size // 6 : -size // 6, size // 2 : size // 2 + size // 8] = 255
    return Image.fromarray(pixels).convert(mode)


def noise(size: int = 84) -> Image.Image:
    """Grey noise."""
    levels = np.random.default_rng(0).normal(128, 20, (size, size))
    return Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8))


def encoded(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    """The image as a file."""
    file = io.BytesIO()
    image.save(file, format=kind, **options)
    return file.getvalue()


def transparent() -> bytes:
    """A black bar on nothing."""
    picture = Image.new("RGBA", (84, 84), (0, 0, 0, 0))
    picture.paste((0, 0, 0, 255), (38, 12, 48, 72))
    return encoded(picture)


def sixteen_bit() -> bytes:
    """Grey levels up to 40 000."""
    return encoded(Image.fromarray(np.asarray(digit()).astype(np.uint16) * 157))


def animated() -> bytes:
    """A GIF of three frames."""
    frames = [digit().rotate(angle) for angle in (0, 20, 40)]
    return encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])


def turned() -> bytes:
    """A photograph that its camera recorded as lying on its side."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return encoded(digit("RGB"), "JPEG", exif=exif)


def enormous(width: int = 30_000, height: int = 30_000) -> bytes:
    """A valid PNG header that promises so many pixels, and next to no pixels."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")
