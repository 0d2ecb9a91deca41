"""A widget stays while its visitor works with it, and makes room for another where the choice comes from elsewhere."""

from __future__ import annotations

import time

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest

from app.page.widgets import possible
from app.server import callbacks
from app.state import leaving
from tests.app.conftest import Visit


def script() -> None:
    """One widget that shows the class to browse, as the link says it."""
    import streamlit as st

    from app import scene
    from app.page import widgets
    from app.state import session

    only = session.parse(st.query_params, scene.catalogue())[0].only
    widgets.chosen(st.segmented_control, "Class", "only", only, list(range(10)))


def follow(app: AppTest, only: int | None) -> AppTest:
    """The page for a link to this class, or to all of them."""
    app.query_params.clear()
    app.query_params["model"] = "digits-dr"
    if only is not None:
        app.query_params["only"] = str(only)
    return app.run()


def test_a_pick_goes_to_the_link_and_leaves_the_widget_where_it_is(bare_machine):
    app = follow(AppTest.from_function(script, default_timeout=60), 2)
    for number in (3, None, 5):
        app.button_group[0].set_value(number).run()
        assert app.query_params.get("only") == (None if number is None else str(number))
        assert (app.button_group[0].key, app.button_group[0].value) == ("only", number)
        assert not app.button_group[0].proto.set_value, "it would put back what has been picked since"
    assert not app.exception


@pytest.mark.parametrize(("before", "after"), [(2, 3), (2, None), (None, 3)])
def test_a_choice_from_elsewhere_is_shown_by_another_widget(bare_machine, before: int | None, after: int | None):
    app = follow(AppTest.from_function(script, default_timeout=60), before)
    first = app.button_group[0]
    second = follow(app, after).button_group[0]
    assert second.value == after
    assert second.proto.id != first.proto.id
    second.set_value(7).run()
    assert app.query_params["only"] == "7"
    assert app.button_group[0].proto.id == second.proto.id


def test_a_pick_counts_once_though_its_widget_made_room_for_another(bare_machine):
    """Until the browser hears of the other one, each of its messages tells what was picked on the first."""
    app = follow(AppTest.from_function(script, default_timeout=60), 2)
    [first] = app._tree.get_widget_states().widgets
    second = follow(app, 3)._tree.get_widget_states()

    def tell(picked: int) -> AppTest:
        first.string_array_value.data[:] = [str(picked)]
        return app._run(WidgetStates(widgets=[*second.widgets, first]))

    assert tell(8).query_params["only"] == "8"
    follow(app, 5)
    assert tell(8).query_params["only"] == "5"
    assert tell(7).query_params["only"] == "7"
    assert app.button_group[0].value == 7 and not app.exception


def panel() -> None:
    """A panel that folds, as the link says it."""
    import streamlit as st

    from app import scene
    from app.page import widgets
    from app.state import session

    widgets.chosen(st.expander, "Details", "details", session.parse(st.query_params, scene.catalogue())[0].details)


def test_a_panel_that_is_opened_and_folded_again_before_it_was_drawn_is_the_same_one(bare_machine):
    app = AppTest.from_function(panel, default_timeout=60)
    app.query_params["model"] = "digits-dr"
    told = WidgetState(id=app.run().expander[0].proto.id)
    for opened in (True, False, True):
        told.bool_value = opened
        app._run(WidgetStates(widgets=[told]))
        assert ("details" in app.query_params) == opened == app.expander[0].proto.expanded
        assert app.expander[0].proto.id == told.id and not app.exception


@pytest.mark.parametrize("page", ["dynamic", "em", "discriminative", "perturb", "compare", "results"])
def test_a_page_that_nothing_happens_to_keeps_its_widgets(visit: Visit, page: str):
    app = visit(page, model="digits-dr", image=7)
    groups = [group.proto.id for group in app.button_group]
    assert groups
    assert [group.proto.id for group in app.run().run().button_group] == groups


def test_an_answer_that_is_no_option_any_more_is_no_pick():
    assert possible("l2", ["dr", "l2"]) and possible(3, range(5)) and possible(None, ["dr"])
    assert not possible("Dynamic routing · 0.28 %", ["mnist-dr", "mnist-l2"])
    assert possible(7, None) and possible(True, None)


def test_a_pick_that_left_before_the_browser_heard_of_the_last_one_undoes_nothing(visit: Visit):
    app = visit("dynamic", model="digits-dr", image=7)
    app.selectbox(key="second").set_value("image").run()
    assert app.query_params["second"] == "image"
    app.query_params.clear()
    app.query_params["model"], app.query_params["image"] = "digits-dr", "7"  # what the browser still knows
    app.button_group(key="upper").set_value(4).run()
    assert (app.query_params["second"], app.query_params["class"]) == ("image", "4")
    links = {link.proto.query_string for link in app.get("page_link")}
    assert links == {"model=digits-dr&image=7&class=4&second=image"}
    assert [box.value for box in app.selectbox if box.label == "Beside it"] == ["image"] and not app.exception


def test_what_back_took_away_stays_away_at_the_next_pick(visit: Visit):
    app = visit("dynamic", model="digits-dr", image=7)
    app.selectbox(key="second").set_value("image").run()
    app.query_params.clear()
    app.query_params["model"], app.query_params["image"] = "digits-dr", "7"
    app.run()
    [upper] = [group for group in app.button_group if group.key.startswith("upper")]
    upper.set_value(4).run()
    assert "second" not in app.query_params and app.query_params["class"] == "4"


def test_a_pick_on_a_page_that_is_left_says_nothing_of_the_next(visit: Visit, monkeypatch: pytest.MonkeyPatch):
    """EM was chosen, whose page the browser is still to open."""
    app = visit("dynamic", model="digits-dr", image=7)
    monkeypatch.setattr(leaving, "PATIENCE", 600.0)
    app.session_state[leaving._WAY] = leaving.Way("token", "em", {"model": "digits-em", "image": "7"}, time.monotonic())
    app.button_group(key="upper").set_value(4).run()
    app.button(key="random").click().run()
    links = [(link.proto.page, link.proto.query_string) for link in app.get("page_link")]
    assert ("em", "model=digits-em&image=7") in links
    assert {query for _, query in links} == {"model=digits-dr&image=7", "model=digits-em&image=7"}
    assert app.query_params == {"model": "digits-dr", "image": "7"} and not app.exception
    monkeypatch.setattr(leaving, "PATIENCE", 0.0)  # the browser has not followed it, and will not
    [upper] = [group for group in app.button_group if group.key.startswith("upper")]
    upper.set_value(5).run()
    assert app.query_params["class"] == "5"


def test_a_pick_leaves_the_address_alone_that_is_another_pages_by_now(visit: Visit, monkeypatch: pytest.MonkeyPatch):
    app = visit("dynamic", model="digits-dr", image=7)
    app.selectbox(key="second").set_value("image").run()
    app.query_params.clear()
    app.query_params["model"], app.query_params["image"] = "digits-dr", "7"  # what the browser still knows
    monkeypatch.setattr(callbacks, "overtaken", lambda: True)
    app.button_group(key="upper").set_value(4).run()
    app.radio(key="model").set_value("digits-em").run()
    assert app.query_params == {"model": "digits-dr", "image": "7"} and not app.exception
    assert leaving._WAY not in app.session_state, "nor does EM lead to its page"
