"""The user's own folder of images."""

from __future__ import annotations

import pytest
from PIL import Image

from capsviz.data import DatasetMissing, ImageError, available, download, load


def _fill(folder, classes, each, size=(40, 30), mode="RGB"):
    for number, title in enumerate(classes):
        (folder / title).mkdir(parents=True)
        for index in range(each):
            colour = (80 * number, 10 * index, 0) if mode == "RGB" else 80 * number
            Image.new(mode, size, colour).save(folder / title / f"{index}.png")


def test_a_folder_is_split_resized_and_labelled_by_its_sub_folders(tmp_path):
    _fill(tmp_path, ["cat", "dog"], 10)
    name = f"folder:{tmp_path}"
    assert available(name)
    train, test = load(name, "train"), load(name, "test")
    assert train.images.shape == (16, 3, 32, 32)
    assert test.images.shape == (4, 3, 32, 32)
    assert train.classes == ("cat", "dog")
    assert test.labels.tolist() == [0, 0, 1, 1]
    assert test.images[:, 0, 16, 16].tolist() == [0, 0, 80, 80]
    assert train.name == name


def test_a_folder_takes_the_shape_that_is_asked_for(tmp_path):
    _fill(tmp_path, ["a", "b"], 5, mode="L")
    assert load(f"folder:{tmp_path}", "train", image=(1, 28, 20)).images.shape == (8, 1, 28, 20)


def test_folders_train_and_test_are_the_splits(tmp_path):
    _fill(tmp_path / "train", ["a", "b"], 3)
    _fill(tmp_path / "test", ["a", "b"], 2)
    assert len(load(f"folder:{tmp_path}", "train")) == 6
    assert len(load(f"folder:{tmp_path}", "test")) == 4
    _fill(tmp_path / "test", ["c"], 1)
    with pytest.raises(DatasetMissing, match=r"same classes.* c"):
        load(f"folder:{tmp_path}", "train")


def test_every_broken_file_is_named(tmp_path):
    _fill(tmp_path, ["a", "b"], 5)
    (tmp_path / "a" / "0.png").write_bytes(b"no picture")
    (tmp_path / "b" / "4.png").write_bytes((tmp_path / "b" / "3.png").read_bytes()[:60])
    with pytest.raises(ImageError) as raised:
        load(f"folder:{tmp_path}", "train")
    assert "2 of 8" in str(raised.value)
    assert "a/0.png" in str(raised.value)
    assert "b/4.png" in str(raised.value)


def test_a_folder_without_classes_is_answered_with_the_layout_it_needs(tmp_path):
    name = f"folder:{tmp_path}"
    for path in (name, f"{name}/nowhere"):
        assert not available(path)
        with pytest.raises(DatasetMissing, match="a sub-folder for each class"):
            load(path, "train")
    with pytest.raises(DatasetMissing, match="cannot be downloaded"):
        download(name)
