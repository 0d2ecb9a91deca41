"""What visitors bring: every bad picture gets one sentence, every good one comes out right."""

from __future__ import annotations

import io
import os
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from capsviz.data import ImageError, load, prepare, read_image
from capsviz.data.visitor import levels_of
from tests.app.pictures import encoded, enormous

Ink = int | tuple[int, ...]


def _seven(size=(200, 300), ink: Ink = 0, paper: Ink = 255, mode="L") -> Image.Image:
    """A hand-drawn 7, dark on bright unless told otherwise."""
    image = Image.new(mode, size, paper)
    draw = ImageDraw.Draw(image)
    draw.line([(40, 60), (150, 60), (80, 240)], fill=ink, width=18, joint="curve")
    return image


BAD = {
    "0 bytes": b"",
    "no image": b"%PDF-1.7 this is a document, not a picture",
    "svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "postscript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n",
    "heic": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic",
    "30 000 × 30 000": enormous(30_000, 30_000),
    "9 000 × 9 000": enormous(9_000, 9_000),
    "truncated png": encoded(_seven())[:300],
    "truncated jpeg": encoded(_seven(), "JPEG")[:900],
    "truncated gif": encoded(_seven(), "GIF")[:120],
}


@pytest.mark.parametrize(("ink", "paper"), [(25, 125), (25, 90), (10, 60), (250, 140), (255, 200)])
def test_dim_paper_and_a_bright_board_are_told_from_what_is_drawn_on_them(ink, paper):
    usual = _seven(ink=255, paper=0) if ink > paper else _seven()
    prepared = prepare(_seven(ink=ink, paper=paper), (1, 28, 28))
    assert prepared.inverted is (ink < paper)
    found, wanted = (each.pixels / each.pixels.max() for each in (prepared, prepare(usual, (1, 28, 28))))
    assert (found - wanted).abs().max() < 0.1


def test_what_nothing_is_drawn_on_stays_empty_both_ways():
    for grey in (0, 90, 127, 128, 200, 255):
        prepared = prepare(Image.new("L", (200, 200), grey), (1, 28, 28))
        assert not prepared.pixels.any() and any("Nothing stands out" in note for note in prepared.notes)


def test_a_deep_picture_takes_little_more_memory_than_its_pixels():
    deep = Image.fromarray(np.arange(3000 * 3000, dtype=np.uint32).reshape(3000, 3000).astype(np.uint16))
    tracemalloc.start()
    try:
        shown = read_image(encoded(deep))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * 3000 * 3000 and max(shown.image.size) == 1024


@pytest.mark.parametrize("name", BAD)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_bad_file_gets_one_sentence(name):
    with pytest.raises(ImageError) as raised:
        read_image(BAD[name])
    sentence = str(raised.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert ":" in sentence


@pytest.mark.parametrize(
    ("name", "word"),
    [("0 bytes", "empty"), ("no image", "not a picture"), ("heic", "HEIC"), ("30 000 × 30 000", "million"),
     ("truncated jpeg", "truncated"), ("truncated png", "truncated")],
)  # fmt: skip
def test_the_sentence_says_what_is_wrong(name, word):
    with pytest.raises(ImageError, match=word):
        read_image(BAD[name])


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_bomb_is_refused_before_it_is_decoded(monkeypatch):
    from PIL import ImageFile

    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda _: pytest.fail("the pixels were decoded"))
    for bomb in (BAD["30 000 × 30 000"], BAD["9 000 × 9 000"], of_a_tile(16_384)):
        with pytest.raises(ImageError, match="million pixels"):
            read_image(bomb)


def test_an_icon_whose_pictures_are_decoded_to_learn_its_size_is_no_picture():
    with pytest.raises(ImageError, match="choose a file in PNG, JPEG, GIF, WebP, TIFF or BMP"):
        read_image(encoded(Image.new("RGB", (32, 32)), "ICO"))


def of_a_tile(side: int) -> bytes:
    """A TIFF of 16 × 16 pixels, seen of a tile of so many pixels a side."""
    sizes = {256: 16, 257: 16, 258: 8, 259: 1, 262: 1, 277: 1, 322: side, 323: side, 324: 8, 325: side**2}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, size) for tag, size in sizes.items())
    return b"II*\0" + struct.pack("<IH", 8, len(sizes)) + entries + bytes(4)


def test_a_path_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ImageError, match=r"nowhere\.png"):
        read_image(tmp_path / "nowhere.png")
    (tmp_path / "seven.png").write_bytes(encoded(_seven()))
    assert read_image(str(tmp_path / "seven.png")).image.size == (200, 300)
    with pytest.raises(ImageError, match=r"^~nobody-here/a\.png cannot be opened"):
        read_image("~nobody-here/a.png")


SAMPLES = [encoded(_seven(), form) for form in ("PNG", "JPEG", "GIF", "TIFF", "BMP", "WEBP", "PPM")]


@given(st.sampled_from(SAMPLES), st.data())
def test_damage_anywhere_gives_a_picture_or_a_sentence_but_never_another_error(sample, data):
    damaged = bytearray(sample)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    damaged = damaged[: data.draw(st.integers(0, len(damaged)))]
    try:
        prepared = prepare(read_image(damaged), (1, 28, 28))
    except ImageError:
        return
    assert prepared.pixels.shape == (1, 28, 28)


def _reference() -> torch.Tensor:
    return prepare(_seven(ink=255, paper=0), (1, 28, 28)).pixels


def _differs(prepared) -> int:
    return int((prepared.pixels.int() - _reference().int()).abs().max())


def test_dark_on_white_and_white_on_dark_are_the_same_digit():
    prepared = prepare(read_image(encoded(_seven())), (1, 28, 28))
    assert prepared.inverted
    assert any("inverted" in note for note in prepared.notes)
    assert _differs(prepared) == 0
    assert not prepare(_seven(ink=255, paper=0), (1, 28, 28)).inverted


def test_the_visitor_can_decide_about_inversion():
    assert not prepare(_seven(), (1, 28, 28), invert=False).inverted
    assert int(prepare(_seven(), (1, 28, 28), invert=False).pixels[0, 20, 9]) == 255  # paper, left of the stroke
    bright = prepare(_seven(ink=255, paper=0), (1, 28, 28), invert=True)
    assert bright.inverted and "The picture was inverted, as asked." in bright.notes
    assert not any("darker than its background" in note for note in bright.notes)


@pytest.mark.parametrize(("ink", "paper"), [((0, 0, 0, 255), (0, 0, 0, 0)), ((255, 255, 255, 255), (255, 255, 255, 0)),
                                        ((0, 0, 0, 255), (255, 255, 255, 255))])  # fmt: skip
def test_transparency_gets_the_background_that_shows_the_ink(ink, paper):
    seen = read_image(encoded(_seven(ink=ink, paper=paper, mode="RGBA")))
    assert seen.image.mode == "RGB"
    assert any("Transparent" in note for note in seen.notes) == (paper[3] == 0)
    assert _differs(prepare(seen, (1, 28, 28))) == 0


def test_a_palette_with_a_transparent_colour_is_read():
    palette = _seven().convert("P")
    seen = read_image(encoded(palette, transparency=255))
    assert seen.image.mode == "RGB"
    assert _differs(prepare(seen, (1, 28, 28))) == 0


@pytest.mark.parametrize("form", ["PNG", "TIFF"])
def test_sixteen_bits_are_scaled_and_not_clipped(form):
    ramp = np.tile(np.linspace(0, 65535, 256).astype(np.uint16), (256, 1))
    seen = read_image(encoded(Image.fromarray(ramp), form))
    assert any("8 bits" in note for note in seen.notes)
    assert (np.abs(np.asarray(seen.image)[0].astype(int) - np.arange(256)) <= 1).all()


@pytest.mark.parametrize("top", [255, 1023, 4095, 65535, 3_000_000])
def test_any_depth_of_grey_fills_the_range(top):
    values = np.linspace(0, top, 64).round().astype(np.int32).reshape(8, 8)
    seen = np.asarray(read_image(encoded(Image.fromarray(values), "TIFF")).image)
    assert seen.min() == 0
    assert seen.max() == 255
    assert abs(int(seen[4, 0]) - 130) <= 2


def test_a_single_level_beyond_every_depth_is_black():
    flat = Image.fromarray(np.full((9, 9), -3, dtype=np.int32))
    assert int(prepare(flat, (1, 28, 28), layout="photo").pixels.max()) == 0


def test_floating_point_pictures_are_read_unless_they_hold_no_numbers():
    values = np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8)
    assert np.asarray(read_image(encoded(Image.fromarray(values), "TIFF")).image).max() == 255
    values[3, 3] = np.nan
    with pytest.raises(ImageError, match="not numbers"):
        read_image(encoded(Image.fromarray(values), "TIFF"))


def test_cmyk_and_one_bit_pictures_are_read():
    cmyk = encoded(Image.new("CMYK", (50, 50), (0, 255, 255, 0)), "JPEG")
    colour = read_image(cmyk).image.getpixel((25, 25))
    assert isinstance(colour, tuple)
    red, green, blue = colour
    assert red > 200
    assert green < 60
    assert blue < 60
    assert read_image(encoded(_seven().convert("1"))).image.mode == "L"


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
def test_of_an_animation_the_first_frame_is_used_and_that_is_said(form):
    frames = [Image.new("RGB", (30, 30), colour) for colour in ("red", "lime", "blue")]
    options = {"lossless": True} if form == "WEBP" else {}
    seen = read_image(encoded(frames[0], form, save_all=True, append_images=frames[1:], **options))
    assert any("first one" in note for note in seen.notes)
    assert seen.image.convert("RGB").getpixel((15, 15)) == (255, 0, 0)
    assert read_image(encoded(frames[0], form)).notes == ()


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["PNG", "TIFF", "JPEG"])
def test_a_picture_is_turned_as_exif_says(orientation, form):
    from PIL import ImageOps

    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"quality": 95} if form == "JPEG" else {}
    data = encoded(_seven(), form, exif=exif, **options)
    seen = read_image(data).image
    with Image.open(io.BytesIO(data)) as opened:
        expected = ImageOps.exif_transpose(opened)
    assert seen.size == expected.size == ((200, 300) if orientation < 5 else (300, 200))
    assert np.array_equal(np.asarray(seen), np.asarray(expected))


def test_a_large_photo_is_reduced_while_it_is_read():
    seen = read_image(encoded(Image.new("RGB", (4800, 3200), "gray"), "JPEG")).image
    assert max(seen.size) == 1024
    assert seen.height in (682, 683)


def test_a_digit_is_centred_as_mnist_s_makers_did():
    for offset in ((0, 0), (300, 20), (150, 500)):
        page = Image.new("L", (600, 900), 255)
        page.paste(_seven(), offset)
        prepared = prepare(page, (1, 28, 28))
        assert torch.equal(prepared.pixels, prepare(_seven(), (1, 28, 28)).pixels)
    ink = prepared.pixels[0].double()
    rows, columns = torch.nonzero(ink.sum(dim=1)), torch.nonzero(ink.sum(dim=0))
    assert max(int(rows[-1] - rows[0]), int(columns[-1] - columns[0])) + 1 in (19, 20)
    grid = torch.arange(28.0, dtype=torch.float64)
    assert abs(float((ink.sum(dim=1) * grid).sum() / ink.sum()) - 14) <= 0.5
    assert abs(float((ink.sum(dim=0) * grid).sum() / ink.sum()) - 14) <= 0.5


def test_mnist_s_own_digits_come_back_pixel_for_pixel(mnist):
    identical = 0
    for index in range(100):
        page = np.zeros((70, 60), dtype=np.uint8)
        page[30:58, 5:33] = mnist.images[index, 0].numpy()
        again = prepare(Image.fromarray(255 - page), (1, 28, 28)).pixels
        identical += int(torch.equal(again, mnist.images[index]))
    assert identical >= 95  # a few have edges too faint to count as ink


def test_a_picture_of_the_model_s_own_size_is_left_where_it_is():
    image = load("digits", "test").images[3]
    for picture in (image[0].numpy(), 255 - image[0].numpy()):
        assert torch.equal(prepare(read_image(encoded(Image.fromarray(picture))), (1, 28, 28)).pixels, image)


def test_a_digit_on_uneven_paper_is_lifted_off_it():
    noise = np.random.default_rng(0).normal(185, 6, (300, 200))
    page = np.clip(np.where(np.asarray(_seven()) < 128, 60, noise), 0, 255).astype(np.uint8)
    prepared = prepare(Image.fromarray(page), (1, 28, 28))
    assert (prepared.pixels.int() - _reference().int()).abs().float().mean() < 12
    assert int(prepared.pixels[0, :3].max()) == 0
    assert int(prepared.pixels.max()) > 190


def test_an_empty_page_is_said_to_be_empty():
    prepared = prepare(Image.new("RGB", (300, 300), "white"), (1, 28, 28))
    assert int(prepared.pixels.max()) == 0
    assert prepared.notes == ("Nothing stands out from its background: the model sees an empty picture.",)


@pytest.mark.parametrize("side", [28, 200])
@pytest.mark.parametrize("spread", [6, 20, 60])
def test_grey_noise_is_said_to_hold_nothing_whether_specks_stand_out_or_not(side, spread):
    noise = np.random.default_rng(0).normal(128, spread, (side, side))
    prepared = prepare(Image.fromarray(np.clip(noise, 0, 255).astype(np.uint8)), (1, 28, 28))
    assert int(prepared.pixels.max()) == 0
    assert prepared.notes[-1] == "Nothing stands out from its background: the model sees an empty picture."


def test_a_hair_thin_stroke_on_uneven_paper_is_no_noise():
    noise = np.random.default_rng(0).normal(200, 6, (200, 200))
    page = Image.fromarray(np.clip(noise, 0, 255).astype(np.uint8))
    ImageDraw.Draw(page).line([60, 40, 140, 160], fill=20, width=1)
    prepared = prepare(page, (1, 28, 28))
    assert int(prepared.pixels.max()) > 190
    assert not any("Nothing" in note for note in prepared.notes)


def test_an_article_fills_the_side_and_keeps_its_shape():
    page = Image.new("RGB", (500, 400), "white")
    ImageDraw.Draw(page).rectangle([100, 50, 299, 349], fill=(90, 60, 60))
    drawn = prepare(page, (1, 28, 28), layout="article").pixels[0] > 0
    rows, columns = torch.nonzero(drawn.any(dim=1)).flatten(), torch.nonzero(drawn.any(dim=0)).flatten()
    assert (int(rows[0]), int(rows[-1])) == (0, 27)
    assert len(columns) in (18, 19)
    assert abs(int(columns[0]) + int(columns[-1]) - 27) <= 1


def test_a_photo_keeps_colours_and_loses_its_margins():
    page = Image.new("RGB", (900, 300), "black")
    ImageDraw.Draw(page).rectangle([300, 0, 599, 299], fill=(200, 100, 50))
    prepared = prepare(page, (3, 32, 32))
    assert prepared.pixels[:, 16, 16].tolist() == [200, 100, 50]
    assert any("cropped" in note for note in prepared.notes)
    assert prepared.pixels[:, 4:28, 4:28].float().std(dim=(1, 2)).max() < 2


@given(
    st.sampled_from(["1", "L", "P", "RGB", "RGBA", "LA", "CMYK", "I;16", "F"]),
    st.integers(1, 90), st.integers(1, 90),
    st.sampled_from([(1, 28, 28), (1, 36, 36), (3, 32, 32), (1, 20, 30)]),
    st.sampled_from([None, "digit", "article", "photo"]),
)  # fmt: skip
def test_a_picture_of_any_kind_and_proportion_becomes_the_shape_asked_for(mode, width, height, shape, layout):
    generator = np.random.default_rng(width * 100 + height)
    noise = generator.integers(0, 256, (height, width), dtype=np.uint8)
    if mode == "I;16":
        image = Image.fromarray(noise.astype(np.uint16) * 257)
    elif mode == "F":
        image = Image.fromarray(noise.astype(np.float32))
    else:
        image = Image.fromarray(noise).convert("RGB").convert(mode)
    prepared = prepare(image, shape, layout=layout)
    assert prepared.pixels.shape == shape
    assert prepared.pixels.dtype == torch.uint8


@pytest.mark.parametrize(("shape", "layout"), [((2, 28, 28), None), ((1, 0, 28), None), ((1, 28, 28), "poster")])
def test_a_shape_or_layout_that_there_is_not_is_refused(shape, layout):
    with pytest.raises(ImageError):
        prepare(_seven(), shape, layout=layout)


@pytest.mark.parametrize(("depth", "levels"), [(np.uint8, {}), (np.uint16, {"I": (0.0, 255.0)})])
def test_of_a_picture_of_8_bits_no_more_than_the_header_is_read_for_its_levels(tmp_path, monkeypatch, depth, levels):
    grey = np.random.default_rng(0).permutation(256 * 1000).reshape(1000, 256) % 256
    Image.fromarray(grey.astype(depth)).save(tmp_path / "grey.png")
    read = 0

    class Counting(io.FileIO):
        def readinto(self, buffer):
            nonlocal read
            read += (count := super().readinto(buffer))
            return count

        def readall(self):
            nonlocal read
            read += len(rest := super().readall())
            return rest

    monkeypatch.setattr(io, "open", lambda path, *_: io.BufferedReader(Counting(path)))
    assert levels_of(tmp_path / "grey.png") == levels
    assert (read < 20_000) == (depth is np.uint8)


def test_a_photo_in_passes_without_end_is_refused_before_it_is_decoded():
    whole = encoded(Image.new("RGB", (64, 64), 200), "JPEG", progressive=True)
    assert read_image(whole).image.size == (64, 64), "an ordinary one has some ten"
    with pytest.raises(ImageError, match=r"^The picture comes in more than 100 passes: [^\n]*\.$"):
        read_image(whole[:-2] + b"\xff\xda\x00\x08\x01" * 2_000 + whole[-2:])
    film = np.random.default_rng(0).bytes(9_000_000)  # as telephones put one behind a photo
    assert film.count(b"\xff\xda") > 100 and read_image(whole + film).image.size == (64, 64)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.timeout(20)
def test_what_may_have_no_end_is_no_picture(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "zero.png").symlink_to("/dev/zero")
    for name in ("pipe.png", "zero.png"):
        with pytest.raises(ImageError, match=rf"{name} is no file: check the path\.$"):
            read_image(tmp_path / name)
        with pytest.raises(ImageError, match="is no file"):
            levels_of(tmp_path / name)


@pytest.mark.parametrize(("form", "options"), [("PNG", {"exif": b"nonsense"}), ("JPEG", {"exif": b"Exif\0\0nonsense"})])
def test_a_sound_picture_whose_exif_is_none_is_read(form, options):
    data = encoded(Image.new("RGB", (9, 7), "red"), form, dpi=(72, 72), **options)
    assert read_image(data).image.size == (9, 7)


@pytest.mark.parametrize("orientation", [1, 6])
def test_of_a_picture_that_was_reduced_the_size_is_kept_as_it_is_seen(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    seen = read_image(encoded(Image.new("RGB", (2400, 1800)), "JPEG", exif=exif))
    assert max(seen.image.size) <= 1024 and seen.full == ((2400, 1800) if orientation == 1 else (1800, 2400))
    assert read_image(encoded(Image.new("RGB", (240, 180)), "JPEG", exif=exif)).full is None
