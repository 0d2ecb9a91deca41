"""A model that a visitor drops: checked, on every page, theirs alone."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image
from streamlit.testing.v1 import AppTest

import capsviz
from app import scene
from app.page.text import plain
from app.shared import own_models
from app.sidebar import own_files
from app.sources import linked_picture
from app.state import leaving
from app.training.trainings import CONFIGS, Progress
from capsviz import zoo
from capsviz.analysis import exchange
from capsviz.data import load, to_float
from capsviz.tensors import LENGTH
from tests.analysis.test_exchange import changed
from tests.app.conftest import Visit
from tests.app.page.test_takeaway import assert_equal, opened, recorded
from tests.app.reading import charts, live, spoken
from tests.app.shared.test_zoo_changes import labels
from tests.app.test_own_images import published
from tests.folders import drawn
from tests.fuzz.damage import sealed

PAGES = ("dynamic", "em", "discriminative", "perturb", "compare", "basics")
OTHER_VIEWS = ("many", "distributions", "confusions", "wrong")


def drop(app: AppTest, content: bytes, name: str = "mine.capsviz") -> AppTest:
    [place] = [each for each in app.file_uploader if each.label == own_files.PLACE]
    place.upload(name, content, "application/octet-stream").run()
    assert not app.exception
    return app


@pytest.fixture(scope="module")
def content() -> bytes:
    """digits-dr as it ships."""
    return exchange.export("digits-dr")


def test_a_dropped_model_is_on_stage_with_its_own_numbers(visit: Visit, content: bytes):
    app = drop(visit(model="digits-l2", image=3), content)
    assert "mine.capsviz" in app.query_params["model"]
    assert "Dynamic routing, yours · 0.28 %" in labels(app)
    assert "mine.capsviz: tiny, 1.1 M weights" in spoken(app)
    shown = app.session_state["shown"].trace
    now = capsviz.trace(zoo.load("digits-dr"), shown.images, name="mine.capsviz")
    assert shown.name == "mine.capsviz" and torch.equal(shown.activations, now.activations)


def test_a_model_that_is_dropped_on_a_page_which_is_left_is_there_and_not_on_stage(
    visit: Visit, content: bytes, monkeypatch: pytest.MonkeyPatch
):
    """EM was chosen, whose page the browser is still to open."""
    app = visit("dynamic", model="digits-l2", image=3)
    monkeypatch.setattr(leaving, "PATIENCE", 600.0)
    app.session_state[leaving._WAY] = leaving.Way("token", "em", {"model": "digits-em", "image": "3"}, time.monotonic())
    drop(app, content)
    assert app.query_params == {"model": "digits-l2", "image": "3"}
    assert "Dynamic routing, yours · 0.28 %" in labels(app)
    links = {link.proto.query_string for link in app.get("page_link")}
    assert links == {"model=digits-l2&image=3", "model=digits-em&image=3"}, "and that of the page that comes"


def test_two_models_of_one_label_are_told_apart_and_both_can_be_chosen(visit: Visit, content: bytes):
    app = drop(drop(visit(model="digits-l2", image=3), content, "a.capsviz"), content, "b.capsviz")
    offered = [label for label in labels(app) if "yours" in label]
    assert [label.replace("\\", "") for label in offered] == [
        f"Dynamic routing, yours, tiny · 0.28 % ({name}.capsviz)" for name in "ab"
    ]
    [radio] = [each for each in app.radio if each.label == "Algorithm, and its test error"]
    radio.set_value("a.capsviz").run()
    assert "a.capsviz" in app.query_params["model"] and not app.exception


def _other() -> bytes:
    """digits-dr whose weights of votes are half as large, and no record, which would be of other errors."""
    whole = exchange.export("digits-dr")
    length = int.from_bytes(whole[:LENGTH], "little")
    header = json.loads(whole[LENGTH : LENGTH + length])
    del header["__metadata__"]["measured"]
    begin, end = (LENGTH + length + each for each in header["model.transform"]["data_offsets"])
    halved = (torch.frombuffer(bytearray(whole[begin:end]), dtype=torch.float16) / 2).numpy().tobytes()
    return sealed(header, whole[LENGTH + length : begin] + halved + whole[end:])


@pytest.mark.parametrize("page", PAGES)
def test_every_page_takes_it_as_any_other_model(visit: Visit, content: bytes, page: str):
    app = drop(visit(page), content)
    assert not app.error and not app.warning
    assert charts(app) or page == "basics"
    if page == "perturb":
        assert live(app)["decoders"]


@pytest.mark.parametrize("view", OTHER_VIEWS)
def test_compare_counts_its_record_with_those_of_the_others(visit: Visit, content: bytes, view: str):
    app = drop(visit("compare", view=view), content)
    assert not app.error and not app.warning and charts(app)


def test_another_visitor_does_not_meet_it_and_a_link_says_what_to_do(visit: Visit, content: bytes):
    drop(visit(), content)
    other = visit(model="mine.capsviz")
    assert not any("yours" in label for label in labels(other))
    assert [each.value for each in other.warning] == [
        "There is no model “mine.capsviz” (drop the file under Your own model or trace); showing mnist-dr-paper "
        "instead."
    ]


def test_two_visitors_with_files_of_one_name_each_see_their_own(visit: Visit):
    first = drop(visit(image=3), exchange.export("digits-dr"))
    second = drop(visit(image=3), _other())
    one, other = (app.session_state["shown"].trace for app in (first, second))
    assert one.name == "mine.capsviz" and not one.activations.equal(other.activations)
    assert first.run().session_state["shown"].trace.activations.equal(one.activations)


def test_removed_it_is_gone(visit: Visit, content: bytes):
    app = drop(visit(), content)
    app.button(key="remove-mine.capsviz").click().run()
    assert not any("yours" in label for label in labels(app)) and not app.warning and not app.error


def test_removed_it_leaves_the_picture_in_the_form_of_the_model_that_takes_its_place(visit: Visit):
    app = drop(visit(), exchange.export("cifar10-dr-residual"))
    app.segmented_control(key="source").set_value("upload").run()
    photograph = Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 90, 3), np.uint8))
    file = io.BytesIO()
    photograph.save(file, "PNG")
    app.file_uploader(key="file").upload("photo.png", file.getvalue(), "image/png").run()
    assert linked_picture.read(app.query_params["picture"]).shape == (3, 32, 32)
    app.button(key="remove-mine.capsviz").click().run()
    assert linked_picture.read(app.query_params["picture"]).shape == (1, 28, 28)
    alone = visit(model=scene.catalogue().start, source="upload")
    alone.file_uploader(key="file").upload("photo.png", file.getvalue(), "image/png").run()
    assert app.query_params["picture"] == alone.query_params["picture"]


def test_the_same_bytes_under_another_name_are_another_model(visit: Visit, content: bytes):
    app = drop(visit(), content, "first.capsviz")
    app.button(key="remove-first.capsviz").click().run()
    app = drop(app, content, "second.capsviz")
    assert not app.error and not app.warning
    assert app.session_state["shown"].trace.name == "second.capsviz"


@pytest.fixture
def two(visit: Visit, content: bytes) -> AppTest:
    """A visitor of the page Training with two models, the older one on stage."""
    app = visit("training")
    for name in ("first.capsviz", "second.capsviz"):
        drop(app, content, name)
    app.query_params["model"] = "first.capsviz"
    return app.run()


def test_the_oldest_makes_room_unless_it_is_on_stage(two: AppTest, content: bytes):
    app = drop(two, content, "third.capsviz")
    assert not app.error and not app.warning
    assert list(dropped_models(app)) == ["first.capsviz", "third.capsviz"]
    assert "third.capsviz" in app.query_params["model"]
    assert [each.value for each in app.info] == ["second.capsviz made room: two are kept at a time."]


def test_what_stands_beside_makes_room_last_and_leaves_no_name_behind(visit: Visit, content: bytes):
    app = visit("dynamic", model="digits-dr")
    for name in ("first.capsviz", "second.capsviz"):
        drop(app, content, name)
    app.query_params["second"] = "first.capsviz"
    drop(app.run(), content, "third.capsviz")
    assert list(dropped_models(app)) == ["second.capsviz", "third.capsviz"], "the one on stage stays before it"
    assert "second" not in app.query_params and not app.warning
    app.query_params["second"] = "second.capsviz"
    app.run().button(key="remove-second.capsviz").click().run()
    assert "second" not in app.query_params and not app.warning and not app.exception


@pytest.mark.parametrize(
    ("stage", "pair"), [("digits-dr", "first.capsviz,second.capsviz"), ("second.capsviz", "first.capsviz,digits-em")]
)
def test_a_pair_of_which_one_made_room_is_none_any_more(visit: Visit, content: bytes, stage: str, pair: str):
    app = visit("compare", model="digits-dr", view="many", order="different")
    for name in ("first.capsviz", "second.capsviz"):
        drop(app, content, name)
    app.query_params.update({"model": stage, "pair": pair})
    app = drop(app.run(), content, "third.capsviz")
    assert "third.capsviz" in app.query_params["model"] and not app.warning
    assert len(app.info) == 1 and len(dropped_models(app)) == 2
    assert "pair" not in app.query_params


def test_a_model_that_was_trained_here_leaves_the_one_on_stage(two: AppTest, content: bytes):
    two.query_params["second"] = "second.capsviz"
    two.session_state["training"] = SimpleNamespace(
        over=True,
        content=content,
        file="trained.capsviz",
        said="",
        config=next(iter(CONFIGS.values())),
        progress=lambda: Progress(1, 1, 0.0, []),
    )
    app = two.run()
    assert not app.exception and not app.error and not app.warning
    assert list(dropped_models(app)) == ["first.capsviz", "trained.capsviz"]
    assert [each.value for each in app.info] == ["second.capsviz made room: two are kept at a time."]
    assert "second" not in app.query_params and not app.run().warning


def dropped_models(app: AppTest) -> dict[str, own_models.OwnModel]:
    return app.session_state[own_models._PLACE]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda whole: b"words", "is no safetensors file"),
        (lambda whole: whole[:-10], "was cut short"),
        (lambda whole: changed(whole, data="folder:/etc@1x28x28"), "is neither a data set of capsviz"),
        (lambda whole: changed(whole, config={"iterations": 1000}), "has 1,000 iterations and here are at most 10"),
        (lambda whole: exchange.export("mnist-cnn"), "is a network without capsules"),
    ],
)
def test_a_wrong_file_is_one_sentence_and_the_page_stays(visit: Visit, content: bytes, make, said: str):
    app = drop(visit(), make(content))
    [error] = app.error
    assert said in error.value.replace("\\", "") and not any("yours" in label for label in labels(app))
    assert not drop(app, content).error and any("yours" in label for label in labels(app))


@pytest.mark.parametrize("name", ["nut.html", "photo.JPG", "nut"])
def test_a_file_of_another_kind_is_refused_by_its_own_name(content: bytes, name: str):
    with pytest.raises(zoo.ZooError) as error:
        own_models.receive(name, content, ())
    assert str(error.value).startswith(f"{name} is neither a model (.capsviz) nor a trace (.safetensors); drop one")


def test_what_was_wrong_with_a_file_is_said_until_the_page_is_left_or_something_removed(visit: Visit, content: bytes):
    app = drop(drop(visit(), content), b"words", "other.capsviz")
    assert len(app.error) == 1
    app.button(key="remove-mine.capsviz").click().run()
    assert not app.error and not app.exception
    drop(app, b"words")
    assert len(app.error) == 1
    assert not app.switch_page("views/em.py").run().error
    assert not app.exception


def test_another_file_of_the_name_on_stage_brings_other_capsules(visit: Visit, content: bytes):
    app = drop(visit(), content)
    app.query_params.update(capsule="250", frame="4", touch="mute:3")
    app.run()
    name = app.query_params["model"]
    drop(app, exchange.export("fashion-mnist-dr-residual"))
    assert dict(app.query_params) == {"model": name} and not app.error


def test_names_in_a_file_are_text_and_its_folder_is_not_looked_for(visit: Visit, tmp_path: Path, monkeypatch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
        entry = published(drawn(tmp_path / "my leaves"), "dr")
        whole = changed(exchange.export(entry.name), preset="**<b>bold</b>**")
    monkeypatch.chdir(tmp_path)  # the folder stands where a relative path would find it
    app = drop(visit("dynamic"), whole, "a *b* <i>c</i>.capsviz")
    assert not app.error and not app.warning
    assert "my leaves (not here)" in [option for box in app.selectbox for option in box.options]
    assert plain("**<b>bold</b>**") in spoken(app) and "**<b>bold" not in spoken(app)
    assert app.session_state["shown"].trace.classes == entry.classes
    for page, title in {"em": "EM routing", "discriminative": "L2"}.items():
        [error] = drop(visit(page), whole).error  # and no command, which could not train on images that are not here
        wanted = f"No {title} model that takes these images is here; choose a model of another data set than "
        assert error.value == f"{wanted}my leaves (not here)."


def test_what_a_model_file_is_taken_away_with_records_the_same_trace(content: bytes, tmp_path, monkeypatch):
    (tmp_path / "mine.capsviz").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    images = to_float(load("digits", "test").images[:1])
    network = exchange.load("mine.capsviz")
    assert isinstance(network, capsviz.CapsNet)
    one = capsviz.trace(network, images)
    assert torch.equal(one.activations, capsviz.trace(zoo.load("digits-dr"), images).activations)


def test_the_lines_of_a_dropped_model_name_its_classes(visit: Visit, tmp_path, monkeypatch):
    whole = exchange.export("fashion-mnist-l2-residual")
    app = opened(drop(visit("discriminative"), whole))
    shown = app.session_state["shown"].trace
    (tmp_path / "mine.capsviz").write_bytes(whole)
    monkeypatch.chdir(tmp_path)
    mine = recorded(app.code[0].value)
    assert mine.classes == shown.classes and "Trouser" in mine.classes
    assert_equal(mine, shown)
