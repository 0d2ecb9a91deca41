"""Many pictures in one figure: blocks side by side, and the grid of images and methods."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from capsviz.figures import FigureError, describe, image_blocks, method_grid
from capsviz.figures.theme import DIVERGING
from tests.figures.conftest import opened


@pytest.fixture
def images():
    return torch.rand(3, 1, 28, 28, generator=torch.Generator().manual_seed(2))


def test_the_blocks_hold_the_same_images_in_the_same_order(images):
    blocks = {"(a) input": images, "(b) reconstructed": images / 2, "(c) drawn": 1 - images}
    texts = ["a zero", "a one", "a two"]
    figure = image_blocks(blocks, texts, wrong=[False, True, False], chosen=[7, 70, 700])
    for block, trace in zip(blocks.values(), figure.data[::2], strict=True):
        canvas = opened(trace)
        for index in range(3):
            row, column = divmod(index, 2)
            tile = canvas[30 * row : 30 * row + 28, 30 * column : 30 * column + 28, 0]
            np.testing.assert_array_equal(tile, np.round(255 * block[index, 0].double().numpy()))
        # Two by two places, three images: the fourth place is clear.
        assert not canvas[30:, 30:, 3].any()
    assert "1 drawing of the last block reads as another class" in describe(figure)


def test_a_click_on_an_image_of_a_block_stands_for_its_number(images):
    figure = image_blocks({"input": images}, ["a zero", "a one", "a two"], chosen=[7, 70, 700])
    points = figure.data[1]
    assert list(points.customdata) == [7, 70, 700]
    assert list(points.text) == ["a zero", "a one", "a two"]
    assert list(zip(points.x, points.y, strict=True)) == [(13.5, 13.5), (43.5, 13.5), (13.5, 43.5)]


def test_the_images_drawn_wrong_are_framed_in_the_last_block(images):
    figure = image_blocks({"input": images, "drawn": images}, ["", "", ""], wrong=[False, True, False])
    (frame,) = figure.layout.shapes
    assert (frame.xref, frame.yref) == ("x2", "y2")
    assert frame.x0 < 30 < 57 < frame.x1
    assert frame.y0 < 0 < 27 < frame.y1
    assert not image_blocks({"input": images}, ["", "", ""]).layout.shapes


def test_blocks_of_different_length_are_refused(images):
    with pytest.raises(FigureError, match="same images"):
        image_blocks({"input": images, "drawn": images[:2]}, ["", "", ""])


def grid(images, **options):
    texts = {name: ["one", "two", "three"] for name in ("Input", "DR", "off")}
    rows = {"Input": images, "DR": images / 2, "off": images / 2 - images}
    return method_grid(
        rows, heads=["4<br>a", "5<br>b", "6<br>c"], chosen=[4, 5, 6], texts=texts, signed=["off"], **options
    )


def test_the_grid_has_a_row_per_method_and_a_column_per_image(images):
    figure = grid(images, words={"DR": ["0.1", "0.2", "0.3"]})
    for index, trace in enumerate(figure.data[:4:2]):
        for column in range(3):
            tile = opened(trace)[:, 31 * column : 31 * column + 28, 0]
            expected = images[column, 0] if index == 0 else images[column, 0] / 2
            np.testing.assert_array_equal(tile, np.round(255 * expected.double().numpy()))
        assert trace.y0 == 36 * index
    assert list(figure.layout.yaxis.ticktext) == ["Input", "DR", "off"]
    assert list(figure.layout.xaxis.ticktext) == ["4<br>a", "5<br>b", "6<br>c"]
    assert [note.text for note in figure.layout.annotations] == ["0.1", "0.2", "0.3"]
    assert "3 images in columns (4, 5, 6), in rows: Input, DR, off" in describe(figure)


def test_where_room_is_short_the_pictures_shrink_and_their_figures_do_not(images):
    free, low = grid(images), grid(images, height=200)
    assert free.layout.height > 300 and 190 < low.layout.height <= 200
    heads = low.layout.margin.t + 8
    each = low.data[2].y0  # rows lie this many pixels of the pictures apart
    scale = (low.layout.height - heads) / (3 * each)
    assert (each - 28) * scale == pytest.approx(21, abs=scale)


def test_signed_rows_take_the_diverging_scale():
    image = torch.tensor([[-1.0, 0.0], [0.0, 1.0]])[None, None].repeat(1, 1, 1, 1)
    texts = {"off": [""]}
    figure = method_grid({"off": image}, heads=["0"], chosen=[0], texts=texts, signed=["off"])
    colours = [
        "#" + "".join(f"{channel:02x}" for channel in pixel[:3]) for pixel in opened(figure.data[0]).reshape(-1, 4)
    ]
    assert colours == [DIVERGING[0][1], DIVERGING[3][1], DIVERGING[3][1], DIVERGING[-1][1]]


def test_the_image_on_stage_is_framed_and_a_click_stands_for_an_image(images):
    figure = grid(images, on_stage=5)
    (frame,) = figure.layout.shapes
    assert frame.x0 < 31 < 58 < frame.x1
    assert list(figure.data[3].customdata) == [4, 5, 6]
    assert not grid(images, on_stage=17).layout.shapes


@pytest.mark.parametrize(("name", "apart"), [("cat", 54), ("automob…", 68), ("&lt;b&gt;&lt;b&gt;", 54), ("x" * 30, 76)])
def test_where_the_grid_is_low_its_columns_leave_the_words_above_them_their_room(name: str, apart: int):
    images = torch.rand(2, 3, 32, 32)
    rows = {"Input": images, "DR": images, "EM": images}
    heads = [f"1<br><b>{name}</b>", "2<br><b>cat</b>"]
    figure = method_grid(rows, heads=heads, chosen=[1, 2], texts={row: ["", ""] for row in rows}, height=250)
    first, second = figure.layout.xaxis.tickvals
    bottom, top = figure.layout.yaxis.range
    on_screen = (figure.layout.height - figure.layout.margin.t - 8) / abs(bottom - top)
    assert (second - first) * on_screen == pytest.approx(apart, abs=3)


def test_colours_keep_their_channels_in_the_grid():
    images = torch.rand(1, 3, 8, 8)
    figure = method_grid({"Input": images}, heads=["0"], chosen=[0], texts={"Input": [""]})
    np.testing.assert_array_equal(
        opened(figure.data[0])[..., :3], np.round(255 * images[0].permute(1, 2, 0).double().numpy())
    )


def test_pictures_that_are_made_smaller_stay_within_their_frames():
    """24 pictures of 224 pixels a side are more than a strip is sent with."""
    figure = method_grid(
        {"Image": torch.rand(24, 3, 224, 224)},
        heads=[""] * 24,
        chosen=range(24),
        texts={"Image": [""] * 24},
        on_stage=23,
    )
    strip = opened(figure.data[0])
    (frame,) = figure.layout.shapes
    assert strip.shape[0] * strip.shape[1] < 24 * 224 * 224
    assert frame.x0 < strip.shape[1] < frame.x1 + 1


def test_rows_of_different_length_are_refused(images):
    with pytest.raises(FigureError, match="one image per column"):
        method_grid({"Input": images}, heads=["0"], chosen=[0], texts={"Input": [""]})
