"""One door to every data set by its name."""

from __future__ import annotations

from pathlib import Path

from capsviz.data.dataset import check_split
from capsviz.data.datasets import describe
from capsviz.data.errors import DatasetMissing
from capsviz.data.images import ImageSet
from capsviz.data.multi import MultiDigits
from capsviz.data.torchvision_sets import data_root
from capsviz.waiting import Progress


def load(
    name: str,
    split: str,
    *,
    root: Path | str | None = None,
    download: bool = False,
    image: tuple[int, int, int] | None = None,
) -> ImageSet | MultiDigits:
    """A split ("train" or "test") of the data set called `name`, in memory ("multi-mnist": made as it is asked for).

    `root` overrides `CAPSVIZ_DATA`; nothing is fetched unless `download`; `image` (channels, height, width) is what a
    folder's images are brought to where its name does not say. Raises `UnknownDataset`, `DatasetMissing` with the
    command that fetches the set, and `DownloadFailed`.
    """
    check_split(split)
    data = describe(name, root=root, image=image)
    if download:
        data.fetch(data_root(root))
    return data.load(split, data_root(root))


def available(name: str, *, root: Path | str | None = None) -> bool:
    """Whether the data set is on this machine, by looking at files and their sizes only; raises `UnknownDataset`."""
    try:
        return describe(name, root=root).available(data_root(root))
    except DatasetMissing:  # a folder is there that cannot be used
        return False


def download(name: str, progress: Progress | None = None, *, root: Path | str | None = None) -> None:
    """Fetch a data set that is not there yet, calling `progress(done_bytes, total_bytes)` a few times a second.

    Raises `DownloadFailed`, `UnknownDataset`, and `DatasetMissing` for a folder, which nobody but its owner can fetch.
    """
    describe(name, root=root).fetch(data_root(root), progress)
