"""Presenter mode and keys in Chromium: a clicker leafs, digits follow links, fields keep what is typed into them."""

from __future__ import annotations

from functools import partial

import pytest

from tests.browser.api import sync_api
from tests.browser.visitor import Connection, Visitor
from tests.known import known


def press(visitor: Visitor, key: str, query: str) -> None:
    """Press a key and wait for what it does to the link."""
    visitor.window.keyboard.press(key)
    visitor.eventually(lambda: query in visitor.query(), f"{query} after {key}")
    visitor.settle()


def hearing(visitor: Visitor) -> None:
    """Wait until the page hears keys: the sheet of keys opens and closes without the server."""
    sheet = visitor.window.get_by_role("dialog", name="Keys")

    def opens() -> bool:
        visitor.window.keyboard.press("?")
        return sheet.is_visible()

    visitor.eventually(opens, "the sheet of keys")
    visitor.window.keyboard.press("Escape")
    sync_api.expect(sheet).to_be_hidden()


def test_keys_leaf_through_images_classes_iterations_and_pages(visitor: Visitor):
    visitor.open("?model=digits-dr&image=7")
    hearing(visitor)
    press(visitor, "PageDown", "image=8")
    press(visitor, "]", "image=9")
    press(visitor, "Alt+[", "image=8")  # as many keyboards write it
    press(visitor, "Alt+]", "image=9")
    press(visitor, "PageUp", "image=8")
    of_russian = (
        'document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ъ", code: "BracketRight", bubbles: true }))'
    )
    visitor.window.evaluate(of_russian)
    visitor.eventually(lambda: "image=9" in visitor.query(), "the next image")
    visitor.settle()
    press(visitor, "PageUp", "image=8")
    press(visitor, "+", "T=4")
    visitor.window.keyboard.press("-")
    visitor.eventually(lambda: "T=" not in visitor.query(), "three iterations again")
    visitor.settle()
    shown = visitor.window.locator('[class*="st-key-upper"] [aria-checked="true"]').inner_text()
    press(visitor, ".", f"class={(int(shown.split()[0]) + 1) % 10}")
    visitor.window.keyboard.press("5")
    sync_api.expect(visitor.window.locator("h2")).to_have_text("Compare")
    visitor.eventually(lambda: "image=8" in visitor.query(), "the image in the link of the other page")


def test_a_fast_clicker_loses_no_press(visitor: Visitor):
    visitor.open("compare?model=digits-dr&image=10")
    hearing(visitor)
    before = visitor.window.evaluate("history.length")
    for _ in range(3):
        visitor.window.keyboard.press("PageDown")
        visitor.window.wait_for_timeout(120)
    visitor.eventually(lambda: "image=13" in visitor.query(), "three images on")
    visitor.settle()
    assert visitor.window.evaluate("history.length") == before + 3


def test_a_press_that_got_lost_on_its_way_is_sent_again(visitor: Visitor):
    line = Connection(visitor.window)
    visitor.open("compare?model=digits-dr&image=10")
    hearing(visitor)
    visitor.settle()
    line.lose_one()
    visitor.window.keyboard.press("PageDown")
    visitor.eventually(lambda: "image=11" in visitor.query(), "the next image")
    assert b"page+1" in line.lost[0]
    visitor.settle()
    assert "image=11" in visitor.query()


def test_a_field_keeps_its_keys(visitor: Visitor):
    visitor.open("compare?model=digits-dr")
    field = visitor.window.locator('[class*="st-key-only"] input').first
    field.click()
    sent = visitor.query()
    field.press("4")
    field.press("p")
    visitor.window.wait_for_timeout(600)
    assert visitor.query() == sent
    sync_api.expect(visitor.window.locator("h2")).to_have_text("Compare")


def test_a_key_that_moves_nothing_on_the_page_is_not_on_its_sheet_and_changes_nothing(visitor: Visitor):
    sheet = visitor.window.get_by_role("dialog", name="Keys")
    everywhere = "previous, next image", "previous, next class capsule", "one routing iteration T", "play or pause"
    for path, offered in (
        ("?lab=toy&", "yn yy"),
        ("discriminative?part=coefficients&", "yy nn"),
        ("compare?", "yn nn"),
        ("results?", "nn nn"),
        ("mixtures?", "nn ny"),
        ("viewpoint?", "yn ny"),
    ):
        visitor.open(f"{path}model=digits-dr")
        hearing(visitor)
        visitor.window.keyboard.press("?")
        shown = ["ny"[sheet.get_by_text(words).locator("visible=true").count()] for words in everywhere]
        assert "".join(shown) == offered.replace(" ", ""), path
        visitor.window.keyboard.press("Escape")
        before, sent = visitor.query(), visitor.messages_sent
        for key, answer in zip(("PageDown", ".", "+"), shown[:3], strict=True):
            if answer == "n":
                visitor.window.keyboard.press(key)
        visitor.window.wait_for_timeout(500)
        assert (visitor.query(), visitor.messages_sent) == (before, sent), path


def test_more_and_fewer_iterations_by_key_reach_the_toy(visitor: Visitor):
    visitor.open("?model=digits-dr&lab=toy")
    hearing(visitor)
    press(visitor, "+", "T=4")
    turns = visitor.window.locator("section").get_by_role("slider", name="Iterations T")
    visitor.eventually(lambda: turns.input_value() == "4", "the toy's own slider")
    visitor.window.keyboard.press("-")
    visitor.eventually(lambda: "T=" not in visitor.query(), "three iterations again")
    visitor.eventually(lambda: turns.input_value() == "3", "the toy's own slider again")


def test_the_sheet_of_keys_opens_and_closes_without_the_server(visitor: Visitor):
    visitor.open("compare?model=digits-dr")
    hearing(visitor)
    sent = visitor.messages_sent
    sheet = visitor.window.get_by_role("dialog", name="Keys")
    visitor.window.keyboard.press("?")
    sync_api.expect(sheet).to_contain_text("presenter mode on, off")
    visitor.window.keyboard.press("2")
    visitor.window.keyboard.press("Escape")
    sync_api.expect(sheet).to_be_hidden()
    sync_api.expect(visitor.window.locator("h2")).to_have_text("Compare")
    assert visitor.messages_sent == sent


def test_in_presenter_mode_where_no_links_say_so_the_sheet_says_which_digit_opens_which_page(visitor: Visitor):
    """And at 1280 x 720 all of it is in sight."""
    visitor.window.set_viewport_size({"width": 1280, "height": 720})
    visitor.open("dynamic?model=digits-dr&present=1")
    hearing(visitor)
    sheet = visitor.window.get_by_role("dialog", name="Keys")
    visitor.window.keyboard.press("?")
    sync_api.expect(sheet.locator("dl div").first).to_contain_text("0 Start, 1 Dynamic routing, 2 EM, 3 L2 / L1, 4")
    hidden = "dialog => dialog.scrollHeight - dialog.clientHeight"
    assert sheet.evaluate(hidden) <= 0
    visitor.window.keyboard.press("?")
    visitor.press("p")
    visitor.eventually(lambda: "present=1" not in visitor.query(), "the ordinary page")
    visitor.settle()
    visitor.window.keyboard.press("?")
    sync_api.expect(sheet.locator("dl div").first).to_contain_text("the pages, in their order")


def test_keys_of_one_character_can_be_turned_off_and_stay_off_until_they_are_turned_on(visitor: Visitor):
    visitor.open("?model=digits-dr")
    hearing(visitor)
    characters = visitor.window.get_by_role("checkbox", name="Letters, digits and signs but ? are keys")
    slow = visitor.window.get_by_role("button", name="Slow motion (s)")
    visitor.window.keyboard.press("?")
    characters.uncheck()
    visitor.window.keyboard.press("Escape")
    before, sent = visitor.query(), visitor.messages_sent
    for key in ("p", "2", "+", ".", "s"):
        visitor.press(key)
    visitor.window.wait_for_timeout(500)
    assert (visitor.query(), visitor.messages_sent) == (before, sent)
    sync_api.expect(slow).to_have_attribute("aria-pressed", "false")
    visitor.window.reload()
    visitor.settle()
    hearing(visitor)
    visitor.window.keyboard.press("?")
    sync_api.expect(characters).not_to_be_checked()
    characters.check()
    visitor.window.keyboard.press("Escape")
    visitor.press("s")
    sync_api.expect(slow).to_have_attribute("aria-pressed", "true")
    press(visitor, "2", "model=digits-dr")
    sync_api.expect(visitor.window.locator("h2")).to_have_text("EM routing")


def test_presenter_mode_is_the_page_alone_in_type_that_grows_with_the_window(visitor: Visitor):
    window = visitor.window
    visitor.open("compare?model=digits-dr")
    hearing(visitor)
    press(visitor, "p", "present=1")
    sync_api.expect(window.locator('[data-testid="stSidebar"]')).to_be_hidden()
    sync_api.expect(window.locator(".st-key-pages")).to_be_hidden()
    sync_api.expect(window.locator(".st-key-explanation")).to_be_hidden()
    sizes = (
        "plots => plots.map((plot) => plot._fullLayout?.font.size)"  # for a moment the one that goes stands there too
    )
    strip = window.locator('.st-key-strip[data-stale="false"] .js-plotly-plot:has(.main-svg)')
    for width, height in ((1280, 720), (1920, 1080)):
        window.set_viewport_size({"width": width, "height": height})
        larger = 16 * 1.15 * width / 1280

        def grown(larger: float = larger) -> bool:
            return strip.evaluate_all(sizes) == [pytest.approx(larger, abs=0.01)]

        visitor.eventually(grown, "type in proportion to the screen")
        visitor.settle()
        assert window.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") == pytest.approx(
            larger, abs=0.1
        )
        assert window.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= width
        assert known(strip.bounding_box())["y"] < 0.2 * height
    press(visitor, "PageDown", "image=190")
    window.get_by_role("button", name="Leave").click()
    visitor.eventually(lambda: "present" not in visitor.query(), "the ordinary page")
    sync_api.expect(window.locator('[data-testid="stSidebar"]')).to_be_visible()


PRESSED = """keys => {
    for (const key of keys)
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
    return {
        type: parseFloat(getComputedStyle(document.documentElement).fontSize),
        sidebar: document.querySelector('[data-testid="stSidebar"]')?.checkVisibility() ?? false,
        link: location.search.includes("present=1"),
    };
}"""
"""What the page says in the very moment in which keys are pressed, before anybody can have answered."""
ORDINARY = {"type": pytest.approx(16), "sidebar": True, "link": False}
PRESENTED = {"type": pytest.approx(18.4), "sidebar": False, "link": True}


def test_p_presents_the_page_before_the_server_answers(visitor: Visitor):
    window = visitor.window
    visitor.open("dynamic?model=digits-dr")
    hearing(visitor)
    entries = window.evaluate("history.length")
    assert window.evaluate(PRESSED, "pp") == ORDINARY  # twice is nothing
    visitor.eventually(lambda: window.evaluate("history.length") == entries + 2, "both presses answered")
    visitor.settle()
    assert window.evaluate(PRESSED, "") == ORDINARY
    assert window.evaluate(PRESSED, "p") == {**PRESENTED, "link": False}
    sync_api.expect(window.get_by_role("button", name="Leave")).to_be_visible()
    visitor.eventually(lambda: "present=1" in visitor.query(), "the link of the presented page")
    visitor.settle()
    assert window.evaluate(PRESSED, "") == PRESENTED
    assert window.evaluate(PRESSED, "p") == {**ORDINARY, "link": True}
    sync_api.expect(window.get_by_role("button", name="Leave")).to_be_hidden()
    visitor.eventually(lambda: "present" not in visitor.query(), "the ordinary page")
    visitor.settle()
    assert window.evaluate(PRESSED, "") == ORDINARY
    visitor.open("dynamic?model=digits-dr&present=1")
    hearing(visitor)
    assert window.evaluate(PRESSED, "") == PRESENTED
    assert window.evaluate(PRESSED, "p") == {**ORDINARY, "link": True}
    visitor.eventually(lambda: "present" not in visitor.query(), "the ordinary page")
    visitor.settle()
    window.go_back()
    visitor.eventually(lambda: window.evaluate(PRESSED, "") == PRESENTED, "Back to the presented page")
    visitor.settle()
    assert window.evaluate(PRESSED, "") == PRESENTED


def box(place: sync_api.Locator) -> sync_api.FloatRect:
    return known(place.bounding_box())


def lowest(places: sync_api.Locator) -> float:
    """Where the lowest of them ends, in CSS pixels from the top of the window."""
    return max(box(place)["y"] + box(place)["height"] for place in places.all())


def shown_above(places: sync_api.Locator, height: int) -> bool:
    return lowest(places) <= height


def four_shown_above(charts: sync_api.Locator, height: int, least: float) -> bool:
    """Whether four of them stand above that, none of them lower than `least`."""
    return (
        charts.count() == 4
        and shown_above(charts, height)
        and min(box(chart)["height"] for chart in charts.all()) >= least
    )


def test_what_a_page_is_about_is_on_the_screen_without_scrolling(visitor: Visitor):
    visitor.open("results?model=digits-dr&present=1")
    tools = visitor.window.locator(".routing .tools")
    for path, place in (
        ("?", ".routing .main"),
        ("discriminative?part=agreement&", ".capsule-maps .map canvas >> nth=0"),
        ("em?", ".routing .main"),
        ("discriminative?part=ascent&", ".capsule-maps .map canvas >> nth=0"),
        ("perturb?", ".live-decoder canvas.after"),
        ("compare?", ".st-key-reconstructions .js-plotly-plot"),
        ("compare?view=wrong&", '[class*="st-key-wrong-"] .js-plotly-plot'),
        ("compare?view=many&", '[class*="st-key-grid-"] .js-plotly-plot'),
    ):
        visitor.follow(f"/{path}model=digits-dr&present=1")
        shown = visitor.window.locator(place)

        def fits(shown: sync_api.Locator = shown) -> bool:
            box = shown.bounding_box()
            return box is not None and box["height"] > 150 and box["y"] >= 0 and box["y"] + box["height"] <= 721

        visitor.eventually(fits, f"{place} on the screen: {shown.bounding_box()}")
        if ".routing" in place:  # and of the buttons below it, no sliver
            visitor.eventually(lambda: box(tools)["y"] >= 720, f"the buttons below the screen: {box(tools)}")
    charts = visitor.window.locator(".capsule-maps .beside canvas")
    for part in ("ascent", "history"):  # with it how b is spread
        visitor.follow(f"/discriminative?part={part}&model=digits-l2&present=1")
        for width, height in ((1280, 720), (1920, 1080)):
            visitor.window.set_viewport_size({"width": width, "height": height})
            shown_whole = partial(four_shown_above, charts, height, 50 * width / 1280)
            visitor.eventually(shown_whole, f"the charts of the {part}: {lowest(charts)}")
    visitor.window.set_viewport_size({"width": 1920, "height": 1080})
    visitor.follow("/discriminative?part=coefficients&model=digits-l2&present=1")
    said = visitor.window.locator(".capsule-maps .readout")
    sync_api.expect(said).to_contain_text("the strongest")

    visitor.eventually(partial(shown_above, said, 1080), f"what is said of the capsule: {lowest(said)}")


WORDS = """(() => {
    const words = new Map(), { fillText, clearRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clearRect = function (...box) {
        words.set(this.canvas, []);
        clearRect.apply(this, box);
    };
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        const size = parseFloat(this.font.match(/([\\d.]+)px/)[1]);
        words.get(this.canvas)?.push([String(text), size * this.getTransform().a]);
        fillText.call(this, text, ...place);
    };
    window.wordsOnCanvases = () => [...words].flatMap(([canvas, said]) => {
        if (!canvas.isConnected) return [];
        const { width } = canvas.getBoundingClientRect();
        return said.filter(([text]) => text.trim()).map(([text, size]) => [text, size * (width / canvas.width)]);
    });
})()"""
"""Keeps what is written on every canvas, and in how many pixels of the screen."""


@pytest.mark.parametrize(
    "page",
    [
        "?model=digits-dr",
        "em?model=digits-em",
        "?model=digits-dr&lab=toy",
        "discriminative?model=digits-l2",
        "discriminative?model=digits-l2&part=ascent",
    ],
)
def test_the_key_enlarges_every_word_on_a_canvas_as_the_link_does(visitor: Visitor, page: str):
    window = visitor.window
    window.set_viewport_size({"width": 1920, "height": 1080})
    window.add_init_script(WORDS)
    visitor.open(page)
    hearing(visitor)
    board = window.locator("section.routing, section.toy, section.capsule-maps").first
    board.locator("canvas").first.wait_for()
    visitor.eventually(lambda: bool(window.evaluate("wordsOnCanvases()")), "words on canvases")

    def smallest() -> float:
        return min(size for _, size in window.evaluate("wordsOnCanvases()"))

    before = visitor.resting(smallest, "the words")
    assert before < 20
    press(visitor, "p", "present=1")

    def small() -> list:
        return [(text, size) for text, size in window.evaluate("wordsOnCanvases()") if size < 20]

    visitor.eventually(lambda: not small(), "large words")
    assert len(window.evaluate("wordsOnCanvases()")) > 3
    window.keyboard.press("p")
    visitor.eventually(lambda: "present" not in visitor.query(), "the usual mode in the link")
    visitor.settle()
    visitor.eventually(lambda: smallest() == before, "usual words")
