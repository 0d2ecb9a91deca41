"""The start page: what it says is the model's own, its ways on carry the choices, and old links keep their page."""

from __future__ import annotations

from itertools import pairwise
from urllib.parse import parse_qs, parse_qsl

import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.boards.toy import story
from app.comparing import this_image
from app.shared import resources
from capsviz.boards.message import Message, unpack
from capsviz.routing import DenseVotes, DynamicStep, dynamic_routing
from tests.app.conftest import SCRIPT, Visit
from tests.known import known


def opened(**query: str) -> AppTest:
    """The app at the empty address, with a query."""
    app = AppTest.from_file(SCRIPT, default_timeout=120)
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def toy(app: AppTest) -> Message:
    """What the toy on the page was given."""
    found = (unpack(each.proto.bytes) for each in app.get("bidi_component") if each.proto.bytes)
    return next(message for message in found if "reach" in message.fields)


def said(app: AppTest) -> str:
    return "\n".join(each.value for each in app.markdown)


def ways(app: AppTest) -> dict[str, str]:
    """What the large links say, by where they lead, with the choices they carry."""
    every = app.get("page_link")
    return {
        f"{link.proto.page}?{link.proto.query_string}": link.proto.label for link in every if "**" in link.proto.label
    }


def test_the_empty_address_is_the_start_page_and_needs_no_inference(bare_machine, monkeypatch):
    monkeypatch.setattr("app.shared.resources.trace", lambda *_: pytest.fail("the start page ran a model"))
    app = opened()
    assert app.header[0].value == "Parts vote, agreement decides"
    assert not app.get("plotly_chart") and not app.sidebar.button
    assert "A <b>capsule</b> is" in said(app), "before it votes"
    fields = toy(app).fields
    assert fields["plain"] and fields["story"]["before"] == story()["before"]
    assert (fields["frame"], fields["iterations"]) == (None, 3)


@pytest.mark.parametrize(("model", "count"), [("mnist-dr-paper", "1,152"), ("digits-dr", "288")])
def test_the_capsules_of_the_model_on_stage_are_counted(visit: Visit, model: str, count: str):
    assert f"Now {count} of these.</p>" in said(visit("start", model=model))


@pytest.mark.parametrize("choice", [{"model": "digits-dr"}, {"T": "5"}, {"lab": "toy"}, {"present": "1"}])
def test_an_old_link_to_the_empty_address_opens_dynamic_routing(bare_machine, choice: dict[str, str]):
    assert opened(**choice).header[0].value == "Dynamic routing"


def test_choices_made_on_the_start_page_stay_there():
    assert opened(page="start", model="digits-dr", toy="0.5,0,0,0.5").header[0].value == "Parts vote, agreement decides"


def test_a_parameter_that_is_no_choice_leaves_the_start_page(bare_machine):
    assert opened(from_="a-newsletter").header[0].value == "Parts vote, agreement decides"


def test_the_ways_on_lead_to_pages_that_there_are_and_carry_the_choices(visit: Visit):
    app = visit("start", model="digits-em", image=17, frame=2, lab="toy", view="many")
    found = ways(app)
    assert [label.split("**")[1] for label in found.values()] == [
        "Watch it route",
        "Move a number",
        "Compare five algorithms",
        "Give a talk",
    ]
    assert list(found) == [
        "dynamic?model=digits-em&image=17&view=many",
        "perturb?model=digits-em&image=17&lab=toy&view=many",
        "compare?model=digits-em&image=17&lab=toy",
        "tours?model=digits-em&image=17&lab=toy&view=many",
    ]


@pytest.mark.parametrize("model", ["digits-dr", "mnist-dr-paper", "fashion-mnist-dr-residual", "cifar10-dr-residual"])
def test_until_an_image_is_chosen_compare_opens_on_one_about_which_the_methods_disagree(visit: Visit, model: str):
    [(link, label)] = [each for each in ways(visit("start", model=model)).items() if "Compare" in each[1]]
    assert "on an image about which they disagree" in label
    page, _, query = link.partition("?")
    compared = visit(page, **dict(parse_qsl(query)))
    [table] = compared.dataframe
    answers = [answer.split(" ")[0] for answer in table.value["Predicted"]]
    assert len(set(answers)) > 1 and not compared.warning
    other = visit("compare", model=model)
    answers = [answer.split(" ")[0] for answer in other.dataframe[0].value["Predicted"]]
    agreed = f"All name it {answers[0]}: see one" if len(set(answers)) == 1 else "An image"
    assert other.button(key="contested").label == f"{agreed} about which they disagree"
    other.button(key="contested").click().run()
    assert dict(other.query_params) == {"model": model, "image": parse_qs(query)["image"][0]}
    assert other.dataframe[0].value.equals(table.value)
    assert not any(each.key == "contested" for each in compared.button), "it is on stage"
    chosen = ways(visit("start", model=model, image=parse_qs(query)["image"][0])).values()
    assert any("algorithms** :small[on the same image]" in each for each in chosen)


@pytest.mark.parametrize(
    ("model", "count"), [("mnist-dr-paper", "four "), ("digits-dr", "five "), ("multi-mnist-dr-residual", "three ")]
)
def test_as_many_algorithms_are_promised_as_are_compared(visit: Visit, model: str, count: str):
    assert f"Compare {count}algorithms" in "".join(ways(visit("start", model=model)).values())


def test_more_algorithms_than_have_a_word_are_compared_all_the_same(visit: Visit, monkeypatch):
    entry = resources.entries()["digits-dr"]
    monkeypatch.setattr(this_image, "methods", lambda _: dict.fromkeys("abcdefg", entry))
    assert "Compare algorithms" in "".join(ways(visit("start", model="digits-dr")).values())


def test_votes_of_the_link_are_shown_instead_of_the_story(visit: Visit):
    fields = toy(visit("start", toy="0.5,0,0,0.5,0,0.5,0.5,0")).fields
    assert fields["story"] is None and fields["votes"] == [[[0.5, 0], [0, 0.5]], [[0, 0.5], [0.5, 0]]]


def routed(votes: list) -> tuple[DynamicStep, ...]:
    return tuple(dynamic_routing(DenseVotes(torch.tensor(votes, dtype=torch.float64)[None]), 3, final_agreement=True))


def test_what_the_story_says_is_what_its_votes_do():
    told = story()
    apart, agreeing = routed(told["before"]), routed(told["votes"])
    disagree, agree, turn = told["said"]
    assert "both parents' arrows v stay short" in disagree
    assert (apart[0].activations[0] < 0.45).all()
    assert "v₁ grows" in agree and "parent 2 still cancel" in agree
    assert agreeing[0].activations[0, 0] > 0.75 and agreeing[0].activations[0, 1] < 0.02
    assert "coupling" in turn
    couplings = [known(step.couplings)[0, :, 0] for step in agreeing]
    assert all((later > before).all() for before, later in pairwise(couplings))
    assert agreeing[-1].activations[0, 0] > agreeing[0].activations[0, 0] + 0.1
