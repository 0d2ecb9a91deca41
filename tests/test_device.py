"""`CAPSVIZ_DEVICE` decides where networks run; what they say comes back to the CPU, which takes over from a full GPU.

No GPU is needed: tensors without numbers know their device, and refuse to be mixed with those of another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TypeVar
from unittest.mock import Mock

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

import capsviz
from capsviz import device, memory, zoo
from capsviz.analysis import ascent, comparison, perturbation, viewpoint
from capsviz.analysis.comparison import compare, redraw
from capsviz.analysis.measuring import columns
from capsviz.commands.main import app
from capsviz.network import METHODS, CapsNet, CapsNetConfig, configure, preset
from capsviz.network.assemble import assemble
from capsviz.routing import ALGORITHMS, ASCENDING
from capsviz.tracing import recorder
from capsviz.tracing.intervention import Intervention
from capsviz.tracing.recorder import with_votes
from capsviz.training.evaluate import evaluate
from tests.known import single_digits

N = TypeVar("N", bound=nn.Module)
GPU = torch.device("cuda", 0)
CONFIGS: dict[str, CapsNetConfig] = {name: preset("tiny", "digits", name) for name in ALGORITHMS}
CONFIGS |= {f"matrix-{name}": preset("matrix-tiny", "digits", name) for name, each in ALGORITHMS.items() if each.matrix}


@contextmanager
def on_a_gpu(monkeypatch, network: N) -> Iterator[N]:
    """The network with weights that are on a GPU and have no numbers, under which nothing else has any."""
    monkeypatch.setattr(recorder, "check_finite", lambda *_: None)  # it asks numbers
    mode = FakeTensorMode()
    hollow = memory.hollow(network.eval().requires_grad_(False), mode, "cuda")
    with mode:
        yield hollow


def on_cpu(*values: Tensor | None) -> bool:
    return all(value is None or value.device == device.CPU for value in values)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_a_trace_of_a_network_on_a_gpu_is_on_the_cpu_in_float32(config, monkeypatch):
    with on_a_gpu(monkeypatch, CapsNet(config)) as network:
        touched = Intervention(muted=(1,), boosted=(2,))
        images = torch.zeros(2, *config.image, dtype=torch.uint8)  # of bytes nothing is asked that has no answer here
        recorded = capsviz.trace(network, images, votes=False, intervention=touched)
        whole = with_votes(network, recorded)
        tensors = whole.tensors()
        assert on_cpu(*tensors.values()) and {value.dtype for value in tensors.values()} == {torch.float32}
        assert whole.layer.votes is not None and whole.layer.votes.shape[0] == 2
        if recorder.contains_shorter(config):
            begun = recorder.shorter(network, recorded, 1)
            assert on_cpu(*begun.tensors().values()) and begun.layer.iterations == 1


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_forward_passes_and_drawings_mix_no_devices(config, monkeypatch):
    with on_a_gpu(monkeypatch, CapsNet(config)) as network:
        images = torch.rand(3, *config.image)
        output = network(images.to("cuda"))
        assert output.poses.device == output.activations.device == GPU
        assert config.decoder and output.reconstruction.device == GPU
        images = torch.empty(3, *config.image, dtype=torch.uint8, device="cuda")
        compared = comparison.compare({"one": network}, images)
        answer = compared.answers["one"]
        assert on_cpu(compared.images)
        assert on_cpu(answer.named, answer.activations, answer.drawing.reconstruction, answer.drawing.ssim)
        assert on_cpu(viewpoint.numbers(network, images, torch.zeros(3, dtype=torch.long, device="cuda")))
        again = comparison.redraw(network, network, images)
        assert on_cpu(*(getattr(again, field.name) for field in fields(again)))
        pose = torch.rand(config.class_dim)
        assert on_cpu(perturbation.sheet(network, pose, 1, (-0.1, 0.1)))


@pytest.mark.parametrize("name", METHODS)
def test_a_measure_of_a_whole_set_runs_on_the_gpu_and_is_told_on_the_cpu(name, monkeypatch):
    monkeypatch.setattr(device, "images_at_once", lambda _: 5)
    monkeypatch.setattr(Tensor, "__int__", lambda _: 1)  # what has no numbers is counted as one
    monkeypatch.setattr(Tensor, "__float__", lambda _: 0.5)
    data = single_digits()
    with on_a_gpu(monkeypatch, assemble(configure("tiny", "digits", name))) as network:
        empty = replace(data, images=torch.empty(8, 1, 28, 28, dtype=torch.uint8), labels=torch.zeros(8).long())
        found = evaluate(network, empty)
        assert (found.count, found.error, found.loss) == (8, 100 * 2 / 8, 0.5)
        assert on_cpu(found.confusion)
        artist = network if isinstance(network, CapsNet) else None
        assert on_cpu(*columns(network, artist, empty.images.to("cuda")).values())


@pytest.mark.parametrize("name", ASCENDING)
def test_an_ascent_climbs_where_its_votes_are(name, monkeypatch):
    network = CapsNet(CONFIGS[name])
    start = ascent.starting_point(network, "trained")
    poses = torch.rand(4, network.config.lower, network.config.primary_dim)
    signs = torch.ones(4, 10)
    fixed = ascent.FixedVotes(poses, network.weight.detach(), signs)
    mode = FakeTensorMode()
    away = ascent.FixedVotes(*(mode.from_tensor(each) for each in (poses, fixed.weight, signs)))
    begin = mode.from_tensor(start)
    monkeypatch.setattr(Tensor, "__bool__", lambda _: True)  # b stays finite
    monkeypatch.setattr(ascent, "_measured", lambda number, b, g, value, *_: (number, b.device, g.device, value.device))
    with mode:
        steps = ascent.ascent(away.to(torch.device("cuda")), begin, step=0.1, regularisation=0.1, penalty=name, steps=2)
        found: list[object] = list(steps)
        assert found == [(number, GPU, GPU, GPU) for number in range(3)]


def test_the_environment_says_where_a_model_runs_and_a_wrong_device_is_one_sentence(monkeypatch):
    monkeypatch.delenv(device.VARIABLE, raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert device.chosen() == device.chosen("auto") == device.CPU
    monkeypatch.setenv(device.VARIABLE, "abacus")
    with pytest.raises(device.DeviceError, match=r"^CAPSVIZ_DEVICE names 'abacus', .*; choose one of auto, cpu\.$"):
        capsviz.load("digits-dr")
    with pytest.raises(device.DeviceError, match=r"^There is no device 'cuda:7' here; choose one of auto, cpu\.$"):
        capsviz.load("digits-dr", "cuda:7")
    assert device.of(capsviz.load("digits-dr", device="cpu")) == device.CPU


def test_auto_is_the_first_of_several_gpus_and_each_can_be_named(monkeypatch):
    monkeypatch.delenv(device.VARIABLE, raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda place: f"NVIDIA {place.index}")
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    assert device.chosen() == device.chosen("cuda") == GPU
    assert torch.backends.cudnn.allow_tf32 is False
    assert device.title(device.chosen("cuda:1")) == "NVIDIA 1"
    with pytest.raises(device.DeviceError, match="auto, cpu, cuda, cuda:0, cuda:1"):
        device.chosen("cuda:2")


def test_an_apple_gpu_that_is_full_gives_way_to_the_cpu_as_any_other(monkeypatch):
    """PyTorch calls it by its number, and says that it is full in words alone."""
    monkeypatch.setattr(device, "_exhausted", {})
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.mps, "empty_cache", lambda: None)
    monkeypatch.setenv(device.VARIABLE, "mps")
    place = device.chosen()
    assert place == device.chosen(place) == torch.device("mps:0") and device.title(place) == "Apple GPU"

    def full(self, place):
        if place != device.CPU:
            raise RuntimeError("MPS backend out of memory (MPS allocated: 8.90 GB, max allowed: 9.07 GB).")
        return self

    monkeypatch.setattr(nn.Module, "to", full)
    with pytest.warns(device.DeviceWarning, match="Apple GPU ran out of memory"):
        device.placed(nn.Linear(1, 1))
    assert device.chosen() == device.CPU


def test_another_error_of_a_device_stays_what_it_is(monkeypatch):
    monkeypatch.setattr(nn.Module, "to", Mock(side_effect=RuntimeError("no kernel image is available")))
    with pytest.raises(RuntimeError, match="no kernel image"):
        device.placed(nn.Linear(1, 1), "cpu")


def test_the_command_line_takes_the_device_from_the_environment(monkeypatch):
    from typer.testing import CliRunner

    monkeypatch.setenv(device.VARIABLE, "abacus")
    for words in ("evaluate --model digits-dr", "train --data digits --routing dr --preset tiny"):
        result = CliRunner().invoke(app, words.split())
        assert isinstance(result.exception, device.DeviceError), words


@pytest.fixture
def full_gpu(monkeypatch):
    """A device on which nothing has room: what is not on the CPU ("meta" stands in) raises as CUDA does."""
    monkeypatch.setattr(device, "_exhausted", {})
    monkeypatch.setattr(device, "images_at_once", lambda _: 8)
    real = memory.copied

    def fetched(network, _):
        return real(network, lambda tensor: torch.full_like(tensor, 0.01, device="cpu"))

    monkeypatch.setattr(memory, "copied", fetched)
    before = CapsNet.encode
    asked: list[int] = []

    def encode(self, images):
        if device.of(self) != device.CPU:
            asked.append(len(images))
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return before(self, images)

    monkeypatch.setattr(CapsNet, "encode", encode)
    return asked


def test_a_full_device_is_asked_for_less_and_less_then_the_cpu_does_it_and_one_sentence_says_so(full_gpu, monkeypatch):
    data = single_digits()
    few = replace(data, images=data.images[:20], labels=data.labels[:20])
    network = CapsNet(CONFIGS["dr"]).eval().requires_grad_(False)
    expected = evaluate(memory.copied(network, Tensor.clone), few)
    monkeypatch.setattr(device, "title", lambda place: "NVIDIA X" if place.type == "meta" else "2 cores")
    with pytest.warns(
        device.DeviceWarning, match=r"^NVIDIA X ran out of memory, so that networks run on 2 cores .*\.$"
    ):
        found = evaluate(network.to("meta"), few)
    assert full_gpu == [8, 4, 2, 1]
    assert found.error == expected.error and torch.equal(found.confusion, expected.confusion)
    assert device.gave_up().startswith("NVIDIA X ran out of memory")


def test_a_trace_that_finds_no_room_is_recorded_by_the_cpu(full_gpu, monkeypatch):
    monkeypatch.setattr(recorder, "check_finite", lambda *_: None)
    network = CapsNet(CONFIGS["dr"]).eval().requires_grad_(False)
    with pytest.warns(device.DeviceWarning):
        recorded = capsviz.trace(network.to("meta"), torch.rand(2, 1, 28, 28))
    assert full_gpu == [2] and recorded.activations.shape == (2, 10) and on_cpu(*recorded.tensors().values())


def test_models_that_are_compared_by_name_on_a_full_device_are_compared_by_the_cpu(full_gpu, monkeypatch):
    monkeypatch.setattr(zoo, "load", lambda _: CapsNet(CONFIGS["dr"]).eval().requires_grad_(False).to("meta"))
    digits = torch.rand(2, 1, 28, 28)
    with pytest.warns(device.DeviceWarning):
        answer = compare({"dr": "digits-dr"}, digits).answers["dr"]
    assert on_cpu(answer.activations, answer.drawing.reconstruction)
    with pytest.warns(device.DeviceWarning):
        assert on_cpu(redraw("digits-dr", "digits-dr", digits).drawn)
    assert full_gpu == [2, 2]


def test_after_a_gpu_gave_up_models_are_loaded_on_the_cpu(monkeypatch):
    monkeypatch.delenv(device.VARIABLE, raising=False)
    monkeypatch.setattr(device, "_exhausted", {GPU: "NVIDIA X ran out of memory."})
    monkeypatch.setattr(device, "_find", lambda *_, **__: GPU)
    assert device.chosen() == device.CPU and device.chosen("cuda") == GPU
    assert device.of(zoo.load("digits-dr")) == device.CPU


def test_a_model_that_a_full_device_does_not_take_is_on_the_cpu_unless_that_device_was_named(monkeypatch):
    before = nn.Module.to

    def to(self, *place, **form):
        if place == (GPU,):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return before(self, *place, **form)

    monkeypatch.delenv(device.VARIABLE, raising=False)
    monkeypatch.setattr(device, "_exhausted", {})
    monkeypatch.setattr(device, "_find", lambda *_, **__: GPU)
    monkeypatch.setattr(device, "title", lambda place: "NVIDIA X" if place == GPU else "2 cores")
    monkeypatch.setattr(nn.Module, "to", to)
    with pytest.raises(device.DeviceError, match=r"^NVIDIA X has no room for the network; free its memory, or .*\.$"):
        zoo.load("digits-dr", "cuda")
    with pytest.warns(device.DeviceWarning, match="^NVIDIA X ran out of memory, so that networks run on 2 cores"):
        assert device.of(zoo.load("digits-dr")) == device.CPU == device.chosen()


def test_running_out_of_the_cpus_memory_is_no_reason_to_try_again(monkeypatch):
    monkeypatch.setattr(CapsNet, "encode", lambda *_: (_ for _ in ()).throw(torch.OutOfMemoryError("no room")))
    with pytest.raises(torch.OutOfMemoryError, match="no room"):
        capsviz.trace(CapsNet(CONFIGS["dr"]), torch.rand(1, 1, 28, 28))


@pytest.mark.long
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_a_batch_takes_at_most_half_of_what_is_free(config, monkeypatch):
    network = assemble(config).eval().requires_grad_(False)
    monkeypatch.setattr(device, "free_bytes", lambda _: 2**30)
    count = device.images_at_once(network)
    assert 1 <= count <= device.MOST
    mode = FakeTensorMode()
    empty = memory.hollow(network, mode, "cuda")
    with mode, torch.inference_mode():
        taken = memory.peak_of(lambda: empty(torch.empty(count, *config.image, device="cuda"), reconstruct=False))
    assert taken <= 2**30
    assert count == device.MOST or taken > 2**27


def test_what_is_counted_is_what_tensors_take_and_move():
    values = torch.ones(1000)

    def call() -> Tensor:
        doubled = values * 2  # 4000 bytes read, 4000 written
        del doubled
        third = values.view(10, 100) + 1  # a view moves nothing
        return third.add_(1)

    with memory.Watch() as watch:
        kept = call()
    assert watch.peak == watch.now == 4000
    assert watch.moved == 8000 + 8000 + 8000  # each reads 4000 bytes and writes as many
    del kept
    assert watch.now == 0


@pytest.mark.parametrize(("threads", "cores", "said"), [(1, 1, "1 core"), (2, 2, "2 cores"), (1, 8, "1 of 8 cores")])
def test_the_cpu_is_called_by_the_cores_that_are_used(threads, cores, said, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert device.title(device.CPU) == said


def test_what_was_read_of_files_counts_as_free_in_a_container(tmp_path, monkeypatch):
    for name, said in {"max": "4000000000\n", "current": "3900000000\n"}.items():
        (tmp_path / f"memory.{name}").write_text(said)
    monkeypatch.setattr(memory, "Path", lambda place: tmp_path if place == "/sys/fs/cgroup" else tmp_path / "none")
    assert memory.free() == 100_000_000
    (tmp_path / "memory.stat").write_text("anon 300\nactive_file 7\ninactive_file 3600000000\n")
    assert memory.free() == 3_700_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.free() is None
