"""The start page in Chromium: one screen, one picture that plays by itself until a hand takes it, and the keys on."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.api import sync_api
from tests.browser.visitor import Visitor

HALL = {"width": 1920, "height": 1080}
TELEPHONE = {"width": 390, "height": 844}
TITLE = "Parts vote, agreement decides"
MAIN = '[data-testid="stMain"]'


def toy(visitor: Visitor, code: str):
    """A question to the toy on the page."""
    return visitor.window.locator(".toy").evaluate(f"root => {{ const toy = root.capsvizBoard; return {code}; }}")


def beyond(visitor: Visitor) -> tuple[int, int]:
    """By how many pixels the page is longer and wider than its window."""
    script = "main => [main.scrollHeight - main.clientHeight, main.scrollWidth - main.clientWidth]"
    down, across = visitor.window.locator(MAIN).evaluate(script)
    return down, across


@pytest.mark.parametrize("link", ["", "start?model=digits-dr", "start?present=1"])
@pytest.mark.parametrize("screen", [{"width": 1280, "height": 720}, HALL])
def test_all_of_it_is_on_one_screen(
    open_window: Callable[..., sync_api.Page], address: str, link: str, screen: dict[str, int]
):
    visitor = Visitor(open_window(viewport=screen), address).open(link)

    def outside() -> list[object]:
        found: list[object] = [beyond(visitor)] if any(beyond(visitor)) else []
        for part in (".toy canvas >> nth=1", ".toy .player-controls", ".st-key-opening", ".st-key-ways a >> nth=2"):
            box = visitor.window.locator(part).bounding_box()
            if not box or box["y"] < 0 or box["y"] + box["height"] > screen["height"]:
                found.append((part, box))
        return found

    assert visitor.remaining(outside) == []
    visitor.leave()


def test_the_picture_plays_by_itself_and_begins_anew_and_the_server_hears_nothing(moving: Visitor):
    moving.open("start?model=digits-dr")
    asked = moving.messages_sent

    def scene(word: str) -> float:
        """The length of the first parent when the story says a word: both are of the same picture."""
        seen: list[str] = []

        def says() -> bool:
            script = "[root.querySelector('.note .said').innerText, toy.parents[0].title.textContent]"
            seen[:] = toy(moving, script)
            return word in seen[0]

        moving.eventually(says, f"the story says {word}")
        return float(seen[1].split("=")[1])

    assert scene("coupling") > 0.5 > scene("disagree")
    assert moving.messages_sent == asked and moving.query() == "model=digits-dr"


def test_it_stands_where_less_motion_is_asked_for_and_where_the_link_says_so(
    open_window: Callable[..., sync_api.Page], address: str
):
    for link, motion, place in (("", "reduce", 3), ("start?frame=1", "no-preference", 1)):
        visitor = Visitor(open_window(reduced_motion=motion), address).open(link)
        visitor.window.wait_for_timeout(2500)
        assert toy(visitor, "[toy.controls.position, toy.controls.timer]") == [place, 0]
        assert visitor.window.locator(".toy .player-controls button").first.inner_text().endswith("Play")
        visitor.leave()


def test_a_hand_takes_the_votes_and_one_back_gives_the_story_again(visitor: Visitor):
    visitor.open()
    assert urlsplit(visitor.window.url).path == "/" and visitor.query() == ""
    at = toy(visitor, "toy.parents[1].plane.place(toy.votes[0][1])")  # those for parent 2 stand still
    second = visitor.box(visitor.window.locator(".toy canvas").nth(1))
    visitor.drag(second["x"] + at["x"], second["y"] + at["y"], -60, -60)
    visitor.eventually(lambda: "toy=" in visitor.query(), "the votes in the link")
    assert urlsplit(visitor.window.url).path == "/" and visitor.query().startswith("page=start&")
    visitor.settle()
    sync_api.expect(visitor.window.locator("h2")).to_have_text(TITLE)
    moved = toy(visitor, "toy.votes")
    flat = [float(x) for x in parse_qs(visitor.query())["toy"][0].split(",")]
    assert [x for capsule in moved for vote in capsule for x in vote] == flat
    for way in visitor.window.locator(".st-key-ways a").all():
        assert parse_qs(urlsplit(way.get_attribute("href") or "").query)["toy"] == parse_qs(visitor.query())["toy"]
    assert toy(visitor, "toy.story") is None and toy(visitor, "toy.controls.timer") == 0
    assert visitor.window.locator(".toy .note .said").inner_text().startswith("Your own votes")
    visitor.window.go_back()
    visitor.eventually(lambda: visitor.query() == "", "the bare address again")
    visitor.settle()
    visitor.eventually(lambda: toy(visitor, "toy.story") is not None, "the story again")
    visitor.window.go_forward()
    visitor.eventually(lambda: toy(visitor, "toy.story") is None, "the votes of the hand again")
    assert toy(visitor, "toy.votes") == moved
    visitor.window.reload()
    visitor.settle()
    visitor.eventually(lambda: toy(visitor, "toy.votes") == moved, "the votes of the hand after a reload")


def test_votes_that_are_taken_where_the_story_stood_are_in_the_link_as_they_are_seen(visitor: Visitor):
    def drags(parent: int, across: int) -> None:
        at = toy(visitor, f"toy.parents[{parent}].plane.place(toy.votes[0][{parent}])")
        box, before = visitor.box(visitor.window.locator(".toy canvas").nth(parent)), visitor.query()
        visitor.drag(box["x"] + at["x"], box["y"] + at["y"], across, -60)
        visitor.eventually(lambda: visitor.query() != before and "toy=" in visitor.query(), "the votes in the link")
        visitor.settle()

    visitor.open("start?model=digits-dr&frame=1")
    drags(1, -60)
    assert toy(visitor, "toy.controls.position") == 2 and "frame=" not in visitor.query(), "the end of what was routed"
    visitor.press("ArrowLeft")
    visitor.eventually(lambda: "frame=1" in visitor.query(), "where the own votes are looked at")
    drags(0, -60)
    assert toy(visitor, "toy.controls.position") == 1 and "frame=1" in visitor.query(), "it stays there"


@pytest.mark.parametrize("link", ["?model=digits-dr&image=12", "?image=12&model=digits-dr", "?T=4"])
def test_an_old_link_is_one_entry_and_back_leads_past_it(visitor: Visitor, link: str):
    visitor.open()
    entries = visitor.window.evaluate("history.length")
    visitor.open(link)
    heading = visitor.window.locator("h2")
    sync_api.expect(heading).to_have_text("Dynamic routing")
    assert visitor.query() == link[1:] and urlsplit(visitor.window.url).path == "/"
    assert visitor.window.evaluate("history.length") == entries + 1
    visitor.window.go_back()
    visitor.eventually(lambda: visitor.query() == "", "the bare address again")
    sync_api.expect(heading).to_have_text(TITLE)


def test_from_an_old_link_to_the_start_page_and_back_and_on(visitor: Visitor):
    visitor.open("?model=digits-dr&image=12")
    heading = visitor.window.locator("h2")
    for key, title in (("0", TITLE), ("2", "EM"), ("1", "Dynamic routing")):
        visitor.press(key)
        sync_api.expect(heading).to_contain_text(title)
        visitor.settle()
    for title in ("EM", TITLE, "Dynamic routing"):
        visitor.window.go_back()
        sync_api.expect(heading).to_contain_text(title)
        visitor.settle()
        visitor.eventually(lambda: visitor.query() == "model=digits-dr&image=12", "the same choices")
    assert urlsplit(visitor.window.url).path == "/"
    visitor.window.go_forward()
    sync_api.expect(heading).to_have_text(TITLE)


def test_digits_lead_to_the_pages_and_p_presents_the_start_page(visitor: Visitor):
    visitor.open()
    heading = visitor.window.locator("h2")
    visitor.press("p")
    visitor.eventually(lambda: "present=1" in visitor.query(), "presenter mode")
    assert urlsplit(visitor.window.url).path == "/"
    sync_api.expect(heading).to_have_text(TITLE)
    visitor.press("p")
    visitor.eventually(lambda: "present=1" not in visitor.query(), "the ordinary page")
    for key, title in (("1", "Dynamic routing"), ("2", "EM routing"), ("0", TITLE)):
        visitor.press(key)
        sync_api.expect(heading).to_have_text(title)
        visitor.settle()
    visitor.press("?")
    sync_api.expect(visitor.window.get_by_text("the pages, in their order")).to_be_visible()


def test_the_links_fit_one_line_beside_the_sidebar_and_wrap_on_a_telephone(
    open_window: Callable[..., sync_api.Page], address: str
):
    places = """() => {
        const bar = document.querySelector(".st-key-pages");
        const boxes = [...bar.querySelectorAll("a")].map((link) => link.getBoundingClientRect());
        return boxes.map(({ top, left, right, height }) => [top, left, right, height]);
    }"""
    for screen, rows in (({"width": 1280, "height": 720}, 1), (TELEPHONE, 4)):
        visitor = Visitor(open_window(viewport=screen), address).open("results?model=digits-dr")
        boxes = visitor.window.evaluate(places)
        assert len(boxes) == 12
        assert len({round(top) for top, *_ in boxes}) <= rows, boxes
        assert all(right <= screen["width"] for _, _, right, _ in boxes)
        visitor.leave()
