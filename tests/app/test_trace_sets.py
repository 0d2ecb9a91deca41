"""Recordings as a source: the pages show what was recorded, and say when they route anew."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import torch

import capsviz
from app.shared import resources
from app.sources import trace_sets
from app.state.choices import Choices
from app.state.session import changed
from capsviz.data import Viewpoint, load, to_float
from capsviz.tracing.intervention import Intervention
from capsviz.tracing.trace_set_writer import record
from tests.app.conftest import Visit
from tests.app.reading import charts
from tests.app.test_recorded_networks import take_from


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one recording: ten digits through digits-dr, votes left out."""
    monkeypatch.setenv(trace_sets.PLACE, str(tmp_path))
    model, digits = capsviz.load("digits-dr"), load("digits", "test")
    record(model, digits, tmp_path / "ten", name="digits-dr", count=10, shard_size=4)
    return tmp_path


def test_a_recorded_trace_equals_the_one_that_is_routed_now_votes_included(place: Path):
    entry = resources.entries()["digits-dr"]
    assert trace_sets.holds("ten", entry, 3) and not trace_sets.holds("ten", entry, 4)
    assert not trace_sets.holds("ten", resources.entries()["digits-l2"], None)
    replayed = trace_sets.trace("ten", 7)
    image = load("digits", "test").images[7:8]
    now = capsviz.trace(capsviz.load("digits-dr"), to_float(image), name="digits-dr")
    assert torch.equal(trace_sets.image("ten", 7)[0], image[0])
    for name, tensor in now.tensors().items():
        torch.testing.assert_close(replayed.tensors()[name], tensor, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("rounds", [2, 5])
def test_a_file_of_another_t_than_the_models_is_shown_with_the_t_it_was_recorded_with(
    rounds: int, place: Path, visit: Visit
):
    images = to_float(load("digits", "test").images[:2])
    capsviz.trace("digits-dr", images, iterations=rounds).save(place / "other.safetensors")
    assert capsviz.TraceSet.open(place / "other.safetensors").recorded["iterations"] == rounds
    for asked in ({}, {"T": rounds}):
        app = visit("dynamic", source="recorded", recording="other.safetensors", **asked)
        assert not app.error and app.session_state["shown"].trace.layer.iterations == rounds
        assert not any("left out" in warning.value for warning in app.warning)


def test_a_link_to_a_recording_shows_its_image_and_routes_nothing(
    place: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
):
    def route(*_: object) -> None:
        pytest.fail("the page routed what is recorded")

    monkeypatch.setattr(resources, "trace", route)
    app = visit(model="digits-dr", source="recorded", recording="ten", image=7)
    assert any("Digits test image 7" in markdown.value for markdown in app.markdown)
    assert any("10 images through digits-dr" in caption.value for caption in app.caption)
    assert charts(app)


def test_a_folder_of_recordings_that_is_named_empty_is_not_named_and_its_home_is_resolved(monkeypatch):
    monkeypatch.setenv(trace_sets.PLACE, "")
    assert trace_sets.folder() == Path("traces")
    monkeypatch.setenv(trace_sets.PLACE, "~/mine")
    assert trace_sets.folder() == Path.home() / "mine"


def test_a_recording_of_the_model_on_stage_begins_untouched(place: Path, bare_machine: Path):
    start = Choices("digits-dr", image=3, touched=Intervention(muted=(3,)))
    moved = changed(start, **trace_sets.choices_with("ten"))
    assert (moved.source, moved.recording, moved.touched) == ("recorded", "ten", Intervention())


def test_a_recording_of_em_is_chosen_without_the_temperature_under_which_it_is_routed_now(place: Path, visit: Visit):
    record(capsviz.load("digits-em"), load("digits", "test"), place / "em", name="digits-em", count=2)
    app = visit("em", model="digits-em", recording="em", **{"lambda": 0.1})
    app = take_from(app, "recorded")
    assert not app.exception and "lambda" not in app.query_params
    assert any("as they were recorded" in caption.value for caption in app.caption)


def test_another_t_is_routed_now_and_says_so(place: Path, visit: Visit):
    app = visit(model="digits-dr", source="recorded", recording="ten", T=5)
    assert any("is routed now" in caption.value for caption in app.caption)


def test_a_recorded_image_from_another_viewpoint_is_routed_now_and_says_so(place: Path, visit: Visit):
    app = visit(model="digits-dr", source="recorded", recording="ten", image=7, viewpoint="rotation_30")
    assert any("is routed now" in caption.value for caption in app.caption)
    seen = Viewpoint(rotation=30.0)(load("digits", "test").images[7])
    assert torch.equal(app.session_state["shown"].trace.images[0], to_float(seen))


def test_only_the_images_of_a_class_are_browsed(place: Path):
    labels = load("digits", "test").labels[:10]
    for label in range(10):
        assert trace_sets.indices_of("ten", label) == tuple(torch.nonzero(labels == label).flatten().tolist())


@pytest.mark.parametrize(("link", "sentence"), [("none", "There is no recording “none”"), ("../ten", "There is no")])
def test_a_recording_that_is_not_here_is_answered_in_one_sentence(place: Path, visit: Visit, link: str, sentence: str):
    app = visit(model="digits-dr", source="recorded", recording=link)
    assert any(sentence in warning.value for warning in (*app.warning, *app.info))


def test_recordings_that_are_damaged_are_left_out_and_said_wherever_they_stand(place: Path, visit: Visit):
    (place / "a.safetensors").write_bytes(b"no trace")
    (place / "b").mkdir()
    (place / "b" / "index.json").write_text("{}")
    assert trace_sets.names() == ("ten",) and list(trace_sets.damaged()) == ["a.safetensors", "b"]
    app = visit(model="digits-dr", source="recorded")
    assert not app.error and any("10 images through digits-dr" in caption.value for caption in app.caption)
    said = [caption.value for caption in app.sidebar.caption if caption.value.startswith("Left out")]
    assert len(said) == 2 and "a.safetensors" in said[0] and str(place) not in "".join(said)
    app = visit(model="digits-dr", source="recorded", recording="a.safetensors")
    assert not app.error and "a.safetensors" in app.warning[0].value and ".;" not in app.warning[0].value
    shutil.rmtree(place / "ten")
    app = visit(model="digits-dr", source="recorded")
    assert not app.error and "a.safetensors" in app.warning[0].value and app.sidebar.selectbox


def test_damage_that_opening_does_not_show_leaves_the_page_with_other_images(place: Path, visit: Visit):
    index = json.loads((place / "ten" / "index.json").read_text())
    index["recorded"]["model"] = "theirs"
    (place / "ten" / "index.json").write_text(json.dumps(index))
    shard = next((place / "ten").glob("*.safetensors"))
    shard.write_bytes(shard.read_bytes()[:-1] + b"x")
    app = visit(model="digits-dr", source="recorded")
    assert not app.error and "repeat" in app.warning[0].value and charts(app)
    assert app.sidebar.selectbox
    [thumbs] = [group for group in app.get("button_group") if group.key == "image_thumbs"]
    place_of = re.search(r"image (\d+)", thumbs.options[3])
    assert place_of
    thumbs.set_value(int(place_of[1])).run()
    assert not app.exception and app.query_params["image"] == place_of[1] and not app.warning
    app = visit("perturb", model="digits-dr", source="recorded")
    app.radio(key="model").set_value("digits-l2").run()
    assert not app.exception and app.query_params["model"] == "digits-l2"
    record(capsviz.load("digits-dr"), load("digits", "test"), place / "other", name="digits-dr", count=2)
    app = visit(source="recorded", recording="other")
    app.selectbox(key="recording").set_value("ten").run()
    assert not app.exception and "repeat" in app.warning[0].value


def test_where_nothing_was_recorded_a_link_says_how_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visit: Visit):
    monkeypatch.setenv(trace_sets.PLACE, str(tmp_path))
    app = visit(model="digits-dr", source="recorded")
    assert any("capsviz trace" in warning.value for warning in (*app.warning, *app.info))
