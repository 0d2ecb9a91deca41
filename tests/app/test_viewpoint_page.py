"""The Viewpoint page: one change over its whole range, and the amount on stage is the viewpoint of all pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from app.shared import resources
from app.sources import browsing, linked_picture
from app.state import session
from app.state.choices import Catalogue
from capsviz import zoo
from capsviz.analysis.pooling import pooling
from capsviz.boards.message import Message
from capsviz.data import to_float
from capsviz.data.viewpoint import CHANGES
from capsviz.experiments import reports, results
from capsviz.network import CNN
from tests.app.conftest import Visit
from tests.app.reading import charts, messages, spoken
from tests.known import known


def board(app) -> Message:
    """What the board was given to show."""
    return next(message for message in messages(app) if "amounts" in message.fields)


def on_stage(given: Message) -> float:
    """The amount at which the board stands."""
    at: Any = given.fields["frame"]
    return given.fields["amounts"][-1 if at is None else at]


def test_all_methods_of_the_data_set_stand_beside_one_another_and_the_cnn_with_its_pooled_features(visit: Visit):
    app = visit("viewpoint", model="mnist-em-residual", details=1)
    given = board(app)
    assert not app.error and not app.warning
    assert [method["title"] for method in given.fields["methods"]] == [
        "DR",
        "EM",
        "L2",
        "L1",
        "CNN (compact)",  # no other is in pretrained/
    ]
    assert given.fields["drawer"] == "mnist-em-residual" and on_stage(given) == 0
    assert [panel["title"].split(":")[0] for panel in given.fields["panels"]] == [
        f"mnist-em-residual, class capsule {given.fields['label']}",
        "mnist-cnn, max pooling",
    ]
    report = reports.report("viewpoint")
    assert all(sentence in spoken(app) for sentence in (report.sentences[0], report.markdown, "Source:"))


def test_details_are_about_the_change_that_is_played_and_stand_where_nothing_was_measured(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    _, *each, how = reports.report("viewpoint").sentences
    shown = spoken(visit("viewpoint", model="digits-dr", change="scale", details=1))
    assert [sentence for sentence in each if sentence in shown] == [each[3]] and each[3].startswith("Scale:")
    assert how in shown
    monkeypatch.setenv("CAPSVIZ_RESULTS", str(tmp_path))
    app = visit("viewpoint", model="digits-dr", details=1)
    assert "Not measured here yet: `capsviz experiment viewpoint` does it." in spoken(app)


def test_details_tell_each_data_set_that_was_measured_of_the_change_that_is_played(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    measured = known(results.read("viewpoint"))
    more = [row | {"data": "fashion-mnist"} for row in measured["rows"]]
    monkeypatch.setenv("CAPSVIZ_RESULTS", str(tmp_path))
    results.write("viewpoint", measured | {"rows": measured["rows"] + more})
    shown = spoken(visit("viewpoint", model="digits-dr", change="scale", details=1))
    mine = [sentence for sentence in reports.report("viewpoint").sentences if sentence in shown]
    assert sum("Scale: R²" in sentence for sentence in mine) == 2 and not any("Rotation: R²" in one for one in mine)
    assert [sum(one.startswith(f"{data}, first") for one in mine) for data in ("MNIST", "Fashion-MNIST")] == [3, 3]


def test_where_a_data_set_has_no_cnn_another_that_reads_its_images_stands_in_by_name(visit: Visit):
    given = board(visit("viewpoint", model="digits-l1"))
    assert given.fields["methods"][-1]["title"] == "CNN (mnist-cnn)"
    assert "Attention" in [method["title"] for method in given.fields["methods"]]


def test_max_pooling_is_told_in_numbers_of_the_image_on_stage(visit: Visit):
    for viewpoint in ("right_0", "right_3"):
        app = visit("viewpoint", model="mnist-dr-paper", viewpoint=viewpoint)
        found = re.search(r"\*\*(\d+) of (\d+)\*\* kept numbers are the same", spoken(app))
        image = torch.from_numpy(board(app).arrays["images"].reshape(-1, 1, 28, 28).astype("float32"))
        frame: Any = board(app).fields["frame"]
        cnn = zoo.load_network("mnist-cnn")
        assert isinstance(cnn, CNN)
        own = pooling(cnn, (255 * image[frame]).round().to(torch.uint8))
        assert known(found).groups() == (str(int(own.same.sum())), str(int(own.busy.sum())))
        assert {"before", "pooled", "shifted"} <= charts(
            app
        ).keys() and f"**{int(own.moved.sum())}** of them (rings)" in spoken(app)
    assert "pooled" not in charts(visit("viewpoint", model="cifar10-dr-residual", change="scale"))


@pytest.mark.parametrize("change", CHANGES)
def test_a_link_says_which_change_and_at_which_amount(visit: Visit, change: str):
    amount = CHANGES[change].high
    given = board(visit("viewpoint", model="digits-dr", change=change, viewpoint=f"{change}_{amount:g}"))
    assert given.fields["change"] == CHANGES[change].title
    assert on_stage(given) == amount and given.fields["amounts"][0] == CHANGES[change].low


def test_an_amount_between_the_steps_stands_in_its_place_and_other_changes_stay(visit: Visit):
    app = visit("viewpoint", model="digits-dr", viewpoint="rotation_31_right_2")
    given = board(app)
    assert on_stage(given) == 31 and given.fields["amounts"] == sorted(given.fields["amounts"])
    plain = board(visit("viewpoint", model="digits-dr", viewpoint="rotation_31"))
    shape = (len(given.fields["amounts"]), *given.fields["shape"])
    shifted, still = (each.arrays["images"].reshape(shape) for each in (given, plain))
    assert (shifted[:, :, :, 2:] != still[:, :, :, 2:]).any()


def test_the_picker_plays_another_change_and_the_amounts_on_stage_stay(visit: Visit):
    app = visit("viewpoint", model="digits-dr", viewpoint="rotation_20")
    app.button_group(key="change").set_value("shear").run()
    assert not app.exception
    assert app.query_params["change"] == "shear" and app.query_params["viewpoint"] == "rotation_20"
    assert board(app).fields["change"] == "Shear" and on_stage(board(app)) == 0


def test_an_unknown_change_is_a_sentence():
    catalogue = Catalogue("digits-dr", {"digits-dr": 10}, ("digits",))
    choices, notices = session.parse({"model": "digits-dr", "change": "mirror"}, catalogue)
    assert choices.change == "rotation"
    assert len(notices) == 1 and "There is no change of viewpoint “mirror”" in notices[0]


def test_of_two_digits_that_nobody_labelled_both_that_the_network_names_are_followed(visit: Visit):
    pair = browsing.image("multi-mnist", "test", browsing.start("multi-mnist", "test"))[0]
    app = visit("viewpoint", model="multi-mnist-dr-residual", source="upload", picture=linked_picture.written(pair))
    first, second = (each.removeprefix("Follow the ") for each in app.button_group(key="followed").options)
    named = resources.trace("multi-mnist-dr-residual", pair.numpy().tobytes(), iterations=3).named[0].tolist()
    assert {int(first), int(second)} == {*named}
    one, two = named
    assert f"The network names **{one}** and **{two}**, and the page follows the **{one}**." in spoken(app)
    other = board(app).fields["methods"][0]["others"][board(app).fields["neutral"]]
    assert int(other) not in named


def test_of_two_digits_the_page_says_which_it_follows_and_the_visitor_picks_the_other(visit: Visit):
    app = visit("viewpoint", model="multi-mnist-dr-residual")
    first, second = (each.removeprefix("Follow the ") for each in app.button_group(key="followed").options)
    assert f"The image shows **{first}** and **{second}**, and the page follows the **{first}**." in spoken(app)
    assert "none of the 2 most active" in spoken(app)
    before = board(app)
    app.button_group(key="followed").set_value(int(second)).run()
    assert app.query_params["class"] == second
    assert f"The image shows **{second}** and **{first}**, and the page follows the **{second}**." in spoken(app)
    after = board(app)
    assert (before.fields["label"], after.fields["label"]) == (first, second)
    assert (before.arrays["own0"] != after.arrays["own0"]).any()
    assert (set(before.fields["named"]), set(after.fields["named"])) == ({first}, {second})
    pixels, _ = browsing.image("multi-mnist", "test", browsing.start("multi-mnist", "test"))
    network, still = zoo.load("multi-mnist-dr-residual"), before.fields["neutral"]
    with torch.inference_mode():
        poses = network(to_float(pixels)[None], reconstruct=False).poses
    for shown, label in ((before, first), (after, second)):
        drawn = network.decode(poses, torch.tensor([int(label)])).flatten()
        frames = torch.tensor(shown.arrays["drawn"]).reshape(len(shown.fields["amounts"]), -1)
        assert frames[still].float().allclose(drawn, atol=2e-3)
    alone = visit("viewpoint", model="digits-dr")
    assert "the page follows" not in spoken(alone) and "followed" not in [each.key for each in alone.button_group]
