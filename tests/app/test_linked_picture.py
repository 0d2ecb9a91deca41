"""A visitor's picture in the link: every pixel arrives, and what is no picture is refused."""

from __future__ import annotations

import base64

import pytest
import torch
from PIL import Image

from app.sources import linked_picture
from capsviz import data
from tests.app import pictures


@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 32, 32), (1, 1, 1), (1, 20, 30)])
def test_every_pixel_arrives(shape: tuple[int, int, int]):
    pixels = torch.randint(0, 256, shape, dtype=torch.uint8)
    text = linked_picture.written(pixels)
    assert linked_picture.read(text).equal(pixels)
    assert set(text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_the_largest_picture_fits_the_bound():
    pixels = torch.randint(0, 256, (3, linked_picture.LARGEST, linked_picture.LARGEST), dtype=torch.uint8)
    assert linked_picture.read(linked_picture.written(pixels)).equal(pixels)


@pytest.mark.parametrize(
    "text", ["", "x", "no picture", "é", "A" * 30_000, base64.urlsafe_b64encode(b"GIF89a").decode()]
)
def test_what_is_no_picture_is_refused(text: str):
    with pytest.raises(ValueError, match="damaged"):
        linked_picture.read(text)


@pytest.mark.parametrize("kind", ["WEBP", "GIF", "BMP", "TIFF", "JPEG"])
def test_a_linked_picture_is_png_only(kind: str, monkeypatch):
    monkeypatch.setattr(data, "read_image", never)
    content = pictures.encoded(Image.new("L", (28, 28), 7), kind)
    with pytest.raises(ValueError, match="damaged"):
        linked_picture.read(base64.urlsafe_b64encode(content).decode().rstrip("="))


def test_a_linked_picture_of_another_size_is_not_decoded_and_a_failure_is_remembered(monkeypatch):
    monkeypatch.setattr(data, "read_image", never)
    content = pictures.encoded(Image.new("1", (8000, 8000)), optimize=True)
    text = base64.urlsafe_b64encode(content).decode().rstrip("=")
    assert len(text) < linked_picture.LONGEST
    linked_picture._read.cache_clear()
    for _ in range(3):
        with pytest.raises(ValueError, match="more than 64 pixels a side"):
            linked_picture.read(text)
    assert linked_picture._read.cache_info().hits == 2


def never(*_):
    """Stands for a decoder that must not be asked."""
    raise AssertionError("the picture was decoded")


def test_a_large_picture_is_no_part_of_a_link():
    png = base64.urlsafe_b64encode(pictures.encoded(pictures.digit())).decode()
    with pytest.raises(ValueError, match="more than 64 pixels a side"):
        linked_picture.read(png)
