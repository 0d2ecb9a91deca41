"""What a visitor's action on the board changes, whatever the browser sends."""

from __future__ import annotations

import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app import scene
from app.components.routing_board import changes
from app.state.choices import Choices
from app.state.session import changed
from capsviz.tracing.intervention import BOOST, Intervention
from tests.app.conftest import Visit
from tests.app.reading import board, boards

UNTOUCHED = Intervention()


def test_a_capsule_and_a_class_are_chosen():
    assert changes({"capsule": 17}, range(288), 10, UNTOUCHED) == {"capsule": 17}
    assert changes({"upper": 9}, range(288), 10, UNTOUCHED) == {"upper": 9}
    assert changes({"frame": 4}, range(288), 10, UNTOUCHED) == {"frame": 4}
    assert changes({"frame": None}, range(288), 10, UNTOUCHED) == {"frame": None}
    assert changes({"rounds": 10}, range(288), 10, UNTOUCHED) == {"iterations": 10}


def test_capsules_are_muted_boosted_and_isolated_and_everything_is_undone():
    muted = changes({"mute": [3, 1]}, range(288), 10, UNTOUCHED)["touched"]
    assert muted == Intervention(muted=(1, 3))
    boosted = changes({"boost": [3]}, range(288), 10, muted)["touched"]
    assert boosted == Intervention(muted=(1,), boosted=(3,))
    assert changes({"only": [5]}, range(288), 10, boosted)["touched"] == Intervention((1,), (3,), (5,))
    assert changes({"untouched": True}, range(288), 10, boosted) == {"touched": UNTOUCHED}


def test_only_the_isolated_capsules_speak_whatever_else_is_done_to_them():
    one = Intervention(isolated=(5,))
    muted, boosted, another, both = (
        changes(action, range(288), 10, one)["touched"]
        for action in ({"mute": [5]}, {"boost": [5]}, {"only": [7]}, {"only": [7, 5]})
    )
    assert muted == Intervention(muted=(5,), isolated=(5,)) and not muted.gains(288).any(), "nobody speaks"
    assert boosted == Intervention(boosted=(5,), isolated=(5,))
    assert boosted.gains(288).sum() == boosted.gains(288)[5] == BOOST
    assert (another, both) == (Intervention(isolated=(7,)), Intervention(isolated=(5, 7)))
    # What was muted speaks when it is isolated, and what was boosted as loudly as before.
    assert changes({"only": [5]}, range(288), 10, muted)["touched"] == one
    assert changes({"only": [5]}, range(288), 10, Intervention(boosted=(5,)))["touched"] == boosted
    assert changes({"boost": [5]}, range(288), 10, muted)["touched"] == boosted


def test_how_the_board_is_looked_at_is_taken_over_whole():
    look = {"turned": [0.6, -1], "zoom": -2, "bare": True, "absolute": False, "listed": "agreement"}
    assert changes({"look": look}, range(288), 10, UNTOUCHED) == look | {"turned": (0.6, -1.0)}
    assert changes({"look": look | {"turned": None}}, range(288), 10, UNTOUCHED) == look | {"turned": None}


@pytest.fixture
def acts(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> tuple[list[dict], list[dict]]:
    """What the boards of the page that is visited next can do, and what is kept of what they do."""
    visit("dynamic", model="digits-dr")  # what imports `keep` by its name has the true one by now
    able: list[dict] = []
    kept: list[dict] = []
    monkeypatch.setattr("app.components.routing_board.board", lambda *_, actions, **__: able.append(actions))
    in_run, known = scene.choices, list[Choices]()

    def choices() -> Choices:
        if get_script_run_ctx(suppress_warning=True) is not None:
            known.append(in_run())
        return known[-1]

    def keep(*_: str, **changes: object) -> None:
        kept.append(changes)
        known.append(changed(known[-1], **changes))

    monkeypatch.setattr(scene, "choices", choices)
    monkeypatch.setattr(scene, "keep", keep)
    return able, kept


def test_an_isolated_capsule_that_is_boosted_or_muted_leaves_the_others_silent_on_the_page(visit: Visit, acts):
    actions, kept = acts
    visit("dynamic", model="digits-dr", touch="only:5")
    actions[-1]["boost"]([5])
    actions[-1]["mute"]([5])
    assert kept == [
        {"touched": Intervention(boosted=(5,), isolated=(5,)), "capsule": 5},
        {"touched": Intervention(muted=(5,), isolated=(5,)), "capsule": 5},
    ]


@pytest.mark.parametrize(("page", "model"), [("dynamic", "digits-dr"), ("em", "digits-em")])
@pytest.mark.parametrize(
    ("touch", "said", "gain"),
    [("boost:5;only:5", "1 boosted, 1 isolated", 2), ("mute:5;only:5", "1 muted, 1 isolated", 0)],
)
def test_the_board_tells_of_an_isolated_capsule_what_else_was_done_to_it(
    visit: Visit, page: str, model: str, touch: str, said: str, gain: int
):
    app = visit(page, model=model, touch=touch)
    shown = board(app)
    assert not app.exception and not app.error and shown.fields["touched"] == said
    assert [at for at, each in enumerate(shown.arrays["gains"]) if each] == [5] * bool(gain)
    assert shown.arrays["gains"][5] == gain and app.query_params["touch"] == touch


def test_what_is_muted_on_one_of_two_boards_leaves_the_capsules_of_the_other(visit: Visit, acts):
    actions, kept = acts
    visit("dynamic", model="mnist-dr-paper", second="mnist-dr-residual", touch="mute:3,1100")
    actions[1]["mute"]([5])
    assert kept == [{"touched": Intervention(muted=(3, 5, 1100)), "capsule": 5}]


def test_iterations_picked_on_the_second_board_are_chosen_where_the_trained_ones_differ(visit: Visit, acts):
    actions, kept = acts
    visit("dynamic", model="mnist-dr-paper", second="mnist-matrix")
    for rounds in (3, 2, 4):
        actions[1]["rounds"](rounds)
    assert kept == [{"iterations": 3}, {"iterations": 2}, {"iterations": 4}]
    visit("dynamic", model="mnist-dr-paper", second="mnist-dr-residual")
    actions[-1]["rounds"](3)
    assert kept[-1] == {"iterations": None}


def test_in_a_window_of_a_layer_capsules_go_by_their_numbers_in_the_network(visit: Visit, acts):
    actions, kept = acts
    visit("em", model="digits-matrix", layer=0, position=24)
    actions[-1]["mute"]([13])
    actions[-1]["capsule"](5)
    lower = 4 * (12 * 9 + 8) + 1  # the window begins in row 8 and column 8 of 12, in each place 4 types
    assert kept == [{"touched": Intervention(muted=(lower,)), "capsule": lower}, {"capsule": 4 * (12 * 8 + 9) + 1}]


def test_what_is_muted_is_seen_in_the_window_and_can_be_taken_back_above_it(visit: Visit):
    inside = board(visit("em", model="digits-matrix", layer=0, position=0, touch="mute:49", capsule=49))
    assert inside.fields["able"] and inside.fields["capsule"] == 13, "row 1, column 0, type 1"
    assert [at for at, gain in enumerate(inside.arrays["gains"]) if gain == 0] == [13]
    assert (inside.fields["below"]["columns"], inside.fields["below"]["numbers"][13]) == (12, 49)
    assert "below" not in board(visit("em", model="digits-em")).fields, "of all capsules these are the numbers"
    above = board(visit("em", model="digits-matrix", touch="mute:49", capsule=300))
    assert (above.fields["able"], above.fields["touched"], above.fields["capsule"]) == (False, "1 muted", None)


@pytest.mark.parametrize(
    ("page", "model", "second"), [("dynamic", "digits-matrix", "digits-matrix"), ("em", "digits-em", "digits-matrix")]
)
def test_beside_a_network_of_one_layer_one_of_several_shows_its_classes(
    visit: Visit, page: str, model: str, second: str
):
    app = visit(page, model=model, second=second, layer=0)
    assert not app.error and [each.fields["kind"] for each in boards(app)] == ["class", "class"]


def test_what_is_done_to_capsules_adds_to_what_was_done_since_the_page_was_drawn(visit: Visit, acts):
    """Two acts may come before the page is drawn anew."""
    actions, kept = acts
    visit("dynamic", model="digits-dr")
    actions[-1]["mute"]([3])
    actions[-1]["boost"]([5])
    assert kept[-1]["touched"] == Intervention(muted=(3,), boosted=(5,))


def test_a_type_that_is_chosen_on_the_board_of_a_convolutional_layer_is_no_class(visit: Visit, acts):
    actions, kept = acts
    visit("em", model="digits-matrix", layer=0, type=3, **{"class": 7})
    actions[-1]["upper"](2)
    visit("em", model="digits-matrix", type=3, **{"class": 7})
    actions[-1]["upper"](2)
    assert kept == [{"kind": 2}, {"upper": 2}]


def test_a_type_of_a_convolutional_layer_is_no_class(visit: Visit):
    """The link keeps both: what is chosen in a layer is not the class of the next page, nor of a board beside it."""
    app = visit("em", model="digits-matrix", layer=0, type=3, **{"class": 7})
    assert board(app).fields["upper"] == 3 and app.button_group(key="kind").value == 3
    assert board(visit("em", model="digits-matrix", type=3, **{"class": 7})).fields["upper"] == 7
    first, second = boards(visit("em", model="digits-em", second="digits-matrix", layer=0, type=3, **{"class": 7}))
    assert (first.fields["upper"], second.fields["upper"]) == (7, 7)


def test_how_undecided_one_position_of_a_convolutional_layer_is_is_not_said(visit: Visit):
    """Its shares compete with those of other positions, so that they do not add up to one."""
    said = [[metric.label for metric in visit("em", model="digits-matrix", layer=layer).metric] for layer in (0, None)]
    assert ["Indecision" in str(labels) for labels in said] == [False, True]


def test_capsules_that_are_not_primary_ones_are_not_muted():
    assert changes({"mute": [3]}, range(36), 10, UNTOUCHED, able=False) == {}


@pytest.mark.parametrize(
    "wrong",
    [{"turned": [4, 0]}, {"turned": [0.6]}, {"turned": ["0", "0"]}, {"turned": 1}, {"zoom": 7},
     {"zoom": 0.5}, {"zoom": True}, {"zoom": None}, {"bare": 1}, {"absolute": None},
     {"listed": "name"}, {"listed": None}],
)  # fmt: skip
def test_a_look_that_cannot_be_is_ignored(wrong):
    look = {"turned": None, "zoom": 0, "bare": False, "absolute": False, "listed": "share"}
    assert changes({"look": look | wrong}, range(288), 10, UNTOUCHED) == {}


@pytest.mark.parametrize(
    "action",
    [None, 7, {}, {"capsule": 288}, {"capsule": -1}, {"capsule": True}, {"capsule": "1"}, {"upper": 10}, {"mute": []},
     {"look": 3}, {"mute": [288]}, {"mute": 3}, {"model": "x"}, {"rounds": 0},
     {"rounds": 11}, {"rounds": True}, {"rounds": 2.5}, {"capsule": 1, "upper": 2}],
)  # fmt: skip
def test_what_makes_no_sense_changes_nothing(action):
    assert changes(action, range(288), 10, UNTOUCHED) == {}
