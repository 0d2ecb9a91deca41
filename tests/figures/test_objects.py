"""An image of two objects: each drawn by itself in the colour of its class, with what each position gave to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import capsviz
from capsviz.analysis.metrics import contributions, held
from capsviz.figures.describe import describe
from capsviz.figures.errors import FigureError
from capsviz.figures.network import network_strip
from capsviz.figures.objects import drawn_in_colours, in_words, inked, objects_apart
from capsviz.figures.picture import in_colours
from capsviz.figures.theme import channels, class_inks, contrast
from capsviz.routing import ASCENDING
from tests.figures.conftest import opened
from tests.known import known

NAMES = ("digits-dr", "digits-em", "digits-l2")


@pytest.fixture(scope="module")
def images() -> torch.Tensor:
    return capsviz.data.to_float(capsviz.data.load("digits", "test").batch(torch.arange(2))[0])


def traced(name: str, images: torch.Tensor) -> capsviz.Trace:
    return capsviz.trace(capsviz.load(name), images, objects=2, name=name)


@pytest.mark.parametrize("name", NAMES)
def test_the_reconstruction_has_the_brighter_pixels_of_the_drawings(name: str, images: torch.Tensor):
    trace = traced(name, images)
    drawings = known(trace.drawings)
    assert drawings.shape == (2, 2, 1, 28, 28)
    assert torch.equal(drawings.amax(1), known(trace.reconstruction))
    model = capsviz.load(name)
    for place in (0, 1):
        alone = model.decode(trace.poses, trace.named[:, place])
        assert torch.allclose(alone, drawings[:, place], atol=1e-6)


def test_a_trace_of_one_object_keeps_no_drawing_twice(images: torch.Tensor):
    assert capsviz.trace(capsviz.load("digits-dr"), images).drawings is None


def test_a_file_keeps_the_drawings(images: torch.Tensor, tmp_path):
    trace = traced("digits-dr", images)
    trace.save(tmp_path / "two.safetensors")
    again = capsviz.Trace.open(tmp_path / "two.safetensors")
    assert again.objects == 2 and torch.equal(known(again.drawings), known(trace.drawings))


def test_each_object_is_drawn_in_the_colour_of_its_class_and_colours_add_where_they_meet():
    drawings = torch.zeros(2, 1, 1, 3)
    drawings[0, 0, 0] = torch.tensor([1.0, 0.0, 1.0])
    drawings[1, 0, 0] = torch.tensor([0.0, 0.5, 1.0])
    picture = inked(drawings, [3, 8], 10)
    three, eight = (np.array(channels(class_inks(10)[upper])) / 255 for upper in (3, 8))
    assert np.allclose(picture[0, 0], three)
    assert np.allclose(picture[0, 1], 0.5 * eight)
    assert np.allclose(picture[0, 2], np.clip(three + eight, 0, 1))


def test_every_ink_is_seen_on_black():
    assert min(contrast(ink, "#000000") for ink in class_inks(10)) > 4.5


@pytest.mark.parametrize("name", NAMES)
def test_the_figure_names_both_and_shows_each_with_its_positions(name: str, images: torch.Tensor):
    trace = traced(name, images)
    figure = objects_apart(trace)
    first, second = (trace.classes[upper] for upper in trace.named[0].tolist())
    assert in_words(trace) == f"{first} and {second}" and in_words(trace) in figure.layout.meta["alt"]
    assert in_words(replace(trace, activations=torch.zeros_like(trace.activations))) == "none, all are 0"
    heats = [each for each in figure.data if each.type == "heatmap" and "row %{y} column %{x}" in each.hovertemplate]
    maps = [each for each in heats if each.zmax != 1]
    assert len(maps) == 2 and maps[0].zmin == maps[1].zmin and maps[0].zmax == maps[1].zmax
    assert np.shape(maps[0].z) == trace.grid[:2]
    titles = [note.text for note in figure.layout.annotations]
    assert any(title.startswith(f"<b>{first}</b>") for title in titles)
    assert any(title.startswith(f"<b>{second}</b>") for title in titles)


@pytest.mark.parametrize(("name", "share"), [("digits-dr", "couplings"), ("digits-em", "responsibilities")])
def test_what_the_positions_give_is_the_mean_share_over_the_types(name: str, share: str, images: torch.Tensor):
    trace = traced(name, images)
    rows, columns, types = trace.grid
    mean = trace.layer[share][-1].reshape(2, rows, columns, types, 10).mean(-2).numpy()
    for image, named in enumerate(trace.named.tolist()):
        heats = [each for each in objects_apart(trace, image).data if each.zmin is not None and each.zmax != 1]
        reach = max(abs(mean[image, ..., upper] - 0.1).max() for upper in named)
        for upper, shown in zip(named, heats, strict=True):
            assert np.allclose(shown.z, mean[image, ..., upper], atol=1e-5)
            assert (shown.zmin, shown.zmax) == pytest.approx((0.1 - reach, 0.1 + reach))


def test_each_object_is_drawn_by_itself(images: torch.Tensor):
    trace = traced("digits-dr", images)
    *_, first, second = [each for each in objects_apart(trace).data if each.type == "image"]
    for shown, upper, drawing in zip((first, second), trace.named[0].tolist(), known(trace.drawings)[0], strict=True):
        assert np.allclose(opened(shown), drawing[0, ..., None].numpy() * channels(class_inks(10)[upper]), atol=1)


@pytest.mark.parametrize("penalty", ASCENDING)
def test_contributions_sum_to_the_length_of_the_sum(penalty: str, images: torch.Tensor):
    trace = capsviz.trace(capsviz.load(f"digits-{penalty}"), images)
    lengths = trace.layer["sums"][-1, 1].norm(dim=-1)
    assert torch.allclose(contributions(trace, 1).sum(0), lengths, rtol=1e-4)


def test_the_strip_names_and_outlines_both(images: torch.Tensor):
    trace = traced("digits-dr", images)
    strip = network_strip(trace)
    bars = next(each for each in strip.data if each.type == "bar")
    outlined = {place for place, width in enumerate(bars.marker.line.width) if width}
    assert outlined == set(trace.named[0].tolist())
    assert in_words(trace) in strip.layout.meta["alt"]
    assert [each.type for each in strip.data].count("image") == 1  # the reconstruction, in colours


def test_one_object_or_no_decoder_is_one_sentence(images: torch.Tensor):
    with pytest.raises(FigureError, match="several objects"):
        objects_apart(capsviz.trace(capsviz.load("digits-dr"), images))
    with pytest.raises(FigureError, match="decoder"):
        drawn_in_colours(replace(traced("digits-dr", images), reconstruction=None))


def test_no_named_class_is_behind_another_in_words(images: torch.Tensor):
    trace = traced("digits-dr", images)
    first, second, third = trace.activations[1].argsort(descending=True).tolist()[:3]
    strengths = [f"{trace.activations[1, at]:.2f}" for at in (first, second)]
    said = f"is read as {first} and {second} with length {' and '.join(strengths)}, ahead of {third} with"
    assert said in describe(trace, image=1)
    silent = replace(trace, activations=torch.zeros_like(trace.activations))
    assert describe(silent, image=1).endswith("image 1 is read as no class.")
    assert "no class is active. " in describe(network_strip(silent, image=1))


@pytest.mark.parametrize("routing", ["dr", "l2"])
def test_where_nothing_votes_no_class_is_named(routing):
    weights = {"coefficients": torch.zeros(10, 3)} if routing == "l2" else None
    votes = torch.randn(1, 10, 3, 4) if routing == "l2" else torch.zeros(1, 10, 3, 4)
    recorded = capsviz.record(None, votes, routing, weights=weights)
    assert in_words(recorded) == "none, all are 0"
    assert routing == "l2" or held(recorded) is None


def test_a_drawing_in_colour_is_as_bright_as_its_channels_together():
    drawing = torch.zeros(1, 3, 1, 1)
    drawing[0, 2] = 0.9
    assert in_colours(drawing, ["#ffffff"])[0, 0] == pytest.approx([0.3] * 3)
