"""What the rest of the library asks of a data set; each answers in its own file (digits.py, torchvision_sets.py, …)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from capsviz.data.errors import UnknownDataset
from capsviz.data.images import ImageSet
from capsviz.data.visitor import Levels

if TYPE_CHECKING:
    from capsviz.data.multi import MultiDigits
    from capsviz.waiting import Progress

SPLITS = ("train", "test")
FOLDER_PREFIX = "folder:"
TEN_DIGITS = tuple("0123456789")


@dataclass(frozen=True, kw_only=True)
class Dataset(ABC):
    """A data set: what is known of it before any of it is read, where it is, and how it is read and fetched.

    image: channels, height, width. layout: how `prepare` brings a visitor's picture into the form of this set ("digit",
    "article" or "photo"). source, licence: who made it, and under what terms it is given away. download_bytes: what has
    to travel to get it. objects: how many there are to name in each image. reconstructed: whether Table I of Yang, Li &
    Yu 2021 has a decoder for it; where it has none, it has twice the types of primary capsules, and LeakyReLU.
    start: the test image to begin with where the set is embedded (for the others, `exemplars` says it): of the ten on
    which dynamic routing decides most among those that every model of the zoo reads rightly, the one plainest to see.
    state: of a folder another as soon as a file comes or goes.
    """

    name: str
    title: str
    classes: tuple[str, ...]
    image: tuple[int, int, int]
    train_count: int
    test_count: int
    layout: str
    source: str
    licence: str
    download_bytes: int = 0
    objects: int = 1
    reconstructed: bool = True
    start: int = 0
    state: tuple[int, ...] = ()

    def count(self, split: str) -> int:
        """The number of images in a split ("train" or "test")."""
        return self.train_count if check_split(split) == "train" else self.test_count

    @property
    def embedded(self) -> bool:
        """Whether it comes with the package."""
        return not self.download_bytes

    def missing(self, root: Path) -> str:
        """The sentence on a data set that is not below `root`."""
        return f"{self.title} is not on this machine."

    def levels(self, root: Path) -> Levels:
        """The levels of its images of more than 8 bits of grey, as `prepare` takes them, where they are here."""
        return {}

    @abstractmethod
    def available(self, root: Path) -> bool:
        """Whether it is on this machine, by looking at files and their sizes below `root` only."""

    @abstractmethod
    def load(self, split: str, root: Path) -> ImageSet | MultiDigits:
        """A split, in memory; raises DatasetMissing where it is absent, cut short or damaged."""

    @abstractmethod
    def fetch(self, root: Path, progress: Progress | None = None) -> None:
        """Bring it below `root` unless it is there, telling (done, total) bytes; raises DownloadFailed."""


def check_split(split: str) -> str:
    """The split itself; raises `UnknownDataset` if it is neither "train" nor "test"."""
    if split not in SPLITS:
        raise UnknownDataset(f"There is no split {split!r}: choose train or test.")
    return split


def download_command(name: str) -> str:
    """The shell command that fetches a data set."""
    return f"capsviz data download {name}"
