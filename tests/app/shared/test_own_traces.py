"""A trace that a visitor drops: checked, on stage, theirs alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

import capsviz
from app.shared import own_traces
from app.sources import trace_sets
from capsviz.analysis import exchange
from capsviz.data import load, to_float
from capsviz.tracing.trace_set_writer import record
from tests.app.conftest import Visit
from tests.app.reading import board, charts, spoken
from tests.app.shared.test_own_models import drop
from tests.app.test_recorded_networks import take_from


@pytest.fixture(scope="module")
def trace() -> capsviz.Trace:
    """Two digits, routed by a loop of somebody's own: couplings, class capsules and votes."""
    images = to_float(load("digits", "test").images[:2])
    whole = capsviz.trace(capsviz.load("digits-dr"), images, iterations=4)
    layer = whole.layer
    return capsviz.Trace.from_steps(
        "dr", layer["couplings"], layer.poses, votes=layer.votes, images=images, grid=whole.grid, name="theirs"
    )


@pytest.fixture(scope="module")
def content(trace: capsviz.Trace) -> bytes:
    return trace.to_bytes()


def own(app) -> tuple[str, Path]:
    [(name, kept)] = app.session_state[own_traces._PLACE].items()
    return name, kept.file


def test_a_dropped_trace_is_on_stage_with_its_own_numbers(visit: Visit, trace: capsviz.Trace, content: bytes):
    app = drop(visit("dynamic", model="mnist-dr-paper"), content, "mine.safetensors")
    assert not app.error and not app.warning and charts(app)
    name, _ = own(app)
    assert name.startswith("mine (") and app.query_params["recording"] in (name, [name])
    shown = app.session_state["shown"].trace
    assert torch.equal(shown.layer["couplings"], trace.layer["couplings"][:, :1])
    assert "2 images through theirs" in spoken(app)
    [link] = [each for each in app.selectbox if each.label == "Recording"]
    assert link.options == [name]


def test_a_class_of_which_it_has_no_image_is_browsed_as_empty(visit: Visit, content: bytes):
    app = drop(visit("dynamic"), content, "mine.safetensors")
    [shown] = [each for each in app.selectbox if each.label == "Show class"]
    shown.set_value(3).run()
    assert not app.exception and not app.error and app.query_params["only"] == "3"
    assert app.button(key="random").disabled
    assert "2 images through theirs" in spoken(app), "the image on stage stays"


def test_the_page_that_needs_the_network_says_so(visit: Visit, content: bytes):
    app = drop(visit("perturb"), content, "mine.safetensors")
    assert "is not on this machine, so that only what was recorded can be shown" in spoken(app)


def test_python_opens_the_file_by_the_name_that_the_visitor_knows(visit: Visit, content: bytes):
    app = drop(visit("dynamic"), content, "mine.safetensors")
    app.button(key="take_away").click().run()
    assert not app.exception
    assert any('capsviz.TraceSet.open("mine.safetensors")[0]' in each.value for each in app.code)


def test_python_opens_the_file_also_where_its_network_is_called_as_a_model_here(visit: Visit):
    images = to_float(load("digits", "test").images[:1])
    theirs = capsviz.trace(capsviz.load("digits-dr@60"), images, name="digits-dr")
    app = drop(visit("dynamic"), theirs.to_bytes(), "mine.safetensors")
    app.button(key="take_away").click().run()
    [code] = app.code
    assert code.value.endswith('trace = capsviz.TraceSet.open("mine.safetensors")[0]')


def test_another_visitor_does_not_meet_it(visit: Visit, content: bytes):
    name, _ = own(drop(visit(), content, "mine.safetensors"))
    other = visit(source="recorded", recording=name)
    assert any(f"There is no recording “{name}”" in each.value for each in other.warning)
    assert "theirs" not in spoken(other)


def test_removed_it_is_gone_with_its_file(visit: Visit, content: bytes):
    app = drop(visit(), content, "mine.safetensors")
    name, file = own(app)
    assert file.is_file()
    app.button(key=f"remove-{name}").click().run()
    assert not app.error and not app.warning and "theirs" not in spoken(app)
    assert "recording" not in app.query_params
    assert not file.exists()


def test_removed_it_leaves_the_image_of_another_source(visit: Visit, content: bytes):
    app = take_from(drop(visit("dynamic"), content, "mine.safetensors"), "data")
    name, _ = own(app)
    assert "recording" not in app.query_params
    app.query_params["image"] = "17"
    app.run()
    left = dict(app.query_params)
    app.button(key=f"remove-{name}").click().run()
    assert not app.exception and not app.warning and app.query_params == left


def test_removed_while_a_link_shows_the_first_recording_it_leaves_the_stage(visit: Visit, content: bytes):
    app = drop(visit("dynamic"), content, "mine.safetensors")
    name, _ = own(app)
    del app.query_params["recording"]
    app.run()
    assert "theirs" in spoken(app)
    app.button(key=f"remove-{name}").click().run()
    assert not app.exception and not app.warning and "source" not in app.query_params


def test_all_its_images_are_browsed_whatever_class_was_before(visit: Visit, content: bytes):
    app = drop(visit("dynamic", model="mnist-dr-paper", only=3), content, "mine.safetensors")
    assert "only" not in app.query_params and not app.button(key="random").disabled
    [thumbs] = [group for group in app.get("button_group") if group.key.startswith("image_thumbs")]
    assert len(thumbs.options) == 2


NUMBERED = {"layer", "position", "capsule", "type"}


@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("dynamic", {"model": "mnist-dr-paper", "touch": "mute:5", "capsule": 5}),
        ("em", {"model": "digits-matrix", "layer": 0, "position": 3, "type": 2, "capsule": 7}),
    ],
)
def test_nothing_is_looked_at_that_another_network_numbers(visit: Visit, content: bytes, page: str, link: dict):
    app = drop(visit(page, **link), content, "mine.safetensors")
    assert app.query_params.keys() & {*NUMBERED, "touch"} == set() and not app.warning


def removed(app: AppTest) -> AppTest:
    name, _ = own(app)
    return app.button(key=f"remove-{name}").click().run()


@pytest.mark.parametrize("leave", [lambda app: take_from(app, "data"), lambda app: take_from(app, "upload"), removed])
def test_nor_once_that_network_is_left(visit: Visit, content: bytes, leave: Callable[[AppTest], AppTest]):
    app = drop(visit("dynamic", model="mnist-dr-paper"), content, "mine.safetensors")
    app.query_params["capsule"] = "9"
    app.run()
    assert board(app).fields["capsule"] == 9
    app = leave(app)
    assert not app.exception and "capsule" not in app.query_params
    assert board(app).fields["capsule"] != 9


def test_nor_once_a_recording_of_a_model_is_chosen_whose_capsule_stays(
    visit: Visit, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(trace_sets.PLACE, str(tmp_path))
    record(capsviz.load("digits-dr"), load("digits", "test"), tmp_path / "ten", name="digits-dr", count=10)
    app = drop(visit("dynamic", model="digits-dr"), content, "mine.safetensors")
    app.query_params["capsule"] = "9"
    app.run()
    app.selectbox(key="recording").set_value("ten").run()
    assert app.query_params["recording"] in ("ten", ["ten"]) and "capsule" not in app.query_params
    app.query_params["capsule"] = "9"
    app.run()
    app = take_from(app, "data")
    assert "recording" not in app.query_params and app.query_params["capsule"] in ("9", ["9"])


def test_the_oldest_makes_room(visit: Visit, trace: capsviz.Trace, content: bytes):
    app = drop(visit(), content, "first.safetensors")
    _, file = own(app)
    for name in ("second.safetensors", "third.safetensors"):
        drop(app, content, name)
    assert [name.split()[0] for name in app.session_state[own_traces._PLACE]] == ["second", "third"]
    assert not file.exists() and not app.error
    assert [each.value.split(" (")[0] for each in app.info] == ["first"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda whole: b"words", "is no safetensors file"),
        (lambda whole: whole[:-10], "was cut short"),
        (lambda whole: exchange.export("digits-dr"), "but no capsviz trace"),
    ],
)
def test_a_wrong_file_is_one_sentence_and_the_page_stays(visit: Visit, content: bytes, make, said: str):
    app = drop(visit(), make(content), "mine.safetensors")
    [error] = app.error
    assert said in error.value.replace("\\", "") and "\n" not in error.value
    assert not drop(app, content, "mine.safetensors").error
    assert "theirs" in spoken(app)


def test_a_trace_that_is_too_large_for_a_room_is_refused(visit: Visit, content: bytes, monkeypatch):
    monkeypatch.setattr(exchange, "MOST_CAPSULES", 100)
    [error] = drop(visit(), content, "mine.safetensors").error
    assert "has 288 capsules below its classes and here are at most 100" in error.value


def test_a_file_may_have_the_longest_name_in_any_script(visit: Visit, content: bytes):
    app = drop(visit(), content, f"{'数' * 80}.safetensors")
    assert not app.error and "theirs" in spoken(app) and "数" * 20 in app.query_params["recording"]
