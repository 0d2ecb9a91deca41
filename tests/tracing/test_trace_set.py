"""Traces of a whole data set: recorded in shards by any number of processes, opened as one, never loaded whole."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch
from jaxtyping import Float
from torch import Tensor

import capsviz
from capsviz import Trace, TraceSet
from capsviz.data import ImageSet, load, to_float
from capsviz.network import CapsNet
from capsviz.tracing import trace_set_writer
from capsviz.tracing.layout import TraceError
from capsviz.tracing.trace_set import image_axis
from capsviz.tracing.trace_set_writer import record
from tests.folders import drawn
from tests.networks import network
from tests.programs import printed, python

COUNT, SHARD = 10, 4


def recorded(folder: Path, routing: str = "dr", **options) -> TraceSet:
    return record(
        network(routing), load("digits", "test"), folder, name="mine", count=COUNT, shard_size=SHARD, **options
    )


@pytest.mark.parametrize("routing", ["dr", "em", "l2"])
def test_a_slice_across_shards_is_the_trace_of_these_images(routing, tmp_path):
    traces = recorded(tmp_path, routing, votes=True)
    images, labels = load("digits", "test").batch(torch.arange(COUNT))
    alone = capsviz.trace(network(routing), to_float(images[2:9]))
    several = traces[2:9]
    assert len(traces) == COUNT and len(traces.shards) == 3
    assert torch.equal(several.images, alone.images)
    for name, tensor in alone.tensors().items():
        torch.testing.assert_close(several.tensors()[name], tensor, rtol=1e-4, atol=1e-5)
    assert torch.equal(traces.labels, labels)
    assert torch.equal(traces.predicted, traces[:].predicted)


@pytest.mark.parametrize("routing", ["em", "l2"])
def test_one_after_the_other_images_are_those_of_their_index_and_files_are_opened_for_many(routing, tmp_path):
    traces = recorded(tmp_path, routing, votes=True)
    alone = [traces[index] for index in range(COUNT)]
    with mock.patch.object(TraceSet, "_read", autospec=True, side_effect=TraceSet._read) as read:
        in_turn = list(traces)
    assert len(in_turn) == COUNT and read.call_count == len(traces.shards)
    for one, other in zip(in_turn, alone, strict=True):
        assert one.to_bytes() == other.to_bytes()
        assert all(each.untyped_storage().nbytes() == each.nbytes for each in one.tensors().values())


def test_an_index_counts_from_either_end_and_a_slice_may_leave_images_out(tmp_path):
    traces = recorded(tmp_path)
    everything = traces[:]
    assert torch.equal(traces[-1].images, everything.images[-1:])
    assert torch.equal(traces[1::3].poses, everything.poses[1::3])
    assert torch.equal(traces[1::3].layer["logits"], everything.layer["logits"][:, 1::3])
    assert torch.equal(traces.tensor("layer0.couplings"), everything.layer["couplings"])
    for beyond in (COUNT, -COUNT - 1):
        with pytest.raises(IndexError, match="no image"):
            traces[beyond]
    with pytest.raises(IndexError, match="forwards"):
        traces[5:5]


def test_images_are_chosen_by_their_numbers_or_by_a_mask(tmp_path):
    traces = recorded(tmp_path)
    everything, order = traces[:], [7, 1, -1, 1]
    for chosen in (order, torch.tensor(order), np.array(order)):
        assert torch.equal(traces[chosen].images, everything.images[order])
    mask = torch.arange(COUNT) % 3 == 0
    for chosen in (mask, mask.numpy(), mask.tolist()):
        assert torch.equal(traces[chosen].layer["logits"], everything.layer["logits"][:, mask])
    for wrong in ("a", ["a"], [1.5], mask[:3], torch.zeros(2, 2)):
        with pytest.raises(TraceError, match="chooses no images of 10; give their numbers, or a mask"):
            traces[wrong]
    for beyond in ([], [COUNT], ~torch.ones(COUNT, dtype=torch.bool)):
        with pytest.raises(IndexError, match="image"):
            traces[beyond]


def test_half_precision_halves_the_iterations_and_keeps_what_was_decided(tmp_path):
    whole, half = recorded(tmp_path / "whole"), recorded(tmp_path / "half", float16=True)
    assert sum(shard.bytes for shard in half.shards) < 0.6 * sum(shard.bytes for shard in whole.shards)
    assert torch.equal(half[:].activations, whole[:].activations)
    assert half[3].layer["couplings"].dtype == torch.float32
    for name, values in half[:].layer.items():
        exact = whole[:].layer[name]
        assert bool(((values - exact).abs() <= (exact.abs() * 5e-4).clamp_min(3e-8)).all()), name
    assert not torch.equal(half[:].layer["couplings"], whole[:].layer["couplings"])


def test_of_a_folder_traces_are_taken_from_all_classes(tmp_path):
    images = load(f"folder:{drawn(tmp_path / 'images', 28, 'L')}", "train")
    config = replace(network().config, classes=len(images.classes))
    made = record(CapsNet(config).eval(), images, tmp_path / "set", name="mine", count=8, shard_size=3)
    assert made.labels.unique().tolist() == [0, 1, 2]


def test_a_recording_of_a_folder_does_not_go_on_with_other_images(tmp_path):
    images = load(f"folder:{drawn(tmp_path / 'images', 28, 'L')}", "train")
    assert isinstance(images, ImageSet)
    model, place = CapsNet(replace(network().config, classes=len(images.classes))).eval(), tmp_path / "set"
    made = record(model, images, place, name="mine", count=8, shard_size=3)
    (place / made.shards[-1].file).unlink()
    other = replace(images, images=255 - images.images)
    with pytest.raises(TraceError, match=r"recording with images crc32:\w+ and not crc32:\w+; choose another folder"):
        record(model, other, place, name="mine", count=8, shard_size=3)
    assert len(record(model, images, place, name="mine", count=8, shard_size=3)) == 8
    # One that an older capsviz began said nothing of its images, and goes on saying nothing.
    for shard in place.glob("shard-*"):
        shard.unlink()
    with pytest.MonkeyPatch.context() as older:
        older.setattr("capsviz.tracing.trace_set_writer.in_class_order", lambda _: False)
        made = record(model, images, place, name="mine", count=8, shard_size=3)
    (place / made.shards[-1].file).unlink()
    assert record(model, other, place, name="mine", count=8, shard_size=3).recorded["images"] == ""


def test_a_shard_that_was_cut_short_is_recorded_anew_and_the_others_stay(tmp_path):
    made = recorded(tmp_path)
    first, second = (made.folder / shard.file for shard in made.shards[:2])
    content = second.read_bytes()
    second.write_bytes(content[:1000])
    before = first.stat().st_mtime_ns
    recorded(tmp_path)
    assert second.read_bytes() == content and first.stat().st_mtime_ns == before


def test_votes_are_left_out_unless_asked_for(tmp_path):
    assert recorded(tmp_path)[0].layer.votes is None


def test_a_shard_is_an_ordinary_trace(tmp_path):
    traces = recorded(tmp_path)
    assert torch.equal(Trace.open(tmp_path / traces.shards[1].file).poses, traces[4:8].poses)


def test_a_recording_that_was_cut_off_says_so_and_goes_on_where_it_was(tmp_path, monkeypatch):
    written: list[Path] = []

    def cut_off(*arguments):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(arguments[3])
        return write(*arguments)

    write = trace_set_writer.write_shard
    monkeypatch.setattr(trace_set_writer, "write_shard", cut_off)
    with pytest.raises(KeyboardInterrupt):
        recorded(tmp_path)
    with pytest.raises(TraceError, match="cut off after 2 shards; repeat its command"):
        TraceSet.open(tmp_path)
    before = [path.stat().st_mtime_ns for path in written]
    monkeypatch.undo()
    assert len(recorded(tmp_path)) == COUNT
    assert [path.stat().st_mtime_ns for path in written] == before, "what stood is not written again"


def test_two_recordings_do_not_mix_in_one_folder(tmp_path):
    recorded(tmp_path)
    with pytest.raises(TraceError, match="float16 False and not True; choose another folder"):
        recorded(tmp_path, float16=True)
    other = network("l2")
    with pytest.raises(TraceError, match="weights"):
        record(other, load("digits", "test"), tmp_path, name="mine", count=COUNT, shard_size=SHARD)


def test_a_missing_or_damaged_part_is_said_in_one_sentence(tmp_path):
    traces = recorded(tmp_path)
    with pytest.raises(TraceError, match="was not recorded"):
        traces.tensor("layer0.votes")
    with pytest.raises(TraceError, match=r"open a whole data set's traces with `capsviz.TraceSet.open`"):
        Trace.open(tmp_path)
    shard = tmp_path / traces.shards[1].file
    shard.write_bytes(shard.read_bytes()[:-7])
    with pytest.raises(TraceError, match=f"{shard} is missing or was cut short; delete it and repeat the recording"):
        TraceSet.open(tmp_path)
    shard.unlink()  # as the sentence says
    assert recorded(tmp_path)[:].activations.shape == (COUNT, 10)
    shard.write_bytes(shard.read_bytes()[:-1] + b"?")
    with pytest.raises(TraceError, match="delete it and repeat the recording"):
        TraceSet.open(tmp_path)[SHARD]
    shard.unlink()
    assert recorded(tmp_path)[SHARD].activations.shape == (1, 10)
    (tmp_path / "index.json").write_text("{")
    with pytest.raises(TraceError, match="damaged"):
        TraceSet.open(tmp_path)
    with pytest.raises(TraceError, match="holds no traces"):
        TraceSet.open(tmp_path / "nowhere")


@pytest.mark.parametrize("routing", ["dr", "l2"])
def test_own_votes_that_were_recorded_in_parts_open_as_one(routing, tmp_path):
    votes, learned = torch.randn(5, 6, 3, 4, generator=torch.Generator().manual_seed(0)), torch.rand(6, 3)

    def part(votes: Tensor, folder: str, **more) -> Path:
        weights = {"coefficients": learned} if routing == "l2" else None
        trace = capsviz.record(None, votes, routing, **({"weights": weights, "name": "mine"} | more))
        trace.save(path := tmp_path / folder / "part.safetensors")
        return path

    parts = part(votes[:2], "a"), part(votes[2:], "b")
    traces, whole = TraceSet.open(parts), Trace.open(part(votes, "whole"))
    assert len(traces) == 5 and (tmp_path / "a") == traces.folder
    for name, numbers in whole.tensors().items():
        torch.testing.assert_close(traces[:].tensors()[name], numbers)
        torch.testing.assert_close(traces.tensor(name), numbers)
    with pytest.raises(TraceError, match="There is no file of traces to open"):
        TraceSet.open([])
    said = f"^{tmp_path} is a folder; give the files of traces in it, or the folder by itself\\.$"
    with pytest.raises(TraceError, match=said):
        TraceSet.open([tmp_path])
    with pytest.raises(TraceError, match=r"cannot be read .*; copy or record it again"):
        TraceSet.open([tmp_path / f"{'x' * 300}.safetensors"])
    others = [part(votes[:, 1:], "fewer", **({"weights": {"coefficients": learned[1:]}} if routing == "l2" else {}))]
    others += [part(votes, "named", name="other")]
    others += [
        part(votes, "again", weights={"coefficients": learned / 2})
        if routing == "l2"
        else part(votes, "T", iterations=2)
    ]
    for other in others:
        with pytest.raises(TraceError) as caught:
            TraceSet.open([parts[0], other])
        assert str(caught.value) == (
            f"{other} and {parts[0]} are of different networks or routings; give parts of one recording."
        )


@pytest.mark.long
@pytest.mark.timeout(400)
def test_two_processes_write_the_shards_that_one_writes(tmp_path):
    words = ["-m", "capsviz", "trace", "--data", "digits", "--count", "50", "--batch", "16", "--threads", "1"]
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = python(*launcher, *words, "-o", tmp_path / "two", OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("50 traces of digits-dr in 4 shards") == 1, "one rank speaks"
    assert "in each of 2 processes" in done.stderr
    model, digits = capsviz.load("digits-dr"), load("digits", "test")
    one = record(model, digits, tmp_path / "one", name="digits-dr", count=50, shard_size=16)
    two = TraceSet.open(tmp_path / "two")
    assert two.recorded == one.recorded and len(two) == 50
    torch.testing.assert_close(two[:].layer["couplings"], one[:].layer["couplings"], rtol=1e-4, atol=1e-6)


MEMORY = """
import sys, capsviz
def resident():
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1])
traces = capsviz.TraceSet.open(sys.argv[1])
traces[0]
before = resident()
kept = [capsviz.TraceSet.open(sys.argv[1])]
for index in range(0, len(traces), 9):
    kept.append(traces[index].activations)
reading = resident() - before
everything = traces[:]
print(reading, resident() - before)
"""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="resident memory is read from /proc")
def test_resident_memory_does_not_grow_by_the_size_of_the_files(tmp_path):
    traces = record(
        capsviz.load("digits-dr"), load("digits", "test"), tmp_path, name="digits-dr", count=240, votes=True
    )
    size = sum(shard.bytes for shard in traces.shards)
    assert size > 60e6
    reading, loading = map(int, printed(MEMORY, tmp_path).split())
    assert reading < 0.2 * size
    assert loading > 0.7 * size, "the measure sees what is loaded"
    assert json.loads((tmp_path / "index.json").read_text())["recorded"]["votes"] is True


def test_numbers_too_large_for_half_precision_are_kept_whole(tmp_path, monkeypatch):
    wide = network("em")
    with torch.no_grad():
        wide.transform.mul_(3000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[__name__], "network", lambda routing: wide)
        half = recorded(tmp_path, "em", float16=True)
    alone = capsviz.trace(wide, to_float(load("digits", "test").images[:2]))
    assert float(alone.layer["variances"].max()) > torch.finfo(torch.float16).max
    torch.testing.assert_close(half[:2].layer["variances"], alone.layer["variances"], rtol=1e-3, atol=1e-3)


def test_numbers_of_a_step_that_all_images_share_have_no_axis_of_images():
    @dataclass(frozen=True)
    class Learned:
        iteration: int
        scale: Float[Tensor, ""]
        prior: Float[Tensor, "lower upper"]
        poses: Float[Tensor, "batch upper dim"]

    axes = {name: image_axis(f"layer0.{name}", Learned) for name in ("scale", "prior", "poses", "votes")}
    assert axes == {"scale": None, "prior": None, "poses": 1, "votes": 0}
    assert [image_axis(name, Learned) for name in ("gains", "activations", "labels")] == [None, 0, 0]
