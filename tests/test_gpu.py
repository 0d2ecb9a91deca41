"""On a real GPU: what it computes is what the CPU computes, and what was trained there can be gone on with.

Skipped where there is none; tests/test_device.py needs none.
"""

from __future__ import annotations

import signal
import warnings
from functools import partial

import pytest
import torch

import capsviz
from capsviz import device
from capsviz.analysis import comparison, perturbation
from capsviz.network import METHODS, CapsNet, CapsNetConfig, preset
from capsviz.routing import ALGORITHMS
from capsviz.tracing.intervention import Intervention
from capsviz.training import graph, loop, step
from capsviz.training.config import TEMPERED, TrainingConfig
from capsviz.training.evaluate import evaluate
from tests.known import single_digits
from tests.weights import assert_same

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="No GPU is on this machine"),
]
CONFIGS: dict[str, CapsNetConfig] = {name: preset("tiny", "digits", name) for name in ALGORITHMS}
CONFIGS |= {f"matrix-{name}": preset("matrix-tiny", "digits", name) for name, each in ALGORITHMS.items() if each.matrix}
CONFIGS |= {f"paper-{name}": preset("paper", "mnist", name) for name in ALGORITHMS}
CONFIGS |= {f"residual-{name}": preset("residual", "mnist", name) for name in ALGORITHMS}


def named(name: str, said: str) -> str:
    return f"{name}: {said}"


@pytest.fixture(autouse=True)
def float32_proper():
    """Convolutions as the app has them."""
    device.chosen("cuda")


@pytest.fixture
def both(request):
    """A network on the CPU and the same one on the GPU."""
    network = CapsNet(CONFIGS[request.param]).eval().requires_grad_(False)
    there = CapsNet(CONFIGS[request.param]).eval().requires_grad_(False)
    there.load_state_dict(network.state_dict())
    return network, there.to("cuda")


@pytest.mark.parametrize("both", CONFIGS, indirect=True)
def test_a_trace_recorded_on_the_gpu_is_that_of_the_cpu(both):
    images = torch.rand(2, *both[0].config.image)
    touched = Intervention(muted=(1,), boosted=(2,))
    for intervention in (None, touched):
        here, there = (capsviz.trace(each, images, votes="all", intervention=intervention).tensors() for each in both)
        assert here.keys() == there.keys()
        for name, value in here.items():
            assert there[name].device == device.CPU
            torch.testing.assert_close(there[name], value, rtol=2e-3, atol=2e-4, msg=partial(named, name))


@pytest.mark.parametrize("both", CONFIGS, indirect=True)
def test_what_is_compared_redrawn_and_moved_on_the_gpu_is_what_the_cpu_gives(both):
    images = torch.randint(256, (3, *both[0].config.image), dtype=torch.uint8)
    here, there = (comparison.compare({"one": each}, images).answers["one"] for each in both)
    torch.testing.assert_close(there.activations, here.activations, rtol=2e-3, atol=2e-4)
    torch.testing.assert_close(there.drawing.reconstruction, here.drawing.reconstruction, rtol=2e-3, atol=2e-3)
    pose = torch.rand(both[0].config.class_dim)
    torch.testing.assert_close(
        perturbation.sheet(both[1], pose, 1, (-0.1, 0.1)),
        perturbation.sheet(both[0], pose, 1, (-0.1, 0.1)),
        rtol=2e-3,
        atol=2e-3,
    )


def test_a_published_model_errs_as_often_on_the_gpu():
    data = single_digits()
    here, there = (evaluate(capsviz.load("digits-dr", place), data) for place in ("cpu", "cuda"))
    assert there.count == here.count and abs(there.error - here.error) <= 100 / here.count


@pytest.mark.parametrize("name", METHODS)
def test_a_training_on_the_gpu_learns_and_goes_on_where_it_was_cut_off(name, tmp_path, monkeypatch):
    replays: list[object] = []
    replay = torch.cuda.CUDAGraph.replay

    def counted(recorded):
        replays.append(recorded)
        replay(recorded)

    monkeypatch.setattr(torch.cuda.CUDAGraph, "replay", counted)
    config = TrainingConfig(
        "digits", name, "tiny", steps=120, batch=32, shift=1, average=0.9, weight_decay=0.01, learning_rate=0.002
    )
    straight = loop.train(config, tmp_path / "straight", device="cuda", quiet=True)
    assert straight.summary is not None and straight.summary["test_error"] < 60
    assert straight.summary["precision"] == "bf16-mixed"
    assert len(replays) == (0 if METHODS[name] in TEMPERED.methods else 120 - graph.WARM_UPS)

    def at_step_50(line):
        if line["step"] == 50:
            signal.raise_signal(signal.SIGTERM)

    cut = loop.train(config, tmp_path / "cut", device="cuda", quiet=True, watch=at_step_50)
    assert cut.stopped == "SIGTERM" and cut.step == 50
    resumed = loop.train(config, tmp_path / "cut", device="cuda", quiet=True, resume=True)
    assert resumed.summary is not None
    assert_same(resumed.folder, straight.folder)


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name] not in TEMPERED.methods])
def test_what_is_played_back_is_what_is_launched_kernel_by_kernel(name, tmp_path, monkeypatch):
    config = TrainingConfig("digits", name, "tiny", steps=40, batch=32, average=0.9, learning_rate=0.002)
    played = loop.train(config, tmp_path / "played", device="cuda", quiet=True)
    monkeypatch.setattr(loop, "recordable", lambda *_: False)
    launched = loop.train(config, tmp_path / "launched", device="cuda", quiet=True)
    assert_same(played.folder, launched.folder, within=1e-6)


def test_a_step_that_waits_for_a_number_goes_on_kernel_by_kernel(tmp_path, monkeypatch):
    config = TrainingConfig("digits", "dr", "tiny", steps=20, batch=32)
    expected = loop.train(config, tmp_path / "recorded", device="cuda", quiet=True)
    descend = step.descend

    def waiting(*given):
        found = descend(*given)
        assert float(found.loss) >= 0
        return found

    monkeypatch.setattr(loop, "descend", waiting)
    with pytest.warns(graph.RecordingWarning, match="cannot be recorded .* launched one by one"):
        waited = loop.train(config, tmp_path / "waiting", device="cuda", quiet=True)
    assert_same(expected.folder, waited.folder, within=1e-6)


def test_a_gpu_without_room_leaves_the_work_to_the_cpu(monkeypatch):
    monkeypatch.setattr(device, "_exhausted", {})
    network = CapsNet(CONFIGS["paper-dr"]).eval().requires_grad_(False)
    images = torch.rand(2, 1, 28, 28)
    expected = capsviz.trace(network, images)
    there = CapsNet(CONFIGS["paper-dr"]).eval().requires_grad_(False)
    there.load_state_dict(network.state_dict())
    there.to("cuda")
    torch.cuda.empty_cache()
    share = (torch.cuda.memory_reserved() + 2**20) / torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(share)
    try:
        with pytest.warns(device.DeviceWarning, match="ran out of memory, so that networks run on"):
            recorded = capsviz.trace(there, images)
        torch.testing.assert_close(recorded.activations, expected.activations)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert device.chosen() == device.CPU
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
