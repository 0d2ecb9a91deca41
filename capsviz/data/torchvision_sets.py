"""MNIST, Fashion-MNIST and CIFAR-10 as files on this machine; nothing is written or fetched here."""

from __future__ import annotations

import io
import os
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from capsviz import places
from capsviz.data.dataset import SPLITS, TEN_DIGITS, Dataset, download_command
from capsviz.data.errors import DatasetMissing
from capsviz.data.images import ImageSet
from capsviz.data.order import in_order

if TYPE_CHECKING:
    from capsviz.waiting import Progress

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
    return Path(os.path.expanduser(root)) if root else places.chosen("CAPSVIZ_DATA", "~/.cache/capsviz")


@dataclass(frozen=True, kw_only=True)
class Published(Dataset):
    """A data set of the torchvision class of a name, in the files that its authors published: idx, as MNIST's."""

    torchvision: str

    @property
    def files(self) -> tuple[str, ...]:
        """The files, relative to the data root, that torchvision reads it from."""
        return tuple(f"{self.torchvision}/raw/{file}" for file in _IDX_BYTES)

    def complete(self, root: Path) -> bool:
        """Whether all files that torchvision needs are there in their full length; nothing is opened."""
        return all(_has_full_length(root / file) for file in self.files)

    def available(self, root: Path) -> bool:
        """Whether it lies below the root in any form."""
        return self.complete(root)

    def load(self, split: str, root: Path) -> ImageSet:
        """A split from the files below `root`, which may be read-only."""
        if not self.available(root):
            raise DatasetMissing(self._missing(root))
        images, labels = self._original(split, root)
        found = self._checked(split, root, images, labels)
        if split != "test":
            return found
        images, labels = in_order(self.name, found.images, found.labels)
        return replace(found, images=images, labels=labels)

    def fetch(self, root: Path, progress: Progress | None = None) -> None:
        """torchvision's own download, of which nothing half-done is left behind."""
        from capsviz.data.fetching import download

        download(self, root, progress)

    def _original(self, split: str, root: Path) -> tuple[Tensor, Tensor]:
        """Images "count channel height width" and labels from the published files."""
        source = self._opened(split, root)
        return source.data[:, None], torch.as_tensor(source.targets, dtype=torch.int64)

    def _opened(self, split: str, root: Path) -> Any:
        from torchvision import datasets

        try:
            return getattr(datasets, self.torchvision)(root, train=split == "train", download=False)
        except Exception as error:  # torchvision raises what its parsers happen to meet, AssertionError included
            raise DatasetMissing(self._damaged(root)) from error

    def _checked(self, split: str, root: Path, images: Tensor, labels: Tensor, note: str = "") -> ImageSet:
        whole = tuple(images.shape) == (self.count(split), *self.image)
        if not whole or int(labels.min()) < 0 or int(labels.max()) >= len(self.classes):
            raise DatasetMissing(self._damaged(root))
        return ImageSet(self.name, split, images, labels, self.classes, note)

    def _missing(self, root: Path) -> str:
        present = [file for file in self.files if (root / file).exists()]
        state = f"is only partly in {root}" if present else f"is not in {root}"
        folder = PurePosixPath(self.files[0]).parent
        return (
            f"{self.title} {state}: fetch it ({self.download_bytes / 1e6:.0f} MB) with "
            f"`{download_command(self.name)}`, or set CAPSVIZ_DATA to the folder that holds {folder}."
        )

    def _damaged(self, root: Path) -> str:
        folder = root / PurePosixPath(self.files[0]).parent
        return f"{self.title} in {folder} is damaged: delete it and run `{download_command(self.name)}`."


@dataclass(frozen=True, kw_only=True)
class Cifar(Published):
    """CIFAR-10, as published or as JPEGs, unpacked or in an archive.

    The published files are pickles: torchvision compares the MD5 of each with the published one before it opens any.
    The 50 000 JPEGs take several seconds to read; their `note` says what figures measured on them are worth.
    """

    @property
    def files(self) -> tuple[str, ...]:
        """The pickled batches, and what their labels mean."""
        return tuple(f"{_CIFAR_FOLDER}/{file}" for file in (*_CIFAR_BATCHES, "batches.meta"))

    def available(self, root: Path) -> bool:
        """Whether the published files, the folder of JPEGs or their archive are there."""
        return self.complete(root) or self._folder_complete(root) or _is_gzip(root / JPEG_ARCHIVE)

    def load(self, split: str, root: Path) -> ImageSet:
        """A split from the published files, else from the JPEGs."""
        if self.complete(root) or not self.available(root):
            return super().load(split, root)
        return self._checked(split, root, *self._jpegs(split, root), JPEG_NOTE)

    def _original(self, split: str, root: Path) -> tuple[Tensor, Tensor]:
        source = self._opened(split, root)
        images = torch.from_numpy(source.data).permute(0, 3, 1, 2).contiguous()
        return images, torch.as_tensor(source.targets, dtype=torch.int64)

    def _folder_complete(self, root: Path) -> bool:
        """Whether each class folder has as many files as it must have."""
        wanted = {split: self.count(split) // len(self.classes) for split in SPLITS}
        folders = [
            (root / JPEG_FOLDER / split / title, each) for split, each in wanted.items() for title in self.classes
        ]
        return all(folder.is_dir() and len(os.listdir(folder)) >= each for folder, each in folders)

    def _jpegs(self, split: str, root: Path) -> tuple[Tensor, Tensor]:
        """CIFAR-10 from JPEG files, image 0 of every class first, then image 1 …, so that any stretch is balanced."""
        classes = {title: label for label, title in enumerate(self.classes)}
        found: list[tuple[str, int, Tensor]] = []
        expected, where = self.count(split), str(root)
        unpacked = self._folder_complete(root)
        files = self._folder_jpegs(root, split) if unpacked else _archive_jpegs(root, split, expected)
        try:
            for title, stem, data in files:
                where = f"{JPEG_FOLDER}/{split}/{title}/{stem}.jpg in {root}"
                found.append((stem, classes[title], _decoded(data)))
        except (OSError, EOFError, KeyError, ValueError, RuntimeError, SyntaxError, tarfile.TarError) as error:
            raise DatasetMissing(
                f"{self.title} cannot be read at {where}: copy it again from where it came."
            ) from error
        if len(found) != expected:
            raise DatasetMissing(
                f"{self.title} in {root} has {len(found)} of {expected} {split} images of 32×32: copy it again."
            )
        found.sort(key=lambda item: item[:2])
        images = torch.stack([pixels for _, _, pixels in found])
        return images, torch.tensor([label for _, label, _ in found], dtype=torch.int64)

    def _folder_jpegs(self, root: Path, split: str) -> Iterator[tuple[str, str, bytes]]:
        """Class, file stem and bytes of each JPEG of a split in the unpacked folder."""
        for title in self.classes:
            for file in (root / JPEG_FOLDER / split / title).glob("*.jpg"):
                yield title, file.stem, file.read_bytes()


def _archive_jpegs(root: Path, split: str, count: int) -> Iterator[tuple[str, str, bytes]]:
    """The same from the archive, from its front to the last of so many images; nothing is unpacked to disk."""
    with tarfile.open(root / JPEG_ARCHIVE, "r|gz") as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if member.isfile() and path.suffix == ".jpg" and path.parts[-3:-2] == (split,):
                content = archive.extractfile(member)
                if content is not None:
                    yield path.parent.name, path.stem, content.read()
                    count -= 1
                    if not count:  # what follows are the training images, five times as many
                        return


def _decoded(data: bytes) -> UInt8[Tensor, "channel height width"]:
    """A JPEG of 32×32 in its colours, as Pillow reads it to the bit, but while other threads go on.

    Raises OSError, SyntaxError, ValueError and RuntimeError where it is none.
    """
    from torchvision.io import ImageReadMode, decode_jpeg

    with Image.open(io.BytesIO(data), formats=["JPEG"]) as picture:  # the header alone
        if picture.size != (32, 32):
            raise ValueError
    return decode_jpeg(torch.frombuffer(bytearray(data), dtype=torch.uint8), ImageReadMode.RGB)


def _has_full_length(file: Path) -> bool:
    try:
        found = file.stat()
    except OSError:
        return False
    size = found.st_size if stat.S_ISREG(found.st_mode) else 0
    if file.name in _IDX_BYTES:
        return size == _IDX_BYTES[file.name]
    return size > (_CIFAR_BATCH_BYTES if file.name in _CIFAR_BATCHES else 0)


def _is_gzip(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(2) == b"\x1f\x8b"


MNIST = Published(
    name="mnist",
    title="MNIST",
    classes=TEN_DIGITS,
    image=(1, 28, 28),
    train_count=60_000,
    test_count=10_000,
    layout="digit",
    source="LeCun, Cortes & Burges 1998",
    licence="CC BY-SA 3.0",
    download_bytes=11_594_722,
    torchvision="MNIST",
)
FASHION_MNIST = Published(
    name="fashion-mnist",
    title="Fashion-MNIST",
    classes=(
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    ),
    image=(1, 28, 28),
    train_count=60_000,
    test_count=10_000,
    layout="article",
    source="Xiao, Rasul & Vollgraf 2017",
    licence="MIT",
    download_bytes=30_878_645,
    torchvision="FashionMNIST",
)  # fmt: skip
CIFAR10 = Cifar(
    name="cifar10",
    title="CIFAR-10",
    classes=("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
    image=(3, 32, 32),
    train_count=50_000,
    test_count=10_000,
    layout="photo",
    source="Krizhevsky 2009",
    licence="none stated",
    download_bytes=170_498_071,
    reconstructed=False,
    torchvision="CIFAR10",
)
