"""Tours on the page: each step stands, keys and buttons lead on, back and away, and views become a talk."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

import pytest
from streamlit.testing.v1 import AppTest

from app import scene
from app.shared import resources
from app.sources import linked_picture
from app.state import viewpoints
from app.tours import caption, path, store, tour
from app.tours.tour import Tour, TourError, TourStep
from capsviz import trace
from capsviz.data import Viewpoint, to_float
from tests.app.conftest import Visit
from tests.app.page.test_presenter import press
from tests.known import known, single_digits

STEPS = [(name, number) for name in store.SHIPPED for number in range(1, len(store.find(name).steps) + 1)]
OWN = Tour(
    "A talk",
    (
        TourStep("First", "compare?model=digits-dr&image=7", "It is $7$."),
        TourStep("Second", "em?model=digits-em", "Gaussians."),
    ),
)


def view(step: TourStep) -> tuple[str, dict[str, str]]:
    page, _, query = step.view.partition("?")
    return page, dict(parse_qsl(query))


def words(app: AppTest) -> str:
    """What stands in the step's place."""
    return "\n".join(element.value for element in app.markdown)


def html(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.get("html"))


@pytest.mark.parametrize("name", store.SHIPPED)
def test_a_step_stands_with_its_words_and_without_a_notice(visit: Visit, name: str):
    step = store.find(name).steps[0]
    page, query = view(step)
    app = visit(page, **query, tour=name, step=1, present=1)
    assert not app.error and not app.warning
    assert caption.unbroken(step.caption) in words(app)
    assert f'<p class="tour-title">{step.title}</p>' in html(app).replace("&#x27;", "'")
    assert app.get("plotly_chart") or app.get("bidi_component")


def test_a_step_whose_view_was_left_says_how_to_come_back_and_not_what_is_no_longer_on_screen(visit: Visit):
    name = store.keep(OWN)
    there = visit("compare", model="digits-dr", image=7, tour=name)
    assert "It is $7$." in words(there) and "Off the path" not in words(there)
    for page, query in (("compare", {"model": "digits-dr", "image": 8}), ("em", {"model": "digits-dr", "image": 7})):
        away = visit(page, **query, tour=name)
        assert "It is $7$." not in words(away) and "Off the path" in words(away)
    for look in ({"frame": 2}, {"zoom": 1, "3d": "30,20", "heat": "off"}):
        looked = visit("compare", model="digits-dr", image=7, tour=name, **look)
        assert "It is $7$." in words(looked), "where a player stands and how a board is turned is no other view"


def test_what_plays_on_viewpoint_moves_the_amount_and_leaves_no_path(visit: Visit):
    name = store.keep(Tour("A talk", (TourStep("Turned", "viewpoint?model=digits-dr&image=7", "All the way."),)))
    turned, shifted = (viewpoints.write(Viewpoint(**{change: 1.5})) for change in ("rotation", "brightness"))
    query = {"model": "digits-dr", "image": 7, "tour": name}
    assert "All the way." in words(visit("viewpoint", **query, viewpoint=turned))
    for page, viewpoint in (("viewpoint", shifted), ("compare", turned)):
        assert "Off the path" in words(visit(page, **query, viewpoint=viewpoint))


def test_what_plays_on_a_walk_moves_the_share_and_leaves_no_path(visit: Visit):
    query = {"model": "digits-dr", "image": 3, "hand": "walk"}
    name = store.keep(Tour("A talk", (TourStep("Walked", f"perturb?{urlencode(query)}&walk=0.3", "All the way."),)))
    assert "All the way." in words(visit("perturb", **query, tour=name, walk=1))
    assert "Off the path" in words(visit("perturb", **query, tour=name, walk=0.3, path="sphere"))


@pytest.mark.parametrize(
    ("picker", "field", "link"),
    [
        ("upper", "class", "dynamic?model=digits-dr&image=7&touch=mute:1-100"),
        ("upper", "class", "discriminative?model=digits-dr&image=7"),
        ("upper", "class", "perturb?model=digits-l2-fc&image=7"),
        ("kind", "type", "em?model=mnist-matrix&layer=0"),
    ],
)
def test_to_choose_the_capsule_that_is_shown_by_itself_leaves_no_path(visit: Visit, picker: str, field: str, link: str):
    step = TourStep("First", link, "All of it.")
    (page, query), name = view(step), store.keep(Tour("A talk", (step,)))
    [shown] = [each for each in visit(page, **query).button_group if each.key.startswith(picker)]
    assert "All of it." in words(visit(page, **query, tour=name, **{field: shown.value}))
    assert "Off the path" in words(visit(page, **query, tour=name, **{field: (known(shown.value) + 1) % 8}))


def test_an_image_that_cannot_be_read_takes_neither_words_nor_page_away(visit: Visit, monkeypatch: pytest.MonkeyPatch):
    def refused(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    name = store.keep(Tour("A talk", (TourStep("First", "dynamic?model=digits-dr&image=7", "All of it."),)))
    monkeypatch.setattr(resources, "trace", refused)
    app = visit("dynamic", model="digits-dr", image=7, tour=name, **{"class": 3})
    assert not app.exception and "Off the path" in words(app)
    assert "Input/output error" in app.error[0].value


def test_on_a_page_that_shows_a_class_of_its_own_a_chosen_one_leaves_the_path(visit: Visit):
    name = store.keep(Tour("A talk", (TourStep("First", "training?model=digits-dr&image=7", "It learns."),)))
    assert "It learns." in words(visit("training", model="digits-dr", image=7, tour=name))
    predicted = int(trace("digits-dr", to_float(single_digits().images[7:8])).predicted[0])
    app = visit("training", model="digits-dr", image=7, tour=name, **{"class": predicted})
    assert "Off the path" in words(app)


def test_a_class_that_the_step_chooses_is_left_with_it(visit: Visit):
    step = TourStep("First", "dynamic?model=digits-dr&image=7&class=3", "A three.")
    (page, query), name = view(step), store.keep(Tour("A talk", (step,)))
    assert "A three." in words(visit(page, **query, tour=name))
    assert "Off the path" in words(visit(page, **query | {"class": 7}, tour=name))


@pytest.mark.parametrize("linked", [False, True])
def test_a_step_whose_model_is_not_here_says_so_once(visit: Visit, linked: bool):
    name = store.keep(Tour("A talk", (TourStep("One", "dynamic?model=nomodel", "Words."),)))
    start = scene.catalogue().start
    app = visit("dynamic", model="nomodel" if linked else start, tour=name, present=1)
    assert "Words." in words(app)
    [notice] = app.warning
    assert f"There is no model “nomodel”; showing {start} instead" in notice.value


def test_the_last_step_says_that_the_tour_ends(visit: Visit):
    name = store.keep(OWN)
    said = [
        html(visit(step.view.split("?")[0], model="digits-dr", tour=name, step=n + 1))
        for n, step in enumerate(OWN.steps)
    ]
    assert ["The tour ends here." in each for each in said] == [False, True]


@pytest.mark.parametrize(
    ("command", "step", "link"),
    [
        ("page+1", 1, {"model": "digits-em", "step": "2"}),
        ("page+1", 2, {"model": "digits-em", "step": "2"}),
        ("page-1", 2, {"model": "digits-dr", "image": "7"}),
        ("step", 2, {"model": "digits-em", "step": "2"}),
        ("step=2", 1, {"model": "digits-em", "step": "2"}),
        ("step=90", 1, {"model": "digits-em", "step": "2"}),
    ],
)
def test_a_key_leads_to_the_step_as_its_link_says_it(visit: Visit, monkeypatch, command: str, step: int, link: dict):
    name, led = store.keep(OWN), []
    monkeypatch.setattr(path, "follow", lambda page, query: led.append((page, query)))
    shown = AppTest.from_string("")
    for key, value in {"model": "digits-dr", "tour": name, "step": step, "T": 5, "present": 1}.items():
        shown.query_params[key] = str(value)
    press(shown, command)
    [(page, query)] = led
    assert page == ("em" if link.get("step") else "compare")
    assert query == {**link, "present": "1", "tour": name}


def test_a_step_at_the_address_without_a_page_name_stands_with_its_words(visit: Visit):
    told = Tour("A talk", (TourStep("First", "/?model=digits-dr&image=7", "It is $7$."),))
    app = visit("dynamic", model="digits-dr", image=7, tour=store.keep(told))
    assert not app.error and not app.warning
    assert "It is $7$." in words(app) and "Off the path" not in words(app) and app.get("plotly_chart")


@pytest.fixture
def led(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, str]]]:
    """The pages and queries to which the visitor is led, without going there."""
    found: list[tuple[str, dict[str, str]]] = []
    monkeypatch.setattr(path, "follow", lambda page, query: found.append((page, query)))
    return found


@pytest.mark.parametrize(
    ("view", "said"), [("dynmic?model=digits-dr", "“dynmic” is no page"), ("http://[em?model=x", "cannot be read")]
)
def test_a_step_that_leads_to_no_page_says_so_where_one_is_and_the_talk_goes_on(
    visit: Visit, led: list[tuple[str, dict[str, str]]], view: str, said: str
):
    told = replace(OWN, steps=(TourStep("Lost", view, "Where are we?"), *OWN.steps))
    page = visit("tours", model="digits-dr", talk=store.keep(told))
    page.button(key=f"begin-{store.keep(told)}").click().run()
    assert not page.exception and page.query_params["tour"] == store.keep(told)
    app = visit("dynamic", model="digits-dr", tour=store.keep(told), step=2)
    shown = press(app, "page-1")
    assert {key: shown.query_params[key] for key in ("model", "tour")} == {
        "model": "digits-dr",
        "tour": store.keep(told),
    }
    assert "step" not in shown.query_params
    lost = visit("dynamic", model="digits-dr", tour=store.keep(told))
    assert not lost.exception and "Where are we?" in words(lost) and lost.get("plotly_chart")
    assert any(said in warning.value for warning in lost.warning)
    press(lost, "page+1")
    assert led == [("compare", {"model": "digits-dr", "image": "7", "tour": store.keep(told), "step": "2"})]


def test_a_key_of_a_talk_that_the_server_has_forgotten_changes_nothing_of_what_is_said(visit: Visit):
    link = {"model": "digits-dr", "image": "7", "tour": f"{store._KEPT}forgotten", "step": "2"}
    app = visit("dynamic", **link)
    assert any("has forgotten it; open its file again" in warning.value for warning in app.warning)
    assert press(app, "page+1").query_params == link
    assert press(app, "image+1").query_params["image"] == "8"


def test_a_tour_ends_where_it_is(visit: Visit):
    name = store.keep(OWN)
    shown = AppTest.from_string("")
    for key, value in {"model": "digits-em", "tour": name, "step": 2, "T": 5}.items():
        shown.query_params[key] = str(value)
    assert dict(press(shown, "end").query_params) == {"model": "digits-em", "T": "5"}


def test_notes_say_the_step_and_the_next_one_in_the_place_of_the_page(visit: Visit):
    app = visit("compare", notes=1, tour=store.keep(OWN))
    assert "It is $7$." in words(app) and "Gaussians." in words(app)
    assert "1 of 2" in html(app) and not app.get("plotly_chart")
    last = visit("compare", notes=1, tour=store.keep(OWN), step=2)
    assert "The last step of A talk" in html(last)


def test_the_talks_that_nobody_asked_for_longest_make_room(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(store, "_opened", OrderedDict())
    monkeypatch.setattr(store, "_MOST_KEPT", 10 * store._LEAST)
    names = [store.keep(replace(OWN, title=f"Talk {number}")) for number in range(10)]
    assert store.draft(names[0]).title == "Talk 0"
    store.keep(replace(OWN, title="One more"))
    store.keep(replace(OWN, title="One more"))
    with pytest.raises(TourError, match="has forgotten it"):
        store.draft(names[1])
    assert [store.draft(name).title for name in (names[0], names[2])] == ["Talk 0", "Talk 2"]
    store.keep(replace(OWN, about="long " * 2 * store._LEAST))
    with pytest.raises(TourError, match="has forgotten it"):
        store.draft(names[3])


def test_a_link_to_a_tour_that_is_gone_shows_its_view_and_says_so(visit: Visit):
    app = visit("compare", model="digits-dr", tour="opened-0123456789abcdef", step=3)
    [notice] = app.warning
    assert notice.value.endswith("a server that has forgotten it; open its file again; showing no tour instead.")
    assert app.get("plotly_chart")


def test_notes_of_a_tour_that_is_gone_are_an_ordinary_page_that_its_links_and_keys_leave(visit: Visit):
    app = visit("dynamic", model="digits-dr", tour="opened-0123456789abcdef", step=2, notes=1)
    assert len(app.warning) == 1 and "forgotten it" in app.warning[0].value and app.get("plotly_chart")
    assert not any("notes" in link.proto.query_string for link in app.get("page_link"))
    app.button(key="present").click().run()
    assert app.query_params["present"] == "1" and "notes" not in app.query_params
    assert "present" not in press(app, "present").query_params, "the key leaves presenter mode"


def test_views_are_collected_edited_and_taken_out(visit: Visit):
    app = visit("compare", model="digits-dr", image=7, present=1)
    app.button(key="add_view").click().run()
    app.button(key="add_view").click().run()
    talk = store.draft(app.query_params["talk"])
    assert [step.view for step in talk.steps] == ["compare?model=digits-dr&image=7"] * 2
    assert talk.steps[0].title.startswith("Compare: ")
    page = visit("tours", model="digits-dr", talk=app.query_params["talk"])
    page.text_area(key="talk-caption-1").set_value("[a](b)").run()
    assert any("it has a link or a picture" in error.value for error in page.error)
    assert page.button(key=f"begin-{page.query_params['talk']}").disabled
    page.text_area(key="talk-caption-1").set_value("Read as $7$.").run()
    assert not page.error
    page.button(key="talk-down-1").click().run()
    assert [step.caption for step in store.draft(page.query_params["talk"]).steps] == ["", "Read as $7$."]
    page.button(key="talk-out-1").click().run()
    page.button(key="talk-out-1").click().run()
    assert "talk" not in page.query_params
    assert not page.exception and not page.error


def test_the_page_lists_every_tour_with_its_steps_as_links(visit: Visit):
    app = visit("tours", model="digits-dr")
    assert not app.error and not app.exception
    queries = [link.proto.query_string for link in app.get("page_link")]
    for name in store.SHIPPED:
        assert app.button(key=f"begin-{name}").label == "Begin"
        steps = store.find(name).steps
        assert sum(f"tour={name}" in query for query in queries) == len(steps)


def test_a_link_that_holds_a_talk_opens_it(visit: Visit):
    name = known(store.packed(OWN))
    app = visit("tours", model="digits-dr", talk=name)
    assert app.text_input(key="talk-title-0").value == "A talk"
    assert any(name in code.value for code in app.code)
    assert not app.error


def test_what_a_stranger_called_a_tour_is_no_markup(visit: Visit):
    odd = Tour("<b>x</b> **y** :red[z]", (TourStep("*a* <i>", "em?model=digits-em"),), "$x$ <script>")
    app = visit("tours", model="digits-dr", tour=store.keep(odd))
    assert "&lt;b&gt;x&lt;/b&gt; **y** :red[z]" in html(app)
    labels = [link.proto.label for link in app.get("page_link")]
    assert any("\\*a\\* \\<i\\>" in label for label in labels)


def test_two_edits_at_once_are_both_kept(visit: Visit):
    app = visit("compare", model="digits-dr", image=7)
    app.button(key="add_view").click().run()
    app = visit("compare", model="digits-dr", image=8, talk=app.query_params["talk"])
    app.button(key="add_view").click().run()
    page = visit("tours", model="digits-dr", talk=app.query_params["talk"])
    page.text_area(key="talk-caption-1").set_value("Said quickly.")
    page.button(key="talk-down-1").click().run()
    steps = store.draft(page.query_params["talk"]).steps
    assert [(step.view[-1], step.caption) for step in steps] == [("8", ""), ("7", "Said quickly.")]


def test_a_talk_of_as_many_steps_as_there_may_be_takes_no_more(visit: Visit):
    whole = store.keep(Tour("A talk", (TourStep("One", "em?model=digits-em"),) * tour.MOST_STEPS))
    button = visit("compare", model="digits-dr", talk=whole).button(key="add_view")
    assert button.disabled and "take one out on the page Tours" in button.proto.help


def test_a_talk_that_could_not_be_opened_again_is_not_saved_and_says_why(visit: Visit):
    step = TourStep("A picture", "dynamic?model=cifar10-dr-residual&source=upload&picture=" + "A" * 23_900)
    heavy = Tour("A talk", (step,) * 20)
    [problem] = heavy.problems()
    assert len(tour.write(heavy)) > tour.MOST_CHARACTERS and "take out a step with a picture" in problem
    app = visit("tours", model="digits-dr", talk=store.keep(Tour("", (TourStep("One", "em?model=digits-em"),))))
    assert any("write one line of 1 to 120 characters" in caption.value for caption in app.caption)


def test_a_view_with_a_large_picture_of_ones_own_is_a_step_like_any_other():
    link = "dynamic?model=digits-dr&source=upload&picture=" + "x" * linked_picture.LONGEST
    assert not list(tour.step_problems(1, TourStep("A picture", link)))


def test_what_was_wrong_with_a_file_is_forgotten_with_it_and_with_the_page(visit: Visit):
    app = visit("tours", model="digits-dr")
    app.file_uploader[0].set_value(("wrong.toml", b"title = ", "application/toml")).run()
    assert any("wrong.toml: The file is no TOML" in error.value for error in app.error)
    odd = b'title = "A"\n[[step]]\ntitle = "B"\nview = "em?model=digits-em&imge=7"'
    app.file_uploader[0].set_value(("odd.toml", odd, "application/toml")).run()
    assert any("odd.toml: Step 1, view: A link holds no choice “imge”" in error.value for error in app.error)
    lost = b'title = "A"\n[[step]]\ntitle = "B"\nview = "dynmic?model=digits-dr"'
    app.file_uploader[0].set_value(("lost.toml", lost, "application/toml")).run()
    assert any("lost.toml: Step 1, view: “dynmic” is no page" in error.value for error in app.error)
    app.file_uploader[0].set_value(("marked.toml", b"\xef\xbb\xbf" + tour.write(OWN).encode(), "")).run()
    assert not app.error and store.draft(app.query_params["talk"]) == OWN
    app.file_uploader[0].set_value(("wrong.toml", b"title = ", "application/toml")).run()
    app.file_uploader[0].set_value(None).run()
    assert not app.error
    app.file_uploader[0].set_value(("wrong.toml", b"title = ", "application/toml")).run()
    assert app.error
    app.switch_page("views/em.py").run()
    assert not app.switch_page("views/tours.py").run().error
