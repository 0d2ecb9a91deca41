"""Folders of drawn images, as a user would bring them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image, ImageDraw

COUNTS = {"a *round* one": 16, "bar": 12, "<b>cross</b>": 4}
"""Images of each class, unequal; names are text, whatever is in them."""
BROKEN = "bar/005.png"


@contextmanager
def renamed(path: Path, name: str) -> Iterator[Path]:
    """In here a file or folder has another name; afterwards its own again."""
    there = path.rename(path.with_name(name))
    try:
        yield there
    finally:
        there.rename(path)


def drawn(folder: Path, side: int = 20, mode: str = "RGB") -> Path:
    """A folder of three unequal classes, squares of `side` pixels, one file of it broken; its path."""
    for label, (name, count) in enumerate(COUNTS.items()):
        place = folder / name.replace("/", "∕")
        place.mkdir(parents=True)
        for number in range(count):
            picture = Image.new(mode, (side, side))
            pencil, at = ImageDraw.Draw(picture), side // 4 + number % 4
            box, half = (at, at, at + side // 2, at + side // 2), at + side // 4
            ink = (200 - 40 * label, 90 + 10 * (number % 5), 60 * label) if mode == "RGB" else 200
            if label == 0:
                pencil.ellipse(box, fill=ink)
            if label != 0:
                pencil.line((box[0], half, box[2], half), fill=ink, width=3)
            if label == 2:
                pencil.line((half, box[1], half, box[3]), fill=ink, width=3)
            picture.save(place / f"{number:03d}.png")
    (folder / BROKEN).write_bytes(b"no picture")
    return folder
