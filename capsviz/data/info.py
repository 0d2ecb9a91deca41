"""What is known of each data set before any of it is read."""

from __future__ import annotations

from dataclasses import dataclass

from capsviz.data.errors import UnknownDataset

SPLITS = ("train", "test")
FOLDER_PREFIX = "folder:"
MULTI_PER_DIGIT = 1000  # Sabour et al. (2017): 1000 overlaid images for each digit of the base set


@dataclass(frozen=True)
class DatasetInfo:
    """Facts about a data set.

    `image` is (channels, height, width), `download_bytes` what has to travel to get it (0: it comes with the package),
    `layout` how `prepare` brings a visitor's picture into the form of this set ("digit", "article" or "photo"),
    `objects` how many there are to name in each image.
    """

    name: str
    title: str
    classes: tuple[str, ...]
    image: tuple[int, int, int]
    train_count: int
    test_count: int
    download_bytes: int
    layout: str
    objects: int = 1

    def count(self, split: str) -> int:
        """The number of images in a split ("train" or "test")."""
        return self.train_count if check_split(split) == "train" else self.test_count


_TEN = tuple("0123456789")
_ARTICLES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip
_OBJECTS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_MNIST_BYTES = 11_594_722

DATASETS: dict[str, DatasetInfo] = {
    info.name: info
    for info in (
        DatasetInfo("digits", "Digits", _TEN, (1, 28, 28), 1437, 360, 0, "digit"),
        DatasetInfo("mnist", "MNIST", _TEN, (1, 28, 28), 60_000, 10_000, _MNIST_BYTES, "digit"),
        DatasetInfo("fashion-mnist", "Fashion-MNIST", _ARTICLES, (1, 28, 28), 60_000, 10_000, 30_878_645, "article"),
        DatasetInfo("cifar10", "CIFAR-10", _OBJECTS, (3, 32, 32), 50_000, 10_000, 170_498_071, "photo"),
        DatasetInfo(
            "multi-mnist", "MultiMNIST", _TEN, (1, 36, 36),
            60_000 * MULTI_PER_DIGIT, 10_000 * MULTI_PER_DIGIT, _MNIST_BYTES, "digit", 2,
        ),
    )
}  # fmt: skip


def describe(name: str) -> DatasetInfo:
    """The facts about a data set; raises `UnknownDataset` for a name that is not in `DATASETS`."""
    if name not in DATASETS:
        raise UnknownDataset(f"There is no data set {name!r}: choose one of {', '.join(DATASETS)}, or folder:PATH.")
    return DATASETS[name]


def check_split(split: str) -> str:
    """The split itself; raises `UnknownDataset` if it is neither "train" nor "test"."""
    if split not in SPLITS:
        raise UnknownDataset(f"There is no split {split!r}: choose train or test.")
    return split


def download_command(name: str) -> str:
    """The shell command that fetches a data set."""
    return f"capsviz data download {name}"
