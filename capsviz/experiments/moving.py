"""What experiments on moved images share: which models on which images, and what is said of their rows.

Only rows of one data set and of as many images compare: a part of the result. counts: the fields that say how many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from capsviz import zoo
from capsviz.data import ImageSet, MultiDigits, load, same, title_of
from capsviz.data.datasets import in_class_order, sample
from capsviz.data.folder import full_name, parted
from capsviz.errors import CapsvizError
from capsviz.experiments import results
from capsviz.network import METHODS
from capsviz.training.recipes import own


def own_of(models: Iterable[str], data: str = "") -> bool:
    """Whether what is measured is of a folder of images, or of models that do not ship; raises ZooError.

    Results of such stand `apart`.
    """
    return in_class_order(data) or own(map(zoo.entry, models))


def sampled(data: str, split: str, count: int, models: Sequence[str] | None) -> ImageSet:
    """So many images of a split, by `sample`; a folder's in the form that the models to measure take, and named by it.

    Raises CapsvizError for a set of several objects an image.
    """
    chosen = models or candidates(data)
    images = load(data, split, image=zoo.entry(chosen[0]).network.image if chosen else None)
    if isinstance(images, MultiDigits):
        raise CapsvizError(f"The images of {data} show two objects each; choose a data set of one object with --data.")
    pixels, labels = images.batch(sample(data, len(images), min(count, len(images))))
    name = full_name(parted(data)[0], images.image) if in_class_order(data) else data
    return replace(images, name=name, images=pixels, labels=labels)


def which(data: str, numbers: str) -> str:
    """How images were taken: "first 2,000", or "40 evenly spread" of a set in class order."""
    return f"{numbers} evenly spread" if in_class_order(data) else f"first {numbers}"


def compared(name: str, images: ImageSet, models: Sequence[str] | None) -> list[zoo.Entry]:
    """The models to measure on images, the `candidates` of their data set unless given.

    Rows of weights that are no longer in the zoo leave the result of that name; where no models are given, those of
    other models too leave the result that comes with capsviz, a table of what compares.
    Raises CapsvizError where there is none, and for one that takes other images or knows another number of classes.
    """
    data = images.name
    entries = [zoo.entry(name) for name in models or candidates(data)]
    if not entries:
        raise CapsvizError(f"No model of {data} is in {zoo.folder()}; name one with --model.")
    for entry in entries:
        if (tuple(entry.network.image), entry.network.classes) != (images.image, len(images.classes)):
            raise CapsvizError(
                f"{entry.name} takes other images than those of {data}; choose another --model or --data."
            )
    all_stay = models or results.folder().resolve() != results.shipped().resolve()
    stays = zoo.models() | zoo.at_steps() if all_stay else {entry.name: entry for entry in entries}
    results.drop(
        name,
        lambda row: row["data"] != data or (row["model"] in stays and row["sha256"] == stays[row["model"]].sha256),
    )
    return entries


def candidates(data: str) -> list[str]:
    """The models to compare: of each routing that with a decoder which errs least, and the CNN, as far as they ship.

    Of a folder those of one form: of its name's, or else of that of the model which errs least.
    """
    chosen: dict[str, zoo.Entry] = {}
    form = parted(data)[1] if in_class_order(data) else None
    for entry in sorted(zoo.models().values(), key=lambda entry: entry.test_error):
        if same(entry.data, data) and (not entry.has_capsules or entry.has_decoder):
            form = form or entry.network.image
            if entry.network.image == form:
                chosen.setdefault(entry.routing, entry)
    return [chosen[routing].name for routing in METHODS if routing in chosen]


def measured(result: dict[str, Any], model: str, data: str, *fields: str) -> set[tuple[Any, ...]]:
    """What stands in the result of a model on a data set, by some fields of its rows."""
    rows = (row for row in result["rows"] if (row["model"], row["data"]) == (model, data))
    return {tuple(row[name] for name in fields) for row in rows}


def parts(result: dict[str, Any], *counts: str) -> list[dict[str, Any]]:
    """The result by data set and numbers of images. The part with most rows comes first."""
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in result["rows"]:
        found.setdefault((row["data"], *(row[name] for name in counts)), []).append(row)
    return [{**result, "rows": rows} for rows in sorted(found.values(), key=len, reverse=True)]


def called(part: dict[str, Any], *counts: str) -> str:
    """What a part was measured on: "MNIST, first 2,000 images"."""
    row = part["rows"][0]
    numbers = " and ".join(f"{row[name]:,}" for name in counts or ("count",))
    return f"{title_of(row['data'])}, {which(row['data'], numbers)} images"


def tables(result: dict[str, Any], table: Callable[[dict[str, Any]], str], *counts: str) -> str:
    """The table of each part, below its name where there are several."""
    found = parts(result, *counts)
    heads = [f"**{called(part, *counts)}**\n\n" if len(found) > 1 else "" for part in found]
    return "\n\n".join(head + table(part) for head, part in zip(heads, found, strict=True))


def sentences(result: dict[str, Any], said: Callable[[dict[str, Any]], list[str]], *counts: str) -> list[str]:
    """What is said of each part, after its name where there are several."""
    found = parts(result, *counts)
    if not found:
        return ["Nothing was measured here."]
    heads = [f"{called(part, *counts)}: " if len(found) > 1 else "" for part in found]
    return [head + sentence for head, part in zip(heads, found, strict=True) for sentence in said(part)]
