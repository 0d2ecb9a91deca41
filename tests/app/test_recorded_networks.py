"""Traces whose network is not here: pages that need none show what was recorded, the others say what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

import capsviz
from app.shared import resources
from app.sources import images, trace_sets
from capsviz import Trace
from capsviz.data import load, to_float
from capsviz.tracing.trace_set_writer import record
from tests.app.conftest import Visit
from tests.app.page import test_takeaway as taking
from tests.app.reading import board, boards, charts, messages
from tests.app.sidebar.test_upload import PNG, upload
from tests.known import known
from tests.tracing.test_adopting import again

ABSENT = "is not on this machine, so that only what was recorded can be shown"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the traces of two digits by three routings: with votes (dr.…), without (bare.…), of b (l2.…)."""
    monkeypatch.setenv(trace_sets.PLACE, str(tmp_path))
    images = to_float(load("digits", "test").images[:2])
    traces = {name: capsviz.trace(capsviz.load(f"digits-{name}"), images) for name in ("dr", "em", "l2")}
    for name, trace in traces.items():
        again(trace, name=f"their {name}").save(tmp_path / f"{name}.safetensors")
    dr = traces["dr"]
    Trace.from_steps("dr", dr.layer["couplings"], dr.layer.poses, images=images).save(tmp_path / "bare.safetensors")
    return tmp_path


def said(app) -> list[str]:
    elements = (*app.markdown, *app.caption, *app.warning, *app.error, *app.info)
    return [element.value for element in elements]


@pytest.mark.parametrize(("page", "name"), [("dynamic", "dr"), ("em", "em"), ("discriminative", "l2")])
def test_the_page_about_its_routing_shows_what_was_recorded(page: str, name: str, place: Path, visit: Visit):
    app = visit(page, source="recorded", recording=f"{name}.safetensors", image=1)
    assert not app.exception and not app.error
    assert any(ABSENT in text for text in said(app))
    recorded = Trace.open(place / f"{name}.safetensors")
    predicted = recorded.classes[int(recorded.predicted[1])]
    assert any(metric.value.startswith(predicted) for metric in app.metric) or name == "l2"
    assert charts(app)
    assert "not<br>recorded" in str(charts(app)["strip"]), "nobody said what made the capsules"


def test_fewer_iterations_are_its_beginning_and_more_are_answered_by_a_sentence(place: Path, visit: Visit):
    entry = trace_sets.network_of("dr.safetensors")
    assert entry is not None and trace_sets.holds("dr.safetensors", entry, 2)
    assert not trace_sets.holds("dr.safetensors", entry, 4)
    assert trace_sets.trace("dr.safetensors", 0, 2).layer.iterations == 2
    app = visit("dynamic", source="recorded", recording="dr.safetensors", T=5)
    assert not app.error and app.session_state["shown"].trace.layer.iterations == 3
    [warning] = app.warning
    assert ABSENT in warning.value and warning.value.endswith("left out: T = 5.")

    offered = [board(app).fields[name] for name in ("rounds", "most")]
    assert offered == [3, 3], "no T that cannot be shown"
    pair = visit("dynamic", source="recorded", recording="dr.safetensors", second="digits-dr")
    assert [each.fields["most"] for each in boards(pair)] == [3, 3], "nor beside it"
    toy = visit("dynamic", source="recorded", recording="dr.safetensors", lab="toy")
    assert [each.fields["most"] for each in messages(toy) if "votes" in each.fields] == [3]


def test_fewer_iterations_are_taken_away_as_they_are_shown(place: Path, visit: Visit):
    app = visit("dynamic", source="recorded", recording="dr.safetensors", T=2)
    taken = taking.recorded(taking.opened(app).code[0].value)
    taking.assert_equal(taken, app.session_state["shown"].trace)
    assert taken.layer.iterations == 2


def test_a_network_runs_on_the_same_pixels_in_the_lines_as_on_the_page(place: Path, visit: Visit):
    images = torch.rand(1, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    held = Trace.open(place / "dr.safetensors")
    votes = known(held.layer.votes)[:1]
    capsviz.record(images, votes, "dr").save(place / "between.safetensors")
    app = visit("em", model="digits-em", source="recorded", recording="between.safetensors")
    shown = app.session_state["shown"].trace
    assert shown.name == "digits-em" and not torch.equal(shown.images, images)
    taking.assert_equal(taking.recorded(taking.opened(app).code[0].value), shown)


@pytest.mark.parametrize("wanted", [1, 7])
def test_of_several_layers_no_other_number_of_iterations_is_shown_or_offered(place: Path, visit: Visit, wanted: int):
    images = to_float(load("digits", "test").images[:1])
    capsviz.trace(capsviz.load("digits-matrix"), images).save(place / "deep.safetensors")
    app = visit("em", source="recorded", recording="deep.safetensors", T=wanted)
    assert not app.exception and not app.error
    [warning] = app.warning
    assert ABSENT in warning.value and warning.value.endswith(f"left out: T = {wanted}.")
    recorded = Trace.open(place / "deep.safetensors").layer.iterations
    assert [board(app).fields[name] for name in ("rounds", "most")] == [recorded, 1], "no T to choose"
    assert app.session_state["shown"].trace.layer.iterations == recorded


def test_what_only_the_network_could_compute_is_left_out_and_can_be_taken_back(place: Path, visit: Visit):
    app = visit("dynamic", source="recorded", recording="dr.safetensors", touch="mute:1-20")
    assert not app.error and app.session_state["shown"].trace.gains is None
    assert [each.value.endswith("left out: what is muted, boosted or isolated.") for each in app.warning] == [True]
    assert board(app).fields["touched"] == "20 muted"
    app = visit("em", source="recorded", recording="em.safetensors", **{"lambda": 2})
    assert not app.error and [each.value.endswith("left out: λ = 2.") for each in app.warning] == [True]
    assert not any(each.label == "λ rises to" for each in app.select_slider)


def test_recorded_votes_are_routed_as_often_as_one_asks(place: Path, visit: Visit):
    app = visit("discriminative", source="recorded", recording="l2.safetensors", T=5)
    assert not app.error and not app.warning
    assert next(each.value for each in app.slider if each.label == "Iterations T") == 5


@pytest.mark.parametrize("part", ["history", "ascent"])
def test_how_b_was_learned_and_climbs_needs_the_network(place: Path, visit: Visit, part: str):
    app = visit("discriminative", source="recorded", recording="l2.safetensors", part=part)
    assert not app.error and not app.warning and len(app.info) == 1
    assert app.info[0].value == f"The network of recording l2.safetensors {ABSENT}."
    assert not any("training images" in text or "weights stand still" in text for text in said(app))
    assert charts(app).keys() == {"strip"} and not app.select_slider, "nothing to choose for what is not there"
    assert any("Source" in caption.value for caption in app.caption), "the page goes on to its end"


def test_no_other_image_is_put_beside_what_was_recorded(place: Path, visit: Visit):
    app = visit("dynamic", source="recorded", recording="dr.safetensors", second="image")
    assert not app.error and len(boards(app)) == 1
    assert "another image" not in app.selectbox(key="second").options


def test_a_recording_is_chosen_without_what_its_network_would_have_to_compute(place: Path, visit: Visit):
    app = take_from(visit("dynamic", recording="dr.safetensors", touch="mute:1-20"), "recorded")
    assert not app.error and not app.warning and "touch" not in app.query_params


def test_its_classes_are_those_that_a_link_can_name(place: Path, visit: Visit):
    many = capsviz.record(torch.rand(1, 1, 28, 28), torch.randn(1, 12, 14, 4), "dr", grid=(2, 3, 2))
    many.save(place / "many.safetensors")
    link: dict[str, object] = {"source": "recorded", "recording": "many.safetensors", "class": 12, "to": 13}
    app = visit("dynamic", **link)
    assert not app.error and not app.warning and app.query_params["class"] == "12"
    assert any("Class capsule" in each.label and each.value == 12 for each in app.button_group)
    app = visit("perturb", **link, hand="walk")
    assert not app.error and not app.warning, "another network, of ten classes, runs on the same image"


def test_without_votes_the_board_says_so_and_the_other_pictures_stand(place: Path, visit: Visit):
    app = visit("dynamic", source="recorded", recording="bare.safetensors", details=1)
    assert any("holds no votes" in error.value for error in app.error)
    whole = visit("dynamic", source="recorded", recording="dr.safetensors", details=1)
    assert not whole.error and charts(app).keys() == charts(whole).keys() - {"flow"}
    assert any("Source" in caption.value for caption in app.caption), "the page goes on to its end"


def test_without_votes_and_variances_em_says_so_once(place: Path, visit: Visit):
    em = Trace.open(place / "em.safetensors")
    shares, given = em.layer["responsibilities"], {"activations": em.layer["activations"], "images": em.images}
    Trace.from_steps("em", shares, em.layer.poses, **given).save(place / "few.safetensors")
    app = visit("em", source="recorded", recording="few.safetensors", details=1)
    assert len(app.error) == 1 and "holds no votes" in app.error[0].value
    assert [metric.label for metric in app.metric] == ["Predicted", "Indecision of R, M-step 1 → 3"]
    assert any("Source" in caption.value for caption in app.caption), "the page goes on to its end"


def test_a_file_that_was_written_anew_is_opened_anew(place: Path, visit: Visit):
    before = visit("dynamic", source="recorded", recording="dr.safetensors").session_state["shown"].trace
    (place / "bare.safetensors").replace(place / "dr.safetensors")
    now = visit("dynamic", source="recorded", recording="dr.safetensors").session_state["shown"].trace
    assert before.layer.votes is not None and now.layer.votes is None


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recordings that are called as a model and as a data set that are here, of a model that is not."""
    monkeypatch.setenv(trace_sets.PLACE, str(tmp_path))
    for name in ("digits-l2", "digits"):
        record(capsviz.load("digits-dr"), load("digits", "test"), tmp_path / name, name="theirs", count=2)


@pytest.mark.parametrize("name", ["digits-l2", "digits"])
def test_the_name_of_a_recording_brings_no_model_and_no_data_set(named: None, visit: Visit, name: str):
    shown = visit("dynamic", source="recorded", recording=name, viewpoint="rotation_30")
    assert any(f"The network of recording {name} {ABSENT}" in each.value for each in shown.error)
    app = visit("compare", source="recorded", recording=name, view="confusions")
    [error] = app.error
    assert ABSENT in error.value and error.value.endswith("choose another source of images for this view.")
    assert not any("taken for" in text for text in said(app))


def take_from(app: AppTest, source: str) -> AppTest:
    [picker] = [each for each in app.button_group if each.label == "Image from"]
    return picker.set_value(source).run()


def test_back_from_another_source_the_recording_is_the_one_that_was_looked_at(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(trace_sets.PLACE, str(tmp_path))
    for name, model in (("a-em", "digits-em"), ("b-dr", "digits-dr")):
        record(capsviz.load(model), load("digits", "test"), tmp_path / name, name=model, count=4)
    app = visit("dynamic", model="digits-dr", source="recorded", recording="b-dr")
    app = take_from(app, "data")
    assert "recording" not in app.query_params
    app = take_from(app, "recorded")
    assert app.query_params["recording"] in ("b-dr", ["b-dr"]) and app.query_params["model"] in (
        "digits-dr",
        ["digits-dr"],
    )


def test_another_source_is_that_of_the_chosen_model(place: Path, visit: Visit):
    app = visit("dynamic", model="fashion-mnist-dr-residual", source="recorded", recording="dr.safetensors")
    app = take_from(app, "data")
    assert not app.error and not app.warning and "data" not in app.query_params
    assert any("Fashion-MNIST test image" in text for text in said(app))


def test_a_picture_that_was_given_comes_back_as_the_chosen_model_sees_it(place: Path, visit: Visit):
    capsviz.record(torch.rand(1, 3, 12, 12), torch.randn(1, 12, 7, 4), "dr", grid=(2, 3, 2), field=(4, 4)).save(
        place / "odd.safetensors"
    )
    app = upload(visit("dynamic", source="upload", details=1), PNG)
    given = app.query_params["picture"]
    app = take_from(app, "recorded")
    app.selectbox(key="recording").set_value("odd.safetensors").run()
    assert "picture" not in app.query_params
    assert take_from(app, "upload").query_params["picture"] == given


@pytest.mark.parametrize("page", ["perturb", "compare", "results", "discriminative"])
def test_pages_that_need_a_network_run_another_one_or_say_what_is_missing(page: str, place: Path, visit: Visit):
    app = visit(page, source="recorded", recording="dr.safetensors")
    assert not app.exception
    if page != "results":
        assert any(ABSENT in text for text in said(app)) or any("runs on the same image" in text for text in said(app))


@pytest.mark.parametrize("page", ["perturb", "compare", "viewpoint", "em"])
def test_no_model_runs_on_the_image_that_was_not_recorded(page: str, place: Path, visit: Visit):
    whole = Trace.open(place / "dr.safetensors")
    steps = whole.layer["couplings"], whole.layer.poses
    Trace.from_steps("dr", *steps, votes=whole.layer.votes).save(place / "blind.safetensors")
    app = visit(page, source="recorded", recording="blind.safetensors")
    assert [error.value for error in app.error] == [f"{images.NO_IMAGE} {images.OTHER_IMAGE}"] and not app.metric
    assert not any("runs on the same image" in text for text in said(app))
    own = visit("dynamic", source="recorded", recording="blind.safetensors")
    assert not own.error and any(images.NO_IMAGE in text for text in said(own)) and charts(own)
    beside = visit("dynamic", source="recorded", recording="blind.safetensors", second="digits-dr")
    assert any(images.OTHER_IMAGE in error.value for error in beside.error)


def test_a_recording_of_an_image_of_another_size_names_what_is_missing(place: Path, visit: Visit):
    odd = capsviz.record(torch.rand(1, 3, 40, 50), torch.randn(1, 12, 7, 4), "dr", grid=(2, 3, 2), field=(10, 8))
    odd.save(place / "odd.safetensors")
    assert not visit("dynamic", source="recorded", recording="odd.safetensors").error
    app = visit("perturb", source="recorded", recording="odd.safetensors")
    assert any(ABSENT in error.value for error in app.error) and not app.exception
    betas = {name: torch.zeros(7) for name in ("beta_u", "beta_a")}
    again = capsviz.record(
        torch.rand(1, 3, 40, 50), torch.randn(1, 12, 7, 4), "em", grid=(2, 3, 2), field=(10, 8), weights=betas
    )
    again.save(place / "again.safetensors")
    for recording in ("odd.safetensors", "again.safetensors"):
        app = visit("start", source="recorded", recording=recording)
        assert not app.error and any("Compare algorithms" in link.proto.label for link in app.get("page_link"))
        assert any("presets" in message.fields for message in messages(app)), "the toy"


def test_an_exhibit_that_needs_the_network_says_so(place: Path, visit: Visit):
    app = visit("basics", source="recorded", recording="dr.safetensors", exhibit="loss", viewpoint="rotation_30")
    assert [error.value.endswith("take back the viewpoint.") for error in app.error] == [True]


def test_a_model_that_is_not_here_is_one_sentence(place: Path):
    with pytest.raises(capsviz.CapsvizError, match=r"^The network of dr\.safetensors .*; choose another source"):
        resources.model("dr.safetensors")
