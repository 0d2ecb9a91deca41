"""The app in Chromium, started as `make app` starts it: every page, a slider, the player, uploads, links.

Whatever a test does, no exception box may appear, nothing may be logged as an error, no other host be asked.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from capsviz.data.exemplars import exemplars
from capsviz.experiments import reports
from tests.browser.api import sync_api
from tests.browser.visitor import Connection, Visitor
from tests.serving import served

PAGES = {
    "Dynamic routing": "dynamic",
    "EM": "em",
    "L2 / L1": "discriminative",
    "Perturb": "perturb",
    "Compare": "compare",
}


def test_the_first_visit_of_a_fresh_server_may_be_a_link_to_any_page(
    open_window: Callable[..., sync_api.Page], tmp_path: Path
):
    expect = sync_api.expect
    with served("app/main.py", tmp_path, CAPSVIZ_DATA=str(tmp_path)) as address:
        visitor = Visitor(open_window(), address).open("em?model=digits-em&image=5")
        expect(visitor.window.locator("h2")).to_have_text("EM routing")
        expect(visitor.window.locator('[data-testid="stSidebar"]')).to_be_visible()
        expect(visitor.window.get_by_text("Digits test image 5")).to_be_visible()
        visitor.leave()
    assert "Traceback" not in (tmp_path / "log").read_text()  # nor was there anything wrong before the visit


def test_only_this_machine_is_answered_unless_told(address: str):
    port = int(address.rsplit(":", 1)[1])
    socket.create_connection(("127.0.0.1", port), timeout=5).close()
    with pytest.raises(OSError):  # a server on all interfaces answers here as well
        socket.create_connection(("127.0.0.2", port), timeout=5)


def test_every_page_stands_and_every_link_keeps_the_choices(visitor: Visitor):
    visitor.open("dynamic?model=digits-dr&image=12&class=3")
    sync_api.expect(visitor.window.locator("h2")).to_contain_text("Dynamic")
    first, *others = enumerate(PAGES.items(), start=1)
    for number, (title, path) in (*others, first):
        visitor.window.get_by_role("link", name=f"{number} {title}").click()
        visitor.window.wait_for_url(re.compile(rf"/{path}\?model=digits-dr&image=12&class=3$"))
        sync_api.expect(visitor.window.locator("h2")).to_contain_text(title.split(" ")[0])
        visitor.settle()
        sync_api.expect(visitor.window).to_have_title(f"{title} · capsviz")
        pictures = visitor.window.locator(".js-plotly-plot, .capsule-maps, .routing")
        sync_api.expect(pictures.nth(1)).to_be_visible()
        strip = visitor.window.locator('.st-key-strip[data-stale="false"] .js-plotly-plot:has(.main-svg)')
        sync_api.expect(strip).to_be_visible()
    visitor.window.go_back()
    sync_api.expect(visitor.window).to_have_title("Compare · capsviz")
    visitor.settle()


def test_a_choice_that_brings_a_sentence_above_it_keeps_the_focus(visitor: Visitor):
    visitor.open("discriminative?model=digits-l2")
    picker = visitor.window.locator('[class*="st-key-penalty"]')
    picker.get_by_role("radio", name="L2").focus()
    visitor.window.keyboard.press("ArrowRight")
    visitor.window.keyboard.press("Enter")
    sync_api.expect(visitor.window.get_by_text("digits-l2 is L2; here digits-l1 runs")).to_be_visible()
    visitor.settle()
    sync_api.expect(picker.locator(":focus")).to_have_text("L1")


def test_a_class_that_a_pointer_chose_leaves_the_keys_to_the_player(visitor: Visitor):
    visitor.open("dynamic?model=digits-dr&image=3")
    visitor.window.locator('[class*="st-key-upper"]').get_by_role("radio").nth(5).click()
    visitor.eventually(lambda: "class=5" in visitor.query(), "the class is chosen")
    visitor.settle()
    frame = visitor.window.locator("output.frame").first
    for key, said in (("Home", "iteration 1 of 3 · line 1 of 4"), ("ArrowRight", "iteration 1 of 3 · line 2 of 4")):
        visitor.window.keyboard.press(key)
        sync_api.expect(frame).to_have_text(said)
    visitor.window.keyboard.press(" ")
    sync_api.expect(frame).to_have_text("iteration 3 of 3 · line 4 of 4")
    visitor.settle()
    assert "class=5" in visitor.query()


def test_results_show_an_experiment_and_its_links_keep_the_choices(visitor: Visitor):
    visitor.open("results?model=digits-dr&image=12")
    for name in (reports.NAMES[0], reports.NAMES[-1]):
        report = reports.report(name)
        visitor.window.locator('[class*="st-key-experiment"]').get_by_role(
            "radio", name=report.title, exact=True
        ).click()
        sync_api.expect(visitor.window.locator("h2")).to_have_text(report.question)
        figures = visitor.window.locator('[data-testid="stMain"] .js-plotly-plot:has(.main-svg)')
        tables = visitor.window.locator('[data-testid="stMarkdownContainer"] table')
        if report.measured is not None:
            sync_api.expect(figures.first).to_be_visible()
        if report.markdown:
            panel = visitor.window.locator('[class*="st-key-details"] summary')
            sync_api.expect(tables).to_have_count(0)
            panel.click()
            sync_api.expect(tables.first).to_be_visible()
            visitor.eventually(lambda: "details=1" in visitor.query(), "the open panel in the link")
            visitor.fresh()
            panel.click()
            visitor.eventually(lambda: "details" not in visitor.query(), "the folded panel in the link")
    visitor.eventually(lambda: f"experiment={reports.NAMES[-1]}" in visitor.query(), "the experiment in the link")
    query = visitor.query()
    link = visitor.window.get_by_role("link", name="4 Perturb")
    visitor.eventually(lambda: (link.get_attribute("href") or "").endswith(f"perturb?{query}"), "the choices in a link")
    visitor.window.reload()
    sync_api.expect(visitor.window.locator("h2")).to_have_text(report.question)


def test_a_slider_of_perturb_sends_no_weights_again(open_window: Callable[..., sync_api.Page], address: str):
    window, heard = open_window(), [0]

    def hears(socket: sync_api.WebSocket) -> None:
        socket.on("framereceived", lambda frame: heard.__setitem__(0, heard[0] + len(frame)))

    window.on("websocket", hears)
    fetched = []
    window.on("response", lambda answer: fetched.append(answer.url) if "_capsviz/packs/" in answer.url else None)
    visitor = Visitor(window, address).open("perturb?model=mnist-dr-residual")
    window.locator('.live-decoder[data-ready="true"]').wait_for()
    visitor.settle()
    heard[0] = 0
    handle = window.locator(".live-decoder .slider input").first
    handle.focus()
    handle.press("ArrowRight")
    visitor.eventually(lambda: "offsets=" in visitor.query(), "the link")
    visitor.settle()
    assert 0 < heard[0] < 600_000
    first = len(fetched)
    visitor.open("perturb?model=mnist-dr-residual")
    window.locator('.live-decoder[data-ready="true"]').wait_for()
    visitor.eventually(lambda: len(fetched) > first, "the weights")
    assert len({*fetched}) == 1, "by its digest"
    visitor.leave()


def test_where_weights_cannot_be_fetched_messages_bring_them(open_window: Callable[..., sync_api.Page], address: str):
    window, asked = open_window(), list[sync_api.Route]()
    window.route("**/_capsviz/packs/*", lambda route: asked.append(route))
    visitor = Visitor(window, address)
    window.goto(f"{address}/perturb?model=digits-dr&hand=cells")
    cells = window.locator(".chosen .cell")
    sync_api.expect(cells).to_have_count(16)
    visitor.eventually(lambda: bool(asked), "a browser that asks for the weights")
    # Which tell in what the numbers are told.
    assert {*cells.all_inner_texts(), *window.locator(".cells-key span").all_inner_texts()} == {""}
    window.route("**/_capsviz/packs/*", lambda route: route.fulfill(status=404))
    for route in asked:
        route.fulfill(status=404)
    window.locator('.live-decoder[data-ready="true"]').wait_for()
    assert "" not in cells.all_inner_texts()
    visitor.eventually(lambda: any("404" in problem for problem in visitor.problems), "what is not found")
    visitor.problems.clear()
    visitor.settle()
    visitor.leave()


def test_what_is_let_go_while_there_is_no_connection_is_told_when_there_is_one(
    open_window: Callable[..., sync_api.Page], address: str
):
    window = open_window()
    connection, visitor = Connection(window), Visitor(window, address)
    visitor.open("perturb?model=digits-dr")
    window.locator('.live-decoder[data-ready="true"]').wait_for()
    handle = window.locator(".live-decoder .slider input").first
    handle.focus()
    app = window.locator("[data-test-connection-state]")
    with connection.cut():
        sync_api.expect(app).not_to_have_attribute("data-test-connection-state", "CONNECTED")
        for _ in range(3):
            handle.press("ArrowRight")
        window.wait_for_timeout(600)
        assert "offsets" not in visitor.query()
    moved = handle.input_value()
    sync_api.expect(app).to_have_attribute("data-test-connection-state", "CONNECTED", timeout=60_000)
    visitor.eventually(lambda: "offsets=" in visitor.query(), "the offset in the link")
    visitor.settle()
    assert handle.input_value() == moved
    visitor.problems.clear()  # that the connection was lost
    visitor.leave()


@pytest.mark.long
def test_in_a_new_session_after_a_lost_connection_the_first_thing_that_is_done_counts(
    open_window: Callable[..., sync_api.Page], tmp_path: Path
):
    """As after a laptop has slept: the server has forgotten the session, and what stood in its page."""
    window = open_window()
    forgetful = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "1"}
    with served("app/main.py", tmp_path, CAPSVIZ_DATA=str(tmp_path), **forgetful) as address:
        connection, visitor = Connection(window), Visitor(window, address)
        visitor.open("perturb?model=digits-dr")
        handle = window.locator(".live-decoder .slider input").first
        app = window.locator("[data-test-connection-state]")
        with connection.cut():
            sync_api.expect(app).not_to_have_attribute("data-test-connection-state", "CONNECTED")
            window.wait_for_timeout(4000)
        sync_api.expect(app).to_have_attribute("data-test-connection-state", "CONNECTED", timeout=60_000)
        visitor.settle()
        handle.press("ArrowRight")
        visitor.eventually(lambda: "offsets=" in visitor.query(), "the offset in the link")
        visitor.settle()
        visitor.problems.clear()  # that the connection was lost
        visitor.leave()


def test_a_slider_of_perturb_moves_the_drawing_and_goes_to_the_links(visitor: Visitor):
    visitor.open("perturb?model=digits-dr")
    visitor.window.locator('.live-decoder[data-ready="true"]').wait_for()
    still, plain = visitor.canvas("after"), visitor.canvas("before")
    assert still == plain
    visitor.window.locator(".live-decoder summary").click()
    handle = visitor.window.locator(".live-decoder #dimension-4")
    handle.focus()
    for _ in range(5):
        handle.press("ArrowRight")
    visitor.eventually(lambda: visitor.canvas("after") != still, "another drawing")
    visitor.eventually(lambda: visitor.query().endswith("offsets=%2C%2C%2C%2C0.25" + "%2C" * 11), "the link")
    assert visitor.canvas("before") == plain
    link = visitor.window.get_by_role("link", name="5 Compare")
    visitor.eventually(lambda: "0.25" in (link.get_attribute("href") or ""), "the offsets in the other pages' links")
    moved = visitor.canvas("after")
    visitor.window.reload()
    visitor.settle()
    visitor.eventually(lambda: visitor.canvas("after") == moved, "the same drawing after a reload")


def test_a_digit_drawn_on_the_pad_flows_through_the_pages_and_the_link(
    visitor: Visitor, chromium: sync_api.Browser, address: str
):
    visitor.open("?model=digits-dr&source=pad")
    first = visitor.board()
    paper = visitor.window.locator('[data-testid="stSidebar"] canvas')
    box = visitor.box(paper)
    visitor.drag(box["x"] + box["width"] / 2, box["y"] + 0.15 * box["height"], 0, 0.7 * box["height"])
    sync_api.expect(visitor.window.get_by_text("your drawing")).to_be_visible()
    visitor.eventually(lambda: visitor.board() != first, "the drawing routed")
    visitor.eventually(lambda: "picture=" in visitor.query(), "the drawing in the link")
    visitor.settle()
    drawn, link = visitor.resting(lambda: visitor.figure("strip"), "the strip"), f"?{visitor.query()}"
    other = Visitor(chromium.new_page(), address).open(link)
    other.window.get_by_text("drawing from the link").wait_for()
    other.eventually(lambda: other.figure("strip") == drawn, "the same strip")
    other.window.close()
    visitor.window.reload()  # the pad tells its drawing again, and the link has it already
    visitor.window.get_by_text("your drawing").wait_for()
    visitor.settle()
    visitor.eventually(lambda: visitor.figure("strip") == drawn, "the same strip after a reload")
    assert f"?{visitor.query()}" == link
    visitor.window.get_by_role("link", name="5 Compare").click()
    sync_api.expect(visitor.window.locator("h2")).to_have_text("Compare")
    visitor.settle()
    sync_api.expect(visitor.window.get_by_text("your drawing")).to_be_visible()
    visitor.eventually(lambda: visitor.figure("strip") == drawn, "the same strip on another page")


PLACE = """(plot, point) => {
    const box = plot.getBoundingClientRect(), layout = plot._fullLayout;
    const trace = plot._fullData?.find((trace) => trace.customdata);
    return trace && layout.xaxis?.d2p
        ? [box.x + layout.xaxis._offset + layout.xaxis.d2p(trace.x[point]),
           box.y + layout.yaxis._offset + layout.yaxis.d2p(trace.y[point])]
        : null;
}"""


def click_point(visitor: Visitor, key: str, point: int) -> None:
    """Click on a point of a figure, once the figure says that the pointer is on it: an earlier click is none."""
    plot = visitor.window.locator(f'[class*=st-key-{key}][data-stale="false"] .js-plotly-plot:has(.main-svg)')
    told = "(plot, point) => Boolean(plot._hoverdata?.some(({ pointNumber }) => pointNumber === point))"

    def there() -> bool:
        place = plot.evaluate(PLACE, point)
        if place is None:
            return False
        visitor.window.mouse.move(*place)
        return plot.evaluate(told, point)

    visitor.eventually(there, f"the pointer on point {point} of the figure {key}")
    visitor.window.mouse.down()
    visitor.window.mouse.up()


def test_a_click_on_a_picture_of_compare_puts_it_on_stage(visitor: Visitor):
    visitor.open("compare?model=digits-dr&view=many&image=17")
    click_point(visitor, "grid", 2)
    visitor.eventually(lambda: "image=19" in visitor.query(), "the third picture on stage")
    sync_api.expect(visitor.window.get_by_text("Digits test image 19")).to_be_visible()
    visitor.settle()


def test_of_a_data_set_that_is_not_here_a_picture_is_put_on_stage_if_it_comes_with_capsviz(visitor: Visitor):
    here = set(exemplars("mnist").indices)
    last = next(image for image in sorted(here) if image - 1 in here and image + 1 not in here)
    visitor.open(f"compare?model=mnist-dr-paper&view=many&image={last - 1}")
    click_point(visitor, "grid", 1)
    visitor.eventually(lambda: f"image={last}" in visitor.query(), "the second picture on stage")
    sync_api.expect(visitor.window.get_by_text(f"MNIST test image {last}")).to_be_visible()
    click_point(visitor, "grid", 1)
    said = f"Test image {last + 1} is not on this machine; the sidebar has those that are."
    sync_api.expect(visitor.window.get_by_text(said)).to_be_visible()
    assert f"image={last}" in visitor.query()
    visitor.settle()


def test_the_way_to_an_image_about_which_the_methods_disagree_changes_the_whole_page(visitor: Visitor):
    visitor.open("compare?model=digits-dr")
    before = visitor.figure("reconstructions")
    visitor.window.get_by_role("button", name="see one about which they disagree").click()
    visitor.eventually(lambda: "image=" in visitor.query(), "the image in the link")
    number = visitor.query().split("image=")[1].split("&")[0]
    sync_api.expect(visitor.window.get_by_text(f"Digits test image {number}")).to_be_visible()
    visitor.settle()
    visitor.eventually(lambda: visitor.figure("reconstructions") != before, "other reconstructions")
    visitor.window.go_back()
    visitor.eventually(lambda: "image=" not in visitor.query(), "the image before")
    sync_api.expect(visitor.window.get_by_role("button", name="see one about which they disagree")).to_be_visible()


def test_a_click_on_a_cell_of_a_confusion_matrix_shows_its_images(visitor: Visitor):
    visitor.open("compare?model=digits-dr&view=confusions&method=digits-em&cell=0-0")
    click_point(visitor, "matrix", 11)
    visitor.eventually(lambda: "cell=1-1" in visitor.query(), "the cell in the link")
    words = visitor.window.locator("strong", has_text="images of 1 named rightly")  # the hover label says so as well
    sync_api.expect(words).to_be_visible()
    visitor.settle()
