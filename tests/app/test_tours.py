"""The file of a tour: read, checked field by field, written again; nothing in a caption leads away or fetches."""

from __future__ import annotations

import base64
import dataclasses
import json
import tomllib
import tracemalloc
import zlib
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.page import navigation
from app.state.choices import Choices
from app.tours import caption, links, store, toml
from app.tours import tour as tours
from app.tours.tour import Tour, TourError, TourStep
from tests.programs import python

FILE = """
title = "A talk"
[[step]]
title = "First"
view = "dynamic?model=digits-dr&image=7"
"""


def said(text: str) -> str:
    """The sentence with which a file is refused."""
    with pytest.raises(TourError) as error:
        tours.read(text)
    return str(error.value)


def lines() -> st.SearchStrategy[str]:
    """Titles: one line of anything that can be seen."""
    seen = st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"))
    return st.text(seen, min_size=1, max_size=60).map(str.strip).filter(bool)


def captions() -> st.SearchStrategy[str]:
    """What a caption may hold, formulas, quotes, backslashes and lines among it."""
    parts = st.sampled_from(
        ["$\\hat u_{ij}$", "**bold**", "'", '"', "'''", '"""', "\\", "\n\n", "- item", "é 9 ", "\t", " a < b "]
    )
    return (
        st.lists(parts, max_size=12)
        .map(lambda found: "".join(found).strip())
        .filter(lambda text: not caption.wrong(text))
    )


def all_tours() -> st.SearchStrategy[Tour]:
    views = st.sampled_from(["dynamic?model=digits-dr", "em?model=digits-em&T=5", "results?experiment=cost"])
    panels = st.sampled_from(["", "strip", "routing-toy", "maps-ascent"])
    steps = st.builds(TourStep, lines(), views, captions(), st.booleans(), panels)
    return st.builds(Tour, lines(), st.lists(steps, min_size=1, max_size=5).map(tuple), st.just("") | lines())


@given(all_tours())
def test_a_tour_survives_its_file_and_its_link(tour: Tour):
    assert tours.read(tours.write(tour)) == tour
    name = store.packed(tour)
    assert name is None or store.find(name) == tour
    assert store.find(store.keep(tour)) == tour


@given(st.dictionaries(st.sampled_from(["a", "b"]), st.booleans() | st.text(st.characters(exclude_characters="\r"))))
def test_what_the_writer_writes_tomllib_reads(table: dict[str, str | bool]):
    read = tomllib.loads(toml.document(table, "step", [table, {}, table]))
    assert read == {**table, "step": [table, {}, table]}


def test_formulas_stand_in_the_file_as_they_were_written():
    step = TourStep("Votes", "dynamic?model=digits-dr", "$\\hat u_{ij} = W_{ij}\\,u_i$\n\nand so on")
    assert "'''\n$\\hat u_{ij} = W_{ij}\\,u_i$\n\nand so on'''" in tours.write(Tour("A talk", (step,)))


def test_a_file_says_its_steps_and_leaves_out_what_is_as_it_would_be():
    tour = tours.read(FILE)
    assert tour == Tour("A talk", (TourStep("First", "dynamic?model=digits-dr&image=7"),))
    assert tours.write(tour).split() == FILE.split()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("title = ", "The file is no TOML ("),
        ("n = " + "9" * 5000, "The file is no TOML ("),
        ("", 'The tour\'s title: it is missing; write title = "…".'),
        ('title = "A talk"', "A tour has 1 to 100 steps, and this one has 0: add some, or take some out."),
        (FILE.replace('"A talk"', "3"), "The tour's title: write text in quotes."),
        (FILE.replace("title", "name", 1), "The tour's name: there is no such field; choose among title, about."),
        (FILE.replace('title = "First"\n', ""), 'Step 1, title: it is missing; write title = "…".'),
        (FILE.replace('"First"', '" "'), "Step 1, title: write one line of 1 to 120 characters."),
        (FILE.replace('"First"', '"a\\nb"'), "Step 1, title: write one line of 1 to 120 characters."),
        (FILE + "play = 1", "Step 1, play: write true or false."),
        (FILE + "speed = 2", "Step 1, speed: there is no such field; choose among title, view, caption, play, panel."),
        (FILE + 'panel = "a b"', "Step 1, panel: “a b” names no panel; write one like board, strip or entropy."),
        (FILE + 'panel = "nosuch"', "Step 1, panel: “nosuch” names no panel; write one like board, strip or entropy."),
        (
            FILE + 'panel = "x],body{}"',
            "Step 1, panel: “x],body{}” names no panel; write one like board, strip or entropy.",
        ),
        (FILE.replace("digits-dr", "digits dr"), "Step 1, view: copy the address of a page of the app"),
        ("step = 3\n" + FILE.split("[[")[0], "The tour's step: write each step below a line [[step]]."),
        (FILE * 1 + "caption = '''\n[here](x)'''", "Step 1, caption: it has a link or a picture"),
        ("#" * 400_001, "The file has more than 400000 characters; a tour holds words and links only."),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence_that_names_step_and_field(text: str, sentence: str):
    assert said(text).startswith(sentence)


@pytest.mark.parametrize(
    "text",
    [
        "![a](http://a.example/b.png)",
        "[a](dynamic)",
        "[a][b]",
        "[b]: /x",
        "<img src=x>",
        "<a href=x>a</a>",
        "</p>",
        "<!-- a -->",
        "<http://a.example>",
        "see http://a.example",
        "see HTTPS://a.example",
        "http\\://a.example",
        "http&#58;//a.example",
        "see www.a.example",
        "write to a@b.example",
        "a\\@b.example",
        "$\\href{http://a}{b}$",
        "$\\includegraphics{a.png}$",
        "$ ` $ [x](y) ` `",
        "# A heading",
        "A heading\n=========",
        "> ## quoted",
        "x" * 501,
    ],
)
def test_nothing_in_a_caption_leads_away_fetches_or_shouts(text: str):
    assert caption.wrong(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "**bold**, *slanted*, `code`",
        "$0 < x$ and $a_{ij} \\in [0, 1]$",
        "- one\n- two",
        "9: 0.94; 4: 0.09",
        "a < b",
    ],
)
def test_words_emphasis_lists_and_formulas_are_captions(text: str):
    assert caption.wrong(text) == ""


@pytest.mark.parametrize(
    "name", ["~", "~x", "~" + "A" * 7000, "~eJwDAAAAAAE", "opened-0123456789abcdef", "nowhere", "../x"]
)
def test_a_name_that_is_no_tour_is_one_sentence(name: str):
    with pytest.raises(TourError, match=r"^[^\n]*\.$"):
        store.find(name)


def test_a_link_that_unpacks_without_end_is_refused():
    bomb = base64.urlsafe_b64encode(zlib.compress(b'{"title":"' + b"a" * 4_000_000 + b'"}', 9)).decode().rstrip("=")
    assert len(bomb) < store.LONGEST_NAME
    with pytest.raises(TourError, match="cannot be read"):
        store.find(f"~{bomb}")


@pytest.mark.parametrize(
    "text",
    [
        "a." * 20_000 + "a = 1",
        "[" + " . ".join(["a"] * 20_000) + "]",
        '"a"."b".' * 10_000 + "a = 1",
        '"\\"".' * 10_000 + "a = 1",
        "x = {" + "'a'.b-1." * 10_000 + "a = 1}",
    ],
)
def test_a_file_whose_names_have_parts_without_end_is_refused_at_once(text: str):
    tracemalloc.start()
    try:
        with pytest.raises(TourError, match=r"^The file has a name of more than 64 parts; [^\n]*\.$"):
            tours.read(FILE + text)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_words_and_numbers_with_many_points_are_no_such_names():
    caption = "One. Two. Three. Four. Five. Six. Seven. Eight. And 0.1, 0.2, 0.3, 1.2.3.4 … e.g. i.e. a.m. p.m."
    read = tours.read(FILE + f'caption = "{caption}"')
    assert read.steps[0].caption == caption


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("title", "Step 1, title: write one line"),
        ("view", "Step 1, view: copy the address"),
        ("caption", "Step 1, caption: it has a character that cannot be seen"),
        ("panel", "Step 1, panel: “” names no panel"),
    ],
)
def test_half_a_letter_in_a_link_is_one_sentence_that_can_be_sent(field: str, sentence: str):
    step = {"title": "First", "view": "dynamic?model=digits-dr"} | {field: "\ud800"}
    said = base64.urlsafe_b64encode(zlib.compress(json.dumps({"title": "A talk", "step": [step]}).encode())).decode()
    with pytest.raises(TourError) as error:
        store.find(f"~{said.rstrip('=')}")
    assert str(error.value).startswith(sentence) and str(error.value).encode()


def test_a_tour_that_is_not_right_yet_is_kept_but_not_shown():
    draft = Tour("A talk", (TourStep("First", "dynamic?model=digits-dr", "[here](x)"),))
    name = store.keep(draft)
    assert store.draft(name) == draft
    with pytest.raises(TourError, match="Step 1, caption"):
        store.find(name)


def test_the_tour_that_the_server_was_started_with_comes_first_and_is_read_again(tmp_path: Path, monkeypatch):
    monkeypatch.setenv(store.PASSED, "")
    file = tmp_path / "lecture.toml"
    file.write_text(FILE, encoding="utf-8")
    store.start_with(str(file))
    assert store.names() == ("lecture", *store.SHIPPED)
    file.write_text(FILE.replace("A talk", "Another"), encoding="utf-8")
    assert store.find("lecture").title == "Another"
    with pytest.raises(TourError, match=r"comes with the app; give .* another name"):
        store.start_with(str(tmp_path / f"{store.SHIPPED[0]}.toml"))
    with pytest.raises(TourError, match="cannot be read as text"):
        store.start_with(str(tmp_path / "none.toml"))


def test_steps_of_a_talk_that_lead_nowhere_are_said_as_the_server_starts(tmp_path: Path):
    file, views = tmp_path / "lecture.toml", ("nowhere?x=1", "dynamic?colour=red", "dynamic?model=mine", "http://[")
    file.write_text(tours.write(Tour("A talk", tuple(TourStep("A step", view) for view in views))), encoding="utf-8")
    started = python("app/main.py", "--tour", file)
    assert started.returncode == 0, started.stderr
    said = [row.removeprefix(f"{file}: ") for row in started.stderr.splitlines() if row.startswith(str(file))]
    assert [sentence[: sentence.index(",")] for sentence in said] == ["Step 1", "Step 2", "Step 4"]
    assert "“nowhere” is no page; begin the link with one of basics," in said[0]
    assert said[1].endswith("A link holds no choice “colour”; take it out, or mend its name.")


def test_the_view_of_a_step_is_a_page_and_choices_whatever_machine_the_link_came_from(bare_machine):
    from app.scene import catalogue

    here = catalogue()
    copied = TourStep(
        "a", "http://other.example:1/base/em?model=digits-em&image=7&present=1&tour=x&step=4&talk=opened-0"
    )
    page, choices, notices = links.opened(copied, here)
    assert (page, choices) == ("em", Choices("digits-em", image=7))
    assert not notices, "of how and in which tour it was shown nothing counts, be it here or not"
    assert dict(parse_qsl(links.view_of(page, dataclasses.replace(choices, present=True)).split("?")[1])) == {
        "model": "digits-em",
        "image": "7",
    }
    for view, said in (("javascript:alert(1)", "is no page"), ("http://[dynamic?model=x", "cannot be read")):
        with pytest.raises(TourError, match=said):
            links.opened(TourStep("a", view), here)


@pytest.mark.parametrize(
    ("view", "page", "choices"),
    [
        ("/?page=start&model=digits-dr&T=4", "start", {"iterations": 4}),
        ("http://localhost:8501/?model=digits-dr&image=7", navigation.FIRST_LAB, {"image": 7}),
        ("https://other.example/base/?model=digits-dr", navigation.FIRST_LAB, {}),
        ("http://localhost:8501?model=digits-dr&page=start", "start", {}),
        ("http://localhost:8501/em/?model=digits-dr", "em", {}),
    ],
)
def test_an_address_without_a_page_name_is_the_view_that_the_app_opens_there(
    bare_machine, view: str, page: str, choices
):
    from app.scene import catalogue

    assert links.opened(TourStep("a", view), catalogue()) == (page, Choices("digits-dr", **choices), ())


def test_no_line_of_a_caption_ends_between_a_number_and_its_percent_sign():
    assert caption.unbroken("0.83 %, not 0.65 % of 7 images") == "0.83\u00a0%, not 0.65\u00a0% of 7 images"


@pytest.mark.parametrize("name", store.SHIPPED)
def test_every_step_that_ships_leads_to_its_view_without_a_notice(bare_machine, name: str):
    from app.scene import catalogue

    tour = store.find(name)
    assert tour.about and all(step.caption and step.panel for step in tour.steps)
    for step in tour.steps:
        page, choices, notices = links.opened(step, catalogue())
        assert notices == (), step.title
        assert links.view_of(page, choices) == step.view, "a link says each choice once, in the usual order"


def test_pages_are_named_in_links_as_their_files_are():
    assert set(navigation.PAGES) == set(links.pages())
