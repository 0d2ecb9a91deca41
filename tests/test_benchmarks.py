"""The yardstick of the benchmark computes what the network computes; only its speed differs."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
import torch

from app.benchmarks import live as live
from app.benchmarks.serving import ServingError
from capsviz import device, files
from capsviz.benchmarks import peak, speed, traffic
from capsviz.benchmarks.plain import PlainCapsNet, PlainMatrixCapsNet
from capsviz.benchmarks.speed import table
from capsviz.errors import CapsvizError
from capsviz.experiments import results
from capsviz.network import CapsNet, preset
from capsviz.routing.em import EM
from tests.programs import command, refused


def test_the_plain_formulation_finds_the_same_capsules():
    torch.manual_seed(0)
    network = CapsNet(preset("tiny", "digits", "dr"))
    images = torch.rand(3, 1, 28, 28)
    classes = torch.tensor([1, 4, 7])
    output = network(images, classes)
    poses, drawn = PlainCapsNet(network)(images, classes)
    torch.testing.assert_close(poses, output.poses, atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(drawn, output.reconstruction, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("name", ["tiny", "matrix-tiny"])
def test_the_plain_formulation_of_em_finds_the_same_capsules_and_gradients(name):
    torch.manual_seed(0)
    network = CapsNet(replace(preset(name, "digits", "em"), through="all"))
    plain = PlainMatrixCapsNet(network)
    images, classes = torch.rand(3, 1, 28, 28), torch.tensor([1, 4, 7])
    output, (upper, drawn) = network(images, classes), plain(images, classes)
    torch.testing.assert_close(upper.poses, output.step.poses, atol=1e-5, rtol=1e-3)
    torch.testing.assert_close(upper.activations, output.step.activations, atol=1e-5, rtol=1e-3)
    torch.testing.assert_close(drawn, output.reconstruction, atol=1e-5, rtol=1e-3)
    for scores, owner in ((output.scores, network), (upper.activations, plain.network)):
        EM.loss(scores, torch.eye(10, dtype=torch.bool)[classes]).backward()
        assert owner.transform.grad.abs().max() > 0
    torch.testing.assert_close(plain.network.transform.grad, network.transform.grad, atol=1e-5, rtol=1e-2)


def test_a_missed_bar_is_written_as_missed():
    bar = {"what": "a", "seconds": 1.0, "against": "b", "against_seconds": 2.0, "ratio": 2.0, "asked": "at least 4"}
    speed = {
        "encoder forward": 200.0,
        "encoder both ways": 50.0,
        "plain forward": 40.0,
        "plain step": 10.0,
        "dr step": 40.0,
        "dr forward": 160.0,
        "dr routing": 3000.0,
        "plain routing": 300.0,
    }
    rest = {"preset": "paper", "device": "2 cores", "batch": 100, "images_per_second": speed}
    assert "| missed |" in table({"bars": [bar | {"met": False}], **rest})
    assert "| met |" in table({"bars": [bar | {"met": True}], **rest})
    assert "500.0 ms forward and 2000.0 ms forward and backward" in table({"bars": [], **rest})
    assert "takes 40 against 10 images/s, a forward pass 160 against 40, " in table({"bars": [], **rest})
    assert table({"bars": [], **rest}).endswith(
        "5.00 times faster than the plain one, a step 5.00 times, and a step of L2 or L1 0.80 of DR's."
    )
    ways = ("step", "forward", "routing")
    speed |= {f"em {way}": 120.0 for way in ways} | {f"plain em {way}": 12.0 for way in ways}
    assert table({"bars": [], **rest}).endswith(
        "\nEM routing: a step takes 120 images/s against 12 of a plain formulation, 10.0 times as many; a forward pass "
        "is 10.0 times as fast, votes and routing iterations 10.0 times."
    )


def test_what_is_moved_is_told_beside_the_plain_formulation_and_a_copy():
    """400 MB in half a second are 0.8 GB/s, a tenth of what a copy reaches."""
    result = {
        "batch": 100,
        "device": "NVIDIA X",
        "copy_bytes_per_second": 8e9,
        "images_per_second": {"plain step": 50.0, "dr step": 200.0, "dr trace": 100.0},
        "bytes_moved": {"dr step": 4e8, "dr trace": 0},
        "milliseconds_from_choice_to_trace": {"dr": 12.34},
    }
    said = traffic.table(result)
    assert said.startswith("On NVIDIA X, batch 100; bytes moved: Σ over PyTorch's operations")
    assert "| dr step | 500.0 | 200 | 4.00 | 400.0 | 0.8 | 10 % |" in said
    assert "| dr trace | 1000.0 | 100 |  | 0.0 | 0.0 | 0 % |" in said
    assert said.endswith("all votes and 10 iterations: dr 12.3 ms.")


@pytest.mark.parametrize("which", ["tiny", "residual"])
def test_the_whole_benchmark_runs_on_the_cpu_and_names_it(monkeypatch, which):
    monkeypatch.setattr(speed, "ROUNDS", 1)
    monkeypatch.setattr(speed, "SECONDS", 1e-6)
    monkeypatch.setattr(traffic, "COPIED", 2**10)
    result = speed.measure(which, 4, device="cpu")
    assert result["device"] == device.title(device.CPU)
    assert result["images_per_second"].keys() == result["bytes_moved"].keys()
    assert min(result["bytes_moved"].values()) > 0
    assert "| plain step |" in table(result) and table(result).endswith(" ms.")
    with pytest.raises(device.DeviceError, match="abacus"):
        speed.measure(device="abacus")


def test_memory_is_what_the_process_held_and_a_wrong_size_is_one_sentence():
    result = peak.measure("tiny", None, "3x20x24", 7, 2)
    assert result["lower"] > 0 and result["bytes"] >= result["bytes_before"] > 2**20
    assert "--image 3x20x24 --classes 7 --batch 2" in result["command"]
    assert " GB at the most, of which " in peak.sentence(result)
    with pytest.raises(CapsvizError, match=r"^'64' is no size of an image; write .* like 3x64x64\.$"):
        peak.measure("tiny", None, "64", 7, 2)


def test_a_file_keeps_the_memory_of_other_networks_and_says_what_missed_its_bar(tmp_path, monkeypatch):
    few = {"command": f"{peak.COMMAND} --routing dr", "parameters": 2_000_000, "lower": 72, "bytes": 3_990_000_000}
    few |= {"bytes_before": 400_000_000, "seconds_per_step": 1.5}
    many = few | {"command": f"{peak.COMMAND} --routing em", "bytes": 4_010_000_000}
    file = tmp_path / "memory.json"
    elsewhere = {"machine": "an older CPU", "threads": 1, "torch": "2.9.0"}
    files.write_json(file, {**elsewhere, "rows": [few | {"bytes": 1}, many]})
    monkeypatch.setattr(peak, "measure", lambda *_: few)
    command("benchmark", "memory", "-o", file)
    kept = results.read_file(file, "memory")
    assert kept is not None and kept["rows"] == [{"on": elsewhere, **many}, few]
    assert kept["machine"] == results.machine()["machine"] != elsewhere["machine"]
    _, _, first, second, _, below = peak.table(kept).splitlines()
    assert first.startswith("| `--routing em` | 2.0 M | 72 | 4.01 |") and "missed" in first
    assert "3.99" in second and "| met |" in second and "0.40 GB before" in below
    assert f" {kept['machine']}" in below and "1 thread of an older CPU" in below


def test_a_latency_beyond_its_bar_is_written_as_missed():
    bar = {"decoders": 4, "answers": 300, "p50": 20.0, "p95": 33.1, "asked": 33.0, "met": False}
    player = {
        "player": "EM",
        "screen": [1280, 720],
        "pictures": 201,
        "p50": 16.7,
        "p95": 17.0,
        "asked": 33.3,
        "met": True,
    }
    answer = {"answer": "another T", "times": 40, "p50": 9.0, "p95": 16.0, "asked": 33.3, "met": True}
    shown = {"times": 12, "p50": 260.0, "p95": 510.0, "asked": live.HELP, "met": False}
    first = {"server": 2.5, "board": 1.2, "board_ahead": 2.6}
    written = live.table({"first_view": first, "players": [player], "bars": [bar], "answers": [answer], "help": shown})
    assert "| between two pictures, EM, 1280×720 | 200 | 16.7 | 17.0 | at most 33.3 ms | met |" in written
    assert "4 decoders | 300 | 20.0 | 33.1 | at most 33 ms | missed |" in written
    assert "until the routing board is drawn | 1 | 2600 | | at most 2500 ms | missed |" in written
    assert "painted board, another T | 40 | 9.0 | 16.0 | at most 33.3 ms | met |" in written
    assert written.endswith("| `capsviz --help` | 12 | 260.0 | 510.0 | at most 500 ms | missed |")


def test_without_playwright_the_benchmark_of_the_app_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "playwright", None)
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with pytest.raises(ServingError, match="pip install playwright"):
        live.measure()


def test_there_is_no_benchmark_of_anything_else():
    assert refused("benchmark", "colour")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("memory", "--device", "cuda:7"), "--device is for the benchmark of speed; leave it out."),
        (("memory", "--seed", "0"), "--seed is for the benchmark of load; leave it out."),
        (("app", "--batch", "4"), "--batch is for the benchmark of speed and memory; leave it out."),
    ],
)
def test_a_benchmark_refuses_options_that_it_would_ignore(words, said):
    assert refused("benchmark", *words) == said
