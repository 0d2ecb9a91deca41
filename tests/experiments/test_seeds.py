"""Mean and spread over seeds."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from capsviz import zoo
from capsviz.experiments.convergence import curves, data_sets
from capsviz.experiments.results import ResultError
from capsviz.experiments.seeds import SpreadError, collect, keep_curves, keep_record, record, record_of, recorded
from capsviz.files import CheckpointError
from capsviz.network import preset
from capsviz.training.config import TrainingConfig
from capsviz.training.recipes import Recipe, choose

RECIPE = Recipe("digits-l2", TrainingConfig("digits", "l2", "tiny", steps=6))


def finished(folder, seed: int, error: float, config: TrainingConfig = RECIPE.config, **changes) -> None:
    """What a finished run leaves of its result."""
    folder.mkdir(parents=True)
    training = replace(config, seed=seed, **changes)
    summary = {
        "name": training.name,
        "config": preset(training.preset, training.data, training.routing).to_dict(),
        "training": training.to_dict(),
        "command": training.command(),
        "test_error": error,
        "test_count": 360,
        "validation_error": None,
        "seconds": 1.0,
        "steps": 6,
    }
    (folder / "summary.json").write_text(json.dumps(summary))


@pytest.fixture
def runs(tmp_path):
    finished(tmp_path / "digits-l2", 0, 1.0)
    finished(tmp_path / "digits-l2-seed1", 1, 2.0)
    finished(tmp_path / "digits-l2-seed2", 2, 4.5)
    (tmp_path / "digits-l2-seed3").mkdir()  # under way
    return tmp_path


def test_mean_and_deviation_are_those_worked_out_by_hand(runs):
    [spread] = collect([RECIPE], runs)
    assert (spread.n, spread.seeds, spread.errors) == (3, (0, 1, 2), (1.0, 2.0, 4.5))
    assert spread.mean == pytest.approx(2.5)
    assert spread.deviation == pytest.approx(((1.5**2 + 0.5**2 + 2**2) / 2) ** 0.5)
    assert str(spread) == "2.50 ± 1.80 % (3 seeds)"
    assert spread.command == RECIPE.config.command()


def test_a_single_run_has_no_spread(tmp_path):
    finished(tmp_path / "digits-l2", 0, 1.0)
    [spread] = collect([RECIPE], tmp_path)
    assert spread.deviation is None and str(spread) == "1.00 % (1 seed)"


def test_a_run_with_other_settings_is_not_averaged_in(runs):
    finished(runs / "digits-l2-seed4", 4, 9.0, shift=2)
    with pytest.raises(CheckpointError, match="seed4 was started with shift 2 and not 0; give another --out"):
        collect([RECIPE], runs)


def test_the_seed_that_ships_counts_where_its_run_is_gone(tmp_path):
    entry = zoo.entry("digits-l2")
    recipe = next(each for each in choose(["digits-l2"]) if each.config.seed == 0)
    assert recipe.config.command() == entry.command
    finished(tmp_path / "digits-l2-seed1", 1, 2.0, recipe.config)
    [spread] = collect([recipe], tmp_path)
    assert (spread.seeds, spread.errors) == ((0, 1), (entry.test_error, 2.0))
    finished(tmp_path / "digits-l2", 0, 3.0, recipe.config)
    assert collect([recipe], tmp_path)[0].errors == (3.0, 2.0)


def test_runs_of_another_model_are_not_taken_for_seeds(runs):
    finished(runs / "digits-l2-seedling", 7, 50.0)
    assert collect([RECIPE], runs)[0].n == 3


def test_a_result_file_keeps_the_lines_of_other_models(runs, folder):
    assert recorded() == {}
    [spread] = collect([RECIPE], runs)
    other = replace(spread, name="digits-dr", mean=0.5)
    assert record([spread, other]) == folder / "seeds.json"
    record([replace(spread, mean=9.0)])
    assert recorded() == {"digits-dr": other, "digits-l2": replace(spread, mean=9.0)}


def test_seeds_whose_runs_are_gone_stay_as_recorded_if_the_same_command_trained_them(runs, folder):
    record(collect([RECIPE], runs))
    (runs / "digits-l2").rename(runs / "elsewhere")
    finished(runs / "digits-l2-seed5", 5, 8.5)
    [spread] = collect([RECIPE], runs)
    assert (spread.seeds, spread.errors) == ((0, 1, 2, 5), (1.0, 2.0, 4.5, 8.5))
    assert (spread.n, spread.mean) == (4, 4.0)
    record([replace(spread, command=f"{spread.command} --mirror")])
    assert collect([RECIPE], runs)[0].seeds == (1, 2, 5)


def test_curves_that_are_kept_outlast_their_run(runs, folder):
    spread = replace(collect([RECIPE], runs)[0], name="digits-l2-other")
    (folder / "curves").mkdir(parents=True)
    (folder / "curves" / "digits-l2-other.jsonl").write_text("kept")
    assert keep_curves([spread], runs) == []
    assert (folder / "curves" / "digits-l2-other.jsonl").read_text() == "kept"


def test_the_curves_of_what_does_not_ship_are_kept_and_drawn(runs, folder):
    command = zoo.entry("digits-l2").command
    spread = replace(collect([RECIPE], runs)[0], command=command)
    other = replace(spread, name="digits-l2-other", n=2, seeds=(1, 2), errors=(2.0, 4.5))
    lines = [
        {"kind": "train", "step": 50, "margin": 0.25},
        {"kind": "epoch", "step": 90, "margin": 0.2, "validation_error": 7.5},
    ]
    (runs / "digits-l2-other-seed1").mkdir()
    metrics = "".join(json.dumps(line) + "\n" for line in lines)
    (runs / "digits-l2-other-seed1" / "metrics.jsonl").write_text(metrics)
    assert keep_curves([spread, other], runs) == [folder / "curves" / "digits-l2-other.jsonl"]
    record([spread, other])
    [drawn] = [curve for curve in curves() if curve.model == "digits-l2-other"]
    assert (drawn.validation, drawn.loss) == (((90, 7.5),), ((50, 0.25),))
    record([spread, replace(other, command=f"{command} --mirror")])
    assert not [curve for curve in curves() if curve.model == "digits-l2-other"], "trained otherwise, it compares not"


def test_of_each_method_the_curves_compare_that_have_a_decoder_as_dynamic_routing_has():
    for data in data_sets(curves()):
        mine = [curve for curve in curves() if curve.data == data]
        assert len({"--no-decoder" in curve.command for curve in mine}) == 1
        assert len({curve.routing for curve in mine}) == len(mine)


def test_every_seed_that_trains_can_be_recorded():
    entry = zoo.entry("digits-dr")
    large = 2**63 - 1
    keep_record(*record_of(replace(entry, command=f"{entry.command} --seed {large}")))
    assert recorded()["digits-dr"].seeds == (large,)


def test_a_model_that_leaves_is_kept_under_the_seed_of_its_training():
    entry = zoo.entry("digits-l2")
    for name, more, seed in (("one", "", 0), ("other", " --seed 7", 7)):
        keep_record(*record_of(replace(entry, name=name, command=entry.command + more, curves="")))
        assert (recorded()[name].seeds, recorded()[name].errors) == ((seed,), (entry.test_error,))


def test_no_runs_and_a_damaged_result_get_one_sentence_each(tmp_path, folder):
    with pytest.raises(SpreadError, match="zoo train --seeds 3"):
        collect([RECIPE], tmp_path)
    folder.mkdir()
    (folder / "seeds.json").write_text('{"rows": [{}]}')
    with pytest.raises(ResultError, match=r"^seeds\.json: rows\[0\]\.name is missing; restore it with git"):
        recorded()
