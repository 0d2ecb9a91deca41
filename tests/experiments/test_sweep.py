"""Sweeps train what is missing, keep what is asked for, and go on where they were cut off."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from capsviz import zoo
from capsviz.experiments import ascent, iterations, results, sparsity
from capsviz.experiments.seed_means import SeedMean, seed_count, seed_means
from capsviz.experiments.sweep import conditions, digits, sweep
from tests.known import known


def short(**settings):
    """Two steps, with a λ that a single soft threshold feels."""
    return digits("l1", steps=2, regularisation=50.0, **settings)


@pytest.mark.long
def test_a_sweep_goes_on_where_it_was_cut_off_and_trains_nothing_twice(folder, tmp_path):
    said: list[str] = []
    configs = [short(proximal=True), short()]
    cut_off = sweep("mine", configs, runs=tmp_path, time_limit=0.001, say=said.append)
    assert not cut_off["rows"] and results.read("mine") is None
    assert said[0].startswith("1 of 2") and said[1].startswith("Stopped (time limit)")
    first = sweep("mine", configs[:1], runs=tmp_path)
    both = sweep("mine", configs, runs=tmp_path, say=said.append)
    assert said[2].startswith("1 of 1"), "what stands is not trained again"
    assert both["rows"][0] == first["rows"][0] and both["complete"]
    assert json.loads((folder / "mine.json").read_text()) == both
    soft, sub = both["rows"]
    assert (sub["command"], sub["steps"]) == (configs[1].command(), 2)
    assert (sub["train"]["count"], sub["test"]["count"], sub["validation"][-1][0]) == (1317, 360, 2)
    assert soft["coefficients"]["exact_zero_share"] > 0.9
    assert sub["coefficients"]["exact_zero_share"] == 0, "a subgradient never lands on zero"
    assert not list((tmp_path / "mine").iterdir()), "the runs' folders go when their row stands"


@pytest.mark.long
def test_a_row_that_another_sweep_adds_meanwhile_stays(folder, tmp_path):
    def meanwhile(_: str) -> None:
        with results.changing("mine") as result:
            results.put(result, [{"command": "another"}], "command")

    found = sweep("mine", [short()], runs=tmp_path, say=meanwhile)["rows"]
    assert [row["command"] for row in found] == ["another", short().command()]


@pytest.mark.parametrize(("experiment", "settings"), [(iterations, 5), (sparsity, 9), (ascent, 6)])
def test_a_sweep_has_every_setting_once_for_each_seed(experiment, settings):
    configs = experiment.configs(2)
    assert len({config.command() for config in configs}) == len(configs) == 2 * settings
    assert [config.seed for config in configs] == [0] * settings + [1] * settings


def made(setting: dict, error: float, seed: int = 0) -> dict:
    """A row as a sweep writes it, with an error and zeros of its own."""
    coefficients = {"exact_zero_share": error / 100, "near_zero_share": 0.5, "deviation": 0.1, "negative_share": 0.25}
    part = {"error": error, "loss": error / 10, "count": 360}
    training = digits("l2", seed=seed).to_dict() | setting
    return {"training": training, "train": part, "test": part, "steps": 3, "coefficients": coefficients}


def test_averages_join_what_differs_in_its_seed_alone():
    rows = [made({"ascent_step": 0.005, "coefficient_start": 0.1}, error) for error in (1.0, 3.0)]
    rows.append(made({"ascent_step": 0.05, "coefficient_start": 0.1}, 7.0))
    found = ascent.by_step({"rows": rows}, "error")
    assert found == {0.005: SeedMean(2.0, 1.0, 3.0, 2), 0.05: SeedMean(7.0, 7.0, 7.0, 1)}
    assert found[0.005].written() == "2.00 (1.00\u00a0to\u00a03.00)" and seed_count(found) == "1 to 2 seeds"
    assert not any("By the start" in said for said in ascent.sentences({"rows": rows[2:]})), "none of them is done"
    text = ascent.markdown({"rows": rows}).replace("\u00a0", " ")
    assert "| 0.005 | 0.1 | 0.2000 (0.1000 to 0.3000) | 2.00 (1.00 to 3.00) |" in text
    assert seed_means([], lambda row: 0, lambda row: 0.0) == {}


def test_what_ships_is_counted_and_told_of_l1_beside_l2(folder):
    said = sparsity.of_shipped(sparsity.measure_shipped())
    rows = {row["model"]: row for row in known(results.read(sparsity.SHIPPED))["rows"]}
    assert rows.keys() == {e.name for e in zoo.models().values() if e.routing in ("l1", "l2") and e.has_decoder}
    b = zoo.load("mnist-l1-residual").get_buffer("coefficients").abs()
    assert rows["mnist-l1-residual"]["near"] == pytest.approx(float((b < b.max() / 1000).float().mean()))
    l2, l1 = (100 * rows[f"mnist-{name}-residual"]["near"] for name in ("l2", "l1"))
    assert len(said) == 1 and f"MNIST {l2:.1f} % and {l1:.1f} %" in said[0]
    assert sparsity.of_shipped(None) == []


def test_the_sentence_on_sparsity_is_what_was_counted():
    rows = [
        made({"regularisation": 0.0, "proximal": False}, 0.0),
        made({"regularisation": 0.1, "proximal": False}, 2.0),
        made({"regularisation": 0.1, "proximal": True}, 40.0),
    ]
    first, last = sparsity.sentences({"rows": rows})
    assert "subgradient leaves 0.00 % of b at exactly zero and the soft threshold 0.0 % (" in first
    assert "40" not in first, "zeros of a network that errs are no headline"
    assert "At λ = 0.1 the soft threshold zeroes 40.0 %, and the network errs on 40.00 %, 40.0 points more than" in last
    rows.append(made({"regularisation": 0.01, "proximal": True}, 0.5))
    assert "the soft threshold 0.5 %, at λ = 0.01 with 0.50 % error" in sparsity.sentences({"rows": rows})[0]
    assert sparsity.working({"rows": rows}, True) == [0.0, 0.01]
    assert len(sparsity.sentences({"rows": rows[:1] + rows[3:]})) == 1


def test_of_a_sweep_that_was_cut_off_the_step_that_was_measured_is_told():
    rows = [made({"regularisation": strength, "proximal": False}, 0.0) for strength in (0.0, 0.001)]
    assert sparsity.sentences({"rows": rows[:1]}) == ["Only λ = 0 was measured so far."]
    [said] = sparsity.sentences({"rows": rows})
    assert said.endswith("the paper's subgradient leaves 0.00 % of b at exactly zero (1 seed, digits).")


def test_models_that_learned_b_are_told_beside_those_trained_alike(monkeypatch):
    def owned(name: str, routing: str, more: str = "") -> zoo.Entry:
        entry = zoo.entry(f"digits-{routing}")
        return replace(entry, name=name, command=entry.command + more)

    own = [
        owned("l2", "l2"), owned("l1", "l1"), owned("l1-soft", "l1", " --proximal"),
        owned("l2-seed1", "l2", " --seed 1"), owned("l1-seed1", "l1", " --seed 1"),
    ]  # fmt: skip
    monkeypatch.setattr(zoo, "models", lambda: {entry.name: entry for entry in own})
    rows = [
        {"model": entry.name, "data": "digits", "routing": entry.routing, "exact": share, "near": share}
        for entry, share in zip(own, (0.0, 0.01, 0.9, 0.02, 0.03), strict=True)
    ]
    [said] = sparsity.of_shipped({"rows": rows[:3]})
    assert "L1 leaves at most 1.00 %" in said and said.endswith("of L2 and L1: Digits 0.0 % and 1.0 %.")
    [said] = sparsity.of_shipped({"rows": rows})
    assert said.endswith("of L2 and L1: Digits (l1) 0.0 % and 1.0 %, Digits (l1-seed1) 2.0 % and 3.0 %.")


def test_a_model_of_more_iterations_than_are_asked_is_said_without_its_own():
    asked = [
        {"model": "m", "iterations": rounds, "error": 0.5 * rounds, "count": 10, "trained_with": 12}
        for rounds in range(1, 11)
    ]
    [said] = iterations.sentences({"rows": []}, {"rows": asked})
    assert said == "m, trained with T = 12, errs asked with T = 1 on 0.50 % of 10 test images, with T = 10 on 5.00 %."


def test_the_sentence_on_iterations_names_the_t_with_the_lowest_loss():
    rows = [made({"iterations": T}, error) for T, error in ((1, 3.0), (2, 1.0), (3, 2.0))]
    shipped = [
        {"model": "m", "iterations": T, "error": abs(T - 4), "count": 10, "trained_with": 3} for T in range(1, 11)
    ]
    said = iterations.sentences({"rows": rows}, {"rows": shipped})
    assert "lowest with T = 2 (0.1000)" in said[0]
    assert said[-1] == (
        "m, trained with T = 3, errs on 1.00 % of 10 test images, asked with T = 1 on 3.00 %, with T = 10 on 6.00 %."
    )


def test_conditions_count_the_seeds_and_say_when_a_sweep_is_unfinished():
    rows = [made({"ascent_step": 0.005}, 1.0, seed) for seed in (0, 1)]
    said = conditions({"rows": rows, "machine": "x", "complete": False})
    assert "seeds: 2, the sweep is not finished" in said and "3 steps of 32 images" in said
    assert "not finished" not in conditions({"rows": rows, "machine": "x", "complete": True})
