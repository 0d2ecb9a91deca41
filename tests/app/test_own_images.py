"""Every page with a model of a folder of the user's own images."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from PIL import Image

from app.comparing import methods
from app.page import layout
from app.page.text import plain
from app.shared import resources
from app.sources import browsing, images, linked_picture, trace_sets
from capsviz import data, zoo
from capsviz.analysis import ascent, measuring, predictions
from capsviz.analysis.predictions import Predictions
from capsviz.boards.decoder import header
from capsviz.data.folder import Folder
from capsviz.tracing.trace import Trace
from capsviz.tracing.trace_set import TraceSet
from capsviz.tracing.trace_set_writer import record
from capsviz.training.config import TrainingConfig
from capsviz.training.evaluate import evaluate
from capsviz.training.loop import build
from capsviz.training.publish import exemplar_images
from tests.app.conftest import Visit
from tests.app.pictures import encoded
from tests.app.reading import boards, charts, live, spoken
from tests.app.test_pages import PAGES
from tests.folders import COUNTS, drawn, renamed

CLASSES = tuple(sorted(name.replace("/", "∕") for name in COUNTS))


def published(folder: Path, routing: str, *, decoder: bool = True) -> zoo.Entry:
    """An untrained network of the folder's images in the zoo, measured as any model is."""
    name = f"folder:{folder}@3x24x24"
    config = TrainingConfig(name, routing, "tiny", decoder=decoder)
    test, (images, labels) = data.load(name, "test"), exemplar_images(config)
    network = build(config, (3, 24, 24), len(test.classes)).eval()
    found = evaluate(zoo.shipped(network), test)
    entry = zoo.save(
        network, name=config.name, data=name, classes=test.classes, preset="tiny", test_error=found.error,
        test_count=found.count, command=config.command(), curves="", images=images, labels=labels, note=test.note,
    )  # fmt: skip
    measuring.measure(entry).save(predictions.path_of(entry))
    return entry


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder of images and a zoo of three networks for it."""
    place = tmp_path_factory.mktemp("own")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAPSVIZ_ZOO", str(place / "zoo"))
        for routing in ("dr", "em", "l2"):
            published(drawn(place / "shapes") if routing == "dr" else place / "shapes", routing)
    return place


@pytest.fixture
def own(made, monkeypatch) -> Path:
    monkeypatch.setenv("CAPSVIZ_ZOO", str(made / "zoo"))
    return made / "shapes"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_stands(own: Path, visit: Visit, page: str):
    app = visit(page, model="shapes-dr")
    assert not app.error and not app.warning
    if page not in ("start", "results", "mixtures"):
        assert plain(f"shapes test image 0, class {CLASSES[0]}") in spoken(app)


def test_the_board_and_the_decoder_are_of_its_classes_and_its_size(own: Path, visit: Visit):
    app = visit("dynamic", model="shapes-dr", image=4)
    [given] = boards(app)
    assert tuple(given.fields["classes"]) == CLASSES
    app = visit("perturb", model="shapes-dr", image=4)
    assert len(live(app)["decoders"]) == 1
    assert header(resources.decoder("shapes-dr"))["image"] == [3, 24, 24]


@pytest.mark.parametrize("view", ["image", "many", "distributions", "confusions", "wrong"])
def test_every_view_of_compare_stands(own: Path, visit: Visit, view: str):
    app = visit("compare", model="shapes-dr", view=view)
    assert not app.error, [error.value for error in app.error]
    assert "two digits" not in spoken(app)
    assert charts(app)


def test_the_own_images_are_browsed_by_split_and_class(own: Path, visit: Visit):
    app = visit("dynamic", model="shapes-dr", split="train", only=2)
    labels = data.load(f"folder:{own}@3x24x24", "train").labels
    assert f"shapes train image {int((labels == 2).nonzero()[0])}, class" in spoken(app), "the first of the class"
    assert "shapes" in app.selectbox(key="data").options
    assert app.selectbox(key="data").value == f"folder:{own}@3x24x24"
    [thumbs] = [group for group in app.button_group if group.key == "image_thumbs"]
    assert len(thumbs.options) == labels.bincount().tolist()[2]


def test_a_recorded_image_is_not_called_by_the_number_of_another_one(own: Path, visit: Visit, tmp_path, monkeypatch):
    monkeypatch.setenv(trace_sets.PLACE, str(tmp_path))
    test = data.load(f"folder:{own}@3x24x24", "test")
    record(zoo.load("shapes-dr"), test, tmp_path / "some", name="shapes-dr", count=2)
    app = visit("dynamic", model="shapes-dr", source="recorded", recording="some", image=1)
    assert not app.error and "shapes test image" not in spoken(app)
    label = int(TraceSet.open(tmp_path / "some").labels[1])
    assert plain(f"some, image 1, class {CLASSES[label]}") in spoken(app)


def test_images_of_another_data_set_are_browsed_by_its_classes(own: Path, visit: Visit):
    app = visit("dynamic", model="shapes-dr", data="digits")
    app.selectbox(key="only").set_value(7).run()
    assert not app.warning and app.query_params["only"] == "7" and app.selectbox(key="only").value == 7
    assert "Digits test image" in spoken(app) and "class 7" in spoken(app)
    app = visit("dynamic", model="shapes-dr", only=7)
    assert [each.value for each in app.warning] == ["These images have no class 7 (0 to 2); showing all classes."]
    assert app.selectbox(key="only").value == -1


def test_where_the_folder_of_a_link_is_gone_another_data_set_stands_in_with_a_warning(own: Path, visit: Visit):
    with renamed(own, "away"):
        app = visit("dynamic", model="shapes-dr", data=f"folder:{own}@3x24x24", image=2)
    assert [each.value for each in app.warning] == [
        "The images of shapes are not on this machine; showing those of Digits."
    ]


def test_of_a_class_without_a_test_image_compare_says_what_to_do(own: Path, visit: Visit, monkeypatch):
    known = resources.predictions

    def without_bars(name: str, drawer: str = "") -> Predictions:
        return replace(known(name, drawer), labels=known(name, drawer).labels.clamp(max=1))

    monkeypatch.setattr(resources, "predictions", without_bars)
    monkeypatch.setattr(methods, "as_measured", lambda *_: True)
    app = visit("compare", model="shapes-dr", view="many", only=2)
    said = "No test image shows bar; choose another class in the sidebar, or all."
    assert [each.value for each in app.error] == [said]


@pytest.mark.parametrize("page", ["dynamic", "perturb", "compare"])
def test_what_its_decoder_draws_is_a_source(own: Path, visit: Visit, page: str):
    app = visit(page, model="shapes-dr", source="generated", image=9)
    assert not app.error and "exemplar 1" in spoken(app)


@pytest.mark.parametrize(("page", "routing"), [("dynamic", "dr"), ("em", "em"), ("discriminative", "l2")])
def test_the_lines_that_record_the_trace_again_know_its_classes(own: Path, visit: Visit, page: str, routing: str):
    app = visit(page, model=f"shapes-{routing}", image=2)
    app.button(key="take_away").click().run()
    names: dict[str, Trace] = {}
    exec(app.code[0].value, names)
    shown: Trace = app.session_state["shown"].trace
    assert names["trace"].classes == shown.classes == CLASSES
    torch.testing.assert_close(names["trace"].poses, shown.poses)


def test_the_ascent_runs_on_its_own_training_images(own: Path, visit: Visit):
    app = visit("discriminative", model="shapes-l2", part="ascent", batch=16)
    assert not app.error
    assert "16 training images of shapes" in spoken(app)


def test_the_ascent_runs_anew_on_a_folder_that_has_changed(own: Path, visit: Visit, monkeypatch):
    fix = Mock(wraps=ascent.fix)
    monkeypatch.setattr(ascent, "fix", fix)
    for state in ((1,), (2,), (2,)):
        monkeypatch.setattr(browsing, "state", lambda _, state=state: state)
        assert not visit("discriminative", model="shapes-l2", part="ascent", batch=16, steps=1, draw=77).error
    assert fix.call_count == 2


def test_a_batch_of_the_ascent_has_no_more_images_than_there_are(own: Path, visit: Visit):
    every = len(data.load(f"folder:{own}@3x24x24", "train"))
    app = visit("discriminative", model="shapes-l2", part="ascent", steps=2, batch=128)
    assert 16 < every < 128 and f"All {every} training images of shapes, draw 0" in spoken(app)
    assert app.button(key="redraw").label == "Another fresh b" and not app.button(key="redraw").disabled
    assert visit("discriminative", model="shapes-l2", part="ascent", start="trained", steps=2).button("redraw").disabled
    assert visit("discriminative", model="shapes-l2", part="ascent", steps=2, batch=16).button("redraw").label == (
        "Another batch"
    )


def test_a_penalty_without_a_model_is_not_offered(own: Path, visit: Visit):
    assert "penalty" not in [group.key for group in visit("discriminative", model="shapes-l2").button_group]
    app = visit("discriminative", model="shapes-l2", penalty="l1")
    assert not app.error and "No L1 model" in spoken(app) and "Here it is L2." in spoken(app)


def test_drawn_wrong_is_about_the_chosen_model_and_counts_what_there_is(own: Path, visit: Visit):
    app = visit("compare", model="shapes-em", view="wrong")
    assert "<b>EM routing</b> names" in spoken(app)
    right = int(predictions.recorded(zoo.entry("shapes-em")).right.sum())
    assert app.button_group(key="sample").options[1] == f"All {right}, in their order"


def test_drawn_wrong_advises_to_train_on_the_folder_where_it_is_known(visit: Visit, show_only, monkeypatch):
    monkeypatch.setattr(methods, "records", lambda current: {})
    for name, remedy in {
        "folder:/my leaves@1x28x28": "`capsviz train --data 'folder:/my leaves@1x28x28' --routing dr` trains one.",
        "my leaves (not here)": "choose another view.",
    }.items():
        show_only(["digits-dr"], name)
        app = visit("compare", model="digits-dr", view="wrong")
        assert [error.value for error in app.error] == [
            f"No decoder of {data.title_of(name)} draws the capsules of any model here; {remedy}"
        ]


def test_a_model_of_another_data_set_takes_its_images(own: Path, visit: Visit):
    app = visit("dynamic", model="shapes-dr", data="digits", image=3)
    assert not app.error and "Digits test image 3" in spoken(app)


def test_a_folder_that_moved_says_what_to_do_and_every_page_stands(own: Path, visit: Visit):
    with renamed(own, "elsewhere"):
        for page in PAGES:
            app = visit(page, model="shapes-dr")
            assert not app.error, (page, [error.value for error in app.error])
        app = visit("dynamic", model="shapes-dr")
        assert f"There is no folder {own}; put it back there, or into" in spoken(app)
        assert "generated" in spoken(app)
        app = visit("compare", model="shapes-dr", view="confusions")
        assert not app.error
    assert f"There is no folder {own}" not in spoken(visit("dynamic", model="shapes-dr"))


def test_a_folder_that_cannot_be_used_is_called_by_its_name_and_every_page_stands(own: Path, visit: Visit, tmp_path):
    kept = [(own / name, tmp_path / name.replace("*", "")) for name in CLASSES[1:]]
    for place, away in kept:
        place.rename(away)
    try:
        for page in PAGES:
            app = visit(page, model="shapes-dr")
            assert not app.error, (page, [error.value for error in app.error])
        app = visit("dynamic", model="shapes-dr")
        assert app.selectbox(key="model_data").options.count("shapes") == 1 and "generated" in spoken(app)
        assert "has 1 sub-folder with pictures: 2 to 1,000 classes can be told apart" in spoken(app)
    finally:
        for place, away in kept:
            away.rename(place)


@contextmanager
def another_class(folder: Path, name: str) -> Iterator[None]:
    """In here a folder has another class, of five images of one of its own."""
    (folder / name).mkdir()
    for number in range(5):
        shutil.copy(folder / "bar" / "000.png", folder / name / f"{number}.png")
    try:
        yield
    finally:
        shutil.rmtree(folder / name)


@pytest.mark.parametrize("view", ["many", "distributions", "confusions", "wrong"])
def test_images_that_came_after_the_measurement_are_not_shown_with_its_figures(own: Path, visit: Visit, view: str):
    before = visit("compare", model="shapes-dr", view=view, method="shapes-dr")
    assert "not those that were measured" not in spoken(before)
    with another_class(own, "apple"):
        with pytest.raises(predictions.PredictionsError, match="its images are others now, `capsviz zoo add` the run"):
            measuring.measure(zoo.entry("shapes-dr"))
        app = visit("compare", model="shapes-dr", view=view, method="shapes-dr")
        assert not app.error
        if view == "distributions":
            assert "puts its image on stage" in spoken(before) and "puts its image on stage" not in spoken(app)
        else:
            assert "The test images of shapes here are not those that were measured" in spoken(app)


def test_images_that_come_while_the_app_runs_are_browsed_under_their_own_classes(own: Path, visit: Visit):
    assert plain(f"shapes test image 0, class {CLASSES[0]}") in spoken(visit("dynamic", model="shapes-dr"))
    with another_class(own, "#first"):
        app = visit("dynamic", model="shapes-dr", image=1)
        assert plain(f"shapes test image 1, class {CLASSES[0]}") in spoken(app)
        assert plain("shapes test image 0, class #first") in spoken(visit("dynamic", model="shapes-dr"))


def test_convergence_is_told_of_models_of_a_folder(own: Path, visit: Visit, tmp_path: Path, monkeypatch):
    shutil.copytree(zoo.folder(), tmp_path / "zoo")
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
    with zoo.manifest.changing() as (entries, _):
        pass
    assert set(zoo.models()) == set(entries)
    for experiment in ("table", "convergence"):
        app = visit("results", model="shapes-dr", experiment=experiment)
        assert not app.error and not app.exception


def test_of_many_classes_one_is_chosen_in_a_list(own: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(layout, "SIDE_BY_SIDE", 2)
    app = visit("dynamic", model="shapes-dr", **{"class": 1})
    picker = app.selectbox(key="upper")
    assert [option.removesuffix(" ◂") for option in picker.options] == list(CLASSES) and picker.value == 1
    picker.set_value(2).run()
    assert app.query_params["class"] == "2"
    assert boards(app)[0].fields["upper"] == 2


def test_a_picture_for_large_images_is_whole_here_and_coarser_from_the_link(own, visit, monkeypatch):
    monkeypatch.setattr(linked_picture, "LARGEST", 16)
    app = visit("dynamic", model="shapes-dr", source="upload")
    assert "only with 16 pixels a side, it becomes part of the link" in spoken(app)
    content = next((own / "bar").glob("*.png")).read_bytes()
    app.file_uploader(key="file").upload("mine.png", content, "image/png").run()
    assert not app.exception and not app.error
    assert images.COARSER in spoken(app) and "your picture mine" in spoken(app)
    assert "as small as the model sees it" not in spoken(app), "the link is coarser, which is said once"
    link = app.query_params["picture"]
    assert linked_picture.read(link).shape == (3, 16, 16)
    there = visit("dynamic", model="shapes-dr", source="upload", picture=link)
    assert not there.error and images.COARSE in spoken(there)


def test_a_deep_picture_is_as_dark_as_it_is_among_the_images_of_the_model(own, visit, monkeypatch):
    """White in the folder is the level 65,535: a picture of at most 3,000 is a dark one there."""
    monkeypatch.setattr(Folder, "levels", lambda *_: {"I": (0.0, 50_000.0)})
    app = visit("dynamic", model="shapes-dr", source="upload")
    picture = encoded(Image.fromarray(np.full((24, 24), 3000, np.uint16)))
    app.file_uploader(key="file").upload("mine.png", picture, "image/png").run()
    assert not app.exception and "White is the level 65,535, as in the images of the model." in spoken(app)
    assert linked_picture.read(app.query_params["picture"]).unique().tolist() == [12]


@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("start", {}),
        ("compare", {}),
        ("compare", {"view": "many", "order": "worst"}),
        ("compare", {"view": "distributions"}),
        ("compare", {"view": "confusions"}),
    ],
)
def test_models_measured_on_other_images_do_not_stand_together(tmp_path, monkeypatch, visit: Visit, page, link):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
    folder = drawn(tmp_path / "shapes")
    published(folder, "dr")
    for number in range(100, 110):
        shutil.copy(folder / "bar" / "000.png", folder / "bar" / f"{number}.png")
    published(folder, "l2")
    app = visit(page, model="shapes-l2", **link)
    assert not app.error
    if "view" in link:
        said = "on other images than shapes-l2 and left out: shapes-dr; `capsviz zoo measure shapes-l2 shapes-dr`"
        assert any(said in caption.value for caption in app.caption)
    if link.get("view") == "distributions":
        assert len(app.dataframe[0].value) == zoo.entry("shapes-l2").test_count


def test_what_a_decoder_drew_of_other_images_does_not_stand_beside(tmp_path, monkeypatch, visit: Visit):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path / "zoo"))
    folder = drawn(tmp_path / "shapes")
    published(folder, "dr")
    for number in range(100, 110):
        shutil.copy(folder / "bar" / "000.png", folder / "bar" / f"{number}.png")
    published(folder, "l2", decoder=False)
    app = visit("compare", model="shapes-l2-fc", view="wrong", method="shapes-l2-fc")
    assert not app.error and not app.exception
    assert "drawn by the decoder of" in spoken(app) and "own reconstructions" not in spoken(app)
