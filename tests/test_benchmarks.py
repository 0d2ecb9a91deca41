"""The yardstick of the benchmark computes what the network computes; only its speed differs."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from capsviz.benchmarks.plain import PlainCapsNet
from capsviz.benchmarks.speed import table
from capsviz.network import CapsNet, preset


def test_the_plain_formulation_finds_the_same_capsules():
    torch.manual_seed(0)
    network = CapsNet(preset("tiny", "digits", "dr"))
    images = torch.rand(3, 1, 28, 28)
    classes = torch.tensor([1, 4, 7])
    output = network(images, classes)
    poses, drawn = PlainCapsNet(network)(images, classes)
    torch.testing.assert_close(poses, output.poses, atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(drawn, output.reconstruction, atol=1e-6, rtol=1e-4)


def test_a_missed_bar_is_written_as_missed():
    bar = {"what": "a", "seconds": 1.0, "against": "b", "against_seconds": 2.0, "ratio": 2.0, "asked": "at least 4"}
    assert "| missed |" in table({"bars": [bar | {"met": False}]})
    assert "| met |" in table({"bars": [bar | {"met": True}]})


def test_the_readme_shows_the_measured_speed():
    root = Path(__file__).resolve().parents[1]
    result = json.loads((root / "benchmarks" / "results" / "speed-paper.json").read_text())
    assert table(result) in (root / "README.md").read_text(encoding="utf-8"), "paste what `capsviz benchmark` prints"
