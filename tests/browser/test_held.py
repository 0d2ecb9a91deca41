"""What is held down stays in the hand while an answer comes, and a key that is held is pressed once."""

from __future__ import annotations

from tests.browser.api import sync_api
from tests.browser.visitor import Visitor


def test_a_chart_that_is_held_while_its_amount_is_told_follows_on(visitor: Visitor):
    visitor.open("viewpoint?model=digits-dr&image=3&change=right")
    chart = visitor.window.locator(".sweep .charts canvas").first
    index = "root => root.capsvizBoard.controls.index"
    board, box, mouse = visitor.window.locator("section.sweep"), visitor.box(chart), visitor.window.mouse
    y = box["y"] + box["height"] / 2
    mouse.move(box["x"] + box["width"] / 4, y)
    mouse.down()
    mouse.move(box["x"] + box["width"] / 3, y, steps=4)
    visitor.eventually(lambda: "right_" in visitor.query(), "the amount in the link")
    visitor.settle()
    before = board.evaluate(index)
    mouse.move(box["x"] + 2 * box["width"] / 3, y, steps=8)
    visitor.eventually(lambda: board.evaluate(index) > before + 2, "the amount under the hand")
    mouse.up()


def test_a_button_that_is_down_while_an_answer_comes_is_pressed(visitor: Visitor):
    visitor.open("dynamic?model=digits-dr&image=7")
    board, mouse = visitor.window.locator("section.routing"), visitor.window.mouse
    near = board.get_by_role("button", name="Zoom into the votes")

    def held(box: sync_api.FloatRect, told: str) -> None:
        mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        mouse.down()
        visitor.eventually(lambda: told in visitor.query(), f"{told} in the link")
        visitor.settle()
        mouse.up()

    places = [visitor.box(each) for each in (board.locator(".algorithm button.line").first, near)]
    near.click()
    held(places[1], "zoom=1")
    visitor.eventually(lambda: "zoom=2" in visitor.query(), "the second press in the link")
    visitor.press("ArrowLeft")
    held(places[0], "frame=")
    visitor.eventually(lambda: board.evaluate("root => root.capsvizBoard.controls.index % 4") == 0, "the line")


def test_a_key_that_is_held_shows_the_sheet_and_does_not_hide_it_again(visitor: Visitor):
    visitor.open("dynamic?model=digits-dr&image=7")
    dialog = visitor.window.locator("dialog")
    for _ in range(4):
        visitor.window.keyboard.down("?")
    sync_api.expect(dialog.first).to_be_visible()
    visitor.window.keyboard.up("?")


def test_pictures_keep_their_words_on_a_page_that_is_read_from_the_right(visitor: Visitor):
    visitor.open("dynamic?model=digits-dr&image=7")
    visitor.window.evaluate("document.documentElement.dir = 'rtl'")
    direction = "root => getComputedStyle(root.querySelector('canvas')).direction"
    assert visitor.window.locator("section.routing").evaluate(direction) == "ltr"


def test_where_the_button_with_the_focus_goes_the_nearest_one_has_it(visitor: Visitor):
    visitor.open("dynamic?model=digits-dr&image=3")
    tools = visitor.window.locator("section.routing .tools").first
    tools.get_by_role("button", name="Mute").press("Enter")
    visitor.eventually(lambda: "touch=" in visitor.query(), "the intervention in the link")
    visitor.settle()
    tools.get_by_role("button", name="Undo").press("Enter")
    visitor.eventually(lambda: "touch=" not in visitor.query(), "the network untouched in the link")
    visitor.settle()
    assert tools.evaluate("tools => tools.getRootNode().activeElement?.matches('.tools button')")
