"""Compare's views: each computes from the records, follows the link, and puts the image that is picked on stage."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from app import scene
from app.comparing import many_images
from app.shared import resources
from app.sources import browsing, images
from app.state.choices import VIEWS, Choices
from capsviz import zoo
from capsviz.analysis.disagreement import difference, most
from capsviz.analysis.measuring import measure
from capsviz.analysis.predictions import drawings, path_of, recorded
from capsviz.data import MultiDigits
from capsviz.data.exemplars import exemplars
from capsviz.routing import ALGORITHMS
from capsviz.training.evaluate import evaluate
from tests.app.conftest import Visit
from tests.app.reading import spoken
from tests.known import known, single_digits
from tests.zoos import SECOND, with_second_seed

COUNT = Choices("digits-dr").count


def figures(app: AppTest) -> dict[str, dict]:
    """The figures on the page by the first word of their key."""
    found = app.get("plotly_chart")
    return {chart.proto.id.split("-")[-1]: json.loads(chart.proto.spec) for chart in found} | {
        word: json.loads(chart.proto.spec) for chart in found for word in chart.proto.id.split("-") if word.isalpha()
    }


def columns(figure: dict) -> list[int]:
    """The images of a grid's columns."""
    return next(trace["customdata"] for trace in figure["data"] if "customdata" in trace)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_stands_and_explains_itself(visit: Visit, view: str):
    app = visit("compare", model="digits-dr", view=view)
    assert not app.error and not app.warning
    assert app.button_group(key="view").value == view
    assert figures(app)
    assert app.latex and "Source:" in spoken(app)


def test_where_images_show_two_digits_two_are_named_drawn_and_judged(
    visit: Visit, show_only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    pairs = MultiDigits(single_digits())
    monkeypatch.setattr(browsing, "_loaded", lambda name, split: pairs)
    monkeypatch.setattr("capsviz.data.available", lambda name: True)
    show_only(["digits-dr", "digits-l2"], "multi-mnist")
    app = visit("compare", model="digits-dr", image=5)
    on_stage = images.from_data("multi-mnist", "test", 5, resources.entries()["digits-dr"])
    shown = " and ".join(map(str, on_stage.labels))
    said = [note["text"] for note in figures(app)["reconstructions"]["layout"]["annotations"]]
    assert len(on_stage.labels) == 2 and f"labelled {shown}" in said
    first, second = resources.trace("digits-dr", on_stage.key, 3).named[0].tolist()
    assert any(text.startswith(f"<b>{first}</b>, length") and f"<br><b>{second}</b>, length" in text for text in said)
    table, sure = app.dataframe[0].value, resources.trace("digits-dr", on_stage.key, 3).activations[0, second]
    assert table["Length of the weaker"][0] == pytest.approx(float(sure), abs=1e-5)
    verdict = "✓" if {first, second} == set(on_stage.labels) else f"✗ ({shown})"
    assert table["Predicted"][0] == f"{first} and {second} {verdict}"


def test_of_two_digits_a_model_of_one_is_right_where_it_names_either(visit: Visit):
    verdicts = set()
    for image in exemplars("multi-mnist").indices[:3]:
        table = visit("compare", model="mnist-dr-paper", data="multi-mnist", image=image).dataframe[0].value
        shown = images.from_data("multi-mnist", "test", image, resources.entries()["mnist-dr-paper"]).labels
        for said in table["Predicted"]:
            named, verdict = said.split()[:2]
            assert verdict == ("✓" if int(named) in shown else "✗"), said
            verdicts.add(verdict)
    assert "✓" in verdicts


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_stands_for_two_digits_an_image_where_the_images_are_not_here(visit: Visit, view: str):
    app = visit("compare", model="multi-mnist-l2-residual", view=view)
    assert not app.error and not app.warning
    assert figures(app)


def test_every_view_counts_and_draws_two_digits_an_image(
    visit: Visit, show_only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    """As if these were MultiMNIST: pairs of the embedded digits, and a network of single ones measured on them."""
    pairs, network = MultiDigits(single_digits(), reach=0), zoo.load("digits-dr")
    told = evaluate(network, pairs)
    entry = replace(zoo.entry("digits-dr"), data="multi-mnist", test_error=told.error, test_count=told.count)
    monkeypatch.setattr("capsviz.analysis.measuring.load", lambda *_: pairs)
    record = measure(entry)
    monkeypatch.setattr(browsing, "_loaded", lambda name, split: pairs)
    monkeypatch.setattr(browsing, "whole_set", lambda name, split: pairs)
    monkeypatch.setattr("capsviz.data.available", lambda name: True)
    monkeypatch.setattr(resources, "predictions", lambda name, drawer="": record)
    show_only(["digits-dr"], "multi-mnist")
    monkeypatch.setattr(resources, "all_entries", resources.entries)
    shown = [" and ".join(map(str, labels)) for labels in record.labels.tolist()]

    app = visit("compare", model="digits-dr", view="many", image=17, n=4)
    grid = figures(app)["grid"]
    assert grid["layout"]["yaxis"]["ticktext"] == ["Input", "Dynamic routing"]
    assert grid["layout"]["xaxis"]["ticktext"] == [f"{n}<br><b>{shown[n]}</b>" for n in (17, 18, 19, 20)]
    first, second = record.predicted[17].tolist()
    assert f"image 17 is named {first} and {second} (" in json.dumps(grid)

    table = visit("compare", model="digits-dr", view="distributions").dataframe[0].value
    assert list(table["Class"]) == shown

    matrices = visit("compare", model="digits-dr", view="confusions")
    assert "where one is missed" in spoken(matrices)
    titles = [note["text"] for note in figures(matrices)["confusions"]["layout"]["annotations"]]
    assert f"<b>Dynamic routing</b><br>{record.wrong:,} wrong" in titles
    label, named, count = record.largest_confusions(10, 1)[0]
    one = visit("compare", model="digits-dr", view="confusions", method="digits-dr")
    assert f"{count} images of {label} taken for {named}" in spoken(one)
    said = json.dumps(figures(one)["cell"])
    place = int(record.taken(label, named)[0])
    assert f"image {place}, named {record.predicted[place, 0]} and {record.predicted[place, 1]}" in said

    wrong = visit("compare", model="digits-dr", view="wrong")
    assert f"names {int(record.right.sum()):,} of {len(record):,} MultiMNIST test images rightly" in spoken(wrong)


@pytest.mark.parametrize(
    ("model", "presets"),
    [("mnist-dr-paper", ["paper", *["residual"] * 3]), ("mnist-dr-residual", []), ("digits-dr", [])],
)
def test_networks_of_several_presets_say_under_their_drawings_which_they_are(
    visit: Visit, model: str, presets: list[str]
):
    notes = figures(visit("compare", model=model))["reconstructions"]["layout"]["annotations"]
    assert [note["text"].rpartition("preset ")[2] for note in notes if "preset " in note["text"]] == presets


def test_another_view_goes_to_the_url(visit: Visit):
    app = visit("compare", model="digits-dr")
    app.button_group(key="view").set_value("confusions").run()
    assert app.query_params["view"] == "confusions"
    assert "confusions" in figures(app)


def test_presented_matrices_are_not_pressed_into_one_another(visit: Visit):
    """As much taller as their type is larger: the title of a row would lie over the matrices above it."""
    plain = figures(visit("compare", model="digits-dr", view="confusions"))["confusions"]["layout"]
    shown = figures(visit("compare", model="digits-dr", view="confusions", present=1))["confusions"]["layout"]
    larger = shown["font"]["size"] / plain["font"]["size"]
    assert larger > 1 and shown["height"] == pytest.approx(larger * plain["height"], abs=1)


def test_the_grid_begins_with_the_image_on_stage(visit: Visit):
    app = visit("compare", model="digits-dr", view="many", image=17, n=4)
    grid = figures(app)["grid"]
    assert columns(grid) == [17, 18, 19, 20]
    titles = ["Input", *(each.title for each in ALGORITHMS.values())]
    titles.insert(titles.index("EM routing") + 1, "EM, matrix capsules")
    assert grid["layout"]["yaxis"]["ticktext"] == titles
    assert len(grid["layout"]["shapes"]) == 1


@pytest.mark.parametrize(("by", "digits"), [("mse", 4), ("ssim", 2)])
def test_the_grid_writes_the_chosen_measure_below_each_drawing_and_says_both(visit: Visit, by: str, digits: int):
    record = recorded(zoo.entry("digits-dr"))
    grid = figures(visit("compare", model="digits-dr", view="many", image=17, n=4, measure=by))["grid"]
    written = [note["text"] for note in grid["layout"]["annotations"]]
    assert written[0] == f"{float(record.figures(by)[17]):.{digits}f}"
    said = f"MSE {float(record.figures('mse')[17]):.4f}, SSIM {float(record.figures('ssim')[17]):.2f}"
    assert said in json.dumps(grid)


@pytest.mark.parametrize("by", ["mse", "ssim"])
def test_the_most_different_images_of_a_pair_are_those_of_the_records(visit: Visit, by: str):
    app = visit("compare", model="digits-dr", view="many", order="different", pair="digits-em,digits-l2", measure=by)
    em, l2 = (recorded(zoo.entry(name)) for name in ("digits-em", "digits-l2"))
    grid = figures(app)["grid"]
    assert columns(grid) == most(difference(em, l2, by), COUNT).tolist()
    assert grid["layout"]["yaxis"]["ticktext"][-1] == "L2<br>− EM routing"
    [*_, last] = [each for each in grid["data"] if each["type"] == "image"]
    shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(last["source"].partition(",")[2]))))[:, :28].astype(int)
    less, more = (drawings(each, zoo.load(each.name))[columns(grid)[0], 0].numpy() for each in (em, l2))
    assert (more - less > 0.2).any() and (shown[..., 0] > shown[..., 2])[more - less > 0.2].all()


def test_the_most_different_drawings_are_found_without_the_data_set(visit: Visit):
    link = {"model": "mnist-dr-paper", "view": "many", "order": "different", "measure": "drawings"}
    app = visit("compare", **link)
    grid = figures(app)["grid"]
    assert len(columns(grid)) == COUNT
    assert "Input" not in grid["layout"]["yaxis"]["ticktext"]
    assert "Only 200 test images of MNIST are on this machine, so inputs are not shown" in spoken(app)


def test_choosing_the_other_model_of_the_pair_changes_places(visit: Visit):
    app = visit("compare", model="digits-dr", view="many", order="different", pair="digits-em,digits-l2")
    app.selectbox(key="pair0").set_value("digits-l2").run()
    assert app.query_params["pair"] == "digits-l2,digits-em"


def test_both_models_of_the_pair_chosen_before_the_page_is_drawn_count(visit: Visit):
    app = visit("compare", model="digits-dr", view="many", order="different")
    app.selectbox(key="pair0").set_value("digits-l2")
    app.selectbox(key="pair1").set_value("digits-l1")
    app.run()
    assert app.query_params["pair"] == "digits-l2,digits-l1"


def test_a_pair_of_another_data_set_gives_way_to_the_first_two(visit: Visit):
    app = visit(
        "compare", model="digits-dr", view="many", order="different", pair="mnist-em-residual,mnist-l2-residual"
    )
    assert app.selectbox(key="pair0").value == "digits-dr"
    assert app.selectbox(key="pair1").value == "digits-em"
    app.selectbox(key="pair0").set_value("digits-l1").run()
    assert app.query_params["pair"] == "digits-l1,digits-em", "beside the one that is shown"


def test_distributions_mark_the_image_on_stage_and_list_every_image(visit: Visit):
    app = visit("compare", model="digits-dr", view="distributions", image=7, measure="ssim")
    mark = figures(app)["distributions"]["data"][-1]
    expected = float(known(recorded(zoo.entry("digits-dr")).ssim)[7])
    assert mark["name"] == "Digits test image 7, class 9"
    assert mark["x"][mark["text"].index("Dynamic routing")] == pytest.approx(expected)
    table = app.dataframe[0].value
    assert len(table) == 360
    assert table["Dynamic routing"][7] == pytest.approx(expected)
    columns = json.loads(app.dataframe[0].proto.columns)
    assert columns["Dynamic routing"]["label"] == "DR"
    assert columns["EM, matrix capsules"]["label"] == "EM matrix"


def test_where_the_image_of_the_link_is_not_here_the_one_on_stage_is_marked(visit: Visit):
    app = visit("compare", model="digits-dr", view="distributions", image=99_999)
    start = browsing.start("digits", "test")
    assert [f"showing image {start} instead" in each.value for each in app.warning] == [True]
    assert f"Digits test image {start}" in spoken(app) and "Digits test image 0" not in spoken(app)


@pytest.mark.parametrize("by", ["mse", "ssim"])
def test_methods_may_stand_in_the_order_of_their_medians(visit: Visit, by: str):
    app = visit("compare", model="digits-dr", view="distributions", sort="median", measure=by)
    shown = [trace["name"] for trace in figures(app)["distributions"]["data"][:-1]]
    medians = {
        zoo.entry(f"digits-{r}").name: recorded(zoo.entry(f"digits-{r}")).median(by) for r in (*ALGORITHMS, "matrix")
    }
    titles = {f"digits-{name}": algorithm.title for name, algorithm in ALGORITHMS.items()}
    titles["digits-matrix"] = "EM, matrix capsules"
    assert shown == [titles[name] for name in sorted(medians, key=medians.__getitem__, reverse=by == "ssim")]


def test_a_cell_that_only_another_model_of_such_images_has_leaves_the_matrix(visit: Visit, monkeypatch):
    known = scene.catalogue()
    monkeypatch.setattr(scene, "catalogue", lambda: replace(known, most={**known.most, "digits-dr": 20}))
    shown = figures(visit("compare", model="digits-dr", view="confusions", method="digits-dr", cell="15-3"))
    first = figures(visit("compare", model="digits-dr", view="confusions", method="digits-dr"))
    assert shown.keys() == first.keys() and "matrix" in shown


def test_a_cell_shows_its_images(visit: Visit):
    label, named, count = recorded(zoo.entry("digits-em")).largest_confusions(10, 1)[0]
    app = visit("compare", model="digits-dr", view="confusions", method="digits-em", cell=f"{label}-{named}")
    assert f"{images.counted(count)} of {label} taken for {named}" in spoken(app)
    assert "cell" in figures(app) and "matrix" in figures(app)


def test_every_cell_is_read_and_chosen_without_a_pointer(visit: Visit):
    counts = recorded(zoo.entry("digits-em")).confusion(10)
    app = visit("compare", model="digits-dr", view="confusions", method="digits-em")
    cells = app.selectbox(key="every-cell")
    assert cells.options == [f"{row} → {column} · {counts[row, column]}" for row, column in counts.nonzero().tolist()]
    cells.select((7, 7)).run()
    assert app.query_params["cell"] == "7-7"
    assert f"{images.counted(int(counts[7, 7]))} of 7 named rightly" in spoken(app)


def test_a_method_without_errors_shows_what_it_names_rightly(visit: Visit, monkeypatch: pytest.MonkeyPatch):
    record = recorded(zoo.entry("digits-em"))
    faultless = replace(record, predicted=record.labels)
    monkeypatch.setattr(resources, "predictions", lambda *_: faultless)
    app = visit("compare", model="digits-dr", view="confusions", method="digits-em")
    assert not app.error and f"{images.counted(int((record.labels == 0).sum()))} of 0 named rightly" in spoken(app)


def test_a_network_without_capsules_has_a_matrix_of_its_own(visit: Visit):
    app = visit("compare", model="mnist-dr-paper", view="confusions")
    app.button_group(key="method").set_value("mnist-cnn").run()
    assert not app.warning and app.query_params["method"] == "mnist-cnn"
    assert app.button_group(key="method").value == "mnist-cnn" and "taken for" in spoken(app)


def test_drawn_wrong_counts_over_the_whole_test_set(visit: Visit):
    app = visit("compare", model="digits-dr", view="wrong")
    record = recorded(zoo.entry("digits-l2-fc"))
    assert f"<b>{int(record.drawn_wrong.sum())}</b> of these read as another class" in spoken(app)
    grid = figures(app)["wrong"]
    assert len(grid["layout"]["shapes"]) == 25
    place = columns(grid)[0]
    last = grid["layout"]["annotations"][-1]["text"][:3]
    named, again = record.predicted[place], known(record.reread)[place]
    said = f"image {place} is named {named}, its drawing in {last} reads as {again}"
    assert last != "(a)" and said in json.dumps(grid)
    app.button_group(key="sample").set_value("first").run()
    assert app.query_params["sample"] == "first"
    first = figures(app)["wrong"]
    assert len(columns(first)) == 100
    assert len(first["layout"]["shapes"]) == int(record.drawn_wrong[columns(first)].sum())


def test_one_drawing_reads_and_several_read(visit: Visit):
    assert int(recorded(zoo.entry("digits-l2")).drawn_wrong.sum()) == 1
    said = spoken(visit("compare", model="digits-l2", view="wrong", method="digits-l2"))
    assert "Of its own reconstructions of these, <b>1</b> reads to it as another class (framed)." in said


@pytest.mark.parametrize(("model", "shown"), [("digits-l1-fc", "L1/FC"), ("digits-l2", "L2/FC")])
def test_drawn_wrong_begins_with_the_chosen_model_where_it_has_no_decoder(visit: Visit, model: str, shown: str):
    assert f"<b>{shown}</b> names" in spoken(visit("compare", model=model, view="wrong"))


def test_drawn_wrong_says_that_its_control_is_missing_and_how_to_make_it(visit: Visit):
    said = spoken(visit("compare", model="digits-dr", view="wrong", method="digits-l2-fc"))
    assert "What is missing is a control: a dynamic routing model of another seed" in said
    assert "`capsviz zoo train digits-dr --seeds 2`" in said and "`capsviz zoo measure`" in said
    assert "right without being drawable" not in said
    presented = spoken(visit("compare", model="digits-dr", view="wrong", method="digits-l2-fc", present=1))
    assert "What is missing is a control" in presented and "`capsviz zoo train" not in presented


def test_drawn_wrong_stands_beside_its_control(visit: Visit, tmp_path, monkeypatch):
    with_second_seed(tmp_path)
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
    second, drawer = zoo.entry(SECOND), zoo.entry("digits-dr")
    app = visit("compare", model="digits-dr", view="wrong", method="digits-l2-fc")
    assert f"The control, {SECOND} drawn by the decoder of digits-dr, is missing" in spoken(app)
    assert f"`capsviz zoo measure {SECOND}`" in spoken(app)
    for by in (None, drawer):
        measure(second, by).save(path_of(second, by))
    app = visit("compare", model="digits-dr", view="wrong", method="digits-l2-fc")
    control, shown = recorded(second, drawer), recorded(zoo.entry("digits-l2-fc"))
    wrong, right = int(control.drawn_wrong.sum()), int(control.right.sum())
    share, theirs = 100 * wrong / right, 100 * int(shown.drawn_wrong.sum()) / int(shown.right.sum())
    said = spoken(app)
    assert f"<b>{wrong}</b> of the {right} that it names rightly" in said
    assert f"read as another class: {share:.0f} %, beside {theirs:.0f} %." in said
    alike = share > theirs - 5
    assert ("it is the foreign decoder that cannot draw" in said) == alike
    assert ("are harder to draw" in said) != alike
    titles = [note["text"].replace("<br>", " ") for note in figures(app)["wrong"]["layout"]["annotations"]]
    assert titles == [
        "(a) input",
        "(b) Dynamic routing, reconstructed",
        "(c) control: Dynamic routing, seed 1, drawn by Dynamic routing",
        "(d) L2/FC capsules, drawn by Dynamic routing",
    ]


@pytest.mark.parametrize("view", VIEWS[1:])
def test_without_records_a_view_says_which_command_makes_them(visit: Visit, monkeypatch, tmp_path, view: str):
    resources._predictions.clear()
    monkeypatch.setattr("capsviz.analysis.predictions.path_of", lambda entry, _: tmp_path / entry.name)
    app = visit("compare", model="digits-dr", view=view)
    assert "`capsviz zoo measure digits-dr" in app.error[0].value


def test_a_long_word_in_the_name_of_a_class_is_cut_and_goes_on_in_no_other_line():
    assert many_images._name("Androella aizoides", 9) == "Androel…<br>aizoides"
    assert many_images._name("Arctostaphylos uva-ursi subsp. alpina <b>", 9).count("<br>") == 2
    assert many_images._name("Androella aizoides", 4) == "Androella aizoides"
