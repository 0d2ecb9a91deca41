"""The user's own folder of images."""

from __future__ import annotations

import errno
import os
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from capsviz.data import (
    DatasetMissing,
    UnknownDataset,
    available,
    data_root,
    describe,
    download,
    known,
    load,
    prepare,
    read_image,
    title_of,
)
from capsviz.data.datasets import sample
from capsviz.data.folder import named
from tests.folders import drawn


def fill(folder: Path, classes: list[str], each: int, size: tuple[int, int] = (40, 30), mode: str = "RGB") -> None:
    for number, title in enumerate(classes):
        (folder / title).mkdir(parents=True)
        for index in range(each):
            colour = (80 * number, 10 * index, 0) if mode == "RGB" else 80 * number
            Image.new(mode, size, colour).save(folder / title / f"{index}.png")


def test_class_names_composed_in_two_ways_are_one_class(tmp_path):
    composed = ["Bäume", "हिन्दी"]
    fill(tmp_path / "garden/train", composed, 6)
    fill(tmp_path / "garden/test", [unicodedata.normalize("NFD", name) for name in composed], 6)
    assert load(f"folder:{tmp_path / 'garden'}", "train").classes == ("Bäume", "हिन्दी")
    fill(tmp_path / "twice", ["Bäume", unicodedata.normalize("NFD", "Bäume")], 6)
    with pytest.raises(DatasetMissing, match=r"^Two folders in .* are called Bäume; put the pictures into one of them"):
        load(f"folder:{tmp_path / 'twice'}", "train")


def test_a_title_keeps_the_marks_of_its_letters_and_a_class_may_begin_with_underscores(tmp_path):
    place = tmp_path / "हिन्दी_Bäume"
    fill(place, ["__background__", "leaf", "__MACOSX"], 6)
    assert title_of(f"folder:{place}") == "हिन्दी Bäume"
    assert load(f"folder:{place}", "train").classes == ("__background__", "leaf")


def test_a_folder_is_split_and_labelled_by_its_sub_folders(tmp_path):
    fill(tmp_path, ["cat", "dog"], 10)
    name = f"folder:{tmp_path}"
    assert available(name)
    train, test = load(name, "train"), load(name, "test")
    assert train.images.shape == (16, 3, 30, 40)
    assert test.images.shape == (4, 3, 30, 40)
    assert train.classes == ("cat", "dog")
    assert test.labels.tolist() == [0, 0, 1, 1]
    assert test.images[:, 0, 16, 16].tolist() == [0, 0, 80, 80]
    assert (train.name, train.note) == (name, "")


def test_it_is_described_as_any_data_set(tmp_path):
    fill(tmp_path / "My *own* leaves", ["oak", "elm", "ash"], 10, (64, 64))
    found = describe(f"folder:{tmp_path}/My *own* leaves")
    assert (found.classes, found.image, found.objects) == (("ash", "elm", "oak"), (3, 64, 64), 1)
    assert (found.train_count, found.test_count, found.count("test")) == (24, 6, 6)
    assert found.title == "My own leaves" and found.reconstructed and not found.embedded


@pytest.mark.parametrize(
    ("sizes", "mode", "form"),
    [
        ([(20, 20)], "L", (1, 20, 20)),
        ([(20, 20)], "RGBA", (1, 20, 20)),  # no colour in it, however it was saved
        ([(8, 8)], "RGB", (3, 8, 8)),
        ([(224, 224)], "RGB", (3, 224, 224)),
        ([(640, 480)], "RGB", (3, 224, 224)),
        ([(5, 5)], "RGB", (3, 8, 8)),
        ([(60, 80), (90, 50), (60, 60)], "RGB", (3, 60, 60)),
    ],
)
def test_the_form_is_that_of_the_images(tmp_path, sizes, mode, form):
    for title in "ab":
        (tmp_path / title).mkdir()
        for index, size in enumerate(sizes):
            colour = "#070707" if mode == "RGBA" else "#095000"
            Image.new(mode, size, colour).save(tmp_path / title / f"{index}.png")
    assert describe(f"folder:{tmp_path}").image == form
    assert load(f"folder:{tmp_path}", "train").image == form


def test_a_name_holds_the_form_that_was_chosen_or_asked_for(tmp_path, monkeypatch):
    fill(tmp_path / "leaves", ["a", "b"], 5, mode="L")
    monkeypatch.chdir(tmp_path)
    assert named("folder:leaves", data_root()) == f"folder:{tmp_path}/leaves@1x30x40"
    assert named("folder:leaves", data_root(), 48) == f"folder:{tmp_path}/leaves@1x48x48"
    assert load(f"folder:{tmp_path}/leaves@3x28x20", "train").images.shape == (8, 3, 28, 20)
    assert load("folder:leaves", "train", image=(1, 28, 20)).images.shape == (8, 1, 28, 20)
    with pytest.raises(UnknownDataset, match="8 to 224 pixels a side, and 300×300"):
        named("folder:leaves", data_root(), 300)


def test_folders_train_and_test_are_the_splits(tmp_path):
    fill(tmp_path / "train", ["a", "b"], 3)
    fill(tmp_path / "test", ["a", "b"], 2)
    assert len(load(f"folder:{tmp_path}", "train")) == 6
    assert len(load(f"folder:{tmp_path}", "test")) == 4
    fill(tmp_path / "test", ["c"], 1)
    with pytest.raises(DatasetMissing, match=r"same classes.* c"):
        load(f"folder:{tmp_path}", "train")
    found = known(f"folder:{tmp_path}")
    assert found is not None and not found.classes and not available(f"folder:{tmp_path}")
    assert "must have the same classes" in found.missing(data_root()) and title_of(found.name) == found.title


def test_broken_files_are_left_out_and_named(tmp_path):
    fill(tmp_path, ["a", "b"], 5)
    (tmp_path / "a" / "0.png").write_bytes(b"no picture")
    (tmp_path / "a" / "5.heic").write_bytes(b"of a telephone")
    (tmp_path / "b" / "4.png").write_bytes((tmp_path / "b" / "3.png").read_bytes()[:60])
    found = load(f"folder:{tmp_path}", "train")
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.note == "3 of 9 training files cannot be read and are left out: a/0.png, a/5.heic, b/4.png."
    assert load(f"folder:{tmp_path}", "test").note == ""
    for path in tmp_path.rglob("*.png"):
        path.write_bytes(b"no picture")
    with pytest.raises(DatasetMissing, match="can be read; replace them"):
        load(f"folder:{tmp_path}@3x8x8", "train")


def test_what_is_no_picture_is_no_class(tmp_path):
    fill(tmp_path, ["a", "b", "__MACOSX", ".thumbnails"], 5)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "readme.txt").write_text("leaves of 2024")
    assert describe(f"folder:{tmp_path}").classes == ("a", "b")


def test_classes_may_be_very_unequal(tmp_path):
    fill(tmp_path, ["a"], 40)
    fill(tmp_path, ["b"], 1)
    train, test = load(f"folder:{tmp_path}", "train"), load(f"folder:{tmp_path}", "test")
    assert train.labels.bincount().tolist() == [32, 1] and test.labels.bincount(minlength=2).tolist() == [8, 0]


@pytest.mark.parametrize("count", [1, 1001])
def test_there_are_2_to_1000_classes(tmp_path, count):
    fill(tmp_path, [f"{number:04}" for number in range(count)], 1, (8, 8))
    with pytest.raises(DatasetMissing, match="2 to 1,000 classes can be told apart"):
        describe(f"folder:{tmp_path}")


def test_a_new_image_is_met(tmp_path):
    fill(tmp_path, ["a", "b"], 5, (8, 8))
    before = describe(f"folder:{tmp_path}")
    assert before.train_count == 8
    Image.new("RGB", (8, 8)).save(tmp_path / "a" / "new.png")
    after = describe(f"folder:{tmp_path}")
    assert after.train_count == 9 and after.state != before.state


def test_a_new_image_is_met_anywhere_below_a_class(tmp_path):
    fill(tmp_path, ["a", "b"], 5, (8, 8))
    fill(tmp_path / "a", ["more"], 1, (8, 8))
    elsewhere = tmp_path / "b" / "elsewhere"
    elsewhere.symlink_to(tmp_path)  # where no pictures are looked for, or there would be no end
    name = f"folder:{tmp_path}"
    counts = [describe(name).train_count + describe(name).test_count]
    for folder in ("more", "more/still", "more/still/more"):
        (tmp_path / "a" / folder).mkdir(exist_ok=True)
        Image.new("RGB", (8, 8)).save(tmp_path / "a" / folder / "new.png")
        counts.append(describe(name).train_count + describe(name).test_count)
    assert counts == [11, 12, 13, 14]


def test_pictures_that_are_written_anew_are_looked_at_anew(tmp_path):
    for side, level in ((16, 1000), (24, 60_000)):
        for name in ("a", "b"):
            (tmp_path / name).mkdir(exist_ok=True)
            for number in range(6):
                grey = np.linspace(0, level, side * side).round().astype(np.uint16).reshape(side, side)
                Image.fromarray(grey).save(tmp_path / name / f"{number}.png")
        assert describe(f"folder:{tmp_path}").image == (1, side, side)
        levels = describe(f"folder:{tmp_path}").levels
        images = load(f"folder:{tmp_path}", "train").images.float()
        assert 0.4 < images.mean() / 255 < 0.6, "from black to white, whatever was there before"
        assert max(high for _, high in levels(data_root()).values()) >= level, "as those that were loaded"
    (tmp_path / "a" / "gone.png").symlink_to(tmp_path / "nowhere")
    assert describe(f"folder:{tmp_path}").image == (1, 24, 24)
    splits = [load(f"folder:{tmp_path}", split) for split in ("train", "test")]
    assert any("gone.png" in each.note for each in splits)


def test_a_picture_that_was_being_copied_is_another_state_once_it_is_whole(tmp_path):
    fill(tmp_path, ["a", "b"], 6)
    name, last = f"folder:{tmp_path}", tmp_path / "b" / "5.png"
    whole, file = last.read_bytes(), last.open("wb")
    file.write(whole[: len(whole) // 2])
    file.flush()
    half = known(name).state
    before = [len(load(name, split)) for split in ("train", "test")]
    assert sum(before) == 11
    assert known(name).state == half, "as long as it is as it was"
    file.write(whole[len(whole) // 2 :])
    file.close()
    assert known(name).state != half
    assert sum(len(load(name, split)) for split in ("train", "test")) == 12


def test_a_folder_that_cannot_be_looked_at_is_one_that_is_not_there(tmp_path):
    name = f"folder:{tmp_path}/{'long' * 100}@3x8x8"
    assert describe(name).image == (3, 8, 8) and not available(name)


def refused(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """Have the system show nothing of a folder, as of one that another user alone may read."""
    scan = os.scandir

    def scandir(path):
        if os.fspath(path) == str(place):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)


@pytest.mark.parametrize("inside", ["", "b"])
def test_what_the_system_does_not_show_is_named_and_not_left_out(tmp_path, monkeypatch, inside: str):
    fill(tmp_path / "leaves", ["a", "b", "c"], 4)
    refused(monkeypatch, tmp_path / "leaves" / inside)
    name = f"folder:{tmp_path}/leaves@3x8x8"
    assert not available(name) and known(name).classes == ()
    for look in (lambda: describe(name), lambda: load(name, "train")):
        with pytest.raises(DatasetMissing, match=f"leaves{'/' * bool(inside)}{inside} cannot be looked into"):
            look()


def test_what_a_system_hides_at_the_root_of_a_volume_is_no_class(tmp_path, monkeypatch):
    fill(tmp_path / "leaves", ["a", "b", "lost+found"], 4)
    refused(monkeypatch, tmp_path / "leaves" / "lost+found")
    assert describe(f"folder:{tmp_path}/leaves@3x8x8").classes == ("a", "b")


def test_a_link_that_leads_to_itself_is_no_class(tmp_path):
    fill(tmp_path / "leaves", ["a", "b"], 4)
    (tmp_path / "leaves" / "loop").symlink_to("loop")
    assert describe(f"folder:{tmp_path}/leaves@3x8x8").classes == ("a", "b")


def test_a_name_that_no_model_could_keep_is_refused_before_anything_is_trained(tmp_path):
    place = tmp_path.joinpath(*["long" * 12] * 6)
    fill(place, ["a", "b"], 4)
    with pytest.raises(UnknownDataset, match="300 letters at most"):
        named(f"folder:{place}", data_root())


@pytest.mark.parametrize("image", [(4, 30, 40), (2, 28, 28), (3, 0, 28)])
def test_a_form_that_images_have_not_is_no_fault_of_the_files(tmp_path, image):
    fill(tmp_path / "leaves", ["a", "b"], 4)
    with pytest.raises(UnknownDataset, match="give 1 or 3 channels"):
        load(f"folder:{tmp_path}/leaves", "train", image=image)


def test_a_folder_that_moved_says_what_to_do_and_is_found_below_the_data(tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_DATA", str(tmp_path / "data"))
    fill(tmp_path / "leaves", ["a", "b"], 5, (8, 8))
    name = f"folder:{tmp_path}/leaves@3x8x8"
    (tmp_path / "data").mkdir()
    (tmp_path / "leaves").rename(tmp_path / "away")
    assert not available(name) and describe(name).title == "leaves" and describe(name).image == (3, 8, 8)
    with pytest.raises(DatasetMissing, match=rf"no folder {tmp_path}/leaves; put it back there, or into .*data"):
        load(name, "test")
    (tmp_path / "away").rename(tmp_path / "data" / "leaves")
    assert available(name) and len(load(name, "test")) == 2


def test_of_a_folder_that_a_models_file_names_it_is_said_where_it_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    expected = rf"the model; put the folder leaves into {tmp_path} or {tmp_path}/data \(CAPSVIZ_DATA\), or name"
    with pytest.raises(DatasetMissing, match=expected):
        load("folder:leaves@3x8x8", "test")
    for place in (tmp_path, tmp_path / "data"):
        fill(place / "leaves", ["a", "b"], 5, (8, 8))
        assert len(load("folder:leaves@3x8x8", "test")) == 2
        (place / "leaves").rename(tmp_path / f"not {place.name}")


def test_a_folder_without_classes_is_answered_with_the_layout_it_needs(tmp_path):
    name = f"folder:{tmp_path}"
    for path in (name, f"{name}/nowhere"):
        assert not available(path)
        with pytest.raises(DatasetMissing, match="a sub-folder for each class"):
            load(path, "train")
    with pytest.raises(DatasetMissing, match="cannot be downloaded"):
        download(name)


@pytest.mark.parametrize(("first", "second"), [("train", "val"), ("Training", "Testing"), ("Validation", "TRAINING")])
def test_splits_that_are_called_otherwise_are_refused(tmp_path, first, second):
    fill(tmp_path / first, ["oak", "elm"], 4)
    fill(tmp_path / second, ["oak", "elm"], 2)
    said = ", ".join(sorted([first, second]))
    with pytest.raises(DatasetMissing, match=f"has folders {said}, which are no classes; call two of them train and t"):
        load(f"folder:{tmp_path}", "train")


def test_why_no_picture_can_be_read_is_said(tmp_path):
    fill(tmp_path, ["a", "b"], 2, size=(5000, 4000), mode="1")
    with pytest.raises(DatasetMissing, match=r"can be read; replace them \(0\.png: .* 16 million pixels"):
        named(f"folder:{tmp_path}", data_root())


def test_the_form_suits_images_as_they_are_and_not_as_they_are_kept(tmp_path):
    fill(tmp_path, ["a", "b"], 2, size=(2000, 40))
    assert named(f"folder:{tmp_path}", data_root()) == f"folder:{tmp_path}@3x40x40"


def test_what_a_program_hides_in_a_class_is_no_picture_of_it(tmp_path):
    fill(tmp_path, ["elm", "oak"], 5)
    before = len(load(f"folder:{tmp_path}", "train")) + len(load(f"folder:{tmp_path}", "test"))
    fill(tmp_path / "oak", [".ipynb_checkpoints"], 3)
    fill(tmp_path, ["yew"], 0)
    Image.new("RGB", (40, 30)).save(tmp_path / "oak" / "scan.jfif", format="JPEG")
    assert len(load(f"folder:{tmp_path}", "train")) + len(load(f"folder:{tmp_path}", "test")) == before + 1


def test_pictures_of_sixteen_bits_are_scaled_alike(tmp_path):
    for name, level in (("dark", 200), ("bright", 3000)):
        (tmp_path / name).mkdir()
        for number in range(10):
            grey = np.full((16, 16), level, np.uint16)
            grey[4:12, 4:12] += np.uint16(12 * number)  # some of the dark ones fit into 8 bits, others do not
            Image.fromarray(grey).save(tmp_path / name / f"{number}.png")
    for split in ("train", "test"):
        images = load(f"folder:{tmp_path}", split)
        dark = images.images[images.labels == images.classes.index("dark")].float()
        bright = images.images[images.labels == images.classes.index("bright")].float()
        assert dark.max() < 21 and bright.min() > 180, "4095 is white, in every picture"
    levels = describe(f"folder:{tmp_path}").levels(data_root())
    alone = prepare(read_image(tmp_path / "dark" / "4.png"), (1, 16, 16), layout="photo", levels=levels)
    seen = torch.cat([load(f"folder:{tmp_path}", split).images for split in ("train", "test")])
    assert (seen == alone.pixels).flatten(1).all(dim=1).any(), "alone it is what it is among the others"
    assert alone.notes[-1] == "White is the level 4,095, as in the images of the model."


@pytest.mark.parametrize("highest", [0.99, 1.05, 3.0])
def test_fractions_keep_their_shades_where_one_is_above_1(tmp_path, highest):
    for name in ("elm", "oak"):
        (tmp_path / name).mkdir()
        for number in range(5):
            shades = np.linspace(0, 0.9, 256, dtype=np.float32).reshape(16, 16)
            shades[0, 1] = highest if number == 3 else 0.5
            Image.fromarray(shades).save(tmp_path / name / f"{number}.tiff")
    images = load(f"folder:{tmp_path}", "train").images
    assert images.unique().numel() > 70 and images.max() == (252 if highest < 1 else 255)


@pytest.mark.parametrize("name", [b"caf\xe9", b"a\tb"], ids=["latin-1", "tab"])
def test_a_class_whose_name_no_file_can_hold_is_refused_before_anything_is_read(tmp_path, name):
    fill(tmp_path, ["tea", "odd"], 5)
    os.rename(tmp_path / "odd", os.fsencode(tmp_path) + b"/" + name)
    with pytest.raises(DatasetMissing, match="is no text on one line; rename it"):
        named(f"folder:{tmp_path}", data_root())
    with pytest.raises(UnknownDataset, match="rename its folders"):
        named(f"folder:{os.fsdecode(os.fsencode(tmp_path) + b'/' + name)}", data_root())


def test_names_in_other_scripts_and_with_joined_signs_are_classes(tmp_path):
    fill(tmp_path, ["naïve café", "葉", "👩\u200d🔬", "a\u00a0b"], 5)
    assert set(load(f"folder:{tmp_path}", "test").classes) == {"naïve café", "葉", "👩\u200d🔬", "a\u00a0b"}


def test_a_sample_of_what_lies_in_class_order_is_spread_over_all_classes(tmp_path):
    labels = load(f"folder:{drawn(tmp_path)}", "train").labels
    places = sample("folder:x", len(labels), 8)
    assert labels.tolist() == sorted(labels.tolist()) and labels[places].unique().tolist() == [0, 1, 2]
    assert sample("folder:x", 5, 5).tolist() == sample("mnist", 10_000, 5).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("form", ["", "@1x28x28"])
def test_a_name_without_a_path_is_not_the_folder_that_one_is_in(form):
    with pytest.raises(UnknownDataset, match=r"has no path; write folder:PATH, or folder:\. for the folder you are in"):
        describe(f"folder:{form}")


def test_a_home_that_nobody_has_is_a_folder_that_is_not_there(tmp_path):
    assert data_root("~nobody-here") == Path("~nobody-here")
    with pytest.raises(DatasetMissing, match=r"^There is no folder .*/~nobody-here/a; put it back there"):
        load("folder:~nobody-here/a", "train", root=tmp_path)
