"""A result file is held against what it has to hold; where it lies, an experiment says so in one sentence."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from pathlib import Path

import pytest

from capsviz import places
from capsviz.experiments import reports, results
from capsviz.experiments.result_files import KINDS
from capsviz.experiments.results import ResultError
from tests.known import known

OURS = places.root() / "benchmarks" / "results"


@pytest.fixture
def copies(folder: Path) -> Path:
    """The result files of capsviz, where a test may change them."""
    shutil.copytree(OURS, folder)
    return folder


def change(path: Path, field: str, value: object) -> None:
    """Another value in the first row, or in the file where the field is none of a row's."""
    said = json.loads(path.read_text())
    held = said["rows"][0] if field in said.get("rows", [{}])[0] else said
    held[field] = value
    path.write_text(json.dumps(said))


def test_every_result_file_here_is_what_it_has_to_be(copies: Path):
    others = {"app", "coverage", "load", "fuzz", "mutation", "seeds"}
    assert {path.stem for path in copies.glob("*.json")} - KINDS.keys() == others
    for name in KINDS:
        assert results.read(name) is None or (copies / f"{name}.json").is_file()


@pytest.mark.parametrize(
    ("file", "field", "value", "experiment"),
    [
        ("robustness", "routing", "nobody's", "robustness"),
        ("robustness", "count", 0, "robustness"),
        ("viewpoint", "r2", 1.5, "viewpoint"),
        ("viewpoint", "change", "melted", "viewpoint"),
        ("iterations", "train", {}, "iterations"),
        ("iterations-shipped", "error", 101, "iterations"),
        ("sparsity", "coefficients", None, "sparsity"),
        ("ascent", "training", {"seed": 0}, "ascent"),
        ("seeds", "routing", "n1", "table"),
        ("speed-paper", "batch", -1, "cost"),
        ("speed-paper", "images_per_second", {"dr step": 3.0}, "cost"),
    ],
)
def test_a_file_that_lies_is_refused_in_one_sentence(
    copies: Path, file: str, field: str, value: object, experiment: str
):
    change(copies / f"{file}.json", field, value)
    with pytest.raises(ResultError, match=r"^[^\n]*\.$"):
        reports.report(experiment)


@pytest.mark.parametrize(("file", "experiment"), [("robustness", "robustness"), ("seeds", "table")])
def test_a_routing_of_ones_own_that_nothing_defines_is_named_before_anything_is_deleted(
    copies: Path, file: str, experiment: str
):
    change(copies / f"{file}.json", "routing", "top-3")
    with pytest.raises(ResultError) as raised:
        reports.report(experiment)
    assert str(raised.value) == (
        f"{copies}/{file}.json tells of the routing 'top-3', which nothing here defines; name what defines it in "
        "CAPSVIZ_ROUTINGS, restore it with git, or delete it and run the experiment again."
    )


def test_a_model_that_was_asked_with_some_iterations_only_is_left_out_of_the_sentences(copies: Path):
    path = copies / "iterations-shipped.json"
    said = json.loads(path.read_text())
    del said["rows"][0]
    path.write_text(json.dumps(said))
    model = json.loads(path.read_text())["rows"][0]["model"]
    assert not any(sentence.startswith(f"{model}, trained") for sentence in reports.report("iterations").sentences)


def test_rows_that_several_processes_add_at_once_all_arrive(folder: Path):
    fork = multiprocessing.get_context("fork")
    together = fork.Barrier(4)

    def add(number: int) -> None:
        together.wait(60)
        for place in range(10):
            with results.changing("mine") as result:
                results.put(result, [{"by": number, "place": place}], "by", "place")
        os._exit(0)

    writers = [fork.Process(target=add, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    found = known(results.read("mine"))["rows"]
    assert len(found) == 40 and {row["by"] for row in found} == set(range(4))
    with results.changing("mine") as result:
        results.put(result, [{"by": 0, "place": 0}], "by", "place")
    assert len(known(results.read("mine"))["rows"]) == 40, "measured again, a row takes its own place"


def test_a_row_keeps_the_machine_that_it_was_measured_on(folder: Path, monkeypatch: pytest.MonkeyPatch):
    row = {"model": "a", "routing": "dr", "preset": "tiny", "sha256": "0" * 64, "error": 1.0, "count": 2, "steps": 3}
    for model, processor in (("a", "old"), ("b", "old"), ("c", "new"), ("b", "new")):
        monkeypatch.setattr(results, "processor", lambda named=processor: named)
        with results.changing("multi-mnist") as result:
            results.put(result, [row | {"model": model}], "model")
    found = known(results.read("multi-mnist"))
    assert found["machine"] == "new"
    assert [(row["model"], row.get("on", found)["machine"]) for row in found["rows"]] == [
        ("a", "old"), ("c", "new"), ("b", "new"),
    ]  # fmt: skip
    assert [each["machine"] for each in results.machines(found)] == ["old", "new"]
    conditions = reports.report("multi-mnist").conditions
    assert "; CPU, old, torch" in conditions and " and CPU, new, torch" in conditions
    monkeypatch.setattr(results, "processor", lambda: "old")
    with results.changing("multi-mnist") as result:
        results.put(result, [row | {"model": "d"}], "model")
    found = known(results.read("multi-mnist"))
    assert [row.get("on", {}).get("machine") for row in found["rows"]] == [None, "new", "new", None]


def test_the_version_is_another_with_each_file_that_is_written_and_not_with_one_that_is_being_written(copies: Path):
    before, other = results.version(), results.version("viewpoint")
    (copies / "ascent.json.x.tmp").write_text("{")
    assert results.version() == before
    results.write("ascent", known(results.read("ascent")))
    assert results.version() != before
    assert results.version("viewpoint") == other
    results.write("viewpoint", known(results.read("viewpoint")))
    assert results.version("viewpoint") != other
    before = results.version()
    (copies / "ascent.json").unlink()
    assert results.version() != before
