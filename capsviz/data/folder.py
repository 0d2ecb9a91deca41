"""The user's own images: a folder with one sub-folder for each class, as a data set like any other.

Its name is "folder:PATH", or "folder:PATH@3x64x64" with the form (channels, height, width) that its images are brought
to; without one the form is chosen from the images themselves. A folder that is not at its path is looked for under its
last name below `CAPSVIZ_DATA`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import torch
from jaxtyping import Int64, UInt8
from PIL import Image, ImageChops
from torch import Tensor

from capsviz.data.dataset import FOLDER_PREFIX, SPLITS, Dataset, check_split
from capsviz.data.errors import DatasetMissing, ImageError, UnknownDataset
from capsviz.data.images import ImageSet, stratified_split
from capsviz.data.visitor import Levels, VisitorImage, levels_of, prepare, read_image
from capsviz.errors import line
from capsviz.letters import one_form, with_letters
from capsviz.reading import LONGEST_NAME, ONE_LINE

if TYPE_CHECKING:
    from capsviz.waiting import Progress

Form = tuple[int, int, int]
SIDES = (8, 224)
"""Fewest and most pixels of a side that images are brought to."""
CLASSES = (2, 1000)
LOOKED_AT = 64
"""Pictures that are opened to choose the form."""
NAMED = 5
"""Broken files, or classes without an image, that a sentence names."""
READERS = 4
_FORM = re.compile(r"@(1|3)x(\d{1,3})x(\d{1,3})$")
_DEEP = frozenset((".png", ".tif", ".tiff", ".pgm", ".ppm"))
"""Endings of files that may hold more than 8 bits of grey."""
_RARER = frozenset((".avif", ".heic", ".heif", ".jp2", ".jxl", ".tga"))
"""Endings of pictures that not every installation reads; where it does not, they are told as left out."""
_OF_SYSTEMS = {"__MACOSX", "__pycache__", "lost+found", "System Volume Information", "$RECYCLE.BIN"}
"""Folders that systems make for themselves beside those of classes."""
_PARTS = {"train", "training", "test", "testing", "val", "valid", "validation"}
"""What folders of splits are called, where they are not called as ours."""
_PICTURES = _DEEP | _RARER | {".jpg", ".jpeg", ".jfif", ".gif", ".webp", ".bmp"}


@dataclass(frozen=True)
class Listing:
    """What lies in a folder of images: its classes, and the files of each split with their classes; nothing is read."""

    classes: tuple[str, ...]
    files: dict[str, tuple[Path, ...]]
    labels: dict[str, Int64[Tensor, " count"]]


@dataclass(frozen=True, kw_only=True)
class Folder(Dataset):
    """A folder of images. Not there, or not to be used, it has no classes, and its form is the one in its name, if any.

    path: as its owner named it. note: what was said of files that cannot be read is in the `ImageSet`'s.
    """

    path: Path

    @property
    def embedded(self) -> bool:
        """False: it is its owner's."""
        return False

    def available(self, root: Path) -> bool:
        """Whether the folder is there and is a data set; reads no image."""
        return bool(self.classes) and self.found(root) is not None

    def found(self, root: Path) -> Path | None:
        """Where the folder is: at its path, or else under its last name below `root`; None where it is in neither."""
        # Unlike Path.is_dir, this is no error below a folder that only another user may enter.
        return next((place for place in (self.path, root / self.path.name) if os.path.isdir(place)), None)

    def missing(self, root: Path) -> str:
        """The sentence on a folder that is not there, or cannot be used, and on what to do."""
        if place := self.found(root):
            try:
                listed(place)
            except DatasetMissing as error:
                return str(error)
        said = self.name.removeprefix(FOLDER_PREFIX)
        if _FORM.sub("", said) == self.path.name != said:  # the name alone, and the form: as a model's file has it
            return line(
                f"The images of {self.path.name} did not travel with the model; put the folder {self.path.name} into "
                f"{self.path.parent} or {root} (CAPSVIZ_DATA), or name it as folder:PATH where a command has --data."
            )
        return line(
            f"There is no folder {self.path}; put it back there, or into {root} (CAPSVIZ_DATA), with a sub-folder for "
            "each class."
        )

    def load(self, split: str, root: Path) -> ImageSet:
        """A split, in memory: each image cropped to its middle and resized.

        With folders train and test in it these are the splits; otherwise every fifth image of a class is a test image.
        Files that cannot be read are left out, and the set's note names them, with the classes that have no other.
        Raises `DatasetMissing` where there is no such folder, or nothing in it to use.
        """
        check_split(split)
        place = self.found(root)
        if place is None:
            raise DatasetMissing(self.missing(root))
        listing = listed(place)
        files, labels = listing.files[split], listing.labels[split]
        if not files:
            raise DatasetMissing(
                f"{place} has no images left for {split}: add more, or make folders train and test in it."
            )
        _looked.pop(place, None)  # its files may have been written anew
        images, broken = _read_all(files, self.image, self.levels(root))
        unread = [files[each] for each in broken]
        _broken[place, split] = unread, _stamp(unread)
        if not len(images):
            raise DatasetMissing(line(f"None of the {len(files)} files in {place} can be read; replace them."))
        kept = torch.ones(len(files), dtype=torch.bool)
        kept[broken] = False
        gone = sorted({*labels[~kept].tolist()} - {*labels[kept].tolist()})
        said = [str(files[each].relative_to(place)) for each in broken], [listing.classes[label] for label in gone]
        return ImageSet(self.name, split, images, labels[kept], listing.classes, _left_out(split, len(files), *said))

    def levels(self, root: Path) -> Levels:
        """See `Dataset`: of all its pictures, so that they are scaled alike; empty where it is not to be used.

        As they were when the folder was last loaded here: a picture beside them is scaled as they are.
        """
        place = self.found(root)
        if place is None or not self.available(root):
            return {}
        state = _state(place)
        known = _looked.get(place)
        if known is None or known[0] != state:
            known = _looked[place] = state, _stamp(_deep(_listed(place, *state)))
        return _levels(place, known[1], *state)

    def sizes(self, root: Path) -> set[tuple[int, int]]:
        """The heights and widths that its images have before they are brought to its form, by looking at some of them.

        Raises `DatasetMissing` where none of these can be read.
        """
        place = self.found(root) or self.path
        return {*_looks(place, _stamp(_looked_at(listed(place))), *_state(place))[1]}

    def readable(self, split: str, root: Path) -> int:
        """How many images of a split can be read, by reading all of them, small; raises `DatasetMissing` as `load`."""
        return len(replace(self, image=(1, SIDES[0], SIDES[0])).load(split, root))

    def fetch(self, root: Path, progress: Progress | None = None) -> None:
        """Raises `DatasetMissing` unless the folder is there: nobody but its owner can fetch it."""
        if not self.available(root):
            raise DatasetMissing("A folder of images cannot be downloaded: put the images there yourself.")


def folder(name: str, root: Path, image: Form | None = None) -> Folder:
    """The data set of a "folder:PATH" name; image: its form where the name says none.

    Raises `UnknownDataset` for a form that images cannot be brought to, `DatasetMissing` where the folder is there and
    cannot be used.
    """
    bare = unlisted(name, image)
    place = bare.found(root)
    with _looking():
        if place is None or not any(_directories(place)):
            return bare
        state = _state(place)
        listing = _listed(place, *state)
    return replace(
        bare,
        classes=listing.classes,
        image=bare.image if any(bare.image) else _chosen_form(place, _stamp(_looked_at(listing)), *state),
        state=(*state, _mended(place)),
        train_count=len(listing.files["train"]),
        test_count=len(listing.files["test"]),
    )


def unlisted(name: str, image: Form | None = None) -> Folder:
    """As `folder`, of a folder that is not looked at; raises `UnknownDataset` as that does."""
    path, form = parted(name)
    if image is not None and (image[0] not in (1, 3) or min(image[1:]) < 1):
        asked = "×".join(map(str, image))
        raise UnknownDataset(f"There are no images of the form {asked}; give 1 or 3 channels, and sides in pixels.")
    return Folder(
        name=name,
        title=_title(path),
        classes=(),
        image=form or image or (0, 0, 0),
        train_count=0,
        test_count=0,
        layout="photo",
        source="your own images",
        licence="yours",
        path=path,
    )


def parted(name: str) -> tuple[Path, Form | None]:
    """The path in a "folder:PATH" name, ~ resolved, and the form in it; raises `UnknownDataset` for a wrong one."""
    said = name.removeprefix(FOLDER_PREFIX)
    found = _FORM.search(said)
    where = said[: found.start()] if found else said
    if not where:
        raise UnknownDataset(f"The name {name} has no path; write folder:PATH, or folder:. for the folder you are in.")
    path = Path(os.path.expanduser(where)).absolute()
    if not re.fullmatch(ONE_LINE, str(path)):
        raise UnknownDataset(f"The path {str(path)!r} is no text on one line; rename its folders.")
    if found is None:
        return path, None
    channels, height, width = map(int, found.groups())
    if not all(SIDES[0] <= side <= SIDES[1] for side in (height, width)):
        raise UnknownDataset(f"Images have {SIDES[0]} to {SIDES[1]} pixels a side, and {height}×{width} is asked for.")
    return path, (channels, height, width)


def named(name: str, root: Path, size: int | None = None) -> str:
    """The full name of a folder: its absolute path and the form of its images; size: pixels of both sides, if any.

    Raises `UnknownDataset`, `DatasetMissing`.
    """
    path, form = parted(name)
    channels, *sides = form or folder(name, root).image
    if not channels:
        folder(name, root).load("train", root)  # says what is wrong with it
    height, width = (size, size) if size else sides
    whole = full_name(path, (channels, height, width))
    parted(whole)
    if len(whole) > LONGEST_NAME:
        raise UnknownDataset(
            f"The name of a folder, with its path, has {LONGEST_NAME} letters at most, and this one {len(whole)}; give "
            "it a shorter path, perhaps by a link."
        )
    return whole


def full_name(path: Path, form: Form) -> str:
    """The name of a folder by its path and the form of its images."""
    return f"{FOLDER_PREFIX}{path}@{'x'.join(map(str, form))}"


def listed(place: Path) -> Listing:
    """What lies in a folder; raises `DatasetMissing`, in one sentence, where that is no data set."""
    with _looking():
        if not place.is_dir() or not any(_directories(place)):
            raise DatasetMissing(
                line(
                    f"{place} cannot be used as a data set: put images into a sub-folder for each class, like "
                    f"{place}/cat/1.png."
                )
            )
        return _listed(place, *_state(place))


@contextmanager
def _looking() -> Iterator[None]:
    """In here folders are listed; raises `DatasetMissing`, which names it, where the system shows one of them not."""
    try:
        yield
    except OSError as error:
        raise DatasetMissing(
            line(f"{error.filename} cannot be looked into ({error.strerror}); let it be read, or put it elsewhere.")
        ) from error


def _not_gone(error: OSError) -> None:
    """Raise what keeps a folder from being listed but that it went meanwhile."""
    if not isinstance(error, FileNotFoundError):
        raise error


def _state(place: Path) -> tuple[int, ...]:
    """What is another as soon as a file comes or goes in the folder or anywhere below a class of it."""
    inner = [each for part in SPLITS if (place / part).is_dir() for each in _directories(place / part)]
    times, waiting = dict[str, int](), [str(place), *_directories(place), *inner]
    while waiting:
        if (each := waiting.pop()) not in times:
            with suppress(FileNotFoundError):  # it went after the folder above it was listed
                times[each] = os.stat(each).st_mtime_ns
                waiting += _below(each, times[each])
    return tuple(times.values())


@lru_cache(maxsize=4096)
def _below(place: str, time: int) -> tuple[str, ...]:
    """The paths of the sub-folders in which `_files` looks, listed anew where the folder's time is another."""
    _, names, _ = next(os.walk(place), ("", [], []))
    paths = (os.path.join(place, each) for each in names if not each.startswith("."))
    return tuple(each for each in paths if not os.path.islink(each))


def _directories(place: Path) -> list[str]:
    """The paths of the sub-folders, in the order of their names; those that systems make for themselves are none."""
    # A page of the app asks hundreds of times; what lies in the folder is listed without a look at each, nor a Path.
    with os.scandir(place) as found:
        return sorted(each.path for each in found if _is_folder(each) and not _of_a_system(each.name))


def _is_folder(each: os.DirEntry[str]) -> bool:
    try:
        return each.is_dir()
    except OSError:  # a link that leads to itself
        return False


def _of_a_system(name: str) -> bool:
    return name.startswith(".") or name in _OF_SYSTEMS


def _files(place: Path) -> list[Path]:
    """The pictures anywhere below a folder, in the order of their paths."""
    found = []
    for where, folders, names in os.walk(place, onerror=_not_gone):
        folders[:] = [each for each in folders if not each.startswith(".")]
        pictures = (each for each in (*folders, *names) if os.path.splitext(each)[1].lower() in _PICTURES)
        found += [os.path.join(where, each) for each in pictures if not each.startswith(".")]
    # As paths compare, part by part, which takes far longer of paths.
    return [Path(each) for each in sorted(found, key=lambda each: os.path.normcase(each).split(os.sep))]


def _by_class(where: Path) -> dict[str, list[Path]]:
    """The pictures of each class, whose name is that of its folder in the form that all systems know."""
    found: dict[str, list[Path]] = {}
    for each in map(Path, _directories(where)):
        if (name := one_form(each.name)) in found:
            raise DatasetMissing(line(f"Two folders in {where} are called {name}; put the pictures into one of them."))
        found[name] = _files(each)
    return found


@lru_cache(maxsize=8)
def _listed(place: Path, *state: int) -> Listing:
    has_splits = all((place / part).is_dir() for part in SPLITS)
    parts = {part: place / part if has_splits else place for part in SPLITS}
    whole = {where: _by_class(where) for where in dict.fromkeys(parts.values())}
    found = {part: whole[where] for part, where in parts.items()}
    filled = {part: {name for name, files in classes.items() if files} for part, classes in found.items()}
    if odd := filled["train"] ^ filled["test"]:
        several = ", ".join(sorted(odd))
        raise DatasetMissing(
            line(f"{place}/train and {place}/test must have the same classes, but only one of them has {several}.")
        )
    classes = tuple(sorted(filled["train"]))
    if strange := [name for name in classes if not re.fullmatch(ONE_LINE, name)]:
        raise DatasetMissing(
            line(f"In {place} the name of a class, {strange[0]!r}, is no text on one line; rename it.")
        )
    if not has_splits and len(splits := [name for name in classes if name.casefold() in _PARTS]) > 1:
        raise DatasetMissing(
            line(f"{place} has folders {_several(splits)}, which are no classes; call two of them train and test.")
        )
    if not CLASSES[0] <= len(classes) <= CLASSES[1]:
        raise DatasetMissing(
            line(
                f"{place} has {len(classes)} sub-folder{'s' * (len(classes) != 1)} with pictures: {CLASSES[0]} to "
                f"{CLASSES[1]:,} classes can be told apart."
            )
        )
    files, labels = {}, {}
    for part in SPLITS:
        every = [(path, label) for label, name in enumerate(classes) for path in found[part][name]]
        all_labels = torch.tensor([label for _, label in every])
        chosen = torch.arange(len(every)) if has_splits else stratified_split(all_labels, part)
        files[part], labels[part] = tuple(every[each][0] for each in chosen.tolist()), all_labels[chosen]
    return Listing(classes, files, labels)


_broken: dict[tuple[Path, str], tuple[list[Path], int]] = {}
"""By folder and split the files that could not be read, and as what: one that was being copied may be whole by now."""
_times: dict[Path, int] = {}
"""By folder how often such files were found to be others."""
_looked: dict[Path, tuple[tuple[int, ...], int]] = {}
"""By folder, its state and what its deeper pictures were when it was last loaded: looking at thousands takes long."""


def _stamp(files: Iterable[Path]) -> int:
    """What is another as soon as one of the files is written anew."""
    return hash(tuple(map(_written, files)))


def _mended(place: Path) -> int:
    """What is another as soon as a file that could not be read is."""
    for split in SPLITS:
        files, before = _broken.get((place, split), ([], _stamp([])))
        if (now := _stamp(files)) != before:
            _broken[place, split] = files, now
            _times[place] = _times.get(place, 0) + 1
    return _times.get(place, 0)


def _written(file: Path) -> tuple[int, int] | None:
    with suppress(OSError):  # it has gone, or leads nowhere: reading it says so
        said = os.stat(file)
        return said.st_mtime_ns, said.st_size
    return None


def _looked_at(listing: Listing) -> list[Path]:
    """The files that say which form suits all."""
    files = listing.files["train"] + listing.files["test"]
    return list(dict.fromkeys(files[len(files) * each // LOOKED_AT] for each in range(LOOKED_AT)))


def _deep(listing: Listing) -> list[Path]:
    """The files that may hold more than 8 bits."""
    return [path for part in SPLITS for path in listing.files[part] if path.suffix.lower() in _DEEP]


def _chosen_form(place: Path, stamp: int, *state: int) -> Form:
    """The form that suits the images, by looking at some of them.

    Colour unless all are grey; the size of the images where they share one that is possible, else squares as large as
    the middle one's shorter side, 224 pixels at most.
    """
    channels, sizes = _looks(place, stamp, *state)
    height, width = sizes[0]
    if len({*sizes}) == 1 and SIDES[0] <= min(height, width) and max(height, width) <= SIDES[1]:
        return channels, height, width
    side = min(max(round(median(map(min, sizes))), SIDES[0]), SIDES[1])
    return channels, side, side


@lru_cache(maxsize=8)
def _looks(place: Path, stamp: int, *state: int) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Of some of the images the channels that show all, and the height and width of each; raises `DatasetMissing`."""
    pictures: list[VisitorImage] = []
    reasons: list[str] = []
    for path in _looked_at(listed(place)):
        try:
            pictures.append(read_image(path))
        except ImageError as error:
            reasons.append(f"{path.name}: {error}".rstrip("."))
    if not pictures:
        said = f"None of the files in {place} that were opened can be read; replace them ({reasons[0]})."
        raise DatasetMissing(line(said))
    colours = 1 if all(_grey(each.image) for each in pictures) else 3
    return colours, tuple((height, width) for width, height in (each.full or each.image.size for each in pictures))


@lru_cache(maxsize=8)
def _levels(place: Path, stamp: int, *state: int) -> Levels:
    """The levels of all pictures of more than 8 bits, of both splits: one scale for all of them."""
    found = dict[str, tuple[float, float]]()

    def look(path: Path) -> Levels:
        try:
            return levels_of(path)
        except ImageError:
            return {}

    with ThreadPoolExecutor(READERS) as pool:
        for each in pool.map(look, [path for path in _deep(listed(place)) if not _of_bytes(path)]):
            for kind, (low, high) in each.items():
                before = found.get(kind, (low, high))
                found[kind] = min(before[0], low), max(before[1], high)
    return found


def _of_bytes(path: Path) -> bool:
    """Whether a file is a PNG of 8 bits at most or of colour, by its first bytes alone."""
    try:
        with open(path, "rb", buffering=0) as file:
            start = file.read(26)
    except OSError:
        return False
    return start.startswith(b"\x89PNG\r\n\x1a\n") and start[12:16] == b"IHDR" and start[24:] != b"\x10\x00"


def _grey(picture: Image.Image) -> bool:
    """Whether a picture has no colour, in whatever mode it was saved."""
    if picture.mode == "L":
        return True
    red, green, blue = picture.split()
    return not (ImageChops.difference(red, green).getbbox() or ImageChops.difference(red, blue).getbbox())


def _read_all(
    files: tuple[Path, ...], form: Form, levels: Levels
) -> tuple[UInt8[Tensor, "count channel height width"], list[int]]:
    """The files that can be read, as bytes, and the places of those that cannot."""
    images = torch.empty((len(files), *form), dtype=torch.uint8)

    def read(number: int) -> bool:
        try:
            picture = read_image(files[number])
            images[number] = prepare(picture, form, layout="photo", invert=False, levels=levels).pixels
        except ImageError:
            return False
        return True

    with ThreadPoolExecutor(READERS) as pool:  # decoders let other threads run meanwhile
        right = list(pool.map(read, range(len(files))))
    if all(right):
        return images, []
    return images[torch.tensor(right)], [number for number, is_right in enumerate(right) if not is_right]


def _left_out(split: str, count: int, broken: list[str], gone: list[str]) -> str:
    """The sentence on files that cannot be read, and classes of which none can; empty where there is none."""
    if not broken:
        return ""
    whose = "training" if split == "train" else split
    none = f"; no image is left of {_several(gone)}" if gone else ""
    said = f"{len(broken)} of {count} {whose} files cannot be read and are left out: {_several(broken)}{none}."
    return line(said)


def _several(names: list[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _title(path: Path) -> str:
    """What the folder is called on screen and in tables: its own name without what marks text up."""
    return " ".join(with_letters(path.name, ".,'()+-", " ").split()) or "Images"
