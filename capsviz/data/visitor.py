"""A visitor's picture: read safely whatever it is, then brought into the form that a model was trained on."""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image, ImageFilter, ImageOps, features
from torch import Tensor

from capsviz.data.errors import ImageError

# Checked in the header, before a pixel is decoded: 16 million pixels of colour are 48 MB.
MAX_PIXELS = 16_000_000
MAX_SIDE = 20_000  # a decoder keeps something for every row
MAX_SCANS = 100  # of a JPEG, each of which is decoded over the whole picture
WORKING_SIDE = 1024  # more than any model needs; larger pictures are reduced at once
LAYOUTS = ("digit", "article", "photo")

# Only formats that Pillow decodes itself (EPS is handed to another program), and not before the size is known (ICO is).
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP", "PPM")
_NAMES = "PNG, JPEG, GIF, WebP, TIFF or BMP"
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_JPEG = b"\xff\xd8"  # how one begins
_SCAN = re.compile(rb"\xff\xda\x00(?:\x08\x01|\x0a\x02|\x0c\x03|\x0e\x04)")  # and each pass of it: length, and of what
_ORIENTATION = 0x0112  # the EXIF tag
_TILE = (322, 323)  # TIFF's tags: width and length of a tile, which is decoded whole, however little of it is seen
_TOO_LARGE = (
    f"The picture has more than {MAX_PIXELS // 1_000_000} million pixels, or more than {MAX_SIDE} a side: make it "
    "smaller and upload it again."
)


@dataclass(frozen=True)
class Grey:
    """Which of the levels of a picture of more than 8 bits became black and white; kind: as in `Levels`."""

    kind: str
    black: float
    white: float


@dataclass(frozen=True)
class VisitorImage:
    """A picture as it should be seen, upright, opaque, 8-bit grey ("L") or colour ("RGB"), at most 1024 pixels a side.

    `notes` are sentences on what had to be done to it. grey: of one that had more than 8 bits of grey. full: width and
    height, upright, of one that was reduced.
    """

    image: Image.Image
    notes: tuple[str, ...] = ()
    grey: Grey | None = None
    full: tuple[int, int] | None = None


@dataclass(frozen=True)
class Prepared:
    """A picture as a model takes it: bytes "channel height width", and sentences on what was done on the way."""

    pixels: UInt8[Tensor, "channel height width"]
    notes: tuple[str, ...]
    inverted: bool = False


Levels = Mapping[str, tuple[float, float]]
"""The lowest and the highest level of grey of pictures of more than 8 bits, "I" of whole numbers, "F" of fractions."""


def levels_of(source: str | Path) -> Levels:
    """The levels of a file, empty for one of 8 bits or of colour, of which the header is read. Raises `ImageError`."""
    with _file(source) as file, _open(file) as picture:
        if not _deep(picture):
            return {}
        _check_size(picture)
        try:
            values = np.asarray(picture)
        except Exception as error:  # as in read_image
            raise ImageError("The picture is truncated or damaged: export or upload it again.") from error
        low, high = float(values.min()), float(values.max())
        return {picture.mode[0]: (low, high)} if math.isfinite(low + high) else {}


def read_image(source: bytes | bytearray | memoryview | str | Path) -> VisitorImage:
    """Read a picture from bytes or a path.

    The first frame of an animation, turned as EXIF says, 16-bit grey scaled by its own levels, transparency filled with
    whichever of black and white shows what is drawn. Raises `ImageError` with one sentence for what is empty, no
    picture, too large, truncated or damaged; the size is checked before anything is decoded.
    """
    data = _bytes_of(source)
    if not data:
        raise ImageError("The file is empty (0 bytes): choose another one.")
    if data.startswith(_JPEG) and len(_SCAN.findall(data)) > MAX_SCANS:
        raise ImageError(f"The picture comes in more than {MAX_SCANS} passes: export it anew and upload it again.")
    with _open(io.BytesIO(data)) as picture:
        _check_size(picture)
        full = picture.size
        try:
            # MPO is a JPEG that carries further views of the same photo
            several = picture.format != "MPO" and getattr(picture, "is_animated", False)
            picture.draft(picture.mode, (WORKING_SIDE, WORKING_SIDE))  # JPEG decodes at a fraction; others ignore it
            picture.load()
            orientation = _orientation(picture)
            seen = _opaque(picture)
        except ImageError:
            raise
        except MemoryError as error:
            raise ImageError(_TOO_LARGE) from error
        except Exception as error:  # decoders of damaged files raise whatever they stumble over
            raise ImageError("The picture is truncated or damaged: export or upload it again.") from error
    upright, notes = seen.image, list(seen.notes)
    if several:
        notes.insert(0, "The file holds several frames: the first one is used.")
    if orientation in _TURNS:
        upright = upright.transpose(_TURNS[orientation])
        notes.append("The picture was turned as its camera recorded.")
    if (full[0] < full[1]) != (upright.width < upright.height):
        full = full[::-1]
    return VisitorImage(upright, tuple(notes), seen.grey, full if max(full) > max(upright.size) else None)


def prepare(
    image: VisitorImage | Image.Image,
    shape: tuple[int, int, int],
    *,
    layout: str | None = None,
    invert: bool | None = None,
    levels: Levels | None = None,
) -> Prepared:
    """Bring a picture into the form of a model's training images, bytes of `shape` (channels, height, width).

    `layout` says how the training images were made: "digit" as MNIST's makers did (the ink fitted into 20/28 of the
    side, its centre of mass put at the centre), "article" as Fashion-MNIST's (fitted into the whole side, its box
    centred), "photo" the middle of the picture. Default: "digit" for one channel, "photo" for three;
    `DATASETS[name].layout` knows better. `invert` turns dark on bright into bright on dark; None decides by the
    median of the border (never for "photo"). levels: of the training images, as which a picture of more than 8 bits of
    grey is then scaled, and not by its own. Raises `ImageError` for a shape or layout that there is not.
    """
    channels, height, width = shape
    if channels not in (1, 3) or height < 1 or width < 1:
        raise ImageError(f"No picture can be brought to the shape {shape}: models take 1 or 3 channels.")
    layout = layout or ("digit" if channels == 1 else "photo")
    if layout not in LAYOUTS:
        raise ImageError(f"There is no layout {layout!r}: choose one of {', '.join(LAYOUTS)}.")
    seen = image if isinstance(image, VisitorImage) else _opaque(image)
    picture, notes = seen.image, list(seen.notes)
    if seen.grey and levels and seen.grey.kind in levels:
        picture, white = _rescaled(picture, seen.grey, levels[seen.grey.kind])
        notes.append(f"White is the level {white:,.6g}, as in the images of the model.")
    if layout == "photo":
        return _photo(picture, shape, bool(invert), notes)
    grey = np.asarray(picture.convert("L"), dtype=np.float32)
    ink, drawn, noisy, inverted = _ink(grey, invert)
    if invert and drawn.any():
        notes.append("The picture was inverted, as asked.")
    elif inverted and drawn.any():
        notes.append(
            "What is drawn is darker than its background, so the picture was inverted: the model knows bright strokes "
            "on black."
        )
    if noisy:
        notes.append("The background was evened out to black.")
    if not drawn.any():
        pixels = np.zeros((height, width), dtype=np.uint8)
        notes.append("Nothing stands out from its background: the model sees an empty picture.")
    elif picture.size == (width, height):
        pixels = ink
        notes.append("The picture has the model's own size and was left where it is.")
    else:
        pixels = _place(ink, drawn, height, width, layout, notes)
    return Prepared(torch.from_numpy(pixels)[None].repeat(channels, 1, 1), tuple(notes), inverted)


def _bytes_of(source: bytes | bytearray | memoryview | str | Path) -> bytes:
    if not isinstance(source, (str, Path)):
        return bytes(source)
    with _file(source) as file:
        return file.read()


@contextmanager
def _file(source: str | Path) -> Iterator[io.BufferedReader]:
    try:
        path = Path(os.path.expanduser(source))
        if not path.is_file() and path.exists():  # a device or a pipe may have no end
            raise ImageError(f"{source} is no file: check the path.")
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise ImageError(f"{source} cannot be opened ({error.strerror}): check the path.") from error


def _open(file: io.BytesIO | io.BufferedReader) -> Image.Image:
    """The picture with its header read and nothing decoded."""
    formats: list[str] = [*_FORMATS, *(["AVIF"] if features.check("avif") else [])]
    try:
        return Image.open(file, formats=formats)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ImageError(_TOO_LARGE) from error
    except Exception as error:  # headers of foreign files make the format plugins raise all sorts of things
        file.seek(0)
        if file.read(12)[4:12] in (b"ftypheic", b"ftypheix", b"ftypmif1"):
            raise ImageError("HEIC photos cannot be read: save the photo as JPEG or PNG and upload that.") from error
        raise ImageError(f"This is not a picture that can be read: choose a file in {_NAMES} format.") from error


def _check_size(picture: Image.Image) -> None:
    tile = [getattr(picture, "tag_v2", {}).get(tag, 1) for tag in _TILE]
    sides = [*picture.size, *(side if isinstance(side, int) else MAX_SIDE + 1 for side in tile)]
    if max(map(math.prod, (sides[:2], sides[2:]))) > MAX_PIXELS or max(sides) > MAX_SIDE:
        raise ImageError(_TOO_LARGE)


def _orientation(picture: Image.Image) -> object:
    """As which the camera was held, None where nobody says so: a picture is whole without that."""
    try:
        return picture.getexif().get(_ORIENTATION)
    except Exception:  # of EXIF that is none, Pillow raises whatever it stumbles over
        return None


def _deep(picture: Image.Image) -> bool:
    """Whether it has more than 8 bits of grey."""
    return picture.mode.startswith("I") or picture.mode == "F"


def _opaque(picture: Image.Image) -> VisitorImage:
    """The picture as "L" or "RGB", reduced to the working size."""
    notes: list[str] = []
    grey = None
    if _deep(picture):
        picture, grey = _eight_bits(picture)
        notes.append("The grey levels were scaled to 8 bits.")
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
    elif picture.mode in ("1", "L"):
        picture = picture.convert("L")
    else:
        picture = picture.convert("RGB")
    if max(picture.size) > WORKING_SIDE:
        picture = picture.copy()  # thumbnail works in place, and the caller's picture is not ours
        picture.thumbnail((WORKING_SIDE, WORKING_SIDE), Image.Resampling.BICUBIC, reducing_gap=2.0)
    if picture.mode == "RGBA":
        picture, note = _fill(picture)
        if note:
            notes.append(note)
    return VisitorImage(picture, tuple(notes), grey)


def _eight_bits(picture: Image.Image) -> tuple[Image.Image, Grey]:
    """Grey as bytes, by its own levels."""
    values = np.asarray(picture)
    low, high = float(values.min()), float(values.max())
    if not math.isfinite(low) or not math.isfinite(high):  # so it is where one value is none
        raise ImageError("The picture holds values that are not numbers: save it as an ordinary PNG and upload that.")
    grey = _ends(picture.mode[0], low, high)
    scaled = np.empty(values.shape, np.uint8)
    for row, given in zip(scaled, values, strict=True):  # doubles of a whole picture are eight times its bytes
        row[:] = np.rint((given.astype(np.float64) - grey.black) * (255 / (grey.white - grey.black)))
    return Image.fromarray(scaled), grey


def _ends(kind: str, low: float, high: float) -> Grey:
    """Black and white of levels from low to high: 0 and the smallest depth (8, 10, 12, 16 bits) that holds them, of
    fractions 1, else the lowest and the highest.
    """
    depths: tuple[float, ...] = (255.0, 1023.0, 4095.0, 65535.0)
    if kind == "F" and high < 128:  # fractions, some a little above 1 where they were resampled
        depths = (1.0, high)
    depth = next((top for top in depths if low >= 0 and high <= top), None)
    # One level only, such as -3 everywhere, becomes black.
    return Grey(kind, 0.0, depth) if depth else Grey(kind, low, high if high > low else low + 1.0)


def _rescaled(picture: Image.Image, grey: Grey, levels: tuple[float, float]) -> tuple[Image.Image, float]:
    """A picture of bytes as it is with black and white of other levels, and the level that is white then."""
    ends = _ends(grey.kind, *levels)
    values = grey.black + np.arange(256) * ((grey.white - grey.black) / 255)
    scaled = np.rint((values - ends.black) * (255 / (ends.white - ends.black)))
    return picture.point(np.clip(scaled, 0, 255).astype(int).tolist()), ends.white


def _fill(picture: Image.Image) -> tuple[Image.Image, str]:
    """Transparency filled with black under something bright, with white under something dark."""
    alpha = np.asarray(picture.getchannel("A"), dtype=np.float32)
    if alpha.min() == 255:
        return picture.convert("RGB"), ""
    luminance = np.asarray(picture.convert("RGB").convert("L"), dtype=np.float32)
    bright = alpha.sum() > 0 and float((luminance * alpha).sum() / alpha.sum()) > 127.5
    background = Image.new("RGBA", picture.size, "black" if bright else "white")
    background.alpha_composite(picture)
    return background.convert("RGB"), f"Transparent parts were filled with {'black' if bright else 'white'}."


def _photo(picture: Image.Image, shape: tuple[int, int, int], invert: bool, notes: list[str]) -> Prepared:
    """The middle of the picture in the model's proportions."""
    channels, height, width = shape
    if picture.width * height != picture.height * width:
        notes.append("The picture was cropped to its middle.")
    fitted = ImageOps.fit(picture.convert("L" if channels == 1 else "RGB"), (width, height), Image.Resampling.BICUBIC)
    pixels = np.array(ImageOps.invert(fitted) if invert else fitted).reshape(height, width, channels)
    return Prepared(torch.from_numpy(pixels).permute(2, 0, 1).contiguous(), tuple(notes), invert)


class _Ink(NamedTuple):
    """What is drawn, bright on black (uint8 "height width"), which pixels count as drawn (bool "height width")."""

    ink: np.ndarray
    drawn: np.ndarray
    uneven: bool
    inverted: bool


def _ink(grey: np.ndarray, invert: bool | None) -> _Ink:
    """What is drawn on a picture, inverted where told so, or where that is how something stands out.

    The border tells the background: its median the level, its median deviation the unevenness (paper in a photo).
    Strokes that reach the border do not move a median unless they fill half of it. On a bright background what is
    darker counts as drawn, on a dark one what is brighter; where that is nothing, the other way round: paper in a dim
    room is dark, and ink on it darker.
    """
    border = np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])
    if invert is not None:
        return _stretched(grey, border, invert, told=True)
    likely = _stretched(grey, border, bool(np.median(border) > 127.5))
    if likely.drawn.any():
        return likely
    other = _stretched(grey, border, not likely.inverted)
    return other if other.drawn.any() else likely


def _stretched(grey: np.ndarray, border: np.ndarray, inverted: bool, *, told: bool = False) -> _Ink:
    """What is brighter than the background, or darker where inverted."""
    if inverted:
        grey, border = 255 - grey, 255 - border
    level = float(np.median(border))
    floor = level + 4.5 * float(np.median(np.abs(border - level)))  # three standard deviations of Gaussian noise
    if told and level > 127.5:  # a bright background that is to be kept is part of the picture
        floor = 0.0
    stretched = grey if floor == 0 else np.clip(grey - floor, 0, None) * (255 / (255 - min(floor, 254.0)))
    ink = np.rint(stretched).astype(np.uint8)
    return _Ink(ink, _drawn(ink, floor > 0), floor > 0, inverted)


def _drawn(ink: np.ndarray, noisy: bool) -> np.ndarray:
    """Which pixels count as drawn (bool "height width"): on uneven paper, not the single specks."""
    marked = ink > 5  # below that lie the rings that JPEG draws around strokes
    if not noisy:
        return marked
    mask = Image.fromarray(marked.astype(np.uint8) * 255)
    without_specks = np.asarray(mask.filter(ImageFilter.MedianFilter(3))) > 0
    if without_specks.any():  # hair-thin strokes would go too: then the specks may stay
        return without_specks
    # Of a stroke, however thin, most pixels have two neighbours that are drawn; of noise, hardly any.
    padded = np.pad(marked.astype(np.uint8), 1)
    around = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).sum(axis=(2, 3))
    lines = marked & (around >= 3)
    return marked if lines.sum() > 0.25 * marked.sum() else np.zeros_like(marked)


def _place(ink: np.ndarray, marked: np.ndarray, height: int, width: int, layout: str, notes: list[str]) -> np.ndarray:
    """The marked part fitted into its box and put on the model's canvas (uint8 "height width")."""
    canvas = np.zeros((height, width), dtype=np.uint8)
    rows, columns = np.flatnonzero(marked.any(axis=1)), np.flatnonzero(marked.any(axis=0))
    cropped = Image.fromarray(ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1])
    share = 20 / 28 if layout == "digit" else 1.0
    factor = min(height * share / cropped.height, width * share / cropped.width)
    size = (min(width, max(1, round(cropped.width * factor))), min(height, max(1, round(cropped.height * factor))))
    glyph = np.asarray(cropped.resize(size, Image.Resampling.BICUBIC))
    if layout == "digit" and 0 < glyph.max() < 192:
        glyph = np.rint(glyph * (255 / glyph.max())).astype(np.uint8)
        notes.append("Faint strokes were strengthened.")
    top, left = _corner(glyph, height, width, layout)
    canvas[top : top + glyph.shape[0], left : left + glyph.shape[1]] = glyph
    where = "its centre of mass in the middle" if layout == "digit" else "put in the middle"
    notes.append(f"What is drawn was cut out, scaled to {size[0]}×{size[1]} pixels and {where}.")
    return canvas


def _corner(glyph: np.ndarray, height: int, width: int, layout: str) -> tuple[int, int]:
    """Where the glyph's upper left pixel goes, always so that all of it stays on the canvas."""
    middle = (glyph.shape[0] / 2, glyph.shape[1] / 2)
    if layout == "digit" and glyph.any():
        mass = glyph.astype(np.float64)
        middle = (
            float((mass.sum(axis=1) * np.arange(glyph.shape[0])).sum() / mass.sum()),
            float((mass.sum(axis=0) * np.arange(glyph.shape[1])).sum() / mass.sum()),
        )
    # In MNIST the mean centre of mass is pixel (14.0, 14.0), counted from 0: half the side, not half of side - 1.
    top, left = round(height / 2 - middle[0]), round(width / 2 - middle[1])
    return min(max(top, 0), height - glyph.shape[0]), min(max(left, 0), width - glyph.shape[1])
