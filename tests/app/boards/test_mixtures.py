"""The page of mixtures: what is laid is in the link, and scikit-learn answers to the points as they lie."""

from __future__ import annotations

import re

import pytest

from app import scene
from app.boards import mixtures
from app.state import session
from app.state.choices import Catalogue, Choices
from capsviz.boards.mixture import Laid
from capsviz.data.points import PRESETS
from tests.app.conftest import Visit
from tests.app.reading import messages, spoken
from tests.known import known

CATALOGUE = Catalogue("digits-dr", {"digits-dr": 10}, ("digits",))
OWN = "0,0,1,0.2,0.1,1,0.5,0.5,0.5,-0.5,-0.5,1"


def state(app) -> dict:
    """What the board was given to show."""
    return next(message.fields["state"] for message in messages(app) if "ramp" in message.fields)


def test_a_link_lays_the_board(visit: Visit):
    app = visit("mixtures", points=OWN, k=3, covariance="diag", turn=2, **{"as": "votes"}, point=1, beta_u="1.5")
    assert not app.warning and not app.error
    given = state(app)
    assert given["points"] == [[0, 0, 1], [0.2, 0.1, 1], [0.5, 0.5, 0.5], [-0.5, -0.5, 1]]
    laid = {"gaussians": 3, "covariance": "diag", "turn": 2, "votes": True, "point": 1, "beta_u": 1.5}
    assert laid.items() <= given.items() and given["temperature"] == 1
    assert "switches on" in spoken(app) and "Source:" in spoken(app)
    assert not app.radio  # no model of the sidebar has a part in it


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_begins_with_its_own_number_of_gaussians(visit: Visit, preset: str):
    given = state(visit("mixtures", preset=preset))
    assert (given["points"], given["gaussians"]) == (None, PRESETS[preset].gaussians)


@pytest.mark.parametrize(
    ("chosen", "left", "kept"),
    [(None, 1.0, None), (1.0, 1.0, 1.0), (None, 5.0, 5.0), (5.0, 1.0, None), (0.13, 0.13, 0.13)],
)
def test_a_temperature_that_was_not_moved_here_stays_that_of_em(
    monkeypatch: pytest.MonkeyPatch, chosen: float | None, left: float, kept: float | None
):
    heard: list[dict] = []
    monkeypatch.setattr(scene, "keep", lambda *_, **changes: heard.append(changes))
    monkeypatch.setattr(scene, "choices", lambda: Choices("digits-em", temperature=chosen))
    mixtures.left(Laid(temperature=left))
    assert [each["temperature"] for each in heard] == [kept]


def test_a_point_that_is_not_there_is_not_chosen(visit: Visit):
    assert state(visit("mixtures", points=OWN, point=9))["point"] is None


def test_scikit_learn_answers_on_request_to_the_points_that_lie_there(visit: Visit):
    app = visit("mixtures")
    assert "scikit-learn" not in spoken(app)
    app.toggle(key="held").set_value(True).run()
    assert app.query_params["check"] == "1"
    first = float(known(re.search(r"by more than \*\*([\d.e+-]+)\*\*", spoken(app)))[1])
    assert first < 1e-10 and "fell in no half step" in spoken(app)
    fallen = visit("mixtures", preset="outlier", seed=3, check=1)  # one M-step there is held up by the floor
    assert re.search(r"fell in \d+ of 15 M-steps, by [\d.e-]+ at most: what the floor costs", spoken(fallen))
    assert mixtures.held(Laid(preset="outlier", seed=3)) in spoken(fallen)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"points": "0,0,1"}, "there are 4 to 40 of them"),
        ({"points": OWN.replace("0.5,-0.5", "x,1")}, "are not numbers"),
        ({"points": OWN.replace("0.5,0.5,0.5", "0.5,0.5,-0.5")}, "their activations from 0 to 1"),
        ({"k": "9"}, "There cannot be “9” Gaussians here (2 to 4)"),
        ({"preset": "cloud"}, "There is no preset of points “cloud”"),
        ({"beta_u": "5"}, "βᵤ goes from −4 to 4"),
        ({"covariance": "tied"}, "There is no form of covariances “tied”"),
    ],
)
def test_what_no_board_can_hold_is_a_sentence(query: dict, sentence: str):
    choices, notices = session.parse({"model": "digits-dr", **query}, CATALOGUE)
    assert mixtures.laid(choices) == Laid()
    assert len(notices) == 1 and sentence in notices[0]
