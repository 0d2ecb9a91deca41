"""What MultiMNIST models draw of two digits over one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from capsviz import zoo
from capsviz.data import MultiDigits, to_float
from capsviz.experiments import pairs, reports, results, seeds
from capsviz.network import CapsNet, preset
from capsviz.training import feed, loop, runs
from capsviz.training.config import TrainingConfig
from capsviz.training.recipes import Recipe
from tests.known import single_digits

CONFIG = TrainingConfig("multi-mnist", "l2", "tiny", steps=2, batch=16)


@pytest.fixture
def digits(monkeypatch: pytest.MonkeyPatch) -> Callable[..., MultiDigits]:
    """Pairs of the embedded digits wherever MultiMNIST is asked for."""
    sets = {split: MultiDigits(single_digits(split)) for split in ("train", "test")}

    def loaded(name: str, split: str, **_: object) -> MultiDigits:
        return sets[split]

    for module in (feed, runs, pairs):
        monkeypatch.setattr(module, "load", loaded)
    return loaded


def test_a_class_that_is_right_stands_in_the_place_of_its_label():
    labels = torch.tensor([[7, 1], [7, 1], [7, 1], [7, 1], [7, 1]])
    surest = [(7, 1), (1, 7), (3, 7), (1, 3), (3, 4)]
    activations = torch.zeros(5, 10)
    for image, (first, second) in enumerate(surest):
        activations[image, first], activations[image, second] = 0.9, 0.8
    assert pairs.named(activations, labels).tolist() == [[7, 1], [7, 1], [7, 3], [3, 1], [3, 4]]


def test_each_drawing_is_the_decoder_on_one_capsule(digits):
    torch.manual_seed(0)
    network = CapsNet(preset("tiny", "multi-mnist", "dr")).eval()
    pixels, labels = digits("multi-mnist", "test").batch(torch.arange(3))
    classes, drawings = pairs.draw(network, to_float(pixels), labels)
    assert drawings.shape == (3, 2, 1, 36, 36) and drawings.dtype == torch.uint8
    with torch.inference_mode():
        poses = network(to_float(pixels), reconstruct=False).poses
        second = network.decode(poses, classes[:, 1])
    assert (drawings[:, 1].float() / 255 - second).abs().max() <= 0.5 / 255 + 1e-6
    assert not torch.equal(drawings[:, 0], drawings[:, 1])


def test_a_finished_run_draws_where_its_error_is_a_result(digits, tmp_path, monkeypatch):
    monkeypatch.setattr(zoo, "models", dict)  # and none that ships draws beside it
    loop.train(CONFIG, tmp_path / "runs" / CONFIG.name, device="cpu", quiet=True)
    pairs.run(tmp_path / "runs")
    assert pairs.read() is None, "nothing says how often this run errs"

    seeds.record(seeds.collect([Recipe(CONFIG.name, CONFIG)], tmp_path / "runs"))
    said: list[str] = []
    pairs.run(tmp_path / "runs", say=said.append)
    assert said == [f"{CONFIG.name}: 8 images drawn"]
    found = pairs.read()
    assert found is not None
    pixels, labels = digits("multi-mnist", "test").batch(torch.arange(8))
    assert torch.equal(found.images, pixels) and torch.equal(found.labels, labels)
    [drawn] = found.drawn
    network, _ = runs.open_run(tmp_path / "runs" / CONFIG.name)
    assert isinstance(network, CapsNet)
    classes, drawings = pairs.draw(network, to_float(pixels), labels)
    assert torch.equal(drawn.classes, classes) and torch.equal(drawn.drawings, drawings)
    assert (drawn.by.routing, drawn.by.steps, drawn.by.command) == ("l2", 2, CONFIG.command())

    pairs.run(None)
    assert pairs.read() is not None, "what was drawn stays where its run is gone"
    assert reports.report("multi-mnist").measured["drawn"].drawn[0].by == drawn.by


def test_a_damaged_file_says_what_to_do(folder):
    folder.mkdir(parents=True)
    pairs.path().write_bytes(b"nothing")
    with pytest.raises(
        results.ResultError, match="restore it with git, or delete it and run `capsviz experiment multi-mnist --runs"
    ):
        pairs.read()


def test_of_what_was_drawn_the_models_that_ship_are_shown_and_all_where_none_does():
    one, other = (
        pairs.Drawn(pairs.Drawer(name, "dr", 1, ""), torch.zeros(1, 2).long(), torch.zeros(1, 2, 1, 2, 2).byte())
        for name in ("digits-dr", "gone")
    )
    found = pairs.Pairs(torch.zeros(1, 1, 2, 2).byte(), torch.zeros(1, 2).long(), (other, one))
    assert pairs.shipping(found).drawn == (one,)
    none = replace(found, drawn=(other,))
    assert pairs.shipping(none).drawn == (other,)
