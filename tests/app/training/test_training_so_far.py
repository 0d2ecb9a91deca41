"""The slider over the steps of a training: every page shows the networks as they were, and says so."""

from __future__ import annotations

from dataclasses import fields

import pytest
import streamlit as st

from app.boards import second_board
from app.page import layout
from app.scene import Scene
from app.shared import resources
from app.sources import images
from app.state.choices import Choices
from capsviz import zoo
from capsviz.zoo import AtStep
from tests.app.conftest import Visit
from tests.app.reading import charts

STEP = "digits-dr@40"
ORDER = ("dr", "em", "attention", "l2", "l1")
JOINER = "\u2060"
"""Stands after an @ on screen, so that no browser takes a name for an address."""


def slider(app):
    """The one in the sidebar; None where a model has no steps."""
    return next((each for each in app.select_slider if each.label == "Training so far"), None)


def said(app) -> str:
    """All captions of a page in one text."""
    return "\n".join(each.value for each in app.caption).replace(JOINER, "")


def test_the_slider_leads_from_random_numbers_to_the_trained_network_and_back(visit: Visit):
    app = visit("dynamic", model="digits-dr", image=3)
    assert slider(app).value == "digits-dr" and "of its training" not in said(app)
    assert list(slider(app).options) == [*(f"step {step}" for step in (0, 20, 30, 40, 60, 100, 200)), "trained"]
    trained = charts(app)["strip"]
    slider(app).set_value(STEP).run()
    assert not app.exception and app.query_params["model"] == STEP and app.query_params["image"] == "3"
    error = zoo.entry(STEP).test_error
    assert f"After **40** of 1,230 steps of its training, digits-dr reads {error:.1f} % of the test images" in said(app)
    assert charts(app)["strip"] != trained
    assert slider(app).value == STEP
    slider(app).set_value("digits-dr").run()
    assert app.query_params["model"] == "digits-dr" and "of its training" not in said(app)
    assert charts(app)["strip"] == trained


def test_the_other_algorithms_are_offered_as_they_were_at_that_step(visit: Visit):
    app = visit("perturb", model=STEP)
    radio = next(each for each in app.radio if each.label == "Algorithm, and its test error")
    kinds = [option for option in radio.options if "no decoder" not in option and "matrix" not in option]
    assert len(kinds) == 5 and all(", step 40 · " in option for option in kinds)
    assert sum(", step" in option for option in radio.options) == 5  # of the others no steps are kept
    radio.set_value("digits-em@40").run()
    assert not app.exception and app.query_params["model"] == "digits-em@40"
    assert slider(app).value == "digits-em@40" and "digits-em reads" in said(app)


@pytest.mark.parametrize(("page", "runs"), [("discriminative", "digits-l2@40"), ("em", "digits-em@40")])
def test_the_page_of_another_algorithm_runs_its_model_at_the_same_step(visit: Visit, page, runs):
    app = visit(page, model=STEP)
    assert f"here **{runs}** runs on the same image" in said(app)
    assert slider(app).value == runs


def test_compare_and_viewpoint_take_every_method_at_that_step(visit: Visit):
    app = visit("compare", model=STEP)
    assert list(app.dataframe[0].value["Model"]) == [f"digits-{name}@40" for name in ORDER]
    app = visit("compare", model=STEP, view="confusions")
    assert "measured with the trained networks" in said(app) and not app.error
    assert not visit("viewpoint", model=STEP).error


@pytest.mark.parametrize("page", ["dynamic", "perturb", "basics", "viewpoint", "discriminative", "em"])
@pytest.mark.parametrize("name", ["digits-l1@0", "digits-attention@20"])
def test_every_page_shows_a_network_that_has_hardly_begun(visit: Visit, page, name):
    app = visit(page, model=name)
    assert not app.error and f"After **{name.partition('@')[2]}** of" in said(app)


def test_results_and_models_without_steps_say_nothing_of_them(visit: Visit):
    assert "After **" not in said(visit("results", model=STEP))
    assert slider(visit("dynamic", model="mnist-dr-paper")) is None


def test_the_trained_network_can_be_put_beside_an_early_one(bare_machine):
    early = resources.entries()[STEP]
    offered = second_board.options(early)
    assert offered["digits-dr"] == "● digits-dr" and offered["digits-dr@0"] == "● digits-dr after 0 steps of training"
    assert STEP not in offered and offered["digits-em@40"].endswith("its own votes · digits-em@40")


def test_an_unknown_step_is_one_sentence_and_the_model_to_begin_with(visit: Visit):
    app = visit("dynamic", model="digits-dr@41")
    assert [each.value.replace(JOINER, "") for each in app.warning] == [
        "“digits-dr@41” is not kept here; showing digits-dr, the trained network, instead."
    ]
    assert slider(app).value == "digits-dr" and "of its training" not in said(app)


def test_what_goes_with_a_step_are_the_models_at_that_step_and_trained_ones_where_none_is_kept(bare_machine):
    names = list(resources.peers(resources.entries()[STEP]))
    assert {f"digits-{each}@40" for each in ORDER} < {*names} and "digits-matrix" in names and "mnist-dr-paper" in names
    assert not {f"digits-{each}" for each in ORDER} & {*names} and len(names) == len({*names})


def test_another_step_keeps_what_was_followed_in_the_network(visit: Visit):
    app = visit("dynamic", model=STEP, capsule=5, touch="mute:3", frame=3, image=7)
    slider(app).set_value("digits-dr@60").run()
    kept = {name: app.query_params[name] for name in ("model", "capsule", "touch", "frame", "image")}
    assert kept == {"model": "digits-dr@60", "capsule": "5", "touch": "mute:3", "frame": "3", "image": "7"}


def test_basics_speaks_of_the_network_that_it_runs(visit: Visit):
    app = visit("basics", model="digits-em@40")
    assert "here **digits-dr@40** runs" in said(app) and "digits-dr reads" in said(app)
    assert "digits-em reads" not in said(app)


@pytest.mark.parametrize("page", ["perturb", "viewpoint"])
def test_where_the_chosen_network_draws_nothing_the_one_that_does_is_spoken_of(bare_machine, monkeypatch, page: str):
    known, trained = resources.entries(), zoo.entry("digits-l2-fc")
    said = {each.name: getattr(trained, each.name) for each in fields(trained)} | {"name": "digits-l2-fc@60"}
    early = AtStep(**said | {"checkpoints": known["digits-l2"].checkpoints}, trained=trained.name, step=60)
    monkeypatch.setattr(resources, "entries", lambda: known | {early.name: early})
    choices = Choices(early.name)
    captions: list[str] = []
    monkeypatch.setattr(st, "caption", captions.append)
    layout.so_far(Scene(choices, early, images.resolve(choices, early)[0], (), False), page)
    assert len(captions) == 1 and "After **60** of" in captions[0] and "digits-l2 reads" in captions[0]


def test_where_the_image_beside_is_not_here_another_is_named_and_shown(visit: Visit):
    app = visit("dynamic", model="digits-dr", second="image", image2=99_999)
    [told] = [each.value for each in app.caption if "is not here" in each.value]
    index = int(told.split("image ")[1].split()[0])
    assert f"Digits test image {index}," in "\n".join(each.value for each in app.markdown)
