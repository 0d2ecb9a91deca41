"""What a training on the user's own images takes where its command does not say: form, preset, batch and length."""

from __future__ import annotations

from dataclasses import dataclass

from capsviz.data.dataset import FOLDER_PREFIX, SPLITS
from capsviz.data.folder import folder, named
from capsviz.data.torchvision_sets import data_root
from capsviz.routing import ALGORITHMS
from capsviz.training.config import SettingsError, TrainingConfig
from capsviz.training.feed import split

PRESET, EPOCHS, BATCH = TrainingConfig.preset, TrainingConfig.epochs, TrainingConfig.batch
"""Of every other training."""
LIKE_DIGITS, FEW_CLASSES = range(20, 33), 20
"""Pixels of a side of grey images, and classes at most, for which the default preset's two convolutions were made."""
FEW, SMALL_BATCH = 5_000, 32
"""Images, fewer than which are learned in smaller batches; broken files are told from them beforehand."""
STEPS, MOST_EPOCHS = 2_000, 100
"""As many epochs as give so many steps, as long as they are no more than that."""


@dataclass(frozen=True)
class Chosen:
    """The settings of a training, and one sentence on what was chosen; empty where nothing was."""

    data: str
    preset: str
    epochs: int
    batch: int
    sentence: str = ""


def choose(
    data: str,
    routing: str,
    *,
    size: int | None = None,
    preset: str | None = None,
    epochs: int | None = None,
    batch: int | None = None,
    steps: int | None = None,
    validation_share: float = TrainingConfig.validation_share,
) -> Chosen:
    """What a training takes: what is given, else what suits the images of a folder, else the defaults.

    size: pixels a side that a folder's images are brought to. steps: those that take the place of epochs. Raises
    SettingsError for the size of another data set and for what no training takes, UnknownDataset, and DatasetMissing
    for a folder that is not there or cannot be used.
    """
    if not data.startswith(FOLDER_PREFIX):
        if size is not None:
            raise SettingsError(f"The images of {data} have a size of their own; leave out --size.")
        return Chosen(data, preset or PRESET, EPOCHS if epochs is None else epochs, BATCH if batch is None else batch)
    TrainingConfig(data, routing, validation_share=validation_share)  # which says what is wrong with them
    place = data_root()
    whole = named(data, place, size)
    images = folder(whole, place)
    channels, height, width = images.image
    few = images.train_count < FEW
    counts = [images.readable(part, place) if few else images.count(part) for part in SPLITS]
    parts = [len(part) for part in split(counts[0], validation_share)]
    learned = max(1, parts[0])
    like_digits = channels == 1 and {height, width} <= set(LIKE_DIGITS) and len(images.classes) <= FEW_CLASSES
    plain = like_digits or routing not in ALGORITHMS  # the baseline without capsules has no residual blocks
    preset = preset or (PRESET if plain else "residual")
    if batch is None:
        batch = min(SMALL_BATCH if learned < FEW else BATCH, max(1, learned // 2))
    if epochs is None:
        epochs = min(max(EPOCHS, -(-STEPS * max(1, batch) // learned)), MOST_EPOCHS)
    sizes = [f"{high}×{wide}" for high, wide in images.sizes(place)]
    before = sizes[0] if len(sizes) == 1 else "several sizes"
    resampled = f", resampled from {before}" if before != f"{height}×{width}" else ""
    count, unit = (epochs, "epoch") if steps is None else (steps, "step")
    length = f"{count:,} {unit}{'s' * (count != 1)} (--{unit}s)"
    return Chosen(
        whole,
        preset,
        epochs,
        batch,
        f"{images.title}: {parts[0]:,} {'images' if few else 'files'} to learn from, {parts[1]:,} held out and "
        f"{counts[1]:,} to test on, of {len(images.classes)} classes, as {height}×{width} in "
        f"{'grey' if channels == 1 else 'colour'}{resampled} (--size); preset {preset} (--preset), "
        f"{batch} image{'s' * (batch != 1)} a step (--batch), {length}.",
    )
