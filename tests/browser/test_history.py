"""Back, Forward and quick hands in Chromium: whatever the page has been told of, the last thing done counts."""

from __future__ import annotations

import re
from contextlib import nullcontext

import pytest

from tests.browser.api import sync_api
from tests.browser.visitor import Connection, Visitor
from tests.known import known


def pick(visitor: Visitor, image: int) -> None:
    """Another image of those in the sidebar."""
    visitor.window.locator('[class*="st-key-image_thumbs"] button').nth(image).click()
    shows(visitor, image)


def shows(visitor: Visitor, image: int) -> None:
    """Wait until an image is on stage, and the page stands."""
    sync_api.expect(visitor.window.get_by_text(f"Digits test image {image}")).to_be_visible()
    visitor.settle()
    visitor.eventually(lambda: f"image={image}" in visitor.query(), "the image in the link")


def test_back_and_forward_count_though_the_page_is_late(visitor: Visitor):
    line = Connection(visitor.window)
    visitor.open("?model=digits-dr&image=7")
    pick(visitor, 2)
    pick(visitor, 3)
    with line.slow():
        visitor.window.go_back()
        visitor.window.wait_for_timeout(700)  # the server has drawn the page by then
        visitor.window.go_back()
        visitor.window.wait_for_timeout(200)
    shows(visitor, 7)
    with line.slow():
        visitor.window.go_forward()
        visitor.window.wait_for_timeout(1500)  # long enough for the page to ask whether its address was lost
    shows(visitor, 2)


def test_an_address_that_the_app_wrote_ahead_of_its_page_is_not_asked_for(visitor: Visitor):
    line = Connection(visitor.window)
    visitor.open("mixtures?model=digits-dr")
    board = visitor.window.locator(".mixture[data-ready]")
    element = board.element_handle()
    board.locator(".plane canvas").focus()
    with line.slow("script_finished"):  # the address is told, what is drawn with it is on its way
        visitor.window.keyboard.press("n")
        visitor.eventually(lambda: "point=0" in visitor.query(), "the point in the link")
        visitor.eventually(lambda: bool(line.waiting), "a word on its way")
        line.arrive(1)  # and that this run is over, for one that draws
        said = visitor.messages_sent
        visitor.window.wait_for_timeout(1500)  # long enough for the page to ask whether its address was lost
        assert visitor.messages_sent == said
        visitor.window.keyboard.press("a")
    visitor.eventually(lambda: "points=" in visitor.query(), "the point that was added in the link")
    assert known(element).evaluate("board => board.isConnected"), "the board was put up anew"


def test_an_address_that_the_app_tells_behind_back_becomes_that_of_the_page(visitor: Visitor):
    line = Connection(visitor.window)
    visitor.open("?model=digits-dr&image=7&embed_options=dark_theme")
    pick(visitor, 2)
    with line.slow():
        visitor.window.locator('[class*="st-key-image_thumbs"] button').nth(3).click()
        visitor.eventually(line.answered, "the answer on its way")
        visitor.window.go_back()
        visitor.window.wait_for_timeout(700)  # the server has drawn the page by then
    shows(visitor, 7)
    visitor.window.locator('[class*="st-key-upper"]').get_by_role("radio", name="3", exact=True).click()
    wanted = "embed_options=dark_theme&model=digits-dr&image=7&class=3"
    visitor.eventually(lambda: visitor.query() == wanted, "the class in the link, of this image")


def test_a_class_picked_on_the_page_of_before_is_picked(visitor: Visitor):
    line = Connection(visitor.window)
    visitor.open("?model=digits-dr&image=7")
    pick(visitor, 2)
    with line.slow():
        visitor.window.go_back()
        visitor.window.wait_for_timeout(700)
        visitor.window.locator('[class*="st-key-upper"]').get_by_role("radio", name="3", exact=True).click()
        visitor.window.wait_for_timeout(200)
    visitor.eventually(lambda: "class=3" in visitor.query(), "the class in the link")
    shows(visitor, 7)


def test_an_answer_puts_nothing_back_that_was_picked_since(visitor: Visitor):
    line = Connection(visitor.window)
    visitor.open("?model=digits-dr&image=7")
    pictures = visitor.window.locator('[class*="st-key-image_thumbs"] button')
    with line.slow():
        pictures.nth(2).click()
        visitor.eventually(line.answered, "the answer on its way")
        answer = len(line.waiting)
        pictures.nth(3).click()
        line.arrive(answer)
        sync_api.expect(visitor.window.get_by_text("Digits test image 2")).to_be_visible()
        visitor.fresh()
        visitor.press(".")
        visitor.window.wait_for_timeout(200)
    visitor.eventually(lambda: "class=" in visitor.query(), "the class in the link")
    shows(visitor, 3)
    assert re.fullmatch(r"model=digits-dr&image=3&class=\d", visitor.query())


def test_a_link_leads_to_its_page_though_page_and_address_differ_for_long(visitor: Visitor):
    """The address of a page that is not there yet is no sign of a lost one: what asks for it would undo the link."""
    line = Connection(visitor.window)
    visitor.open("start?model=digits-dr")
    visitor.press("p")
    visitor.eventually(lambda: "present=1" in visitor.query(), "presenter mode in the link")
    with line.slow(last="page_info_changed"):
        visitor.press("p")
        visitor.eventually(lambda: "present=1" not in visitor.query(), "the ordinary page in the link")
        visitor.press("1")
        visitor.window.wait_for_timeout(1500)  # long enough for the page to ask whether its address was lost
    sync_api.expect(visitor.window.locator("h2")).to_have_text("Dynamic routing")
    visitor.settle()
    assert visitor.window.url.startswith(f"{visitor.address}/dynamic?")


@pytest.mark.parametrize("late", [False, True])
def test_another_algorithm_of_the_sidebar_leads_to_its_page_and_back_to_the_page_before(visitor: Visitor, late: bool):
    line = Connection(visitor.window)
    visitor.open("?model=digits-dr&image=7")
    heading = visitor.window.locator("h2")
    visitor.window.get_by_text(re.compile(r"^EM routing · ")).click()
    sync_api.expect(heading).to_have_text("EM routing")
    visitor.settle()
    visitor.eventually(lambda: visitor.query() == "model=digits-em&image=7", "the other model in the link")
    with line.slow() if late else nullcontext():
        visitor.window.go_back()
        if late:
            visitor.window.wait_for_timeout(1500)  # long enough for the page to ask whether its address was lost
    sync_api.expect(heading).to_have_text("Dynamic routing")
    visitor.settle()
    running = visitor.window.locator('[class*="st-key-model"] label:has(input:checked)')
    sync_api.expect(running).to_contain_text("Dynamic routing")
    assert visitor.window.url == f"{visitor.address}/?model=digits-dr&image=7"


def test_a_key_behind_another_algorithm_counts_on_the_page_that_it_leads_to(visitor: Visitor):
    line = Connection(visitor.window)
    visitor.open("?model=digits-dr&image=7")
    with line.slow():
        visitor.window.get_by_text(re.compile(r"^EM routing · ")).click()
        visitor.window.keyboard.press("p")
        visitor.window.wait_for_timeout(700)  # the server has answered both by then
    sync_api.expect(visitor.window.locator("h2")).to_have_text("EM routing")
    visitor.settle()
    visitor.eventually(lambda: visitor.query() == "model=digits-em&image=7&present=1", "presenter mode in the link")


def test_a_page_is_there_again_though_the_server_was_late(visitor: Visitor):
    line = Connection(visitor.window)
    visitor.open("dynamic")
    board = visitor.board()
    visitor.follow("/em")
    with line.slow():
        visitor.press("6")
        visitor.window.wait_for_timeout(1500)  # the server has drawn the page by then
        visitor.press("1")
        visitor.window.wait_for_timeout(1500)
    sync_api.expect(visitor.window.locator("h2")).to_have_text("Dynamic routing")
    visitor.settle()
    visitor.eventually(lambda: visitor.board() == board, "the board of before")
