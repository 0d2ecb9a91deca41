"""Which images a step sees."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from capsviz.data import ImageSet, MultiDigits, load
from capsviz.data.occlusion import blank
from capsviz.data.viewpoint import affine
from capsviz.training import feed
from capsviz.training.config import SettingsError, TrainingConfig
from capsviz.training.feed import Feed, training_sets
from tests.known import single_digits


@pytest.fixture(scope="module")
def digits():
    return load("digits", "train")


def config(**settings) -> TrainingConfig:
    chosen: dict[str, Any] = {"data": "digits", "routing": "dr", "batch": 64} | settings
    return TrainingConfig(**chosen)


def test_validation_images_are_held_out_and_the_same_for_every_seed(digits):
    train, held_out = training_sets(config(seed=0))
    again, held_out_again = training_sets(config(seed=5))
    assert len(train) + len(held_out) == len(digits)
    assert len(held_out) == round(len(digits) / 12)
    assert torch.equal(held_out.images, held_out_again.images) and torch.equal(train.images, again.images)
    order, held = feed.split(len(digits), 1 / 12)
    assert sorted(torch.cat([order, held]).tolist()) == list(range(len(digits)))


def test_an_epoch_shows_every_image_at_most_once_and_the_next_in_another_order(digits):
    batches = Feed(digits, config())
    length = batches.steps_per_epoch * 64
    order, other = (feed.epoch_order(len(digits), length, 0, epoch) for epoch in (0, 1))
    assert len(order.unique()) == length and not torch.equal(order, other)
    for epoch, expected in enumerate((order, other)):
        seen = [batches.batch(epoch * batches.steps_per_epoch + step).images for step in range(batches.steps_per_epoch)]
        assert torch.equal(torch.cat(seen), digits.images[expected])


def test_a_step_sees_the_same_images_whatever_was_drawn_before(digits):
    settings = config(shift=2, cutout=3, rotate=10.0, scale=0.1)
    forwards, backwards = Feed(digits, settings), Feed(digits, settings)
    seen = [forwards.batch(step) for step in range(30)]
    torch.rand(1)
    for step in reversed(range(30)):
        again = backwards.batch(step)
        assert torch.equal(again.images, seen[step].images) and torch.equal(again.labels, seen[step].labels)


def test_seeds_differ_in_order_and_in_shifts(digits):
    assert not torch.equal(feed.epoch_order(100, 100, 0, 0), feed.epoch_order(100, 100, 1, 0))
    assert not torch.equal(feed.draw_shifts(64, 2, 0, 0), feed.draw_shifts(64, 2, 1, 0))
    assert feed.draw_shifts(1000, 2, 0, 0).unique().tolist() == [-2, -1, 0, 1, 2]


def test_turned_images_are_the_transform_of_the_drawn_shares(digits):
    turned = Feed(digits, config(rotate=15.0, scale=0.2, shear=10.0)).batch(2)
    plain = Feed(digits, config()).batch(2)
    shares = feed.draw_affine(64, 0, 2)
    assert float(shares.abs().max()) <= 1 and float(shares.std()) > 0.5
    expected = affine(plain.images, degrees=15 * shares[:, 0], factor=1 + 0.2 * shares[:, 1], shear=10 * shares[:, 2])
    assert torch.equal(turned.images, expected) and not torch.equal(turned.images, plain.images)
    assert torch.equal(turned.drawings[:, 0], turned.images), "the decoder is to draw what the network saw"


def test_two_ranks_see_together_what_one_process_sees(digits):
    settings = config(shift=2, cutout=3, rotate=10.0, scale=0.1)
    whole = Feed(digits, settings).batch(3)
    parts = [Feed(digits, settings, rank, 2).batch(3) for rank in (0, 1)]
    assert torch.equal(torch.cat([part.images for part in parts]), whole.images)
    assert torch.equal(torch.cat([part.targets for part in parts]), whole.targets)


def test_the_decoder_is_to_draw_the_shifted_image(digits):
    batch = Feed(digits, config(shift=2)).batch(0)
    assert torch.equal(batch.drawings[:, 0], batch.images)


def test_two_digits_give_two_targets_and_a_drawing_of_each(digits):
    batch = Feed(MultiDigits(digits), config()).batch(0)
    assert batch.targets.sum(dim=1).unique().tolist() == [2]
    assert batch.drawings.shape == (64, 2, 1, 36, 36)
    overlaid = batch.drawings.int().sum(dim=1).clamp(max=255)
    assert torch.equal(overlaid, batch.images.int())


def test_no_digit_of_a_training_pair_is_in_a_validation_pair(digits, monkeypatch):
    monkeypatch.setattr(feed, "load", lambda *_, **__: MultiDigits(digits))
    train, held_out = training_sets(config(data="multi-mnist"))
    assert len(train.base) + len(held_out.base) == len(digits)


@pytest.mark.parametrize(
    ("settings", "ranks", "says"),
    [
        ({"batch": 5000}, 1, "at most that many"),
        ({"batch": 63}, 2, "multiple"),
        ({"cutout": 28}, 1, "can hide a whole image; choose a smaller"),
        ({"shift": 28}, 1, "A shift by 28 pixels can leave nothing of an image; choose a smaller"),
        ({"shift": 10**30}, 1, "can leave nothing of an image; choose a smaller"),
    ],
)
def test_a_batch_that_cannot_be_is_refused_in_one_sentence(digits, settings, ranks, says):
    with pytest.raises(SettingsError, match=says):
        Feed(digits, config(**settings), 0, ranks)


def test_about_half_of_the_images_are_mirrored_and_their_drawings_with_them(digits):
    plain, mirrored = (Feed(digits, config(mirror=mirror)).batch(0) for mirror in (False, True))
    turned = feed.draw_mirrors(len(plain.images), config().seed, 0)
    assert 0.3 < turned.float().mean() < 0.7
    assert torch.equal(mirrored.images[turned], plain.images[turned].flip(-1))
    assert torch.equal(mirrored.images[~turned], plain.images[~turned])
    assert torch.equal(mirrored.drawings[:, 0], mirrored.images)
    assert torch.equal(mirrored.labels, plain.labels)


def test_a_part_of_every_image_is_blanked_and_the_decoder_is_to_draw_it_all(digits):
    plain, blanked = (Feed(digits, config(shift=1, cutout=cutout)).batch(0) for cutout in (0, 9))
    centres = feed.draw_centres(64, digits.image[1:], config().seed, 0)
    assert torch.equal(blanked.images, blank(plain.images, centres, 9))
    assert (blanked.images != plain.images).flatten(1).any(1).float().mean() > 0.8
    assert torch.equal(blanked.drawings, plain.drawings)


def test_squares_lie_anywhere_in_an_image_and_elsewhere_in_another_step():
    centres = feed.draw_centres(2000, (5, 7), 0, 0)
    assert [len(centres[:, axis].unique()) for axis in (0, 1)] == [5, 7]
    assert not torch.equal(centres, feed.draw_centres(2000, (5, 7), 0, 1))


def test_pairs_of_digits_are_not_shifted_once_more(digits):
    with pytest.raises(SettingsError, match="leave out the shift"):
        Feed(MultiDigits(digits), config(shift=2))
    with pytest.raises(SettingsError, match="the cutout"):
        Feed(MultiDigits(digits), config(cutout=2))


def test_a_smaller_set_still_gives_whole_batches(digits):
    few = replace(digits, images=digits.images[:70], labels=digits.labels[:70])
    assert Feed(few, config()).steps_per_epoch == 1


def test_an_epoch_is_every_image_of_a_set_however_large_and_a_stretch_of_pairs_without_end(digits, monkeypatch):
    monkeypatch.setattr(feed, "VIRTUAL_EPOCH", 640)
    assert len(digits) > 640
    assert Feed(digits, config()).steps_per_epoch == len(digits) // 64
    assert Feed(MultiDigits(digits), config()).steps_per_epoch == 10


@pytest.mark.parametrize("settings", [{}, {"shift": 2, "mirror": True, "cutout": 3}])
def test_batches_are_made_where_the_images_lie_and_indexed_there(digits, settings, monkeypatch):
    """On a device other than the CPU ("meta", which has shapes alone, stands in for a GPU)."""
    asked: list[torch.Tensor] = []
    batch_of = ImageSet.batch

    def watched(images, indices):
        asked.append(indices)
        return batch_of(images, indices)

    monkeypatch.setattr(ImageSet, "batch", watched)
    batch = Feed(digits.to("meta"), config(**settings)).batch(3)
    assert [indices.device.type for indices in asked] == ["meta"]
    parts = (batch.images, batch.labels, batch.targets, batch.drawings)
    assert {part.device.type for part in parts} == {"meta"}


def test_where_all_images_are_held_out_no_smaller_batch_is_asked_for(digits):
    none = replace(digits, images=digits.images[:0], labels=digits.labels[:0])
    with pytest.raises(SettingsError, match=r"No image is left to train on; add images, or hold fewer out"):
        Feed(none, config())


def test_pairs_without_two_classes_to_hold_out_are_one_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(feed, "load", lambda *_: MultiDigits(single_digits()))
    with pytest.raises(SettingsError, match="--validation-share"):
        training_sets(TrainingConfig("multi-mnist", "dr", validation_share=1e-9))
    assert len(training_sets(TrainingConfig("multi-mnist", "dr"))[1].base) > 2
