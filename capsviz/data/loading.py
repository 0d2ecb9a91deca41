"""One door to every data set by its name."""

from __future__ import annotations

from pathlib import Path

from capsviz.data.dataset import FOLDER_PREFIX, check_split
from capsviz.data.datasets import describe
from capsviz.data.errors import DatasetMissing
from capsviz.data.fetching import Progress
from capsviz.data.folder import DEFAULT_IMAGE, folder_available, load_folder
from capsviz.data.images import ImageSet
from capsviz.data.multi import MultiDigits
from capsviz.data.torchvision_sets import data_root


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
    folder's images are brought to. Raises `UnknownDataset`, `DatasetMissing` with the command that fetches the set,
    `DownloadFailed`, and for a folder `ImageError`.
    """
    check_split(split)
    if name.startswith(FOLDER_PREFIX):
        return load_folder(name, split, image or DEFAULT_IMAGE)
    data = describe(name)
    if download:
        data.fetch(data_root(root))
    return data.load(split, data_root(root))


def available(name: str, *, root: Path | str | None = None) -> bool:
    """Whether the data set is on this machine, by looking at files and their sizes only; raises `UnknownDataset`."""
    if name.startswith(FOLDER_PREFIX):
        return folder_available(name)
    return describe(name).available(data_root(root))


def download(name: str, progress: Progress | None = None, *, root: Path | str | None = None) -> None:
    """Fetch a data set that is not there yet, calling `progress(done_bytes, total_bytes)` a few times a second.

    Raises `DownloadFailed`, `UnknownDataset`, and `DatasetMissing` for a folder, which nobody but its owner can fetch.
    """
    if name.startswith(FOLDER_PREFIX):
        raise DatasetMissing("A folder of images cannot be downloaded: put the images there yourself.")
    describe(name).fetch(data_root(root), progress)
