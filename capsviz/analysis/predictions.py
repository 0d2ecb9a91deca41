"""What a shipped model did with every test image of its data set: a record, kept as a file beside the weights."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float, Float16, Int64, Integer
from torch import Tensor

from capsviz import device, zoo
from capsviz.analysis import confusion
from capsviz.errors import CapsvizError
from capsviz.files import make_folder, safetensors_bytes, write
from capsviz.network import CapsNet
from capsviz.reading import Digest, Inside, Name, Perhaps, PerhapsDigest, parsed, understood
from capsviz.tensors import TensorFile, tensor_file

FORMAT = "capsviz-measured-1"
ANEW = "`capsviz zoo measure` writes it anew"


class PredictionsError(CapsvizError):
    """A record that is missing, stale or damaged, or a model that cannot be measured."""


@dataclass(frozen=True)
class Facts:
    """What a record's file says of the tensors in it: the first fields of `Predictions`."""

    name: Inside
    data: Name
    weights: Digest
    drawn_by: Perhaps
    drawn_by_weights: PerhapsDigest


@dataclass(frozen=True)
class Predictions:
    """One model on its whole test set, image by image in the order of the set.

    Where each image shows several objects, the columns marked "*object" have one number for each of them; where it
    shows one, none.

    name, data: the model and its data set; weights: sha256 of the weights that were measured. drawn_by: the model whose
    decoder drew the capsules (the model itself, or dynamic routing's where it has no decoder), empty where nothing was
    drawn, and then the last four tensors are None; drawn_by_weights: the sha256 of that model's weights.
    Figures are kept in float16, three significant digits; classes are int64, in a file as small as they fit.
    """

    name: str
    data: str
    weights: str
    drawn_by: str
    drawn_by_weights: str
    labels: Integer[Tensor, "count *object"]
    predicted: Integer[Tensor, "count *object"]
    """The most active classes, the most active first."""
    activations: Float16[Tensor, "count *object"]
    """Length (EM: activation, CNN: probability) of the predicted classes."""
    capsules: Float16[Tensor, "count *object dim"] | None = None
    """Poses of the predicted class capsules: from them a decoder draws the image again, without the data set."""
    mse: Float16[Tensor, " count"] | None = None
    ssim: Float16[Tensor, " count"] | None = None
    reread: Integer[Tensor, "count *object"] | None = None
    """Classes that the drawing model gives to the drawing."""

    def __post_init__(self) -> None:
        for name in _CLASSES:
            if (classes := getattr(self, name)) is not None:
                object.__setattr__(self, name, classes.long())

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def objects(self) -> int:
        """How many objects each image shows."""
        return self.labels[0].numel()

    def shown(self) -> Int64[Tensor, "count object"]:
        """The classes that each image shows, one column where it shows one."""
        return _by_object(self.labels)

    def named(self) -> Int64[Tensor, "count object"]:
        """The classes that the model names, the most active first, one column where an image shows one."""
        return _by_object(self.predicted)

    @property
    def right(self) -> Bool[Tensor, " count"]:
        """Images of which all classes are named."""
        return _same(self.named(), self.shown())

    @property
    def wrong(self) -> int:
        """How many images are not right."""
        return int((~self.right).sum())

    @property
    def error(self) -> float:
        """Share of images classified wrong, in percent."""
        return 100 * self.wrong / len(self)

    @property
    def reconstructs(self) -> bool:
        """Whether the model drew its capsules by its own decoder."""
        return self.drawn_by == self.name

    @property
    def drawn_wrong(self) -> Bool[Tensor, " count"]:
        """Images classified right whose drawing reads as another class (Yang et al. 2021). Raises PredictionsError."""
        if self.reread is None:
            raise PredictionsError(f"The capsules of {self.name} were drawn by no decoder; choose another model.")
        return self.right & ~_same(_by_object(self.reread), self.named())

    def figures(self, by: str) -> Float[Tensor, " count"]:
        """MSE or SSIM of every image in float32, by "mse" or "ssim". Raises PredictionsError where there are none."""
        found = {"mse": self.mse, "ssim": self.ssim}.get(by)
        if found is None:
            raise PredictionsError(
                f"{self.name} has no {by!r} in its record; choose mse or ssim, and a model that draws."
            )
        return found.float()

    def median(self, by: str) -> float:
        """The median of `figures`. Raises PredictionsError as that does."""
        return float(self.figures(by).quantile(0.5))

    def class_means(self, classes: int) -> Float[Tensor, "class dim"]:
        """The mean capsule of each class over the images of it that were read rightly, to float16: "class dim".

        Raises PredictionsError where no capsules were kept or a class was never read rightly.
        """
        if self.capsules is None:
            raise PredictionsError(f"No capsules of {self.name} were kept; choose a model with a decoder.")
        named, capsules = self.named()[self.right].flatten(), self.capsules[self.right].flatten(0, -2)
        mine = [named == label for label in range(classes)]
        if not all(bool(each.any()) for each in mine):
            raise PredictionsError(f"{self.name} reads a class never rightly, which then has no mean.")
        return torch.stack([capsules[each].float().mean(dim=0) for each in mine]).half().float()

    def confusion(self, classes: int) -> Int64[Tensor, "classes classes"]:
        """Images of a class (row) that were taken for a class (column).

        An image of several counts once for each class found, and once for each pair of one missed and one wrongly
        named. Raises PredictionsError for fewer classes than there are.
        """
        shown, named = self.shown(), self.named()
        if (least := int(torch.cat([shown, named]).max()) + 1) > classes:
            raise PredictionsError(f"{self.name} names {least} classes at least; give all of them, not {classes}.")
        return confusion.matrix(shown, named, classes)

    def largest_confusions(self, classes: int, count: int) -> list[tuple[int, int, int]]:
        """The commonest errors: class shown, class named, number of images, in falling order; only those that occur."""
        errors = self.confusion(classes).fill_diagonal_(0).flatten()
        order = errors.argsort(descending=True, stable=True)[:count].tolist()
        return [(*divmod(cell, classes), int(errors[cell])) for cell in order if errors[cell]]

    def taken(self, label: int, predicted: int) -> Int64[Tensor, " found"]:
        """Which images of class `label` were taken for class `predicted`."""
        shown, named = self.shown(), self.named()
        here = (shown == label)[:, :, None] & (named == predicted)[:, None, :]
        return (here & confusion.taken(shown, named)).any((1, 2)).nonzero().flatten()

    def same_images(self, other: Predictions) -> bool:
        """Whether another record is of the same test images, as far as labels say: a folder may have had others."""
        return torch.equal(self.labels, other.labels)

    def save(self, path: str | Path) -> None:
        """Write the record as one safetensors file whose header is JSON; it opens again with `Predictions.open`."""
        make_folder(Path(path).parent)
        write(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        """What `save` writes."""
        return safetensors_bytes(self.columns(), {"format": FORMAT, "measured": self.facts()})

    def facts(self) -> str:
        """What a file says of the tensors, as JSON."""
        return json.dumps({name: getattr(self, name) for name in FACTS})

    def columns(self) -> dict[str, Tensor]:
        """The tensors that there are, by name, as a file has them."""
        found = {name: value for name in COLUMNS if (value := getattr(self, name)) is not None}
        return found | {name: _small(found[name]) for name in _CLASSES if name in found}

    @classmethod
    def open(cls, path: str | Path) -> Predictions:
        """The record in a file; raises PredictionsError, in one sentence, for a missing, truncated or foreign one."""
        with tensor_file(Path(path), ANEW, PredictionsError) as file:
            if file.metadata.get("format") != FORMAT:
                file.refuse("", "is no record of this version")
            said = parsed(file.metadata.get("measured", ""), path, ANEW, PredictionsError)
            facts: Facts = understood(Facts, said, path, ANEW, PredictionsError)
            check_columns(file)
            numbers: dict[str, Any] = file.whole()
            file.check_finite(numbers)
            return cls(**asdict(facts), **numbers)


def _small(classes: Int64[Tensor, "count *object"]) -> Integer[Tensor, "count *object"]:
    return classes.to(torch.uint8 if bool(((classes >= 0) & (classes < 256)).all()) else torch.int16)


def _by_object(classes: Integer[Tensor, "count *object"]) -> Int64[Tensor, "count object"]:
    return classes.reshape(len(classes), -1)


def _same(first: Int64[Tensor, "count object"], second: Int64[Tensor, "count object"]) -> Bool[Tensor, " count"]:
    """Where two say the same classes, in whatever order."""
    return (first.sort(dim=1).values == second.sort(dim=1).values).all(dim=1)


def most_confused(records: Iterable[Predictions], classes: int, count: int) -> tuple[int, ...]:
    """The `count` classes, in their order, between which several records have the commonest errors, error by error.

    Where that leaves room, the first of the others.
    """
    together = torch.stack([record.confusion(classes) for record in records]).sum(0).fill_diagonal_(0).flatten()
    order = together.argsort(descending=True, stable=True)
    pairs = [divmod(cell, classes) for cell in order[together[order] > 0].tolist()]
    found: set[int] = set()
    for pair in (*pairs, *((label, label) for label in range(classes))):
        if len(found.union(pair)) <= count:
            found |= set(pair)
    return tuple(sorted(found))


def check_columns(file: TensorFile, prefix: str = "") -> None:
    """Refuse a file whose tensors, those that begin with a prefix, are not the columns of one record."""

    def kinds(column: str) -> tuple[str, ...]:
        return _KINDS if column in _CLASSES else ("F16",)

    each = file.shape(f"{prefix}labels") if f"{prefix}labels" in file.names else ()
    if len(each) not in (1, 2) or not all(each) or each[1:] == (1,):
        file.refuse(f"{prefix}labels", "are none")
    for name in (name for name in file.names if name.startswith(prefix)):
        if (column := name.removeprefix(prefix)) not in COLUMNS:
            file.refuse(name, "is no part of a record")
        wide = file.shape(name)[-1:] if column == "capsules" else ()
        file.expect(name, (*(each[:1] if column in _OF_IMAGES else each), *wide), kinds(column))
    for column in ("labels", "predicted", "activations"):
        file.expect(prefix + column, each, kinds(column))


COLUMNS = ("labels", "predicted", "activations", "capsules", "mse", "ssim", "reread")
_CLASSES = ("labels", "predicted", "reread")
_KINDS = ("U8", "I16")
_OF_IMAGES = ("mse", "ssim")
"""Columns that have one number for an image, however many objects it shows."""
FACTS = tuple(field.name for field in fields(Facts))


def path_of(entry: zoo.Entry, drawer: zoo.Entry | None = None) -> Path:
    """Where a model's record lies: `measured/NAME.safetensors` beside the weights; drawer: as in `recorded`."""
    return zoo.folder() / zoo.RECORDS / f"{entry.name}{f'-by-{drawer.name}' if drawer else ''}.safetensors"


def check_trained(entry: zoo.Entry) -> None:
    """Raise PredictionsError for a step of a training, of which no record is kept."""
    if isinstance(entry, zoo.AtStep):
        raise PredictionsError(f"{entry.name} is a step of a training; measure the trained model, {entry.trained}.")


def recorded(entry: zoo.Entry | str, drawer: zoo.Entry | None = None) -> Predictions:
    """The record of a shipped model, also by its name; drawer: as in `capsviz.analysis.measuring.measure`.

    Raises PredictionsError where there is none or it belongs to other weights, and as `check_trained`; ZooError for an
    unknown name.
    """
    entry = zoo.entry(entry) if isinstance(entry, str) else entry
    check_trained(entry)
    path, command = path_of(entry, drawer), f"`capsviz zoo measure {entry.name}`"
    if not path.is_file():
        raise PredictionsError(f"{entry.name} has not been measured image by image; {command} does that.")
    found = Predictions.open(path)
    known = zoo.models().get(found.drawn_by)
    drawn = known.sha256 if known and (drawer is None or known.name == drawer.name) else ""
    if (found.name, found.weights, found.drawn_by_weights) != (entry.name, entry.sha256, drawn):
        raise PredictionsError(f"{path.name} was measured with other weights than the zoo's; {command} measures again.")
    return found


def summary(record: Predictions) -> str:
    """A record in one line."""
    line = f"{record.name}: error {record.error:.2f} % ({record.wrong} of {len(record)})"
    if record.mse is None or record.ssim is None:
        return line
    drawn, off, alike = int(record.drawn_wrong.sum()), float(record.mse.float().mean()), record.ssim.float().mean()
    by = "" if record.reconstructs else f" by {record.drawn_by}"
    return f"{line}; drawn{by} with MSE {off:.4f}, SSIM {float(alike):.3f}; {drawn} classified right and drawn wrong"


@device.or_cpu
def drawings(
    record: Predictions, artist: CapsNet, chosen: Int64[Tensor, " chosen"] | None = None
) -> Float[Tensor, "chosen channel height width"]:
    """What a decoder draws of the recorded capsules: the reconstructions again, without encoder, routing or data set.

    artist: the model called `record.drawn_by`; chosen: which images, all of them unless given. Equal to the measured
    reconstructions up to the rounding of capsules to float16. Raises PredictionsError where no capsules were kept.
    """
    if record.capsules is None:
        raise PredictionsError(f"No capsules of {record.name} were kept; choose a model with a decoder.")
    which = torch.arange(len(record)) if chosen is None else chosen
    named, place = record.named(), device.of(artist)
    capsules = record.capsules.reshape(*named.shape, -1)

    @torch.inference_mode()
    def drawn(part: slice) -> Tensor:
        mine = which[part]
        each = zip(named[mine].unbind(1), capsules[mine].float().unbind(1), strict=True)
        return torch.stack([one(classes, poses) for classes, poses in each], dim=1).amax(1)

    def one(classes: Tensor, poses: Tensor) -> Tensor:
        every = poses.unsqueeze(1).expand(-1, artist.config.classes, -1)  # the decoder masks the others
        return device.results(artist.decode(every.to(place), classes.to(place)))

    parts = list(device.parts(artist, len(which), 1000, drawn))
    return torch.cat(parts) if parts else torch.empty(0, *artist.config.image)
