"""Signed numbers of the primary capsules, frame by frame, as the browser plays them: b while it climbs or trains.

Maps over the geometry, what is known of one capsule, and curves over the frames; `frontend/capsule-maps/` draws them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from capsviz.boards.message import Message
from capsviz.boards.theme import theme
from capsviz.figures.errors import FigureError
from capsviz.figures.geometry import Geometry
from capsviz.figures.theme import typical_reach


@dataclass(frozen=True)
class Map:
    """A signed number per capsule, "frame lower"; one frame alone stands still while others play.

    title: what it is; note: whose, in a line below; symbol: what the number is called. counted: its signs are counted.
    """

    title: str
    note: str
    symbol: str
    values: Float[ndarray, "frame lower"]
    counted: bool = False


@dataclass(frozen=True)
class Curve:
    """Numbers over the frames in one small chart: by name, a line of a colour; percent: shares 0..1, shown in %."""

    title: str
    lines: Mapping[str, tuple[str, Sequence[float]]]
    percent: bool = False


@dataclass(frozen=True)
class NumberedLine:
    """A line of the algorithm, with what it gives for one capsule and the class of the maps.

    math: the line in HTML. numbers: by what is written before each, its values "frame lower", or "frame" where they are
    of no capsule; or how many frames ago the first map had the number. looped: a line that is run anew for every frame,
    and lit when it is.
    """

    math: str
    numbers: Mapping[str, Float[ndarray, "frame *lower"] | int]
    looped: bool = True


@dataclass(frozen=True)
class CapsuleMaps:
    """One or two maps of the same grid, the names of their frames, and what stands beside them.

    steps: where each frame lies on the way, for the curves; histogram: how the first map's numbers are spread.
    image "channel height width" with the config of its network's convolutions: where a capsule looks. per_class: of
    every capsule the first map's quantity for all classes, "lower upper". lines: the algorithm, of which a frame is one
    round. alt: what they show, in a sentence.
    """

    grid: Geometry
    maps: tuple[Map, ...]
    frames: tuple[str, ...]
    steps: tuple[float, ...]
    alt: str
    curves: tuple[Curve, ...] = ()
    histogram: bool = False
    classes: tuple[str, ...] = ()
    upper: int = 0
    per_class: Float[ndarray, "lower upper"] | None = None
    lines: tuple[NumberedLine, ...] = ()
    image: Float[ndarray, "channel height width"] | None = None
    view: dict[str, list[int]] | None = None

    def __post_init__(self) -> None:
        for each in self.maps:
            if each.values.shape[1:] != (self.grid.lower,):
                raise FigureError(
                    f"The grid {self.grid.rows} × {self.grid.columns} × {self.grid.types} has {self.grid.lower} "
                    f"capsules, but {each.title} has {each.values.shape[-1]} numbers; give the grid of the model."
                )
            if len(each.values) not in (1, len(self.frames)):
                raise FigureError(f"{each.title} has {len(each.values)} frames and the maps {len(self.frames)}.")

    def message(self, *, dark: bool = False, hint: str = "Click a capsule to read its numbers.") -> Message:
        """What goes to the browser; hint: what is written where no capsule is chosen."""
        return Message({**self.fields(dark=dark), "hint": hint}, self.arrays())

    def fields(self, *, dark: bool) -> dict[str, Any]:
        """What JSON can hold of it, for a light or a dark page."""
        return {
            "grid": [self.grid.rows, self.grid.columns, self.grid.types],
            "shape": list(self.grid.cells.shape),
            "maps": [
                {
                    "title": each.title,
                    "note": each.note,
                    "symbol": each.symbol,
                    "counted": each.counted,
                    "frames": len(each.values),
                    "reach": typical_reach(each.values),
                    "low": float(each.values.min()),
                    "high": float(each.values.max()),
                }
                for each in self.maps
            ],
            "frames": list(self.frames),
            "curves": [
                {
                    "title": curve.title,
                    "percent": curve.percent,
                    "lines": [{"name": name, "colour": colour} for name, (colour, _) in curve.lines.items()],
                }
                for curve in self.curves
            ],
            "lines": [
                {
                    "math": line.math,
                    "looped": line.looped,
                    "numbers": [
                        {"text": text, "ago": values if isinstance(values, int) else None}
                        for text, values in line.numbers.items()
                    ],
                }
                for line in self.lines
            ],
            "histogram": self.histogram,
            "classes": list(self.classes),
            "upper": self.upper,
            "image": None if self.image is None else list(self.image.shape),
            "field": self.view,
            "alt": self.alt,
            "theme": theme(dark),
        }

    def arrays(self) -> dict[str, ndarray]:
        """Its numbers, to be sent flat: cells, steps, map0 …, curve0.0 …, line0.0 …; per_class and pixels if given."""
        found = {"cells": self.grid.cells.astype(float), "steps": np.array(self.steps, dtype=float)}
        found |= {f"map{number}": each.values for number, each in enumerate(self.maps)}
        for number, curve in enumerate(self.curves):
            found |= {f"curve{number}.{line}": np.array(v) for line, (_, v) in enumerate(curve.lines.values())}
        for number, line in enumerate(self.lines):
            given = enumerate(line.numbers.values())
            found |= {f"line{number}.{place}": values for place, values in given if not isinstance(values, int)}
        if self.per_class is not None:
            found["per_class"] = self.per_class
        if self.image is not None:
            found["pixels"] = self.image
        return found
