"""The list of trainings says what the shipped models were made by, and what is still to be made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from capsviz import zoo
from capsviz.network import configure
from capsviz.training.config import SettingsError
from capsviz.training.recipes import choose, own, recipes

BY_NAME = {recipe.name: recipe for seed in range(2) for recipe in recipes(seed)}


@pytest.mark.parametrize("name", list(zoo.models()))
def test_the_recipe_of_a_shipped_model_is_the_command_that_the_manifest_records(name):
    assert BY_NAME[name].config.command() == zoo.entry(name).command


def test_a_model_without_a_recipe_and_any_model_of_another_zoo_is_ones_own(monkeypatch, tmp_path):
    models = zoo.models().values()
    assert not own([*models, *zoo.at_steps().values()])
    mine = replace(zoo.entry("digits-dr"), command=zoo.entry("digits-dr").command + " --lr 0.1")
    assert own([*models, mine])
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
    assert own(models)


@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: recipe.name)
def test_every_recipe_names_a_network_that_can_be_built(recipe):
    config = recipe.config
    configure(config.preset, config.data, config.routing, decoder=config.decoder)


def test_no_two_recipes_share_a_name_whatever_the_seed():
    names = [recipe.name for seed in range(3) for recipe in recipes(seed)]
    assert len(set(names)) == len(names)


def test_every_table_of_the_sources_has_its_models():
    five = ("dr", "l2", "l1", "l2-fc", "l1-fc")
    wanted = {f"{data}-{model}" for data in ("mnist", "fashion-mnist") for model in (*five, "em", "cnn")}
    wanted |= {f"multi-mnist-{model}" for model in ("dr", "l2", "l1")}
    wanted |= {f"cifar10-{model}" for model in ("dr", "l2-fc", "l1-fc")}
    assert wanted <= set(BY_NAME) and {f"{name}-paper" for name in wanted} <= set(BY_NAME)
    assert "mnist-matrix" in BY_NAME


def test_papers_settings_are_those_of_seed_003():
    multi = BY_NAME["multi-mnist-l2-paper"].config
    assert (multi.steps, multi.schedule, multi.regularisation) == (200_000, "paper-multi-mnist", 1e-3)


def test_a_name_is_a_model_or_a_data_set():
    assert [recipe.name for recipe in choose(["mnist-l2"])] == ["mnist-l2"]
    assert {recipe.config.data for recipe in choose(["digits"])} == {"digits"}
    assert [recipe.name for recipe in choose(["digits-em", "mnist-dr-paper"])] == ["digits-em", "mnist-dr-paper"]


def test_paper_models_are_chosen_only_where_they_are_asked_for():
    assert {recipe.config.preset for recipe in choose()} == {
        "tiny",
        "matrix-tiny",
        "compact",
        "matrix-compact",
        "residual",
    }
    assert "paper" not in {recipe.config.preset for recipe in choose(["mnist"])}
    assert {recipe.name for recipe in choose(["mnist"], "paper")} >= {"mnist-dr-paper", "mnist-cnn-paper"}


def test_seeds_are_trained_one_after_the_other_and_differ_in_nothing_else():
    chosen = choose(["digits-dr", "digits-l2"], seeds=2)
    assert [recipe.name for recipe in chosen] == ["digits-dr", "digits-l2", "digits-dr-seed1", "digits-l2-seed1"]
    first, second = chosen[0].config.to_dict(), chosen[2].config.to_dict()
    assert (first.pop("seed"), second.pop("seed")) == (0, 1)
    assert first == second


@pytest.mark.parametrize("asked", [{"names": ["resnet"]}, {"names": ["digits"], "preset": "paper"}, {"preset": "huge"}])
def test_what_is_in_no_recipe_gets_one_sentence_that_says_where_to_look(asked):
    with pytest.raises(SettingsError, match="capsviz zoo train --list"):
        choose(**asked)
