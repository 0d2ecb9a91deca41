"""The data sets by name: counts, splits, classes, and what is said when one is not there."""

from __future__ import annotations

import hashlib
import io
import tarfile

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.datasets import load_digits
from typer.testing import CliRunner

from capsviz.commands import main
from capsviz.data import (
    DATASETS,
    DatasetMissing,
    UnknownDataset,
    available,
    data_root,
    load,
    to_float,
    torchvision_sets,
)
from capsviz.data import digits as carried
from capsviz.data.dataset import download_command
from capsviz.data.images import stratified_split
from tests.app.pictures import encoded
from tests.programs import printed

MNIST_FILES = {
    "train-images-idx3-ubyte": 47_040_016,
    "train-labels-idx1-ubyte": 60_008,
    "t10k-images-idx3-ubyte": 7_840_016,
    "t10k-labels-idx1-ubyte": 10_008,
}


@pytest.fixture(scope="module")
def digits():
    return {split: load("digits", split) for split in ("train", "test")}


@pytest.mark.parametrize("split", ["train", "test"])
def test_digits_have_the_counts_and_the_shape_that_are_announced(digits, split):
    info = DATASETS["digits"]
    assert digits[split].images.shape == (info.count(split), *info.image)
    assert digits[split].images.dtype == torch.uint8
    assert digits[split].labels.dtype == torch.int64
    assert digits[split].classes == info.classes == tuple("0123456789")


def test_the_two_parts_of_digits_share_no_index_and_keep_the_class_shares(digits):
    counts = {split: torch.bincount(digits[split].labels, minlength=10) for split in digits}
    expected = (counts["train"] + counts["test"]) / 5
    assert int((counts["train"] + counts["test"]).sum()) == 1797
    assert ((counts["test"] - expected).abs() <= 1).all()
    labels = torch.arange(1797) % 7
    parts = [stratified_split(labels, split) for split in ("train", "test")]
    assert torch.equal(torch.cat(parts).sort().values, torch.arange(1797))


def test_digits_are_the_same_bytes_on_every_machine(digits):
    seen = hashlib.sha256(digits["test"].images.numpy().tobytes() + digits["test"].labels.numpy().tobytes()).hexdigest()
    assert seen == "61e3d9268bdd86f9557f3a94acc32eccee044ce12e2436a1212b285c63d3e1be"


def test_digits_fill_twenty_pixels_in_the_middle_as_mnist_does(digits):
    images = digits["train"].images[:, 0]
    assert int(images[:, :4].max()) == int(images[:, -4:].max()) == 0
    assert int(images[:, :, :4].max()) == int(images[:, :, -4:].max()) == 0
    drawn = (images > 25).any(dim=2)
    heights = drawn.sum(dim=1)
    assert 18 <= float(heights.float().mean()) <= 20
    assert float(images.amax(dim=(1, 2)).float().mean()) > 240  # full pen strokes stay bright


def test_a_digit_is_still_the_digit_it_was_resampled_from(digits):
    from sklearn.datasets import load_digits

    source = load_digits()
    chosen = stratified_split(torch.from_numpy(source.target.astype(np.int64)), "test")
    small = torch.nn.functional.interpolate(digits["test"].images[:, :, 4:-4, 4:-4].float(), size=(8, 8), mode="area")[
        :, 0
    ].flatten(1)
    original = torch.from_numpy(source.images[chosen.numpy()]).float().flatten(1)
    nearest = torch.cdist(small * (16 / 255), original).argmin(dim=1)
    assert (nearest == torch.arange(len(nearest))).float().mean() > 0.99


def test_a_batch_comes_with_its_labels(digits):
    images, labels = digits["test"].batch(torch.tensor([5, 0, 5]))
    assert torch.equal(images[0], images[2])
    assert torch.equal(images[1], digits["test"].images[0])
    assert torch.equal(labels, digits["test"].labels[[5, 0, 5]])
    assert to_float(images).max() <= 1
    assert torch.equal((to_float(images) * 255).round().to(torch.uint8), images)


def test_mnist_is_read_from_a_folder_that_cannot_be_written(mnist, mnist_root):
    assert mnist.images.shape == (10_000, 1, 28, 28)
    assert torch.bincount(mnist.labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert mnist.note == ""
    assert available("mnist", root=mnist_root)


def test_fashion_mnist_has_a_thousand_of_each_article(mnist_root):
    if not available("fashion-mnist", root=mnist_root):
        pytest.skip("Fashion-MNIST is not below CAPSVIZ_DATA")
    test = load("fashion-mnist", "test", root=mnist_root)
    assert torch.bincount(test.labels).tolist() == [1000] * 10
    assert test.classes[9] == "Ankle boot"


@pytest.mark.parametrize("name", ["mnist", "fashion-mnist", "cifar10", "multi-mnist"])
def test_a_missing_set_is_missed_with_the_command_that_fetches_it(tmp_path, name):
    assert not available(name, root=tmp_path)
    with pytest.raises(DatasetMissing, match="capsviz data download") as raised:
        load(name, "test", root=tmp_path)
    assert "MB" in str(raised.value)
    assert str(raised.value).count("\n") == 0
    assert list(tmp_path.iterdir()) == []


def test_the_command_that_an_error_names_exists():
    answer = CliRunner().invoke(main.app, [*download_command("digits").split()[1:-1], "--help"])
    assert answer.exit_code == 0, answer.output


def _write_mnist(root, sizes=MNIST_FILES):
    raw = root / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for file, size in sizes.items():
        with (raw / file).open("wb") as opened:
            opened.truncate(size)  # sparse: no bytes are really written


def test_a_file_cut_short_is_not_taken_for_the_set(tmp_path):
    _write_mnist(tmp_path, {**MNIST_FILES, "t10k-images-idx3-ubyte": 5_000_000})
    assert not available("mnist", root=tmp_path)
    with pytest.raises(DatasetMissing, match="only partly"):
        load("mnist", "test", root=tmp_path)


def test_files_of_the_right_length_and_the_wrong_content_are_damaged(tmp_path):
    _write_mnist(tmp_path)
    with pytest.raises(DatasetMissing, match="damaged"):
        load("mnist", "test", root=tmp_path)


def test_pickled_batches_with_a_wrong_checksum_are_never_opened(tmp_path):
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    for file in (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch", "batches.meta"):
        with (folder / file).open("wb") as opened:
            opened.truncate(31_000_000)
    with pytest.raises(DatasetMissing, match="damaged"):
        load("cifar10", "test", root=tmp_path)


@pytest.mark.parametrize(("name", "split"), [("minst", "test"), ("mnist", "validation")])
def test_an_unknown_name_or_split_is_answered_with_the_known_ones(name, split):
    with pytest.raises(UnknownDataset, match="choose"):
        load(name, split)


def test_the_root_is_the_argument_then_the_environment_then_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("CAPSVIZ_DATA", str(tmp_path / "environment"))
    assert data_root(tmp_path / "argument") == tmp_path / "argument"
    assert data_root() == tmp_path / "environment"
    monkeypatch.delenv("CAPSVIZ_DATA")
    assert data_root().parts[-2:] == (".cache", "capsviz")


def _jpeg(colour, size=(32, 32)) -> bytes:
    return encoded(Image.new("RGB", size, colour), "JPEG")


def _small_cifar(monkeypatch):
    """Twenty images instead of sixty thousand: the same code with smaller counts."""
    from dataclasses import replace

    monkeypatch.setitem(DATASETS, "cifar10", replace(DATASETS["cifar10"], train_count=20, test_count=10))


def _archive(path, splits, drop=0):
    with tarfile.open(path, "w:gz") as archive:
        for split, each in splits.items():
            for label, title in enumerate(DATASETS["cifar10"].classes):
                for number in range(each):
                    if drop and split == "test" and title == "truck":
                        continue
                    data = _jpeg((label * 25, 0, number * 100))
                    member = tarfile.TarInfo(f"cifar10/{split}/{title}/{number:04d}.jpg")
                    member.size = len(data)
                    archive.addfile(member, io.BytesIO(data))


@pytest.mark.parametrize("unpacked", [False, True])
def test_cifar10_as_jpegs_is_read_balanced_and_says_what_it_is_worth(monkeypatch, tmp_path, unpacked):
    _small_cifar(monkeypatch)
    _archive(tmp_path / "cifar10-jpeg.tgz", {"test": 1, "train": 2})
    if unpacked:
        with tarfile.open(tmp_path / "cifar10-jpeg.tgz") as archive:
            archive.extractall(tmp_path, filter="data")
        (tmp_path / "cifar10-jpeg.tgz").unlink()
    before = sorted(tmp_path.rglob("*"))
    train = load("cifar10", "train", root=tmp_path)
    assert train.labels.tolist() == [*range(10), *range(10)]
    assert [round(value / 25) for value in train.images[:10, 0, 16, 16].tolist()] == list(range(10))
    assert train.images.shape == (20, 3, 32, 32)
    assert "not with the paper" in train.note
    assert sorted(tmp_path.rglob("*")) == before


def test_a_cifar10_archive_with_images_missing_or_cut_short_is_refused(monkeypatch, tmp_path):
    _small_cifar(monkeypatch)
    archive = tmp_path / "cifar10-jpeg.tgz"
    _archive(archive, {"test": 1, "train": 2}, drop=1)
    with pytest.raises(DatasetMissing, match="9 of 10 test"):
        load("cifar10", "test", root=tmp_path)
    archive.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])
    with pytest.raises(DatasetMissing, match="copy it again"):
        load("cifar10", "train", root=tmp_path)


def test_a_jpeg_of_cifar10_is_decoded_as_pillow_decodes_it():
    noise = np.random.default_rng(3).integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
    for picture in (*map(Image.fromarray, noise), Image.fromarray(noise[0, :, :, 0])):
        data = encoded(picture, "JPEG")
        with Image.open(io.BytesIO(data)) as opened:
            pillow = torch.from_numpy(np.array(opened.convert("RGB"))).permute(2, 0, 1)
        assert torch.equal(torchvision_sets._decoded(data), pillow)


def _put(archive, name, data):
    """The archive with other bytes in place of one of its images."""
    with tarfile.open(archive) as opened:
        files = {member.name: opened.extractfile(member).read() for member in opened}
    assert name in files
    with tarfile.open(archive, "w:gz") as opened:
        for path, content in (files | {name: data}).items():
            member = tarfile.TarInfo(path)
            member.size = len(content)
            opened.addfile(member, io.BytesIO(content))


@pytest.mark.parametrize("data", [_jpeg(0)[:200], _jpeg(0, (64, 32)), b"", b"GIF89a", _jpeg(0)[:2] + b"\xff" * 600])
def test_a_damaged_jpeg_of_cifar10_is_named(monkeypatch, tmp_path, data):
    _small_cifar(monkeypatch)
    archive = tmp_path / "cifar10-jpeg.tgz"
    _archive(archive, {"test": 1, "train": 2})
    _put(archive, "cifar10/test/cat/0000.jpg", data)
    with pytest.raises(DatasetMissing, match=r"cannot be read at cifar10/test/cat/0000\.jpg"):
        load("cifar10", "test", root=tmp_path)


def test_of_a_cifar10_archive_that_begins_with_them_only_the_test_images_are_read(monkeypatch, tmp_path):
    _small_cifar(monkeypatch)
    archive = tmp_path / "cifar10-jpeg.tgz"
    _archive(archive, {"test": 1, "train": 2})
    _put(archive, "cifar10/train/airplane/0000.jpg", b"")
    assert len(load("cifar10", "test", root=tmp_path)) == 10
    with pytest.raises(DatasetMissing, match=r"cannot be read at cifar10/train/airplane/0000\.jpg"):
        load("cifar10", "train", root=tmp_path)


def test_the_digits_are_read_without_the_library_that_carries_them():
    code = "import sys; from capsviz.data import load; load('digits', 'test'); assert 'sklearn' not in sys.modules"
    assert printed(code) == ""
    pixels, targets = load_digits(return_X_y=True)
    whole = [load("digits", split) for split in ("train", "test")]
    assert sum(map(len, whole)) == len(pixels)
    assert torch.cat([split.labels for split in whole]).bincount().tolist() == np.bincount(targets).tolist()


def test_without_its_file_the_digits_come_from_the_library(monkeypatch):
    found = carried._rows()
    monkeypatch.setattr(carried, "find_spec", lambda _: None)
    assert np.array_equal(carried._rows(), found)
