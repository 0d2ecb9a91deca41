"""The discriminative page: each of its parts, its choices in the link, and what it says where it cannot show one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.shared import coefficients as learned
from app.shared import resources
from capsviz import data, zoo
from capsviz.analysis import ascent
from capsviz.boards.checks import is_one_of
from capsviz.boards.message import unpack
from capsviz.zoo.coefficient_history import CoefficientHistory
from tests.app.conftest import Visit
from tests.app.page.test_presenter import press
from tests.app.reading import spoken
from tests.known import first_digit

FIRST = data.DIGITS.start


def maps(app: AppTest) -> tuple[dict, dict[str, np.ndarray]]:
    """The maps on the page as the browser gets it: fields, and arrays by name."""
    packed = next(element.proto.bytes for element in app.get("bidi_component") if element.proto.bytes)
    message = unpack(packed)
    return dict(message.fields), dict(message.arrays)


def test_the_page_opens_with_both_agreements_of_the_very_same_votes(visit: Visit):
    app = visit("discriminative", model="digits-l2", T=4)
    fields, arrays = maps(app)
    assert [shown["symbol"] for shown in fields["maps"]] == ["δ û·s", "û·v"]
    assert fields["frames"] == [f"iteration {number} of 4" for number in range(1, 5)]
    assert "the same primary capsules and the same votes of digits-l2" in spoken(app)
    model, test = zoo.load("digits-l2"), data.load("digits", "test")
    images = first_digit()
    with torch.inference_mode():
        votes = model.votes(model.encode(images)).materialise()[0]
        upper = int(model(images).activations.argmax())
        sums = torch.einsum("ij,ijh->jh", model.coefficients, votes)
    delta = 1 if int(test.labels[FIRST]) == upper else -1
    np.testing.assert_allclose(arrays["map0"], delta * (votes[:, upper] @ sums[upper]).numpy(), atol=1e-4)
    assert app.button_group(key="penalty").options == ["L2", "L1"]
    app.button_group(key="votes").set_value("own").run()
    assert app.query_params["votes"] == "own"
    assert "Left digits-l2, right digits-dr, trained apart" in spoken(app)
    assert not np.array_equal(maps(app)[1]["map1"], arrays["map1"])


@pytest.mark.parametrize(
    ("model", "penalty"), [("mnist-l1-residual", "l1"), ("mnist-l2-fc-residual", "l2"), ("mnist-dr-paper", "l1")]
)
def test_a_model_of_its_own_has_the_same_grid_of_capsules(visit: Visit, model: str, penalty: str):
    app = visit("discriminative", model=model, penalty=penalty, votes="own")
    assert not app.error and "right mnist-dr-residual, trained apart" in spoken(app)


def test_iterations_beside_it_are_those_of_the_model_that_is_routed(visit: Visit, monkeypatch: pytest.MonkeyPatch):
    known = dict(resources.entries())
    longer = replace(known["digits-dr"], network=replace(known["digits-dr"].config, iterations=5))
    monkeypatch.setattr(resources, "entries", lambda: known | {"digits-dr": longer})
    app = visit("discriminative", model="digits-l2", votes="own")
    assert (app.slider(key="iterations").value, maps(app)[0]["frames"][-1]) == (5, "iteration 5 of 5")
    assert press(app, "T-1").query_params["T"] == "4"
    app.slider(key="iterations").set_value(3).run()
    assert app.query_params["T"] == "3" and maps(app)[0]["frames"][-1] == "iteration 3 of 3"
    assert "T" not in press(visit("discriminative", model="digits-l2", votes="own", T=4), "T+1").query_params
    app.button_group(key="votes").set_value("same").run()
    assert not app.error and maps(app)[0]["frames"][-1] == "iteration 3 of 3"


@pytest.mark.parametrize(("model", "penalty"), [("digits-dr", "l1"), ("digits-l2", "l1"), ("digits-dr", None)])
def test_a_penalty_without_a_model_gives_way_to_the_other(visit: Visit, show_only, model, penalty):
    show_only(["digits-dr", "digits-l2"] if penalty else ["digits-dr", "digits-l1"], "digits")
    app = visit("discriminative", model=model, **({"penalty": penalty} if penalty else {}))
    missing, there = ("L1", "digits-l2") if penalty else ("L2", "digits-l1")
    assert not app.error
    assert f"No {missing} model that takes these images is here; `capsviz train" in spoken(app)
    assert f"Here it is {there[-2:].upper()}." in spoken(app)
    assert there in spoken(app)


def test_the_sign_is_that_of_the_label(visit: Visit):
    label = int(data.load("digits", "test").labels[FIRST])
    other = (label + 1) % 10
    fields, _ = maps(visit("discriminative", model="digits-l2", **{"class": other}))
    assert "δ = −1" in fields["maps"][0]["title"]
    fields, _ = maps(visit("discriminative", model="digits-l2", **{"class": label}))
    assert "δ = +1" in fields["maps"][0]["title"]


def test_b_is_shown_capsule_by_capsule_with_the_chosen_one_selected(visit: Visit):
    app = visit("discriminative", model="digits-l2", part="coefficients", capsule=17, **{"class": 2})
    fields, arrays = maps(app)
    b = zoo.load("digits-l2").coefficients
    assert (fields["capsule"], fields["upper"]) == (17, 2)
    np.testing.assert_allclose(arrays["map0"], b[:, 2].numpy(), rtol=1e-6)
    negative = {metric.label: metric.value for metric in app.metric}["b below zero, class 2"]
    assert negative == f"{int((b[:, 2] < 0).sum())} of 288"


def test_exact_zeros_and_near_ones_are_counted_apart(visit: Visit):
    app = visit("discriminative", model="mnist-l1-residual", part="coefficients", **{"class": 2})
    size = zoo.load("mnist-l1-residual").coefficients[:, 2].abs()
    exact, near = (100 * float(each.float().mean()) for each in (size == 0, size < 1e-3 * size.max()))
    said = {metric.label: metric.value for metric in app.metric}
    assert near > exact
    assert [value for name, value in said.items() if "zeros" in name] == [f"{exact:.1f} %", f"{near:.1f} %"]


def test_a_capsule_that_the_model_has_not_is_not_selected(visit: Visit):
    fields, _ = maps(visit("discriminative", model="digits-l2", part="coefficients", capsule=1000))
    assert fields["capsule"] is None


def test_a_model_without_a_history_says_so_in_one_sentence(visit: Visit, monkeypatch):
    monkeypatch.setattr(learned, "history", lambda name: None)
    app = visit("discriminative", model="digits-l2", part="history")
    assert [info.value for info in app.info] == ["How b of digits-l2 came to be was not kept when it was trained."]


def test_a_history_is_played_over_the_steps_of_the_training(visit: Visit, monkeypatch):
    b = zoo.load("digits-l2").coefficients
    kept = CoefficientHistory([0, 50, 400], torch.stack([b.abs(), b / 2, b]).half())
    monkeypatch.setattr(learned, "history", lambda name: kept)
    fields, arrays = maps(visit("discriminative", model="digits-l2", part="history", **{"class": 4}))
    assert fields["frames"] == ["step 0 of 400", "step 50 of 400", "step 400 of 400"]
    np.testing.assert_array_equal(arrays["steps"], [0, 50, 400])
    np.testing.assert_array_equal(arrays["map0"].reshape(3, 288), kept.coefficients[:, :, 4].float().numpy())
    assert arrays["curve0.0"][0] == 0 < arrays["curve0.0"][2]


def test_a_history_writes_the_step_by_which_b_was_learned(visit: Visit, monkeypatch):
    entries = resources.entries()
    entry = zoo.models()["digits-l1"]
    for command, step in ((entry.command, "sign"), (f"{entry.command} --proximal", "soft")):
        mine = {**entries, entry.name: replace(entry, command=command)}
        monkeypatch.setattr(resources, "entries", lambda mine=mine: mine)
        fields, _ = maps(visit("discriminative", model="digits-l1", part="history"))
        assert step in str(fields["lines"][-1]), fields["lines"]


@pytest.mark.parametrize(("least", "said"), [(0.01, "here all of it above zero."), (-0.01, "some of it below zero.")])
def test_a_history_says_whether_any_of_b_is_below_zero(visit: Visit, monkeypatch, least: float, said: str):
    b = zoo.load("digits-l2").coefficients.abs().clamp(min=least)
    b[0, 0] = least
    kept = CoefficientHistory([0, 400], torch.stack([b.abs(), b]).half())
    monkeypatch.setattr(learned, "history", lambda name: kept)
    assert said in spoken(visit("discriminative", model="digits-l2", part="history"))


def test_the_ascent_is_that_of_the_choices_in_the_link(visit: Visit):
    chosen = {"climb": "proximal", "gamma": 0.02, "regularisation": 0.1, "steps": 5, "batch": 16, "draw": 3}
    app = visit("discriminative", model="digits-l2", part="ascent", start="trained", **chosen, **{"class": 1})
    _, arrays = maps(app)
    model, train = zoo.load("digits-l2"), data.load("digits", "train")
    order = torch.randperm(len(train), generator=torch.Generator().manual_seed(3))[:16]
    images, labels = train.batch(order)
    record = ascent.climb(
        ascent.fix(model, data.to_float(images), labels),
        model.coefficients,
        step=0.02,
        regularisation=0.1,
        penalty="l1",
        proximal=True,
        steps=5,
    )
    np.testing.assert_allclose(arrays["map0"].reshape(6, 288), record.coefficients[:, :, 1].numpy(), atol=1e-5)
    np.testing.assert_allclose(arrays["curve0.0"], record.objective[:, 1].numpy(), rtol=1e-4)


@pytest.mark.parametrize(
    ("change", "key", "value"),
    [
        (lambda app: app.button_group(key="climb").set_value("l1"), "climb", "l1"),
        (lambda app: app.button_group(key="start").set_value("trained"), "start", "trained"),
        (lambda app: app.select_slider(key="step_size").set_value(0.02), "gamma", "0.02"),
        (lambda app: app.select_slider(key="regularisation").set_value(0.3), "regularisation", "0.3"),
        (lambda app: app.slider(key="ascent_steps").set_value(9), "steps", "9"),
        (lambda app: app.select_slider(key="batch").set_value(32), "batch", "32"),
        (lambda app: app.button(key="redraw").click(), "draw", "1"),
    ],
)
def test_every_choice_of_the_ascent_goes_to_the_link(visit: Visit, change, key: str, value: str):
    app = visit("discriminative", model="digits-l2", part="ascent", steps=4, batch=16)
    change(app).run()
    assert app.query_params[key] == value
    assert not app.exception and not app.warning
    assert maps(app)[0]["frames"][0].startswith("step 0 of")


def test_an_ascent_out_of_bounds_is_one_sentence_and_the_choices_stay(visit: Visit):
    app = visit("discriminative", model="mnist-l2-residual", part="ascent", gamma=0.3, steps=200, batch=16)
    assert len(app.error) == 1
    assert "b has outgrown the numbers of float32" in app.error[0].value
    app.slider(key="ascent_steps").set_value(5).run()
    assert not app.error
    assert len(maps(app)[0]["frames"]) == 6


def test_the_ascent_of_a_model_of_several_objects_says_that_it_needs_images_of_one(visit: Visit):
    app = visit("discriminative", model="multi-mnist-l1-residual", part="ascent")
    assert not app.error and [info.value for info in app.info] == [
        "The ascent needs images of one object, and those of MultiMNIST show 2; choose another model."
    ]


@pytest.mark.parametrize("value", ["3", 1.5, True, -1, 288, {}])
def test_what_cannot_be_a_capsule_is_none(value: object):
    assert not is_one_of(value, 288)


def test_a_capsule_may_be_let_go():
    assert is_one_of(None, 288) and is_one_of(17, 288)


def test_the_digits_models_bring_their_history_along(visit: Visit):
    fields, arrays = maps(visit("discriminative", model="digits-l1", part="history", **{"class": 0}))
    kept, shipped = zoo.history("digits-l1"), zoo.load("digits-l1").coefficients
    assert len(fields["frames"]) == len(kept.steps) > 10
    np.testing.assert_array_equal(arrays["map0"].reshape(-1, 288)[-1], shipped[:, 0].numpy())
    assert arrays["curve0.1"][0] == 0 < arrays["curve0.1"][-1]  # no coefficient begins below zero
