"""Images as figures show them: pixels with sharp edges, without axes, their numbers at the pointer."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from jaxtyping import Float, Float32, UInt8
from numpy import ndarray
from PIL import Image
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d

from capsviz.figures.errors import FigureError
from capsviz.figures.theme import TICK, Span, channels

GREY: list[list[Any]] = [[0, "#000000"], [1, "#ffffff"]]
MOST_PIXELS = 1_000_000
"""Of a mosaic."""
GAP = 2
"""Pixels between its images."""
HIDDEN: dict[str, Any] = {"visible": False, "showgrid": False, "zeroline": False, "constrain": "domain"}
TICKS: dict[str, Any] = {
    "visible": True,
    "tickmode": "array",
    "ticks": "",
    "showgrid": False,
    "showline": False,
    "zeroline": False,
    "tickfont": {"size": TICK},
    "tickangle": 0,
}
"""Of an axis that is named at chosen places, and has no line of its own."""


def numbers(values: Tensor | ndarray | list[Any]) -> Float[ndarray, "..."]:
    """Any array or tensor as float64 numbers in memory of this process."""
    if isinstance(values, Tensor):
        values = values.detach().cpu().double().numpy()
    return np.asarray(values, dtype=np.float64)


def shares(images: Tensor | ndarray) -> Float[ndarray, "..."]:
    """As `numbers`, bytes 0 to 255 as 0 to 1."""
    found = numbers(images)
    return found / 255 if images.dtype in (torch.uint8, np.uint8) else found


def rounded(values: ndarray, digits: int = 4) -> list[Any]:
    """Nested lists of short numbers: smaller in the page than plotly's base64, and readable in a saved file."""
    return np.round(np.asarray(values, dtype=np.float64), digits).tolist()


def without_nan(values: Float[ndarray, "height width"], digits: int = 4) -> list[list[float | None]]:
    """As `rounded`, gaps (NaN) as None: JSON has no NaN."""
    return [[None if value != value else value for value in line] for line in rounded(values, digits)]


def packed(values: Float[ndarray, "height width"], digits: int = 3) -> Float32[ndarray, "height width"]:
    """Short numbers of a heat map, gaps as NaN: plotly takes an array as it is, and looks at each number of a list."""
    return np.round(values, digits).astype(np.float32)


def pixels(image: Tensor | ndarray) -> Float[ndarray, "height width *colour"]:
    """An image as height × width (grey) or height × width × 3, from either that or channel × height × width.

    Bytes 0 to 255 become 0 to 1. Raises FigureError for anything that is no image of one or three channels.
    """
    array = shares(image)
    if array.ndim == 3 and array.shape[-1] not in (1, 3) and array.shape[0] in (1, 3):
        array = np.moveaxis(array, 0, -1)
    if array.ndim == 3 and array.shape[-1] == 1:
        array = array[..., 0]
    if array.ndim == 2 or (array.ndim == 3 and array.shape[-1] == 3):
        return array
    shape = " × ".join(map(str, array.shape))
    raise FigureError(f"An array of {shape} is no image; give height × width, with 1 or 3 channels first or last.")


def picture(image: Tensor | ndarray, name: str = "", *, place: dict[str, Any] | None = None) -> go.Heatmap | go.Image:
    """A trace that shows one image of values in [0, 1]; `name` opens the text at the pointer, `place` names its axes.

    The image's shape is that of `pixels`.
    """
    array = pixels(image)
    opening = f"{name}<br>" if name else ""
    if array.ndim == 3:
        return go.Image(
            source=png(in_bytes(array)),
            hovertemplate=f"{opening}row %{{y}} column %{{x}}<br>red, green, blue %{{z}}<extra></extra>",
            **(place or {}),
        )
    return go.Heatmap(
        z=packed(array),
        zmin=0,
        zmax=1,
        colorscale=GREY,
        showscale=False,
        hovertemplate=f"{opening}row %{{y}} column %{{x}}<br>intensity %{{z:.2f}}<extra></extra>",
        **(place or {}),
    )


def in_colours(
    drawings: Float[Tensor, "object channel height width"], colours: Sequence[str]
) -> Float[ndarray, "height width 3"]:
    """Drawings of several objects laid over one another on black, each in its own colour; where they meet colours add.

    drawings: in [0, 1], of which the mean over the channels counts; colours: one for each, as "#rrggbb". Source:
    Sabour, Frosst & Hinton 2017, Figure 5.
    """
    inks = np.array([channels(colour) for colour in colours]) / 255
    return np.clip(np.einsum("ohw,oc->hwc", numbers(drawings).mean(axis=1), inks), 0, 1)


def mosaic(images: Tensor | ndarray, *, gap: int = GAP) -> tuple[UInt8[ndarray, "height width 4"], tuple[int, int]]:
    """Many images in one: "row column …image…" in [0, 1] becomes RGBA bytes with transparent gaps, and the pitch.

    The pitch is the distance in pixels from one image to the next, down and across. Where they have more than
    `MOST_PIXELS` together, each is made smaller: a screen shows no more, and a browser has to be sent them.
    """
    array = shares(images)
    rows, columns = array.shape[:2]
    height, width = pixels(array[0, 0]).shape[:2]
    by = _shrinking(rows * columns * height * width)
    cells = [[_smaller(pixels(array[row, column]), by) for column in range(columns)] for row in range(rows)]
    height, width = cells[0][0].shape[:2]
    down, across = height + gap, width + gap
    canvas = np.zeros((rows * down - gap, columns * across - gap, 4), dtype=np.uint8)
    for row in range(rows):
        for column in range(columns):
            image = cells[row][column]
            target = canvas[row * down : row * down + height, column * across : column * across + width]
            target[..., :3] = in_bytes(image if image.ndim == 3 else image[..., None])
            target[..., 3] = 255
    return canvas, (down, across)


def reduced(images: Float[ndarray, "count *image"]) -> Float[ndarray, "count *smaller"]:
    """Images, "count height width" or "count channel height width", as small as `mosaic` makes a row of them."""
    return _pooled(images, _shrinking(len(images) * math.prod(images.shape[-2:])))


def _shrinking(numbers: int) -> int:
    """How many pixels a side become one, of images that have so many together."""
    return math.ceil(math.sqrt(numbers / MOST_PIXELS))


def _smaller(image: Float[ndarray, "height width *colour"], by: int) -> Float[ndarray, "down across *colour"]:
    """An image of a pixel for each `by` × `by`, their mean."""
    return _pooled(image, by) if image.ndim == 2 else _pooled(image.transpose(2, 0, 1), by).transpose(1, 2, 0)


def _pooled(planes: Float[ndarray, "*planes height width"], by: int) -> Float[ndarray, "*planes down across"]:
    """Planes of a pixel for each `by` × `by`, their mean."""
    if by == 1:
        return planes
    height, width = planes.shape[-2:]
    sides = (math.ceil(height / by), math.ceil(width / by))
    every = torch.from_numpy(np.ascontiguousarray(planes)).reshape(-1, height, width)
    return adaptive_avg_pool2d(every, sides).reshape(*planes.shape[:-2], *sides).numpy()


def mosaic_traces(
    canvas: UInt8[ndarray, "height width 4"],
    pitch: tuple[int, int],
    texts: list[list[str]],
    *,
    place: dict[str, Any] | None = None,
) -> list[go.Image | go.Heatmap]:
    """The traces of a mosaic: the picture, and over it one unseen cell per image, which says at the pointer what it is.

    texts: what the pointer says, in the rows and columns of the mosaic, which has the usual gap.
    """
    down, across = pitch
    unseen = [[0, "rgba(0,0,0,0)"], [1, "rgba(0,0,0,0)"]]
    return [
        go.Image(source=png(canvas), hoverinfo="skip", **(place or {})),
        go.Heatmap(
            z=np.zeros((len(texts), len(texts[0])), dtype=np.uint8),
            x0=middle(across),
            dx=across,
            y0=middle(down),
            dy=down,
            text=np.array(texts, dtype=object),
            colorscale=unseen,
            showscale=False,
            hovertemplate="%{text}<extra></extra>",
            **(place or {}),
        ),
    ]


def middle(pitch: int, place: int = 0) -> float:
    """Where along an axis of a mosaic the image of a place, counted from 0, has its middle."""
    return place * pitch + (pitch - GAP - 1) / 2


def png(array: UInt8[ndarray, "height width channel"]) -> str:
    """Bytes of an RGB or RGBA image as a data URI; to compress it more takes ten times as long and saves a fifth."""
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, format="PNG", compress_level=1)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def image_axes(
    number: int,
    x: Span,
    y: Span,
    *,
    towards: str = "middle",
    size: tuple[int, int] | None = None,
) -> dict[str, dict[str, Any]]:
    """Layout entries of the hidden axes pair `number` (1, 2, …): square pixels, row 0 at the top.

    x, y: the panel, in shares of the plotting area; towards: "top", "middle" or "bottom", where a picture stands that
    is too wide to fill its panel. size: height and width of the picture in pixels; where given, the range is these
    pixels and two around them, whatever else is drawn.
    """
    suffix = "" if number == 1 else str(number)
    across: dict[str, Any] = {}
    down: dict[str, Any] = {"autorange": "reversed"}
    if size is not None:
        across, down = {"range": [-2.5, size[1] + 1.5]}, {"range": [size[0] + 1.5, -2.5]}
    return {
        f"xaxis{suffix}": {**HIDDEN, **across, "domain": list(x), "anchor": f"y{suffix}"},
        f"yaxis{suffix}": {
            **HIDDEN,
            **down,
            "domain": list(y),
            "anchor": f"x{suffix}",
            "scaleanchor": f"x{suffix}",
            "constraintoward": towards,
        },
    }


def on(number: int) -> dict[str, str]:
    """The axes pair `number` as a trace names it."""
    suffix = "" if number == 1 else str(number)
    return {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}


def in_bytes(array: ndarray) -> UInt8[ndarray, "..."]:
    """Numbers in [0, 1] as bytes, what lies beyond cut off."""
    return np.round(255 * np.clip(array, 0, 1)).astype(np.uint8)
