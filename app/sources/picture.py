"""The picture on stage, and how an image is brought into the form that a model takes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jaxtyping import UInt8
from torch import Tensor

from app.sources import linked_picture
from capsviz import data, zoo
from capsviz.data import Viewpoint
from capsviz.figures.picture import png


@dataclass(frozen=True)
class Picture:
    """An image in the form that a model takes, and what is to be said about it."""

    pixels: UInt8[Tensor, "channel height width"]
    title: str
    """What it is, in a few words: “MNIST test image 7”."""
    labels: tuple[int, ...]
    """What it shows, among the model's classes; empty where that is not known."""
    notes: tuple[str, ...] = ()
    origin: tuple[str, str, int] | None = None
    """Data set, split and index, where the pixels are exactly these, under the viewpoint."""
    recording: tuple[str, int] | None = None
    """Recording and index, where a trace of it was recorded."""
    viewpoint: Viewpoint = Viewpoint()
    """T, where the pixels are Tx."""
    plain: UInt8[Tensor, "channel height width"] | None = None
    """x, where a viewpoint is changed."""

    def seen(self, viewpoint: Viewpoint) -> Picture:
        """The picture under a viewpoint; its labels stay, and no trace of it was recorded."""
        if not viewpoint:
            return self
        return replace(
            self,
            pixels=viewpoint(self.pixels),
            title=f"{self.title}, {viewpoint}",
            recording=None,
            viewpoint=viewpoint,
            plain=self.pixels,
        )

    @property
    def before(self) -> UInt8[Tensor, "channel height width"]:
        """x: the pixels, whatever the viewpoint."""
        return self.pixels if self.plain is None else self.plain

    @property
    def key(self) -> bytes:
        """The bytes themselves: what a cache knows the picture by."""
        return self.pixels.numpy().tobytes()

    @property
    def address(self) -> str:
        """The picture as a data URI: a file of its own may be gone before a slow browser asks for it."""
        return png(self.pixels.expand(3, -1, -1).permute(1, 2, 0).numpy())


def layout_of(entry: zoo.Entry) -> str | None:
    """How a picture is brought into the form of a model's training images; None: as its channels suggest."""
    return info.layout if (info := data.known(entry.data)) else None


def in_form(pixels: Tensor, entry: zoo.Entry) -> tuple[Tensor, tuple[str, ...]]:
    """An image in the form that a model takes, and what is to be said of that; as it is where it has that form."""
    if tuple(pixels.shape) == tuple(entry.config.image):
        return pixels, ()
    fitted = data.prepare_for(entry.data, linked_picture.as_image(pixels), entry.config.image)
    return fitted.pixels, fitted.notes
