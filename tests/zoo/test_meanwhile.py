"""What another process does to the zoo between a look at it and a write is neither lost nor taken for one's own."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from capsviz import zoo
from capsviz.analysis import exchange
from capsviz.files import write_tensors
from capsviz.training import evaluate, publish, publish_checkpoints
from capsviz.training.config import TrainingConfig
from capsviz.training.loop import Outcome, build, kept_at, train
from capsviz.training.publish_checkpoints import STEPS
from capsviz.zoo import publishing
from capsviz.zoo.manifest import changing
from tests.zoos import with_second_seed


@pytest.fixture
def here(tmp_path: Path, monkeypatch) -> Path:
    folder = tmp_path / "zoo"
    with_second_seed(folder)
    for name in ("digits-dr", "digits-l2-fc"):
        for place in (zoo.entry(name).curves, zoo.entry(name).checkpoints and zoo.entry(name).checkpoints.file):
            if place:
                (folder / place).parent.mkdir(exist_ok=True)
                (folder / place).write_bytes((zoo.folder() / place).read_bytes())
    exported = exchange.export("digits-dr")
    monkeypatch.setenv("CAPSVIZ_ZOO", str(folder))
    (tmp_path / "new.capsviz").write_bytes(exported)
    return tmp_path


def test_a_model_that_comes_as_one_of_its_name_leaves_keeps_its_files(here: Path, monkeypatch):
    real = changing

    @contextmanager
    def then_another(*args, **options):
        with real(*args, **options) as zoo_as_it_is:
            yield zoo_as_it_is
        exchange.add(here / "new.capsviz", "digits-dr")  # who waited for the lock

    monkeypatch.setattr(publishing, "changing", then_another)
    zoo.replace("digits-dr", "digits-l2-fc")
    assert "digits-dr" in zoo.models()
    assert zoo.load("digits-dr").config.routing == "dr"


def test_a_model_that_leaves_takes_its_own_files_along_and_no_others(here: Path):
    own, other = zoo.entry("digits-dr"), zoo.entry("digits-l2-fc")
    assert own.checkpoints is not None
    shared = {own.curves, own.checkpoints.file}  # with the second seed

    def left() -> set[str]:
        return {file.relative_to(zoo.folder()).as_posix() for file in zoo.folder().rglob("*") if file.is_file()}

    zoo.replace("digits-dr", "digits-l2-fc")
    assert not left() & {own.file, "measured/digits-dr.safetensors"} and shared <= left()
    zoo.replace("digits-dr-seed1", "digits-l2-fc")
    assert not left() & shared and {other.file, "measured/digits-l2-fc.safetensors"} <= left()


def test_of_two_trainings_that_take_one_name_at_once_the_second_is_told(here: Path, monkeypatch):
    runs = []
    for seed in (0, 1):
        config = TrainingConfig("digits", "dr", "tiny", steps=2, batch=32, seed=seed)
        train(config, here / str(seed), quiet=True)
        runs.append((here / str(seed), config.command()))
    real = evaluate

    def meanwhile(*args, **options):
        monkeypatch.setattr(publish, "evaluate", real)
        publish.publish(runs[1][0], "best")
        return real(*args, **options)

    monkeypatch.setattr(publish, "evaluate", meanwhile)
    with pytest.raises(zoo.ZooError, match=r"^best changed in the zoo meanwhile; [^\n]*\.$"):
        publish.publish(runs[0][0], "best")
    assert zoo.entry("best").command == runs[1][1]
    assert publish.publish(runs[1][0], "best").command == runs[1][1], "the same again"


@pytest.mark.parametrize("what", ["replaced", "left"])
def test_checkpoints_are_not_put_beside_another_model_of_that_name(here: Path, monkeypatch, what: str):
    own = zoo.entry("digits-dr")

    def minutes(config: TrainingConfig, folder: Path, **_) -> Outcome:
        folder.mkdir(parents=True)
        model = build(config, own.network.image, 10)
        for step in STEPS:
            write_tensors(kept_at(folder, step), model.state_dict(), {"step": step})
        with changing() as (entries, _moved):
            if what == "left":
                del entries["digits-dr"]
            else:
                entries["digits-dr"] = replace(entries["digits-dr-seed1"], name="digits-dr")
        return Outcome(folder, 1320, "", None)

    monkeypatch.setattr(publish_checkpoints, "train", minutes)
    with pytest.raises(zoo.ZooError, match="digits-dr changed in the zoo meanwhile"):
        publish_checkpoints.publish_checkpoints("digits-dr", here / "out", quiet=True)
