"""Presenter mode is a choice like any other; a key does what a widget would."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import Mock

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.components import keys, page_link
from app.components.keys import received
from app.page import presenter
from app.shared import resources
from app.sources import browsing, images
from app.state import leaving
from app.state.session import followed
from capsviz.data import DatasetMissing
from tests.app.conftest import Visit
from tests.app.reading import charts


def is_presenting(app: AppTest) -> bool:
    """Whether the mode's own style sheet is on the page."""
    return any(presenter.STYLE in element.proto.body for element in app.get("html"))


def press(app: AppTest, command: str) -> AppTest:
    """What the browser's command does to the link, then the page that it leads to."""

    def script() -> None:
        import streamlit as st

        from app.page import presenter

        leads = presenter.run_command(st.session_state["command"])
        if leads:
            leads()

    alone = AppTest.from_function(script, default_timeout=60)
    alone.session_state["command"] = command
    for key in ("upper", "upper-among", "kind", "kind-among", "iterations", "page-here"):
        if key in app.session_state:
            alone.session_state[key] = app.session_state[key]
    for key, value in app.query_params.items():
        alone.query_params[key] = value
    alone.run()
    assert not alone.exception
    return alone


def test_the_button_leads_to_a_page_in_larger_type_that_says_so_in_its_link(visit: Visit):
    app = visit("compare", model="digits-dr")
    assert not is_presenting(app)
    before = charts(app)["strip"]["layout"]["font"]["size"]
    app.button(key="present").click().run()
    assert app.query_params["present"] == "1"
    assert is_presenting(app)
    assert charts(app)["strip"]["layout"]["font"]["size"] == pytest.approx(1.15 * before)
    assert charts(app)["reconstructions"]["layout"]["height"] <= 720


def test_page_links_stay_in_presenter_mode(visit: Visit):
    app = visit("compare", model="digits-dr", present=1)
    assert {link.proto.query_string for link in app.get("page_link")} == {"model=digits-dr&present=1"}


def test_the_browser_is_told_the_mode_and_asked_for_its_size(visit: Visit):
    parts = visit("compare", model="digits-dr", present=1).get("bidi_component")
    given = [json.loads(part.proto.json) for part in parts if part.proto.json]
    assert any(data.get("presenting") is True and data["screen"] is None for data in given)


@pytest.mark.parametrize(
    ("command", "link", "changed"),
    [
        ("image+1", {"image": "7"}, {"image": "8"}),
        ("image-1", {"image": "0"}, {"image": "359"}),
        ("image+1", {"image": "0", "only": "4"}, {"image": "3", "only": "4"}),  # the first of its class
        ("image+1", {"source": "upload"}, {"source": "upload"}),
        ("present", {}, {"present": "1"}),
        ("present", {"present": "1"}, {}),
        ("class+1", {"class": "9"}, {"class": "0"}),
        ("class-1", {"class": "3"}, {"class": "2"}),
        ("T+1", {"T": "5"}, {"T": "6"}),
        ("T+1", {"T": "10"}, {"T": "10"}),
        ("T-1", {"T": "1"}, {"T": "1"}),
        ("format the disk", {"T": "4"}, {"T": "4"}),
    ],
)
def test_a_key_changes_the_link_as_a_widget_would(visit: Visit, command: str, link: dict, changed: dict):
    shown = AppTest.from_string("")
    shown.query_params["model"] = "digits-dr"
    for key, value in link.items():
        shown.query_params[key] = value
    shown.session_state["upper"], shown.session_state["iterations"] = int(link.get("class", 1)), int(link.get("T", 3))
    assert dict(press(shown, command).query_params) == {"model": "digits-dr", **changed}


def test_in_a_convolutional_layer_the_key_moves_among_its_types_and_not_among_the_classes(visit: Visit):
    types = len(visit("em", model="mnist-matrix", layer=0).button_group(key="kind").options)
    assert types == 8
    for command, at, then in (("class+1", 7, 0), ("class-1", 0, 7), ("class+1", 3, 4)):
        app = press(visit("em", model="mnist-matrix", layer=0, type=at, **{"class": 5}), command)
        assert (app.query_params["type"], app.query_params["class"]) == (str(then), "5")
    beyond = visit("em", model="mnist-matrix", layer=0, type=9)  # no such type: the most active one is shown
    shown = beyond.session_state["kind"]
    assert press(beyond, "class+1").query_params["type"] == str((shown + 1) % 8)


def test_iterations_are_moved_from_those_of_the_model_that_the_page_runs(visit: Visit):
    """Matrix capsules were trained with two: to go down to two from the three of the page's model is a choice."""
    app = visit("discriminative", model="digits-matrix")
    assert app.slider(key="iterations").value == 3
    assert press(app, "T-1").query_params["T"] == "2"
    assert "T" not in press(visit("discriminative", model="digits-matrix", T=4), "T-1").query_params


def test_iterations_stay_where_the_page_has_none(bare_machine):
    shown = AppTest.from_string("")
    shown.query_params["model"] = "digits-l2"
    assert dict(press(shown, "T+1").query_params) == {"model": "digits-l2"}


def test_the_class_after_the_predicted_one_is_found_before_the_page_shows_any(bare_machine):
    shown = AppTest.from_string("")
    shown.query_params["model"] = "digits-l2"
    predicted = int(
        resources.trace("digits-l2", browsing.image_set("digits", "test").images[0].numpy().tobytes(), None).predicted[
            0
        ]
    )
    assert press(shown, "class+1").query_params["class"] == str((predicted + 1) % 10)


def test_a_command_that_arrives_twice_is_heard_once_and_what_is_none_never():
    sent = [[3, "image+1"], [4, "image+1"], [5, "T+1"]]
    assert received(sent, 3) == [(4, "image+1"), (5, "T+1")]
    assert received(sent, 5) == []
    assert received([[number, "T+1"] for number in range(100_000)], 0)[0] == (99_950, "T+1"), "no more than a hand can"
    assert received("image+1", 0) == received([["x", 3], [1]], 0) == received(None, 0) == []
    assert received([[5, ["x"]], [True, "T+1"]], 0) == []


def test_a_command_whose_callback_streamlit_ended_is_not_acknowledged_and_may_come_again(
    monkeypatch: pytest.MonkeyPatch,
):
    class Ended(BaseException):
        """What Streamlit raises where a newer message waits."""

    def run_command(command: str) -> None:
        done.append(command)
        if len(done) == 2:
            raise Ended

    mounted: dict[str, Any] = {}
    done: list[str] = []
    state: dict[str, Any] = {"keys": {"commands": [[1, "image+1"], [2, "T+1"]]}}
    monkeypatch.setattr(keys, "built", lambda *_, **__: lambda **given: mounted.update(given))
    monkeypatch.setattr(st, "session_state", state)
    keys.keys(key="keys", page="", presenting=False, sheet="", on_screen=int, on_command=run_command)
    with pytest.raises(Ended):
        mounted["on_commands_change"]()
    assert state["keys-acknowledged"] == 1
    mounted["on_commands_change"]()
    assert (done, state["keys-acknowledged"]) == (["image+1", "T+1", "T+1"], 2)


def test_a_command_of_which_streamlit_forgot_the_state_waits_to_be_sent_again(monkeypatch: pytest.MonkeyPatch):
    """As after a run that ended before it came to the keys: the callback runs, and its component has no state."""
    mounted: dict[str, Any] = {}
    done: list[str] = []
    state: dict[str, Any] = {"keys-acknowledged": 3}
    monkeypatch.setattr(keys, "built", lambda *_, **__: lambda **given: mounted.update(given))
    monkeypatch.setattr(st, "session_state", state)
    keys.keys(key="keys", page="", presenting=False, sheet="", on_screen=int, on_command=done.append)
    mounted["on_commands_change"]()
    assert (done, state["keys-acknowledged"]) == ([], 3)
    state["keys"] = {"commands": [[4, "image+1"]]}
    mounted["on_commands_change"]()
    assert (done, state["keys-acknowledged"]) == (["image+1"], 4)


def test_a_command_that_reaches_a_page_which_is_left_waits_for_the_next(monkeypatch: pytest.MonkeyPatch):
    """A model of another algorithm was picked, whose page the browser is still to open: its link says nothing of it."""
    mounted: dict[str, Any] = {}
    done: list[str] = []
    state: dict[str, Any] = {"keys": {"commands": [[1, "present"]]}}
    monkeypatch.setattr(keys, "built", lambda *_, **__: lambda **given: mounted.update(given))
    monkeypatch.setattr(st, "session_state", state)
    monkeypatch.setattr(st, "rerun", lambda _: None)
    keys.keys(key="keys", page="", presenting=False, sheet="", on_screen=int, on_command=done.append)
    page_link.follow("em", {"model": "digits-em"})
    mounted["on_commands_change"]()
    assert not done and "keys-acknowledged" not in state
    leaving.arrived("em")
    mounted["on_commands_change"]()
    assert (done, state["keys-acknowledged"]) == (["present"], 1)
    page_link.follow("em", {"model": "digits-em"})
    monkeypatch.setattr(leaving, "PATIENCE", 0.0)  # the browser has not followed it, and will not
    state["keys"] = {"commands": [[2, "present"]]}
    mounted["on_commands_change"]()
    assert state["keys-acknowledged"] == 2


def test_a_size_that_was_told_before_the_browser_knew_what_a_key_led_to_undoes_nothing(
    monkeypatch: pytest.MonkeyPatch,
):
    def script() -> None:
        import streamlit as st

        from app.page import presenter

        presenter.listen("")
        presenter.run_command("image+1")
        st.query_params.from_dict({"model": "digits-dr", "image": "7"})  # the browser's, as it sent the next message
        st.session_state["mounted"]["on_screen_change"]()

    def mount(**given: Any) -> None:
        st.session_state["mounted"] = given

    monkeypatch.setattr(keys, "built", lambda *_, **__: mount)
    app = AppTest.from_function(script, default_timeout=60)
    app.query_params["model"], app.query_params["image"] = "digits-dr", "7"
    app.run()
    assert not app.exception and app.query_params["image"] == "8"


def test_keys_and_links_stand_where_the_image_cannot_be_had(visit: Visit, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(images, "resolve", Mock(side_effect=DatasetMissing("The images are gone: get them again.")))
    app = visit("compare", model="digits-dr", image=3)
    assert [error.value for error in app.error] == ["The images are gone: get them again."]
    assert {link.proto.query_string for link in app.get("page_link")} == {"model=digits-dr&image=3"}
    given = [json.loads(part.proto.json) for part in app.get("bidi_component") if part.proto.json]
    assert any("presenting" in data for data in given)


def test_a_command_starts_from_the_last_address_that_a_command_led_to():
    one, two, three = ({"image": number} for number in "123")
    assert followed([], one) == [one]
    assert followed([one, two], two) == [two]  # the browser knows
    assert followed([one, two, three], one) == followed([one, two, three], two) == [one, two, three]  # not yet
    assert followed([one, two], three) == [three]  # somebody chose this meanwhile
    assert followed([one, two, one], one) == [one]
