"""Presets as data: the capsules that Yang, Li & Yu 2021 count, and how the presets differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from capsviz.data import DATASETS, DatasetMissing
from capsviz.network import ConfigError, configure, preset
from tests.folders import drawn


@pytest.mark.parametrize("name", ["paper", "compact"])
@pytest.mark.parametrize(
    ("data", "image", "grid", "capsules"),
    [
        ("mnist", (1, 28, 28), (6, 6, 32), 1152),
        ("fashion-mnist", (1, 28, 28), (6, 6, 32), 1152),
        ("digits", (1, 28, 28), (6, 6, 32), 1152),
        ("cifar10", (3, 32, 32), (8, 8, 64), 4096),
        ("multi-mnist", (1, 36, 36), (10, 10, 32), 3200),
    ],
)
def test_primary_capsules_are_those_of_table_1(name, data, image, grid, capsules):
    """28 pixels leave 20 after the first 9×9 and 6 after the second with stride 2; 32 leave 24 and 8; 36, 28 and 10."""
    config = preset(name, data, "dr")
    assert config.image == image
    assert config.grid == grid
    assert config.lower == capsules
    assert (config.primary_dim, config.class_dim, config.classes, config.iterations) == (8, 16, 10, 3)


def test_the_paper_preset_is_table_1():
    mnist, cifar = preset("paper", "mnist", "l1"), preset("paper", "cifar10", "l1")
    assert (mnist.conv_channels, mnist.decoder, mnist.leaky) == (256, (512, 1024), False)
    assert (cifar.conv_channels, cifar.decoder, cifar.leaky) == (256, (), True)


def test_compact_has_the_capsules_of_paper_behind_a_quarter_of_the_convolution():
    for data in DATASETS:
        paper, compact = preset("paper", data, "dr"), preset("compact", data, "dr")
        assert replace(compact, conv_channels=paper.conv_channels) == paper
        assert 4 * compact.conv_channels == paper.conv_channels


def test_a_preset_without_decoder_differs_in_nothing_else():
    config = preset("tiny", "digits", "l2", decoder=False)
    assert config == replace(preset("tiny", "digits", "l2"), decoder=())


def test_any_field_of_a_preset_can_be_overridden():
    config = preset("tiny", "digits", "dr", iterations=5, classes=4)
    assert (config.iterations, config.classes) == (5, 4)


@pytest.mark.parametrize("name", ["tiny", "residual"])
@pytest.mark.parametrize("data", ["digits", "cifar10"])
def test_a_decoder_may_have_other_widths(name, data):
    for widths in ((40,), [8, 16], ()):
        assert configure(name, data, "dr", decoder=widths) == replace(preset(name, data, "dr"), decoder=tuple(widths))


@pytest.mark.parametrize("routing", ["dr", "cnn"])
def test_image_and_classes_are_those_of_a_folder(routing, tmp_path):
    data = f"folder:{drawn(tmp_path / 'mine')}"
    config = configure("tiny", data, routing)
    assert (config.image, config.classes) == ((3, 20, 20), 3)
    asked = configure("tiny", data, routing, image=(1, 32, 32))
    assert (asked.image, asked.classes) == ((1, 32, 32), 3)
    assert configure("tiny", data, routing, classes=7).classes == 7


@pytest.mark.parametrize("form", ["", "@3x64x64"])
def test_a_folder_that_is_not_there_is_said_to_be_missing(form, tmp_path):
    with pytest.raises(DatasetMissing, match=f"^There is no folder {tmp_path}/gone; put it back there, or into"):
        configure("tiny", f"folder:{tmp_path}/gone{form}", "dr")


def test_an_unknown_preset_or_routing_is_named_with_the_choices(unchecked_types):
    with pytest.raises(ConfigError, match=r"huge.*paper"):
        preset("huge", "mnist", "dr")
    with pytest.raises(ConfigError, match=r"k-means.*dr"):
        preset("tiny", "mnist", "k-means")
