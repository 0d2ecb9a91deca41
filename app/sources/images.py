"""Where the image on screen comes from: a data set, the visitor, or a model's own decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.shared import resources
from app.sources import browsing, linked_picture, trace_sets, uploads
from app.sources.picture import Picture, in_form, layout_of
from app.state.choices import Choices
from capsviz import data, zoo
from capsviz.analysis.perturbation import draw
from capsviz.data import DIGITS
from capsviz.data.datasets import in_class_order
from capsviz.data.multi import MultiOf, composed

EMPTY = (
    "To the model this picture is black: nothing stands out from its background, so the class that it names means "
    "nothing. Draw something large and dark on bright paper, or give another picture."
)
NO_IMAGE = "The recording holds no image, or a black one."
OTHER_IMAGE = (
    "No model can run on it: choose another source of images for this page, or record again with `images=` for it."
)
OUT_OF_SIGHT = (
    "At this viewpoint nothing of the picture is left on the canvas; bring it back by the sliders of Viewpoint in "
    "the sidebar."
)
COARSE = f"The link holds the picture with {linked_picture.LARGEST} pixels a side, coarser than the model takes it."
COARSER = f"The link holds it with {linked_picture.LARGEST} pixels a side: whoever opens that sees it coarser."
_OF_DATA = ("data", "overlaid")
"""Sources that show images of a data set, one or two at a time."""


def data_of(choices: Choices, entry: zoo.Entry) -> str:
    """The data set to take images from: the chosen one, else the model's own, else the embedded digits.

    Where two images are laid over one another, that of the single ones.
    """
    if choices.source == "overlaid" and (parts := parts_of(entry)):
        return parts
    for name in (choices.data, entry.data):
        if name and browsing.here(name):
            return name
    return DIGITS.name


def split_of(choices: Choices, entry: zoo.Entry) -> str:
    """The split to take images from: the chosen one where it is on this machine."""
    possible = browsing.splits(data_of(choices, entry))
    return choices.split if choices.split in possible else possible[0]


def labelled(choices: Choices, entry: zoo.Entry) -> str | None:
    """The data set here whose images and labels fit a model, the chosen one first; None where there is none."""
    for name in (data_of(choices, entry), entry.data, DIGITS.name):
        fits = browsing.labelled(name) and browsing.whole(name) and browsing.classes(name) == entry.classes
        if fits and data.describe(name).image == tuple(entry.config.image):
            return name
    return None


def parts_of(entry: zoo.Entry) -> str | None:
    """The data set whose images are laid over one another for a model of several objects; None for any other model."""
    info = data.known(entry.data)
    return info.base.name if isinstance(info, MultiOf) else None


def over_of(choices: Choices, entry: zoo.Entry) -> int:
    """The image that is laid over the first: the chosen one where it is here, else the first of another class."""
    name, split = data_of(choices, entry), split_of(choices, entry)
    every = browsing.indices(name, split)
    if choices.over is not None and choices.over in every:
        return choices.over
    below = browsing.image(name, split, index_of(choices, entry))[1]
    return next(each for each in every if browsing.image(name, split, each)[1] != below)


def source_of(choices: Choices, entry: zoo.Entry) -> str:
    """The source of the image: what was asked for, or the decoder's drawings where a data set of objects is absent.

    A digit says little to a model of shoes or of trucks; what its own decoder draws says more.
    """
    stranger = choices.source == "data" and not choices.data and not browsing.here(entry.data)
    if stranger and layout_of(entry) != "digit" and entry.has_decoder:
        return "generated"
    if choices.source == "generated" and not entry.has_decoder:
        return "data"
    if choices.source == "recorded" and not trace_sets.chosen(choices.recording):
        return "data"
    if choices.source == "overlaid" and parts_of(entry) is None:
        return "data"
    return choices.source


def count(choices: Choices, entry: zoo.Entry) -> int:
    """How many images the source holds, where it is no data set."""
    source = source_of(choices, entry)
    if source == "generated":
        classes, each = resources.exemplar_capsules(entry.name).shape[:2]
        return classes * each
    if source == "recorded":
        return len(trace_sets.opened(trace_sets.chosen(choices.recording)))
    return 1


def classes_of(choices: Choices, entry: zoo.Entry) -> tuple[str, ...]:
    """The classes by which the images of the source are browsed."""
    source = source_of(choices, entry)
    if source == "recorded":
        return trace_sets.image(trace_sets.chosen(choices.recording), 0)[1]
    return browsing.classes(data_of(choices, entry)) if source in _OF_DATA else entry.classes


def only_of(choices: Choices, entry: zoo.Entry) -> int | None:
    """The class to browse: the chosen one where the images have it, else None, all of them."""
    return choices.only if choices.only in range(len(classes_of(choices, entry))) else None


def listing(choices: Choices, entry: zoo.Entry) -> range | tuple[int, ...]:
    """The indices to browse: all of them, or those of the chosen class."""
    source, only = source_of(choices, entry), only_of(choices, entry)
    if only is None:
        if source in _OF_DATA:
            return browsing.indices(data_of(choices, entry), split_of(choices, entry))
        return range(count(choices, entry))
    if source == "recorded":
        return trace_sets.indices_of(trace_sets.chosen(choices.recording), only)
    if source == "generated":
        each = resources.exemplar_capsules(entry.name).shape[1]
        return range(only * each, (only + 1) * each)
    return browsing.indices_of(data_of(choices, entry), split_of(choices, entry), only)


def index_of(choices: Choices, entry: zoo.Entry) -> int:
    """The image on stage among those of the source: the chosen one where it is there, else the one to begin with.

    Of a class that is browsed it is the first where that is of another.
    """
    if choices.image is not None and choices.image in listing(replace(choices, only=None), entry):
        return choices.image
    of_data, browsed = source_of(choices, entry) in _OF_DATA, listing(choices, entry)
    start = browsing.start(data_of(choices, entry), split_of(choices, entry)) if of_data else 0
    return start if start in browsed or not browsed else browsed[0]


def resolve(choices: Choices, entry: zoo.Entry) -> tuple[Picture, tuple[str, ...]]:
    """The picture that the choices stand for, and one sentence for each choice that could not be met.

    Raises DatasetMissing, ImageError, TraceError, ZooError.
    """
    picture, notices = _as_it_is(choices, entry)
    seen = picture.seen(choices.viewpoint)
    if picture.pixels.any() and not seen.pixels.any():
        notices = (*notices, OUT_OF_SIGHT)
    return seen, notices


def _as_it_is(choices: Choices, entry: zoo.Entry) -> tuple[Picture, tuple[str, ...]]:
    """As `resolve`, whatever the viewpoint."""
    source = source_of(choices, entry)
    if source in uploads.GIVEN and choices.picture:
        given = _linked(choices, entry)
        return given, () if given.pixels.any() else (EMPTY,)
    if source in uploads.GIVEN:
        # Nothing is there yet: the image to begin with stands in.
        name, split = data_of(choices, entry), split_of(choices, entry)
        return from_data(name, split, browsing.start(name, split), entry), ()
    index, notices = _within(choices, entry)
    if choices.only != only_of(choices, entry):
        last = len(classes_of(choices, entry)) - 1
        notices = (f"These images have no class {choices.only} (0 to {last}); showing all classes.", *notices)
    if source == "recorded":
        return recorded(trace_sets.chosen(choices.recording), index, entry), notices
    if choices.source == "recorded":
        none = f"There is no recording in {trace_sets.folder()}; make one with `{trace_sets.COMMAND}`."
        notices = (*(trace_sets.damaged().values() or [none]), *notices)
    if source == "generated":
        return generated(entry, index), notices
    name, split = data_of(choices, entry), split_of(choices, entry)
    if source == "data" and choices.data not in ("", name):
        missing = f"The images of {data.title_of(choices.data)} are not on this machine"
        notices = (f"{missing}; showing those of {data.title_of(name)}.", *notices)
    if split != choices.split:
        missing = f"The {choices.split} images of {data.title_of(name)} are not on this machine"
        notices = (f"{missing}; showing {split} images.", *notices)
    if source == "overlaid":
        return _overlaid(choices, entry, index, notices)
    return from_data(name, split, index, entry), notices


def _within(choices: Choices, entry: zoo.Entry) -> tuple[int, tuple[str, ...]]:
    index, chosen, every = index_of(choices, entry), choices.image, listing(replace(choices, only=None), entry)
    if chosen in (None, index):
        return index, ()
    if isinstance(every, range):
        return index, (f"There is no image {chosen} (0 to {len(every) - 1:,}); showing image {index} instead.",)
    title = data.title_of(data_of(choices, entry))
    return index, (
        f"Image {chosen} of {title} is not among the {len(every):,} that come with capsviz; showing image {index} "
        f"instead. Download {title} in the sidebar to see it.",
    )


def _overlaid(
    choices: Choices, entry: zoo.Entry, index: int, notices: tuple[str, ...]
) -> tuple[Picture, tuple[str, ...]]:
    """Two images of the visitor's choice over one another."""
    name, split = data_of(choices, entry), split_of(choices, entry)
    over = over_of(choices, entry)
    if choices.over not in (None, over):
        missing = f"There is no image {choices.over} of {data.title_of(name)} here"
        notices = (*notices, f"{missing}; image {over} is laid over the first.")
    (below, first), (above, second) = (browsing.image(name, split, each) for each in (index, over))
    pixels = composed(below, above, choices.right, choices.down)
    shown = tuple(dict.fromkeys((*first, *second)))
    pixels, notes = in_form(pixels, entry)
    title = f"{data.title_of(name)} {split} images {index} and {over} over one another, {kinds(shown, entry.classes)}"
    return Picture(pixels, title, shown, notes), notices


def from_data(name: str, split: str, index: int, entry: zoo.Entry) -> Picture:
    """Image `index` of a data set in the form that the model takes; left as it is where it has that form."""
    (pixels, labels), info = browsing.image(name, split, index), data.describe(name)
    shown = tuple(labels) if info.classes == entry.classes else ()
    title = f"{info.title} {split} image {index}, {kinds(labels, info.classes)}"
    notes = tuple(filter(None, (browsing.note(name, split),)))
    origin = (name, split, index) if tuple(pixels.shape) == tuple(entry.config.image) else None
    fitted, more = in_form(pixels, entry)
    return Picture(fitted, title, shown, (*notes, *more), origin)


def kinds(labels: Sequence[int], classes: Sequence[str]) -> str:
    """What an image shows: “class 7”, or “classes 7 and 2” where two digits overlap."""
    return f"class{'es' * (len(labels) > 1)} {names(labels, classes)}"


def of_test_set(choices: Choices, entry: zoo.Entry, name: str) -> bool:
    """Whether the image is one of the test images of a data set."""
    tests = source_of(choices, entry) == "data" and split_of(choices, entry) == "test"
    return tests and data_of(choices, entry) == name


def names(labels: Sequence[int], classes: Sequence[str]) -> str:
    """“7”, or “7 and 2”."""
    return " and ".join(classes[label] for label in labels)


def counted(count: int) -> str:
    """“1 image”, “10 images”."""
    return f"{count:,} image{'s' * (count != 1)}"


def _linked(choices: Choices, entry: zoo.Entry) -> Picture:
    """The visitor's picture: its pixels are the link's, here and elsewhere; a session may know their origin."""
    pixels, notes = in_form(linked_picture.read(choices.picture), entry)
    coarse = linked_picture.coarser(entry.config.image)
    if choices.picture not in uploads.originals():
        title = f"{uploads.GIVEN[choices.source]} from the link"
        return Picture(pixels, title, (), (*notes, COARSE) if coarse else notes)
    upload, said = uploads.originals()[choices.picture]
    if coarse and upload.image is not None:
        whole = data.prepare_for(entry.data, upload.image, entry.config.image)
        return Picture(whole.pixels, f"your {upload.name}", (), (*whole.notes, COARSER))
    return Picture(pixels, f"your {upload.name}", (), (*said, *notes))


def recorded(name: str, index: int, entry: zoo.Entry) -> Picture:
    """Image `index` of a recording in the form that the model takes. Raises TraceError."""
    made, shown = trace_sets.opened(name).recorded, trace_sets.labels(name)[index].flatten().tolist()
    pixels, classes = trace_sets.image(name, index)
    # Of a folder some of all its images are recorded, so that this is not the number of the folder's own.
    numbered = shown and not in_class_order(made["data"])
    title = f"{data.title_of(made['data'])} {made['split']} image {index}" if numbered else f"{name}, image {index}"
    if shown:
        title = f"{title}, {kinds(shown, classes)}"
    if tuple(pixels.shape) != tuple(entry.config.image):
        fitted, notes = in_form(pixels, entry)
        return Picture(fitted, title, (), notes)
    notes = () if pixels.any() else (NO_IMAGE,)
    return Picture(pixels, title, tuple(shown) if classes == entry.classes else (), notes, recording=(name, index))


def generated(entry: zoo.Entry, index: int) -> Picture:
    """An image that the model's own decoder draws from a stored class capsule. Raises ZooError."""
    capsules = resources.exemplar_capsules(entry.name)
    label, number = divmod(index, capsules.shape[1])
    image = draw(resources.model(entry.name), capsules[label, number][None], label)[0]
    kind = entry.classes[label]
    note = "Generated: no photograph, but what this model's decoder draws from a stored class capsule."
    return Picture(data.to_bytes(image), f"generated {kind}, exemplar {number}", (label,), (note,))
