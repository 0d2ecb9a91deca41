"""Images in figures: the sheet of perturbations, reconstructions side by side, the strip of the network."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import capsviz
from capsviz.figures import (
    FigureError,
    describe,
    dimension_sheet,
    error_map,
    network_strip,
    reconstruction_figure,
    reconstruction_grid,
)
from capsviz.figures.geometry import Geometry
from capsviz.figures.picture import MOST_PIXELS, mosaic, picture, pixels
from tests.figures.conftest import opened

OFFSETS = tuple(round(0.05 * step - 0.25, 2) for step in range(11))


@pytest.fixture(scope="module")
def sheet():
    return torch.rand(16, 11, 1, 28, 28, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("shape", [(28, 28), (1, 28, 28), (28, 28, 1)])
def test_grey_images_come_in_any_order_of_axes(shape):
    values = torch.rand(shape)
    trace = picture(values)
    np.testing.assert_allclose(trace.z, values.reshape(28, 28), atol=5.1e-4)
    assert (trace.zmin, trace.zmax) == (0, 1)


@pytest.mark.parametrize("last", [True, False])
def test_colour_images_keep_their_colours(last):
    values = torch.rand(3, 8, 9)
    trace = picture(values.permute(1, 2, 0) if last else values)
    np.testing.assert_array_equal(opened(trace), np.round(255 * values.permute(1, 2, 0).numpy()).astype(np.uint8))


def test_what_is_no_image_is_said_so():
    with pytest.raises(FigureError, match="2 × 5 × 5 is no image"):
        pixels(torch.zeros(2, 5, 5))


@pytest.mark.parametrize("channels", [1, 3])
def test_large_images_are_smaller_in_a_mosaic_of_many(channels):
    images = torch.rand(16, 11, channels, 224, 220)
    canvas, pitch = mosaic(images)
    assert pitch == (75 + 2, 74 + 2) and len(canvas) * canvas.shape[1] < 1.1 * MOST_PIXELS
    shown, whole = canvas[:75, :74, :3].mean() / 255, float(images[0, 0].mean())
    assert shown == pytest.approx(whole, abs=0.01)
    assert mosaic(images[:1, :9])[1] == (226, 222)


def test_a_mosaic_holds_every_image_at_its_place(sheet):
    canvas, (down, across) = mosaic(sheet, gap=2)
    assert canvas.shape == (16 * 30 - 2, 11 * 30 - 2, 4)
    tile = canvas[3 * down : 3 * down + 28, 7 * across : 7 * across + 28]
    np.testing.assert_array_equal(tile[..., 0], np.round(255 * sheet[3, 7, 0].numpy()))
    assert (tile[..., 3] == 255).all()
    assert not canvas[28:30].any()


def test_the_sheet_has_a_row_per_dimension_and_a_column_per_offset(sheet):
    figure = dimension_sheet(sheet, OFFSETS)
    image, words = figure.data
    assert opened(image).shape == (16 * 30 - 2, 11 * 30 - 2, 4)
    assert len(words.text) == 16
    assert words.text[5][1] == "dimension 5, offset −0.20"
    # The pointer's cells lie over the images: the centre of the first one is pixel 13.5.
    assert (words.x0, words.dx, words.y0, words.dy) == (13.5, 30, 13.5, 30)
    assert list(figure.layout.yaxis.ticktext) == [str(h) for h in range(16)]


def test_the_zero_column_is_framed(sheet):
    figure = dimension_sheet(sheet, OFFSETS)
    heads = ("−0.25", "", "−0.15", "", "−0.05", "<b>0</b>", "+0.05", "", "+0.15", "", "+0.25")
    assert figure.layout.xaxis.ticktext == heads  # counted from either end
    few = dimension_sheet(torch.rand(2, 3, 8, 8), (-1, 0, 1))
    assert few.layout.xaxis.ticktext == ("−1.00", "<b>0</b>", "+1.00")
    few = dimension_sheet(torch.rand(2, 3, 8, 8), (0.1, 0.2, 0.3))
    assert few.layout.xaxis.ticktext == ("+0.10", "", "+0.30")
    frame = figure.layout.shapes[0]
    assert frame.x0 < 5 * 30 < 5 * 30 + 27 < frame.x1
    assert not dimension_sheet(sheet[:, :5], OFFSETS[:5]).layout.shapes


def test_the_sheet_names_the_strongest_dimension():
    images = torch.zeros(4, 3, 5, 5)
    images[2, 2] = 0.5
    assert "by 0.500 on average from end to end, along dimension 2" in describe(dimension_sheet(images, (-1, 0, 1)))


def test_the_sheet_takes_colours():
    assert opened(dimension_sheet(torch.rand(2, 3, 3, 8, 8), (-1, 0, 1)).data[0]).shape == (18, 28, 4)


def test_a_sheet_needs_a_column_per_offset(sheet):
    with pytest.raises(FigureError, match="10 offsets"):
        dimension_sheet(sheet, OFFSETS[:10])


def test_a_reconstruction_is_drawn_pixel_by_pixel(dr):
    figure = reconstruction_figure(dr.reconstruction[0], title="a digit")
    np.testing.assert_allclose(figure.data[0].z, dr.reconstruction[0, 0], atol=5.1e-4)
    assert figure.layout.annotations[0].text == "a digit"
    assert f"{float(dr.reconstruction[0].mean()):.3f}" in describe(figure)


def test_reconstructions_stand_beside_the_input_with_signed_differences(dr, em, l2):
    drawn = {"dr": dr.reconstruction[0], "em": em.reconstruction[0], "l2": l2.reconstruction[0]}
    figure = reconstruction_grid(dr.images[0], drawn, captions={"dr": "MSE 0.1"})
    assert len(figure.data) == 1 + 2 * 3
    difference = figure.data[2]
    np.testing.assert_allclose(difference.z, (dr.reconstruction - dr.images)[0, 0], atol=5.1e-4)
    assert (difference.zmin, difference.zmax) == (-1, 1)
    words = [note.text for note in figure.layout.annotations]
    assert [word for word in words if word.startswith("<b>")] == [
        "<b>Input</b>", "<b>Dynamic routing</b>", "<b>EM routing</b>", "<b>L2</b>"
    ]  # fmt: skip
    assert "MSE 0.1" in words
    assert sum(bool(trace.showscale) for trace in figure.data) == 1
    error = float((dr.reconstruction[0] - dr.images[0]).square().mean())
    assert f"Dynamic routing {error:.4f}" in describe(figure)


@pytest.mark.parametrize("lines", [1, 2, 4])
def test_captions_of_any_length_stand_between_the_pictures_and_their_differences_on_a_small_grid_too(dr, lines: int):
    figure = reconstruction_grid(dr.images[0], {"dr": dr.reconstruction[0]}, captions={"dr": "<br>".join("a" * lines)})
    caption = next(note for note in figure.layout.annotations if note.text.startswith("a"))
    pixels = 370 - figure.layout.margin.t - figure.layout.margin.b  # as the presented page draws it, before it enlarges
    assert caption.y < figure.layout.yaxis.domain[0]
    assert caption.y * pixels - 1.3 * caption.font.size * lines > figure.layout.yaxis3.domain[1] * pixels
    assert figure.layout.yaxis3.domain[0] > 0.01
    sizes = [high - low for low, high in (figure.layout.yaxis.domain, figure.layout.yaxis3.domain)]
    assert sizes[0] == pytest.approx(sizes[1]) and sizes[0] > 0.3


def test_other_methods_may_be_named_freely(dr):
    figure = reconstruction_grid(dr.images[0], {"no decoder": dr.reconstruction[0]})
    assert any(note.text == "<b>no decoder</b>" for note in figure.layout.annotations)


def test_colours_are_averaged_in_differences():
    image, other = torch.rand(3, 6, 6), torch.rand(3, 6, 6)
    np.testing.assert_allclose(error_map(image, other).data[0].z, (other - image).mean(0), atol=5.1e-4)


def test_images_of_different_size_do_not_compare(dr):
    with pytest.raises(FigureError, match="28 × 28; compare like with like"):
        reconstruction_grid(dr.images[0], {"dr": torch.zeros(8, 8)})


def test_the_strip_shows_the_numbers_of_the_trace(em):
    figure = network_strip(em, image=1, highlight="class")
    image, primary, classes, reconstruction = figure.data
    np.testing.assert_allclose(image.z, em.images[1, 0], atol=5.1e-4)
    np.testing.assert_allclose(reconstruction.z, em.reconstruction[1, 0], atol=5.1e-4)
    np.testing.assert_allclose(classes.y, em.activations[1], atol=5.1e-5)
    cells = Geometry(*em.grid).cells
    drawn = np.array([[np.nan if value is None else value for value in line] for line in primary.z], dtype=float)
    expected = em.primary_activations[1].numpy()
    np.testing.assert_allclose(drawn[cells >= 0], expected[cells[cells >= 0]], atol=5.1e-4)
    assert len(figure.layout.shapes) == 1
    assert f"a = {float(em.activations[1].max()):.2f}" in describe(figure)


@pytest.mark.parametrize(("highlight", "said"), [("routing", "10 classes at the end"), ("class", "10 class capsules")])
def test_beside_a_player_the_strip_says_that_its_bars_are_those_of_the_end(dr, l2_fc, highlight, said: str):
    titles = [note.text for note in network_strip(dr, highlight=highlight).layout.annotations]
    assert any(said in title for title in titles)
    assert "10 class capsules" in [note.text for note in network_strip(l2_fc).layout.annotations], "nothing iterates"


def test_a_network_without_decoder_ends_at_its_class_capsules(l2_fc):
    figure = network_strip(l2_fc, highlight=None)
    assert len(figure.data) == 3
    assert not figure.layout.shapes
    assert "reconstruction" not in " ".join(note.text for note in figure.layout.annotations)


def test_an_unknown_stage_is_refused(dr):
    with pytest.raises((FigureError, TypeError)):
        network_strip(dr, highlight="nowhere")  # type: ignore[arg-type]  # what is refused here


def test_the_frame_of_a_strip_as_narrow_as_it_gets_crosses_no_title(dr):
    """Of 690 pixels, less its margins, in which “10 classes at the end” is 128 wide and the bold “Dynamic” 54."""
    figure = network_strip(dr, highlight="routing")
    (frame,) = figure.layout.shapes
    at = {note.text: note.x for note in figure.layout.annotations}
    assert frame.x0 - figure.layout.xaxis2.domain[1] > 0.009, "nor touches the tiles beside it"
    assert (at["10 classes at the end"] - frame.x1) * 674 > 128 / 2 + frame.line.width / 2
    assert at["<b>Dynamic<br>routing</b>"] == pytest.approx((frame.x0 + frame.x1) / 2)


def test_a_strip_is_of_a_whole_network_and_not_of_a_layer_of_it():
    trace = capsviz.trace("digits-matrix", torch.rand(1, 1, 28, 28))
    with pytest.raises(FigureError, match="this is one layer of it; give the trace of the whole"):
        network_strip(trace.at(0))
