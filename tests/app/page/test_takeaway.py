"""What can be taken away: the figures of the page, and lines of Python that give the same trace."""

from __future__ import annotations

import html
import json
import re
from functools import partial
from typing import Any

import pytest
import torch
from plotly.graph_objects import Figure
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.testing.v1 import AppTest, local_script_runner

from app.components.routing_board import in_words
from app.page import takeaway
from app.page.takeaway import Shown
from app.shared import resources
from app.sources import browsing, linked_picture
from capsviz.analysis.perturbation import slerp
from capsviz.boards import Board, board_csv, board_page
from capsviz.boards.message import unpack
from capsviz.data import DIGITS
from capsviz.errors import CapsvizError
from capsviz.routing import DenseVotes
from capsviz.routing.dynamic import dynamic_routing
from capsviz.tracing.intervention import Intervention
from capsviz.tracing.trace import Trace
from tests.app import pictures
from tests.app.conftest import Visit
from tests.app.reading import board as on_page
from tests.known import known
from tests.programs import printed

TOUCHED = "capsules 0-6 muted, capsule 9 boosted"
OPENED = re.compile(r'capsviz\.Trace\.open\("([^"]+)"\)\.images')
DRAWN = [linked_picture.written(torch.full((1, 28, 28), 9 * each, dtype=torch.uint8).tril()) for each in (7, 20)]
"""Two drawings as a link holds them."""


def opened(app: AppTest) -> AppTest:
    app.button(key="take_away").click().run()
    assert not app.exception
    return app


def recorded(code: str) -> Trace:
    """What the three lines leave behind under the name `trace`."""
    assert len(code.splitlines()) == 3
    names: dict[str, object] = {}
    exec(code, names)
    assert isinstance(names["trace"], Trace)
    return names["trace"]


def assert_equal(one: Trace, other: Trace) -> None:
    torch.testing.assert_close(one.images, other.images, rtol=0, atol=0)
    torch.testing.assert_close(one.poses, other.poses, rtol=1e-5, atol=1e-6)
    assert one.layer.keys() == other.layer.keys()
    for name, values in one.layer.items():
        torch.testing.assert_close(values, other.layer[name], rtol=1e-4, atol=1e-5)


def on_stage(name: str, image: int, **options: Any) -> Trace:
    return resources.trace(name, browsing.image_set("digits", "test").images[image].numpy().tobytes(), **options)


def test_every_figure_of_the_page_is_in_the_list(visit: Visit):
    app = opened(visit("compare", model="digits-dr"))
    titles = app.selectbox(key="taken_key").options
    assert titles[0] == "The network"
    assert len(titles) == len(app.get("plotly_chart")) - 1, "all that are on the page, and the preview"


@pytest.mark.parametrize(
    ("second", "called"),
    [("image", "test image 1, class 0, played"), ("same:em", "EM routing · the votes of digits-dr, played")],
)
def test_either_of_two_boards_can_be_taken_away(visit: Visit, second: str, called: str):
    titles = opened(visit("dynamic", model="digits-dr", second=second)).selectbox(key="taken_key").options
    assert len(set(titles)) == len(titles) and "The routing of digits-dr, played" in titles
    assert sum(title.endswith(called) for title in titles) == 1


@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("dynamic", {"image": 8, "frame": 6, "capsule": 40, "3d": "0.6,0.35", "zoom": 2}),
        ("discriminative", {"model": "digits-l2", "part": "ascent", "steps": 20, "frame": 5, "capsule": 40}),
        ("mixtures", {"frame": 3}),
    ],
)
def test_a_board_is_taken_away_as_it_stands(visit: Visit, page: str, link: dict[str, Any]):
    app = visit(page, **{"model": "digits-dr", **link})
    boards = [made() for _, made in app.session_state["shown"].pictures.values() if not isinstance(made, Figure)]
    kinds = ("routing-board", "capsule-maps", "mixture")
    [board] = [each for each in boards if isinstance(each, Board) and each.kind in kinds]
    fields = unpack(board.packed(board.upper)).fields
    assert (fields["frame"], fields["capsule"]) == (link["frame"], link.get("capsule"))
    assert page != "dynamic" or (fields["looked"]["turned"], fields["looked"]["zoom"]) == ([0.6, 0.35], 2)


def test_capsules_of_a_window_have_the_same_numbers_in_the_file_as_on_the_page(visit: Visit):
    app = visit("em", model="digits-matrix", layer=0, position=1)
    made = app.session_state["shown"].pictures["board"][1]()
    below = unpack(made.packed(made.upper)).fields["below"]
    assert below == on_page(app).fields["below"] and below["numbers"] != list(range(len(below["numbers"])))


@pytest.mark.parametrize(
    ("page", "link", "of_one"),
    [
        ("dynamic", {"model": "digits-dr"}, {"strip": True}),
        ("compare", {"model": "digits-l2-fc"}, {"strip": True, "reconstructions": True}),
        (
            "dynamic",
            {"model": "digits-dr", "second": "digits-em"},
            {"lengths": True, "certainty": True, "shares": True},
        ),
        ("compare", {"model": "digits-dr", "view": "confusions"}, {"strip": True, "confusions": False}),
        ("results", {}, {"table-figure": False}),
        ("training", {"model": "digits-dr"}, {"training-image": True}),
        ("viewpoint", {"model": "digits-dr", "details": 1}, {"pooling-shifted": True}),
    ],
)
def test_a_figure_is_called_by_the_image_that_it_is_of_and_by_no_other(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, page: str, link: dict[str, Any], of_one: dict[str, bool]
):
    called: dict[str, str] = {}
    monkeypatch.setattr(takeaway, "_figure", lambda figure, name, title, current: called.update({name: title}))
    app = opened(visit(page, **link))
    for at, key in enumerate([*app.session_state["shown"].pictures]):
        app.selectbox(key="taken_key").select_index(at)
        app = in_the_window(app, monkeypatch)
        assert key not in of_one or ("test image" in called[f"capsviz-{key}"]) == of_one[key], called
        of_others = key in ("reconstructions", "certainty", "shares", "training-image") or key.startswith("pooling-")
        assert not of_one.get(key) or (link["model"] in called[f"capsviz-{key}"]) != of_others, called
    assert of_one.keys() <= {name.removeprefix("capsviz-") for name in called}


@pytest.mark.parametrize(
    ("page", "link", "titles"),
    [
        (
            "dynamic",
            {"touch": "mute:0-7", "second": "same:em"},
            {"answer-now": "The reconstruction, now", "certainty": "How sure each routing is of each class"},
        ),
        ("dynamic", {}, {"lengths": "Length of every class capsule"}),
        ("perturb", {"class": 3}, {"sheet": "Every number of class 3, moved"}),
        ("perturb", {"class": 3, "beside": 1}, {"sheet": "Every number of class 3, moved"}),
        ("compare", {"view": "many", "image": 0}, {"grid-next-0": "Many images, from image 0 on"}),
        ("compare", {"view": "many", "order": "worst"}, {"grid-worst": "Many images, worst drawn"}),
        ("compare", {"view": "wrong", "method": "digits-dr"}, {"wrong-": "Classified right, drawn wrong: digits-dr"}),
        (
            "compare",
            {"view": "confusions", "method": "digits-dr", "cell": "4-4"},
            {"matrix-digits-dr": "Confusions of digits-dr", "cell-": "Images of 4 named rightly, digits-dr"},
        ),
        ("basics", {"exhibit": "parts"}, {"parse-tree": "Part and whole"}),
        (
            "results",
            {"experiment": "multi-mnist"},
            {"multi-mnist-drawn": "Can the networks read two digits over one another? What they draw"},
        ),
        ("results", {"experiment": "cost"}, {"cost-figure": "How much time do L1 and L2 save?"}),
    ],
)
def test_what_is_taken_away_is_called_by_what_it_is(visit: Visit, page: str, link: dict[str, Any], titles: dict):
    shown = visit(page, **{"model": "digits-dr", **link}).session_state["shown"].titles()
    assert titles == {begun: called for key, called in shown.items() for begun in titles if key.startswith(begun)}
    assert not [key for key in shown if "None" in key], "its file is called by it"


@pytest.mark.parametrize(
    ("page", "link", "titles"),
    [
        (
            "dynamic",
            {"touch": "mute:0-6;boost:9", "second": "image"},
            {
                "board": "The routing of digits-dr, Digits test image 8, class 8, " + TOUCHED,
                "board-second": "The routing of digits-dr, Digits test image 1, class 0, " + TOUCHED,
            },
        ),
        (
            "dynamic",
            {"second": "same:em"},
            {"board-second": "EM routing · the votes of digits-dr, Digits test image 8, class 8"},
        ),
        ("perturb", {}, {"live": "A class capsule of digits-dr, moved, Digits test image 8, class 8"}),
        (
            "basics",
            {"exhibit": "loss", "touch": "mute:117"},
            {"margin-loss": "Margin loss, digits-dr, Digits test image 8, class 8, capsule 117 muted"},
        ),
        (
            "discriminative",
            {"model": "digits-l2"},
            {"maps-agreement": "Agreement: kept or spent, digits-l2, Digits test image 8, class 8"},
        ),
    ],
)
def test_a_board_of_one_image_says_in_its_file_which_and_what_was_done(
    visit: Visit, page: str, link: dict[str, Any], titles: dict[str, str]
):
    pictures = visit(page, **{"model": "digits-dr", "image": 8, **link}).session_state["shown"].pictures
    made = {key: pictures[key][1]() for key in titles}
    assert {key: board.title for key, board in made.items()} == titles
    assert all(html.escape(board.title, quote=False) in board_page(board) for board in made.values())


def test_of_many_touched_capsules_a_title_says_how_many():
    several = range(0, 500, 7)
    assert in_words(Intervention(isolated=tuple(several))) == "capsules 0-497/7 isolated"
    scattered = tuple(sorted(each**2 for each in several))
    assert in_words(Intervention(muted=scattered)) == "72 capsules muted" and in_words(Intervention()) == ""


@pytest.mark.parametrize("model", ["digits-dr", "digits-matrix"])
def test_the_walk_of_several_models_is_taken_away_as_it_stands(visit: Visit, model: str):
    app = visit("perturb", model=model, hand="walk", to="5.2", walk=0.25, beside=1, path="sphere", wide=1)
    _, made = app.session_state["shown"].pictures["live"]
    board = made()
    fields = board.message(board.upper).fields
    assert (fields["hand"], fields["state"]["to"], fields["state"]["share"]) == ("walk", (5, 1), 0.25)
    assert fields["state"]["sphere"] and len(fields["decoders"]) == len(board.first) > 1
    capsules = next(row for row in board_csv(board).splitlines() if row.startswith("capsules of") and ",0 3," in row)
    name = capsules.split(",")[0].removeprefix("capsules of ")
    own = next(each for each in fields["decoders"] if each["title"] == name)
    assert float(capsules.split(",")[2]) == pytest.approx(own["poses"][0][3], rel=1e-5)
    numbers = known(board.table)()
    assert numbers["walk to class and exemplar"].tolist() == [5, 1] and numbers["share of the walk"] == 0.25
    upper, lead = fields["state"]["upper"], fields["decoders"][fields["lead"]]
    start, end = torch.zeros(2, 10, len(lead["poses"][0]))
    start[upper], end[5] = torch.tensor(lead["poses"][upper]), resources.exemplar_capsules(model)[5, 1] / lead["unit"]
    walked = numbers[f"walked capsules of {lead['title']}"]
    assert walked == pytest.approx(slerp(start, end, 0.25).numpy(), abs=1e-5) and numbers["class"] == upper


def test_the_digit_that_stands_in_on_training_is_called_by_its_own_name(visit: Visit):
    app = visit("training", model="cifar10-dr-residual")
    assert app.session_state["shown"].pictures["training-image"][0].startswith(f"The image: {DIGITS.title} test image")


def test_pictures_of_one_title_are_told_apart():
    shown = Shown({key: (title, Figure) for key, title in {"a": "One", "b": "One", "c": "Two"}.items()})
    assert shown.titles() == {"a": "One (a)", "b": "One (b)", "c": "Two"}


@pytest.mark.parametrize("page", ["dynamic", "em", "discriminative"])
def test_the_network_comes_first_also_where_its_strip_is_drawn_after_the_board(visit: Visit, page: str):
    assert opened(visit(page)).selectbox(key="taken_key").options[0] == "The network"


def test_the_lines_of_dynamic_routing_give_the_same_numbers(visit: Visit):
    code = opened(visit("dynamic", model="digits-dr", image=11, T=5)).code[0].value
    assert_equal(recorded(code), on_stage("digits-dr", 11, iterations=5))


def test_the_lines_of_an_image_that_comes_along_run_where_nothing_else_was_imported(visit: Visit):
    code = opened(visit("dynamic", model="mnist-dr-residual", image=2)).code[0].value
    assert "exemplars" in code
    pixels = browsing.image("mnist", "test", 2)[0].numpy().tobytes()
    shown: Trace = resources.trace("mnist-dr-residual", pixels, iterations=3)
    expected = shown.activations[0].tolist()
    assert json.loads(printed(f"{code}\nprint(trace.activations[0].tolist())")) == pytest.approx(expected, abs=1e-5)


def test_the_lines_of_em_keep_the_chosen_temperature(visit: Visit):
    code = opened(visit("em", model="digits-em", image=4, **{"lambda": 3})).code[0].value
    assert_equal(recorded(code), on_stage("digits-em", 4, iterations=3, temperature=3.0))


def test_the_lines_of_a_visitors_picture_open_the_trace_that_is_taken_along(visit: Visit, tmp_path, monkeypatch):
    app = visit("compare", model="digits-dr", source="upload")
    content = pictures.encoded(pictures.digit())
    app.file_uploader(key="file").upload("mine.png", content, "image/png").run()
    code = opened(app).code[0].value
    found = OPENED.search(code)
    assert found and found[1].startswith("digits-dr-your-picture-mine-png-")
    shown: Trace = app.session_state["shown"].trace
    monkeypatch.chdir(tmp_path)
    shown.save(found[1])
    assert_equal(recorded(code), shown)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"source": "generated", "image": 0}, {"source": "generated", "image": 1}),
        ({"source": "pad", "picture": DRAWN[0]}, {"source": "pad", "picture": DRAWN[1]}),
    ],
)
def test_every_picture_that_no_data_set_holds_has_a_file_of_its_own(visit: Visit, one: dict, other: dict):
    names = []
    for query in (one, other, one):
        app = opened(visit("dynamic", model="digits-dr", **query))
        assert not app.error and not app.warning
        found = OPENED.search(app.code[0].value)
        assert found and any(found[1] in button.help for button in app.get("download_button") if button.help)
        names.append(found[1])
    assert names[0] == names[2] != names[1], "the same picture has the same file"


def test_the_lines_of_an_image_of_two_digits_name_and_draw_both(visit: Visit):
    app = opened(visit("dynamic", model="multi-mnist-dr-residual"))
    shown: Trace = app.session_state["shown"].trace
    taken = recorded(app.code[0].value)
    assert taken.objects == shown.objects == 2 and torch.equal(taken.named, shown.named)
    assert_equal(taken, shown)


def test_the_votes_in_ones_hand_are_taken_away_as_they_are_with_what_routing_makes_of_them(visit: Visit):
    link = {"lab": "toy", "toy": "1,0,0,1,0.5,0.5,0,1", "T": 4, "frame": 1}
    app = visit("dynamic", model="digits-dr", **link)
    board = app.session_state["shown"].pictures["routing-toy"][1]()
    fields = unpack(board.packed(board.upper)).fields
    assert (fields["votes"][1], fields["iterations"], fields["frame"]) == ([[0.5, 0.5], [0, 1]], 4, 1)
    assert board.table is not None
    table = board.table()
    votes = torch.tensor(fields["votes"]).double()
    steps = list(dynamic_routing(DenseVotes(votes.unsqueeze(0)), 4, final_agreement=True))
    assert table.keys() == {"votes", "logits", "couplings", "sums", "poses", "agreement"}
    assert table.pop("votes").tolist() == fields["votes"]
    for name, values in table.items():
        assert values.tolist() == [getattr(step, name)[0].tolist() for step in steps]
    assert "couplings" in board_csv(board) and "\nvotes" in board_csv(board)


def in_the_window(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """After what was done in the window, which runs alone."""
    storage = app._fragment_storage
    [dialog] = storage._fragments.keys() - set().union(*storage._ids_by_target_key.values())
    part = partial(RerunData, fragment_id=dialog, fragment_id_queue=[dialog])
    with monkeypatch.context() as patch:
        patch.setattr(local_script_runner, "RerunData", part)
        return app.run()


def test_a_picture_that_cannot_be_made_leaves_the_trace(visit: Visit, monkeypatch: pytest.MonkeyPatch):
    def made(*_: object) -> None:
        raise CapsvizError("This trace holds no votes; record it with them.")

    app = opened(visit("dynamic", model="digits-dr", image=3))
    monkeypatch.setattr(takeaway, "_board", made)
    app.selectbox(key="taken_key").select("board")
    app = in_the_window(app, monkeypatch)
    assert [error.value for error in app.error] == ["This trace holds no votes; record it with them."]
    assert not app.exception and app.code and app.get("download_button")


def test_a_window_that_was_away_for_a_moment_begins_its_page_anew(visit: Visit, monkeypatch: pytest.MonkeyPatch):
    app = opened(visit("dynamic", model="digits-dr", image=3))
    app.session_state["shown"].forget()  # as Streamlit has it where the connection is lost
    app.selectbox(key="taken_key").select_index(1)
    app = in_the_window(app, monkeypatch)
    assert app.session_state["shown"].pictures and not app.exception
