"""Files are written whole or not at all, one writer at a time, and what cannot be written is one sentence."""

from __future__ import annotations

import ast
import errno
import json
import multiprocessing
import os
import re
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import safetensors.torch
import torch
from safetensors.torch import load_file

import capsviz
from capsviz import zoo
from capsviz.commands import main
from capsviz.data import load
from capsviz.device import DeviceError
from capsviz.experiments import results
from capsviz.files import (
    LOCK,
    Busy,
    WriteError,
    locked,
    read_tensors,
    remove,
    safetensors_bytes,
    safetensors_parts,
    write,
    write_json,
    write_tensors,
    write_together,
)
from capsviz.network import CNN, cnn_preset
from capsviz.tensors import TensorFile
from capsviz.tracing.trace_set_writer import record
from capsviz.training.config import TrainingConfig
from capsviz.training.loop import train
from tests import zoos

ROOT = Path(__file__).resolve().parents[1]
FORK = multiprocessing.get_context("fork")
WRITERS = {"write_text", "write_bytes", "save_file", "copyfile", "copy", "copy2"}
CONFIG = TrainingConfig("digits", "dr", "tiny", steps=2, batch=8)


def test_nobody_writes_a_file_by_other_means():
    """But for what is appended line by line, and data sets, which are fetched to a folder of their own first."""
    found = []
    for path in (ROOT / "capsviz").rglob("*.py"):
        if path.name in ("files.py", "fetching.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            modes = {each.value for each in node.args if isinstance(each, ast.Constant)}
            written = name in WRITERS and (name[:4] != "copy" or "shutil" in ast.dump(node.func))
            if written or (name == "open" and modes & {"w", "wb", "r+b", "x"}):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


def small_disk(bytes_: int) -> None:
    """From here on this process writes no file that is larger: what a full disk does, without filling one."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))


def in_process(work) -> str:
    """What a function says of itself in a process of its own, where it may change limits."""

    def told(pipe):
        torch.set_num_threads(1)  # those of the parent are not here, and would be waited for
        try:
            pipe.send(work() or "")
        except capsviz.CapsvizError as error:
            pipe.send(str(error))
        pipe.close()
        os._exit(0)

    here, there = FORK.Pipe(duplex=False)
    process = FORK.Process(target=told, args=(there,))
    process.start()
    there.close()
    said = here.recv()
    process.join(60)
    return said


def full(work) -> str:
    def limited():
        small_disk(20_000)
        return work()

    return in_process(limited)


def cnn() -> CNN:
    torch.manual_seed(0)
    return CNN(cnn_preset("tiny", "digits"))


def published(name: str, network: CNN) -> zoo.Entry:
    curves = f"curves/{name}.jsonl"
    return zoos.saved(network, name, curves=curves, files={curves: b""})


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*.tmp")]


def test_a_full_disk_leaves_an_old_trace_as_it_was(tmp_path):
    path = tmp_path / "trace.safetensors"
    trace = capsviz.trace(capsviz.load("digits-dr"), torch.rand(1, 1, 28, 28))
    trace.save(path)
    before = path.read_bytes()
    said = full(lambda: trace.save(path))
    assert said == f"{path} could not be written (File too large); make room and try again."
    assert path.read_bytes() == before and leftovers(tmp_path) == []


def test_a_full_disk_leaves_a_working_model_and_its_manifest(tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
    network = cnn()
    first = published("mine", network)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    said = full(lambda: published("mine", network).name)
    assert "could not be written" in said and len(said.splitlines()) == 1
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    zoo.verify(first)
    assert zoo.load_network("mine") is not None


def test_of_several_files_none_is_moved_where_the_last_cannot_be_written(tmp_path):
    (tmp_path / "last").mkdir()
    (tmp_path / "first").write_text("old")
    with pytest.raises(WriteError, match="something else than a file is there"):
        write_together({tmp_path / "first": "new", tmp_path / "last": "new"})
    assert (tmp_path / "first").read_text() == "old" and leftovers(tmp_path) == []


@pytest.mark.parametrize("number", [float("nan"), -float("inf")])
def test_a_number_that_no_reader_takes_leaves_the_old_file(number, tmp_path):
    file = tmp_path / "result.json"
    write_json(file, {"r2": 0.5})
    with pytest.raises(WriteError, match=r"^A number to be written is not finite, so nothing was; see what it c"):
        write_json(file, {"r2": number})
    assert json.loads(file.read_text()) == {"r2": 0.5} and [*tmp_path.iterdir()] == [file]


@pytest.mark.long
def test_thirty_simultaneous_models_all_arrive_in_the_manifest(tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
    load("digits", "train")
    network = cnn()
    names = [f"model-{number}" for number in range(30)]
    together = FORK.Barrier(len(names))

    def add(name: str) -> None:
        torch.set_num_threads(1)
        together.wait(60)
        published(name, network)
        os._exit(0)

    writers = [FORK.Process(target=add, args=(name,)) for name in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0] * len(names)
    assert sorted(zoo.models()) == sorted(names)
    for entry in zoo.models().values():
        zoo.verify(entry)


def test_a_killed_writer_leaves_the_old_file_or_the_new_one(tmp_path):
    path, contents = tmp_path / "file", [bytes([letter]) * 300_000 for letter in (65, 66)]
    write(path, contents[0])

    def keep_writing():
        while True:
            for content in contents:
                write(path, content)

    for wait in (0.01, 0.013, 0.02, 0.031, 0.05):
        writer = FORK.Process(target=keep_writing)
        writer.start()
        time.sleep(wait)
        writer.kill()
        writer.join()
        assert path.read_bytes() in contents
    with locked(tmp_path, "writes", wait=False):
        assert leftovers(tmp_path) == [], "who holds the folder clears away what the killed ones left"


def test_of_two_trainings_in_one_folder_the_second_is_told_at_once(tmp_path):
    folder, ready = tmp_path / "run", FORK.Event()

    def hold():
        with locked(folder, "trains", wait=False):
            ready.set()
            signal.pause()

    first = FORK.Process(target=hold, daemon=True)
    first.start()
    assert ready.wait(200)
    with pytest.raises(Busy, match=f"^Another process trains in {folder}; wait until it is done, or choose another"):
        train(CONFIG, folder, device="cpu", quiet=True)
    assert not (folder / "metrics.jsonl").exists()
    first.kill()
    first.join()
    assert train(CONFIG, folder, device="cpu", quiet=True).summary, "a killed process holds nothing"


def test_a_recording_holds_its_folder_and_a_failed_training_leaves_none(tmp_path, monkeypatch):
    with locked(tmp_path / "set", "records", wait=False), pytest.raises(Busy, match="records"):
        record(capsviz.load("digits-dr"), load("digits", "test"), tmp_path / "set", name="digits-dr", count=1)
    assert not (tmp_path / "set").exists()
    monkeypatch.setenv("CAPSVIZ_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(capsviz.CapsvizError):
        train(TrainingConfig("mnist", "dr", "tiny"), tmp_path / "none", device="cpu")
    assert not (tmp_path / "none").exists()


def test_a_name_of_bytes_that_are_no_text_is_written(tmp_path):
    path = tmp_path / os.fsdecode(b"\xff.safetensors")
    write(path, b"content")
    assert path.read_bytes() == b"content"


@pytest.mark.parametrize(
    ("place", "remedy"),
    [
        ("nowhere/trace", "(No such file or directory); make its folder first, or give another path."),
        ("file/trace", "(Not a directory); a part of the path is no folder; give another path."),
        ("folder", "(Is a directory); something else than a file is there; give another path."),
        ("n" * 300, "(File name too long); give another path, or see who may write there."),
    ],
)
def test_a_place_where_nothing_can_be_written_is_one_sentence(place, remedy, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError) as caught:
        write(tmp_path / place, "content")
    assert str(caught.value) == f"{tmp_path / place} could not be written {remedy}"


def test_a_read_only_disk_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "mkstemp", Mock(side_effect=OSError(errno.EROFS, os.strerror(errno.EROFS))))
    with pytest.raises(
        WriteError, match=r"\(Read-only file system\); give another path, or see who may write there\.$"
    ):
        write(tmp_path / "file", "content")
    monkeypatch.setenv("CAPSVIZ_RESULTS", str(tmp_path))
    with pytest.raises(WriteError, match=r"speed\.json could not be written"):
        results.write("speed", {})


def test_where_one_may_not_write_models_and_results_name_the_variable_that_chooses_another_folder(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(Path, "mkdir", Mock(side_effect=PermissionError(errno.EACCES, "Permission denied")))
    for variable, begun in (("CAPSVIZ_ZOO", zoo.manifest.changing), ("CAPSVIZ_RESULTS", results.held)):
        monkeypatch.setenv(variable, str(tmp_path / "there"))
        with pytest.raises(WriteError) as caught, begun():
            pass
        assert str(caught.value) == (
            f"{tmp_path / 'there'} could not be written (Permission denied); set {variable} to another folder, or see "
            "who may write there."
        )


def test_what_the_system_refuses_is_one_sentence_on_the_command_line(monkeypatch, capsys):
    refusal = PermissionError(errno.EACCES, "Permission denied", "a\nb")
    monkeypatch.setattr(main, "app", Mock(side_effect=refusal))
    with pytest.raises(SystemExit) as left:
        main.main()
    assert left.value.code == 1
    said = capsys.readouterr().err
    assert said == "The system refused (a b): Permission denied; see the file, its folder and the room left.\n"


def test_the_same_content_gives_the_same_bytes_and_its_checksum_stands_in_them(tmp_path):
    trace = capsviz.trace(capsviz.load("digits-l1"), torch.zeros(1, 1, 28, 28))
    assert len({in_process(lambda: str(hash_of(trace.to_bytes()))) for _ in range(4)}) == 1
    packed = safetensors_bytes({"b": torch.ones(2), "a": torch.arange(3)}, {"z": "1", "y": "crc32:00000000"})
    header = json.loads(packed[8 : 8 + int.from_bytes(packed[:8], "little")])
    assert list(header["__metadata__"]) == ["checksum", "z", "y"]
    assert re.fullmatch(r"crc32:[0-9a-f]{8}", header["__metadata__"]["checksum"])
    write(tmp_path / "file", packed)
    assert load_file(tmp_path / "file")["a"].tolist() == [0, 1, 2]
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644


def test_numbers_are_written_from_where_they_are():
    given = {"b": torch.ones(2), "none": torch.ones(0), "a": torch.arange(3), "one": torch.tensor(1.5).bfloat16()}
    head, *parts = safetensors_parts(given, {})
    assert {np.frombuffer(part, np.uint8).ctypes.data for part in parts} == {
        tensor.data_ptr() for tensor in given.values() if tensor.nbytes
    }
    assert b"".join([head, *parts]) == safetensors_bytes(given, {})
    found = safetensors.torch.load(b"".join([head, *parts]))
    assert found.keys() == given.keys() and all(torch.equal(found[name], given[name]) for name in given)


def hash_of(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("system", ["linux", "win32"])
def test_what_another_process_reads_is_replaced_and_removed_once_it_lets_go(tmp_path, monkeypatch, system):
    """On Windows, where it can be neither before; elsewhere a refusal is one."""
    path, replace, unlink, refused = tmp_path / "checkpoint", os.replace, Path.unlink, [3, 3]

    def refusing(at, change):
        def changed(*given, **how):
            if refused[at]:
                refused[at] -= 1
                raise PermissionError(13, "it is read")
            return change(*given, **how)

        return changed

    write(path, "before")
    monkeypatch.setattr(os, "replace", refusing(0, replace))
    monkeypatch.setattr(Path, "unlink", lambda self, **how: refusing(1 if self == path else 2, unlink)(self, **how))
    monkeypatch.setattr(sys, "platform", system)
    refused.append(0)  # of files that nobody reads
    if system == "linux":
        with pytest.raises(WriteError):
            write(path, "after")
        with pytest.raises(WriteError):
            remove(path)
        assert path.read_text() == "before" and refused == [2, 2, 0]
    else:
        write(path, "after")
        assert path.read_text() == "after"
        remove(path)
        assert not path.exists() and refused == [0, 0, 0]


def test_on_windows_a_lock_is_removed_by_who_lets_it_go(tmp_path, monkeypatch):
    """It cannot be while it is held; what was wrong is said all the same."""
    unlink = Path.unlink

    def refusing(path, **how):
        assert path.name != LOCK
        unlink(path, **how)

    monkeypatch.setattr(Path, "unlink", refusing)
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(DeviceError), locked(tmp_path / "run", "trains", wait=False):
        raise DeviceError("There is no GPU here.")


def test_a_lock_clears_what_a_killed_process_left_and_nothing_else(tmp_path):
    mine, left = tmp_path / "thesis.tmp", tmp_path / "manifest.json.k3_x9abz.tmp"
    mine.write_text("mine")
    left.write_text("{")
    with locked(tmp_path, "writes", wait=False):
        pass
    assert mine.read_text() == "mine" and not left.exists()


def test_a_file_that_is_replaced_while_it_is_read_is_one_of_the_two(tmp_path: Path, monkeypatch):
    path = tmp_path / "checkpoint.safetensors"
    write_tensors(path, {"a": torch.zeros(4)}, {"step": 1})
    real = TensorFile.whole

    def later(file: TensorFile) -> dict[str, torch.Tensor]:
        write_tensors(path, {"a": torch.ones(4)}, {"step": 2})
        return real(file)

    monkeypatch.setattr(TensorFile, "whole", later)
    tensors, header = read_tensors(path)
    assert (float(tensors["a"].sum()), header["step"]) == (0, 1)


@pytest.mark.skipif(os.name != "posix", reason="a umask is asked for")
def test_a_folder_that_a_group_shares_is_locked_by_each_of_it(tmp_path: Path):
    before = os.umask(0o002)
    try:
        with locked(tmp_path / "shared", "writes", wait=False):
            assert (tmp_path / "shared" / LOCK).stat().st_mode & 0o777 == 0o664
    finally:
        os.umask(before)
