"""The Training page: begun by its button alone, told while it runs, and a model of the visitor's own at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from plotly.graph_objects import Figure
from streamlit.testing.v1 import AppTest

from app.page import layout
from app.page.text import plain
from app.scene import Scene
from app.sources import images, linked_picture, trace_sets
from app.state.choices import Choices
from app.training import display, trainings
from app.training.trainings import CONFIGS, STOPPED, Trainings
from capsviz import record, zoo
from capsviz.analysis import exchange
from capsviz.data import DIGITS
from capsviz.data.viewpoint import Viewpoint
from capsviz.routing import ALGORITHMS
from capsviz.routing.discriminative import L2
from capsviz.routing.dynamic import DYNAMIC
from capsviz.routing.em import EM
from capsviz.training.journal import read_lines
from tests.app.conftest import Visit
from tests.app.reading import board, charts, spoken
from tests.app.training.test_trainings import FIRST, nothing_left, wait

Serve = Callable[..., Trainings]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Have the page's trainings run so many epochs."""
    servers = []

    def serve(epochs: int) -> Trainings:
        servers.append(Trainings(connected=lambda _: True, adapt=lambda config: replace(config, epochs=epochs)))
        monkeypatch.setattr(trainings, "server", servers[-1])
        return servers[-1]

    yield serve
    for server in servers:
        server.close()


def begin(app: AppTest) -> trainings.Training:
    app.button(key="begin_training").click().run()
    assert not app.exception
    return app.session_state["training"]


def test_a_link_chooses_the_algorithm_and_begins_nothing(visit: Visit, serve: Serve):
    server = serve(1)
    app = visit("training", model="digits-dr", train=EM.name, image=3)
    assert not app.error and not app.warning and server._all == []
    assert app.header[0].value == "Training" and "Source:" in spoken(app)
    assert charts(app).keys() == {"image"}
    assert "Digits test image 3" in spoken(app) and "30 times through 1,437 images" in spoken(app)
    [picker] = [each for each in app.get("button_group") if each.label == "Algorithm of the network"]
    assert list(picker.options) == [ALGORITHMS[name].title for name in CONFIGS] and picker.value == EM.name


@pytest.mark.parametrize("name", [DYNAMIC.name, EM.name, L2.name])  # each tells its shares in its own way
def test_while_it_runs_the_page_tells_how_far_and_draws_what_the_network_makes_of_the_image(
    visit: Visit, serve: Serve, name: str
):
    serve(5000)
    app = visit("training", model="digits-dr", train=name, image=3)
    training = begin(app)
    assert training.config.routing == name and app.button(key="stop")
    wait(lambda: training.network())
    app.run()
    assert not app.exception and not app.error
    assert charts(app).keys() == {"image", "drawn", "errors", "losses", "shares"}
    bar = app.get("progress")[0].proto
    assert "of 205,000, about" in bar.text and "validation error" in bar.text
    assert "On stage: Digits test image 3" in spoken(app) and "As the last checkpoint draws it" in spoken(app)
    app.button(key="stop").click().run()
    wait(lambda: nothing_left(training))
    app.run()
    assert [each.value for each in app.warning] == [STOPPED]
    assert charts(app).keys() == {"errors", "losses"} and app.button(key="begin_training")


def test_the_model_is_the_visitors_own_on_every_page(visit: Visit, serve: Serve):
    serve(1)
    app = visit("training", model="digits-dr", image=3)
    training = begin(app)
    wait(lambda: nothing_left(training), 180)
    app.run()
    assert not app.exception and not app.error and not app.warning
    [said] = [each.value for each in app.success]
    assert said.startswith("The model is yours for this session: **digits-dr.capsviz**, wrong on ")
    assert said.endswith(f" % of {DIGITS.test_count} test images; every page can show it.")
    assert charts(app).keys() == {"image", "drawn", "errors", "losses", "shares"}
    assert "As the trained network draws it" in spoken(app)
    [link] = [each.proto for each in app.get("page_link") if each.proto.label.startswith("Open it")]
    assert link.page == ALGORITHMS[FIRST].page and link.query_string.startswith("model=digits-dr.capsviz&image=3")
    app.switch_page(f"views/{link.page}.py")
    app.query_params["model"] = "digits-dr.capsviz"
    app.run()
    assert not app.exception and not app.error and board(app)
    assert "digits-dr.capsviz: tiny" in spoken(app)


def test_what_few_images_gave_at_the_end_of_an_epoch_is_no_point_of_its_own(monkeypatch: pytest.MonkeyPatch):
    """The 28th epoch of this one ended two steps before the next reading, which is of 64 images."""
    lines = read_lines(zoo.folder() / zoo.entry("digits-em").curves)
    drawn: dict[str, Figure] = {}
    monkeypatch.setattr(layout, "show", lambda figure, key, *_, **__: drawn.update({key: figure}))
    told = trainings.Progress(1230, 1230, None, lines)
    training = SimpleNamespace(config=CONFIGS[EM.name], progress=lambda: told)
    display.curves(cast("Scene", SimpleNamespace(dark=False)), cast("trainings.Training", training))
    [curve] = drawn["training-losses"].data
    alone = next(line["margin"] for line in lines if line["step"] == 1150)
    assert alone < 0.002 < 0.01 < min(curve.y)


def test_a_model_that_the_visitor_removed_stays_away(visit: Visit):
    app = visit("training", model="digits-dr")
    app.session_state["training"] = SimpleNamespace(
        file="digits-dr.capsviz",
        content=exchange.export("digits-dr"),
        over=True,
        said="",
        config=trainings.CONFIGS[FIRST],
        progress=lambda: trainings.Progress(1, 1, None, []),
    )
    app.run()
    assert app.success[0].value.startswith("The model is yours")
    app.button(key="remove-digits-dr.capsviz").click().run()
    assert not app.exception and not app.success
    assert [said.value for said in app.info] == [
        f"{plain('digits-dr.capsviz')} was removed from this session; train again to have it back."
    ]


class Ending(SimpleNamespace):
    """A training that is over by the time that its fragment asks."""

    _asked = 0

    @property
    def over(self) -> bool:
        self._asked += 1
        return self._asked > 3


def test_a_network_that_is_refused_is_looked_at_once_and_nothing_is_said_of_a_removal(visit: Visit, monkeypatch):
    refusals = []

    def refuse(_: object) -> None:
        refusals.append("The network is too large here; train a smaller one.")
        raise zoo.ZooError(refusals[-1])

    monkeypatch.setattr(exchange, "check_small", refuse)
    app = visit("training", model="digits-dr")
    app.session_state["training"] = Ending(
        file="digits-dr.capsviz",
        content=exchange.export("digits-dr"),
        said="",
        stopping=False,
        config=trainings.CONFIGS[FIRST],
        progress=lambda: trainings.Progress(1, 1, None, []),
        stop=lambda: None,
    )
    app.run()
    assert not app.exception and [each.value for each in app.error] == refusals
    assert len(refusals) == 1 and not app.info and not app.success
    assert app.button(key="begin_training"), "another can begin"


DRAWN = linked_picture.written((torch.arange(784) % 251).to(torch.uint8).reshape(1, 28, 28))


@pytest.mark.parametrize(
    "chosen",
    [
        {"model": "mnist-dr-paper"},
        {"model": "mnist-l1-residual", "viewpoint": Viewpoint(rotation=30.0)},
        {"model": "fashion-mnist-dr-residual"},
        {"model": "digits-l2", "image": 7},
        {"model": "digits-l2", "data": "mnist"},
        {"model": "mnist-dr-paper", "source": "generated", "image": 12},
        {"model": "mnist-dr-paper", "source": "upload", "picture": DRAWN},
        {"model": "mnist-dr-paper", "source": "pad"},
    ],
    ids=str,
)
def test_the_model_is_opened_with_the_image_that_is_on_stage(bare_machine: Path, chosen: dict[str, Any]):
    choices, entry = Choices(**chosen), zoo.entry(chosen["model"])
    on_stage, _ = images.resolve(choices, entry)
    opened = display.opened(Scene(choices, entry, on_stage, (), False), "digits-attention")
    again, _ = images.resolve(opened, zoo.entry("digits-attention"))
    assert torch.equal(again.pixels, on_stage.pixels) and opened.model == "digits-attention"


@pytest.mark.parametrize("model", ["digits-l2", "digits-attention"])
def test_from_an_absent_recording_the_model_is_opened_and_not_the_recording(bare_machine, tmp_path, monkeypatch, model):
    monkeypatch.setenv(trace_sets.PLACE, str(tmp_path))
    record(torch.rand(1, 1, 28, 28), torch.randn(1, 8, 10, 4), "dr", grid=(2, 2, 2)).save(tmp_path / "x.safetensors")
    choices = Choices(model, source="recorded", recording="x.safetensors", layer=0, position=1, kind=1, capsule=3)
    entry = trace_sets.absent(choices.source, choices.recording)
    assert entry is not None
    on_stage, _ = images.resolve(choices, entry)
    opened = display.opened(Scene(choices, entry, on_stage, (), False), "digits-attention")
    again, _ = images.resolve(opened, zoo.entry("digits-attention"))
    assert trace_sets.absent(opened.source, opened.recording) is None and opened.model == "digits-attention"
    assert {opened.layer, opened.position, opened.kind, opened.capsule} == {None}, "which another network numbers"
    assert torch.equal(again.pixels, on_stage.pixels)


def test_the_name_of_a_recording_is_no_markup(visit: Visit, tmp_path, monkeypatch):
    monkeypatch.setenv(trace_sets.PLACE, str(tmp_path))
    name = "a *bold* one.safetensors"
    record(torch.rand(1, 1, 28, 28), torch.randn(1, 8, 10, 4), "dr", grid=(2, 2, 2)).save(tmp_path / name)
    assert "a \\*bold\\* one.safetensors, image 0: choose another" in spoken(visit("training", source="recorded"))


def test_a_colour_image_makes_room_for_a_digit(bare_machine: Path):
    choices, entry = Choices("cifar10-dr-residual"), zoo.entry("cifar10-dr-residual")
    current = Scene(choices, entry, images.resolve(choices, entry)[0], (), False)
    opened = display.opened(current, "digits-attention")
    digit, _ = images.resolve(opened, zoo.entry("digits-attention"))
    assert torch.equal(digit.pixels, display.picture(current).pixels)


def test_who_has_to_wait_is_told_so(visit: Visit, serve: Serve):
    server = serve(5000)
    for visitor in ("another", "a third"):
        server.begin(visitor, FIRST)
    app = visit("training", model="digits-dr")
    app.button(key="begin_training").click().run()
    assert [each.value for each in app.warning] == [
        "2 networks are being trained on this server; try again in a minute."
    ]
    assert "training" not in app.session_state
    app.switch_page("views/dynamic.py").run()
    app.switch_page("views/training.py").run()
    assert not app.warning, "said of a minute that is over"


def test_what_is_trained_is_what_was_picked_a_moment_before(visit: Visit, serve: Serve):
    serve(5000)
    app = visit("training", model="digits-dr")
    app.button_group(key="train").set_value(L2.name)
    app.button(key="begin_training").click()
    app.run()
    assert app.session_state["training"].config.routing == L2.name
    app.button(key="stop").click().run()


def test_where_the_image_on_stage_is_none_that_the_network_takes_a_digit_stands_in(visit: Visit):
    app = visit("training", model="cifar10-dr-residual")
    assert not app.error and display.FOREIGN in spoken(app) and "Digits test image" in spoken(app)
    assert "choose another in the sidebar" not in spoken(app)
    assert "choose another in the sidebar" in spoken(visit("training"))
