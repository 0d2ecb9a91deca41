"""MNIST, Fashion-MNIST and CIFAR-10 as files on this machine; nothing is written or fetched here."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import numpy as np
import torch
from PIL import Image

from capsviz.data.errors import DatasetMissing
from capsviz.data.images import ImageSet
from capsviz.data.info import DATASETS, SPLITS, describe, download_command

CLASS_NAMES = {"mnist": "MNIST", "fashion-mnist": "FashionMNIST", "cifar10": "CIFAR10"}  # in torchvision.datasets
JPEG_NOTE = "Images re-encoded as JPEG: errors compare methods with each other, not with the paper."
JPEG_FOLDER = "cifar10"
JPEG_ARCHIVE = "cifar10-jpeg.tgz"

# The idx files unpacked: header + 28·28 bytes an image, header + 1 byte a label. A file cut short has another size.
_IDX_BYTES = {
    "train-images-idx3-ubyte": 16 + 60_000 * 784,
    "train-labels-idx1-ubyte": 8 + 60_000,
    "t10k-images-idx3-ubyte": 16 + 10_000 * 784,
    "t10k-labels-idx1-ubyte": 8 + 10_000,
}
_CIFAR_FOLDER = "cifar-10-batches-py"
_CIFAR_BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
_CIFAR_BATCH_BYTES = 10_000 * 3072  # the pixels alone; each file is a little longer, and torchvision checks its MD5


def data_root(root: Path | str | None = None) -> Path:
    """Where data sets lie: `root`, else the environment's CAPSVIZ_DATA, else ~/.cache/capsviz."""
    return Path(root or os.environ.get("CAPSVIZ_DATA") or "~/.cache/capsviz").expanduser()


def files_of(name: str) -> tuple[str, ...]:
    """The files, relative to the data root, that torchvision reads a set from."""
    if name == "cifar10":
        return tuple(f"{_CIFAR_FOLDER}/{file}" for file in (*_CIFAR_BATCHES, "batches.meta"))
    return tuple(f"{CLASS_NAMES[name]}/raw/{file}" for file in _IDX_BYTES)


def complete(name: str, root: Path) -> bool:
    """Whether all files that torchvision needs are there in their full length; nothing is opened."""
    return all(_has_full_length(root / file) for file in files_of(name))


def on_disk(name: str, root: Path) -> str | None:
    """In which form a set lies below the root: "original", "jpeg-folder", "jpeg-archive" (CIFAR-10 only), or None."""
    if complete(name, root):
        return "original"
    if name == "cifar10" and all(_jpeg_folder_complete(root, split) for split in SPLITS):
        return "jpeg-folder"
    if name == "cifar10" and _is_gzip(root / JPEG_ARCHIVE):
        return "jpeg-archive"
    return None


def load_set(name: str, split: str, root: Path) -> ImageSet:
    """A split of mnist, fashion-mnist or cifar10 from the files below `root`, which may be read-only.

    Raises `DatasetMissing` where the set is absent, cut short or damaged. The 50 000 JPEGs of CIFAR-10's second form
    take several seconds; their `note` says what figures measured on them are worth.
    """
    form = on_disk(name, root)
    if form is None:
        raise DatasetMissing(_missing(name, root))
    if form == "original":
        images, labels = _load_original(name, split, root)
    else:
        images, labels = _load_jpegs(split, root, form)
    info = describe(name)
    if tuple(images.shape) != (info.count(split), *info.image) or int(labels.min()) < 0 or int(labels.max()) > 9:
        raise DatasetMissing(_damaged(name, root))
    return ImageSet(name, split, images, labels, info.classes, "" if form == "original" else JPEG_NOTE)


def _load_original(name: str, split: str, root: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """Images "count channel height width" and labels from the published files.

    CIFAR-10's are pickles: torchvision compares the MD5 of each with the published one before it opens any.
    """
    from torchvision import datasets

    try:
        source = getattr(datasets, CLASS_NAMES[name])(root, train=split == "train", download=False)
    except Exception as error:  # torchvision raises what its parsers happen to meet, AssertionError included
        raise DatasetMissing(_damaged(name, root)) from error
    labels = torch.as_tensor(source.targets, dtype=torch.int64)
    if name == "cifar10":
        return torch.from_numpy(source.data).permute(0, 3, 1, 2).contiguous(), labels
    return source.data[:, None], labels


def _load_jpegs(split: str, root: Path, form: str) -> tuple[torch.Tensor, torch.Tensor]:
    """CIFAR-10 from JPEG files, image 0 of every class first, then image 1 …, so that any stretch is balanced."""
    classes = {title: label for label, title in enumerate(DATASETS["cifar10"].classes)}
    read = _folder_jpegs if form == "jpeg-folder" else _archive_jpegs
    found: list[tuple[str, int, np.ndarray]] = []
    where = str(root)
    try:
        for title, stem, data in read(root, split):
            where = f"{JPEG_FOLDER}/{split}/{title}/{stem}.jpg in {root}"
            with Image.open(io.BytesIO(data), formats=["JPEG"]) as picture:
                found.append((stem, classes[title], np.asarray(picture.convert("RGB"))))
    except (OSError, EOFError, KeyError, ValueError, SyntaxError, tarfile.TarError) as error:
        raise DatasetMissing(f"CIFAR-10 cannot be read at {where}: copy it again from where it came.") from error
    expected = DATASETS["cifar10"].count(split)
    if len(found) != expected or any(pixels.shape != (32, 32, 3) for _, _, pixels in found):
        raise DatasetMissing(
            f"CIFAR-10 in {root} has {len(found)} of {expected} {split} images of 32×32: copy it again."
        )
    found.sort(key=lambda item: item[:2])
    images = torch.from_numpy(np.stack([pixels for _, _, pixels in found])).permute(0, 3, 1, 2).contiguous()
    return images, torch.tensor([label for _, label, _ in found], dtype=torch.int64)


def _folder_jpegs(root: Path, split: str) -> Iterator[tuple[str, str, bytes]]:
    """Class, file stem and bytes of each JPEG of a split in the unpacked folder."""
    for title in DATASETS["cifar10"].classes:
        for file in (root / JPEG_FOLDER / split / title).glob("*.jpg"):
            yield title, file.stem, file.read_bytes()


def _archive_jpegs(root: Path, split: str) -> Iterator[tuple[str, str, bytes]]:
    """The same from the archive, read once from front to back; nothing is unpacked to disk."""
    with tarfile.open(root / JPEG_ARCHIVE, "r|gz") as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if member.isfile() and path.suffix == ".jpg" and path.parts[-3:-2] == (split,):
                content = archive.extractfile(member)
                if content is not None:
                    yield path.parent.name, path.stem, content.read()


def _has_full_length(file: Path) -> bool:
    if not file.is_file():
        return False
    size = file.stat().st_size
    if file.name in _IDX_BYTES:
        return size == _IDX_BYTES[file.name]
    return size > (_CIFAR_BATCH_BYTES if file.name in _CIFAR_BATCHES else 0)


def _jpeg_folder_complete(root: Path, split: str) -> bool:
    """Whether each class folder has as many files as it must have."""
    info = DATASETS["cifar10"]
    folders = [root / JPEG_FOLDER / split / title for title in info.classes]
    each = info.count(split) // len(info.classes)
    return all(folder.is_dir() and len(os.listdir(folder)) >= each for folder in folders)


def _is_gzip(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(2) == b"\x1f\x8b"


def _missing(name: str, root: Path) -> str:
    info = describe(name)
    present = [file for file in files_of(name) if (root / file).exists()]
    state = f"is only partly in {root}" if present else f"is not in {root}"
    folder = PurePosixPath(files_of(name)[0]).parent
    return (
        f"{info.title} {state}: fetch it ({info.download_bytes / 1e6:.0f} MB) with `{download_command(name)}`, "
        f"or set CAPSVIZ_DATA to the folder that holds {folder}."
    )


def _damaged(name: str, root: Path) -> str:
    folder = root / PurePosixPath(files_of(name)[0]).parent
    return f"{describe(name).title} in {folder} is damaged: delete it and run `{download_command(name)}`."
