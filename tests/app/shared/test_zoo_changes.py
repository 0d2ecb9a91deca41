"""A running app whose zoo changes: models added, replaced and withdrawn."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.testing.v1 import local_script_runner

from app.page.text import sentence
from app.shared import resources
from capsviz import zoo
from capsviz.data import load
from capsviz.network import CapsNet
from tests import zoos
from tests.app.conftest import Visit
from tests.app.reading import charts

KEPT = ("digits-dr", "digits-l2")
SHIPPED = zoo.folder()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A zoo of two models."""
    monkeypatch.setenv("CAPSVIZ_ZOO", str(zoos.copied(tmp_path, *KEPT)))
    return tmp_path


@pytest.fixture
def publish(place: Path) -> Callable[[str], CapsNet]:
    """Puts a network of digits-dr's make with other weights into that zoo."""

    def published(name: str) -> CapsNet:
        network = zoo.load("digits-dr")
        torch.manual_seed(1)
        with torch.no_grad():
            for weights in network.parameters():
                weights.add_(0.1 * weights.std() * torch.randn_like(weights))
        own = zoo.entry("digits-dr")
        zoos.saved(network, name, command=own.command, curves=own.curves)
        return network

    return published


def labels(app) -> list[str]:
    """The models that the sidebar offers."""
    return [option for radio in app.radio if radio.label == "Algorithm, and its test error" for option in radio.options]


def test_a_model_that_is_added_is_offered_at_the_next_action(visit: Visit, publish: Callable[[str], CapsNet]):
    app = visit(model="digits-dr")
    before = labels(app)
    publish("digits-other")
    assert labels(app.run()) == ["Dynamic routing, tiny · 0.28 %", "Dynamic routing, tiny · 50.00 %", *before[1:]]


def test_of_a_model_that_is_replaced_everything_is_drawn_anew(visit: Visit, publish: Callable[[str], CapsNet]):
    app = visit("perturb", model="digits-dr", image=3)
    before = charts(app)["strip"], resources.decoder("digits-dr"), resources.exemplar_capsules("digits-dr")
    network = publish("digits-dr")
    app.run()
    after = charts(app)["strip"], resources.decoder("digits-dr"), resources.exemplar_capsules("digits-dr")
    assert before[0] != after[0] and before[1] != after[1] and not torch.equal(before[2], after[2])
    pixels = load("digits", "test").images[3]
    trace = resources.trace("digits-dr", pixels.numpy().tobytes(), None)
    with torch.inference_mode():
        expected = network(pixels[None].float() / 255)
    assert (trace.poses - expected.poses).abs().max() < 1e-2  # the zoo keeps sixteen bits


def test_a_part_of_a_page_is_not_of_another_zoo_than_the_rest(
    visit: Visit, publish: Callable[[str], CapsNet], monkeypatch: pytest.MonkeyPatch
):
    app = visit("dynamic", model="digits-dr", image=3)
    before = charts(app)["strip"]
    [board] = app._fragment_storage._ids_by_target_key["boards"]
    publish("digits-dr")
    part = partial(RerunData, fragment_id=board, fragment_id_queue=[board])
    with monkeypatch.context() as patch:
        patch.setattr(local_script_runner, "RerunData", part)  # as a click on the board runs the script
        app.run()
    assert charts(app)["strip"] != before


def test_what_is_measured_while_the_app_runs_is_known_at_the_next_action(place: Path):
    def known() -> tuple[int | None, bytes]:
        return resources.contested(KEPT, None), resources.decoder("digits-dr")

    before = known()
    assert before[0] is None and known()[1] == before[1]
    (place / zoo.RECORDS).mkdir()
    for name in KEPT:
        shutil.copy(SHIPPED / zoo.RECORDS / f"{name}.safetensors", place / zoo.RECORDS)
    after = known()
    assert after[0] is not None and len(after[1]) > len(before[1]), (
        "the image they disagree about, the means of classes"
    )


def test_a_model_that_is_withdrawn_is_said_to_be_gone(visit: Visit, place: Path):
    app = visit(model="digits-l2")
    zoos.state(place, zoos.rows()["digits-dr"])
    app.run()
    assert [warning.value for warning in app.warning] == ["There is no model “digits-l2”; showing digits-dr instead."]
    assert not app.error and len(labels(app)) == 1


def test_a_zoo_without_a_model_is_called_by_its_folder(visit: Visit, place: Path):
    zoos.state(place)
    [error] = visit().error
    assert error.value.startswith(sentence(f"There is no model in {place}; "))
