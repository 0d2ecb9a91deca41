"""The user's own images: a folder with one sub-folder per class."""

from __future__ import annotations

from pathlib import Path

import torch

from capsviz.data.dataset import FOLDER_PREFIX, SPLITS, check_split
from capsviz.data.errors import DatasetMissing, ImageError
from capsviz.data.images import ImageSet, stratified_split
from capsviz.data.visitor import prepare, read_image

DEFAULT_IMAGE = (3, 32, 32)


def folder_path(name: str) -> Path:
    """The path in a "folder:PATH" name, with ~ resolved."""
    return Path(name.removeprefix(FOLDER_PREFIX)).expanduser()


def folder_available(name: str) -> bool:
    """Whether the folder is there and has a sub-folder to take as a class; reads no image."""
    path = folder_path(name)
    return path.is_dir() and any(entry.is_dir() for entry in path.iterdir())


def load_folder(name: str, split: str, image: tuple[int, int, int] = DEFAULT_IMAGE) -> ImageSet:
    """The images of PATH/<class>/*, each cropped to its middle and resized to `image` (channels, height, width).

    With folders PATH/train and PATH/test these are the splits; otherwise every fifth image of a class is a test
    image. Raises `DatasetMissing` where there is no such folder or a class is empty, `ImageError` naming every file
    that cannot be read.
    """
    from torchvision.datasets import ImageFolder

    check_split(split)
    path = folder_path(name)
    has_splits = all((path / part).is_dir() for part in SPLITS)
    try:
        listing = ImageFolder(path / split if has_splits else path)
    except OSError as error:
        raise DatasetMissing(
            f"{path} cannot be used as a data set: put images into a sub-folder for each class, like {path}/cat/1.png."
        ) from error
    if has_splits:
        _check_same_classes(path)
    labels = torch.tensor(listing.targets, dtype=torch.int64)
    chosen = torch.arange(len(labels)) if has_splits else stratified_split(labels, split)
    if len(chosen) == 0:
        raise DatasetMissing(f"{path} has no images left for {split}: add more, or make folders train and test in it.")
    images = _read_all([Path(listing.samples[index][0]) for index in chosen.tolist()], path, image)
    return ImageSet(name, split, images, labels[chosen], tuple(listing.classes))


def _check_same_classes(path: Path) -> None:
    """Labels are positions in the list of classes, so both splits must have the same list."""
    train, test = ({entry.name for entry in (path / part).iterdir() if entry.is_dir()} for part in SPLITS)
    if train != test:
        odd = ", ".join(sorted(train ^ test))
        raise DatasetMissing(
            f"{path}/train and {path}/test must have the same classes, but only one of them has {odd}."
        )


def _read_all(files: list[Path], root: Path, image: tuple[int, int, int]) -> torch.Tensor:
    """Every file as bytes "count channel height width"; the broken ones are named together."""
    pictures, broken = [], []
    for file in files:
        try:
            pictures.append(prepare(read_image(file), image, layout="photo", invert=False).pixels)
        except ImageError:
            broken.append(str(file.relative_to(root)))
    if broken:
        named = ", ".join(broken[:5]) + (f" and {len(broken) - 5} more" if len(broken) > 5 else "")
        raise ImageError(f"{len(broken)} of {len(files)} files in {root} cannot be read: remove or replace {named}.")
    return torch.stack(pictures)
