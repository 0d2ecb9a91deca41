"""Basics: each exhibit has the numbers of the image on stage, and what is left there is in every link."""

from __future__ import annotations

from functools import partial
from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app import scene
from app.boards import exhibits
from app.shared import resources
from app.sources import browsing
from capsviz.boards.message import Message
from capsviz.data import load
from capsviz.data.exemplars import exemplars
from capsviz.figures.parse_tree import in_words
from tests.app.conftest import Visit
from tests.app.reading import messages, spoken


def given(app: AppTest, field: str) -> Message:
    """What the exhibit was given."""
    [message] = [each for each in messages(app) if field in each.fields]
    return message


def test_squash_shows_the_class_capsules_of_the_image_on_stage(visit: Visit):
    app = visit("basics", model="digits-l2", image=17, s=2.25, angle=-30)
    message = given(app, "vector")
    shown = load("digits", "test")
    trace = resources.trace("digits-l2", shown.images[17].numpy().tobytes(), None)
    np.testing.assert_allclose(message.arrays["lengths"], trace.activations[0], atol=1e-6)
    assert message.fields["vector"] == [2.25, -30]
    assert message.fields["title"].startswith("Digits test image 17")
    assert "Source:" in spoken(app) and not app.error and not app.warning


def test_the_margin_loss_is_that_of_the_label(visit: Visit):
    app = visit("basics", model="digits-dr", image=17, exhibit="loss", mplus=0.8, down=1, lengths="3:0.4,0:0.25")
    message = given(app, "targets")
    label = int(load("digits", "test").labels[17])
    assert [place for place, there in enumerate(message.fields["targets"]) if there] == [label]
    assert message.fields["margins"] == [0.8, 0.1, 1.0]
    assert message.fields["moved"] == [[0, 0.25], [3, 0.4]]
    assert "as it is labelled" in spoken(app) and "m rises from 0.2 to 0.9" in spoken(app)
    assert "times λ, all others" in spoken(app), "which of the three sliders does what"


@pytest.mark.parametrize("exhibit", ["squash", "loss"])
def test_a_model_that_squashes_nothing_leaves_the_exhibit_to_one_that_does(visit: Visit, exhibit: str):
    app = visit("basics", model="mnist-em-residual", exhibit=exhibit)
    assert "here **mnist-dr-residual** runs on the same image" in spoken(app)
    message = given(app, "vector" if exhibit == "squash" else "targets")
    pixels, _ = browsing.image("mnist", "test", exemplars("mnist").start)
    trace = resources.trace("mnist-dr-residual", pixels.numpy().tobytes(), None)
    assert message.arrays["lengths"].tolist() == pytest.approx(trace.activations[0].tolist(), abs=1e-6)


def test_the_parts_are_those_of_the_image_on_stage_and_as_many_as_asked_for(visit: Visit):
    app = visit("basics", model="digits-dr", image=17, exhibit="parts", parts=2)
    trace = resources.trace("digits-dr", load("digits", "test").images[17].numpy().tobytes(), None)
    assert in_words(trace, each=2) in spoken(app)
    [_] = app.get("plotly_chart")
    assert not app.error and not app.warning
    app.slider(key="parts").set_value(5).run()
    assert in_words(trace, each=5) in spoken(app) and app.query_params["parts"] in ("5", ["5"])


def test_parts_of_a_model_that_squashes_nothing_are_those_of_one_that_does(visit: Visit):
    app = visit("basics", model="mnist-em-residual", exhibit="parts")
    assert "here **mnist-dr-residual** runs on the same image" in spoken(app) and "of the net ‖s‖" in spoken(app)


moved_lengths = partial(exhibits.moved_lengths, classes=10)


@pytest.mark.parametrize(
    ("told", "said", "kept"),
    [
        (exhibits.moved_vector, [1.25, -90], {"vector_length": 1.25, "vector_angle": -90}),
        (exhibits.moved_vector, [0, 180], {"vector_length": 0.0, "vector_angle": 180}),
        (exhibits.moved_vector, [3.5, 0], None),
        (exhibits.moved_vector, [1, 200], None),
        (exhibits.moved_vector, [1], None),
        (exhibits.moved_vector, ["a", 1], None),
        (exhibits.moved_vector, None, None),
        (exhibits.moved_vector, [True, 1], None),
        (exhibits.moved_margins, [0.8, 0.2, 1], {"present_margin": 0.8, "absent_margin": 0.2, "absent_weight": 1.0}),
        (exhibits.moved_margins, [0.8, 0.2], None),
        (exhibits.moved_margins, [0.8, 0.2, 1.5], None),
        (exhibits.moved_margins, [0.8, 0.2, float("nan")], None),
        (exhibits.moved_margins, "0.8", None),
        (moved_lengths, [[7, 0.5], [2, 1]], {"lengths": ((2, 1.0), (7, 0.5))}),
        (moved_lengths, [], {"lengths": ()}),
        (moved_lengths, [[10, 0.5]], None),
        (moved_lengths, [[1, 1.5]], None),
        (moved_lengths, [[1]], None),
        (moved_lengths, [["1", 0.5]], None),
        (moved_lengths, [[True, 0.5]], None),
        (moved_lengths, None, None),
    ],
)
def test_what_a_hand_left_is_kept_where_it_can_be(monkeypatch: pytest.MonkeyPatch, told, said: object, kept: object):
    heard: list[dict] = []
    monkeypatch.setattr(scene, "keep", lambda *_, **changes: heard.append(changes))
    told(said)
    assert heard == ([] if kept is None else [kept])


def test_every_link_carries_what_was_left_there(visit: Visit):
    app = visit("basics", model="digits-dr", exhibit="loss", mminus=0.2, lengths="3:0.4", s=2)
    for link in app.get("page_link"):
        query = parse_qs(link.proto.query_string)
        assert query == {
            "model": ["digits-dr"],
            "exhibit": ["loss"],
            "s": ["2"],
            "mminus": ["0.2"],
            "lengths": ["3:0.4"],
        }
