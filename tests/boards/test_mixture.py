"""What the board of a mixture takes and tells."""

from __future__ import annotations

import csv
import io
import itertools
import json

import pytest
import torch

from capsviz.analysis.mixtures import begin, half_steps
from capsviz.boards import board_csv, board_page
from capsviz.boards.message import unpack
from capsviz.boards.mixture import FEWEST_POINTS, FRAMES, MOST_POINTS, Laid, mixture_board, mixture_message, received
from capsviz.data.points import COUNT, PRESETS

POINTS = [[0.1 * i - 0.3, 0.05, 0.5] for i in range(FEWEST_POINTS)]


def told(**changes: object) -> dict:
    """What the browser sends when it has only what it was given, and some changes."""
    state = unpack(mixture_message(Laid()).packed()).fields["state"]
    return json.loads(json.dumps({**state, **changes}))


def test_what_comes_back_unchanged_is_what_was_laid():
    assert received(told()) == Laid()
    flat = tuple(round(value, 2) for point in POINTS for value in point)
    laid = received(told(points=POINTS, votes=True, beta_u=1.5, point=2, covariance="diag", gaussians=4, turn=3))
    assert laid == Laid(points=flat, votes=True, beta_u=1.5, point=2, covariance="diag", gaussians=4, turn=3)
    assert unpack(mixture_message(laid).packed()).fields["state"]["points"][2] == pytest.approx([-0.1, 0.05, 0.5])


@pytest.mark.parametrize(
    "changes",
    [
        {"preset": "cloud"},
        {"preset": []},
        {"gaussians": 2.0},
        {"seed": -1},
        {"gaussians": 5},
        {"covariance": "tied"},
        {"turn": 8},
        {"temperature": 0},
        {"beta_u": 4.1},
        {"beta_a": None},
        {"beta_a": float("nan")},
        {"point": COUNT},
        {"points": POINTS[:-1]},
        {"points": [[0, 0, 1]] * (MOST_POINTS + 1)},
        {"points": [[0, 0, -0.1]] * FEWEST_POINTS},
        {"points": [[0, 1.01, 1]] * FEWEST_POINTS},
        {"points": [[0, 0]] * FEWEST_POINTS},
        {"points": POINTS, "point": FEWEST_POINTS},
    ],
)
def test_what_cannot_be_laid_is_none(changes: dict):
    assert received({**told(), **changes}) is None
    assert received(None) is received([1]) is None


def test_the_points_of_the_message_are_those_of_the_seed():
    fields = mixture_message(Laid(seed=7), draws=True).fields
    drawn = {preset["name"]: preset["points"] for preset in fields["presets"]}
    assert drawn["ring"] == [[*point, 1.0] for point in PRESETS["ring"].points(7)]
    assert fields["draws"] > 1 == mixture_message(Laid()).fields["draws"]


def test_a_page_of_its_own_holds_the_board():
    page = board_page(mixture_board(Laid(), "A mixture of Gaussians"))
    assert "A mixture of Gaussians" in page and '"board": "mixture"' in page


def test_its_table_holds_the_points_and_every_half_step():
    laid = Laid("ring", seed=7, gaussians=3, turn=2, covariance="diag")
    table = list(csv.DictReader(io.StringIO(board_csv(mixture_board(laid, "A mixture")))))
    values = {(row["array"], row["index"]): float(row["value"]) for row in table}
    points = torch.tensor(PRESETS["ring"].points(7), dtype=torch.float64)
    steps = list(itertools.islice(half_steps(points, begin(3, 2), "diag"), FRAMES))
    assert values["points", "4 0"] == pytest.approx(float(points[4, 0])) and values["points", "4 2"] == 1
    assert values["means", "30 2 1"] == pytest.approx(float(steps[30].gaussians.means[2, 1]), rel=1e-5)
    owned = steps[1].responsibilities
    assert owned is not None and values["responsibilities", "0 5 1"] == pytest.approx(float(owned[5, 1]), rel=1e-5)
    assert values["log_likelihood", "12"] == pytest.approx(steps[12].log_likelihood, rel=1e-5)
