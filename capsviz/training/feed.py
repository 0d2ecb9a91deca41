"""Which images a step sees: split, order and shifts, all of them functions of seed, epoch and step."""

from dataclasses import dataclass, replace

import numpy
import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor

from capsviz.data import ImageSet, MultiDigits, load
from capsviz.data.occlusion import blank
from capsviz.data.viewpoint import affine, shift
from capsviz.training.config import SettingsError, TrainingConfig

# Sets that are made on the fly have tens of millions of images: an epoch of them is this many.
VIRTUAL_EPOCH = 60_000
LARGEST_SHUFFLED = 1_000_000
# Streams of random numbers that must not depend on one another.
SPLIT, ORDER, SHIFT, MIRROR, CUTOUT, AFFINE = 0, 1, 2, 3, 4, 5


@dataclass(frozen=True)
class Batch:
    """What one step learns from; `drawings` are what the decoder should draw, one for each digit that is present.

    Where `cutout` blanks a part of the images, the drawings are the images before that.
    """

    images: UInt8[Tensor, "batch channel height width"]
    labels: Int64[Tensor, "batch present"]
    targets: Bool[Tensor, "batch upper"]
    drawings: UInt8[Tensor, "batch present channel height width"]


class Feed:
    """One rank's batches of a training set, each a function of the step alone: resuming needs no generator's state."""

    def __init__(self, data: ImageSet | MultiDigits, config: TrainingConfig, rank: int = 0, ranks: int = 1) -> None:
        self.data, self.config, self.rank, self.ranks = data, config, rank, ranks
        images = min(len(data), VIRTUAL_EPOCH) if isinstance(data, MultiDigits) else len(data)
        self.steps_per_epoch = images // config.batch
        if not len(data):
            raise SettingsError("No image is left to train on; add images, or hold fewer out (--validation-share).")
        if self.steps_per_epoch == 0:
            raise SettingsError(f"There are {len(data)} images to train on; choose a batch of at most that many.")
        if config.batch % ranks:
            raise SettingsError(f"A batch of {config.batch} does not split over {ranks} processes; choose a multiple.")
        if config.moved and isinstance(data, MultiDigits):
            raise SettingsError(
                "multi-mnist moves its digits itself; leave out the shift, the mirror, the cutout and turns."
            )
        if config.shift >= min(data.image[1:]):
            raise SettingsError(f"A shift by {config.shift} pixels can leave nothing of an image; choose a smaller.")
        if config.cutout >= min(data.image[1:]):
            raise SettingsError(f"A square of {config.cutout} pixels can hide a whole image; choose a smaller cutout.")
        self._epoch, self._order = -1, torch.empty(0, dtype=torch.int64)

    def batch(self, step: int) -> Batch:
        """The images of one step (counted from 0): this rank's equal share of them."""
        epoch, position = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            length = self.steps_per_epoch * self.config.batch
            order = epoch_order(len(self.data), length, self.config.seed, epoch)
            # Images in a GPU's memory are indexed there: one transfer an epoch. Pairs are drawn on the CPU.
            self._epoch = epoch
            self._order = order.to(self.data.images.device) if isinstance(self.data, ImageSet) else order
        size = self.config.batch
        indices = self._share(self._order[position * size : (position + 1) * size])
        images, labels = self.data.batch(indices)
        labels = labels.unsqueeze(1) if labels.ndim == 1 else labels
        if self.config.resampled:
            moves = self._share(draw_affine(size, self.config.seed, step)).to(images.device)
            turn, growth, slant = (
                moves * moves.new_tensor([self.config.rotate, self.config.scale, self.config.shear])
            ).T
            images = affine(images, degrees=turn, factor=1 + growth, shear=slant)
        if self.config.shift:
            moves = self._share(draw_shifts(size, self.config.shift, self.config.seed, step)).to(images.device)
            images = shift(images, moves[:, 0], moves[:, 1])
        if self.config.mirror:
            turned = self._share(draw_mirrors(size, self.config.seed, step)).to(images.device)
            images = torch.where(turned[:, None, None, None], images.flip(-1), images)
        drawings = self.data.parts(indices)[0] if isinstance(self.data, MultiDigits) else images.unsqueeze(1)
        if self.config.cutout:
            centres = self._share(draw_centres(size, self.data.image[1:], self.config.seed, step)).to(images.device)
            images = blank(images, centres, self.config.cutout)
        return Batch(images, labels, multi_hot(labels, len(self.data.classes)), drawings)

    def _share(self, batch: Tensor) -> Tensor:
        """This rank's part of what belongs to the whole batch, so that 2 × 64 sees what 1 × 128 sees."""
        size = len(batch) // self.ranks
        return batch[self.rank * size : (self.rank + 1) * size]


def training_sets(config: TrainingConfig) -> tuple[ImageSet | MultiDigits, ImageSet | MultiDigits]:
    """The images to learn from and those held out for validation; no digit of one is in a pair of the other."""
    whole = load(config.data, "train")
    base = whole.base if isinstance(whole, MultiDigits) else whole
    chosen, held_out = split(len(base), config.validation_share)
    parts = [replace(base, images=base.images[part], labels=base.labels[part]) for part in (chosen, held_out)]
    if isinstance(whole, MultiDigits):
        if any(len(part.labels.unique()) < 2 for part in parts):
            raise SettingsError("Pairs need images of two classes; hold out more, or fewer (--validation-share).")
        return replace(whole, base=parts[0]), replace(whole, base=parts[1])
    return parts[0], parts[1]


def generator(*key: int) -> torch.Generator:
    """Random numbers that belong to a key such as (seed, stream, step), whatever was drawn before."""
    state = numpy.random.SeedSequence(key).generate_state(1, numpy.uint64)[0]
    return torch.Generator().manual_seed(int(state) >> 1)


def split(count: int, validation_share: float) -> tuple[Int64[Tensor, "train"], Int64[Tensor, "held_out"]]:
    """Indices to train on and indices held out, the same for every seed so that runs can be compared."""
    order = torch.randperm(count, generator=generator(0, SPLIT))
    held_out = max(1, round(count * validation_share))
    return order[held_out:], order[:held_out]


def epoch_order(count: int, length: int, seed: int, epoch: int) -> Int64[Tensor, "length"]:
    """Positions of an epoch's images: a permutation, or draws with replacement from a set too large to shuffle."""
    numbers = generator(seed, ORDER, epoch)
    if count > LARGEST_SHUFFLED:
        return torch.randint(count, (length,), generator=numbers)
    return torch.randperm(count, generator=numbers)[:length]


def draw_shifts(batch: int, pixels: int, seed: int, step: int) -> Int64[Tensor, "batch 2"]:
    """Shifts (right, down) of a step's whole batch, in pixels."""
    return torch.randint(-pixels, pixels + 1, (batch, 2), generator=generator(seed, SHIFT, step))


def draw_affine(batch: int, seed: int, step: int) -> Float[Tensor, "batch 3"]:
    """How far each image of a step's whole batch is turned, scaled and sheared: shares, from −1 to 1, of the most."""
    return 2 * torch.rand(batch, 3, generator=generator(seed, AFFINE, step)) - 1


def draw_mirrors(batch: int, seed: int, step: int) -> Bool[Tensor, "batch"]:
    """Which images of a step's whole batch are mirrored."""
    return torch.randint(2, (batch,), generator=generator(seed, MIRROR, step)).bool()


def draw_centres(batch: int, image: tuple[int, int], seed: int, step: int) -> Int64[Tensor, "batch 2"]:
    """Row and column about which each image of a step's whole batch is blanked, anywhere in height and width."""
    numbers = generator(seed, CUTOUT, step)
    return torch.stack([torch.randint(length, (batch,), generator=numbers) for length in image], dim=1)


def multi_hot(labels: Int64[Tensor, "batch present"], classes: int) -> Bool[Tensor, "batch upper"]:
    """Which classes each image shows."""
    targets = torch.zeros(len(labels), classes, dtype=torch.bool, device=labels.device)
    return targets.scatter_(1, labels, True)
