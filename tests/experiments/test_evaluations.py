"""Experiments that train nothing: robustness, other iterations, Table II, convergence, cost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from typer.testing import CliRunner

import capsviz
from capsviz import device, figures, places, zoo
from capsviz.benchmarks import speed
from capsviz.commands.main import app
from capsviz.data import load, to_float
from capsviz.data.torchvision_sets import JPEG_NOTE
from capsviz.data.viewpoint import CHANGES
from capsviz.errors import CapsvizError
from capsviz.experiments import (
    chance,
    convergence,
    cost,
    iterations,
    moving,
    multi,
    reports,
    results,
    robustness,
    seeds,
    sparsity,
    table2,
    viewpoint,
)
from capsviz.experiments.convergence import TrainingCurve
from capsviz.experiments.seed_means import SeedMean
from capsviz.experiments.seeds import Spread
from capsviz.figures import experiments as pictures
from capsviz.training.config import TrainingConfig
from capsviz.training.evaluate import evaluate
from capsviz.training.loop import build
from tests import zoos
from tests.folders import drawn
from tests.known import known, single_digits

MOVES = ("seen_rotation", "seen_scale", "seen_shear")


def test_unmoved_images_give_the_plain_error_and_far_shifts_a_worse_one(folder):
    settings = [("shift", 0), ("shift", 8), ("rotation", 30)]
    rows = robustness.run("digits", ["digits-l2"], 60, settings=settings)["rows"]
    images = single_digits()
    head = replace(images, images=images.images[:60], labels=images.labels[:60])
    assert rows[0]["error"] == evaluate(capsviz.load("digits-l2"), head).error
    assert rows[1]["error"] > rows[0]["error"] + 20
    assert rows[0]["ink"] == 1 and rows[1]["ink"] < 0.9
    assert rows[2]["ink"] == pytest.approx(1, abs=0.05), "a turn about the centre keeps the digit on the canvas"
    assert rows[0]["seen_shift"] == 1 and {rows[0][name] for name in MOVES} == {0}


def test_a_model_measured_on_one_data_set_is_measured_on_another_and_no_ink_is_made(folder, mnist_root, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_DATA", str(mnist_root))
    for data in ("digits", "mnist"):
        robustness.run(data, ["mnist-dr-paper"], 40, settings=[("rotation", 10)])
    rows = known(results.read(robustness.NAME))["rows"]
    assert [row["data"] for row in rows] == ["digits", "mnist"]
    images = single_digits()
    assert robustness.ink_left(images, replace(images, images=images.images.clamp(1))) == 1


def test_the_baseline_without_capsules_is_measured_as_well(folder):
    [row] = robustness.run("digits", ["mnist-cnn"], 40, settings=[("shift", 0)])["rows"]
    images = single_digits()
    head = replace(images, images=images.images[:40], labels=images.labels[:40])
    assert row["routing"] == "cnn" and row["error"] == evaluate(zoo.load_network("mnist-cnn"), head).error


def test_robustness_skips_what_stands_and_measures_new_weights_again(folder, monkeypatch):
    settings = [("shift", 0), ("shift", 1)]
    robustness.run("digits", ["digits-l2"], 20, settings=settings[:1])
    said: list[str] = []
    robustness.run("digits", ["digits-l2"], 20, settings=settings, say=said.append)
    assert len(said) == 1 and "shift 1" in said[0]
    path = folder / "robustness.json"
    path.write_text(path.read_text().replace(zoo.entry("digits-l2").sha256, "0" * 64))
    robustness.run("digits", ["digits-l2"], 20, settings=settings, say=said.append)
    assert len(said) == 3 and len(known(results.read("robustness"))["rows"]) == 2


def test_rows_of_other_weights_are_left_out_of_a_report_which_names_their_models(folder):
    robustness.run("digits", ["digits-l2", "digits-l1"], 20, settings=[("shift", 0), ("shift", 1)])
    path = folder / "robustness.json"
    assert "weights changed" not in " ".join(reports.report("robustness").sentences)
    path.write_text(path.read_text().replace(zoo.entry("digits-l2").sha256, "0" * 64))
    found = reports.report("robustness")
    assert {row["model"] for row in found.measured["rows"]} == {"digits-l1"}
    assert found.sentences[-1] == "Not measured again since their weights changed: digits-l2."
    path.write_text(path.read_text().replace(zoo.entry("digits-l1").sha256, "1" * 64))
    first, last = reports.report("robustness").sentences
    assert first.startswith("Not measured here yet") and last.endswith("digits-l2, digits-l1.")


def test_what_a_network_drew_with_other_weights_is_left_out_as_its_row_is(monkeypatch):
    monkeypatch.delenv("CAPSVIZ_RESULTS")
    name, real = "multi-mnist-dr-residual", known(results.read(multi.NAME))
    assert name in {one.by.name for one in reports.report("multi-mnist").measured["drawn"].drawn}
    rows = [row | {"sha256": "0" * 64} if row["model"] == name else row for row in real["rows"]]
    read = results.read
    monkeypatch.setattr(results, "read", lambda name: real | {"rows": rows} if name == multi.NAME else read(name))
    report = reports.report("multi-mnist")
    assert report.sentences[-1].endswith(f"weights changed: {name}.")
    drawn = {one.by.name for one in report.measured["drawn"].drawn}
    assert drawn and name not in drawn


def test_what_another_command_measures_meanwhile_stays(folder):
    def once(other: Callable[[], object]) -> Callable[[str], Any]:
        waiting = [other]
        return lambda _: waiting.pop()() if waiting else None

    def asked() -> None:
        row = {"model": "mnist-dr-residual", "sha256": "0" * 64, "count": 2, "trained_with": 3, "iterations": 1}
        with results.changing("iterations-shipped") as result:
            results.put(result, [row | {"error": 0.0, "loss": 0.0}], "model")

    other = once(lambda: robustness.run("digits", ["digits-l1"], 20, settings=[("shift", 0)]))
    robustness.run("digits", ["digits-l2"], 20, settings=[("shift", 0), ("shift", 1)], say=other)
    other = once(lambda: viewpoint.run("digits", ["digits-l1"], 60, 20, changes=["right"]))
    viewpoint.run("digits", ["digits-l2"], 60, 20, changes=["right", "down"], say=other)
    iterations.ask_shipped(["digits-dr"], count=2, say=once(asked))
    found = [known(results.read(name))["rows"] for name in ("robustness", "viewpoint", "iterations-shipped")]
    assert [len(rows) for rows in found] == [3, 3, 11]


def test_a_model_that_left_the_comparison_leaves_what_ships_and_one_asked_for_stays(folder, monkeypatch):
    monkeypatch.setattr(results, "shipped", lambda: folder)
    settings = [("shift", 0)]
    robustness.run("digits", ["digits-l2", "mnist-cnn"], 20, settings=settings)
    rows = robustness.run("digits", ["digits-l1"], 20, settings=settings)["rows"]
    assert [row["model"] for row in rows] == ["digits-l2", "mnist-cnn", "digits-l1"]
    monkeypatch.setattr(moving, "candidates", lambda data: ["digits-l1"])
    rows = robustness.run("digits", None, 20, settings=settings)["rows"]
    assert [row["model"] for row in rows] == ["digits-l1"]
    robustness.run("digits", ["digits-dr@40"], 20, settings=settings)
    rows = robustness.run("digits", ["digits-dr@100"], 20, settings=settings)["rows"]
    assert [row["model"] for row in rows] == ["digits-l1", "digits-dr@40", "digits-dr@100"]


def test_results_of_ones_own_keep_every_model_of_the_zoo(folder, monkeypatch):
    monkeypatch.setattr(moving, "candidates", lambda data: ["digits-l1"])
    robustness.run("digits", ["digits-l2"], 20, settings=[("shift", 0)])
    rows = robustness.run("digits", None, 20, settings=[("shift", 0)])["rows"]
    assert [row["model"] for row in rows] == ["digits-l2", "digits-l1"]
    viewpoint.run("digits", ["digits-l2"], 100, 20, changes=["right"])
    rows = viewpoint.run("digits", None, 100, 20, changes=["right"])["rows"]
    assert [row["model"] for row in rows] == ["digits-l2", "digits-l1"]
    path = folder / "viewpoint.json"
    path.write_text(path.read_text().replace(zoo.entry("digits-l2").sha256, "0" * 64))
    rows = viewpoint.run("digits", None, 100, 20, changes=["right"])["rows"]
    assert [row["model"] for row in rows] == ["digits-l1"], "its weights are no longer in the zoo"


def test_of_each_routing_the_model_that_errs_least_is_compared():
    assert moving.candidates("mnist") == [
        "mnist-dr-residual", "mnist-em-residual", "mnist-l2-residual", "mnist-l1-residual", "mnist-cnn",
    ]  # fmt: skip


def test_what_models_saw_in_training_is_said_of_each():
    same = {"routing": "dr", "data": "mnist", "count": 9, "kind": "shift", "amount": 0, "error": 1.0, "ink": 1.0}
    few, more = ({**same, "model": name, "seen_shift": 2.0} for name in ("few", "more"))
    rows = [few | dict.fromkeys(MOVES, 0.0), more | dict(zip(MOVES, (15.0, 0.15, 10.0), strict=True))]
    told = (
        "In training the models saw shifts of up to 2 pixels and no turns (few); "
        "shifts of up to 2 pixels, turns of up to 15 degrees, scaling by up to 15 % and shears of up to 10 degrees "
        "(more)"
    )
    assert robustness.sentences({"rows": rows})[-1].startswith(f"{told}.")
    seen = robustness.seen("capsviz zoo adopt theirs.pth --layout laubonghaudoi", "--shift")
    rows += [{**same, "model": "theirs", "seen_shift": seen, **dict.fromkeys(MOVES, seen)}]
    assert robustness.sentences({"rows": rows})[-1].startswith(f"{told}; what is not told here (theirs).")
    assert "differ in their encoders" not in robustness.sentences({"rows": rows})[-1]
    beside = robustness.sentences({"rows": [*rows, rows[0] | {"model": "cnn", "routing": "cnn"}]})
    assert "Networks with and without capsules differ in their encoders as well." in beside[-1]
    assert "MNIST, first 9 images" in figures.describe(pictures.robustness({"rows": rows}))


def test_a_model_of_which_nobody_says_what_it_saw_leaves_a_result_that_is_read_again(folder):
    row: dict[str, Any] = {"model": "theirs", "data": "digits", "routing": "dr", "sha256": "0" * 64, "seen_shift": None}
    row |= {**dict.fromkeys(MOVES), "kind": "shift", "amount": 1, "count": 9, "error": 5.0, "ink": 1.0}
    with results.changing(robustness.NAME) as result:
        results.put(result, [row], "model")
    assert known(results.read(robustness.NAME))["rows"] == [row]


def test_models_that_err_alike_within_chance_are_told_as_such():
    row = {"routing": "dr", "data": "mnist", "count": 1000, "kind": "shift", "amount": 4, "seen_shift": 2.0}
    row |= dict.fromkeys(MOVES, 0.0)
    rows = [row | {"model": model, "error": error} for model, error in (("a", 5.0), ("b", 4.2), ("c", 9.0))]
    assert robustness.sentences({"rows": rows[:2]})[0] == (
        "At a shift of 4 pixels all models err alike within chance, on 4.20 to 5.00 %."
    )
    assert robustness.sentences({"rows": rows})[0] == (
        "At a shift of 4 pixels b and a err least, on 4.20 to 5.00 % (alike within chance), c most, on 9.00 %."
    )
    assert robustness.sentences({"rows": rows[1:]})[0] == (
        "At a shift of 4 pixels b errs least, on 4.20 %, c most, on 9.00 %."
    )


def test_without_a_network_that_pools_nothing_is_said_of_pooled_features():
    row = {"model": "m", "data": "digits", "routing": "dr", "change": "right", "fitted": 9, "held": 9, "r2": 0.5}
    row["r2_error"] = 0.01
    [said] = viewpoint.sentences({"rows": [row | {"numbers": 16, "of": 16}]})
    assert said.startswith("A ridge regression")


@pytest.mark.parametrize("experiment", [robustness, viewpoint], ids=["robustness", "viewpoint"])
def test_data_sets_and_numbers_of_images_stand_in_tables_of_their_own(folder, mnist_root, monkeypatch, experiment):
    monkeypatch.setenv("CAPSVIZ_DATA", str(mnist_root))

    def run(data: str, count: int) -> dict:
        if experiment is robustness:
            return robustness.run(data, ["mnist-dr-residual"], count, settings=[("shift", 4)])
        return viewpoint.run(data, ["mnist-dr-residual"], count, count, changes=["right"])

    for data, count in (("digits", 100), ("mnist", 100), ("mnist", 120)):
        run(data, count)
    report = reports.report(experiment.NAME)
    assert [(row["data"], row["count" if experiment is robustness else "held"]) for row in report.measured["rows"]] == [
        ("digits", 100), ("mnist", 100), ("mnist", 120),
    ]  # fmt: skip
    assert report.markdown.count("**Digits, first 100") == report.markdown.count("| mnist-dr") - 2 == 1
    assert all(sentence.startswith(("Digits, first", "MNIST, first")) for sentence in report.sentences)
    assert report.conditions.startswith("Digits and MNIST")


def test_of_a_folder_images_of_all_classes_are_measured_and_said_to_be_spread(tmp_path):
    data = f"folder:{drawn(tmp_path)}"
    assert moving.sampled(data, "train", 8, None).labels.unique().tolist() == [0, 1, 2]
    row = {"model": "m", "data": data, "routing": "dr", "count": 8, "seen_shift": 0.0, **dict.fromkeys(MOVES, 0.0)}
    assert robustness.sentences({"rows": [row | {"kind": "shift", "amount": 0}]})[-1].startswith(
        "In training the models saw shifts of up to 0 pixels and no turns (m). 8 evenly spread test images, one model"
    )
    assert moving.called({"rows": [row]}).endswith(", 8 evenly spread images")


def untrained(data: str, routing: str) -> str:
    """An untrained model of a folder in the zoo; its name."""
    config, test = TrainingConfig(data, routing, "tiny"), load(data, "test")
    network = build(config, test.image, len(test.classes)).eval()
    return zoos.saved(network, f"{config.name}-{test.image[2]}", data=data, command=config.command()).name


def test_a_folders_models_are_found_by_its_ordinary_name_and_none_is_said(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
    monkeypatch.chdir(tmp_path)
    place = drawn(tmp_path / "leaves")
    said = rf"^No model of folder:{place}@3x20x20 is in {tmp_path}/zoo; name one with --model\.$"
    with pytest.raises(CapsvizError, match=said):
        robustness.run("folder:leaves", None, 4, settings=[("shift", 0)])
    models = [untrained(f"folder:{place}@3x{side}x{side}", routing) for routing, side in (("dr", 24), ("l2", 24))]
    other = untrained(f"folder:{place}@3x28x28", "l1")
    rows = robustness.run("folder:leaves", None, 4, settings=[("shift", 0)])["rows"]
    assert [(row["model"], row["data"]) for row in rows] == [(name, f"folder:{place}@3x24x24") for name in models]
    rows = viewpoint.run(f"folder:{place}@3x28x28", None, 24, 4, changes=["right"])["rows"]
    assert [row["model"] for row in rows] == [other]


def test_what_is_measured_of_ones_own_images_is_kept_apart_from_what_ships_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "root", lambda: tmp_path / "shipped")
    monkeypatch.delenv("CAPSVIZ_RESULTS")
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
    monkeypatch.chdir(tmp_path)
    name = untrained(f"folder:{drawn(tmp_path / 'leaves')}@3x24x24", "dr")
    told = CliRunner().invoke(app, ["experiment", "robustness", "--data", "folder:leaves", "--count", "4"])
    assert told.exit_code == 0 and f"| {name} |" in told.stdout and not (tmp_path / "shipped").exists()
    assert f"stands in {tmp_path}/results, apart from the results that ship; CAPSVIZ_RESULTS=" in told.stderr
    assert results.folder() == tmp_path / "shipped" / "benchmarks" / "results"
    monkeypatch.setenv("CAPSVIZ_RESULTS", str(tmp_path / "results"))
    assert {row["model"] for row in known(results.read("robustness"))["rows"]} == {name}


@pytest.mark.parametrize(
    "measure",
    [
        lambda name: robustness.run("digits", [name], 10, settings=[("shift", 0)]),
        lambda name: viewpoint.run("digits", [name], 100, 20, changes=["right"]),
        lambda name: iterations.ask_shipped([name], count=5),
        lambda name: multi.run(),
        lambda name: sparsity.measure_shipped(),
    ],
    ids=["robustness", "viewpoint", "iterations", "multi", "sparsity"],
)
def test_functions_leave_the_results_that_ship_as_they_are_where_models_are_ones_own(measure, tmp_path, monkeypatch):
    ships = tmp_path / "shipped" / "benchmarks" / "results"
    shutil.copytree(places.root() / "benchmarks" / "results", ships)
    zoos.copied(tmp_path / "zoo", "digits-dr")
    monkeypatch.setattr(places, "root", lambda: tmp_path / "shipped")
    monkeypatch.delenv("CAPSVIZ_RESULTS")
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in ships.rglob("*.*")}
    measured = measure("digits-dr")
    assert {path: path.read_bytes() for path in ships.rglob("*.*")} == before
    written = {path.name: json.loads(path.read_text()) for path in Path("results").glob("*.json")}
    assert list(written.values()) == ([measured] if measured["rows"] or "machine" in measured else [])


def test_what_a_turn_adds_in_rounding_leaves_a_result_that_can_be_read(folder, mnist_root, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_DATA", str(mnist_root))
    robustness.run("mnist", ["mnist-dr-residual"], 20, settings=[("rotation", 10)])
    [row] = known(results.read("robustness"))["rows"]
    assert row["ink"] == 1


def test_images_that_an_experiment_cannot_move_are_refused_in_a_sentence(folder, mnist_root, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_DATA", str(mnist_root))
    with pytest.raises(CapsvizError, match="two objects each; choose"):
        robustness.run("multi-mnist", None, 20)
    with pytest.raises(CapsvizError, match="cifar10-dr-residual takes other images than those of digits"):
        robustness.run("digits", ["cifar10-dr-residual"], 20)


def test_every_image_goes_its_own_way_and_no_further_than_asked():
    images = single_digits()
    moved = robustness.moved_images(images, "shift", 3).images
    assert torch.equal(moved[0, :, :, 3:], images.images[0, :, :, :-3]), "image 0 goes right"
    assert torch.equal(moved[1, :, 3:], images.images[1, :, :-3]), "image 1 goes down"
    assert torch.equal(moved[2, :, :, :-3], images.images[2, :, :, 3:]), "image 2 goes left"
    assert torch.equal(moved[3, :, :-3], images.images[3, :, 3:]), "image 3 goes up"


def test_the_standard_error_is_that_of_a_binomial():
    assert chance.standard_error({"error": 20.0, "count": 400}) == pytest.approx(2.0)


@pytest.mark.long
def test_viewpoints_are_recovered_from_a_capsule_and_from_pooled_features_also_cut_to_as_many(folder):
    rows = viewpoint.run("digits", ["digits-dr", "mnist-cnn"], 200, 100, changes=["right"])["rows"]
    assert [(row["model"], row["numbers"], row["of"]) for row in rows] == [
        ("digits-dr", 16, 16),
        ("mnist-cnn", 6272, 6272),
        ("mnist-cnn", 16, 6272),
    ]
    assert all(0.2 < row["r2"] < 1 for row in rows)
    said: list[str] = []
    viewpoint.run("digits", ["digits-dr", "mnist-cnn"], 200, 100, changes=["right"], say=said.append)
    assert not said, "what stands is skipped"
    path = folder / "viewpoint.json"
    path.write_text(path.read_text().replace(zoo.entry("digits-dr").sha256, "0" * 64))
    again = viewpoint.run("digits", ["digits-dr"], 200, 100, changes=["right"], say=said.append)["rows"]
    assert len(said) == 1 and again[-1] == rows[0], "seeded: measured again, it is the same"
    report = reports.report("viewpoint")
    assert f"| digits-dr, class capsule of 16 numbers |  | {rows[0]['r2']:.2f} |" in report.markdown
    assert "16 principal components of its 6,272 pooled features" in report.markdown
    assert all(0 < row["r2_error"] < 0.2 for row in rows)
    apart = [chance.verdict(row["r2"] - rows[0]["r2"], row["r2_error"], rows[0]["r2_error"]) for row in rows[1:]]
    assert report.sentences[0].startswith(
        f"The CNN's pooled features recover the viewpoint in {apart[0] == 1:d} of 1 changes better, "
        f"in {apart[0] == -1:d} worse than the best class capsule by more than chance; cut to 16 principal components, "
        f"in {apart[1] == 1:d} of 1 changes better, in {apart[1] == -1:d} worse."
    )
    assert "200 training images, R² on 100 test images" in report.sentences[-1]


def test_fewer_images_of_a_class_than_numbers_to_fit_are_refused_in_a_sentence():
    with pytest.raises(
        CapsvizError, match=r"Of class 0 there are \d+ among the first 40 .* and 16 are needed to fit on"
    ):
        viewpoint.run("digits", ["mnist-cnn"], 40, 20, changes=["right"])


def test_an_image_is_seen_by_an_amount_of_the_sliders_steps():
    found = viewpoint.seen(capsviz.load("digits-dr"), single_digits(), CHANGES["scale"], 3)
    assert found.numbers.shape == (len(single_digits()), 16)
    steps = (found.amounts - 0.6) / 0.05
    assert torch.allclose(steps, steps.round(), atol=1e-4)
    assert (round(float(found.amounts.min()), 2), round(float(found.amounts.max()), 2)) == (0.6, 1.6)


def test_one_walk_gives_the_error_of_every_t():
    model, test = capsviz.load("digits-dr"), single_digits()
    measured = iterations.by_iterations(model, test, 40)
    assert len(measured) == 10
    images, labels = test.batch(torch.arange(40))
    for T in (1, 4):
        predicted = capsviz.trace(model, to_float(images), iterations=T, votes=False).predicted
        assert measured[T - 1][0] == pytest.approx(100 * float((predicted != labels).float().mean()))


def test_shipped_models_are_asked_once_and_their_images_read_once(folder, monkeypatch):
    said: list[str] = []
    read = Mock(side_effect=load)
    monkeypatch.setattr(iterations, "load", read)
    iterations.ask_shipped(["digits-dr"], count=20, say=said.append)
    iterations.ask_shipped(["digits-dr"], count=20, say=said.append)
    assert read.call_count == 1
    assert len(said) == 10 and known(results.read("iterations-shipped"))["rows"][0]["trained_with"] == 3


def test_models_of_one_object_an_image_whose_data_is_here_are_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("CAPSVIZ_DATA", str(tmp_path))
    assert iterations.shipped() == ["digits-dr"]


def spread(name: str, errors: tuple[float, ...]) -> Spread:
    """What `capsviz zoo seeds` records of a model."""
    entry = zoo.entry(name)
    return Spread(
        name, entry.data, entry.routing, entry.preset, entry.has_decoder, len(errors), 0.0, 0.1,
        tuple(range(len(errors))), errors, entry.test_count, 10, entry.command,
    )  # fmt: skip


def in_table(given: Spread) -> dict[tuple[str, str], table2.TableRow]:
    """The papers' block of Table II, by data set and method, where this is recorded."""
    seeds.record([given])
    return {(line.data, line.method): line for line in table2.lines() if line.block == table2.PAPERS}


def test_table_ii_takes_what_is_there_and_says_what_is_not(folder, tmp_path, monkeypatch):
    one = {**zoos.rows()["mnist-l2-residual"], "name": "mnist-l2", "preset": "compact"}
    other = {**one, "name": "mnist-l2-1", "test_error": one["test_error"] + 0.2}
    zoos.state(tmp_path, one, other)
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
    lines = table2.lines()
    mine = next(line for line in lines if (line.data, line.method) == ("mnist", "L2"))
    assert mine.ours.count == 2 and mine.ours.mean == pytest.approx(one["test_error"] + 0.1)
    assert mine.difference == pytest.approx(mine.ours.mean - 0.35)
    seeds.record([spread("mnist-l2", (0.4, 0.6, 0.8))])
    mine = next(line for line in table2.lines() if (line.data, line.method) == ("mnist", "L2"))
    assert (mine.ours.count, mine.ours.mean, mine.ours.high) == (3, pytest.approx(0.6), 0.8)
    seeds.record([replace(spread("mnist-l2", (0.4, 0.6, 0.8)), command=f"{one['command']} --epochs 1")])
    both = [line for line in table2.lines() if (line.data, line.method) == ("mnist", "L2") and line.ours]
    assert [(line.shipped, line.ours.count) for line in both] == [(True, 2), (False, 3)], "two trainings, two rows"
    text = table2.markdown(lines)
    assert "| CIFAR-10 | L1/FC | 14.04 | not trained here |" in text
    papers = [line for line in lines if line.block == table2.PAPERS]
    assert text.count("not trained here") == len(lines) - 1 == 2 * len(papers) - 1
    assert text.index("**The papers' network**") < text.index("**Our encoder**")
    assert "a quarter of the convolution" in text
    said = table2.sentences(lines)
    assert said[0] == (
        "Test errors beside Table II: of 1 figures 0 are lower by more than chance, 1 equal within it, 0 higher "
        "with the papers' network; of 0 figures 0 are lower by more than chance, 0 equal within it, 0 higher with "
        "our encoder."
    )
    assert said[2].startswith("The papers' network: the largest gap is +0.07 points (L2 on MNIST); ")
    assert said[2].endswith(f"; {len(papers) - 1} of the paper's figures have no training yet.")
    assert said[3] == f"Our encoder: nothing to compare; {len(papers)} of the paper's figures have no training yet."


def test_our_encoder_is_counted_by_itself_and_re_encoded_images_are_not():
    ours = [
        table2.TableRow(data, "DR", paper, SeedMean.of([error]), 10_000, "residual", same_images=data != "cifar10")
        for data, paper, error in (("fashion-mnist", 7.21, 5.86), ("mnist", 0.34, 0.31), ("cifar10", 15.3, 13.46))
    ]
    theirs = table2.TableRow("fashion-mnist", "DR", 7.21, SeedMean.of([8.05]), 10_000, "compact")
    counts, _, first, second, apart = table2.sentences([theirs, *ours])
    assert "of 1 figures 0 are lower by more than chance, 0 equal within it, 1 higher with the papers'" in counts
    assert "of 2 figures 1 are lower by more than chance, 1 equal within it, 0 higher with our encoder" in counts
    assert first == "The papers' network: the largest gap is +0.84 points (DR on Fashion-MNIST)."
    assert second == "Our encoder: the smallest lead is 0.03 points (DR on MNIST)."
    as_good = table2.TableRow("mnist", "DR", 0.34, SeedMean.of([0.34]), 10_000, "residual")
    assert table2.sentences([as_good])[-1] == "Our encoder: the largest gap is +0.00 points (DR on MNIST)."
    assert apart.startswith("The images of CIFAR-10 are re-encoded as JPEG here") and ours[-1].difference is None


@pytest.mark.parametrize(("wrong", "verdict"), [(36, 0), (51, 0), (58, 1), (19, -1), (22, 0), (34, 0)])
def test_what_is_within_chance_is_neither_better_nor_worse(wrong: int, verdict: int):
    # Two shares of 10,000 images: 34 wrong have a standard error of 5.8 images, and so has what they are compared with.
    line = table2.TableRow("mnist", "DR", 0.34, SeedMean.of([wrong / 100]), 10_000, "residual")
    assert line.verdict == verdict


def curve(routing: str, errors: list[float], loss: list[float], command: str = "") -> TrainingCurve:
    validation, margin = (
        tuple((100 * (step + 1), value) for step, value in enumerate(each)) for each in (errors, loss)
    )
    return TrainingCurve(f"mnist-{routing}", "mnist", routing, validation, margin, command)


def test_who_converges_first_is_counted_at_levels_that_all_reached():
    curves = [
        curve("dr", [9.0, 6.0, 3.0, 0.9], [0.3, 0.2, 0.1, 0.05]),
        curve("l2", [9.0, 4.0, 2.4, 2.1], [0.3, 0.2, 0.2, 0.1]),
    ]
    found = convergence.crossings(curves)
    assert {(each.measure, each.level): each.steps for each in found} == {
        ("validation error", 5): {"dr": 300, "l2": 200},
        ("validation error", 2.5): {"dr": 400, "l2": 300},
        ("margin loss", 0.2): {"dr": 200, "l2": 200},
        ("margin loss", 0.1): {"dr": 300, "l2": 400},
    }
    everywhere, on_mnist = convergence.sentences(found)
    assert everywhere.startswith("In 2 of 4 comparisons L2 or L1 reached the level before DR, in 1 at the same reading")
    assert on_mnist == "MNIST: before DR 2, at the same reading 1, after it 1."


def test_other_trainings_of_ones_own_leave_those_that_compare_to_it(folder, tmp_path, monkeypatch):
    command = "capsviz train --data digits --routing {} --preset tiny"
    pair = [curve(name, [9.0, 4.0], [], command.format(name)) for name in ("dr", "l2")]
    others = [curve("l2", [9.0, 8.0], [], command.format("l2") + " --lr 0.01") for _ in range(3)]
    assert convergence._alike([*others, *pair], "mnist") == pair
    again = curve("l2", [9.0, 9.0], [], command.format("l2"))
    bare = curve("l2", [9.0, 9.0], [], command.format("l2") + " --no-decoder")
    assert convergence.crossings([bare, *pair, again]) == convergence.crossings(pair) != []
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
    report = reports.report("convergence")
    assert report.markdown == "" and report.conditions == (
        "No trainings of DR and of L2 or L1 that differ in nothing else are here yet"
    )


def test_cost_is_seconds_per_hundred_and_says_when_the_papers_saving_is_missed(folder):
    speeds = {
        "dr step": 100.0,
        "l2 step": 110.0,
        "l1 step": 200.0,
        "dr routing": 1e3,
        "l2 routing": 1e4,
        "l1 routing": 1e4,
    }
    result = {"images_per_second": speeds, "batch": 50, "threads": 2, "machine": "x", "preset": "paper"}
    results.write("speed-paper", result)
    with pytest.raises(results.ResultError, match=r"speed-paper\.json: device is missing"):
        cost.costs()
    results.write("speed-paper", result | {"device": "CPU"})
    results.write("speed-residual-mps", result | {"preset": "residual", "device": "Apple X"})
    assert cost.costs()[1].device == "Apple X"
    (results.folder() / "speed-residual-mps.json").unlink()
    results.write("speed-residual-cuda", result | {"preset": "residual", "device": "NVIDIA X"})
    found, on_gpu = cost.costs()
    assert (on_gpu.device, on_gpu.preset) == ("NVIDIA X", "residual")
    assert cost.markdown([on_gpu]).splitlines()[2].startswith("| residual | NVIDIA X | training steps | 50.00 |")
    assert found.step == {"dr": 50.0, "l2": pytest.approx(45.45, abs=0.01), "l1": 25.0}
    assert found.saved("l1") == 0.5
    assert "than DR (CPU, 2 threads, x: met by one of the two); the paper" in cost.sentences([found])[0]
    assert cost.sentences([found])[0].startswith("A whole step of the papers' network costs L2 9 % and L1 50 % less")
    assert cost.sentences([on_gpu])[0].startswith("A whole step of our encoder costs")
    assert cost.sentences([found])[-1].startswith("No GPU was at hand")
    both = cost.sentences([found, replace(found, device="NVIDIA X")])
    assert (
        "than DR (CPU, 2 threads, x: met by one of the two), L2 9 % and L1 50 % less than DR (NVIDIA X: met" in both[0]
    )
    assert [line.partition(" costs")[0] for line in both[1:]] == ["The routing alone"] * 2


def test_who_takes_longer_than_dynamic_routing_is_said_to_cost_more():
    step, routing = {"dr": 1.0, "l2": 1.05, "l1": 0.7}, {"dr": 1.0, "l2": 1.5, "l1": 0.5}
    first, second, _ = cost.sentences([cost.Cost("CPU, 2 threads, x", "paper", 128, step, routing)])
    assert first.startswith("A whole step of the papers' network costs L2 5 % more and L1 30 % less than DR (CPU")
    assert second.startswith("The routing alone costs L2 1.5 times more and L1 2.0 times less (paper, CPU")


def test_figure_4_is_measured_of_both_encoders_where_no_result_of_the_device_is_there(folder, monkeypatch):
    speeds = {f"{name} {what}": 10.0 for name in cost.COMPARED for what in ("step", "routing")}
    asked = []

    def measure(preset, threads):
        asked.append(preset)
        return {"images_per_second": speeds, "batch": 50, "threads": 2, "machine": "x", "device": "X", "preset": preset}

    monkeypatch.setattr(speed, "measure", measure)
    monkeypatch.setattr(device, "chosen", lambda: torch.device("cuda"))
    results.write("speed-paper", measure("paper", 1))
    first, again = (CliRunner().invoke(app, ["experiment", "cost", "--threads", "1"]) for _ in range(2))
    assert first.exit_code == 0 and "--again" not in first.stderr
    assert asked == ["paper", "paper", "residual"], "the second time nothing is measured, and that is said"
    assert again.stderr.startswith("speed-paper-cuda.json was measured before and is shown as it is; --again measures")
    assert results.read("speed-paper-cuda") and results.read("speed-residual-cuda")
    assert [each.device for each in cost.costs()] == ["CPU, 2 threads, x", "X", "X"]


def test_a_model_that_left_the_zoo_leaves_multi_mnist(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
    row = {"model": "old", "routing": "dr", "preset": "paper", "sha256": "0" * 64, "error": 9.9, "count": 9, "steps": 9}
    with results.changing(multi.NAME) as result:
        results.put(result, [row], "model")
    assert multi.run()["rows"] == known(results.read(multi.NAME))["rows"] == []


def test_a_loss_is_read_over_so_many_steps_that_one_batch_does_not_pass_a_level():
    loss = ((50, 0.5), (97, 0.02), (100, 0.009), (150, 0.02), (194, 0.001))
    steps, means = zip(*convergence.pooled(loss, (97, 194)), strict=True)
    assert steps == (50, 100, 150) and means == pytest.approx((0.5, (47 * 0.02 + 3 * 0.009) / 50, 0.02))
    steps, means = zip(*convergence.pooled((loss[0], loss[2], loss[3]), (97, 194)), strict=True)
    assert steps == (50, 150), "abridged, three steps are no more than they were"
    assert means == pytest.approx((0.5, (3 * 0.009 + 50 * 0.02) / 53))


def test_multi_mnist_says_no_steps_of_a_model_whose_steps_nobody_counted():
    row = {"model": "mine", "routing": "dr", "preset": "paper", "error": 9.9, "count": 9000, "steps": 0}
    assert "| 9.90 | 9000 | – | paper |" in multi.markdown([row])
    assert multi.sentences([row])[0].startswith("DR errs least, 9.90 % of 9,000 images; the paper has")


def test_multi_mnist_without_a_measurement_says_so(folder):
    assert multi.rows(None) == [], "an empty folder of results holds no training"
    first, second = reports.report("multi-mnist").sentences
    assert first == "Not measured here yet: `capsviz experiment multi-mnist --runs runs` does it."
    assert second.startswith("The paper has 7.54 % for its own routing (L2 or L1)")


@pytest.mark.parametrize("name", reports.NAMES)
def test_every_experiment_reports_even_where_nothing_was_measured(name, folder):
    report = reports.report(name)
    assert report.command.startswith(f"capsviz experiment {name}")
    assert report.title and report.question.endswith("?") and report.source
    unmeasured = f"Not measured here yet: `{report.command}` does it."
    assert (report.measured is None) == (report.sentences[:1] == (unmeasured,))


def test_what_stands_is_shown_without_measuring_anything(folder):
    shown = CliRunner().invoke(app, ["experiment", "show"]).output
    assert all(f"## {reports.report(name).title}" in shown for name in reports.NAMES)
    assert "| MNIST | DR | 0.34 |" in shown and "No training of this experiment was measured yet." in shown
    assert not folder.exists()
    one = CliRunner().invoke(app, ["experiment", "table"]).output
    assert "| MNIST | DR | 0.34 |" in one and "## " not in one


def test_an_unknown_experiment_is_named():
    with pytest.raises(results.ResultError, match="choose one of table, same-images, convergence"):
        reports.report("magic")


def test_what_was_trained_and_does_not_ship_stands_in_table_ii_and_says_so(folder):
    command = "capsviz train --data fashion-mnist --routing l2 --preset compact --epochs 14 --mirror"
    given = Spread(
        "fashion-mnist-l2", "fashion-mnist", "l2", "compact", True, 1, 9.4, None, (0,), (9.4,), 100, 7, command
    )
    lines = in_table(given)
    assert lines["fashion-mnist", "L2"].ours.mean == 9.4
    assert lines["fashion-mnist", "L2"].steps == 7
    assert (
        lines["fashion-mnist", "L2"].differs == "a quarter of the convolution, mirrored at random, weights not shipped"
    )
    assert lines["cifar10", "L2/FC"].ours is None
    assert "weights not shipped" not in lines["mnist", "L2"].differs


def test_batches_blanked_squares_and_gradients_through_all_iterations_stand_beside_an_error(folder):
    command = "capsviz train --data cifar10 --routing dr --preset compact --steps 7 --batch 64 --cutout 8 --through all"
    given = Spread("cifar10-dr", "cifar10", "dr", "compact", False, 1, 40.0, None, (0,), (40.0,), 100, 7, command)
    lines = in_table(given)
    differs = lines["cifar10", "DR"].differs
    assert "batches of 64, a square of 8 pixels blanked at random, gradients through all iterations, " in differs
    assert "learning rate" not in differs
    assert "gradients" not in lines["mnist", "DR"].differs and "batches" not in lines["mnist", "DR"].differs
    lines = in_table(replace(given, preset="paper", command=command.replace("compact", "paper")))
    assert lines["cifar10", "DR"].differs.startswith("batches of 64, ")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("--data mnist --routing l2 --preset paper --no-decoder", "batches of 128"),
        ("--data mnist --routing l2 --preset paper --no-decoder --batch 32", ""),
        ("--data mnist --routing l2 --preset paper --batch 32", "batches of 32"),
        ("--data mnist --routing dr --preset paper --lr 0.002", "learning rate 0.002"),
        (
            "--data mnist --routing dr --preset paper --lr 0.002 --schedule one-cycle --weight-decay 0.01",
            "one cycle of the learning rate, up to 0.002, weight decay 0.01",
        ),
        ("--data mnist --routing em --preset residual --batch 64", "gradients through the last iteration alone"),
        ("--data mnist --routing em --preset residual --through all", ""),
        ("--data mnist --routing dr --preset paper --iterations 1", "T = 1"),
        ("--data mnist --routing dr --preset paper --iterations 3", ""),
        ("--data mnist --routing l2 --preset paper --iterations 1", ""),
        ("--data mnist --routing em --preset matrix-paper", "matrix-paper"),
        ("--data cifar10 --routing l1 --preset residual", "a decoder"),
        ("--data cifar10 --routing l1 --preset residual --no-decoder", ""),
        ("--data cifar10 --routing l1 --preset paper", ""),
        ("--data mnist --routing cnn --preset compact --batch 64 --mirror", "mirrored at random"),
        (
            "--data mnist --routing l1 --preset paper --shift 5 --gamma 0.05 --regularisation 0.03 --proximal",
            "shifts of up to 5 pixels, γ 0.05, λ 0.03, proximal steps",
        ),
    ],
)
def test_what_a_command_has_otherwise_than_the_paper(command: str, said: str):
    words = dict(zip(command.split(), command.split()[1:], strict=False))
    routing = words["--routing"]
    entry = zoo.models()["mnist-cnn" if routing == "cnn" else f"mnist-{routing}-residual"]
    entry = replace(entry, command=f"capsviz train {command}", note="", preset=words["--preset"])
    assert table2.differences(entry) == said


def test_a_model_that_public_code_trained_has_its_row():
    command = "capsviz zoo adopt theirs.pth --layout laubonghaudoi --data mnist --iterations 3"
    entry = replace(zoo.models()["mnist-dr-residual"], command=command, note="", preset="laubonghaudoi")
    assert table2.differences(entry) == "laubonghaudoi"


def test_each_of_the_papers_figures_counts_once_by_the_network_of_the_block():
    [paper] = [line for line in table2.lines() if (line.data, line.method, line.preset) == ("mnist", "DR", "paper")]
    quick = replace(paper, preset="compact", ours=SeedMean(2.0, 2.0, 2.0, 1))
    alone = table2.sentences([paper])
    assert "of 1 figures" in alone[0]
    assert table2.sentences([quick, paper]) == table2.sentences([paper, quick]) == alone
    assert "+1.66 points" in "".join(table2.sentences([quick])), "where there is none else"


def test_a_network_without_capsules_stands_in_a_block_of_its_own(folder):
    lines = table2.lines()
    assert {line.method for line in lines if line.block == table2.BASELINE} == {"CNN"}
    assert "CNN" not in {line.method for line in lines if line.block != table2.BASELINE}
    assert not any(sentence.startswith(table2.BASELINE) for sentence in table2.sentences(lines))


def test_early_on_methods_are_held_against_dynamic_routing_epoch_by_epoch():
    errors = {"dr": [10.0, 8.0, 5.0, 4.0], "l1": [8.0, 7.0, 6.0, 5.0], "l2": [11.0, 8.0]}
    found = convergence.early([curve(name, values, []) for name, values in errors.items()])
    assert found == {"mnist": {"l1": pytest.approx(-1.5), "l2": pytest.approx(1.0)}}
    said = convergence.early_sentence(found)
    assert said.endswith("first half of the epochs: MNIST L2 1.00 above, L1 1.50 below. One training each.")


def test_where_networks_ran_is_said_unless_it_was_the_cpu(folder, monkeypatch):
    monkeypatch.setattr(results, "title", lambda place: f"NVIDIA {place.index}")
    row = {"model": "a", "routing": "dr", "preset": "tiny", "sha256": "0" * 64, "error": 1.0, "count": 2, "steps": 3}
    for place, said in ((torch.device("cuda", 1), "; NVIDIA 1, "), (device.CPU, "; CPU, ")):
        with results.changing(multi.NAME) as result:
            results.put(result, [row], "model", place=place)
        assert said in reports.report("multi-mnist").conditions


def test_errors_on_re_encoded_images_say_so_where_they_stand(folder):
    command = "capsviz train --data cifar10 --routing dr --preset compact --epochs 4 --mirror"
    given = Spread("cifar10-dr", "cifar10", "dr", "compact", False, 1, 40.0, None, (0,), (40.0,), 100, 7, command)
    for note, words in ((JPEG_NOTE, 1), ("", 0)):
        line = in_table(replace(given, note=note))["cifar10", "DR"]
        assert line.differs.count("images re-encoded as JPEG") == words
